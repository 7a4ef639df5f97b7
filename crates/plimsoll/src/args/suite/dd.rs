//! Flags of `plimsoll suite dd`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::dd::{Dd, DdData, DdKind, DdOptions};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Bytes;

use super::{Place, PlaceArgs, Suite};

/// `plimsoll suite dd`
#[derive(Debug, Args)]
pub struct DdArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Bytes of one call, as dd's bs
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub bs: Bytes,
    /// Blocks of a copy, as dd's count
    #[arg(long, value_name = "BLOCKS", default_value_t = 5)]
    pub count: u64,
    /// The copies to make, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "buffered,fdatasync,direct,read-direct")]
    pub kinds: Vec<KindWord>,
    /// Write random data instead of zeroes
    #[arg(long)]
    pub random: bool,
    /// Do not look whether the storage keeps zeroes
    #[arg(long)]
    pub no_probe: bool,
}

/// A copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindWord {
    /// Into the page cache, as dd does when it is told nothing
    Buffered,
    /// The same, and one fdatasync at the end (conv=fdatasync)
    Fdatasync,
    /// The same, and one fsync at the end (conv=fsync)
    Fsync,
    /// Past the page cache (oflag=direct)
    Direct,
    /// Each block durable (oflag=dsync)
    Dsync,
    /// Each block durable with its metadata (oflag=sync)
    Sync,
    /// Reading through the page cache
    Read,
    /// Reading, and dropping what was read from the cache (iflag=nocache)
    ReadNocache,
    /// Reading past the page cache (iflag=direct)
    ReadDirect,
}

impl From<KindWord> for DdKind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Buffered => Self::Buffered,
            KindWord::Fdatasync => Self::Fdatasync,
            KindWord::Fsync => Self::Fsync,
            KindWord::Direct => Self::Direct,
            KindWord::Dsync => Self::Dsync,
            KindWord::Sync => Self::Sync,
            KindWord::Read => Self::Read,
            KindWord::ReadNocache => Self::ReadNocache,
            KindWord::ReadDirect => Self::ReadDirect,
        }
    }
}

impl Suite for DdArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let options = DdOptions {
            block: self.bs,
            count: self.count,
            kinds: self.kinds.iter().map(|kind| (*kind).into()).collect(),
            data: if self.random { DdData::Random } else { DdData::Zeroes },
            probe: DdOptions::default().probe.filter(|_| !self.no_probe),
        };
        Ok(Box::new(Dd::new(options, facts)?))
    }
}
