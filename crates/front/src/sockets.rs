//! Listening addresses, and sockets created here or passed by a service manager (socket activation).
//!
//! The environment of socket activation is an argument.
#![allow(unsafe_code)]

use std::fmt;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plimsoll_language::label;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

/// Maximum number of pending connections.
const BACKLOG: i32 = 128;
/// Maximum time for which a killed server keeps its address.
const LINGERING: Duration = Duration::from_secs(1);

/// The first descriptor passed by a service manager; see `sd_listen_fds(3)`.
const FIRST: i32 = 3;

/// Maximum number of passed descriptors.
const INHERITED_MAX: i32 = 256;

/// A listening address, written `unix:PATH` or `tcp:HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// A Unix socket.
    Unix(PathBuf),
    Tcp {
        /// Host name or address.
        host: String,
        /// Port; 0 for any free port.
        port: u16,
    },
}

/// A text is not a valid listening address.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid listening address {text:?}: {why}; write unix:PATH or tcp:HOST:PORT")]
pub struct ListenAddressError {
    text: String,
    why: &'static str,
}

/// Permissions of a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketAccess {
    /// Owner only: mode 0600.
    Owner,
    /// According to the umask of the process.
    Umask,
}

#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another server listens there.
    #[error("{0}: another server is listening there; stop it, or choose another address")]
    Taken(ListenAddress),
    /// The path exists and is not a socket.
    #[error("{}: exists and is not a socket; remove it, or choose another path", .0.display())]
    NotASocket(PathBuf),
    /// The path exceeds the maximum length of a socket address.
    #[error("{}: too long for a socket (107 bytes at most); choose a shorter path", .0.display())]
    TooLong(PathBuf),
    /// System error.
    #[error("listening at {place}")]
    Io {
        place: ListenAddress,
        /// The system error.
        #[source]
        source: io::Error,
    },
}

/// Sockets passed by the service manager cannot be used.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// `LISTEN_FDS` is not a valid number of sockets.
    #[error("LISTEN_FDS={0}: not a number of sockets up to {INHERITED_MAX}")]
    Count(String),
    /// A descriptor is not a listening stream socket.
    #[error("socket {0} of the service manager is not a listening stream socket; use ListenStream= and Accept=no")]
    NotListening(i32),
    /// The sockets were taken before.
    #[error("the sockets of the service manager have been taken before")]
    Twice,
}

#[derive(Debug)]
pub struct Listening {
    pub socket: OwnedFd,
    /// Its address, with the assigned port.
    pub place: ListenAddress,
    /// Name from the service manager (`FileDescriptorName=`).
    pub name: Option<String>,
    /// File of a socket created here; removed on drop.
    pub file: Option<SocketFile>,
}

/// File of a listening socket, removed on drop unless it was replaced.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl ListenAddress {
    /// Creates a listening socket. A stale socket file is replaced.
    pub fn listen(&self, audience: SocketAccess) -> Result<Listening, ListenError> {
        match self {
            Self::Unix(path) => listen_unix(path, audience),
            Self::Tcp { host, port } => {
                // The kernel may close the socket of a killed server some milliseconds after the process is gone.
                let end = Instant::now() + LINGERING;
                let socket = loop {
                    match TcpListener::bind((host.as_str(), *port)) {
                        Ok(socket) => break socket,
                        Err(error) if error.kind() != io::ErrorKind::AddrInUse => return Err(self.failed(error)),
                        Err(_) if Instant::now() >= end => return Err(ListenError::Taken(self.clone())),
                        Err(_) => std::thread::sleep(Duration::from_millis(10)),
                    }
                };
                let at = socket.local_addr().map_err(|source| self.failed(source))?;
                Ok(Listening { socket: socket.into(), place: at.into(), name: None, file: None })
            }
        }
    }

    /// The TCP address `HOST:PORT`, with brackets around IPv6; `None` for a Unix socket.
    pub fn host_and_port(&self) -> Option<String> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp { host, port } if host.contains(':') => Some(format!("[{host}]:{port}")),
            Self::Tcp { host, port } => Some(format!("{host}:{port}")),
        }
    }

    /// The address with an absolute path.
    ///
    /// # Errors
    /// The current directory is gone.
    pub fn absolute(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(path) => Self::Unix(std::path::absolute(path)?),
            Self::Tcp { .. } => self.clone(),
        })
    }

    fn failed(&self, source: impl Into<io::Error>) -> ListenError {
        ListenError::Io { place: self.clone(), source: source.into() }
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp { host: address.ip().to_string(), port: address.port() }
    }
}

impl FromStr for ListenAddress {
    type Err = ListenAddressError;

    fn from_str(text: &str) -> Result<Self, ListenAddressError> {
        let invalid = |why| ListenAddressError { text: text.to_owned(), why };
        match text.split_once(':') {
            Some(("unix", "")) => Err(invalid(label!("the path is missing"))),
            Some(("unix", path)) => Ok(Self::Unix(path.into())),
            Some(("tcp", rest)) => tcp(rest).map_err(invalid),
            _ => Err(invalid(label!("expected the prefix unix: or tcp:"))),
        }
    }
}

fn tcp(text: &str) -> Result<ListenAddress, &'static str> {
    let (host, port) = text.rsplit_once(':').ok_or(label!("the port is missing"))?;
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = match inside {
        Some(inside) => inside,
        None if host.contains(':') => return Err(label!("an IPv6 address needs brackets, as in tcp:[::1]:10809")),
        None if host.is_empty() => {
            return Err(label!("the host is missing; 0.0.0.0 means all addresses of this machine"));
        }
        None => host,
    };
    let port = port.parse().map_err(|_| label!("the port is not a number up to 65535"))?;
    Ok(ListenAddress::Tcp { host: host.to_owned(), port })
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp:{host}:{port}"),
        }
    }
}

/// A directory that only this user can enter, removed with its contents on drop.
#[derive(Debug)]
pub struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    /// Creates a directory in that of temporary files; its name begins with `name`.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create(name: &str) -> io::Result<Self> {
        let base = std::env::temp_dir();
        for attempt in 0..100 {
            let path = base.join(format!("{name}-{}-{attempt}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|()| Self(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // Another process may have removed it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path) == Some(self.identity) {
            // Another process may have removed it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

fn stream() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

fn listen_unix(path: &Path, audience: SocketAccess) -> Result<Listening, ListenError> {
    let place = ListenAddress::Unix(path.to_owned());
    let address = SocketAddrUnix::new(path).map_err(|_| ListenError::TooLong(path.to_owned()))?;
    let socket = stream().map_err(|source| place.failed(source))?;
    if let Err(error) = rustix::net::bind(&socket, &address) {
        if error != rustix::io::Errno::ADDRINUSE {
            return Err(place.failed(error));
        }
        remove_stale(path, &address)?;
        rustix::net::bind(&socket, &address).map_err(|source| place.failed(source))?;
    }
    let file = identity(path).map(|identity| SocketFile { path: path.to_owned(), identity });
    if audience == SocketAccess::Owner {
        // Connections are refused until it listens.
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(path, mode).map_err(|source| place.failed(source))?;
    }
    let listening = rustix::net::listen(&socket, BACKLOG).and_then(|()| rustix::io::ioctl_fionbio(&socket, false));
    listening.map_err(|source| place.failed(source))?;
    Ok(Listening { socket, place, name: None, file })
}

/// Removes a stale socket file; fails if a server accepts connections there, or if it is not a socket.
fn remove_stale(path: &Path, address: &SocketAddrUnix) -> Result<(), ListenError> {
    let place = || ListenAddress::Unix(path.to_owned());
    let about = fs::symlink_metadata(path).map_err(|source| place().failed(source))?;
    if !about.file_type().is_socket() {
        return Err(ListenError::NotASocket(path.to_owned()));
    }
    let asking = stream().map_err(|source| place().failed(source))?;
    match rustix::net::connect(&asking, address) {
        Err(rustix::io::Errno::CONNREFUSED) => fs::remove_file(path).map_err(|source| place().failed(source)),
        Err(error @ (rustix::io::Errno::ACCESS | rustix::io::Errno::PERM)) => Err(place().failed(error)),
        // A server accepts connections, or its backlog is full.
        _ => Err(ListenError::Taken(place())),
    }
}

/// Environment of socket activation: the values of `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activation {
    /// Process that the sockets are meant for.
    pub pid: Option<String>,
    /// Number of descriptors, from descriptor 3 on.
    pub count: Option<String>,
    /// Names, separated by colons.
    pub names: Option<String>,
}

impl Activation {
    /// Takes the sockets that the environment names, if any.
    ///
    /// # Errors
    /// As of [`take`](Self::take).
    pub fn take_inherited() -> Result<Vec<Listening>, ActivationError> {
        let [pid, count, names] = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(|name| std::env::var(name).ok());
        Self { pid, count, names }.take()
    }

    /// Takes the sockets; none if there are none, or if they are meant for another process. Succeeds once per process.
    pub fn take(&self) -> Result<Vec<Listening>, ActivationError> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let (Some(pid), Some(count)) = (&self.pid, &self.count) else { return Ok(Vec::new()) };
        if pid.parse() != Ok(std::process::id()) {
            return Ok(Vec::new());
        }
        let fits = |count: &i32| (0..=INHERITED_MAX).contains(count);
        let count: i32 = count.parse().ok().filter(fits).ok_or_else(|| ActivationError::Count(count.clone()))?;
        if count > 0 && TAKEN.swap(true, Ordering::Relaxed) {
            return Err(ActivationError::Twice);
        }
        let mut names = self.names.iter().flat_map(|names| names.split(':'));
        (FIRST..FIRST + count).map(|number| inherited(number, names.next())).collect()
    }
}

fn inherited(number: i32, name: Option<&str>) -> Result<Listening, ActivationError> {
    let not_listening = || ActivationError::NotListening(number);
    // SAFETY: used for this call only, which reports whether the descriptor exists.
    rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) }).map_err(|_| not_listening())?;
    // SAFETY: the descriptor is open, the service manager passed it to this process, and `TAKEN` ensures that it is
    // taken once.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    let usable =
        sockopt::socket_type(&socket) == Ok(SocketType::STREAM) && sockopt::socket_acceptconn(&socket) == Ok(true);
    let place = usable.then(|| place_of(&socket)).flatten().ok_or_else(not_listening)?;
    // Child processes do not inherit it, and the ring waits for a non-blocking socket.
    let cloexec = rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC);
    cloexec.and_then(|()| rustix::io::ioctl_fionbio(&socket, false)).map_err(|_| not_listening())?;
    let name = name.filter(|name| !name.is_empty() && *name != "unknown").map(str::to_owned);
    Ok(Listening { socket, place, name, file: None })
}

fn place_of(socket: impl AsFd) -> Option<ListenAddress> {
    use std::os::unix::ffi::OsStrExt;
    let address = rustix::net::getsockname(socket).ok()?;
    if let Ok(network) = SocketAddr::try_from(address.clone()) {
        return Some(network.into());
    }
    let path = SocketAddrUnix::try_from(address).ok()?;
    let path = path.path_bytes().unwrap_or_default().to_owned();
    Some(ListenAddress::Unix(std::ffi::OsStr::from_bytes(&path).into()))
}

#[cfg(test)]
mod tests;
