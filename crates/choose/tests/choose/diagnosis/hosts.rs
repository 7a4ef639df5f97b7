//! Verdicts from the load of a host's processors and devices, and contradictions in it.

use plimsoll_choose::diagnosis::{
    CensorCause, DiagnoseOptions, DiagnosisVerdict, HostLimit, SaturationBasis, diagnose,
};
use plimsoll_ingest::{
    Class, DatabaseDemand, HostLoad, InputPosition, InstanceResource, Measure, MeasureSeries, Resource,
};
use plimsoll_units::Span;

use super::{check, disk, ids, near};

/// A disk with these minutes (IOPS, seconds), busy share, and load of its host.
fn on_host(minutes: &[(f64, f64)], devices: f64, host: Option<(f64, Option<f64>, f64)>) -> DatabaseDemand {
    let mut demand = disk(minutes, 1.0);
    let values = vec![Some(devices); minutes.len()];
    let series = MeasureSeries { class: Class::All, measure: Measure::Busy, values, ..demand.series[0].clone() };
    demand.series.push(series);
    if let Some((busy, io_wait, processors)) = host {
        demand.host = Some(HostLoad { busy, io_wait, paged_bytes_s: None, place: InputPosition::default() });
        demand.resources.push(InstanceResource {
            instance: String::new(),
            resource: Resource::HostProcessors,
            value: processors,
            window: Span::from_secs(60),
            place: InputPosition::default(),
        });
    }
    demand
}

#[test]
fn load_of_a_host_determines_its_limit_without_waits() {
    let limit = |latency_s: f64, devices: f64, busy: f64, io_wait: f64| {
        let demand = on_host(&[(30.0, latency_s); 4], devices, Some((busy, Some(io_wait), 2.0)));
        match check(&demand).verdicts[0].clone() {
            DiagnosisVerdict::Host { limit, evidence } => {
                near(evidence.devices_busy.expect("a busy share"), devices, 1e-9);
                Some(limit)
            }
            DiagnosisVerdict::NoSessionTimes { host, .. } => {
                assert!(host.is_some(), "the load is part of the answer");
                None
            }
            other => panic!("{other:?}"),
        }
    };
    let table = [
        ((0.000_2, 0.009, 0.85, 0.0), Some(HostLimit::Processors)),
        ((0.000_2, 0.03, 0.2, 0.01), Some(HostLimit::Neither)),
        // An operation takes 32 ms, or 0.9 ms of many.
        ((0.032, 0.98, 0.3, 0.4), Some(HostLimit::Storage)),
        // Full processors have no idle time to wait in: busy devices decide nothing.
        ((0.032, 0.8, 0.95, 0.0), None),
        // The I/O wait is not that of the devices.
        ((0.000_2, 0.05, 0.85, 0.2), Some(HostLimit::Processors)),
    ];
    for ((latency_s, devices, busy, io_wait), expected) in table {
        assert_eq!(limit(latency_s, devices, busy, io_wait), expected, "{latency_s} {devices} {busy} {io_wait}");
    }
}

/// Forty per cent of four processors in I/O wait need 1.6 waiting tasks, but 0.8 operations are in flight, which are fast.
#[test]
fn io_wait_beyond_the_operations_in_flight_is_a_contradiction() {
    let verdicts = |processors: f64, io_wait: f64, latency_s: f64| {
        let rate = 0.8 / latency_s;
        let found = check(&on_host(&[(rate, latency_s); 4], 0.75, Some((0.2, Some(io_wait), processors))));
        let limit = found.verdicts.iter().find_map(|verdict| match verdict {
            DiagnosisVerdict::Host { limit, .. } => Some(*limit),
            _ => None,
        });
        (limit, ids(&found).contains(&"io-wait-without-io"))
    };
    let (fast, slow) = (0.000_271, 0.02);
    assert_eq!(verdicts(4.0, 0.4, fast), (Some(HostLimit::FastStorage), true));
    assert_eq!(verdicts(2.0, 0.4, fast), (Some(HostLimit::FastStorage), false));
    assert_eq!(verdicts(2.0, 0.4, slow), (Some(HostLimit::Storage), false));
    assert_eq!(verdicts(4.0, 0.4, slow), (Some(HostLimit::Storage), true));
    assert_eq!(verdicts(32.0, 0.4, fast), (Some(HostLimit::Neither), true));
    assert!(!verdicts(4.0, 0.01, fast).1);
}

#[test]
fn busy_time_beyond_the_operations_in_flight_is_a_contradiction() {
    let has = |in_flight: f64, devices: f64| {
        let demand = on_host(&[(1_000.0, in_flight / 1_000.0); 4], devices, Some((0.2, Some(0.0), 4.0)));
        ids(&check(&demand)).contains(&"busy-without-io")
    };
    assert!(has(0.05, 0.6) && has(0.3, 0.9));
    assert!(!has(0.05, 0.1) && !has(0.5, 0.6) && !has(4.0, 1.0));
}

#[test]
fn a_free_device_is_not_at_its_limit() {
    let is_free = |minutes: &[(f64, f64)], devices: f64| {
        let found = check(&on_host(minutes, devices, None));
        assert_eq!(ids(&found).contains(&"devices-free"), found.unlimited_devices().is_some());
        found.unlimited_devices().is_some()
    };
    assert!(is_free(&[(3.0, 0.000_5); 8], 0.004));
    assert!(is_free(&[(300.0, 0.001); 8], 0.3));
    assert!(!is_free(&[(300.0, 0.01); 8], 0.95), "busy");
    // A single busy window.
    let mut demand = on_host(&[(300.0, 0.003); 8], 0.2, None);
    demand.series.iter_mut().rfind(|series| series.measure == Measure::Busy).expect("it has one").values[3] = Some(0.9);
    assert!(check(&demand).unlimited_devices().is_none());
    // A window of unknown use.
    let mut demand = on_host(&[(300.0, 0.003); 8], 0.2, None);
    for series in &mut demand.series {
        if matches!(series.measure, Measure::Busy | Measure::Depth) {
            series.values[3] = None;
        }
    }
    assert!(check(&demand).unlimited_devices().is_none(), "unknown is not free");
}

#[test]
fn equal_rates_have_no_quiet_and_busy_windows() {
    let response = |rate: fn(usize) -> f64| {
        let minutes: Vec<(f64, f64)> = (0..40).map(|at| (rate(at), 0.001 + 0.000_1 * (at % 5) as f64)).collect();
        let found = check(&disk(&minutes, 1.0));
        let reads = found.responses.iter().find(|response| response.class == Class::Read).expect("reads").clone();
        [reads.quiet_s.is_some(), reads.loaded_s.is_some(), reads.correlation.is_some()]
    };
    assert_eq!(response(|_| 2_000.0), [false; 3]);
    assert_eq!(response(|at| 2_000.0 + (at % 7) as f64 * 10.0), [false; 3]);
    assert_eq!(response(|at| 500.0 + at as f64 * 50.0), [true; 3]);
}

/// A constant queue at a constant rate: of a usual limit, a limit is possible even if operations are fast.
#[test]
fn a_constant_queue_at_a_usual_limit_may_be_due_to_it() {
    let basis = |iops: f64, depth: f64, devices: f64, spread: f64| {
        let minute = |at: usize| {
            let rate = iops * (1.0 + spread * ((at % 3) as f64 - 1.0));
            (rate, depth / rate)
        };
        let minutes: Vec<(f64, f64)> = (0..30).map(minute).collect();
        let found = diagnose(&on_host(&minutes, devices, None), &DiagnoseOptions::default());
        match found.censored.map(|censored| (censored.is_lower_bound(), censored.cause)) {
            Some((is_bound, CensorCause::Saturated { basis, .. })) => {
                assert!(is_bound);
                Some(basis)
            }
            Some(other) => panic!("{other:?}"),
            None => None,
        }
    };
    let usual = Some(SaturationBasis::UsualLimit);
    let table = [
        ((3_000.0, 1.6, 1.0, 0.001), usual),
        ((16_000.0, 8.0, 1.0, 0.001), usual),
        ((64_000.0, 32.0, 0.99, 0.0), usual),
        // 100 MB/s of operations of 8 KiB.
        ((12_207.03, 8.0, 1.0, 0.001), usual),
        ((31_250.0, 8.0, 1.0, 0.001), None),
        // Slow operations in a long queue are those of a limit at any rate.
        ((3_456.0, 40.0, 1.0, 0.001), Some(SaturationBasis::Queue)),
        // No round rate, no queue, a free device, and a rate that varies.
        ((3_456.0, 1.6, 1.0, 0.001), None),
        ((3_000.0, 0.9, 1.0, 0.001), None),
        ((3_000.0, 1.6, 0.6, 0.001), None),
        ((3_000.0, 1.6, 1.0, 0.04), None),
    ];
    for ((iops, depth, devices, spread), expected) in table {
        assert_eq!(basis(iops, depth, devices, spread), expected, "{iops} {depth} {devices} {spread}");
    }
}
