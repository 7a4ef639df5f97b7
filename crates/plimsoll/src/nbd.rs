//! `plimsoll nbd`: serves an export of an image or memory, without a data directory, until the process ends.

mod socket_activation;

use std::ffi::OsString;
use std::os::fd::AsFd;

use anyhow::Context;
use plimsoll_device::nbd::{ExportAddress, NbdHost};
use plimsoll_front::Blocks;
use plimsoll_language::label;

use self::socket_activation::{NbdSockets, SocketOrigin};
use crate::args::NbdArgs;
use crate::cli_error::CliError;
use crate::image::{UnboundServer, check_realtime};

/// Serves until its clients, its command or a signal end it.
pub fn run(args: &NbdArgs) -> Result<(), CliError> {
    check_realtime(&args.image)?;
    let sockets = NbdSockets::open(args)?;
    let mut served = UnboundServer::open(&args.image, &args.export, Blocks::default())?;
    let (addresses, origin) = (sockets.addresses(), sockets.origin);
    let _files = sockets.accept_on(&mut served.server)?;
    // A socket passed by a service manager takes precedence over standard input.
    let stdio = args.stdio && origin == SocketOrigin::Own;
    if stdio {
        let (input, output) = (std::io::stdin(), std::io::stdout());
        let both =
            input.as_fd().try_clone_to_owned().and_then(|input| Ok((input, output.as_fd().try_clone_to_owned()?)));
        let (input, output) = both.context(label!("standard input and output"))?;
        served.server.serve(input, Some(output)).context(label!("serving standard input and output"))?;
    }
    let command = args.run.as_deref().map(|command| (command, addresses.first().map_or_else(Vec::new, variables)));
    let greets = command.is_none() && !stdio && origin == SocketOrigin::Own;
    served.run(command, greets.then_some(&addresses[..]))
}

/// Environment variables with the address of the export, for a command.
fn variables(address: &ExportAddress) -> Vec<(&'static str, OsString)> {
    let place = match &address.host {
        NbdHost::Unix(path) => ("unixsocket", path.into()),
        NbdHost::Tcp { port, .. } => ("port", port.to_string().into()),
    };
    vec![("uri", address.to_string().into()), ("exportname", (&address.export).into()), place]
}
