//! `plimsoll iscsi`: one image or memory as the logical unit of an iSCSI target, for as long as this process runs.

use std::fmt;
use std::path::Path;

use anyhow::Context;
use plimsoll_front::Service;
use plimsoll_front::iscsi::{Chap, Credentials, TargetSettings, Targets};
use plimsoll_front::sockets::{Audience, Listening, Place};

use crate::args::{ChapArgs, IscsiArgs};
use crate::image::{Served, check_realtime};
use crate::systemd;
use crate::trouble::Trouble;

/// Port of iSCSI (RFC 7143, 13.24).
const PORT: u16 = 3260;

/// Minimum bytes of a secret (RFC 7143, 12.1.1).
const SECRET_MIN: usize = 12;

/// The logical unit behind a portal, as the tools of libiscsi write it.
struct Address<'a> {
    portal: &'a Portal,
    target: &'a str,
}

/// Host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Portal(String);

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iscsi://{}/{}/0", self.portal.0, self.target)
    }
}

/// Serves until its command or a signal ends it.
pub fn run(args: &IscsiArgs) -> Result<(), Trouble> {
    check_realtime(&args.image)?;
    let chap = chap(&args.chap)?;
    let listening = listen(args)?;
    let portals: Vec<Portal> = listening.iter().filter_map(|one| portal(&one.place)).collect();
    let advertised: Vec<Portal> = args.advertise.iter().filter_map(portal).collect();
    let is_open = |portal: &&Portal| !portal.0.starts_with("0.0.0.0:") && !portal.0.starts_with("[::]:");
    let advertised = if advertised.is_empty() { portals.iter().filter(is_open).cloned().collect() } else { advertised };
    let settings = TargetSettings {
        name: args.target.clone(),
        // A portal of all addresses is advertised by the address of the connection.
        portals: advertised.into_iter().map(|portal| portal.0).collect(),
        chap,
        initial_r2t: args.initial_r2t,
        queue_depth: args.queue_depth,
        ..TargetSettings::default()
    };
    let targets = Targets::new(settings);
    let mut served = Served::open(&args.image, "")?;
    for Listening { socket, place, .. } in listening {
        let service = Service::Iscsi(targets.clone());
        served.server.listen_for(socket, service).with_context(|| format!("listening at {place}"))?;
    }
    let addresses: Vec<Address<'_>> = portals.iter().map(|portal| Address { portal, target: &args.target }).collect();
    let command = args.run.as_deref().map(|command| {
        let variables = addresses.first().map_or_else(Vec::new, |address| {
            let (portal, target) = (&address.portal.0, address.target);
            vec![("uri", address.to_string().into()), ("portal", portal.into()), ("target", target.into())]
        });
        (command, variables)
    });
    let greets = command.is_none();
    served.run(command, greets.then_some(&addresses[..]))
}

/// The sockets of a service manager, or those of the portals.
fn listen(args: &IscsiArgs) -> Result<Vec<Listening>, Trouble> {
    let inherited = systemd::sockets()?;
    if !inherited.is_empty() {
        if args.portal.is_empty() {
            return Ok(inherited);
        }
        return Err(Trouble::usage("the sockets were made by the service manager: leave out --portal"));
    }
    let port = if args.run.is_some() { 0 } else { PORT };
    let usual = [Place::Tcp { host: "127.0.0.1".to_owned(), port }];
    let places = if args.portal.is_empty() { &usual[..] } else { &args.portal };
    let refused = |error| Trouble::usage(format!("{:#}", anyhow::Error::new(error)));
    places.iter().map(|place| place.listen(Audience::Owner).map_err(refused)).collect()
}

fn portal(place: &Place) -> Option<Portal> {
    match place {
        Place::Unix(_) => None,
        Place::Tcp { host, port } if host.contains(':') => Some(Portal(format!("[{host}]:{port}"))),
        Place::Tcp { host, port } => Some(Portal(format!("{host}:{port}"))),
    }
}

fn chap(args: &ChapArgs) -> Result<Option<Chap>, Trouble> {
    let initiator = credentials(args.chap_user.as_deref(), args.chap_secret_file.as_deref())?;
    let target = credentials(args.mutual_chap_user.as_deref(), args.mutual_chap_secret_file.as_deref())?;
    let Some(initiator) = initiator else { return Ok(None) };
    if target.as_ref().is_some_and(|target| target.secret == initiator.secret) {
        return Err(Trouble::usage("initiator and target have the same secret; choose another one for the target"));
    }
    Ok(Some(Chap { initiator, target }))
}

fn credentials(name: Option<&str>, file: Option<&Path>) -> Result<Option<Credentials>, Trouble> {
    let (Some(name), Some(file)) = (name, file) else { return Ok(None) };
    let shown = file.display();
    let content = std::fs::read(file).map_err(|error| Trouble::usage(format!("{shown}: {error}")))?;
    let secret = content.trim_ascii_end().to_vec();
    if secret.len() < SECRET_MIN {
        return Err(Trouble::usage(format!("{shown}: a secret has at least {SECRET_MIN} bytes")));
    }
    Ok(Some(Credentials { name: name.to_owned(), secret }))
}
