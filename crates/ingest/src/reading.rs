//! What came of one input.

use std::collections::BTreeSet;

use crate::evidence::Evidence;
use crate::figure::{Figure, Origin, Scope, Window};
use crate::kind::Kind;
use crate::snapshot::Snapshot;

/// What one input says, and what was not read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What the caller calls the input.
    pub name: String,
    /// What it was recognised as.
    pub kind: Kind,
    /// The version of the program that wrote it, where it says so.
    pub version: Option<String>,
    /// Whom its figures are about.
    pub scopes: Vec<Scope>,
    /// Over which windows they were taken, in the order of the input.
    pub windows: Vec<Window>,
    /// Its figures, in the order of the input.
    pub figures: Vec<Figure>,
    /// What a benchmark got of its storage: no demand, and never added to one.
    pub evidence: Vec<Evidence>,
    /// Counters that wait for a later snapshot of the same scope, which may stand in another input.
    pub snapshots: Vec<Snapshot>,
    /// How a database spent its time, by window.
    pub times: Vec<DatabaseTime>,
    /// How hosts spent the time of their processors, by window.
    pub hosts: Vec<HostTime>,
    /// What sessions waited for.
    pub waits: Vec<Wait>,
    /// The databases' memory and processors.
    pub databases: Vec<Database>,
    /// What another size of the buffer cache would give, as the database estimates it.
    pub advice: Vec<CacheAdvice>,
    /// How often caches of each size would ask the storage, by what was asked for.
    pub curves: Vec<MissCurve>,
    /// Numbers of [`Reading::scopes`] whose operations other scopes count as well: they are no part of totals.
    pub beneath: BTreeSet<u32>,
    /// The zone in which its times without an offset were taken; none where no time lacks one.
    pub assumed_zone: Option<String>,
    /// Sections that were read, and what was not.
    pub parts: Vec<Part>,
    /// What makes its figures doubtful.
    pub cautions: Vec<Caution>,
}

/// A section of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the input calls it.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// So many numbers were read of it.
    Read(u32),
    /// It is there, and empty.
    Empty,
    /// It is not there, though its kind usually has it.
    Missing,
    /// It is there, and could not be read, or not to its end: a caution says why.
    Broken,
    /// It is there, and says nothing of storage.
    Ignored,
}

/// A doubt about an input, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    /// Where; none for the whole.
    pub origin: Option<Origin>,
    /// What is doubtful, in one sentence, and what to do about it.
    pub text: String,
}

/// How the sessions of a database spent a window.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseTime {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When: a number of [`Reading::windows`].
    pub window: u32,
    /// Seconds of sessions that worked or waited.
    pub database_s: f64,
    /// Seconds of these on a processor.
    pub processor_s: Option<f64>,
    /// Processors of the host.
    pub processors: Option<u32>,
    /// Transactions that were committed in the window.
    pub commits: Option<f64>,
    /// Where it was read.
    pub origin: Origin,
}

/// How a host spent the time of its processors in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTime {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When: a number of [`Reading::windows`].
    pub window: u32,
    /// Seconds of all processors together that they worked.
    pub busy_s: f64,
    /// Seconds of all processors together that they did not, those in which something waited for storage included.
    pub idle_s: f64,
    /// Where it was read.
    pub origin: Origin,
}

/// What a database and its host have; what is not said is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When: a number of [`Reading::windows`].
    pub window: u32,
    /// Bytes of a block, or page.
    pub block_bytes: Option<f64>,
    /// Bytes of the buffer cache.
    pub cache_bytes: Option<f64>,
    /// Processors that the host has, threads counted.
    pub processors: Option<f64>,
    /// Its cores.
    pub cores: Option<f64>,
    /// Bytes of its memory.
    pub memory_bytes: Option<f64>,
    /// Where it was read.
    pub origin: Origin,
}

/// What sessions waited for in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When: a number of [`Reading::windows`].
    pub window: u32,
    /// The event, as the database calls it.
    pub event: String,
    /// True for sessions of users, false for processes behind them.
    pub foreground: bool,
    /// How often.
    pub count: f64,
    /// Seconds in all.
    pub total_s: f64,
    /// How long single waits took: upper bounds in seconds, and their shares (0 to 1), in ascending order, the
    /// last endless; empty where it is not said.
    pub histogram: Vec<(f64, f64)>,
    /// Where it was read.
    pub origin: Origin,
}

/// Reads that the database expects with another size of its buffer cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheAdvice {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When: a number of [`Reading::windows`].
    pub window: u32,
    /// Which cache; `D` is the default one.
    pub pool: String,
    /// Bytes of the cache.
    pub size_bytes: f64,
    /// The same over its present size.
    pub size_factor: f64,
    /// Physical reads over those of the present size.
    pub read_factor: f64,
    /// Physical reads in the window.
    pub reads: f64,
    /// Where it was read.
    pub origin: Origin,
}

/// How often a cache in front of the storage would have to ask it, by its size: of least recently used pages, with
/// writes kept as well as reads. Worked out of the operations themselves, where [`CacheAdvice`] is a database's estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct MissCurve {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When: a number of [`Reading::windows`].
    pub window: u32,
    /// Reads of pages, or of objects, that the curve is about.
    pub reads: f64,
    /// Bytes of all that was read or written, each counted once.
    pub working_set_bytes: f64,
    /// Share of the pages that was followed, 0 to 1: with less than 1 the curve is an estimate.
    pub sampled: f64,
    /// Bytes of a cache, ascending from none, and the share of reads that it does not answer (0 to 1, never rising).
    /// From the last size on it stays as it is: those pages come once. Empty where nothing was read.
    pub points: Vec<(f64, f64)>,
    /// Where it was read.
    pub origin: Origin,
}

impl MissCurve {
    /// The share of reads that a cache of so many bytes does not answer; none where nothing was read.
    pub fn ratio(&self, cache_bytes: f64) -> Option<f64> {
        self.points.iter().rev().find(|(bytes, _)| *bytes <= cache_bytes).map(|(_, ratio)| *ratio)
    }
}
