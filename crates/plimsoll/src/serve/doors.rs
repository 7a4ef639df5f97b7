//! Where clients of a service come in: what was named, what a service manager made, or the usual sockets in the data
//! directory; over TCP the control asks for a token.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_front::sockets::{Audience, Listening, NotBound, Place, SocketFile};
use plimsoll_front::{Server, TlsMode};
use plimsoll_service::http::{Entrance, Token};

use crate::args::{ServeArgs, TlsArgs};
use crate::systemd;
use crate::tls;
use crate::trouble::Trouble;
use crate::volumes::home;

/// Where NBD clients come in, in the data directory.
const NBD: &str = "nbd.sock";
/// What a service manager calls the socket of the control (`FileDescriptorName=`).
const CONTROL: &str = "control";

/// Sockets that are listened on, and places that will be once the data directory is ours: a socket in it that is left
/// over is nobody's then.
pub(super) struct Doors {
    nbd: Vec<Listening>,
    later: Vec<Place>,
    control: Vec<Entrance>,
    control_later: Option<Place>,
    tls: TlsMode,
    certificates: TlsArgs,
}

impl Doors {
    /// Finds the places, and listens on ports: one that is free to be chosen is known then.
    pub(super) fn find(args: &ServeArgs, directory: &Path) -> Result<Self, Trouble> {
        let token = args.token_file.as_deref().map(Token::read).transpose().map_err(|error| usage(&error))?;
        let tls = tls::mode(&args.tls)?;
        let is_control = |one: &Listening| one.name.as_deref() == Some(CONTROL);
        let (made, mut nbd): (Vec<_>, Vec<_>) = systemd::sockets()?.into_iter().partition(is_control);
        let mut control = made.into_iter().map(inherited).collect::<Result<Vec<_>, _>>()?;
        let mut later = Vec::new();
        for place in &args.listen {
            match place {
                Place::Unix(path) => later.push(Place::Unix(absolute(path)?)),
                Place::Tcp { .. } => nbd.push(place.listen(Audience::Owner).map_err(taken)?),
            }
        }
        if nbd.is_empty() && later.is_empty() {
            later.push(Place::Unix(directory.join(NBD)));
        }
        if let Some(address) = &args.control_tcp {
            let place: Place =
                format!("tcp:{address}").parse().map_err(|error: plimsoll_front::sockets::NoPlace| usage(&error))?;
            control.push(Entrance { listening: place.listen(Audience::Owner).map_err(taken)?, token });
        }
        let own = || args.control.clone().map_or_else(|| Ok(directory.join(home::CONTROL)), |path| absolute(&path));
        let is_unix = |entrance: &Entrance| matches!(entrance.listening.place, Place::Unix(_));
        let control_later = if control.iter().any(is_unix) { None } else { Some(Place::Unix(own()?)) };
        Ok(Self { nbd, later, control, control_later, tls, certificates: args.tls.clone() })
    }

    /// The addresses of the unnamed export.
    pub(super) fn addresses(&self) -> Vec<String> {
        let address = |place| tls::address(place, "", &self.certificates, &self.tls).to_string();
        self.nbd.iter().map(|one| &one.place).chain(&self.later).map(address).collect()
    }

    /// Listens everywhere, and gives the server its listeners. What comes back are the entrances of the control, and the
    /// files of sockets, to be removed in the end.
    pub(super) fn open(mut self, server: &mut Server) -> Result<(Vec<Entrance>, Vec<SocketFile>), Trouble> {
        for place in &self.later {
            self.nbd.push(place.listen(Audience::Owner).map_err(taken)?);
        }
        if let Some(place) = &self.control_later {
            let listening = place.listen(Audience::Owner).map_err(taken)?;
            self.control.insert(0, Entrance { listening, token: None });
        }
        server.set_tls(self.tls);
        let mut files = Vec::new();
        for Listening { socket, place, file, .. } in self.nbd {
            server.listen(socket).with_context(|| format!("listening at {place}"))?;
            files.extend(file);
        }
        Ok((self.control, files))
    }
}

/// A control socket of a service manager. A port needs a token, which it has none for.
fn inherited(listening: Listening) -> Result<Entrance, Trouble> {
    match listening.place {
        Place::Unix(_) => Ok(Entrance { listening, token: None }),
        Place::Tcp { .. } => Err(Trouble::usage(format!(
            "{}: the control over TCP needs a token: use --control-tcp and --token-file instead of a socket unit",
            listening.place
        ))),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Trouble> {
    Ok(std::path::absolute(path).context("the current directory")?)
}

fn taken(error: NotBound) -> Trouble {
    Trouble::usage(format!("{:#}", anyhow::Error::new(error)))
}

fn usage(error: &dyn std::fmt::Display) -> Trouble {
    Trouble::usage(error.to_string())
}
