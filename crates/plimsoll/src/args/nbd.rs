//! The flags of `plimsoll nbd`, those of an image, and those of TLS, which every NBD server has.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plimsoll_front::sockets::Place;
use plimsoll_units::Bytes;

pub(super) const NBD_EXAMPLES: &str = "\
Examples:
  plimsoll nbd disk.img --like oci:50GB@0vpu --listen unix:/tmp/disk.sock
  plimsoll nbd --size 10GiB --like 'limit(3000)' --run 'nbdinfo $uri'
  nbdinfo -- [ plimsoll nbd --size 1GiB ]                    a socket that the client makes
  plimsoll nbd disk.img --listen tcp:0.0.0.0:10809 --tls-certificates /etc/pki/plimsoll --tls-verify-peer";

/// The image of `plimsoll nbd` and `plimsoll iscsi`, and its emulation.
#[derive(Debug, Args)]
pub struct ImageArgs {
    /// The image to serve as it is: a file, made when it is not there, or a block device with --destroy; memory without one
    pub file: Option<PathBuf>,
    /// What it is like: a configuration of the catalogue, or stages of a model; as fast as it can be without
    #[arg(long, value_name = "CONFIG|MODEL")]
    pub like: Option<String>,
    /// Size of memory or of a file that is made; by default the capacity of the product
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Let nobody write
    #[arg(short, long, conflicts_with = "destroy")]
    pub read_only: bool,
    /// Let clients write to this block device: the same path again. ITS DATA ARE LOST
    #[arg(long, value_name = "PATH")]
    pub destroy: Vec<PathBuf>,
    /// Let the model's time run so many times slower than the clock, for products that are faster than this host
    #[arg(
        long,
        value_name = "TIMES",
        default_value_t = 1,
        requires = "like",
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub slow: u32,
    /// What determines the model's service times
    #[arg(long, default_value_t = 1, requires = "like")]
    pub seed: u64,
    /// Run with real-time priority (needs the right to it)
    #[arg(long)]
    pub rt: bool,
    /// A folder of product files of one's own
    #[arg(long, value_name = "FOLDER")]
    pub products: Option<PathBuf>,
}

/// `plimsoll nbd`
#[derive(Debug, Args)]
pub struct NbdArgs {
    #[command(flatten)]
    pub image: ImageArgs,
    /// The name that clients ask for
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub export: String,
    /// Where clients come in: unix:PATH or tcp:HOST:PORT, as often as wished; or sockets of a service manager
    #[arg(long, value_name = "PLACE")]
    pub listen: Vec<Place>,
    /// Serve one client over standard input and output, and end when it leaves
    #[arg(short = 's', long, conflicts_with_all = ["listen", "run"])]
    pub stdio: bool,
    /// Serve while this shell command runs, with $uri, $unixsocket, $port and $exportname, and end as it does
    #[arg(long, value_name = "COMMAND")]
    pub run: Option<String>,
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// TLS of an NBD server.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Whether NBD clients encrypt; by default they have to where certificates are given
    #[arg(long, value_enum, value_name = "WHETHER")]
    pub tls: Option<TlsWord>,
    /// The directory of server-cert.pem and server-key.pem, and of ca-cert.pem with --tls-verify-peer
    #[arg(long, value_name = "DIR")]
    pub tls_certificates: Option<PathBuf>,
    /// Let in who has a certificate that ca-cert.pem has signed, and nobody else
    #[arg(long, requires = "tls_certificates")]
    pub tls_verify_peer: bool,
}

/// Whether NBD clients encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsWord {
    /// Nobody can
    Off,
    /// Who wants to
    #[value(alias = "on")]
    Allow,
    /// Everybody
    Require,
}
