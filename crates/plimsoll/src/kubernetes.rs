//! `plimsoll k8s`: a Job that measures a claim inside its cluster, and the run in its log.

use plimsoll_measure::{JobLog, RunLabel};
use plimsoll_report::{ClaimJob, claim_job, claim_job_name};

use crate::args::{ClaimJobArgs, ClaimRunArgs, KubernetesArgs, KubernetesCommand};
use crate::cli_error::CliError;
use crate::measure::keep_and_write;
use crate::output::{Outputs, check_end, print};

pub fn run(args: &KubernetesArgs) -> Result<(), CliError> {
    match &args.command {
        KubernetesCommand::Job(args) => print_job(args),
        KubernetesCommand::Collect(args) => collect(args),
    }
}

fn print_job(args: &ClaimJobArgs) -> Result<(), CliError> {
    let ClaimJobArgs { claim, image, namespace, block, measure } = args;
    let job = ClaimJob { claim, namespace: namespace.as_deref(), image, is_block: *block, arguments: measure };
    print(claim_job(&job).as_bytes())
}

/// Shows and keeps the run in the log of a claim's Job. Its subject is the claim, as all claims have the same path in
/// their Jobs.
fn collect(args: &ClaimRunArgs) -> Result<(), CliError> {
    let outputs = Outputs::new(&args.output)?;
    let log = match &args.log {
        Some(path) => JobLog::read(path)?,
        None => JobLog::fetch(&claim_job_name(&args.claim), args.namespace.as_deref())?,
    };
    let mut curve = log.parse()?;
    curve.subject.name = match &args.namespace {
        Some(namespace) => format!("{namespace}/{}", args.claim),
        None => args.claim.clone(),
    };
    let saved = keep_and_write(&curve, Some(&RunLabel::of_name(&args.claim)), &outputs)?;
    check_end(curve.ended)?;
    saved
}
