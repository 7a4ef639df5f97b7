//! `plimsoll nbd`: one export of one image or of memory, without a data directory, for as long as this process runs.

mod doors;

use std::ffi::OsString;
use std::os::fd::AsFd;

use anyhow::Context;
use plimsoll_device::nbd::{Address, Host};

use self::doors::{Doors, Maker};
use crate::args::NbdArgs;
use crate::image::{Served, check_realtime};
use crate::trouble::Trouble;

/// Serves until its clients, its command or a signal end it.
pub fn run(args: &NbdArgs) -> Result<(), Trouble> {
    check_realtime(&args.image)?;
    let doors = Doors::open(args)?;
    let mut served = Served::open(&args.image, &args.export)?;
    let (addresses, made_by) = (doors.addresses(), doors.made_by);
    let _kept = doors.admit(&mut served.server)?;
    // Who makes a socket for this process talks over that, whatever its standard input is.
    let stdio = args.stdio && made_by == Maker::Us;
    if stdio {
        let (input, output) = (std::io::stdin(), std::io::stdout());
        let both =
            input.as_fd().try_clone_to_owned().and_then(|input| Ok((input, output.as_fd().try_clone_to_owned()?)));
        let (input, output) = both.context("standard input and output")?;
        served.server.serve(input, Some(output)).context("serving standard input and output")?;
    }
    let command = args.run.as_deref().map(|command| (command, addresses.first().map_or_else(Vec::new, variables)));
    let greets = command.is_none() && !stdio && made_by == Maker::Us;
    served.run(command, greets.then_some(&addresses[..]))
}

/// The variables by which a command finds the export.
fn variables(address: &Address) -> Vec<(&'static str, OsString)> {
    let place = match &address.host {
        Host::Unix(path) => ("unixsocket", path.into()),
        Host::Tcp { port, .. } => ("port", port.to_string().into()),
    };
    vec![("uri", address.to_string().into()), ("exportname", (&address.export).into()), place]
}
