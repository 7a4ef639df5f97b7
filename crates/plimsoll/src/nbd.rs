//! `plimsoll nbd`: one export of one image or of memory, without a data directory, for as long as this process runs.

mod child;
mod doors;
mod image;

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Context;
use plimsoll_device::Clock;
use plimsoll_device::nbd::{Address, Emulation};
use plimsoll_front::notify::News;
use plimsoll_front::{Files, Handle, Limits, Offer, Server};
use plimsoll_units::Span;
use plimsoll_volume::{Access, Export, Fidelity, Flat, Serving, Slow, VolumeId, Volumes};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::child::Child;
use self::doors::{Doors, Maker};
use self::image::Image;
use crate::args::{NbdArgs, TermsArgs};
use crate::offers::{NamedModel, Offers};
use crate::output::print;
use crate::systemd;
use crate::trouble::Trouble;

/// Requests in flight, which the model sees queueing.
const REQUESTS: u32 = 4096;

/// Serves until its clients, its command or a signal end it.
pub fn run(args: &NbdArgs) -> Result<(), Trouble> {
    if args.rt {
        // Known before anything is begun, on a thread that ends.
        std::thread::spawn(realtime).join().map_err(|_| anyhow::anyhow!("asking for priority broke off"))??;
    }
    let terms = TermsArgs { products: args.products.clone(), ..TermsArgs::default() };
    let like = args.like.as_deref().map(|text| NamedModel::read(text, || Offers::new(&terms))).transpose()?;
    let doors = Doors::open(args)?;
    let image = Image::open(args, like.as_ref().and_then(|like| Some(like.offer.as_ref()?.capacity)))?;
    match like {
        None => serve(args, doors, Volumes::plain([image.size], Span::ZERO), image, None).map(drop),
        Some(like) => {
            let flat = Flat::new([(image.size, image.access)]);
            let mut volumes = Volumes::new(flat, Slow::by(args.slow));
            let limits = plimsoll_volume::Limits { requests: REQUESTS, block: 1, ..plimsoll_volume::Limits::default() };
            let model = like.model.clone();
            let serving = Serving { volume: VolumeId(0), model, seed: args.seed, limits, group: None };
            volumes.serve(plimsoll_units::Instant::ZERO, &serving).context("serving the image")?;
            let mut server = serve(args, doors, volumes, image, Some(&like))?;
            let fidelity = server.volumes().0.fidelity(Export(0));
            if let Some(fidelity) = fidelity.filter(|fidelity| fidelity.lateness().count > 0) {
                // With standard error gone there is nobody left to tell.
                let _ = std::io::stderr().write_all(faithfulness(fidelity).as_bytes());
            }
            Ok(())
        }
    }
}

fn realtime() -> Result<(), Trouble> {
    plimsoll_device::realtime().map_err(|error| Trouble::usage(error.to_string()))
}

fn serve(
    args: &NbdArgs,
    doors: Doors,
    volumes: Volumes<Flat>,
    image: Image,
    like: Option<&NamedModel>,
) -> Result<Server<Flat>, Trouble> {
    let files = image.file.map_or_else(Files::memory, |file| Files::given([OwnedFd::from(file)]));
    let mut server = Server::new(volumes, files, Limits::default(), Clock::start()).context("starting the server")?;
    if like.is_some() {
        server.set_floor(crate::serve::floor(args.rt)?);
    }
    let offer = Offer { access: image.access, ..Offer::new(Export(0), &*args.export, image.size) };
    let emulation = like.map(|like| Emulation {
        like: like.offer.is_some().then(|| like.name.clone()),
        model: like.model.to_string(),
        slow: args.slow,
    });
    let what = match &emulation {
        Some(emulation) => format!("{}, {emulation}", image.shown),
        None => image.shown.clone(),
    };
    server.offer(match &emulation {
        Some(emulation) => offer.emulated(emulation),
        None => Offer { description: what.clone(), ..offer },
    });
    let (addresses, made_by) = (doors.addresses(), doors.made_by);
    let _kept = doors.admit(&mut server)?;
    // Who makes a socket for this process talks over that, whatever its standard input is.
    let stdio = args.stdio && made_by == Maker::Us;
    if stdio {
        let (input, output) = (std::io::stdin(), std::io::stdout());
        let both =
            input.as_fd().try_clone_to_owned().and_then(|input| Ok((input, output.as_fd().try_clone_to_owned()?)));
        let (input, output) = both.context("standard input and output")?;
        server.serve(input, Some(output)).context("serving standard input and output")?;
    }
    let handle = server.handle();
    stop_at_signals(handle.clone())?;
    let child = match &args.run {
        Some(command) => Some(Child::start(command, addresses.first(), handle)?),
        None => None,
    };
    if child.is_none() && !stdio && made_by == Maker::Us {
        print(greeting(&what, image.access, &addresses).as_bytes())?;
    }
    systemd::tell(News::Ready(&what));
    // Last: threads and commands that are started before have no part in it.
    if args.rt {
        realtime()?;
    }
    let outcome = server.run();
    systemd::tell(News::Stopping);
    let ended = child.map_or(Ok(()), Child::end);
    drop(image.claim);
    outcome.context("serving clients")?;
    ended.map(|()| server)
}

/// Has the server end in order at the first signal; the second one ends the process.
fn stop_at_signals(handle: Handle<Flat>) -> Result<(), Trouble> {
    let (waiting, bell) = std::os::unix::net::UnixStream::pair().context("waiting for signals")?;
    let signals = [SIGINT, SIGTERM, SIGHUP];
    crate::signals::watch(&signals).context("waiting for signals")?;
    for signal in signals {
        let bell = bell.try_clone().context("waiting for signals")?;
        signal_hook::low_level::pipe::register(signal, bell).context("waiting for signals")?;
    }
    let wait = move || {
        let mut waiting = waiting;
        while std::io::Read::read(&mut waiting, &mut [0])
            .is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted)
        {}
        // A server that is gone need not be stopped.
        let _ = handle.send(Server::stop);
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).context("starting a thread")?;
    Ok(())
}

/// How far the answers kept to the model.
fn faithfulness(fidelity: &Fidelity) -> String {
    let (faithful, not) = fidelity.counted();
    let late = |share| fidelity.lateness().quantile(share).unwrap_or(Span::ZERO);
    let (p50, p99) = (late(0.5), late(0.99));
    format!("plimsoll: {faithful} s faithful to the model, {not} s not; lateness p50 {p50}, p99 {p99}\n")
}

fn greeting(what: &str, access: Access, addresses: &[Address]) -> String {
    let access = if access == Access::ReadOnly { ", read-only" } else { "" };
    let mut text = format!("Serving {what}{access}\n");
    for address in addresses {
        text += &format!("  {address}\n");
    }
    text
}
