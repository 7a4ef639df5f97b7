//! Concurrency of jobs, and grouping of their figures.
//!
//! Observed with fio 3.33: a group begins with the first job and with each job with `stonewall` or `new_group`. Both
//! apply once to all copies, `stonewall=0` overrides a global section, and copies share a group.

use plimsoll_language::{label, say};

use crate::fault::{FaultKind, Findings};
use crate::job::FioJob;

/// Position of a job in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placing {
    /// fio's `groupid`, from 0.
    pub group: u32,
    /// Stage, from 0: its jobs start together after all earlier stages have ended.
    pub stage: u32,
    /// Index of its first copy among all copies of all jobs.
    pub first_copy: u64,
    /// Index of the job named by `wait_for`.
    pub waits_for: Option<usize>,
}

/// Positions of jobs, in their order.
pub fn groups(jobs: &[FioJob]) -> Vec<Placing> {
    let mut placings: Vec<Placing> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let wall = u32::from(job.life.stonewall);
        let boundary = u32::from(job.life.stonewall || job.life.new_group);
        let waits_for = job.life.wait_for.as_ref();
        let waits_for = waits_for.and_then(|name| jobs[..index].iter().rposition(|before| before.name == *name));
        placings.push(match placings.last().zip(jobs.get(index.wrapping_sub(1))) {
            None => Placing { group: 0, stage: 0, first_copy: 0, waits_for },
            Some((last, before)) => Placing {
                group: last.group + boundary,
                stage: last.stage + wall,
                first_copy: last.first_copy + before.life.copies,
                waits_for,
            },
        });
    }
    placings
}

/// Refuses a job that waits for itself or a later job.
pub(crate) fn check(jobs: &[FioJob], findings: &mut Findings) {
    for (index, job) in jobs.iter().enumerate() {
        let Some(name) = &job.life.wait_for else { continue };
        let what = if *name == job.name {
            say!("the job {name} waits for itself")
        } else if jobs[..index].iter().any(|before| before.name == *name) {
            continue;
        } else {
            say!("wait_for={name}: no job of this name stands before {}", job.name)
        };
        findings.fault(&job.place, FaultKind::Combination, what, label!("name a job that stands before it"));
    }
}
