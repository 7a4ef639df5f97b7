//! `plimsoll nbd-check`: conformance and timing of an NBD server.

use plimsoll_device::nbd::ExportAddress;
use plimsoll_front::check::{CheckVerdict, FeatureResult, Permission, check};
use plimsoll_language::say;
use plimsoll_report::pages::{self, CheckedFeature, FeatureVerdict};

use crate::args::NbdCheckArgs;
use crate::cli_error::CliError;
use crate::output::Forms;

/// Checks the server.
pub fn run(args: &NbdCheckArgs) -> Result<(), CliError> {
    let address: ExportAddress =
        args.uri.parse().map_err(|error: plimsoll_device::nbd::NoNbdAddress| CliError::usage(error))?;
    if let Some(other) = args.destroy.as_ref().filter(|named| **named != args.uri) {
        return Err(CliError::usage(say!(
            "--destroy {other}: only {} is checked: repeat that URI exactly, or omit --destroy",
            args.uri
        )));
    }
    let forms = Forms::new(&args.forms)?;
    let permission = Permission { writes: args.destroy.is_some(), ..Permission::default() };
    let rows = check(&address, &permission).map_err(|error| CliError::Failed(anyhow::Error::new(error)))?;
    let features: Vec<CheckedFeature> = rows.into_iter().map(|row| feature(row, args.all)).collect();
    forms.write(&pages::nbd_check(&args.uri, &features), || plimsoll_report::nbd_check_json(&args.uri, &features))?;
    let failed = features.iter().filter(|feature| feature.verdict == FeatureVerdict::Fail).count();
    if failed == 0 { Ok(()) } else { Err(CliError::Failed(anyhow::anyhow!(say!("{failed} features fail")))) }
}

/// A result with request and response in the text if it failed or was not tried, or if `all` have them.
fn feature(row: FeatureResult, all: bool) -> CheckedFeature {
    let is_detailed = all || matches!(row.verdict, CheckVerdict::Fail | CheckVerdict::NotTried);
    CheckedFeature {
        area: row.area,
        name: row.feature,
        verdict: convert_verdict(row.verdict),
        request: row.sent,
        response: row.got,
        is_detailed,
    }
}

const fn convert_verdict(verdict: CheckVerdict) -> FeatureVerdict {
    match verdict {
        CheckVerdict::Pass => FeatureVerdict::Pass,
        CheckVerdict::Fail => FeatureVerdict::Fail,
        CheckVerdict::Unsupported => FeatureVerdict::Unsupported,
        CheckVerdict::NotTried => FeatureVerdict::NotTried,
    }
}
