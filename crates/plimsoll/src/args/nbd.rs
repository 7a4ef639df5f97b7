//! Flags of `plimsoll nbd`, and the flags for images and TLS that servers share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plimsoll_front::sockets::ListenAddress;
use plimsoll_units::Bytes;

pub(super) const NBD_EXAMPLES: &str = "\
Examples:
  plimsoll nbd disk.img --like oci:50GB@0vpu --listen unix:/tmp/disk.sock
  plimsoll nbd --size 10GiB --like 'limit(3000)' --run 'nbdinfo $uri'
  nbdinfo -- [ plimsoll nbd --size 1GiB ]                    socket passed by the client
  plimsoll nbd disk.img --listen tcp:0.0.0.0:10809 --tls-certificates /etc/pki/plimsoll --tls-verify-peer";

/// The image of `plimsoll nbd` and `plimsoll iscsi`, and its emulation.
#[derive(Debug, Args)]
pub struct ImageArgs {
    /// Image to serve: a file, created if missing, or a block device with --destroy; by default memory
    pub file: Option<PathBuf>,
    /// Product to emulate: a configuration of the catalogue, or stages of a model; by default none
    #[arg(long, value_name = "CONFIG|MODEL")]
    pub like: Option<String>,
    /// Size of memory or of a created file; by default the capacity of the product
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Serve read-only
    #[arg(short, long, conflicts_with = "destroy")]
    pub read_only: bool,
    /// Allow clients to write to this block device; repeat its path. ITS DATA ARE LOST
    #[arg(long, value_name = "PATH")]
    pub destroy: Vec<PathBuf>,
    /// Run the model N times slower than the clock, for products faster than this host
    #[arg(
        long,
        value_name = "TIMES",
        default_value_t = 1,
        requires = "like",
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub slow: u32,
    /// Seed of the model's service times
    #[arg(long, default_value_t = 1, requires = "like")]
    pub seed: u64,
    /// Use real-time priority (requires the privilege)
    #[arg(long)]
    pub rt: bool,
    /// Directory with additional product files
    #[arg(long, value_name = "FOLDER")]
    pub products: Option<PathBuf>,
}

/// `plimsoll nbd`
#[derive(Debug, Args)]
pub struct NbdArgs {
    #[command(flatten)]
    pub image: ImageArgs,
    /// Export name
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub export: String,
    /// Listening address, unix:PATH or tcp:HOST:PORT; repeatable; by default sockets of a service manager
    #[arg(long, value_name = "PLACE")]
    pub listen: Vec<ListenAddress>,
    /// Serve a single client on standard input and output
    #[arg(short = 's', long, conflicts_with_all = ["listen", "run"])]
    pub stdio: bool,
    /// Serve while this shell command runs, with $uri, $unixsocket, $port and $exportname, and exit with its code
    #[arg(long, value_name = "COMMAND")]
    pub run: Option<String>,
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// TLS of an NBD server, and of a web console that other hosts reach.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// TLS mode; by default required if certificates are given
    #[arg(long, value_enum, value_name = "WHETHER")]
    pub tls: Option<TlsWord>,
    /// Directory with server-cert.pem and server-key.pem, and ca-cert.pem for --tls-verify-peer
    #[arg(long, value_name = "DIR")]
    pub tls_certificates: Option<PathBuf>,
    /// Require client certificates signed by ca-cert.pem
    #[arg(long, requires = "tls_certificates")]
    pub tls_verify_peer: bool,
}

/// TLS modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsWord {
    /// Disabled
    Off,
    /// Optional
    #[value(alias = "on")]
    Allow,
    /// Required
    Require,
}
