//! Comparison of a product with the speed of this host.

use plimsoll_language::say;
use plimsoll_model::analytic::{Workload, capacity, iops_at};
use plimsoll_units::{Bytes, Span};
use plimsoll_volume::Slow;

use crate::api::{Floor, HostCeiling, TooFast};
use crate::product::Product;
use crate::refusal::Refusal;

/// A measured floor as in the API.
pub fn convert_floor(floor: &plimsoll_front::Floor) -> Floor {
    Floor {
        round_trip_p50_ns: floor.round_trip_p50.as_nanos(),
        round_trip_p99_ns: floor.round_trip_p99.as_nanos(),
        timer_p50_ns: floor.timer_p50.as_nanos(),
        timer_p99_ns: floor.timer_p99.as_nanos(),
        iops: floor.iops,
    }
}

/// Size of an operation: 4 KiB, as in the measurement of the floor.
const LENGTH: Bytes = Bytes::kib(4);
/// Depth for products without a limit, as in the measurement of the floor.
const DEPTH: u32 = 32;

/// Refuses a product whose response time at depth 1 is below the timer lateness: every reply would be late. A ceiling of
/// IOPS is no reason, as clients need not reach it: see [`ceiling`].
pub(crate) fn check(product: &Product, size: u64, floor: &Floor, slow: Slow) -> Result<(), Refusal> {
    if floor.iops == 0 {
        return Ok(());
    }
    let (_, answer) = at_best(product, size);
    let times = (floor.timer_p50_ns as f64 / answer).ceil();
    if times <= f64::from(slow.times()) {
        return Ok(());
    }
    let slow_times = times as u64;
    let too_fast = TooFast { response_ns: answer as u64, timer_p50_ns: floor.timer_p50_ns, slow_times };
    let (answer, late) = (Span::from_nanos(too_fast.response_ns), Span::from_nanos(too_fast.timer_p50_ns));
    let refusal = Refusal::bad(say!(
        "{} answers after {answer}, and timers of this host are late by {late} as a rule: start the service with --slow \
         {slow_times}, which makes time {slow_times} times slower, or create the volume with --force",
        product.like
    ));
    Err(Refusal { too_fast: Some(too_fast), ..refusal })
}

/// The limit of this host, if the IOPS of a product exceed half of those of the host.
pub(crate) fn ceiling(product: &Product, size: u64, floor: &Floor, slow: Slow) -> Option<HostCeiling> {
    let host_iops = floor.iops / 2 * u64::from(slow.times());
    let (product_iops, _) = if floor.iops == 0 { return None } else { at_best(product, size) };
    (product_iops > host_iops as f64).then_some(HostCeiling { host_iops, product_iops: product_iops.round() as u64 })
}

/// The better of two measurements: a host that is busy meanwhile seems slower than it is.
pub(crate) fn better(a: Floor, b: Floor) -> Floor {
    Floor {
        round_trip_p50_ns: a.round_trip_p50_ns.min(b.round_trip_p50_ns),
        round_trip_p99_ns: a.round_trip_p99_ns.min(b.round_trip_p99_ns),
        timer_p50_ns: a.timer_p50_ns.min(b.timer_p50_ns),
        timer_p99_ns: a.timer_p99_ns.min(b.timer_p99_ns),
        iops: a.iops.max(b.iops),
    }
}

/// Maximum IOPS and minimum response time in nanoseconds (depth 1), over reads and writes.
fn at_best(product: &Product, size: u64) -> (f64, f64) {
    let mut best = (0.0_f64, f64::INFINITY);
    for reads in [1.0, 0.0] {
        let load =
            Workload { reads, durable: 0.0, flushes: 0.0, length: LENGTH, sequential: 0.0, space: Bytes::new(size) };
        let at = iops_at(&product.model, &load, &[1, DEPTH]);
        let max = capacity(&product.model, &load).iops;
        best = (best.0.max(if max.is_finite() { max } else { at[1] }), best.1.min(1e9 / at[0]));
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

    #[test]
    fn iops_beyond_the_host_are_a_ceiling_and_no_refusal() {
        let beyond = |like: &str, slow: u32| {
            let product = Product::read(like, &Catalogue::built_in(), None).unwrap();
            check(&product, 64 << 30, &FLOOR, Slow::by(slow)).unwrap();
            ceiling(&product, 64 << 30, &FLOOR, Slow::by(slow)).map(|found| (found.host_iops, found.product_iops))
        };
        assert_eq!(beyond("oci:50GB@0vpu", 1), None);
        assert_eq!(beyond("limit(50000) then link(1ms)", 1), None);
        assert_eq!(beyond("oci:2000GB@120vpu", 1), Some((50_000, 300_000)));
        assert_eq!(beyond("oci:2000GB@120vpu", 6), None);
        assert_eq!(beyond("station(512, 1us)", 12).map(|(host, _)| host), Some(600_000));
        let product = Product::read("station(512, 1us)", &Catalogue::built_in(), None).unwrap();
        assert_eq!(ceiling(&product, 64 << 30, &Floor::default(), Slow::NOT), None, "the host was not measured");
    }

    #[test]
    fn better_measurement_is_kept() {
        let busy = Floor { timer_p50_ns: 90_000, iops: 150_000, ..FLOOR };
        assert_eq!(better(FLOOR, busy), Floor { iops: 150_000, ..FLOOR });
    }

    #[test]
    fn timers_bound_the_shortest_answer() {
        let floor = Floor { iops: 10_000_000, ..FLOOR };
        let product = Product::read("link(4us)", &Catalogue::built_in(), None).unwrap();
        let Refusal { message, too_fast, .. } = check(&product, 64 << 30, &floor, Slow::NOT).unwrap_err();
        assert!(message.contains("timers of this host are late by 12") && message.contains("--slow 3,"), "{message}");
        assert_eq!(too_fast, Some(TooFast { response_ns: 4_000, timer_p50_ns: 12_000, slow_times: 3 }));
        check(&product, 64 << 30, &Floor::default(), Slow::NOT).unwrap();
    }
}
