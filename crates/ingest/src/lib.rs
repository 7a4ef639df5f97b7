//! Demand from reports of databases and hosts: recognition of formats, figures of storage, and their places.
//!
//! Bytes come in, figures go out, each with its place; there are no paths and no products. A value that a report lacks
//! is absent, never zero; an unreadable part is refused with its place, and the rest is used.

mod atop;
mod awr;
mod bench;
mod builder;
mod clouds;
mod coarsen;
mod collectl;
mod curves;
mod demand;
mod devices;
mod dialect;
mod diskstats;
mod distribution;

mod dstat;
mod ebs;
mod events;

mod fio;
mod form;
mod forms;
mod host;
mod html;
mod ingest;
mod json;
mod layers;
mod miner;
mod mysql;
mod nearest;
mod nmon;
mod pdh;
mod postgres;
mod processors;
mod prometheus;
mod reading;
mod refusal;
mod requests;
mod sampled;
mod snapshot;
mod snapshots;
mod sqlserver;
mod table_series;
mod text;
mod trace;
mod unpack;
mod wide;

pub use builder::Builder;
pub use curves::{ASSUMED_SPACE, ImportedCurve, build_curves};
pub use demand::{
    Account, BusyPeriod, CacheCurve, Cap, DatabaseDemand, Demand, EventTime, HostLoad, HostWaiting, InputPosition,
    InstanceFiltering, InstanceLoad, InstanceRates, InstanceResource, MIN_STORAGE_READ_S, MeasureSeries, PartWork,
    SessionTime, Slot, Summary, is_short_of_memory,
};
pub use distribution::ValueDistribution;

pub use ebs::{EBS_PAGE_BYTES, EbsStatistics, NotEbsPage};
pub use events::{is_through_cache, is_user_io_remainder};

pub use form::{Form, FormatInput, Head, LineFormat, Resemblance};
pub use ingest::{Ingest, Outcome, OutcomeSummary};
pub use reading::{
    AnalysedPeriod, CacheAdvice, CapBasis, CapEvidence, CapKind, CapLimit, CapOwner, Caution, Class,
    ColumnarCompression, Count, Counted, Database, DatabaseTime, Doubt, Fate, Figure, FormatName, HostTime, InputPart,
    JoinedWindow, LatencyBin, LatencyHistogram, Measure, MissCurve, Multipath, Offering, Origin, Reading,
    ReadingDistribution, ReadingEvidence, ReadingScope, ReadingWindow, Resource, ResourceFigure, Setting, Snapshot,
    Statistic, TimeCounters, TopReader, Wait, WaitCause, WindowCount,
};
pub use refusal::{InputFault, Refusal};
pub use requests::{Requests, TraceFault, TraceRequest};
pub use snapshot::join;
pub use text::timestamp::time_in_utc;
