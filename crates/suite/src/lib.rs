//! Classic benchmarks as recipes: steps as data, grounds that execute them, and the original output layouts.
//!
//! All block operations go through the loop of `drive`. A recipe defines the load, a [`Ground`] the target.

mod below;
pub mod collect;
mod conduct;
mod files;
pub mod fio;
mod ground;
mod options;
mod recipe;
pub mod recipes;
mod result;
mod session_run;
pub mod snapshots;
mod sql;
mod step;
mod suite_data;
mod suite_run;
pub mod workers;

pub use below::{LocalStorage, StorageSample, UnderlyingStorage};
pub use conduct::{Conduct, Signal, ToleratedErrors};
pub use ground::{
    DatabaseGround, Disk, DiskPlace, Export, Facts, Ground, Model, Nature, Paths, Sink, StepOutcome, Unfit, place_files,
};
pub use options::{FlagError, OptionsError, SuiteOptions, Surroundings, percent};
pub use recipe::{
    CompletedStep, Phases, Recipe, SuiteObserver, SuiteOutcome, database_result, perform, perform_phases, step_run,
};
pub use result::{
    ConfigureResult, FailedOperation, FilesResult, IoResult, LoggedOperation, Queues, StepResult, WorkerResult,
};
pub use session_run::session_run;
pub use sql::{
    RequestsAt, ServerLoop, SessionWork, SessionsResult, SessionsStep, SqlRequest, StatementsResult, StatementsStep,
    TransactionKind, TransactionRunner, Transactions, WorkUnit,
};
pub use step::{
    Before, Descriptor, FileAccess, FilePart, FileSpec, FileWork, FilesStep, IoStep, Keep, SettingsStep, Step, Work,
    Worker, WorkerOrder,
};
pub use suite_data::{DataError, DataPhase, DataRequest, SuiteData, check_retained, check_room};
pub use suite_run::{RunOrigin, StepProgress, suite_run};
