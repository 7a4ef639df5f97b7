//! Loads and verdicts as text.
#![allow(clippy::unwrap_used)]

use crate::support;

use plimsoll_choose::Gate;
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_record::{ClosedLine, Curve, Estimate, Finding, HostShares, LineBasis, LoadLine, NoLine};
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
    let behind = "none: the storage did not keep up with the lightest load (lowest p99 420 us)";
    check(LoadLine::Never { objective, least: Span::from_micros(420) }, behind);
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
    let curve = support::build_curve();
    let subject = words::subject(&curve.subject);
    assert!(subject.starts_with("block device, 404 GiB; Micron 7450 MTFDKCC3T8TFR (nvme1n1), "), "{subject}");
    assert_eq!(words::source_line(&curve), "measured with io_uring on /dev/nvme1n1, 2026-03-02");
    assert_eq!(words::host(&plimsoll_record::Host::default()), "");
}

/// A curve without a load line because the host took the processor away, with the line of its closed loads.
fn curve_on(host: HostShares, closed_line: Option<ClosedLine>) -> Curve {
    let objective = "p99<=5ms".parse().unwrap();
    let lateness_p99 = Span::from_micros(3_200);
    let why = NoLine::HostTaken { share: 0.88, host, lateness_p99, seconds: Some(180.0) };
    let basis = LineBasis { slots: 3, left_out: 22, slot: Span::from_millis(250), ..LineBasis::default() };
    let line = LoadLine::Refused { objective, why };
    Curve { load_line: Some(line), closed_line, basis: Some(basis), findings: Vec::new(), ..support::build_curve() }
}

fn closed_within(limit: &str) -> ClosedLine {
    ClosedLine {
        objective: limit.parse().unwrap(),
        depth: 64,
        iops: Estimate::bare(68_100.0),
        slots: 1,
        is_deepest: false,
        is_disturbed: false,
        delayed: 0.0,
    }
}

fn headline(curve: &Curve) -> plimsoll_report::Headline {
    support::page(&[curve]).headline.unwrap()
}

#[test]
fn closed_loads_answer_where_arrivals_cannot_be_judged() {
    let check = |host, cause: &str| {
        let page = headline(&curve_on(host, Some(closed_within("p99<=5ms"))));
        assert_eq!(page.text, "Closed loads: with 64 in flight 68,100 IOPS keep p99 <= 5 ms");
        assert_eq!(page.cautions, [format!("arrivals at a rate cannot be judged while {cause}")]);
        assert_eq!(page.grade, "low confidence");
    };
    let none = HostShares::default();
    check(
        HostShares { stolen: Some(0.13), waiting: Some(0.02), ..none },
        "the hypervisor takes 13 % of the processor time",
    );
    check(
        HostShares { throttled: Some(0.31), stolen: Some(0.0), ..none },
        "a processor limit stops the generator for 31 % of the time",
    );
    check(
        HostShares { waiting: Some(0.22), ..none },
        "other threads take the generator's processor for 22 % of the time",
    );
    check(none, "the generator is late by 3.2 ms (p99)");
}

#[test]
fn details_state_the_disturbed_share_and_the_required_time() {
    let stolen = HostShares { stolen: Some(0.13), ..HostShares::default() };
    let details = headline(&curve_on(stolen, Some(closed_within("p99<=5ms")))).details.join(" ");
    for text in [
        "The processor was taken away in 88 % of the slots of arrivals.",
        "Measuring for about 180 s (--duration) would leave enough of the others.",
        "closed loads, whose waiting is limited by their depth; a single slot at this depth",
    ] {
        assert!(details.contains(text), "{text}: {details}");
    }
}

#[test]
fn closed_loads_with_a_longer_limit_name_the_missed_objective() {
    let stolen = HostShares { stolen: Some(0.13), ..HostShares::default() };
    let longer = ClosedLine { is_deepest: true, is_disturbed: true, delayed: 0.124, ..closed_within("p99<=20ms") };
    let page = headline(&curve_on(stolen, Some(longer)));
    let expected = "Closed loads: with 64 in flight at least 68,100 IOPS keep p99 <= 20 ms, and none p99 <= 5 ms";
    assert_eq!(page.text, expected);
    let expected = "in which the processor was taken away, too, and 12 % of the operations were late only because of that and \
                     do not count";
    assert!(page.details[0].contains(expected), "{:?}", page.details);
    let without = headline(&curve_on(stolen, None));
    let expected = "Load line: none at p99 <= 5 ms: arrivals at a rate cannot be judged while the hypervisor takes 13 % of the \
                    processor time (in 88 % of the slots; about 180 s of measuring would leave enough)";
    assert_eq!(without.text, expected);
}

#[test]
fn ranges_of_undisturbed_slots_stay_answers() {
    let objective = "p99<=5ms".parse().unwrap();
    let range = |low, left_out| {
        let why = NoLine::Scatter { low, high: 61_000.0, seconds: 90.0 };
        let basis = Some(LineBasis { slots: 20, left_out, ..LineBasis::default() });
        let line = LoadLine::Refused { objective, why };
        let closed_line = Some(closed_within("p99<=5ms"));
        let page = headline(&Curve { load_line: Some(line), closed_line, basis, ..support::build_curve() });
        page.cautions.into_iter().fold(page.text, |text, caution| format!("{text}; {caution}"))
    };
    assert!(range(12_000.0, 0).starts_with("Load line: between 12,000 and 61,000 IOPS"), "{}", range(12_000.0, 0));
    let both = "Closed loads: with 64 in flight 68,100 IOPS keep p99 <= 5 ms; of arrivals at a rate: between 12,000";
    assert!(range(12_000.0, 3).starts_with(both), "{}", range(12_000.0, 3));
    assert!(range(0.0, 0).contains("of arrivals at a rate: below 61,000 IOPS"), "{}", range(0.0, 0));
}

#[test]
fn slots_without_the_processor_and_limits_are_findings() {
    let check = |finding: Finding, expected: &str| assert_eq!(words::finding(&finding), expected);
    check(
        Finding::SlotsLeftOut { left_out: 11, of: 29 },
        "the processor was taken away in 38 % of the slots (11 of 29), which do not count; the scatter of the others is the \
         storage's own",
    );
    let file = "/sys/fs/cgroup/db/cpu.max".to_owned();
    check(
        Finding::ProcessorLimited { file: file.clone(), processors: 0.6, stopped: Some(0.31) },
        "a control group limits this process to 0.60 processors (/sys/fs/cgroup/db/cpu.max), and stopped it for 31 % of the \
         time",
    );
    check(
        Finding::ProcessorLimited { file, processors: 1.0, stopped: None },
        "a control group limits this process to 1.00 processor (/sys/fs/cgroup/db/cpu.max)",
    );
}

/// Open loads that the storage carried.
fn carried(iops: f64) -> Curve {
    let mut curve = support::build_curve();
    curve.runs = curve.runs[8..10].to_vec();
    let objective = "p99<=1ms".parse().unwrap();
    curve.load_line = Some(LoadLine::Beyond { objective, iops: Estimate::bare(iops) });
    curve
}

fn write_headline(curves: &[Curve]) -> String {
    let page = support::page(&curves.iter().collect::<Vec<_>>()).headline.unwrap();
    std::iter::once(page.text).chain(page.details).collect::<Vec<_>>().join(" ")
}

#[test]
fn lower_bound_ranks_only_above_exact_load_lines() {
    let exact = |iops: f64| {
        let objective = "p99<=1ms".parse().unwrap();
        Curve { load_line: Some(LoadLine::At { objective, iops: Estimate::bare(iops) }), ..support::build_curve() }
    };
    let ranked = |curves: &[Curve]| write_headline(curves).contains("has the highest load line: ");
    assert!(ranked(&[exact(5e3), exact(9e3)]));
    assert!(
        ranked(&[exact(5e3), carried(9e3)])
            && write_headline(&[exact(5e3), carried(9e3)]).contains("line: at least 9,000")
    );
    for unknown in [[exact(9e3), carried(5e3)], [carried(5e3), carried(9e3)], [carried(9e3), carried(9e3)]] {
        let text = write_headline(&unknown);
        assert!(text.contains("is a lower bound") && text.contains("--rate") && !ranked(&unknown), "{text}");
    }
}

#[test]
fn lower_bound_passes_or_asks_for_higher_loads() {
    let judge = |condition: &str| {
        let gate: Gate = condition.parse().unwrap();
        words::gate_outcome(&gate, &gate.judge_curve(&carried(5e3)))
    };
    assert!(judge("line < 5k").starts_with("passed"), "{}", judge("line < 5k"));
    assert!(judge("line > 4k").starts_with("failed"), "{}", judge("line > 4k"));
    for condition in ["line < 6k", "line > 5k", "max < 900k", "max > 900k"] {
        let text = judge(condition);
        assert!(text.starts_with("undetermined") && text.contains("offer higher loads, with --rate"), "{text}");
    }
    assert!(judge("knee < 1k").contains("no knee: offer several loads"), "{}", judge("knee < 1k"));
}

#[test]
fn carried_loads_have_neither_maximum_nor_knee() {
    for loads in 1..3 {
        let mut curve = carried(5e3);
        curve.runs.truncate(loads);
        let text = write_headline(&[curve]);
        assert!(text.contains("so its maximum is not known") && !text.contains("Knee"), "{text}");
    }
    assert!(write_headline(&[support::build_curve()]).contains("Maximum throughput: "));
}
