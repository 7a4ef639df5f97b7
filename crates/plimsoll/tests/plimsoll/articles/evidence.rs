//! Published points as the runs of a measurement, for `plimsoll_analyse::fit`.

use plimsoll_analyse::{Fitted, fit};
use plimsoll_load::Pace;
use plimsoll_record::{Estimate, Evidence, Figures, Run, Steadiness};
use plimsoll_units::Bytes;

use crate::measured;

/// The fitted model of random reads of `block` bytes, from the operations per second by depth.
pub fn fitted(points: &[(u32, f64)], block: u64) -> Fitted {
    let runs = points.iter().map(|&(depth, iops)| run(depth, iops)).collect();
    let curve = measured::curve(runs, Bytes::new(block), Bytes::gib(1));
    fit(&[Evidence::try_from(&curve).expect("measured")], None).expect("three loads")
}

fn run(depth: u32, iops: f64) -> Run {
    let estimate = |value: f64| Estimate { value, interval: None };
    let figures = Figures {
        iops: estimate(iops),
        mean_ns: estimate(f64::from(depth) * 1e9 / iops),
        steadiness: Steadiness::Steady,
        ..Figures::default()
    };
    measured::run(Pace::Closed { depth }, figures)
}
