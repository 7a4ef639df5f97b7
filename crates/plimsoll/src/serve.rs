//! `plimsoll serve`: serves the volumes of a data directory until a signal.

mod clouds;
mod socket_activation;

use std::path::Path;

use anyhow::Context;
use plimsoll_front::Checksums;
use plimsoll_front::notify::{News, notify_systemd};
use plimsoll_front::sockets::ListenAddress;
use plimsoll_language::{label, say};
use plimsoll_report::Page;
use plimsoll_report::words::volume as words;
use plimsoll_service::api::{About, Floor, Recording, Volume};
use plimsoll_service::block_device;
use plimsoll_service::client::{Client, ControlAddress};
use plimsoll_service::http::{Control, Entrance};
use plimsoll_service::{LevelChanges, OpenError, Service, ServiceOptions, convert_floor};
use plimsoll_units::Span;
use plimsoll_volume::{Durability, Slow};
use plimsoll_web::{ConsoleOptions, WebConsole};
use signal_hook::consts::{SIGINT, SIGTERM};

use self::clouds::Clouds;
use self::socket_activation::ServiceSockets;
use crate::args::{ServeArgs, TermsArgs};
use crate::cli_error::CliError;
use crate::log;
use crate::offers::read_offers;
use crate::output::{self, print};
use crate::signals::SignalWait;
use crate::volumes::home;
use crate::web_console;

/// Duration of the measurement of the floor.
const FLOOR_DURATION: Span = Span::from_millis(500);

/// Serves until a signal.
pub fn run(args: &ServeArgs) -> Result<(), CliError> {
    log::install(args.log_format);
    // Not permitted in some containers; the current limit applies then.
    let _ = plimsoll_front::descriptors::raise_limit();
    let stop = SignalWait::new(&[SIGINT, SIGTERM]).context(label!("waiting for signals"))?;
    let directory = args.directory.clone().map_or_else(home::directory, Ok)?;
    let directory = std::path::absolute(directory).context(label!("the current directory"))?;
    let sockets = ServiceSockets::find(args, &directory)?;
    let listener = web_console::listen(args)?;
    let clouds = Clouds::find(&args.cloud, &directory)?;
    let floor = measure_floor(args.rt)?;
    let iscsi = sockets.iscsi();
    let options =
        ServiceOptions { floor: convert_floor(&floor), iscsi, ..build_options(args, &directory, sockets.addresses())? };
    let products = options.products.clone();
    let (service, mut server) = Service::open(options).map_err(explain_open_error)?;
    server.set_floor(floor);
    let (entrances, files) = sockets.open(&mut server)?;
    let stop_waiting = stop.stop_on_drop().context(label!("waiting for signals"))?;
    let recordings =
        args.record.as_deref().map(std::path::absolute).transpose().context(label!("the current directory"))?;
    let reattach = args.reattach;
    let console = listener.map(|listener| web_console::build_options(listener, &service, products, &directory));
    let work = move || {
        serve_until_signal(&ServiceGuard(service), entrances, clouds, recordings.as_deref(), reattach, &stop, console)
    };
    let control =
        std::thread::Builder::new().name("control".into()).spawn(work).context(label!("starting a thread"))?;
    // The ring and its buffers stay on this thread. Threads that were started before have no priority.
    if args.rt {
        plimsoll_device::realtime().map_err(CliError::usage)?;
    }
    let outcome = server.run();
    drop(stop_waiting);
    let controlled = control.join().map_err(|_| anyhow::anyhow!(say!("the service broke off: see above")))?;
    drop(files);
    controlled?;
    tracing::info!("stopped");
    Ok(outcome.context(label!("serving clients"))?)
}

/// Measures the latency floor of this host at the final scheduling priority.
pub fn measure_floor(realtime: bool) -> Result<plimsoll_front::Floor, CliError> {
    let measured = std::thread::spawn(move || {
        if realtime {
            plimsoll_device::realtime().map_err(CliError::usage)?;
        }
        Ok::<_, CliError>(
            plimsoll_front::Floor::measure(FLOOR_DURATION).context(label!("measuring the floor of this host"))?,
        )
    });
    measured.join().map_err(|_| anyhow::anyhow!(say!("measuring the floor broke off: see above")))?
}

fn remeasure(realtime: bool) -> Option<Floor> {
    measure_floor(realtime).ok().as_ref().map(convert_floor)
}

/// Opens the control, notifies the service manager, and waits for the end.
fn serve_until_signal(
    ServiceGuard(service): &ServiceGuard,
    entrances: Vec<Entrance>,
    clouds: Clouds,
    recordings: Option<&Path>,
    reattach: bool,
    stop: &SignalWait,
    console: Option<ConsoleOptions>,
) -> Result<(), CliError> {
    for notice in service.notices() {
        tracing::warn!("{notice}");
    }
    recordings.map_or(Ok(()), |folder| record_all(service, folder))?;
    let controls: Vec<ListenAddress> = entrances.iter().map(|entrance| entrance.listening.place.clone()).collect();
    let control = Control::open(service, entrances).context(label!("opening the control"))?;
    let planes = clouds.open(service, control_client(&controls))?;
    let about = service.about().map_err(|refusal| anyhow::anyhow!(refusal))?;
    let volumes = service.list().map_err(|refusal| anyhow::anyhow!(refusal))?.len();
    let console = console.map(WebConsole::open).transpose().context(label!("opening the web console"))?;
    let url = console.as_ref().map(WebConsole::url).transpose().context(label!("opening the web console"))?;
    print(format_greeting(&about, volumes, &controls, planes.places(), url).as_bytes())?;
    let listeners = [about.listens.clone(), about.iscsi.clone(), controls.iter().map(ToString::to_string).collect()];
    let listeners = listeners.concat().join(" ");
    tracing::info!(volumes, directory = about.directory, made_by = about.made_by, listeners, "serving");
    notify_systemd(News::Ready(&say!("serving {volumes} volumes of {}", about.directory)));
    if reattach {
        reattach_all(service, &controls);
    }
    stop.wait();
    tracing::info!("stopping");
    notify_systemd(News::Stopping);
    drop(console);
    // A second signal ends the program at once.
    block_device::release(control_client(&controls), &service.list().unwrap_or_default(), reattach);
    drop(planes);
    drop(control);
    Ok(())
}

/// A client of the control socket of this service.
fn control_client(controls: &[ListenAddress]) -> Option<Client> {
    let socket = controls.iter().find_map(|place| match place {
        ListenAddress::Unix(path) => Some(path.clone()),
        ListenAddress::Tcp { .. } => None,
    });
    socket.and_then(|socket| Client::new(ControlAddress::Unix(socket), None).ok())
}

/// Reattaches the volumes that an earlier run left attached. A volume that fails is unchanged.
fn reattach_all(service: &Service, controls: &[ListenAddress]) {
    let Some(client) = control_client(controls) else {
        tracing::warn!("--reattach needs a control socket: use --control PATH");
        return;
    };
    let is_left = |volume: &Volume| volume.attachment.as_ref().is_some_and(|attachment| attachment.dead);
    for volume in service.list().unwrap_or_default().iter().filter(|volume| is_left(volume)) {
        match block_device::reattach(&client, volume) {
            Ok(attachment) => {
                tracing::info!(volume = volume.name, place = words::format_device(&attachment), "reattached");
            }
            Err(error) => tracing::error!(volume = volume.name, reason = %error, "not reattached"),
        }
    }
}

/// Records every volume from the beginning.
fn record_all(service: &Service, folder: &Path) -> Result<(), CliError> {
    let moment = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let refused = |refusal: plimsoll_service::Refusal| CliError::usage(format!("--record: {refusal}"));
    for volume in service.list().map_err(refused)? {
        let file = folder.join(format!("{}-{moment}.trace", volume.name)).display().to_string();
        service.record(&volume.name, &Recording { file }).map_err(refused)?;
    }
    Ok(())
}

/// Closes the service on drop, also after an error or a panic: the ring would run on otherwise.
struct ServiceGuard(Service);

impl Drop for ServiceGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn build_options(args: &ServeArgs, directory: &Path, listens: Vec<String>) -> Result<ServiceOptions, CliError> {
    let terms = TermsArgs { products: args.products.clone(), ..TermsArgs::default() };
    Ok(ServiceOptions {
        directory: directory.to_owned(),
        capacity: args.capacity.map(plimsoll_units::Bytes::get),
        slow: Slow::by(args.slow),
        listens,
        iscsi: None,
        products: read_offers(&terms)?.catalogue,
        realtime: args.rt,
        floor: Floor::default(),
        measure_floor: if args.rt { || remeasure(true) } else { || remeasure(false) },
        checksums: if args.checksums { Checksums::Required } else { Checksums::AsMade },
        level_changes: if args.cloud.online_uhp { LevelChanges::Online } else { LevelChanges::Detached },
        durability: if args.durability.durable_writes { Durability::Changes } else { Durability::Flushes },
        commit_interval: args.durability.commit_interval.0,
        made_by: crate::PROGRAM.into(),
    })
}

/// Startup message.
fn format_greeting(
    about: &About,
    volumes: usize,
    controls: &[ListenAddress],
    planes: &[(&'static str, String)],
    url: Option<String>,
) -> String {
    let control = |place: &ListenAddress| match place {
        ListenAddress::Unix(path) => path.display().to_string(),
        ListenAddress::Tcp { .. } => say!("{} (with the token)", place.to_string().replacen("tcp:", "http://", 1)),
    };
    let time = match about.slow {
        1 => String::new(),
        times => say!("{times} times slower than the clock: every figure is in the model's time"),
    };
    let volumes = if volumes == 1 { label!("1 volume").into() } else { say!("{volumes} volumes") };
    let mut facts = vec![
        ("NBD", about.listens.join(", ")),
        ("iSCSI", about.iscsi.join(", ")),
        (label!("control"), controls.iter().map(control).collect::<Vec<_>>().join(", ")),
    ];
    facts.extend_from_slice(planes);
    facts.push((label!("durable"), words::durability(&about.durability)));
    facts.extend([
        (label!("floor"), words::floor(&about.floor)),
        (label!("time"), time),
        (label!("next"), next_command(about)),
    ]);
    let title = say!("Serving {volumes} of {}", about.directory);
    let facts = plimsoll_report::page_text(&Page::of_facts(title.clone(), title, facts), &output::style(false));
    // On a line of its own: a wrapped URL cannot be opened.
    let console = url.map(|url| say!("\nThe web console, at a URL that works once:\n{url}\n"));
    facts + &console.unwrap_or_default()
}

/// The command that makes a volume here.
fn next_command(about: &About) -> String {
    let is_default = home::directory().is_ok_and(|directory| directory == Path::new(&about.directory));
    let service = if is_default { String::new() } else { format!(" --service {}", about.directory) };
    format!("plimsoll volume{service} create NAME --like oci:50GB@0vpu")
}

fn explain_open_error(error: OpenError) -> CliError {
    match error {
        OpenError::Directory(_) | OpenError::Damaged { .. } | OpenError::Make { .. } => {
            CliError::usage(format!("{:#}", anyhow::Error::new(error)))
        }
        error => CliError::Failed(error.into()),
    }
}
