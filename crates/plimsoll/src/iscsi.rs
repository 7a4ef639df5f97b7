//! `plimsoll iscsi`: one image or memory as the logical unit of an iSCSI target, for as long as this process runs.

use std::fmt;

use anyhow::Context;
use plimsoll_front::iscsi::{TargetSettings, Targets};
use plimsoll_front::sockets::{Activation, ListenAddress, Listening};
use plimsoll_front::{Blocks, SocketProtocol};
use plimsoll_language::{label, say};

use crate::args::IscsiArgs;
use crate::cli_error::CliError;
use crate::image::{UnboundServer, check_realtime};
use crate::portals;

/// Port of iSCSI (RFC 7143, 13.24).
const PORT: u16 = 3260;

/// The logical unit behind a portal, as the tools of libiscsi write it.
struct UnitUrl<'a> {
    portal: &'a str,
    target: &'a str,
}

impl fmt::Display for UnitUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iscsi://{}/{}/0", self.portal, self.target)
    }
}

/// Serves until its command or a signal ends it.
pub fn run(args: &IscsiArgs) -> Result<(), CliError> {
    check_realtime(&args.image)?;
    let chap = portals::chap(&args.chap)?;
    let listening = listen(args)?;
    let addresses = portals::addresses(&listening);
    let settings = TargetSettings {
        name: args.target.clone(),
        portals: TargetSettings::advertised(&addresses, &args.advertise),
        chap,
        initial_r2t: args.initial_r2t,
        queue_depth: args.queue_depth,
        ..TargetSettings::default()
    };
    let targets = Targets::new(settings);
    let blocks = Blocks { preferred: args.physical_block.get() as u32, ..Blocks::default() };
    let mut server = UnboundServer::open(&args.image, "", blocks)?;
    for (index, Listening { socket, place, .. }) in (0..).zip(listening) {
        let service = SocketProtocol::Iscsi(targets.at_portal(index));
        server.server.listen_for(socket, service).with_context(|| say!("listening at {place}"))?;
    }
    let addresses: Vec<UnitUrl<'_>> = addresses.iter().map(|portal| UnitUrl { portal, target: &args.target }).collect();
    let command = args.run.as_deref().map(|command| {
        let variables = addresses.first().map_or_else(Vec::new, |address| {
            let (portal, target) = (address.portal, address.target);
            vec![("uri", address.to_string().into()), ("portal", portal.into()), ("target", target.into())]
        });
        (command, variables)
    });
    let greets = command.is_none();
    server.run(command, greets.then_some(&addresses[..]))
}

/// The sockets of a service manager, or those of the portals.
fn listen(args: &IscsiArgs) -> Result<Vec<Listening>, CliError> {
    let inherited = Activation::take_inherited().map_err(CliError::usage)?;
    if !inherited.is_empty() {
        if args.portal.is_empty() {
            return Ok(inherited);
        }
        return Err(CliError::usage(label!("the sockets were made by the service manager: leave out --portal")));
    }
    let port = if args.run.is_some() { 0 } else { PORT };
    let default_place = [ListenAddress::Tcp { host: "127.0.0.1".to_owned(), port }];
    let places = if args.portal.is_empty() { &default_place[..] } else { &args.portal };
    portals::listen(places)
}
