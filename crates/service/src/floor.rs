//! Comparison of a product with the speed of this host.

use plimsoll_model::analytic::{Workload, capacity, iops_at};
use plimsoll_units::{Bytes, Span};
use plimsoll_volume::Slow;

use crate::api::Floor;
use crate::product::Product;
use crate::refusal::Refusal;

/// Size of an operation: 4 KiB, as in the measurement of the floor.
const LENGTH: Bytes = Bytes::kib(4);
/// Depth for products without a limit, as in the measurement of the floor.
const DEPTH: u32 = 32;

/// Refuses a product whose IOPS exceed half of the host's, or whose response time is below the timer lateness.
pub(crate) fn check(product: &Product, size: u64, floor: &Floor, slow: Slow) -> Result<(), Refusal> {
    if floor.iops == 0 {
        return Ok(());
    }
    let (iops, answer) = at_best(product, size);
    let for_iops = (iops * 2.0 / floor.iops as f64).ceil();
    let for_timers = (floor.timer_p50_ns as f64 / answer).ceil();
    let times = for_iops.max(for_timers);
    if times <= f64::from(slow.times()) {
        return Ok(());
    }
    let reason = if for_iops >= for_timers {
        let (host, safe) = (floor.iops, floor.iops / 2);
        format!("carries {iops:.0} IOPS, and this host {host} without a model, of which half ({safe}) is safe")
    } else {
        let (answer, late) = (Span::from_nanos(answer as u64), Span::from_nanos(floor.timer_p50_ns));
        format!("answers after {answer}, and timers of this host are late by {late} as a rule")
    };
    Err(Refusal::bad(format!(
        "{} {reason}: start the service with --slow {times:.0}, which makes time {times:.0} times slower",
        product.like
    )))
}

/// Maximum IOPS and minimum response time in nanoseconds (depth 1), over reads and writes.
fn at_best(product: &Product, size: u64) -> (f64, f64) {
    let mut best = (0.0_f64, f64::INFINITY);
    for reads in [1.0, 0.0] {
        let load =
            Workload { reads, durable: 0.0, flushes: 0.0, length: LENGTH, sequential: 0.0, space: Bytes::new(size) };
        let at = iops_at(&product.model, &load, &[1, DEPTH]);
        let most = capacity(&product.model, &load).iops;
        best = (best.0.max(if most.is_finite() { most } else { at[1] }), best.1.min(1e9 / at[0]));
    }
    best
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::Catalogue;

    use super::*;

    const FLOOR: Floor = Floor {
        round_trip_p50_ns: 20_000,
        round_trip_p99_ns: 60_000,
        timer_p50_ns: 12_000,
        timer_p99_ns: 90_000,
        iops: 100_000,
    };

    fn refusal(like: &str, slow: u32) -> Option<String> {
        let product = Product::read(like, &Catalogue::built_in(), None).unwrap();
        check(&product, 64 << 30, &FLOOR, Slow::by(slow)).err().map(|refusal| refusal.message)
    }

    #[test]
    fn too_fast_product_is_refused_with_required_dilation() {
        assert_eq!(refusal("oci:50GB@0vpu", 1), None);
        assert_eq!(refusal("limit(50000) then link(1ms)", 1), None);
        let message = refusal("oci:2000GB@120vpu", 1).unwrap();
        assert!(message.contains("300000 IOPS") && message.contains("--slow 6,"), "{message}");
        assert_eq!(refusal("oci:2000GB@120vpu", 6), None);
        let message = refusal("link(2us) then limit(20000)", 1);
        assert_eq!(message, None, "one at a time it answers every 50 us");
        let message = refusal("window(1: link(5us)) then station(1, 1us)", 1).unwrap();
        assert!(message.contains("IOPS") && message.contains("--slow 4,"), "{message}");
    }

    #[test]
    fn timers_bound_the_shortest_answer() {
        let floor = Floor { iops: 10_000_000, ..FLOOR };
        let product = Product::read("link(4us)", &Catalogue::built_in(), None).unwrap();
        let message = check(&product, 64 << 30, &floor, Slow::NOT).unwrap_err().message;
        assert!(message.contains("timers of this host are late by 12") && message.contains("--slow 3,"), "{message}");
        check(&product, 64 << 30, &Floor::default(), Slow::NOT).unwrap();
    }
}
