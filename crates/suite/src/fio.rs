//! fio's jobs on the grounds of suites: their plan, files, run and report.

mod disks;
mod host;
mod job_report;
mod layout;
mod logs;
mod plan;
mod report;
mod requirement;
mod run;
mod server;
mod status;
mod steady;

pub use host::with_surroundings;
pub use layout::{JobFiles, find_file, is_directory};
pub use plan::{Existing, NamedDisk, PathLookup, PathMeaning, PlanContext, StagePlan, plan};
pub use report::PlannedJobs;
pub use requirement::{RequirementPlace, RequirementRuns, requirement_command};
pub use run::{JobsOutcome, RunObserver, RunningStage, StageResults, unix_ms};
pub use server::simulated_server;
pub use status::RunProperties;
