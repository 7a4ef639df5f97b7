//! The flags of the control planes of clouds: those of `serve`, and the commands for keys and instances.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_service::client::ControlAddress;
use plimsoll_units::Span;

use super::forms::json_before_names;
use super::{FormArgs, ReachArgs};

pub(super) const OCI_KEY_EXAMPLES: &str = "\
Examples:
  plimsoll oci-key add ~/.oci/oci_api_key_public.pem
  plimsoll oci-key add alice.pem --tenancy ocid1.tenancy.oc1..t --user ocid1.user.oc1..alice
  plimsoll oci-key list";

pub(super) const OCI_CONFIG_EXAMPLES: &str = "\
Examples:
  plimsoll serve --oci 127.0.0.1:9471 &
  plimsoll oci-config; oci bv volume list             files in ~/.oci, where there are none yet
  plimsoll oci-config cli --endpoint http://127.0.0.1:9471";

pub(super) const EC2_KEY_EXAMPLES: &str = "\
Examples:
  eval $(plimsoll ec2-key)                            makes a key; AWS_ACCESS_KEY_ID and others for the aws CLI
  aws ec2 describe-volumes";

pub(super) const OCI_AGENT_EXAMPLES: &str = "\
Examples:
  plimsoll serve --oci 127.0.0.1:9471 --iscsi 10.0.0.5:3260 --oci-metadata vm=127.0.0.1:9483
  ssh -R 9483:127.0.0.1:9483 root@vm plimsoll oci-agent --metadata http://127.0.0.1:9483
  plimsoll oci-agent --metadata http://10.0.2.2:9483 --interval 1min    in a guest of QEMU with user networking";

pub(super) const INSTANCE_EXAMPLES: &str = "\
Examples:
  plimsoll instance create vm --shape VM.Standard.E4.Flex:16ocpu
  plimsoll instance create db --shape m6i.4xlarge
  plimsoll instance list";

/// The control planes of `plimsoll serve`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Clouds")]
pub struct CloudArgs {
    /// Serve the API of OCI Block Volume here, on a loopback address: for the oci CLI, its SDKs and Terraform
    #[arg(long, value_name = "HOST:PORT")]
    pub oci: Option<String>,
    /// Serve the API of Amazon EBS here, on a loopback address: for the aws CLI, its SDKs and Terraform
    #[arg(long, value_name = "HOST:PORT")]
    pub ec2: Option<String>,
    /// Serve the metadata that the agent of an OCI instance reads here, on a loopback address; once for each instance
    #[arg(long, value_name = "INSTANCE=HOST:PORT")]
    pub oci_metadata: Vec<String>,
    /// Serve Docker's volume plugin on this Unix socket, such as /run/docker/plugins/plimsoll.sock (as root)
    #[arg(long, value_name = "SOCKET")]
    pub docker: Option<PathBuf>,
    /// Divide the durations of states of clouds (provisioning, attaching, the 24 hours of four modifications) by this
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub speed_up: u32,
    /// Change attached OCI volumes from and to 30 VPUs and more online, by any command, API or autotune; the documents of
    /// OCI require a detached volume
    #[arg(long)]
    pub online_uhp: bool,
    /// The region in identifiers of OCI and EC2; by default eu-zurich-1 and us-east-1
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
}

/// `plimsoll oci-key`
#[derive(Debug, Args)]
#[command(mut_arg("json", json_before_names))]
pub struct OciKeyArgs {
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    /// What to do
    #[command(subcommand)]
    pub command: OciKeyCommand,
}

/// What `plimsoll oci-key` does.
#[derive(Debug, Subcommand)]
pub enum OciKeyCommand {
    /// Register a public key: requests that its private key signed are accepted
    Add {
        /// The public key: PEM
        file: PathBuf,
        /// The OCID of its user
        #[arg(long, default_value = plimsoll_cloud::USER)]
        user: String,
        /// The OCID of the tenancy of the user
        #[arg(long, default_value = plimsoll_cloud::TENANCY)]
        tenancy: String,
    },
    /// List registered keys
    List,
    /// Remove a key: its requests are refused from now on
    Remove {
        /// Its fingerprint
        fingerprint: String,
    },
}

/// `plimsoll oci-config`
#[derive(Debug, Args)]
#[command(mut_arg("json", json_before_names))]
pub struct OciConfigArgs {
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    /// The folder of the files, which may not exist there yet; by default ~/.oci
    pub folder: Option<PathBuf>,
    /// The address of the API; by default that of the last `plimsoll serve --oci` in the data directory
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
}

/// `plimsoll ec2-key`
#[derive(Debug, Args)]
#[command(mut_arg("json", json_before_names))]
pub struct Ec2KeyArgs {
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    /// The address of the API; by default that of the last `plimsoll serve --ec2` in the data directory
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
}

/// `plimsoll oci-agent`
#[derive(Debug, Args)]
pub struct OciAgentArgs {
    /// The metadata service of the instance: the address of `plimsoll serve --oci-metadata` as this host reaches it
    #[arg(long, value_name = "URL", default_value = "http://169.254.169.254:80")]
    pub metadata: ControlAddress,
    /// Poll at this interval until ended, such as 1min, which is that of OCI's agent; by default once
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Span>,
}

/// `plimsoll instance`
#[derive(Debug, Args)]
#[command(mut_arg("json", json_before_names))]
pub struct InstanceArgs {
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    /// What to do
    #[command(subcommand)]
    pub command: InstanceCommand,
}

/// What `plimsoll instance` does.
#[derive(Debug, Subcommand)]
pub enum InstanceCommand {
    /// Create an instance: a group with the limits of a machine of the catalogue
    Create {
        /// Its name
        name: String,
        /// A machine of the catalogue, with or without its provider: `VM.Standard.E4.Flex:16ocpu`, `m6i.4xlarge`, or
        /// `machine(iops=12800,mbps=192)`
        #[arg(long)]
        shape: String,
    },
    /// List instances
    List,
    /// Delete an instance without attached volumes
    Delete {
        /// Its name
        name: String,
    },
}
