//! fio's job language and output formats: jobs in, text out.
//!
//! Pure: files, environment and machine properties are arguments.

mod command;
mod engine;
mod fault;
mod groups;
mod help;
mod job;
mod near;
mod note;
mod number;
mod options;
mod parse;
pub mod print;
mod settings;
mod showcmd;
mod usage;
mod value;

pub use command::{Eta, FioCommand, Flags, Format, IdleProfile, Question, command, job_file};
pub use engine::Engine;
pub use fault::{Fault, FaultKind, Note, Place};
pub use groups::{Placing, groups};
pub use help::{engine_help, option_help};
pub use job::{
    AccessOptions, Allocation, ArrivalProcess, BlockSizes, Buffers, Continuation, DisplayOptions, ErrorList, ExitWhat,
    FileAdvice, FileOptions, FileOrder, FioJob, Flow, JobDirection, Lifetime, Logs, Order, RangeSync, RawOption,
    Reporting, Seed, SteadyCriterion, SteadyState, Synchronous, ThinkTime, Verification, WindowValue,
};
pub use note::JobNote;
pub use number::{Bare, Base};
pub use options::{OptionLookup, Spec, Support, ValueForm, look_up, options};
pub use parse::Surroundings;
pub use usage::help;
pub use value::{Distribution, Each, Extent, PatternPiece, Zone};
