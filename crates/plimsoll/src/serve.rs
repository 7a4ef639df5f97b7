//! `plimsoll serve`: one process that serves the volumes of one data directory, until it is told to stop.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_device::nbd::{Address, Host};
use plimsoll_front::Server;
use plimsoll_front::notify::{News, notify};
use plimsoll_front::sockets::{Audience, Listening, NotBound, Place, SocketFile};
use plimsoll_service::api::{About, Floor};
use plimsoll_service::http::{Control, Entrance, Token};
use plimsoll_service::{OpenError, Options, Service};
use plimsoll_units::Span;
use plimsoll_volume::{Slow, Volumes};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::{ServeArgs, TermsArgs};
use crate::offers::Offers;
use crate::output::{Outputs, print};
use crate::trouble::Trouble;
use crate::volumes::home;

/// Where NBD clients come in, in the data directory.
const NBD: &str = "nbd.sock";
/// How long the floor is measured.
const FLOOR: Span = Span::from_millis(500);

/// Serves until a signal.
pub fn run(args: &ServeArgs) -> Result<(), Trouble> {
    let stop = Stop::new().context("waiting for signals")?;
    let token = args.token_file.as_deref().map(Token::read).transpose().map_err(|error| usage(&error))?;
    let directory = args.directory.clone().map_or_else(home::directory, Ok)?;
    let directory = std::path::absolute(directory).context("the current directory")?;
    let places = places(args, &directory)?;
    // A port that is free to be chosen is known when it is bound, and a volume's URI names it.
    let ports = listen(&places, |place| matches!(place, Place::Tcp { .. }))?;
    let control_port = args.control_tcp.as_deref().map(control_port).transpose()?;
    let sockets = places.iter().filter(|place| matches!(place, Place::Unix(_)));
    let listens = ports.iter().map(|one| &one.place).chain(sockets).map(uri).collect();
    let options = Options { floor: floor(args.rt)?, ..options(args, &directory, listens)? };
    let (service, mut server) = Service::open(options).map_err(refused)?;
    // The lock of the directory is held: a socket in it that is left over is nobody's.
    let nbd = listen(&places, |place| matches!(place, Place::Unix(_)))?;
    let files = open_doors(&mut server, ports.into_iter().chain(nbd))?;
    let mut entrances = vec![Entrance { listening: control(args, &directory)?, token: None }];
    entrances.extend(control_port.map(|listening| Entrance { listening, token: token.clone() }));
    let bell = stop.bell()?;
    let work = move || attend(&Closing(service), entrances, &stop);
    let attending = std::thread::Builder::new().name("attend".into()).spawn(work).context("starting a thread")?;
    // The ring stays on this thread, as its buffers do; those that were started before have no priority.
    if args.rt {
        plimsoll_device::realtime().map_err(|error| usage(&error))?;
    }
    let served = server.run();
    drop(bell);
    let attended = attending.join().map_err(|_| anyhow::anyhow!("the service broke off: see above"))?;
    drop(files);
    attended?;
    Ok(served.context("serving clients")?)
}

/// What a server can do here at best, with the priority that it will have.
fn floor(realtime: bool) -> Result<Floor, Trouble> {
    let measured = std::thread::spawn(move || {
        if realtime {
            plimsoll_device::realtime().map_err(|error| usage(&error))?;
        }
        Ok::<_, Trouble>(plimsoll_front::Floor::measure(FLOOR).context("measuring the floor of this host")?)
    });
    let floor = measured.join().map_err(|_| anyhow::anyhow!("measuring the floor broke off: see above"))??;
    Ok(Floor {
        round_trip_p50_ns: floor.round_trip_p50.as_nanos(),
        round_trip_p99_ns: floor.round_trip_p99.as_nanos(),
        timer_p50_ns: floor.timer_p50.as_nanos(),
        timer_p99_ns: floor.timer_p99.as_nanos(),
        iops: floor.iops,
    })
}

/// Opens the control, says that clients are served, and waits for the end.
fn attend(Closing(service): &Closing, entrances: Vec<Entrance>, stop: &Stop) -> Result<(), Trouble> {
    let controls: Vec<Place> = entrances.iter().map(|entrance| entrance.listening.place.clone()).collect();
    let control = Control::open(service.clone(), entrances).context("opening the control")?;
    let about = service.about().map_err(|refusal| anyhow::anyhow!(refusal))?;
    let volumes = service.list().map_err(|refusal| anyhow::anyhow!(refusal))?.len();
    print(greeting(&about, volumes, &controls).as_bytes())?;
    tell(News::Ready(&format!("serving {volumes} volumes of {}", about.directory)));
    stop.wait();
    tell(News::Stopping);
    drop(control);
    Ok(())
}

/// A service that ends when this is dropped, however that comes: the ring would go on otherwise.
struct Closing(Service);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn options(args: &ServeArgs, directory: &Path, listens: Vec<String>) -> Result<Options, Trouble> {
    let terms = TermsArgs { products: args.products.clone(), ..TermsArgs::default() };
    Ok(Options {
        directory: directory.to_owned(),
        capacity: args.capacity.map(plimsoll_units::Bytes::get),
        slow: Slow::by(args.slow),
        listens,
        products: Offers::new(&terms)?.catalogue,
        realtime: args.rt,
        floor: Floor::default(),
        made_by: crate::MADE_BY.into(),
    })
}

/// The places that were named, or the usual one.
fn places(args: &ServeArgs, directory: &Path) -> Result<Vec<Place>, Trouble> {
    let mut places = args.listen.clone();
    if places.is_empty() {
        places.push(Place::Unix(directory.join(NBD)));
    }
    for place in &mut places {
        if let Place::Unix(path) = place {
            *path = std::path::absolute(&*path).context("the current directory")?;
        }
    }
    Ok(places)
}

fn listen(places: &[Place], which: impl Fn(&Place) -> bool) -> Result<Vec<Listening>, Trouble> {
    places.iter().filter(|place| which(place)).map(|place| place.listen(Audience::Owner).map_err(taken)).collect()
}

fn control(args: &ServeArgs, directory: &Path) -> Result<Listening, Trouble> {
    let path = args.control.clone().unwrap_or_else(|| directory.join(home::CONTROL));
    let path = std::path::absolute(path).context("the current directory")?;
    Place::Unix(path).listen(Audience::Owner).map_err(taken)
}

fn control_port(address: &str) -> Result<Listening, Trouble> {
    let place: Place =
        format!("tcp:{address}").parse().map_err(|error: plimsoll_front::sockets::NoPlace| usage(&error))?;
    place.listen(Audience::Owner).map_err(taken)
}

/// Gives the server its listeners; what comes back are the files to be removed in the end.
fn open_doors(
    server: &mut Server<Volumes>,
    listening: impl Iterator<Item = Listening>,
) -> Result<Vec<SocketFile>, Trouble> {
    let mut files = Vec::new();
    for Listening { socket, place, file, .. } in listening {
        server.listen(socket).with_context(|| format!("listening at {place}"))?;
        files.extend(file);
    }
    Ok(files)
}

/// The address of the server's unnamed export there.
fn uri(place: &Place) -> String {
    let host = match place {
        Place::Unix(path) => Host::Unix(path.clone()),
        Place::Tcp { host, port } => Host::Tcp { name: host.clone(), port: *port },
    };
    Address { host, export: String::new(), tls: None }.to_string()
}

/// What a user sees who started it.
fn greeting(about: &About, volumes: usize, controls: &[Place]) -> String {
    let control = |place: &Place| match place {
        Place::Unix(path) => path.display().to_string(),
        Place::Tcp { .. } => format!("{} (with the token)", place.to_string().replacen("tcp:", "http://", 1)),
    };
    let time = match about.slow {
        1 => String::new(),
        times => format!("{times} times slower than the clock: every figure is in the model's time"),
    };
    let volumes = if volumes == 1 { "1 volume".into() } else { format!("{volumes} volumes") };
    let facts = [
        ("NBD", about.listens.join(", ")),
        ("control", controls.iter().map(control).collect::<Vec<_>>().join(", ")),
        ("floor", crate::volumes::floor(&about.floor)),
        ("time", time),
        ("next", next(about)),
    ];
    let title = format!("Serving {volumes} of {}", about.directory);
    plimsoll_report::facts(&title, &facts, Outputs::plain(false).style())
}

/// The command that makes a volume here.
fn next(about: &About) -> String {
    let usual = home::directory().is_ok_and(|usual| usual == PathBuf::from(&about.directory));
    let service = if usual { String::new() } else { format!(" --service {}", about.directory) };
    format!("plimsoll volume{service} create NAME --like oci:50GB@0vpu")
}

fn tell(news: News<'_>) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) {
        // A service manager that cannot be told is no reason to stop.
        let _ = notify(&socket, news);
    }
}

fn refused(error: OpenError) -> Trouble {
    match error {
        OpenError::Directory(_) | OpenError::Make { .. } => Trouble::usage(format!("{:#}", anyhow::Error::new(error))),
        error => Trouble::Failed(error.into()),
    }
}

fn taken(error: NotBound) -> Trouble {
    Trouble::usage(format!("{:#}", anyhow::Error::new(error)))
}

fn usage(error: &dyn std::fmt::Display) -> Trouble {
    Trouble::usage(error.to_string())
}

/// Waits for a signal, or for a bell.
struct Stop {
    waiting: UnixStream,
    bell: UnixStream,
}

impl Stop {
    fn new() -> std::io::Result<Self> {
        let (waiting, bell) = UnixStream::pair()?;
        let asked = std::sync::Arc::default();
        for signal in [SIGINT, SIGTERM] {
            // The second one ends the process at once.
            signal_hook::flag::register_conditional_shutdown(signal, 130, std::sync::Arc::clone(&asked))?;
            signal_hook::flag::register(signal, std::sync::Arc::clone(&asked))?;
            signal_hook::low_level::pipe::register(signal, bell.try_clone()?)?;
        }
        Ok(Self { waiting, bell })
    }

    /// Rings when it is dropped, however that comes.
    fn bell(&self) -> Result<Bell, Trouble> {
        Ok(Bell(self.bell.try_clone().context("waiting for signals")?))
    }

    fn wait(&self) {
        let mut waiting = &self.waiting;
        while waiting.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted) {}
    }
}

/// Ends the waiting.
struct Bell(UnixStream);

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = self.0.write_all(&[0]);
    }
}
