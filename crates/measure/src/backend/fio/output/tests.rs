//! Reports of fio and the resulting counts. Does not run fio.

use super::*;

fn document(jobs: &str) -> Document {
    serde_json::from_str(&format!(r#"{{"jobs":[{jobs}]}}"#)).unwrap()
}

/// A job with reads in these bins, with a mean of 1,000 ns.
fn reads(name: &str, runtime_ms: u64, bins: &[(u64, u64)]) -> String {
    let count: u64 = bins.iter().map(|(_, number)| number).sum();
    let bins: Vec<String> = bins.iter().map(|(middle, number)| format!(r#""{middle}":{number}"#)).collect();
    format!(
        r#"{{"jobname":"{name}","job_runtime":{runtime_ms},"usr_cpu":10.0,"sys_cpu":20.0,"write":{{}},
        "read":{{"io_bytes":{},"total_ios":{count},"lat_ns":{{"N":{count},"mean":1000.0,"bins":{{{}}}}}}}}}"#,
        count * 4096,
        bins.join(",")
    )
}

#[test]
fn slices_are_differences_of_reports() {
    let before = document(&reads("0.0", 250, &[(900, 2), (1_100, 2)])).totals(&[false]);
    let after = document(&reads("0.0", 500, &[(900, 2), (1_100, 5), (70_144, 1)])).totals(&[false]);
    let tally = after.since(&before);
    assert_eq!((tally.operations(), tally.bytes()), (4, 4 * 4096));
    let response = tally.response();
    assert_eq!((response.sum_ns, response.min_ns, response.max_ns), (4_000, 1_100, 70_144));
    assert_eq!((after.runtime, before.runtime), (Span::from_millis(500), Span::from_millis(250)));
    assert_eq!(after.cpu, CpuTime { user: Span::from_millis(50), system: Span::from_millis(100) });
    assert_eq!(after.since(&after), Tally::default(), "no operations in between");
}

#[test]
fn bins_of_hosts_and_shares_are_added_and_percentiles_never_averaged() {
    // A fast host with many operations and a slow host with few: the p99 covers all of them.
    let quick = reads("0.0", 500, &[(1_008, 990)]);
    let slow = reads("0.1", 480, &[(1_007_616, 10)]);
    let json = format!(r#"{{"client_stats":[{quick},{slow},{}]}}"#, reads("All clients", 500, &[(5, 1_000)]));
    let all = serde_json::from_str::<Document>(&json).unwrap();
    assert_eq!(all.completed_operations(), 1_000);
    let totals = all.totals(&[false]);
    let tally = totals.since(&FioTotals::default());
    assert_eq!((tally.0.len(), tally.operations()), (1, 1_000));
    let near = |quantile: f64| tally.response().quantile(quantile).unwrap().as_nanos();
    assert_eq!((near(0.5), near(0.99)), (1_009, 1_009));
    assert!((1_000_000..1_015_000).contains(&near(0.999)), "{}", near(0.999));
    assert_eq!(totals.runtime, Span::from_millis(500));
}

#[test]
fn kinds_and_errors_are_counted() {
    let json = r#"{"jobname":"1.0","job_runtime":9,"total_err":3,"first_error":5,"read":{},
        "write":{"io_bytes":8192,"total_ios":2,"lat_ns":{"N":2,"mean":10.0,"bins":{"10":2}}},
        "sync":{"lat_ns":{"N":1,"mean":20.0,"bins":{"20":1}}}}"#;
    let tally = document(json).totals(&[false, true]).since(&FioTotals::default());
    let kinds: Vec<_> = tally.0.iter().map(|counter| (counter.stream, counter.kind, counter.operations())).collect();
    assert_eq!(kinds, [(1, Kind::DurableWrite, 2), (1, Kind::Flush, 1)]);
    assert_eq!(tally.0[0].errors, [(5, 3)]);
    assert_eq!(document(json).totals(&[false]), FioTotals::default(), "no such stream");
}
