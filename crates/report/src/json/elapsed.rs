//! Elapsed times of jobs.

use plimsoll_catalogue::Money;
use plimsoll_choose::elapsed as found;
use plimsoll_units::{Bytes, Span};

use super::{each, view};

view! {
    /// Elapsed times of jobs on configurations.
    struct ElapsedTimes from times: &found::JobTimes {
        /// The jobs.
        jobs: Vec<StorageJob> = each(&times.jobs),
        /// The work of the inputs as a job; null if it was not requested or the inputs do not contain waits.
        window: Option<WindowWork> = view(times.window.as_ref()),
        /// Operations per second of the inputs that are executed beside the jobs; null without inputs.
        beside_iops: Option<f64> = times.beside_iops,
        /// The configurations.
        configurations: Vec<ElapsedOn> = each(&times.rows),
    }

    /// A job.
    struct StorageJob from job: &found::StorageJob {
        /// Name.
        name: String = job.name.clone(),
        /// Reads of an execution.
        reads: f64 = job.reads,
        /// Writes of an execution that it waits for.
        writes: f64 = job.writes,
        /// Bytes of an operation.
        size_bytes: Bytes = job.size,
        /// Operations in flight of a session.
        depth: u32 = job.depth,
        /// True for sequential access.
        sequential: bool = job.sequential,
        /// Processor time of an execution in nanoseconds.
        cpu_ns: Span = job.cpu,
        /// Number of sessions.
        sessions: u32 = job.sessions,
        /// Time of a session between executions in nanoseconds; null for a job that is executed once.
        think_ns: Option<Span> = job.think,
    }

    /// The work of the inputs as a job.
    struct WindowWork from work: &found::WindowWork {
        /// Elapsed time today in nanoseconds.
        today_ns: Span = work.today,
        /// Mean active sessions.
        active_sessions: f64 = work.active,
        /// Longest wait for storage; null if there is none.
        top_wait: Option<TopWait> = work.top_wait.as_ref().map(|wait| (wait, work.top_share).into()),
    }

    /// The longest wait for storage.
    struct TopWait from (wait, share): (&plimsoll_ingest::EventTime, f64) {
        /// The database's name of the event.
        event: String = wait.event.to_string(),
        /// Number of waits.
        waits: f64 = wait.count,
        /// Seconds of all waits together.
        seconds: f64 = wait.total_s,
        /// Share of the database's time, 0 to 1.
        share: f64 = share,
    }

    /// Elapsed times on a configuration.
    struct ElapsedOn from row: &found::JobTimesOn {
        /// Configuration.
        configuration: String = row.offer.short().to_string(),
        /// Cost of a month, with the machine if there is one; null if unknown.
        total_monthly: Option<Money> = row.total,
        /// Elapsed times of the jobs, in their order.
        jobs: Vec<ElapsedTime> = each(&row.times),
        /// Elapsed time of the work of the inputs in nanoseconds; null if unknown.
        window_ns: Option<Span> = row.window,
    }

    /// Elapsed times of a job.
    struct ElapsedTime from time: &found::JobTime {
        /// On idle storage, in nanoseconds; null without a model.
        alone_ns: Option<Span> = time.alone,
        /// Beside the inputs' load and the other jobs, in nanoseconds; null if there are none, or they are not carried.
        together_ns: Option<Span> = time.beside,
    }
}
