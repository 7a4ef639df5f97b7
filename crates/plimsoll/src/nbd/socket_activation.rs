//! Listening sockets of `plimsoll nbd`: named by the user, passed by a service manager, or private for the command.

use anyhow::Context;
use plimsoll_device::nbd::ExportAddress;
use plimsoll_front::sockets::{Activation, ListenAddress, Listening, PrivateDirectory, SocketAccess, SocketFile};
use plimsoll_front::{Server, TlsMode};
use plimsoll_language::{label, say};

use crate::args::{NbdArgs, TlsArgs};
use crate::cli_error::CliError;
use crate::tls;

/// Listening sockets with the TLS mode.
pub(super) struct NbdSockets {
    /// Their creator.
    pub origin: SocketOrigin,
    listening: Vec<Listening>,
    /// Directory of a private socket.
    private: Option<PrivateDirectory>,
    mode: TlsMode,
    args: TlsArgs,
    export: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketOrigin {
    /// This process, or none.
    Own,
    /// The process that started this one.
    Inherited,
}

/// Files of the sockets while the server runs, removed on drop.
pub(super) struct SocketFiles {
    _files: Vec<SocketFile>,
    _private: Option<PrivateDirectory>,
}

impl NbdSockets {
    /// Opens the sockets without accepting clients.
    pub(super) fn open(args: &NbdArgs) -> Result<Self, CliError> {
        let mode = tls::mode(&args.tls)?;
        let mut listening = Activation::take_inherited().map_err(CliError::usage)?;
        let origin = if listening.is_empty() { SocketOrigin::Own } else { SocketOrigin::Inherited };
        if origin == SocketOrigin::Inherited && !args.listen.is_empty() {
            return Err(CliError::usage(label!("sockets were passed by the service manager: omit --listen")));
        }
        for place in &args.listen {
            let place = place.absolute().context(label!("the current directory"))?;
            listening.push(place.listen(SocketAccess::Umask)?);
        }
        let mut private = None;
        if listening.is_empty() && args.run.is_some() {
            let own = PrivateDirectory::create("plimsoll").context(label!("creating a directory for a socket"))?;
            let place = ListenAddress::Unix(own.path().join("socket"));
            listening.push(place.listen(SocketAccess::Owner)?);
            private = Some(own);
        }
        if listening.is_empty() && !args.stdio {
            return Err(CliError::usage(label!(
                "no listening address: use --listen unix:PATH, --listen tcp:HOST:PORT, --stdio or --run COMMAND"
            )));
        }
        Ok(Self { origin, listening, private, mode, args: args.tls.clone(), export: args.export.clone() })
    }

    pub(super) fn addresses(&self) -> Vec<ExportAddress> {
        let address = |listening: &Listening| tls::address(&listening.place, &self.export, &self.args, &self.mode);
        self.listening.iter().map(address).collect()
    }

    /// Starts accepting clients.
    pub(super) fn accept_on(self, server: &mut Server) -> Result<SocketFiles, CliError> {
        server.set_tls(self.mode);
        let mut files = Vec::new();
        for Listening { socket, place, file, .. } in self.listening {
            server.listen(socket).with_context(|| say!("listening at {place}"))?;
            files.extend(file);
        }
        Ok(SocketFiles { _files: files, _private: self.private })
    }
}
