//! Classic benchmarks as recipes: steps as data, the grounds that they run on, and the layouts that people know.
//!
//! Every block operation goes through the one loop of `drive`; recipes say what is asked for, and a [`Ground`] where. Knows
//! nothing about arguments, screens or where results are kept.

mod below;
mod conduct;
mod files;
mod ground;
mod options;
mod recipe;
pub mod recipes;
mod seen;
mod sql;
mod step;
pub mod workers;

pub use below::{Below, Local, Looked};
pub use conduct::{Conduct, Endured, Signal};
pub use ground::{Database, Disk, DiskPlace, Export, Facts, Ground, Model, Nature, Paths, Sink, Unfit};
pub use options::{SuiteOptions, Surroundings, percent};
pub use recipe::{Done, Outcome, Phases, Recipe, Watch, crowd_of, judged, perform, perform_phases, step_run};
pub use seen::{Failed, FilesSeen, IoSeen, Logged, Queues, StepSeen, WorkerSeen};
pub use sql::{
    Asked, AskedAt, CrowdSeen, CrowdStep, CrowdWork, KindOf, ServerLoop, StatementsSeen, StatementsStep, Taker,
    Transactions, Unit,
};
pub use step::{
    Access, Before, Descriptor, FileSpec, FileWork, FilesStep, IoStep, Keep, Order, Part, Step, Work, Worker,
};
