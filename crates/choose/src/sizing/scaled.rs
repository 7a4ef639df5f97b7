//! The measured load of a point by the factor that leads from it to the expected load.

use super::burst::{LARGE, is_elastic};
use super::design::{Busiest, ClassLoad, DesignPoint, GrowthStep, SizingRequirements};

/// Kinds of operations whose factors differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScaleKind {
    /// Less than 64 KiB on average.
    Small,
    /// 64 KiB and more.
    Large,
    /// Scans, sorts, archiving and backups, which take longer without more throughput.
    Scans,
}

/// A part of the measured load with the same factor.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledPart {
    /// Its kinds of operations, ascending.
    pub kinds: Vec<ScaleKind>,
    /// Operations or bytes per second before the steps.
    pub measured: f64,
    /// Factor of all steps together.
    pub times: f64,
}

impl ScaleKind {
    pub(super) fn of(load: &ClassLoad) -> Self {
        match (is_elastic(load), load.size() >= LARGE) {
            (true, _) => Self::Scans,
            (false, true) => Self::Large,
            (false, false) => Self::Small,
        }
    }
}

impl GrowthStep {
    /// Factor for a kind of operations.
    pub const fn times(&self, kind: ScaleKind) -> f64 {
        match kind {
            ScaleKind::Small => self.small,
            ScaleKind::Large => self.large,
            ScaleKind::Scans => self.scans,
        }
    }
}

impl SizingRequirements {
    /// The measured load of a point by factor, the largest first: each part times its factor, added up, is the expected rate
    /// in the unit of the point.
    pub fn scaled_parts(&self, point: &DesignPoint) -> Vec<ScaledPart> {
        /// Smaller relative differences of factors come from their computation.
        const SAME: f64 = 1e-9;
        let mut parts: Vec<ScaledPart> = Vec::new();
        for load in &point.classes {
            let kind = ScaleKind::of(load);
            let times: f64 = self.steps.iter().map(|step| step.times(kind)).product();
            let expected = match point.of {
                Busiest::Operations => load.iops,
                Busiest::Bytes => load.bytes_per_second,
            };
            let same = parts.iter_mut().find(|part| (part.times / times - 1.0).abs() < SAME);
            match same {
                Some(part) => {
                    part.measured += expected / times;
                    part.kinds.push(kind);
                }
                None => parts.push(ScaledPart { kinds: vec![kind], measured: expected / times, times }),
            }
        }
        for part in &mut parts {
            part.kinds.sort_unstable();
            part.kinds.dedup();
        }
        parts.sort_by(|a, b| b.times.total_cmp(&a.times));
        parts
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_ingest::Class;
    use plimsoll_units::Bytes;

    use std::slice;

    use ScaleKind::{Large, Scans, Small};

    use super::*;
    use crate::sizing::{PeakSource, StepKind};

    #[test]
    fn parts_times_their_factors_are_the_expected_rate() {
        let load = |class, iops: f64, size: f64| ClassLoad {
            class,
            iops,
            bytes_per_second: iops * size,
            reads: 1.0,
            sequential: false,
            durable: false,
        };
        let step = |kind, small, large, scans| GrowthStep { kind, small, large, scans, spread: None };
        let in_peaks = step(StepKind::Peaks(PeakSource::Databases), 3.0, 6.0, 1.0);
        let after_stall = step(StepKind::WithoutStall { is_estimated: false }, 2.0, 2.0, 2.0);
        let (small, large, scans) = (
            load(Class::RandomRead, 600.0, 8192.0),
            load(Class::Write, 60.0, 131_072.0),
            load(Class::Backup, 10.0, 1e6),
        );
        let check = |steps: &[GrowthStep], classes: &[ClassLoad], of, expected: &[(&[ScaleKind], f64)]| {
            let point = DesignPoint { of, windows: 1, classes: classes.to_vec() };
            let mut demand = SizingRequirements::of(vec![point.clone()], Bytes::gib(1));
            demand.steps = steps.to_vec();
            let parts = demand.scaled_parts(&point);
            let found: Vec<(&[ScaleKind], f64)> = parts.iter().map(|part| (&part.kinds[..], part.times)).collect();
            assert_eq!(found, expected);
            let sum: f64 = parts.iter().map(|part| part.measured * part.times).sum();
            let rate = if of == Busiest::Operations { point.iops() } else { point.bytes_per_second() };
            assert!((sum / rate - 1.0).abs() < 1e-9, "{sum} of {rate}");
        };
        let all = [small, large, scans];
        check(&[], &all, Busiest::Operations, &[(&[Small, Large, Scans], 1.0)]);
        check(slice::from_ref(&after_stall), &all, Busiest::Bytes, &[(&[Small, Large, Scans], 2.0)]);
        check(slice::from_ref(&in_peaks), &[small, small], Busiest::Operations, &[(&[Small], 3.0)]);
        check(
            slice::from_ref(&in_peaks),
            &all,
            Busiest::Operations,
            &[(&[Large], 6.0), (&[Small], 3.0), (&[Scans], 1.0)],
        );
        check(&[in_peaks, after_stall], &all, Busiest::Bytes, &[(&[Large], 12.0), (&[Small], 6.0), (&[Scans], 2.0)]);
    }
}
