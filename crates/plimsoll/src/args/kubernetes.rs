//! Flags of `plimsoll k8s`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::OutputArgs;

const JOB_EXAMPLES: &str = "\
Examples:
  plimsoll k8s job data-postgres-0 --image registry.example/plimsoll:0.2 > job.yaml
  plimsoll k8s job data-postgres-0 -n db --image registry.example/plimsoll:0.2 -- --preset oltp --quick
  kubectl apply -f job.yaml";

const COLLECT_EXAMPLES: &str = "\
Examples:
  plimsoll k8s collect data-postgres-0 -n db
  kubectl logs job/measure-data-postgres-0 -c plimsoll > pod.log
  plimsoll k8s collect data-postgres-0 --log pod.log";

/// `plimsoll k8s`
#[derive(Debug, Args)]
pub struct KubernetesArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: KubernetesCommand,
}

/// Commands about volume claims.
#[derive(Debug, Subcommand)]
pub enum KubernetesCommand {
    /// Print the manifest of a Job that measures a claim
    #[command(after_help = JOB_EXAMPLES)]
    Job(ClaimJobArgs),
    /// Read the run of a claim's Job from its log, show it and keep it
    #[command(after_help = COLLECT_EXAMPLES)]
    Collect(ClaimRunArgs),
}

/// `plimsoll k8s job`
#[derive(Debug, Args)]
pub struct ClaimJobArgs {
    /// Name of the persistent volume claim
    #[arg(value_name = "CLAIM", value_parser = parse_name)]
    pub claim: String,
    /// Container image with plimsoll as its entry point
    #[arg(long, value_name = "IMAGE")]
    pub image: String,
    /// Namespace of the claim [default: that of the client]
    #[arg(short, long, value_name = "NAME", value_parser = parse_name)]
    pub namespace: Option<String>,
    /// The claim has volumeMode: Block; it is only read
    #[arg(long)]
    pub block: bool,
    /// Further arguments of `plimsoll measure`
    #[arg(last = true, value_name = "MEASURE OPTIONS")]
    pub measure: Vec<String>,
}

/// `plimsoll k8s collect`
#[derive(Debug, Args)]
pub struct ClaimRunArgs {
    /// Name of the persistent volume claim; the beginning of the run's label
    #[arg(value_name = "CLAIM", value_parser = parse_name)]
    pub claim: String,
    /// Namespace of the claim [default: that of kubectl]
    #[arg(short, long, value_name = "NAME", value_parser = parse_name)]
    pub namespace: Option<String>,
    /// Log of the Job's container, - for standard input [default: that of kubectl logs]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A DNS subdomain of RFC 1123, such as names of Kubernetes objects.
fn parse_name(text: &str) -> Result<String, String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(is_inner) && label.ends_with(is_inner) && label.chars().all(|c| is_inner(c) || c == '-')
    };
    // The Job's name has a prefix.
    let is_name = text.len() <= 55 && text.split('.').all(is_label);
    let expected = "use lower-case letters, digits, - and ., at most 55 characters, as kubectl get pvc prints it";
    if is_name {
        Ok(text.to_owned())
    } else {
        Err(format!("{text:?} is not a name of a Kubernetes object: {expected}"))
    }
}
