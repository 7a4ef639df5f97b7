//! `plimsoll k8s`: a Job that measures a claim inside its cluster, and the run in its log.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_language::say;
use plimsoll_measure::{RunLabel, parse_job_log};
use plimsoll_report::{ClaimJob, claim_job, claim_job_name};

use crate::args::{ClaimJobArgs, ClaimRunArgs, KubernetesArgs, KubernetesCommand};
use crate::cli_error::CliError;
use crate::measure::keep_and_write;
use crate::output::{Outputs, ended, print};

/// Maximum bytes of a log: kubelet rotates logs at 10 MiB by default.
const MAX_LOG: u64 = 256 << 20;

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
    let (name, log) = match &args.log {
        Some(path) => (path.display().to_string(), read_log(path)?),
        None => fetch_log(args)?,
    };
    let mut curve = parse_job_log(&name, &log)?;
    curve.subject.name = match &args.namespace {
        Some(namespace) => format!("{namespace}/{}", args.claim),
        None => args.claim.clone(),
    };
    let saved = keep_and_write(&curve, Some(&RunLabel::of_name(&args.claim)), &outputs)?;
    ended(curve.ended)?;
    saved
}

fn read_log(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut log = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().take(MAX_LOG).read_to_end(&mut log)
    } else {
        File::open(path).and_then(|file| file.take(MAX_LOG).read_to_end(&mut log))
    };
    read.map_err(|error| CliError::reading(path, error))?;
    Ok(log)
}

/// The command that prints the log of a claim's Job, and its output.
fn fetch_log(args: &ClaimRunArgs) -> Result<(String, Vec<u8>), CliError> {
    let mut words = vec!["logs".to_owned()];
    if let Some(namespace) = &args.namespace {
        words.extend(["--namespace".to_owned(), namespace.clone()]);
    }
    words.extend([format!("job/{}", claim_job_name(&args.claim)), "-c".to_owned(), "plimsoll".to_owned()]);
    let name = format!("kubectl {}", words.join(" "));
    let fetched = Command::new("kubectl").args(&words).stdin(Stdio::null()).output();
    let output = fetched.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            CliError::usage(say!("kubectl is not in PATH: run '{name} > pod.log' where it is, then use --log pod.log"))
        }
        _ => CliError::Failed(anyhow::Error::new(error).context(name.clone())),
    })?;
    if output.status.success() {
        return Ok((name, output.stdout));
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let error = error.trim().lines().last().unwrap_or_default();
    Err(CliError::Failed(anyhow::anyhow!(say!(
        "{name}: {error}: check the context of kubectl and --namespace, and that the Job exists and its pod has started"
    ))))
}
