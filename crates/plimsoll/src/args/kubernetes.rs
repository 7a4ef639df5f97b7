//! Flags of `plimsoll k8s-job`.

use clap::Args;

pub(super) const K8S_JOB_EXAMPLES: &str = "\
Examples:
  plimsoll k8s-job data-postgres-0 --image registry.example/plimsoll:0.2 > job.yaml
  plimsoll k8s-job data-postgres-0 --image registry.example/plimsoll:0.2 --namespace db -- --preset oltp --quick
  kubectl apply -f job.yaml";

/// `plimsoll k8s-job`
#[derive(Debug, Args)]
pub struct ClaimJobArgs {
    /// Name of the persistent volume claim
    #[arg(value_name = "CLAIM", value_parser = parse_name)]
    pub claim: String,
    /// Container image with plimsoll as its entry point
    #[arg(long, value_name = "IMAGE")]
    pub image: String,
    /// Namespace of the claim [default: that of the client]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub namespace: Option<String>,
    /// The claim has volumeMode: Block; it is only read
    #[arg(long)]
    pub block: bool,
    /// Further arguments of `plimsoll measure`
    #[arg(last = true, value_name = "MEASURE OPTIONS")]
    pub measure: Vec<String>,
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
