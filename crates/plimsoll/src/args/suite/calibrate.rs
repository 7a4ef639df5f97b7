//! Flags of `plimsoll suite calibrate`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::calibrate::{Calibrate, CalibrateOptions, LargeOrder, Matrix, Run};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::{Bytes, Span};

use super::{Place, PlaceArgs, Suite};
use crate::words::Percent;

/// `plimsoll suite calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Which loads are tried
    #[arg(long, value_enum, default_value_t = RunWord::Limit)]
    pub run: RunWord,
    /// Drives behind the storage: loads grow in their multiples
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub disks: u32,
    /// What the mean latency of small operations may be, of --run limit
    #[arg(long, value_name = "TIME", default_value = "20ms")]
    pub max_latency: Span,
    /// Bytes of a small operation
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub small: Bytes,
    /// Bytes of a large operation
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub large: Bytes,
    /// Large operations come in sequential streams
    #[arg(long)]
    pub sequential: bool,
    /// Share of operations that write. WHAT IS THERE IS LOST
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub writes: Percent,
    /// How long each load is tried; Orion takes a minute
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub point: Span,
    /// Bytes that are visited; all of a device, or 1 GiB of a directory
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
}

/// Which loads are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunWord {
    /// As `CALIBRATE_IO`: small operations until their latency is above its limit, then large ones until no more get through
    Limit,
    /// As Orion: small operations alone, then large ones alone
    Simple,
    /// Every combination of small and large ones
    Normal,
    /// Small operations alone, up to 20 for each disk
    Oltp,
    /// Large operations alone, up to 15 for each disk
    Dss,
    /// The first row and column of the matrix
    Basic,
    /// All of the matrix
    Detailed,
}

impl Suite for CalibrateArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let Percent(writes) = self.writes;
        let bytes =
            |size: Bytes| u32::try_from(size.get()).map_err(|_| format!("{size} is too large: write --large 1MiB"));
        let options = CalibrateOptions {
            run: match self.run {
                RunWord::Limit => Run::Limit,
                RunWord::Simple => Run::Simple,
                RunWord::Normal => Run::Normal,
                RunWord::Oltp => Run::Oltp,
                RunWord::Dss => Run::Dss,
                RunWord::Basic => Run::Advanced(Matrix::Basic),
                RunWord::Detailed => Run::Advanced(Matrix::Detailed),
            },
            disks: self.disks,
            max_latency: self.max_latency,
            small: bytes(self.small)?,
            large: bytes(self.large)?,
            order: if self.sequential { LargeOrder::Sequential } else { LargeOrder::Random },
            writes,
            point: self.point,
            size: self.size,
            ..CalibrateOptions::default()
        };
        Ok(Box::new(Calibrate::new(options, facts)?))
    }
}
