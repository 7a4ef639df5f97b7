//! Listening sockets of a service: those of its flags, of a service manager, or the default sockets in the data directory. Over
//! TCP the control requires a token.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_front::iscsi::{TargetSettings, Targets};
use plimsoll_front::sockets::{Activation, ListenAddress, Listening, SocketAccess, SocketFile};
use plimsoll_front::{Server, TlsMode};
use plimsoll_language::{label, say};
use plimsoll_service::http::{Entrance, Token};
use plimsoll_service::{IscsiOptions, client::CONTROL_SOCKET};

use crate::args::{ServeArgs, TlsArgs};
use crate::cli_error::CliError;
use crate::portals;
use crate::tls;

/// Name of the default NBD socket in the data directory.
const NBD_SOCKET: &str = "nbd.sock";
/// Names of the sockets of a service manager (`FileDescriptorName=`): of the control, and of iSCSI portals.
const CONTROL_NAME: &str = "control";
const ISCSI_NAME: &str = "iscsi";

/// Listening sockets, and addresses to listen at once the data directory is locked: a socket in it is stale then.
pub(super) struct ServiceSockets {
    nbd: Vec<Listening>,
    portals: Vec<Listening>,
    targets: TargetSettings,
    deferred: Vec<ListenAddress>,
    control: Vec<Entrance>,
    deferred_control: Option<ListenAddress>,
    tls: TlsMode,
    certificates: TlsArgs,
}

impl ServiceSockets {
    /// Determines the addresses, and listens on ports, so that the addresses include ports that the system assigns.
    pub(super) fn find(args: &ServeArgs, directory: &Path) -> Result<Self, CliError> {
        let token = args.token_file.as_deref().map(Token::read).transpose().map_err(CliError::usage)?;
        let tls = tls::mode(&args.tls)?;
        let is_control = |listening: &Listening| listening.name.as_deref() == Some(CONTROL_NAME);
        let (control_sockets, others): (Vec<_>, Vec<_>) =
            Activation::take_inherited().map_err(CliError::usage)?.into_iter().partition(is_control);
        let is_portal = |listening: &Listening| listening.name.as_deref() == Some(ISCSI_NAME);
        let (mut portals, mut nbd): (Vec<_>, Vec<_>) = others.into_iter().partition(is_portal);
        portals.extend(portals::listen(&args.iscsi)?);
        let targets = build_targets(args, &portals)?;
        let mut control = control_sockets.into_iter().map(inherited).collect::<Result<Vec<_>, _>>()?;
        let mut deferred = Vec::new();
        for place in &args.listen {
            match place {
                ListenAddress::Unix(_) => deferred.push(place.absolute().context(label!("the current directory"))?),
                ListenAddress::Tcp { .. } => nbd.push(place.listen(SocketAccess::Owner)?),
            }
        }
        if nbd.is_empty() && deferred.is_empty() {
            deferred.push(ListenAddress::Unix(directory.join(NBD_SOCKET)));
        }
        if let Some(address) = &args.control_tcp {
            let place: ListenAddress = format!("tcp:{address}")
                .parse()
                .map_err(|error: plimsoll_front::sockets::ListenAddressError| CliError::usage(error))?;
            control.push(Entrance { listening: place.listen(SocketAccess::Owner)?, token });
        }
        let own = || args.control.clone().map_or_else(|| Ok(directory.join(CONTROL_SOCKET)), |path| absolute(&path));
        let is_unix = |entrance: &Entrance| matches!(entrance.listening.place, ListenAddress::Unix(_));
        let deferred_control = if control.iter().any(is_unix) { None } else { Some(ListenAddress::Unix(own()?)) };
        Ok(Self { nbd, portals, targets, deferred, control, deferred_control, tls, certificates: args.tls.clone() })
    }

    /// The iSCSI targets; `None` without a portal.
    pub(super) fn iscsi(&self) -> Option<IscsiOptions> {
        let TargetSettings { name, portals, queue_depth, chap, .. } = self.targets.clone();
        let chap_user = chap.map(|chap| chap.initiator.name);
        (!self.portals.is_empty()).then_some(IscsiOptions { prefix: name, portals, queue_depth, chap_user })
    }

    /// The addresses of the unnamed export.
    pub(super) fn addresses(&self) -> Vec<String> {
        let address = |place| tls::address(place, "", &self.certificates, &self.tls).to_string();
        self.nbd.iter().map(|listening| &listening.place).chain(&self.deferred).map(address).collect()
    }

    /// Listens at all addresses, and gives the server its listeners. Returns the entrances of the control, and the files of
    /// sockets, which are removed on drop.
    pub(super) fn open(mut self, server: &mut Server) -> Result<(Vec<Entrance>, Vec<SocketFile>), CliError> {
        for place in &self.deferred {
            self.nbd.push(place.listen(SocketAccess::Owner)?);
        }
        if let Some(place) = &self.deferred_control {
            let listening = place.listen(SocketAccess::Owner)?;
            self.control.insert(0, Entrance { listening, token: None });
        }
        server.set_tls(self.tls);
        let mut files = Vec::new();
        for Listening { socket, place, file, .. } in self.nbd {
            server.listen(socket).with_context(|| say!("listening at {place}"))?;
            files.extend(file);
        }
        let targets = Targets::new(self.targets);
        for (index, Listening { socket, place, .. }) in (0..).zip(self.portals) {
            let service = plimsoll_front::SocketProtocol::Iscsi(targets.at_portal(index));
            server.listen_for(socket, service).with_context(|| say!("listening at {place}"))?;
        }
        Ok((self.control, files))
    }
}

/// The settings of iSCSI targets with these portals.
fn build_targets(args: &ServeArgs, listening: &[Listening]) -> Result<TargetSettings, CliError> {
    let chap = portals::chap(&args.chap)?;
    if listening.is_empty() && chap.is_some() {
        return Err(CliError::usage(label!("--chap-user is for iSCSI: add --iscsi HOST:PORT")));
    }
    Ok(TargetSettings {
        name: args.iscsi_prefix.clone(),
        portals: TargetSettings::advertised(&portals::addresses(listening), &args.iscsi_advertise),
        chap,
        queue_depth: args.iscsi_queue_depth,
        ..TargetSettings::default()
    })
}

/// A control socket of a service manager. A port is refused, since it has no token.
fn inherited(listening: Listening) -> Result<Entrance, CliError> {
    match listening.place {
        ListenAddress::Unix(_) => Ok(Entrance { listening, token: None }),
        ListenAddress::Tcp { .. } => Err(CliError::usage(say!(
            "{}: the control over TCP needs a token: use --control-tcp and --token-file instead of a socket unit",
            listening.place
        ))),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    Ok(std::path::absolute(path).context(label!("the current directory"))?)
}
