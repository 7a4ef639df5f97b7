//! Dependencies between workers: `exitall` and `wait_for`.

use crate::conduct::Signal;
use plimsoll_fio::{ExitWhat, FioJob, Placing};

use super::Member;

/// Sets the dependencies of all stages.
pub(super) fn tie(jobs: &[FioJob], placings: &[Placing], stages: &mut [Vec<Member>]) {
    exits(jobs, stages);
    waits(placings, stages);
}

/// `exitall`, `exitall_on_error`: the end of a member stops others.
fn exits(jobs: &[FioJob], stages: &mut [Vec<Member>]) {
    struct Stop {
        stage: usize,
        group: u32,
        number: u64,
        signal: Signal,
    }
    let members = stages.iter().enumerate().flat_map(|(stage, members)| members.iter().map(move |one| (stage, one)));
    let stop = |(stage, member): (usize, &Member)| Stop {
        stage,
        group: member.group,
        number: member.number,
        signal: member.worker.conduct.stop.clone(),
    };
    let stops: Vec<Stop> = members.map(stop).collect();
    for (stage, members) in stages.iter_mut().enumerate() {
        for member in members {
            let life = &jobs[member.job].life;
            let scope = life.exit_all.unwrap_or(ExitWhat::Group);
            let ended = |other: &&Stop| {
                other.number != member.number
                    && match scope {
                        ExitWhat::Group => other.group == member.group,
                        ExitWhat::Stonewall => other.stage == stage,
                        ExitWhat::All => true,
                    }
            };
            let others = || stops.iter().filter(ended).map(|other| other.signal.clone());
            if life.exit_all.is_some() {
                member.worker.conduct.when_ended = others().collect();
            }
            if life.exit_all_on_error {
                member.worker.conduct.when_failed = others().collect();
            }
        }
    }
}

/// `wait_for`: all clones of a job in the same stage; those of earlier stages have ended.
fn waits(placings: &[Placing], stages: &mut [Vec<Member>]) {
    for members in stages {
        let waited: Vec<(usize, usize)> = members
            .iter()
            .enumerate()
            .filter_map(|(place, member)| Some((place, placings[member.job].waits_for?)))
            .collect();
        for (place, job) in waited {
            let mut signals = Vec::new();
            for other in members.iter_mut().filter(|other| other.job == job) {
                let signal = Signal::default();
                other.worker.conduct.when_ended.push(signal.clone());
                signals.push(signal);
            }
            members[place].worker.conduct.after = signals;
        }
    }
}
