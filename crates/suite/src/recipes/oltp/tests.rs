//! Loads, layouts and checks of short transactions, without a database.

use plimsoll_database::Value;
use plimsoll_record::{Counting, Slice};
use plimsoll_units::{Instant, Kind, Op};

use super::*;
use crate::recipes::databases::{facts, words};
use crate::result::StepResult;
use crate::sql::StatementsResult;

fn build_oltp(options: OltpOptions) -> Oltp {
    Oltp::new(options, &facts(System::Postgres)).expect("options that fit")
}

/// A system with eight servers of 10 ms per transaction, for the duration of the step.
fn eight_at_once(step: &SessionsStep) -> SessionsResult {
    let (sessions, rate) = match step.pace {
        Pace::Closed { depth } => (f64::from(depth), f64::from(depth.min(8)) / 0.010),
        Pace::Open { rate, .. } => (rate.as_f64() * 0.010, rate.as_f64().min(800.0)),
    };
    let response = Span::from_secs_f64((sessions / rate).max(0.010));
    let slice = Span::from_millis(100);
    let span = step.warm_up + step.max;
    let count = (span.as_secs_f64() / slice.as_secs_f64()) as u64;
    let mut counting = Counting::new();
    let series: Vec<Slice> = (0..count)
        .map(|index| {
            for _ in 0..(rate * slice.as_secs_f64()).round() as u64 {
                counting.done(&Op { offset: 0, length: 0, kind: Kind::Write, stream: 0 }, response, response);
            }
            Slice { start: Instant::ZERO + slice * index, span: slice, tally: counting.take() }
        })
        .collect();
    SessionsResult { series, window: (Span::ZERO, span), ..SessionsResult::default() }
}

/// Executes all steps; queries return the rows of a consistent database.
fn create(oltp: &mut Oltp, check: &[i64]) -> Vec<CompletedStep> {
    let facts = facts(System::Postgres);
    let mut done = Vec::new();
    while let Some(step) = oltp.next(&done, &facts) {
        let row = |figures: Vec<i64>| figures.into_iter().map(Value::Int).collect::<Row>();
        let expected = oltp.tables.expected.iter().map(|count| count.cast_signed()).collect();
        let rows = match step.name.as_str() {
            LOADED => vec![row(expected)],
            CHECKED => vec![row(check.to_vec())],
            _ => Vec::new(),
        };
        let observed = match &step.work {
            Work::Sessions(sessions) => StepResult::Sessions(Box::new(eight_at_once(sessions))),
            _ => StepResult::Statements(Box::new(StatementsResult { rows, ..StatementsResult::default() })),
        };
        done.push(CompletedStep { step, result: observed });
    }
    done
}

fn paces(done: &[CompletedStep]) -> Vec<Pace> {
    let pace =
        |done: &CompletedStep| if let Work::Sessions(sessions) = &done.step.work { Some(sessions.pace) } else { None };
    done.iter().filter_map(pace).collect()
}

#[test]
fn clients_rise_to_saturation_and_tables_are_checked_last() {
    let mut oltp = build_oltp(OltpOptions::defaults());
    let done = create(&mut oltp, &[5, 5, 5, 5, 0]);
    let depths: Vec<u32> =
        paces(&done).iter().map(|pace| if let Pace::Closed { depth } = pace { *depth } else { 0 }).collect();
    let (rising, closer) = depths.split_at(6);
    assert_eq!(rising, [1, 2, 4, 8, 16, 32], "two steps without gain, and no open load");
    assert!(closer.iter().all(|depth| (9..32).contains(depth) && *depth != 16), "around the load line: {closer:?}");
    assert_eq!(done.last().map(|done| done.step.name.as_str()), Some(CHECKED));
    let facts = facts(System::Postgres);
    assert!(!oltp.has_failed(&done));
    let sentences = words(&oltp.verdicts(&done, &facts));
    assert!(sentences[0].starts_with("The most was 800 transactions a second"), "{sentences:#?}");
    assert!(sentences[1].starts_with("The knee is at 8 sessions: 800 transactions a second"), "{sentences:#?}");
    assert!(sentences[2].starts_with("Load line: 800 transactions/s (800 to 800) keep p99 <= "), "{sentences:#?}");
    let listings = oltp.listings(&done, &facts);
    assert!(listings[0].text.contains("transaction type: tpc-b\nscaling factor: 10\n"), "{}", listings[0].text);
    // Several loads had the maximum throughput; each client waits for all of them.
    let figure = |name: &str| {
        let (_, rest) = listings[0].text.split_once(name).expect("it is listed");
        rest.split_whitespace().next().and_then(|figure| figure.parse::<f64>().ok()).expect("a number")
    };
    let (clients, latency_ms) = (figure("number of clients: "), figure("latency average = "));
    assert!((figure("tps = ") - 800.0).abs() < 0.5 && clients >= 8.0, "{}", listings[0].text);
    assert!((latency_ms / (clients / 0.8) - 1.0).abs() < 0.01, "{}", listings[0].text);
    assert_eq!(listings[1].text.lines().count(), 1 + depths.len() + 1, "{}", listings[1].text);
}

#[test]
fn open_loads_follow_closed_loads() {
    let mut oltp = build_oltp(OltpOptions { open: true, ..OltpOptions::defaults() });
    let done = create(&mut oltp, &[0, 0, 0, 0, 0]);
    let open: Vec<f64> = paces(&done)
        .iter()
        .filter_map(|pace| if let Pace::Open { rate, .. } = pace { Some(rate.as_f64()) } else { None })
        .collect();
    assert!(open.len() >= 2 && open[0] < 800.0, "{open:?}");
    assert!(oltp.database_result(&done, &facts(System::Postgres)).load_line.is_some());
}

#[test]
fn listed_loads_run_in_order() {
    let mut closed = build_oltp(OltpOptions { clients: Some(vec![4, 1]), ..OltpOptions::defaults() });
    assert_eq!(paces(&create(&mut closed, &[0; 5])), [Pace::Closed { depth: 4 }, Pace::Closed { depth: 1 }]);
    let rates = vec![Iops::per_second(50), Iops::per_second(20)];
    let mut open =
        build_oltp(OltpOptions { rates: Some(rates), measure: Some(Span::from_secs(2)), ..OltpOptions::defaults() });
    let done = create(&mut open, &[0; 5]);
    let steps: Vec<&SessionsStep> = done
        .iter()
        .filter_map(|done| if let Work::Sessions(sessions) = &done.step.work { Some(sessions) } else { None })
        .collect();
    assert_eq!(steps.iter().map(|step| step.max).collect::<Vec<_>>(), [Span::from_secs(2); 2]);
    assert!(matches!(steps[0].pace, Pace::Open { rate, .. } if rate == Iops::per_second(50)));
    assert_eq!(steps[0].sessions, 64, "nothing is known of what it can do");
}

#[test]
fn inconsistent_data_fail_the_suite() {
    let check = |row: &[i64], failed: bool| {
        let mut oltp = build_oltp(OltpOptions { clients: Some(vec![1]), ..OltpOptions::defaults() });
        let done = create(&mut oltp, row);
        assert_eq!(oltp.has_failed(&done), failed, "{row:?}");
        let sentences = words(&oltp.verdicts(&done, &facts(System::Postgres)));
        assert_eq!(
            sentences.iter().any(|sentences| sentences.starts_with("INCONSISTENT DATA")),
            failed,
            "{sentences:?}"
        );
    };
    check(&[7, 7, 7, 7, 0], false);
    check(&[7, 7, 6, 7, 0], true);
    check(&[8, 7, 7, 7, 0], true);
    check(&[7, 7, 7, 7, 1], true);
}

#[test]
fn wrongly_loaded_tables_end_the_suite() {
    let mut oltp = build_oltp(OltpOptions::defaults());
    let facts = facts(System::Postgres);
    let mut done: Vec<CompletedStep> = Vec::new();
    while let Some(step) = oltp.next(&done, &facts) {
        let rows = vec![[10, 100, 999_999, 0].map(Value::Int).to_vec()];
        done.push(CompletedStep {
            step,
            result: StepResult::Statements(Box::new(StatementsResult { rows, ..StatementsResult::default() })),
        });
    }
    assert_eq!(done.last().map(|done| done.step.name.as_str()), Some(LOADED));
    assert!(oltp.has_failed(&done));
    let sentences = words(&oltp.verdicts(&done, &facts));
    assert!(sentences[0].contains("accounts has 999999 rows instead of 1000000"), "{sentences:?}");
}

#[test]
fn invalid_options_are_refused() {
    let refused = |change: fn(&mut OltpOptions)| {
        let mut options = OltpOptions::defaults();
        change(&mut options);
        Oltp::new(options, &facts(System::Postgres)).is_err()
    };
    assert!(refused(|options| options.scale = Some(0)) && refused(|options| options.scale = Some(20_001)));
    assert!(refused(|options| options.clients = Some(vec![0])));
    assert!(refused(|options| options.clients = Some(vec![65])));
    assert!(refused(|options| options.rates = Some(vec![])));
    assert!(refused(|options| options.duration = Span::ZERO) && refused(|options| options.max_sessions = 0));
    assert!(!refused(|_| {}));
    assert!(Oltp::new(OltpOptions::defaults(), &facts(System::Oracle)).is_err());
}

#[test]
fn deviation_matches_counts() {
    let times =
        plimsoll_record::Bins::counted([(Span::from_millis(10), 500), (Span::from_millis(30), 500)], 20_000_000_000);
    let deviation = print::deviation(&times).as_millis_f64();
    assert!((deviation - 10.0).abs() < 0.2, "{deviation}");
}
