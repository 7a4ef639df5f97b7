//! A load written in every dialect of traces yields equal demand; any other input yields an outcome.

#[path = "traces/binary.rs"]
mod binary;
#[path = "traces/text.rs"]
mod text;

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_ingest::{
    Class, Fate, Figure, Measure, Outcome, OutcomeSummary, Reading, Requests, Statistic, TraceFault, TraceRequest,
};
use plimsoll_record::Action;
use proptest::prelude::*;

/// An operation of the load.
#[derive(Clone, Copy)]
pub struct Op {
    /// Counted from 0.
    pub number: u64,
    /// Milliseconds since the first.
    pub at_ms: u64,
    pub is_read: bool,
    /// Bytes, a multiple of a sector.
    pub offset: u64,
}

/// Bytes of each operation.
pub const LENGTH: u64 = 8192;
/// Latency of each operation in milliseconds.
pub const TOOK_MS: u64 = 2;
/// Number of operations.
const COUNT: u64 = 40;

pub fn join_lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// Ten operations per second for four seconds: a write, then two sequential reads, repeatedly.
pub fn load() -> Vec<Op> {
    let offset = |number: u64| ((number / 3) << 24) + if number % 3 == 2 { LENGTH } else { 0 };
    (0..COUNT)
        .map(|number| Op { number, at_ms: number * 100, is_read: number % 3 != 0, offset: offset(number) })
        .collect()
}

/// Content of a dialect besides times, kinds and offsets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Latency,
    NoLatency,
    /// Whole seconds only.
    Seconds,
    /// Neither kinds nor offsets.
    Objects,
    /// Page numbers only.
    Pages,
}

/// The load in every dialect.
fn dialects() -> Vec<(&'static str, Content, Vec<u8>)> {
    let text = |id, content, line: &dyn Fn(&Op) -> String, head: &str| {
        let lines: String = load().iter().map(|op| line(op) + "\n").collect();
        (id, content, (head.to_owned() + &lines).into_bytes())
    };
    let mut all = vec![
        text("trace-plimsoll", Content::NoLatency, &text::own, "#plimsoll.trace/1\ntime_ns,kind,offset,length\n"),
        text("trace-blkparse", Content::Latency, &text::blkparse, ""),
        text("trace-blkparse", Content::Latency, &text::blkparse_formatted, ""),
        text(
            "trace-fio-iolog",
            Content::NoLatency,
            &text::iolog3,
            "fio version 3 iolog\n0 /dev/x add\n1 /dev/x open\n",
        ),
        text("trace-fio-iolog", Content::NoLatency, &text::iolog2, "fio version 2 iolog\n/dev/x add\n/dev/x open\n"),
        text("trace-msr", Content::Latency, &text::msr, ""),
        text("trace-systor17", Content::Latency, &text::systor, "Timestamp,Response,IOType,LUN,Offset,Size\n"),
        text("trace-spc", Content::NoLatency, &text::spc, ""),
        text("trace-alibaba", Content::NoLatency, &text::alibaba, ""),
        text("trace-alibaba", Content::NoLatency, &text::alibaba, "device_id,opcode,offset,length,timestamp\n"),
        text("trace-tencent", Content::Seconds, &text::tencent, ""),
        text("trace-fiu", Content::NoLatency, &text::fiu, ""),
        text("trace-cloudphysics", Content::NoLatency, &text::cloudphysics, "version,time,op,size,lbn\n"),
        text("trace-cydonia", Content::NoLatency, &text::cydonia, ""),
        text("trace-disksim", Content::NoLatency, &text::disksim, ""),
        text("trace-disksim", Content::NoLatency, &text::ssdsim, ""),
        text("trace-objects", Content::Objects, &text::objects, "# time, object, size, next_access_vtime\n"),
        text("trace-pages", Content::Pages, &text::pages, ""),
        ("trace-oracle-general", Content::Objects, binary::oracle(&load())),
        ("trace-vscsi", Content::NoLatency, binary::vscsi1(&load())),
        ("trace-vscsi", Content::Latency, binary::vscsi2(&load())),
    ];
    for order in [binary::Bytes::Little, binary::Bytes::Big] {
        for version in [7, 8] {
            all.push(("trace-blktrace", Content::Latency, binary::blktrace(&load(), order, version)));
        }
    }
    all
}

pub fn read_outcome(bytes: &[u8], step: usize) -> Outcome {
    crate::read::outcome("trace", bytes, step)
}

fn read_reading(bytes: &[u8]) -> Reading {
    match read_outcome(bytes, 4_096) {
        Outcome::Read(reading) => *reading,
        Outcome::Refused { refusal, .. } => panic!("{refusal}"),
    }
}

fn figures(reading: &Reading, class: Class, measure: Measure) -> impl Iterator<Item = &Figure> {
    let is =
        move |figure: &&Figure| (figure.class, figure.measure, figure.statistic) == (class, measure, Statistic::Mean);
    reading.figures.iter().filter(is)
}

/// Sum of rates times window lengths of the first scope, which is the whole if there are several volumes.
pub fn total(reading: &Reading, class: Class, measure: Measure) -> f64 {
    let seconds = |figure: &Figure| reading.windows[figure.window as usize].length.as_secs_f64();
    let entire = figures(reading, class, measure).filter(|figure| figure.scope == 0);
    entire.map(|figure| figure.value * seconds(figure)).sum()
}

pub fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-6 * expected.abs().max(1.0)
}

fn check(id: &str, content: Content, bytes: &[u8]) {
    let reading = read_reading(bytes);
    assert_eq!(
        (reading.kind.id, read_outcome(bytes, 999).verdict()),
        (id, OutcomeSummary::Read),
        "{:?}",
        reading.cautions
    );
    let reads = load().iter().filter(|op| op.is_read).count() as f64;
    let all = [
        (Class::All, Measure::Iops, COUNT as f64),
        (Class::All, Measure::Throughput, (COUNT * LENGTH) as f64),
        (Class::Read, Measure::Iops, reads),
        (Class::SequentialRead, Measure::Iops, reads / 2.0),
        (Class::RandomRead, Measure::Throughput, reads / 2.0 * LENGTH as f64),
        (Class::Write, Measure::Iops, COUNT as f64 - reads),
    ];
    let counted = match content {
        Content::Pages => 0,
        Content::Objects => 2,
        _ => all.len(),
    };
    for (class, measure, expected) in &all[..counted] {
        let found = total(&reading, *class, *measure);
        assert!(near(found, *expected), "{id}: {class:?} {measure:?}: {found} of {expected}");
    }
    let latencies: Vec<f64> = figures(&reading, Class::Read, Measure::Latency).map(|figure| figure.value).collect();
    assert_eq!(!latencies.is_empty(), content == Content::Latency, "{id}");
    assert!(latencies.iter().all(|latency| near(*latency, TOOK_MS as f64 / 1e3)), "{id}: {latencies:?}");
    // Little's law (1961) in each window.
    for depth in figures(&reading, Class::All, Measure::Depth) {
        let iops = figures(&reading, Class::All, Measure::Iops).find(|other| other.window == depth.window);
        assert!(iops.is_some_and(|iops| near(depth.value, iops.value * TOOK_MS as f64 / 1e3)), "{id}");
    }
    let set = match content {
        Content::Pages => COUNT * 4096,
        Content::Objects => COUNT * LENGTH,
        // Each write has the offset of the read after it.
        _ => load().iter().filter(|op| op.is_read).count() as u64 * LENGTH + LENGTH,
    };
    assert!(near(reading.curves[0].working_set_bytes, set as f64), "{id}: {:?}", reading.curves);
}

#[test]
fn every_dialect_yields_equal_demand() {
    for (id, content, bytes) in dialects() {
        check(id, content, &bytes);
    }
}

#[test]
fn outcomes_are_independent_of_piece_sizes() {
    for (id, _, bytes) in dialects() {
        let entire = read_outcome(&bytes, bytes.len());
        for step in [1, 7, 64, 1_000] {
            assert_eq!(read_outcome(&bytes, step), entire, "{id}, step {step}");
        }
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes all")
}

fn read_requests(bytes: &[u8]) -> Result<Vec<TraceRequest>, TraceFault> {
    Requests::new(Cursor::new(bytes.to_vec()))?.collect()
}

#[test]
fn every_dialect_with_offsets_is_replayed() {
    for (id, content, bytes) in dialects() {
        let outcome = read_requests(&packed(&bytes));
        if matches!(content, Content::Objects | Content::Pages) {
            let fault = outcome.expect_err("it is refused");
            assert!(fault.to_string().contains("cannot be replayed"), "{id}: {fault}");
            continue;
        }
        let requests = outcome.expect("it is there");
        assert_eq!(requests.len(), COUNT as usize, "{id}");
        for (request, op) in requests.iter().zip(load()) {
            let ms = if content == Content::Seconds { op.at_ms / 1_000 * 1_000 } else { op.at_ms };
            assert_eq!(request.requested.at.as_nanos(), ms * 1_000_000, "{id}");
            assert_eq!(
                (request.requested.offset, request.requested.length, request.volume),
                (op.offset, LENGTH, 0),
                "{id}"
            );
            assert_eq!(request.requested.action == Action::Read, op.is_read, "{id}");
        }
    }
}

#[test]
fn operations_before_a_cut_last_line_are_replayed() {
    let text = join_lines((1..100).map(|at| format!("{at},{},r,4096", at * 8)));
    let count = |text: &str| read_requests(text.as_bytes()).map(|requests| requests.len());
    assert_eq!(count(&text[..text.len() - 6]), Ok(98));
    let fault = count(&format!("{text}100,800\n")).expect_err("a broken line may hide more");
    assert_eq!(fault.line, Some(100));
}

#[test]
fn slightly_late_records_are_reordered_and_far_ones_refused() {
    let line = |at: u64| format!("{at},{},r,4096", at * 8);
    let mixed = join_lines([5, 3, 9, 7, 8].into_iter().map(line));
    let at: Vec<u64> = read_requests(mixed.as_bytes())
        .expect("it is there")
        .iter()
        .map(|request| request.requested.at.as_nanos())
        .collect();
    assert_eq!(at, [0, 2_000, 4_000, 5_000, 6_000]);
    let far = join_lines((10..10_000).chain([1]).map(line));
    let fault = read_requests(far.as_bytes()).expect_err("it is refused");
    assert!(fault.to_string().contains("time goes back") && fault.line == Some(9_991), "{fault:?}");
}

#[test]
fn files_of_processors_are_combined() {
    // Issued on a processor and completed on another: the files are concatenated.
    let both = binary::blktrace(&load(), binary::Bytes::Little, 7);
    let records: Vec<&[u8]> = binary::split_records(&both);
    let of = |stage: u8| records.iter().filter(move |record| record[28] == stage).copied();
    let issued: Vec<u8> = of(7).flatten().copied().collect();
    let completed: Vec<u8> = of(8).flatten().copied().collect();
    check("trace-blktrace", Content::Latency, &[issued.clone(), completed.clone()].concat());
    check("trace-blktrace", Content::Latency, &[completed.clone(), issued.clone()].concat());
    check("trace-blktrace", Content::NoLatency, &issued);
    let alone = read_reading(&completed);
    assert!(
        alone.cautions.iter().any(|caution| caution.doubt.to_string().contains("completions")),
        "{:?}",
        alone.cautions
    );
}

#[test]
fn a_flush_without_data_is_no_read() {
    let reading = read_reading(&binary::blktrace_flushes(50));
    let max = |class| figures(&reading, class, Measure::Iops).map(|figure| figure.value).fold(0.0, f64::max);
    assert!((max(Class::Flush) - 100.0).abs() < 5.0, "one each 10 ms: {}", max(Class::Flush));
    assert_eq!((max(Class::Read), max(Class::Write)), (0.0, 0.0));
}

#[test]
fn a_working_set_without_times_covers_the_whole_trace() {
    let pages = join_lines((0..10).flat_map(|_| 0..50).map(|page: u64| page.to_string()));
    let reading = read_reading(pages.as_bytes());
    assert_eq!((reading.figures.len(), reading.curves.len()), (0, 1));
    let curve = &reading.curves[0];
    assert_eq!((curve.ratio(0.0), curve.ratio(49.0 * 4096.0)), (Some(1.0), Some(1.0)));
    assert_eq!((curve.ratio(1e9), curve.working_set_bytes as u64), (Some(0.1), 50 * 4096));
    assert!(reading.cautions[0].doubt.to_string().contains("no times"), "{:?}", reading.cautions);
}

#[test]
fn volumes_are_separate_and_add_up() {
    let line = |n: u64| format!("{},R,{},4096,{}", n % 4, n * 8192, 1_577_808_000_000_000 + n * 10_000);
    let text = join_lines((0..100).map(line));
    let reading = read_reading(text.as_bytes());
    let entire = |figure: &&Figure| reading.scopes[figure.scope as usize].part.is_empty();
    let in_all: Vec<&Figure> = figures(&reading, Class::All, Measure::Iops).collect();
    let seconds = |figure: &Figure| reading.windows[figure.window as usize].length.as_secs_f64();
    let sum = |parts: bool| in_all.iter().filter(|f| entire(f) != parts).map(|f| f.value * seconds(f)).sum::<f64>();
    assert!(near(sum(false), 100.0) && near(sum(true), 100.0), "{} {}", sum(false), sum(true));
    assert_eq!(in_all.iter().filter(|figure| !entire(figure)).count(), 4);
    assert_eq!(reading.windows[0].begin.map(|begin| begin.to_string()), Some("2019-12-31T16:00:00".to_owned()));
}

#[test]
fn broken_records_are_skipped_with_a_caution() {
    let mut text = String::from_utf8(dialects().remove(5).2).expect("it is there");
    text.insert_str(text.find('\n').expect("it is there") + 1, "1,2,3\n128166372003061629,h,0,Erase,0,1,2\n\n");
    let outcome = read_outcome(text.as_bytes(), 64);
    let reading = outcome.reading().expect("it is there");
    assert_eq!((outcome.verdict(), reading.parts[0].fate), (OutcomeSummary::Partly, Fate::Broken));
    let lines: Vec<u64> = reading.cautions.iter().filter_map(|caution| Some(caution.origin.as_ref()?.line)).collect();
    assert_eq!(lines, [2, 3]);
    assert!(near(total(reading, Class::All, Measure::Iops), COUNT as f64));
    let fault = read_requests(text.as_bytes()).expect_err("it is refused");
    assert_eq!(fault.line, Some(2), "{fault}");
}

#[test]
fn long_traces_have_long_windows_and_keep_their_peaks() {
    // One per second for six hours, with a second of a hundred.
    let seconds = (0..21_600_u64).flat_map(|second| (0..if second == 777 { 100_u64 } else { 1 }).map(move |_| second));
    let text = join_lines(seconds.map(|second| format!("0,8,512,r,{second}.0")));
    let reading = read_reading(text.as_bytes());
    assert!(reading.windows.len() < 10_000, "{}", reading.windows.len());
    assert!(near(total(&reading, Class::Read, Measure::Iops), 21_699.0));
    let max = reading
        .figures
        .iter()
        .filter(|figure| figure.statistic == Statistic::Maximum && figure.measure == Measure::Iops);
    assert_eq!(max.map(|figure| figure.value as u64).max(), Some(100));
}

proptest! {
    #[test]
    fn any_bytes_yield_an_outcome(bytes in prop::collection::vec(any::<u8>(), 0..400), which in 0_usize..25, at in 0_usize..4_000) {
        let all = dialects();
        let mut trace = all[which % all.len()].2.clone();
        let at = at % trace.len();
        trace.splice(at..(at + bytes.len() / 2).min(trace.len()), bytes);
        let entire = read_outcome(&trace, trace.len().max(1));
        prop_assert_eq!(&read_outcome(&trace, 61), &entire);
        let _ = read_requests(&trace);
    }

    #[test]
    fn a_truncated_trace_loses_only_its_end(which in 0_usize..25, share in 0.2_f64..1.0) {
        let all = dialects();
        let (id, content, bytes) = &all[which % all.len()];
        let cut = (bytes.len() as f64 * share) as usize;
        if let (Outcome::Read(reading), false) = (read_outcome(&bytes[..cut], 100), *content == Content::Pages) {
            let found = total(&reading, Class::All, Measure::Iops);
            prop_assert!(found <= COUNT as f64 + 1e-6 && found >= COUNT as f64 * share * 0.8 - 4.0, "{}: {} of {}", id, found, share);
        }
    }
}
