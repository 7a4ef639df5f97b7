//! Results: runs, curves, histograms, findings, and their file formats.
//!
//! Independent of the origin of a run, which may be a device, a simulator or a published table, see [`Source`]. Pure:
//! no clock, file or thread.

mod curve;
mod database;
mod evidence;
mod figures;
mod finding;
mod histogram;
mod host;
mod host_check;
mod json;
mod objective;
mod quantity;
mod run;
mod slot;
mod stored;
mod suite;
mod tally;
mod trace;
mod verdict;

pub use curve::{Conditions, CreditLevel, Curve, EndReason, FORMAT, FormatError, Source, Subject, Trace};
pub use database::{
    DatabaseAbout, DatabaseCounters, DatabaseSide, DelayAndQueue, DiskCounters, HostTime, SessionLimit, SessionRun,
    SessionTimes, Spent, StorageSide,
};
pub use evidence::{Evidence, NotEvidence};
pub use figures::{
    ClosedLine, Estimate, Figures, HostShares, Knee, Lasting, LineBasis, LoadLine, NoLine, ObjectiveOrigin, Steadiness,
};
pub use finding::{Finding, Weight};
pub use histogram::{Bins, Recorder};
pub use host::{Device, Host};
pub use host_check::{CheckNeed, CheckStatus, FreeSpace, FuseState, HiddenCounters, HostCheck, HostFact};
pub use json::{to_json_line, to_json_pretty};
pub use objective::{Measure, Objective, ObjectiveError, Scope};
pub use quantity::StepQuantity;
pub use run::{CpuTime, Run, Slice};
pub use slot::{HostDelay, LoadSlot, SlotRole};
pub use suite::{JobRun, Listing, SUITE_FORMAT, Statements, StepRun, StepWork, SuiteRun};
pub use tally::{Counter, Counting, Tally};
pub use trace::{Action, Outline, TRACE_FORMAT, TraceEntry, TraceError, TraceLine, TraceReader, TraceWriter, Wrong};
pub use verdict::{
    ArticleVerdict, BenchNote, BonnieVerdict, CacheRemedy, ConsistencyCheck, CrystalDiskMarkVerdict, DdVerdict,
    FlushCounts, Inconsistency, LadderVerdict, LimitEvidence, MissingFeature, OltpVerdict, OtherRows, SessionVerdict,
    SharedVerdict, ShortPhase, SlobVerdict, SniaVerdict, SqlBenchVerdict, TestShare, TiobenchVerdict, TuneVerdict,
    TunedSetting, UntriedReason, UntriedSetting, Verdict, VerifyVerdict, WalVerdict, WrongTable,
};
