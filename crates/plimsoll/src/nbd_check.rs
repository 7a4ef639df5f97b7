//! `plimsoll nbd-check`: conformance and timing of an NBD server.

use plimsoll_device::nbd::Address;
use plimsoll_front::check::{Permission, Row, Verdict, check};

use crate::args::NbdCheckArgs;
use crate::cli_error::CliError;
use crate::output::print;

/// Checks the server.
pub fn run(args: &NbdCheckArgs) -> Result<(), CliError> {
    let address: Address = args.uri.parse().map_err(|error: plimsoll_device::nbd::NoAddress| usage(&error))?;
    if let Some(other) = args.destroy.as_ref().filter(|named| **named != args.uri) {
        return Err(CliError::usage(format!(
            "--destroy {other}: only {} is checked: repeat that URI exactly, or omit --destroy",
            args.uri
        )));
    }
    let permission = Permission { writes: args.destroy.is_some(), ..Permission::default() };
    let rows = check(&address, &permission).map_err(|error| CliError::Failed(anyhow::Error::new(error)))?;
    print(shown(&rows, args.all).as_bytes())?;
    let failed = rows.iter().filter(|row| row.verdict == Verdict::Fail).count();
    if failed == 0 { Ok(()) } else { Err(CliError::Failed(anyhow::anyhow!("{failed} features fail"))) }
}

fn usage(error: &dyn std::fmt::Display) -> CliError {
    CliError::usage(error.to_string())
}

/// A line per feature, with request and response for failed features or all.
fn shown(rows: &[Row], all: bool) -> String {
    let mut text = String::new();
    let mut area = "";
    for row in rows {
        if row.area != area {
            area = row.area;
            text += &format!("{area}\n");
        }
        text += &format!("  {:12}{}\n", word(row.verdict), row.feature);
        if all || row.verdict == Verdict::Fail {
            text += &format!("              sent {}\n              got  {}\n", row.sent, row.got);
        } else if row.verdict == Verdict::NotTried {
            text += &format!("              {}\n", row.got);
        }
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    text + &format!(
        "{} pass, {} fail, {} unsupported, {} not tried\n",
        count(Verdict::Pass),
        count(Verdict::Fail),
        count(Verdict::Unsupported),
        count(Verdict::NotTried)
    )
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Unsupported => "unsupported",
        Verdict::NotTried => "not tried",
    }
}
