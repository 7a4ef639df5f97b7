//! Measurement of storage and models: the loads of a sweep, the backends that execute them, and findings about the
//! result.
//!
//! [`measure`] executes a [`MeasurementRequest`], [`measure_interleaved`] two of them, and [`simulate`] a
//! [`SimulationRequest`]. [`LoadOptions`] and [`SweepOptions`] become a
//! [`MeasurePlan`], which [`sweep::run_sweep`] executes on a [`Backend`]; [`Replaying`] is a recorded load.
//!
//! [`InputFiles`] reads reports and traces, and [`Offers`] the products and prices of the user.

pub mod backend;
pub mod checks;
pub mod collect;
mod compared;
mod curve;
mod doctor;
mod emulated;
mod error;
mod ground;
mod hosts;
mod imports;
mod inputs;
mod interleave;
mod invalid;
mod job_log;
mod measured_load;
mod measurement;
mod monitor;
mod need;
mod offers;
mod options;
mod plan;
mod prepared;
mod preset;
mod price_files;
pub mod probe;
mod replay;
mod request;
mod runs;
mod simulation;
pub mod sizing;
pub mod sweep;
mod volume_latencies;
pub mod watch;
mod words;

pub use backend::{AccessPath, Backend, Storage, Virtual};
pub use compared::{ComparedRuns, ComparedSide};
pub use doctor::examine_host;
pub use emulated::{EmulatedVolume, FindVolume, find_emulated_source};
pub use error::MeasureError;
pub use ground::{open_disk, open_export};
pub use inputs::{InputFiles, join_outcomes, list_readings, parse_begin, parse_interval, parse_zone, read_input};
pub use interleave::{InterleavedCurves, compare_interleaved, measure_interleaved, run_in_shell};
pub use job_log::JobLog;
pub use measurement::measure;
pub use monitor::{Monitor, PointProgress, Unattended};
pub use need::NeedRequest;
pub use offers::{OfferSources, Offers, check_product_file, date_of, read_model, read_product_text, refuse_file};
pub use options::{EffortLevel, LoadOptions, ReplayOptions, SweepOptions};
pub use plan::{Effort, Grid, MAX_BUFFER_MEMORY, MeasurePlan, TargetKind};
pub use preset::{BUILT_IN, Preset, Template};
pub use price_files::merge_prices;
pub use replay::Replaying;
pub use request::{EngineChoice, MeasurementRequest, RunContext};
pub use runs::{InvalidLabel, LAST, RunFile, RunLabel, RunStore, StoredRun, load_run_file, name_run};
pub use simulation::{NamedModel, STAGES_SPACE, SimulationRequest, simulate};
pub use sweep::SweepResult;
pub use volume_latencies::read_volume_latencies;
pub use words::{BlockSizes, InvalidValue, PatternWord, Percent, WorkingSet};
