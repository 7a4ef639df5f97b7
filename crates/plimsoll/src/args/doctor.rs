//! Flags of `plimsoll doctor` and `plimsoll try`.

use std::path::PathBuf;

use clap::Args;

use super::forms::FormArgs;

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  plimsoll doctor                                 this host, and the storage of the current directory
  plimsoll doctor /var/lib/postgresql             before a measurement there
  plimsoll doctor --database postgres://db1/app   also settings that hide what plimsoll diagnose needs
  plimsoll doctor --json=- || echo 'not ready'

Exit codes: 0 if the necessary checks (path, free space, io_uring, timers) are ok or a caution, else 1.";

/// `plimsoll doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory, file or block device to be measured
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Also check the settings of this database: `postgres://USER@HOST/NAME` or `mysql://USER@HOST/NAME`
    #[arg(long, value_name = "URI")]
    pub database: Vec<String>,
    #[command(flatten)]
    pub forms: FormArgs,
}

pub(super) const TRY_EXAMPLES: &str = "\
Examples:
  plimsoll try            a simulated volume, a sample report diagnosed and sized, a volume whose level changes

Exit codes: 0, or 1 if this host cannot emulate a volume (plimsoll doctor states the reason).";

/// `plimsoll try`
#[derive(Debug, Args)]
pub struct TryArgs {
    #[command(flatten)]
    pub forms: FormArgs,
}
