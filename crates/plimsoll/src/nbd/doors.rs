//! Listening sockets of `plimsoll nbd`: named by the user, passed by a service manager, or private for the command.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_device::nbd::ExportAddress;
use plimsoll_front::sockets::{ListenAddress, ListenError, Listening, SocketAccess, SocketFile};
use plimsoll_front::{Server, TlsMode};

use crate::args::{NbdArgs, TlsArgs};
use crate::cli_error::CliError;
use crate::systemd;
use crate::tls;

/// Listening sockets with the TLS mode.
pub(super) struct Doors {
    /// Creator of the sockets.
    pub made_by: Maker,
    listening: Vec<Listening>,
    /// Directory of a private socket.
    private: Option<Private>,
    mode: TlsMode,
    args: TlsArgs,
    export: String,
}

/// Creator of the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// This process, or none.
    Us,
    /// The process that started this one.
    Starter,
}

/// A private directory, removed with its contents.
struct Private(PathBuf);

/// Resources to keep while the server runs; removes sockets on drop.
pub(super) struct Kept {
    _files: Vec<SocketFile>,
    _private: Option<Private>,
}

impl Drop for Private {
    fn drop(&mut self) {
        // Another process may have removed it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Doors {
    /// Opens the sockets without accepting clients.
    pub(super) fn open(args: &NbdArgs) -> Result<Self, CliError> {
        let mode = tls::mode(&args.tls)?;
        let mut listening = systemd::sockets()?;
        let made_by = if listening.is_empty() { Maker::Us } else { Maker::Starter };
        if made_by == Maker::Starter && !args.listen.is_empty() {
            return Err(CliError::usage("sockets were passed by the service manager: omit --listen"));
        }
        for place in &args.listen {
            listening.push(absolute(place)?.listen(SocketAccess::Umask).map_err(refused)?);
        }
        let mut private = None;
        if listening.is_empty() && args.run.is_some() {
            let own = Private::make().context("creating a directory for a socket")?;
            let place = ListenAddress::Unix(own.0.join("socket"));
            listening.push(place.listen(SocketAccess::Owner).map_err(refused)?);
            private = Some(own);
        }
        if listening.is_empty() && !args.stdio {
            return Err(CliError::usage(
                "no listening address: use --listen unix:PATH, --listen tcp:HOST:PORT, --stdio or --run COMMAND",
            ));
        }
        Ok(Self { made_by, listening, private, mode, args: args.tls.clone(), export: args.export.clone() })
    }

    /// Addresses of the export.
    pub(super) fn addresses(&self) -> Vec<ExportAddress> {
        let address = |one: &Listening| tls::address(&one.place, &self.export, &self.args, &self.mode);
        self.listening.iter().map(address).collect()
    }

    /// Starts accepting clients.
    pub(super) fn admit(self, server: &mut Server) -> Result<Kept, CliError> {
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

/// Makes the path of an address absolute.
fn absolute(place: &ListenAddress) -> Result<ListenAddress, CliError> {
    Ok(match place {
        ListenAddress::Unix(path) => ListenAddress::Unix(std::path::absolute(path).context("the current directory")?),
        ListenAddress::Tcp { .. } => place.clone(),
    })
}

fn refused(error: ListenError) -> CliError {
    CliError::usage(format!("{:#}", anyhow::Error::new(error)))
}
