//! Where clients come in: what was named, what a service manager made, or a socket for the command alone.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_device::nbd::Address;
use plimsoll_front::sockets::{Audience, Listening, NotBound, Place, SocketFile};
use plimsoll_front::{Server, TlsMode};
use plimsoll_volume::Flat;

use crate::args::{NbdArgs, TlsArgs};
use crate::systemd;
use crate::tls;
use crate::trouble::Trouble;

/// Listening sockets, and what is said of TLS at them.
pub(super) struct Doors {
    /// Who made them.
    pub made_by: Maker,
    listening: Vec<Listening>,
    /// A directory that was made for a socket.
    private: Option<Private>,
    mode: TlsMode,
    args: TlsArgs,
    export: String,
}

/// Who made the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// We did, or there are none.
    Us,
    /// The one who started this process, and who knows where they are.
    Starter,
}

/// A directory of our own, removed with what is in it.
struct Private(PathBuf);

/// What has to be kept while the server runs: dropped, it leaves no socket behind.
pub(super) struct Kept {
    _files: Vec<SocketFile>,
    _private: Option<Private>,
}

impl Drop for Private {
    fn drop(&mut self) {
        // Somebody else may have been quicker.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Doors {
    /// Opens them; nobody is let in yet.
    pub(super) fn open(args: &NbdArgs) -> Result<Self, Trouble> {
        let mode = tls::mode(&args.tls)?;
        let mut listening = systemd::sockets()?;
        let made_by = if listening.is_empty() { Maker::Us } else { Maker::Starter };
        if made_by == Maker::Starter && !args.listen.is_empty() {
            return Err(Trouble::usage("the sockets were made by who started this: leave out --listen"));
        }
        for place in &args.listen {
            listening.push(absolute(place)?.listen(Audience::Umask).map_err(refused)?);
        }
        let mut private = None;
        if listening.is_empty() && args.run.is_some() {
            let own = Private::make().context("making a directory for a socket")?;
            let place = Place::Unix(own.0.join("socket"));
            listening.push(place.listen(Audience::Owner).map_err(refused)?);
            private = Some(own);
        }
        if listening.is_empty() && !args.stdio {
            return Err(Trouble::usage(
                "say where clients come in: --listen unix:PATH, --listen tcp:HOST:PORT, --stdio or --run COMMAND",
            ));
        }
        Ok(Self { made_by, listening, private, mode, args: args.tls.clone(), export: args.export.clone() })
    }

    /// The addresses of the export.
    pub(super) fn addresses(&self) -> Vec<Address> {
        let address = |one: &Listening| tls::address(&one.place, &self.export, &self.args, &self.mode);
        self.listening.iter().map(address).collect()
    }

    /// Lets clients in.
    pub(super) fn admit(self, server: &mut Server<Flat>) -> Result<Kept, Trouble> {
        server.set_tls(self.mode);
        let mut files = Vec::new();
        for Listening { socket, place, file, .. } in self.listening {
            server.listen(socket).with_context(|| format!("listening at {place}"))?;
            files.extend(file);
        }
        Ok(Kept { _files: files, _private: self.private })
    }
}

impl Private {
    fn make() -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let base = std::env::temp_dir();
        for attempt in 0..100 {
            let path = base.join(format!("plimsoll-{}-{attempt}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }
}

/// Addresses that are told have to lead there from anywhere.
fn absolute(place: &Place) -> Result<Place, Trouble> {
    Ok(match place {
        Place::Unix(path) => Place::Unix(std::path::absolute(path).context("the current directory")?),
        Place::Tcp { .. } => place.clone(),
    })
}

fn refused(error: NotBound) -> Trouble {
    Trouble::usage(format!("{:#}", anyhow::Error::new(error)))
}
