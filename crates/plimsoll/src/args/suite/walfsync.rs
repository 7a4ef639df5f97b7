//! Flags of `plimsoll suite walfsync`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::walfsync::{WalPreset, Walfsync, WalfsyncOptions};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::{Bytes, Span};

use super::{Place, PlaceArgs, Suite};

/// `plimsoll suite walfsync`
#[derive(Debug, Args)]
pub struct WalfsyncArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Whose log it is
    #[arg(long, value_enum, default_value_t = PresetWord::Postgresql)]
    pub preset: PresetWord,
    /// How long each method is tried
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub measure: Span,
    /// Size of the file
    #[arg(long, value_name = "SIZE", default_value = "16MiB")]
    pub size: Bytes,
}

/// Whose log it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetWord {
    /// 8 kB by each `wal_sync_method`, as `pg_test_fsync` tries them
    Postgresql,
    /// Redo of multiples of 512 bytes, and pages of 16 kB with their doublewrite
    Innodb,
    /// Redo of 512 bytes to 1 MB, direct and synchronous
    Oracle,
    /// Appends of 2300 bytes, each with an fdatasync; 99 % below 10 ms or not
    Etcd,
}

impl Suite for WalfsyncArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let preset = match self.preset {
            PresetWord::Postgresql => WalPreset::Postgresql,
            PresetWord::Innodb => WalPreset::Innodb,
            PresetWord::Oracle => WalPreset::Oracle,
            PresetWord::Etcd => WalPreset::Etcd,
        };
        let options = WalfsyncOptions { preset, span: self.measure, file: self.size };
        Ok(Box::new(Walfsync::new(options, facts)?))
    }
}
