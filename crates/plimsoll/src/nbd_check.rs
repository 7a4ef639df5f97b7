//! `plimsoll nbd-check`: conformance and timing of an NBD server.

use plimsoll_device::nbd::ExportAddress;
use plimsoll_front::check::{CheckVerdict, FeatureResult, Permission, check};

use crate::args::NbdCheckArgs;
use crate::cli_error::CliError;
use crate::output::print;

/// Checks the server.
pub fn run(args: &NbdCheckArgs) -> Result<(), CliError> {
    let address: ExportAddress = args.uri.parse().map_err(|error: plimsoll_device::nbd::NoNbdAddress| usage(&error))?;
    if let Some(other) = args.destroy.as_ref().filter(|named| **named != args.uri) {
        return Err(CliError::usage(format!(
            "--destroy {other}: only {} is checked: repeat that URI exactly, or omit --destroy",
            args.uri
        )));
    }
    let permission = Permission { writes: args.destroy.is_some(), ..Permission::default() };
    let rows = check(&address, &permission).map_err(|error| CliError::Failed(anyhow::Error::new(error)))?;
    print(shown(&rows, args.all).as_bytes())?;
    let failed = rows.iter().filter(|row| row.verdict == CheckVerdict::Fail).count();
    if failed == 0 { Ok(()) } else { Err(CliError::Failed(anyhow::anyhow!("{failed} features fail"))) }
}

fn usage(error: &dyn std::fmt::Display) -> CliError {
    CliError::usage(error.to_string())
}

/// A line per feature, with request and response for failed features or all.
fn shown(rows: &[FeatureResult], all: bool) -> String {
    let mut text = String::new();
    let mut area = "";
    for row in rows {
        if row.area != area {
            area = row.area;
            text += &format!("{area}\n");
        }
        text += &format!("  {:12}{}\n", word(row.verdict), row.feature);
        if all || row.verdict == CheckVerdict::Fail {
            text += &format!("              sent {}\n              got  {}\n", row.sent, row.got);
        } else if row.verdict == CheckVerdict::NotTried {
            text += &format!("              {}\n", row.got);
        }
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    text + &format!(
        "{} pass, {} fail, {} unsupported, {} not tried\n",
        count(CheckVerdict::Pass),
        count(CheckVerdict::Fail),
        count(CheckVerdict::Unsupported),
        count(CheckVerdict::NotTried)
    )
}

const fn word(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Pass => "pass",
        CheckVerdict::Fail => "FAIL",
        CheckVerdict::Unsupported => "unsupported",
        CheckVerdict::NotTried => "not tried",
    }
}
