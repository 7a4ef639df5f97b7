//! Verdicts of suites: conclusions from their figures, as data. `report` has their words.

mod blocks;
mod database;
mod tune;

use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

pub use blocks::{
    ArticleVerdict, BonnieVerdict, CrystalDiskMarkVerdict, DdVerdict, MissingFeature, ShortPhase, SniaVerdict,
    TiobenchVerdict, VerifyVerdict, WalVerdict,
};
pub use database::{
    BenchNote, CacheRemedy, ConsistencyCheck, FlushCounts, Inconsistency, LadderVerdict, LimitEvidence, OltpVerdict,
    OtherRows, SessionVerdict, SlobVerdict, SqlBenchVerdict, TestShare, WrongTable,
};
pub use tune::{TuneVerdict, TunedSetting, UntriedReason, UntriedSetting};

/// Declares the enum of all verdicts, with a conversion from each of its parts.
macro_rules! verdicts {
    ($($(#[$doc:meta])* $name:ident($part:ident),)*) => {
        /// A conclusion from the figures of a suite. `kind` is unique among the verdicts of all suites.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(untagged)]
        pub enum Verdict {
            $($(#[$doc])* $name($part),)*
        }

        $(impl From<$part> for Verdict {
            fn from(verdict: $part) -> Self {
                Self::$name(verdict)
            }
        })*
    };
}

verdicts! {
    /// Of several suites.
    Shared(SharedVerdict),
    /// Of suites with concurrent sessions.
    Session(SessionVerdict),
    /// Of `dd`.
    Dd(DdVerdict),
    /// Of `bonnie`.
    Bonnie(BonnieVerdict),
    /// Of `tiobench`.
    Tiobench(TiobenchVerdict),
    /// Of `crystaldiskmark`.
    CrystalDiskMark(CrystalDiskMarkVerdict),
    /// Of `snia`.
    Snia(SniaVerdict),
    /// Of `verify`.
    Verify(VerifyVerdict),
    /// Of `walfsync`.
    Wal(WalVerdict),
    /// Of `articles`.
    Article(ArticleVerdict),
    /// Of `oltp`.
    Oltp(OltpVerdict),
    /// Of `ladder`.
    Ladder(LadderVerdict),
    /// Of `slob`.
    Slob(SlobVerdict),
    /// Of `sql-bench`.
    SqlBench(SqlBenchVerdict),
    /// Of `tune`.
    Tune(TuneVerdict),
}

/// A verdict of several suites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SharedVerdict {
    /// A sentence of an article, or of a file of version 1.
    Text {
        /// The sentence.
        text: String,
    },
    /// A flush was faster than possible for durable media.
    FlushNotHonoured {
        /// Median time in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
    },
    /// Reads may have been served from memory of unknown size.
    MemoryUnknown {
        /// Size of the data.
        size_bytes: Bytes,
    },
    /// The data fit into memory: reads were served from the page cache.
    DataInMemory {
        /// Size of the data.
        size_bytes: Bytes,
        /// Memory of the host.
        memory_bytes: Bytes,
    },
    /// Only zeroes were written, which storage may compress or not store.
    ZeroesWritten,
    /// All compared blocks had the data that had been written.
    DataIntact {
        /// Number of compared blocks.
        blocks: u64,
    },
    /// Blocks had wrong data.
    WrongData {
        /// Number of compared blocks.
        blocks: u64,
        /// Number of blocks with wrong data.
        wrong: u64,
        /// The first mismatch with its place, if recorded.
        first: Option<String>,
    },
}

impl From<String> for Verdict {
    fn from(text: String) -> Self {
        SharedVerdict::Text { text }.into()
    }
}
