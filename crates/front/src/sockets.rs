//! Where a server listens: places as the user writes them, sockets that are made for them, and sockets that a service
//! manager made before (socket activation).
//!
//! Knows nothing about what is said over them, and reads no environment: what a service manager says comes in as texts.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

/// Clients that may wait to be let in.
const BACKLOG: i32 = 128;

/// The first descriptor that a service manager hands over, as `sd_listen_fds(3)` has it.
const FIRST: i32 = 3;

/// A service manager hands over fewer.
const INHERITED_MAX: i32 = 256;

/// Where a server listens, written `unix:PATH` or `tcp:HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A socket in the filesystem.
    Unix(PathBuf),
    /// A port on a network.
    Tcp {
        /// Name or number.
        host: String,
        /// Port; 0 for any that is free.
        port: u16,
    },
}

/// A text that is no place to listen at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no place to listen at: {why}; write unix:PATH or tcp:HOST:PORT")]
pub struct NoPlace {
    text: String,
    why: &'static str,
}

/// Who may connect to a socket in the filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Its owner alone: mode 0600.
    Owner,
    /// Whoever the umask of the process lets in.
    Umask,
}

/// A server cannot listen somewhere.
#[derive(Debug, thiserror::Error)]
pub enum NotBound {
    /// A server answers there.
    #[error("{0}: a server listens there already; stop it, or choose another place")]
    Taken(Place),
    /// Something is there that is no socket.
    #[error("{}: exists and is no socket; remove it, or choose another path", .0.display())]
    NotASocket(PathBuf),
    /// The kernel has no room for so long a path.
    #[error("{}: too long for a socket (107 bytes at most); choose a shorter path", .0.display())]
    TooLong(PathBuf),
    /// The system refuses.
    #[error("listening at {place}")]
    Io {
        /// Where.
        place: Place,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// What a service manager handed over cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotInherited {
    /// `LISTEN_FDS` is no number of sockets.
    #[error("LISTEN_FDS={0}: not a number of sockets up to {INHERITED_MAX}")]
    Count(String),
    /// A descriptor is not what it should be.
    #[error("socket {0} of the service manager is no listening stream socket; use ListenStream= and Accept=no")]
    NotListening(i32),
    /// They were taken before.
    #[error("the sockets of the service manager were taken already")]
    Twice,
}

/// A listening socket.
#[derive(Debug)]
pub struct Listening {
    /// The socket.
    pub socket: OwnedFd,
    /// Where it is; the port is the one that it got.
    pub place: Place,
    /// What a service manager calls it (`FileDescriptorName=`).
    pub name: Option<String>,
    /// The file of a socket that was made here: dropped, it is removed.
    pub file: Option<SocketFile>,
}

/// The file of a listening socket, removed when this is dropped, if it is still the same one.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Place {
    /// Makes a listening socket there. The file of a server that is gone is replaced.
    pub fn listen(&self, audience: Audience) -> Result<Listening, NotBound> {
        match self {
            Self::Unix(path) => listen_unix(path, audience),
            Self::Tcp { host, port } => {
                let refused = |source: io::Error| match source.kind() {
                    io::ErrorKind::AddrInUse => NotBound::Taken(self.clone()),
                    _ => self.failed(source),
                };
                let socket = TcpListener::bind((host.as_str(), *port)).map_err(refused)?;
                let at = socket.local_addr().map_err(|source| self.failed(source))?;
                Ok(Listening { socket: socket.into(), place: at.into(), name: None, file: None })
            }
        }
    }

    fn failed(&self, source: impl Into<io::Error>) -> NotBound {
        NotBound::Io { place: self.clone(), source: source.into() }
    }
}

impl From<SocketAddr> for Place {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp { host: address.ip().to_string(), port: address.port() }
    }
}

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let no_place = |why| NoPlace { text: text.to_owned(), why };
        match text.split_once(':') {
            Some(("unix", "")) => Err(no_place("the path is missing")),
            Some(("unix", path)) => Ok(Self::Unix(path.into())),
            Some(("tcp", rest)) => tcp(rest).map_err(no_place),
            _ => Err(no_place("it begins neither with unix: nor with tcp:")),
        }
    }
}

fn tcp(text: &str) -> Result<Place, &'static str> {
    let (host, port) = text.rsplit_once(':').ok_or("the port is missing")?;
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = match inside {
        Some(inside) => inside,
        None if host.contains(':') => return Err("an IPv6 number stands in brackets, as in tcp:[::1]:10809"),
        None if host.is_empty() => return Err("the host is missing; 0.0.0.0 stands for all addresses of this machine"),
        None => host,
    };
    let port = port.parse().map_err(|_| "its port is not a number up to 65535")?;
    Ok(Place::Tcp { host: host.to_owned(), port })
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp:{host}:{port}"),
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path) == Some(self.identity) {
            // Somebody else may have been quicker.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

fn stream() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

fn listen_unix(path: &Path, audience: Audience) -> Result<Listening, NotBound> {
    let place = Place::Unix(path.to_owned());
    let address = SocketAddrUnix::new(path).map_err(|_| NotBound::TooLong(path.to_owned()))?;
    let socket = stream().map_err(|source| place.failed(source))?;
    if let Err(error) = rustix::net::bind(&socket, &address) {
        if error != rustix::io::Errno::ADDRINUSE {
            return Err(place.failed(error));
        }
        remove_stale(path, &address)?;
        rustix::net::bind(&socket, &address).map_err(|source| place.failed(source))?;
    }
    let file = identity(path).map(|identity| SocketFile { path: path.to_owned(), identity });
    if audience == Audience::Owner {
        // Nobody can connect before it listens.
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, mode).map_err(|source| place.failed(source))?;
    }
    let listening = rustix::net::listen(&socket, BACKLOG).and_then(|()| rustix::io::ioctl_fionbio(&socket, false));
    listening.map_err(|source| place.failed(source))?;
    Ok(Listening { socket, place, name: None, file })
}

/// Removes the socket of a server that is gone; refuses when one answers, or when it is something else.
fn remove_stale(path: &Path, address: &SocketAddrUnix) -> Result<(), NotBound> {
    let place = || Place::Unix(path.to_owned());
    let about = std::fs::symlink_metadata(path).map_err(|source| place().failed(source))?;
    if !about.file_type().is_socket() {
        return Err(NotBound::NotASocket(path.to_owned()));
    }
    let asking = stream().map_err(|source| place().failed(source))?;
    match rustix::net::connect(&asking, address) {
        Err(rustix::io::Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(|source| place().failed(source)),
        Err(error @ (rustix::io::Errno::ACCESS | rustix::io::Errno::PERM)) => Err(place().failed(error)),
        // It answers, or is too busy to.
        _ => Err(NotBound::Taken(place())),
    }
}

/// What a service manager says in the environment: the values of `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handover {
    /// The process that the sockets are meant for.
    pub pid: Option<String>,
    /// How many there are, from descriptor 3 on.
    pub count: Option<String>,
    /// Their names, with colons between them.
    pub names: Option<String>,
}

impl Handover {
    /// Takes the sockets: none when they are meant for another process, or there are none. At most once in a process.
    pub fn take(&self) -> Result<Vec<Listening>, NotInherited> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let (Some(pid), Some(count)) = (&self.pid, &self.count) else { return Ok(Vec::new()) };
        if pid.parse() != Ok(std::process::id()) {
            return Ok(Vec::new());
        }
        let fits = |count: &i32| (0..=INHERITED_MAX).contains(count);
        let count: i32 = count.parse().ok().filter(fits).ok_or_else(|| NotInherited::Count(count.clone()))?;
        if count > 0 && TAKEN.swap(true, Ordering::Relaxed) {
            return Err(NotInherited::Twice);
        }
        let mut names = self.names.iter().flat_map(|names| names.split(':'));
        (FIRST..FIRST + count).map(|number| inherited(number, names.next())).collect()
    }
}

fn inherited(number: i32, name: Option<&str>) -> Result<Listening, NotInherited> {
    let not_listening = || NotInherited::NotListening(number);
    // SAFETY: it is used for this call alone, which says whether there is such a descriptor.
    rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) }).map_err(|_| not_listening())?;
    // SAFETY: it is open, the service manager says that it is ours, and it is taken once: `TAKEN` sees to that.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    let usable =
        sockopt::socket_type(&socket) == Ok(SocketType::STREAM) && sockopt::socket_acceptconn(&socket) == Ok(true);
    let place = usable.then(|| place_of(&socket)).flatten().ok_or_else(not_listening)?;
    // Programs that we start have no use for it, and a socket that does not block is waited for in the ring.
    let kept = rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC);
    kept.and_then(|()| rustix::io::ioctl_fionbio(&socket, false)).map_err(|_| not_listening())?;
    let name = name.filter(|name| !name.is_empty() && *name != "unknown").map(str::to_owned);
    Ok(Listening { socket, place, name, file: None })
}

fn place_of(socket: impl AsFd) -> Option<Place> {
    use std::os::unix::ffi::OsStrExt;
    let address = rustix::net::getsockname(socket).ok()?;
    if let Ok(network) = SocketAddr::try_from(address.clone()) {
        return Some(network.into());
    }
    let path = SocketAddrUnix::try_from(address).ok()?;
    let path = path.path_bytes().unwrap_or_default().to_owned();
    Some(Place::Unix(std::ffi::OsStr::from_bytes(&path).into()))
}

#[cfg(test)]
mod tests;
