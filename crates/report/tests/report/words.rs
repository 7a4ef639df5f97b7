//! Loads and verdicts as text.

use crate::support;

use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_record::{Estimate, LoadLine};
use plimsoll_report::words;
use plimsoll_units::{Bytes, Iops, Span};

fn spec(pattern: Pattern, reads: f64) -> StreamSpec {
    StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(8)), reads, durable: false, flush_every: 0 },
        pattern,
        region: Region::first(Bytes::gib(4)),
        pace: Pace::Closed { depth: 8 },
    }
}

#[test]
fn streams() {
    let check = |spec: &StreamSpec, expected: &str| assert_eq!(words::stream(spec), expected);
    check(&spec(Pattern::Uniform, 0.8), "8 KiB random, 80 % reads, uniform over 4 GiB");
    check(&spec(Pattern::Sequential, 1.0), "8 KiB sequential, reads, over 4 GiB");
    check(&spec(Pattern::Zipf { theta: 0.99 }, 0.0), "8 KiB random, writes, Zipf 0.99 over 4 GiB");
    let hot = Pattern::HotSpot { operations: 0.9, space: 0.1 };
    check(&spec(hot, 1.0), "8 KiB random, reads, 90 % of it on 10 % of 4 GiB");
    let mut log = spec(Pattern::Sequential, 0.0);
    log.mix = Mix {
        sizes: BlockMix::weighted(vec![(Bytes::kib(4), 3), (Bytes::kib(64), 1)]).unwrap(),
        reads: 0.0,
        durable: true,
        flush_every: 1,
    };
    log.region.start = 1 << 30;
    let expected =
        "4 KiB (75 %) + 64 KiB (25 %) sequential, durable writes, a flush after each write, over 4 GiB, from 1 GiB";
    check(&log, expected);
}

#[test]
fn paces() {
    assert_eq!(words::pace(&Pace::Closed { depth: 8 }), "depth 8");
    let open = |arrival| Pace::Open { rate: Iops::per_second(20_000), arrival };
    assert_eq!(words::pace(&open(Arrival::Poisson)), "20,000 IOPS, Poisson");
    assert_eq!(words::pace(&open(Arrival::Constant)), "20,000 IOPS, even");
}

#[test]
fn load_lines() {
    let objective = "p99<=1ms".parse().unwrap();
    let iops = Estimate { value: 41_183.0, interval: Some((39_812.0, 42_640.0)) };
    let check = |line, expected: &str| assert_eq!(words::load_line(&line), expected);
    check(LoadLine::At { objective, iops }, "41,200 IOPS (39,800 to 42,600) keep p99 <= 1 ms");
    let bare = Estimate::bare(62_000.0);
    check(LoadLine::Beyond { objective, iops: bare }, "at least 62,000 IOPS keep p99 <= 1 ms");
    let least = Span::from_micros(1_420);
    let never = "none: p99 <= 1 ms was missed even at the lightest load (lowest p99 1.42 ms)";
    check(LoadLine::Never { objective, least }, never);
}

#[test]
fn error_numbers_have_names() {
    assert_eq!([5, 28, 999].map(words::errno), ["EIO", "ENOSPC", "errno 999"]);
}

#[test]
fn commands_are_quoted_for_a_shell() {
    let words = ["plimsoll", "measure", "/dev/sdb", "--objective", "p99<=1ms", "it's"].map(String::from);
    assert_eq!(words::command(&words), r"plimsoll measure /dev/sdb --objective 'p99<=1ms' 'it'\''s'");
}

#[test]
fn known_properties_of_targets_are_described() {
    let curve = support::curve();
    let subject = words::subject(&curve.subject);
    assert!(subject.starts_with("block device, 404 GiB; Micron 7450 MTFDKCC3T8TFR (nvme1n1), "), "{subject}");
    assert_eq!(words::source_line(&curve), "measured with io_uring on /dev/nvme1n1, 2026-03-02");
    assert_eq!(words::host(&plimsoll_record::Host::default()), "");
}
