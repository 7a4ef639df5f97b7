//! Evidence of processors: time in no counter, and waits on the host.

use super::*;

fn on_host(host_busy: f64, io_wait: f64, processes: f64, hard_parse_s: f64) -> Vec<&'static str> {
    let mut spent = build_account(&[(0, 1_000_000.0, 3_000.0)], 7_000.0, 0.0);
    let sum = &mut spent.total;
    sum.seconds = sum.database_s / 10.0;
    (sum.processors, sum.host_busy) = (Some(8.0), Some(host_busy));
    let processors_in_io_wait = Some(io_wait * 8.0);
    sum.host = HostWaiting {
        io_wait: Some(io_wait),
        processors_in_io_wait,
        processes: Some(processes),
        ..HostWaiting::default()
    };
    sum.counters.hard_parse_s = Some(hard_parse_s);
    ids(&check(&DatabaseDemand { account: Some(spent), ..disk(&[(300.0, 0.001)], 1.0) }))
}

#[test]
fn waiting_on_the_host_is_evidence() {
    assert_eq!(on_host(0.6, 0.01, 9.0, 0.0)[..2], ["processors-full", "storage-in-part"]);
    let free = on_host(0.2, 0.01, 9.0, 0.0);
    assert!(!free.contains(&"processors-full") && !free.contains(&"host-io-wait"), "{free:?}");
    assert!(on_host(0.2, 0.2, 0.0, 0.0).contains(&"host-io-wait"));
    assert!(on_host(0.2, 0.0, 0.0, 2_000.0).contains(&"hard-parses"));
    assert!(on_host(0.2, 0.0, 0.0, 860.0).contains(&"hard-parses"), "a share of 8.6 %");
    assert!(!free.contains(&"hard-parses"));
}

#[test]
fn time_in_no_counter_is_a_queue_beside_idle_processors_if_processes_wait() {
    let on = |processes: f64, paged_bytes_s: Option<[f64; 2]>| {
        let mut spent = build_account(&[(0, 1_000_000.0, 300.0)], 6_700.0, 3_000.0);
        spent.total.seconds = 1_000.0;
        (spent.total.processors, spent.total.host_busy) = (Some(64.0), Some(0.15));
        spent.total.host = HostWaiting { processes: Some(processes), paged_bytes_s, ..HostWaiting::default() };
        check(&DatabaseDemand { account: Some(spent), ..disk(&[(300.0, 0.001)], 1.0) })
    };
    let queue = |found: &Diagnosis| {
        found.verdicts.iter().find_map(|verdict| match verdict {
            DiagnosisVerdict::ProcessorQueue { queue_s, paged_bytes, .. } => Some((*queue_s, *paged_bytes)),
            _ => None,
        })
    };
    let paged = Some([500e3, 600e3]);
    assert_eq!(queue(&on(1.5, paged)), Some((Some([3_000.0, 1_500.0]), Some([500e6, 600e6]))));
    assert!(!ids(&on(1.5, paged)).contains(&"host-pages"), "it is in the same sentence");
    let free = on(0.1, paged);
    assert_eq!(queue(&free), None);
    assert!(ids(&free).contains(&"unsaid") && ids(&free).contains(&"host-pages"), "{:?}", ids(&free));
    for harmless in [None, Some([0.0, 600e3]), Some([50e3, 60e3]), Some([90e6, 1e6])] {
        assert!(!ids(&on(0.1, harmless)).contains(&"host-pages"), "{harmless:?}");
    }
}

#[test]
fn idle_time_of_processors_is_compared_with_waits_in_seconds() {
    // 300 of 10,000 s of sessions are 300 s of reads; the processors are idle with I/O in flight for 0.05 * 8 * 1,000 s.
    let mut spent = build_account(&[(0, 100_000.0, 300.0)], 9_700.0, 0.0);
    spent.total.seconds = 1_000.0;
    spent.total.host = HostWaiting { io_wait: Some(0.05), processors_in_io_wait: Some(0.4), ..HostWaiting::default() };
    let write = spent.total.waits[0].clone();
    let cause = WaitCause::Storage(Class::DataWrite);
    spent.total.waits.push(EventTime {
        event: "db file parallel write".into(),
        cause,
        foreground: false,
        total_s: 150.0,
        ..write
    });
    let found = check(&DatabaseDemand { account: Some(spent), ..disk(&[(300.0, 0.001)], 1.0) });
    let io_wait = found.verdicts.iter().find(|verdict| verdict.id() == "host-io-wait").expect("a share of 5 %");
    let DiagnosisVerdict::HostIoWait { idle_s, waited_s, .. } = io_wait else { panic!("{io_wait:?}") };
    near(*idle_s, 400.0, 1e-9);
    near(waited_s[0], 300.0, 1e-9);
    near(waited_s[1], 150.4, 1e-9);
}
