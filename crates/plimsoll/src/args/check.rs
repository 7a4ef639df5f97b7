//! Flags of `plimsoll check`.

use clap::Args;

use super::forms::FormArgs;

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  plimsoll check                                  the requirements
  plimsoll check etcd /var/lib/etcd               with temporary files in that directory
  plimsoll check etcd aws/gp3:50GiB               on a model, in virtual time, before it is bought
  plimsoll check etcd-heavy 'oci:50GB@10vpu' && echo enough
  plimsoll check vault > own.toml                 a requirement as a template
  plimsoll check own.toml .                       one of your own

Exit codes: 0 if all conditions are met, 1 if one is not, 3 if the figures do not tell.";

/// `plimsoll check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Name of a requirement, or a file. Without PATH the file is printed; without a name all requirements are listed
    pub requirement: Option<String>,
    /// A directory (temporary files are created in it), a configuration of the catalogue, stages, or an export of an NBD
    /// server
    #[arg(value_name = "PATH|CONFIG|URI")]
    pub target: Option<String>,
    /// Allow writing to this export, exactly as in the target: ITS DATA ARE LOST
    #[arg(long, value_name = "URI")]
    pub destroy: Vec<String>,
    #[command(flatten)]
    pub forms: FormArgs,
}
