//! The flags of `plimsoll iscsi`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_front::sockets::ListenAddress;
use plimsoll_units::Bytes;

use super::ImageArgs;

pub(super) const ISCSI_EXAMPLES: &str = "\
Examples:
  plimsoll iscsi disk.img --like oci:50GB@10vpu
  plimsoll iscsi --size 10GiB --portal 10.0.0.5:3260 --chap-user db1 --chap-secret-file /etc/plimsoll/db1.secret
  plimsoll iscsi --size 1GiB --portal 127.0.0.2:3260 --portal 127.0.0.3:3260    two paths to a volume
  plimsoll iscsi --size 1GiB --run 'iscsi-ls -s $uri'";

/// `plimsoll iscsi`
#[derive(Debug, Args)]
pub struct IscsiArgs {
    #[command(flatten)]
    pub image: ImageArgs,
    /// Name of the target
    #[arg(long, value_name = "IQN", default_value = "iqn.2026-01.local.plimsoll:volume", value_parser = parse_target_name)]
    pub target: String,
    /// Address of a portal, repeatable; by default 127.0.0.1:3260, or a free port with --run, or sockets of a service
    /// manager
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_portal)]
    pub portal: Vec<ListenAddress>,
    /// Address that discovery returns, repeatable; by default the addresses of the portals
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_portal)]
    pub advertise: Vec<ListenAddress>,
    /// Maximum commands in flight per session
    #[arg(long, value_name = "COMMANDS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub queue_depth: u32,
    /// Size of a physical block, the unit of deallocation: a power of two of 512 bytes or more
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_physical_block)]
    pub physical_block: Bytes,
    /// Require R2T for written data (InitialR2T=Yes) regardless of the initiator
    #[arg(long)]
    pub initial_r2t: bool,
    /// Serve while this shell command runs, with $uri, $portal and $target, and exit with its code
    #[arg(long, value_name = "COMMAND")]
    pub run: Option<String>,
    #[command(flatten)]
    pub chap: ChapArgs,
}

/// The authentication of initiators.
#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication")]
pub struct ChapArgs {
    /// CHAP user name of initiators; by default all are admitted
    #[arg(long, value_name = "NAME", requires = "chap_secret_file")]
    pub chap_user: Option<String>,
    /// File with the secret of the initiator, at least 12 bytes
    #[arg(long, value_name = "FILE", requires = "chap_user")]
    pub chap_secret_file: Option<PathBuf>,
    /// CHAP user name of the target, for initiators that request mutual CHAP
    #[arg(long, value_name = "NAME", requires_all = ["chap_user", "mutual_chap_secret_file"])]
    pub mutual_chap_user: Option<String>,
    /// File with the secret of the target, which must differ from that of the initiator
    #[arg(long, value_name = "FILE", requires = "mutual_chap_user")]
    pub mutual_chap_secret_file: Option<PathBuf>,
}

fn parse_physical_block(text: &str) -> Result<Bytes, String> {
    let size: Result<Bytes, _> = text.parse();
    let is_valid = |size: &Bytes| size.get().is_power_of_two() && (512..=1 << 20).contains(&size.get());
    size.ok().filter(is_valid).ok_or_else(|| "write a power of two from 512B to 1MiB".to_owned())
}

/// Parses an address without the prefix `tcp:`.
pub(super) fn parse_portal(text: &str) -> Result<ListenAddress, String> {
    format!("tcp:{text}").parse().map_err(|_| format!("{text:?} is not an address; write HOST:PORT"))
}

/// Parses a name in a format of RFC 7143, 4.2.7.
pub(super) fn parse_target_name(text: &str) -> Result<String, String> {
    let has_format = ["iqn.", "eui.", "naa."].iter().any(|prefix| text.starts_with(prefix));
    let has_letters =
        text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-.:".contains(letter));
    if has_format && has_letters && text.len() <= 223 {
        return Ok(text.to_owned());
    }
    Err("write a name such as iqn.2026-01.com.example:disk, with lower-case letters, digits and -.:".to_owned())
}
