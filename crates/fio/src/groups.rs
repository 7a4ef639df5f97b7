//! Which jobs run together, and whose figures are one.
//!
//! Learned by running fio 3.33: a group begins with the first job and with each that has `stonewall` or `new_group`; both
//! count once for all copies, `stonewall=0` undoes what a global section says, and copies share a group.

use crate::fault::{FaultKind, Findings};
use crate::job::Job;

/// Where a job stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placing {
    /// fio's `groupid`, from 0.
    pub group: u32,
    /// From 0: jobs of a stage begin together, when those of all stages before have ended.
    pub stage: u32,
    /// The number of its first copy among all copies of all jobs, from 0.
    pub first_copy: u64,
    /// The job that `wait_for` names, by its place in the list.
    pub waits_for: Option<usize>,
}

/// The placings of jobs, in their order.
pub fn groups(jobs: &[Job]) -> Vec<Placing> {
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

/// A job can wait only for one that stands before it.
pub(crate) fn check(jobs: &[Job], findings: &mut Findings) {
    for (index, job) in jobs.iter().enumerate() {
        let Some(name) = &job.life.wait_for else { continue };
        let what = if *name == job.name {
            format!("the job {name} waits for itself")
        } else if jobs[..index].iter().any(|before| before.name == *name) {
            continue;
        } else {
            format!("wait_for={name}: no job of this name stands before {}", job.name)
        };
        findings.fault(&job.place, FaultKind::Combination, what, "name a job that stands before it");
    }
}
