//! Reports of databases and hosts as demand: what an input is, what it says of storage, and where it says so.
//!
//! Knows no path and no product: bytes come in, figures go out, each with the place that it was read from. What a report
//! does not say is absent, never zero; what cannot be read is refused with its place, and the rest is used all the same.

mod atop;
mod awr;
mod bench;
mod builder;
mod clouds;
mod coarsen;
mod counters;
mod decode;
mod demand;
mod diskstats;
mod events;
mod evidence;
mod figure;
mod fio;
mod format;
mod forms;
mod host;
mod html;
mod ingest;
mod json;
mod kind;
mod layers;
mod lines;
mod member;
mod miner;
mod mysql;
mod nmon;
mod number;
mod postgres;
mod prometheus;
mod reading;
mod refusal;
mod rows;
mod series;
mod snapshot;
mod snapshots;
mod table;
mod table_series;
mod timestamp;
mod trace;
mod unpack;
mod whole;

pub use builder::Builder;
pub use demand::{Account, CacheCurve, Demand, EventTime, Place, Series, Slot, Spent, Subject, Summary};
pub use events::{Waited, is_through_cache};
pub use evidence::{Evidence, Setting};
pub use figure::{Class, Figure, Measure, Origin, Scope, Statistic, Window};
pub use format::{Form, Format, Input, Resemblance, Takes};
pub use forms::FORMS;
pub use ingest::{Ingest, Outcome, Verdict};
pub use kind::Kind;
pub use lines::{LineFormat, Lines};
pub use number::Numerals;
pub use reading::{CacheAdvice, Caution, Database, DatabaseTime, Fate, HostTime, MissCurve, Part, Reading, Wait};
pub use refusal::Refusal;
pub use snapshot::{Count, Counted, Snapshot, join};
pub use timestamp::time_in_utc;
pub use trace::{Request, Requests, TraceFault};
pub use whole::{Whole, WholeFormat};
