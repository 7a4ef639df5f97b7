//! Serves an image or memory without a data directory until the process ends. Independent of the protocol.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::os::fd::OwnedFd;

use anyhow::Context;
use plimsoll_device::nbd::Emulation;
use plimsoll_device::{Claim, Clock};
use plimsoll_front::notify::{News, notify_systemd};
use plimsoll_front::served_command::ServedCommand;
use plimsoll_front::{Blocks, DataFiles, Handle, Image, ImageError, ImageRequest, Limits, Offer, Server};
use plimsoll_language::{label, say};
use plimsoll_measure::read_model;
use plimsoll_units::Span;
use plimsoll_volume::{Export, Fidelity, VolumeAccess, Volumes};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::{ImageArgs, TermsArgs};
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::print;
use crate::signals::SignalWait;

/// A server with one export, which has no listening socket yet.
pub struct UnboundServer {
    pub server: Server,
    claim: Option<Claim>,
    access: VolumeAccess,
    /// Description of the image and its emulation.
    description: String,
    rt: bool,
}

/// Fails early, on a temporary thread, if real-time priority is requested and not permitted.
pub fn check_realtime(args: &ImageArgs) -> Result<(), CliError> {
    if args.rt {
        std::thread::spawn(realtime)
            .join()
            .map_err(|_| anyhow::anyhow!(say!("the thread that sets the priority panicked")))??;
    }
    Ok(())
}

fn realtime() -> Result<(), CliError> {
    plimsoll_device::realtime().map_err(|error| CliError::usage(error.to_string()))
}

impl UnboundServer {
    /// Opens the image, and offers it under a name.
    pub fn open(args: &ImageArgs, export: &str, blocks: Blocks) -> Result<Self, CliError> {
        let terms = TermsArgs { products: args.products.clone(), ..TermsArgs::default() };
        let like = args.like.as_deref().map(|text| read_model(text, || read_offers(&terms))).transpose()?;
        let image = Image::open(ImageRequest {
            file: args.file.as_deref(),
            size: args.size,
            capacity: like.as_ref().and_then(|like| Some(like.offer.as_ref()?.capacity)),
            access: if args.read_only { VolumeAccess::ReadOnly } else { VolumeAccess::ReadWrite },
            destroy: &args.destroy,
        })?;
        let volumes = match &like {
            None => Volumes::plain([image.size], Span::ZERO),
            Some(like) => {
                let model = (like.model.clone(), args.seed);
                Volumes::emulated((image.size, image.access), model, args.slow).context(label!("serving the image"))?
            }
        };
        let files = image.file.map_or_else(DataFiles::memory, |file| DataFiles::given([OwnedFd::from(file)]));
        let mut server =
            Server::new(volumes, files, Limits::default(), Clock::start()).context(label!("starting the server"))?;
        if like.is_some() {
            server.set_floor(crate::serve::measure_floor(args.rt)?);
        }
        let offer = Offer { access: image.access, blocks, ..Offer::new(Export(0), export, image.size) };
        let emulation = like.map(|like| Emulation {
            like: like.offer.is_some().then(|| like.name.clone()),
            model: like.model.to_string(),
            slow: args.slow,
        });
        let description = match &emulation {
            Some(emulation) => format!("{}, {emulation}", image.description),
            None => image.description,
        };
        server.offer(match &emulation {
            Some(emulation) => offer.emulated(emulation),
            None => Offer { description: description.clone(), ..offer },
        });
        Ok(Self { server, claim: image.claim, access: image.access, description, rt: args.rt })
    }

    /// Serves until its clients, a command with variables of its environment, or a signal end it. The greeting lists
    /// addresses.
    pub fn run(
        mut self,
        command: Option<(&str, Vec<(&'static str, OsString)>)>,
        addresses: Option<&[impl Display]>,
    ) -> Result<(), CliError> {
        let handle = self.server.handle();
        stop_at_signals(handle.clone())?;
        let command = command.map(|(command, variables)| ServedCommand::start(command, &variables, handle)).transpose();
        let command = command.context("starting /bin/sh")?;
        if let Some(addresses) = addresses {
            print(format_greeting(&self.description, self.access, addresses).as_bytes())?;
        }
        notify_systemd(News::Ready(&self.description));
        // Set last, so that previously started threads and commands do not inherit it.
        if self.rt {
            realtime()?;
        }
        let outcome = self.server.run();
        notify_systemd(News::Stopping);
        let ended = command.map_or(Ok(()), end_command);
        drop(self.claim);
        outcome.context(label!("serving clients"))?;
        ended?;
        let fidelity = self.server.volumes().0.fidelity(Export(0));
        if let Some(fidelity) = fidelity.filter(|fidelity| fidelity.lateness().count > 0) {
            // Nothing can be reported if standard error is closed.
            let _ = std::io::stderr().write_all(describe_fidelity(fidelity).as_bytes());
        }
        Ok(())
    }
}

/// Ends the command of `--run`; its exit code becomes that of this process.
fn end_command(command: ServedCommand) -> Result<(), CliError> {
    match command.end().context(label!("waiting for the command"))? {
        None => Err(CliError::Interrupted),
        Some(0) => Ok(()),
        Some(code) => Err(CliError::Ended(code)),
    }
}

impl From<ImageError> for CliError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Io { .. } => Self::Failed(error.into()),
            refusal => Self::usage(format!("{:#}", anyhow::Error::new(refusal))),
        }
    }
}

/// Stops the server at the first signal; the second ends the process.
fn stop_at_signals(handle: Handle) -> Result<(), CliError> {
    let signals = SignalWait::new(&[SIGINT, SIGTERM, SIGHUP]).context(label!("waiting for signals"))?;
    let wait = move || {
        signals.wait();
        // The server may have ended.
        let _ = handle.send(Server::stop);
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).context(label!("starting a thread"))?;
    Ok(())
}

/// Fidelity of the replies to the model.
fn describe_fidelity(fidelity: &Fidelity) -> String {
    let (faithful, unfaithful) = fidelity.counted();
    let late = |share| fidelity.lateness().quantile(share).unwrap_or(Span::ZERO);
    let (p50, p99) = (late(0.5), late(0.99));
    say!(
        "plimsoll: replies followed the model for {faithful} s, not for {unfaithful} s; lateness p50 {p50}, p99 {p99}\n"
    )
}

fn format_greeting(image: &str, access: VolumeAccess, addresses: &[impl Display]) -> String {
    let access = if access == VolumeAccess::ReadOnly { label!(", read-only") } else { "" };
    let mut text = say!("Serving {image}{access}\n");
    for address in addresses {
        text += &format!("  {address}\n");
    }
    text
}
