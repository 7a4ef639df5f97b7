//! Conversion of reports to slices. Does not run fio.

use plimsoll_load::{Arrival, BlockMix, Mix, Pattern, Region, StreamSpec};
use plimsoll_units::{Bytes, Iops};

use super::*;

fn document(runtime_ms: u64, operations: u64) -> Document {
    serde_json::from_str(&format!(
        r#"{{"jobs":[{{"jobname":"0.0","job_runtime":{runtime_ms},"write":{{}},"read":{{"io_bytes":{operations},
        "total_ios":{operations},"lat_ns":{{"N":{operations},"mean":9.0,"bins":{{"9":{operations}}}}}}}}}]}}"#
    ))
    .unwrap()
}

fn point_of(reported: &[(u64, u64)], pace: Pace, ramp: Span) -> PointResult {
    let mix = Mix { sizes: BlockMix::one(Bytes::kib(4)), reads: 1.0, durable: false, flush_every: 0 };
    let region = Region::first(Bytes::mib(1));
    let stream = StreamSpec { name: "data".into(), mix, pattern: Pattern::Uniform, region, pace };
    let trial = Trial {
        streams: &[stream],
        duration: Span::from_secs(1),
        warm_up: ramp,
        slice: Span::from_millis(250),
        seed: 0,
    };
    let mut reports = FioReports::of(&trial, ramp);
    for &(runtime_ms, operations) in reported {
        reports.add(&document(runtime_ms, operations));
    }
    reports.into_point(&trial)
}

#[test]
fn slices_add_up_to_the_last_report() {
    let point = point_of(&[(0, 0), (250, 10), (500, 15), (500, 18), (510, 20)], Pace::Closed { depth: 1 }, Span::ZERO);
    let slices: Vec<_> = point
        .loops
        .series
        .iter()
        .map(|slice| (slice.start.as_nanos() / 1_000_000, slice.span.as_nanos() / 1_000_000, slice.tally.operations()))
        .collect();
    assert_eq!(slices, [(0, 250, 10), (250, 250, 8), (500, 10, 2)]);
    assert!(point.ends_offered && point.loops.unserved == 0);
}

#[test]
fn single_report_excludes_the_warm_up() {
    let point = point_of(&[(900, 10)], Pace::Closed { depth: 1 }, Span::from_millis(100));
    let slice = &point.loops.series[0];
    assert_eq!((slice.start, slice.span), (Instant::ZERO + Span::from_millis(100), Span::from_millis(900)));
}

#[test]
fn open_load_that_lags_has_unissued_operations() {
    let open = |operations| {
        let pace = Pace::Open { rate: Iops::per_second(10_000), arrival: Arrival::Constant };
        point_of(&[(1_000, operations)], pace, Span::ZERO).loops.unserved
    };
    assert_eq!((open(10_000), open(9_700), open(5_000)), (0, 0, 4_600));
}
