//! Properties of all reports.

use plimsoll_fio::print::{
    Detail, DirectionResult, FioReport, HistogramLog, JobReport, LogColumns, LogKind, LogSample, LogWriter, OutputForm,
    SampleStatistics, TerseVersion, TransferDirection, Unified, format_report, json, nonempty_buckets, terse,
};
use plimsoll_record::{Bins, Recorder};
use plimsoll_units::Span;
use proptest::prelude::*;
use serde_json::Value;

fn bins(latencies_ns: &[u64]) -> Bins {
    let mut recorder = Recorder::new();
    for ns in latencies_ns {
        recorder.record(Span::from_nanos(*ns));
    }
    recorder.take()
}

fn generate_latencies() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![0_u64..300, 0_u64..10_000_000, Just(0), 0..u64::MAX], 0..40)
}

prop_compose! {
    fn lane()(latencies in generate_latencies(), bytes in 0_u64..1 << 50, runtime_ms in 0_u64..1 << 32, rates in prop::collection::vec(0.0..1e9, 0..5))
        -> DirectionResult {
        let operations = latencies.len() as u64;
        let completion = bins(&latencies);
        let samples = SampleStatistics::of(&rates);
        DirectionResult {
            bytes,
            operations,
            runtime_ms,
            completion: completion.clone().into(),
            total: completion.into(),
            bandwidth: samples,
            rate: samples,
            ..DirectionResult::default()
        }
    }
}

prop_compose! {
    fn job()(name in "[a-z\"\\\\\t;]{0,8}", group in 0_u32..3, read in lane(), write in lane(), kind in 0..3, description in prop::option::of(".{0,9}"))
        -> JobReport {
        let unified = [Unified::Apart, Unified::Mixed, Unified::Both][kind as usize];
        let sync = write.completion.clone();
        JobReport { group, read, write, sync, unified, description, ..JobReport::new(&name) }
    }
}

fn generate_report() -> impl Strategy<Value = FioReport> {
    prop::collection::vec(job(), 0..4).prop_map(|jobs| FioReport { jobs, ..FioReport::default() })
}

fn parsed(report: &FioReport) -> Value {
    serde_json::from_str(&json(report, Detail::Buckets)).expect("it is JSON")
}

proptest! {
    #[test]
    fn any_report_prints_in_all_formats(report in generate_report()) {
        let terse = [TerseVersion::V2, TerseVersion::V3, TerseVersion::V4, TerseVersion::V5].map(OutputForm::Terse);
        let forms = [terse.to_vec(), vec![OutputForm::Normal, OutputForm::Json(Detail::Buckets)]].concat();
        prop_assert!(format_report(&report, &forms).ends_with('\n'));
        let document = parsed(&report);
        prop_assert_eq!(document["jobs"].as_array().unwrap().len(), report.jobs.len());
        for (job, printed) in report.jobs.iter().zip(document["jobs"].as_array().unwrap()) {
            prop_assert_eq!(printed["jobname"].as_str(), Some(job.name.as_str()));
            if job.unified == Unified::Mixed {
                prop_assert_eq!(printed["mixed"]["io_bytes"].as_u64(), Some(job.read.bytes + job.write.bytes));
            } else {
                prop_assert_eq!(printed["read"]["clat_ns"]["N"].as_u64(), Some(job.read.operations));
            }
        }
    }

    #[test]
    fn buckets_keep_every_latency(latencies in generate_latencies()) {
        let found = nonempty_buckets(&bins(&latencies));
        prop_assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), latencies.len() as u64);
        prop_assert!(found.windows(2).all(|two| two[0].0 < two[1].0));
    }

    #[test]
    fn terse_lines_have_a_fixed_number_of_fields(job in job()) {
        let job = JobReport { name: "j".to_owned(), description: None, unified: Unified::Apart, ..job };
        let report = FioReport { jobs: vec![job], ..FioReport::default() };
        // Number of fields in fio's lines.
        for (version, fields) in [(TerseVersion::V3, 121), (TerseVersion::V5, 180)] {
            let line = terse(&report, version);
            prop_assert_eq!((line.lines().count(), line.matches(';').count() + 1), (1, fields), "{}", line);
        }
    }

    #[test]
    fn group_sums_its_jobs(report in generate_report()) {
        let of = |report: &FioReport| {
            let jobs = report.jobs.iter();
            let sum = |count: fn(&JobReport) -> u64| jobs.clone().map(count).sum::<u64>();
            (sum(|job| job.read.bytes), sum(|job| job.write.completion.count()), sum(|job| u64::from(job.members)))
        };
        let grouped = report.clone().grouped();
        prop_assert_eq!(of(&grouped), of(&report));
        let mut groups: Vec<u32> = grouped.jobs.iter().map(|job| job.group).collect();
        groups.sort_unstable();
        groups.dedup();
        prop_assert_eq!(groups.len(), grouped.jobs.len());
    }

    #[test]
    fn windows_of_logs_count_every_operation_once(gaps_us in prop::collection::vec(0_u64..900_000, 1..60), window_ms in 1_u64..700) {
        let window = Span::from_millis(window_ms);
        let columns = LogColumns { window: Some(window), ..LogColumns::default() };
        let mut logs = [LogKind::Operations, LogKind::Total].map(|log| LogWriter::new(Vec::new(), log, columns));
        let mut histograms = HistogramLog::new(Vec::new(), window, 3, 0, [4_096; 3]);
        let mut at_us = 0;
        for gap_us in &gaps_us {
            at_us += gap_us;
            let at = Span::from_micros(at_us);
            let (latency, direction) = (Span::from_micros(*gap_us), TransferDirection::Write);
            let observed = LogSample { at, latency, direction, length: 1, offset: 0, priority: 0, issued: at };
            for log in &mut logs {
                log.add(&observed).unwrap();
            }
            histograms.add(at, direction, latency).unwrap();
        }
        let end = Span::from_micros(at_us);
        let rows = |bytes: Vec<u8>| -> Vec<Vec<u64>> {
            let text = String::from_utf8(bytes).unwrap();
            text.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect()).collect()
        };
        let histograms = rows(histograms.finish(end).unwrap());
        let counted: u64 = histograms.iter().flat_map(|row| &row[3..]).sum();
        prop_assert_eq!(counted, gaps_us.len() as u64);
        let [rates, latencies] = logs.map(|log| rows(log.finish(end).unwrap()));
        prop_assert_eq!(latencies.len(), histograms.len());
        // The rate of half a window is twice its count, rounded.
        let counts = histograms.iter().map(|row| row[3..].iter().sum::<u64>());
        let max = 2.0 * 1_000.0 / window_ms as f64;
        prop_assert!(rates.iter().zip(counts).all(|(rate, count)| rate[1] as f64 <= count as f64 * max + 1.0), "{:?}", rates);
        prop_assert!(rates.len() == histograms.len() || rates.len() + 1 == histograms.len());
    }
}
