//! The flags of `plimsoll iscsi`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_front::sockets::Place;

use super::ImageArgs;

pub(super) const ISCSI_EXAMPLES: &str = "\
Examples:
  plimsoll iscsi disk.img --like oci:50GB@10vpu
  plimsoll iscsi --size 10GiB --portal 10.0.0.5:3260 --chap-user db1 --chap-secret-file /etc/plimsoll/db1.secret
  plimsoll iscsi --size 1GiB --portal 127.0.0.2:3260 --portal 127.0.0.3:3260    two paths to one volume
  plimsoll iscsi --size 1GiB --run 'iscsi-ls -s $uri'";

/// `plimsoll iscsi`
#[derive(Debug, Args)]
pub struct IscsiArgs {
    #[command(flatten)]
    pub image: ImageArgs,
    /// Name of the target
    #[arg(long, value_name = "IQN", default_value = "iqn.2026-01.local.plimsoll:volume", value_parser = target_name)]
    pub target: String,
    /// Address of a portal, repeatable; by default 127.0.0.1:3260, with --run a free port; or sockets of a service manager
    #[arg(long, value_name = "HOST:PORT", value_parser = portal)]
    pub portal: Vec<Place>,
    /// Address that discovery returns, repeatable; by default the addresses of the portals
    #[arg(long, value_name = "HOST:PORT", value_parser = portal)]
    pub advertise: Vec<Place>,
    /// Commands in flight of one session
    #[arg(long, value_name = "COMMANDS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub queue_depth: u32,
    /// Let written data wait for permission (InitialR2T=Yes), whatever the initiator prefers
    #[arg(long)]
    pub initial_r2t: bool,
    /// Serve while this shell command runs, with $uri, $portal and $target, and end as it does
    #[arg(long, value_name = "COMMAND")]
    pub run: Option<String>,
    #[command(flatten)]
    pub chap: ChapArgs,
}

/// The authentication of initiators.
#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication")]
pub struct ChapArgs {
    /// Name by which initiators authenticate with CHAP; all are admitted without it
    #[arg(long, value_name = "NAME", requires = "chap_secret_file")]
    pub chap_user: Option<String>,
    /// File with the secret of the initiator, at least 12 bytes
    #[arg(long, value_name = "FILE", requires = "chap_user")]
    pub chap_secret_file: Option<PathBuf>,
    /// Name by which the target authenticates to initiators that demand it (mutual CHAP)
    #[arg(long, value_name = "NAME", requires_all = ["chap_user", "mutual_chap_secret_file"])]
    pub mutual_chap_user: Option<String>,
    /// File with the secret of the target, another one than that of the initiator
    #[arg(long, value_name = "FILE", requires = "mutual_chap_user")]
    pub mutual_chap_secret_file: Option<PathBuf>,
}

/// An address without the word `tcp:`.
fn portal(text: &str) -> Result<Place, String> {
    format!("tcp:{text}").parse().map_err(|_| format!("{text:?} is not an address; write HOST:PORT"))
}

/// A name in one of the formats of RFC 7143, 4.2.7.
fn target_name(text: &str) -> Result<String, String> {
    let has_format = ["iqn.", "eui.", "naa."].iter().any(|prefix| text.starts_with(prefix));
    let has_letters =
        text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-.:".contains(letter));
    if has_format && has_letters && text.len() <= 223 {
        return Ok(text.to_owned());
    }
    Err("write a name such as iqn.2026-01.com.example:disk, with lower-case letters, digits and -.:".to_owned())
}
