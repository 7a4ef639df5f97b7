//! Output read back by plimsoll's parsers of fio's formats: the same figures.

use plimsoll_fio::print::Detail;
use plimsoll_fio::print::{
    DirectionResult, FioReport, Heading, HistogramLog, JobReport, LatencyHistogram, LogColumns, LogKind, LogSample,
    LogWriter, OutputForm, SampleStatistics, TerseVersion, TransferDirection, format_report, heading, log_name,
    version,
};
use plimsoll_ingest::{FormatInput, Ingest, Outcome, Reading, ReadingEvidence};
use plimsoll_record::{Bins, Recorder};
use plimsoll_units::Span;

/// Latencies of a direction in nanoseconds: from 100 us on, 7 ns apart, with a few stalls.
fn latencies(count: u64) -> Bins {
    let mut recorder = Recorder::new();
    for i in 0..count {
        let stall_ns = if i % 1_000 == 999 { 3_000_000 } else { 0 };
        recorder.record(Span::from_nanos(100_000 + i * 7 + stall_ns));
    }
    recorder.take()
}

fn lane(operations: u64, block: u64) -> DirectionResult {
    let rate = SampleStatistics { least: 90, max: 110, mean: operations as f64 / 10.0, deviation: 1.0, count: 20 };
    DirectionResult {
        bytes: operations * block,
        operations,
        runtime_ms: 10_000,
        completion: latencies(operations).into(),
        total: latencies(operations).into(),
        rate,
        bandwidth: SampleStatistics { mean: rate.mean * block as f64 / 1_024.0, ..rate },
        ..DirectionResult::default()
    }
}

fn build_report() -> FioReport {
    let options = [("rw", "randrw"), ("bs", "8k"), ("ioengine", "libaio"), ("iodepth", "4"), ("filename", "/dev/vdb")];
    let job = JobReport {
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        read: lane(14_000, 8_192),
        write: lane(6_000, 8_192),
        sync: LatencyHistogram::from(latencies(100)),
        runtime_ms: 10_000,
        ..JobReport::new("mix")
    };
    let created = "Sat Nov 21 19:18:18 2026".to_owned();
    FioReport { version: version("0.1.0"), created, jobs: vec![job], ..FioReport::default() }
}

fn begun() -> String {
    let job = Heading {
        name: "mix".to_owned(),
        rw: "randrw".to_owned(),
        blocks: [(8_192, 8_192); 3],
        engine: "libaio".to_owned(),
        depth: 4,
        members: 1,
        ..Heading::default()
    };
    heading(&[job], &version("0.1.0"))
}

fn ingest_text(name: &str, bytes: &[u8]) -> Reading {
    let mut ingest = Ingest::new(FormatInput::from(name));
    ingest.feed(bytes);
    match ingest.finish().remove(0) {
        Outcome::Read(reading) => *reading,
        Outcome::Refused { refusal, .. } => panic!("{name}: {refusal}"),
    }
}

#[track_caller]
fn near(found: Option<f64>, expected: f64, tolerance: f64) {
    let found = found.expect("a figure");
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} {expected}");
}

/// Asserts that a format has the reads' rate, latency and median, to its rounding.
#[track_caller]
fn check(text: &str, kind: &str, tolerance: f64) -> Vec<ReadingEvidence> {
    let reading = ingest_text("", text.as_bytes());
    assert_eq!(reading.kind.id, kind);
    assert!(reading.cautions.is_empty(), "{:?}", reading.cautions);
    assert_eq!(reading.version.as_deref(), Some("fio-3.42-plimsoll-0.1.0"));
    let reads = reading.evidence.iter().find(|evidence| evidence.test.contains("its reads")).expect("reads are told");
    let truth = latencies(14_000);
    near(reads.iops, 1_400.0, tolerance);
    near(reads.bytes_s, 1_400.0 * 8_192.0, tolerance);
    near(reads.mean_s, truth.mean().unwrap().as_secs_f64(), tolerance);
    near(reads.lasted_s, 10.0, 1e-9);
    let median = reads.quantiles.iter().find(|(quantile, _)| (quantile - 0.5).abs() < 1e-9).map(|(_, value)| *value);
    near(median, truth.quantile(0.5).unwrap().as_secs_f64(), 0.01);
    reading.evidence
}

#[test]
fn every_format_is_parsed_back() {
    let report = build_report();
    let of = |form| format_report(&report, &[form]);
    let from_json = check(&of(OutputForm::Json(Detail::Percentiles)), "fio-json", 1e-5);
    check(&of(OutputForm::Json(Detail::Buckets)), "fio-json", 1e-5);
    let setting = &from_json[0].setting;
    assert_eq!((setting.block_bytes, setting.depth, setting.sequential), (Some(8_192.0), Some(4.0), Some(false)));
    for version in [TerseVersion::V3, TerseVersion::V4, TerseVersion::V5] {
        check(&of(OutputForm::Terse(version)), "fio-terse", 1e-4);
    }
    let from_text = check(&(begun() + &of(OutputForm::Normal)), "fio-text", 0.01);
    let setting = &from_text[0].setting;
    assert_eq!((setting.block_bytes, setting.depth, setting.sequential), (Some(8_192.0), Some(4.0), Some(false)));
}

fn observe(i: u64) -> LogSample {
    LogSample {
        at: Span::from_micros(i * 1_000),
        latency: Span::from_micros(400),
        direction: TransferDirection::Read,
        length: 8_192,
        offset: i * 8_192,
        priority: 0,
        issued: Span::from_micros(i * 1_000),
    }
}

/// Overall figure of a log.
fn logged(log: LogKind, columns: LogColumns) -> ReadingEvidence {
    let mut writer = LogWriter::new(Vec::new(), log, columns);
    for i in 0..5_000 {
        writer.add(&observe(i)).unwrap();
    }
    let bytes = writer.finish(Span::from_secs(5)).unwrap();
    ingest_text(&log_name("a", log, Some(1)), &bytes).evidence.remove(0)
}

#[test]
fn logs_are_parsed_back() {
    let columns = LogColumns { window: Some(Span::from_secs(1)), offset: true, ..LogColumns::default() };
    near(logged(LogKind::Bandwidth, columns).bytes_s, 1_000.0 * 8_192.0, 1e-3);
    near(logged(LogKind::Operations, columns).iops, 1_000.0, 1e-3);
    for log in [LogKind::Completion, LogKind::Total] {
        near(logged(log, columns).mean_s, 400e-6, 1e-6);
        near(logged(log, LogColumns { priority: true, window: None, ..columns }).mean_s, 400e-6, 1e-6);
    }
}

#[test]
fn histogram_logs_are_parsed_back() {
    let mut log = HistogramLog::new(Vec::new(), Span::from_secs(1), 2, 0, [8_192; 3]);
    for i in 0..5_000 {
        let LogSample { at, direction, latency, .. } = observe(i);
        log.add(at, direction, latency).unwrap();
    }
    let bytes = log.finish(Span::from_secs(5)).unwrap();
    let evidence = ingest_text(&log_name("a", LogKind::Histogram, Some(1)), &bytes).evidence;
    let overall = evidence.iter().find(|evidence| evidence.at_s.is_none()).expect("the whole is told");
    near(overall.mean_s, 400e-6, 0.04);
    near(overall.iops, 1_000.0, 0.01);
}
