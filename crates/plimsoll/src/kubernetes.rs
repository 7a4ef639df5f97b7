//! `plimsoll k8s-job`: a Job that measures a claim inside its cluster.

use plimsoll_report::{ClaimJob, claim_job};

use crate::args::ClaimJobArgs;
use crate::cli_error::CliError;
use crate::output::print;

/// Prints the manifest.
pub fn run(args: &ClaimJobArgs) -> Result<(), CliError> {
    let ClaimJobArgs { claim, image, namespace, block, measure } = args;
    let job = ClaimJob { claim, namespace: namespace.as_deref(), image, is_block: *block, arguments: measure };
    print(claim_job(&job).as_bytes())
}
