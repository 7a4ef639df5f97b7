//! Whether two models differ only in rates.

use alloc::vec::Vec;

use plimsoll_units::{Iops, Throughput};

use crate::spec::{ChainSpec, Rate, StageSpec};
use crate::{Change, Stage};

impl ChainSpec {
    /// The changes that turn this running model into `to`, if only rates of limits and names differ; else `None`.
    pub fn changes_to(&self, to: &Self) -> Option<Vec<Change>> {
        let (mut next, mut changes) = (0, Vec::new());
        compare(self, to, &mut next, &mut changes).then_some(changes)
    }
}

/// Numbers the stages as a program does. False if anything but a rate differs.
fn compare(from: &ChainSpec, to: &ChainSpec, next: &mut u8, changes: &mut Vec<Change>) -> bool {
    if from.0.len() != to.0.len() {
        return false;
    }
    from.0.iter().zip(&to.0).all(|(from, to)| {
        let (from, to) = (&from.stage, &to.stage);
        let stage = Stage(*next);
        *next += 1;
        if let (StageSpec::Limit { rate: before, .. }, StageSpec::Limit { rate, .. }) = (from, to)
            && before != rate
        {
            changes.push(Change::Rate { stage, rate: *rate });
        }
        let insides = from.insides().into_iter().zip(to.insides());
        strip_chains(from) == strip_chains(to) && insides.into_iter().all(|(from, to)| compare(from, to, next, changes))
    })
}

/// A stage without its nested chains, and a limit without its rate.
fn strip_chains(stage: &StageSpec) -> StageSpec {
    let mut frame = stage.clone();
    match &mut frame {
        StageSpec::Limit { rate: Rate::Operations(iops), .. } => *iops = Iops::per_second(1),
        StageSpec::Limit { rate: Rate::Bytes(throughput), .. } => *throughput = Throughput::per_second(1),
        _ => frame.insides_mut().into_iter().for_each(|inside| *inside = ChainSpec::default()),
    }
    frame
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::parse;

    fn changes(from: &str, to: &str) -> Option<Vec<u8>> {
        let changes = parse(from).unwrap().changes_to(&parse(to).unwrap())?;
        Some(changes.iter().map(|Change::Rate { stage, .. }| stage.0).collect())
    }

    #[test]
    fn rates_and_names_may_differ() {
        let from = "limit(3000) \"size\" then limit(100MB/s) then link(1ms)";
        assert_eq!(changes(from, from), Some(vec![]));
        assert_eq!(changes(from, "limit(6000) \"level\" then limit(100MB/s) then link(1ms)"), Some(vec![0]));
        assert_eq!(changes(from, "limit(6000) then limit(200MB/s) then link(1ms)"), Some(vec![0, 1]));
        let stripe = |rate: u32| {
            alloc::format!(
                "split(read: ; write: limit({rate}) then link(1ms); flush: ) then stripe(2, 64KiB: limit({rate}) then link(1ms))"
            )
        };
        assert_eq!(changes(&stripe(10), &stripe(20)), Some(vec![1, 4]), "nested stages are numbered in textual order");
    }

    #[test]
    fn other_differences_need_another_model() {
        let from = "limit(3000) then link(1ms)";
        for to in [
            "limit(3000, burst 2) then link(1ms)",
            "limit(3000 per 4KiB) then link(1ms)",
            "limit(3MB/s) then link(1ms)",
            "limit(3000) then link(2ms)",
            "limit(3000)",
            "link(1ms) then limit(3000)",
            "limit(3000) then window(1: link(1ms))",
        ] {
            assert_eq!(changes(from, to), None, "{to}");
        }
        assert_eq!(changes("window(2: link(1ms))", "window(2: link(2ms))"), None);
    }
}
