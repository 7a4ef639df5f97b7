//! The fidelity rules at their limits.

use super::*;

const MS: u64 = 1_000_000;

/// A second with `ops` evenly spaced answers of a model with this response time, with lateness by index.
fn second(ops: u64, response: Span, late: impl Fn(u64) -> Span) -> FidelityVerdict {
    let mut fidelity = Fidelity::new(Instant::ZERO);
    for index in 0..ops {
        let at = Instant::from_nanos(index * 1_000 * MS / ops);
        fidelity.in_flight(1);
        fidelity.answered(at, response, 4_096);
        fidelity.handed_out(at + late(index), late(index), 4_096);
    }
    fidelity.close(Instant::from_nanos(1_000 * MS));
    assert_eq!(fidelity.periods().len(), 1);
    let period = fidelity.periods().next().unwrap();
    assert_eq!(period.windows.iter().map(|window| window.model.ops).sum::<u64>(), ops);
    period.verdict
}

#[test]
fn punctual_answers_are_faithful() {
    assert_eq!(second(3_000, Span::from_micros(333), |_| Span::ZERO), FidelityVerdict::Faithful);
}

#[test]
fn median_lateness_is_limited_to_2_percent_or_15_us() {
    let late = |us| second(1_000, Span::from_micros(250), move |_| Span::from_micros(us));
    assert_eq!(late(14), FidelityVerdict::Faithful);
    assert_eq!(late(16), FidelityVerdict::Unfaithful(Breach::Median));
    let slow = |us| second(100, Span::from_millis(10), move |_| Span::from_micros(us));
    assert_eq!(slow(195), FidelityVerdict::Faithful);
    assert_eq!(slow(210), FidelityVerdict::Unfaithful(Breach::Median));
}

#[test]
fn tail_allows_one_percent_of_late_answers() {
    let some = |every: u64| {
        let late = move |index: u64| if index.is_multiple_of(every) { Span::from_millis(2) } else { Span::ZERO };
        second(1_000, Span::from_micros(250), late)
    };
    assert_eq!(some(200), FidelityVerdict::Faithful);
    assert_eq!(some(50), FidelityVerdict::Unfaithful(Breach::Tail));
}

#[test]
fn deviating_window_is_a_breach() {
    // 6 of 1,000 answers move from the third to the fourth window: 6 % of a window, 0.6 % of all answers.
    let late = |index: u64| if (294..300).contains(&index) { Span::from_millis(10) } else { Span::ZERO };
    assert_eq!(second(1_000, Span::from_micros(250), late), FidelityVerdict::Unfaithful(Breach::Flow));
    let fewer = |index: u64| if (296..300).contains(&index) { Span::from_millis(10) } else { Span::ZERO };
    assert_eq!(second(1_000, Span::from_micros(250), fewer), FidelityVerdict::Faithful);
}

#[test]
fn missing_load_is_a_breach() {
    // At depth 1, 3,800 times 14 us is 5.3 % of the second, which would have sufficed for 200 more operations.
    assert_eq!(
        second(3_800, Span::from_micros(250), |_| Span::from_micros(14)),
        FidelityVerdict::Unfaithful(Breach::Offered)
    );
    assert_eq!(second(3_400, Span::from_micros(250), |_| Span::from_micros(14)), FidelityVerdict::Faithful);
}

#[test]
fn idle_time_is_skipped() {
    let mut fidelity = Fidelity::new(Instant::ZERO);
    fidelity.answered(Instant::from_nanos(5), Span::from_nanos(5), 0);
    fidelity.handed_out(Instant::from_nanos(5), Span::ZERO, 0);
    let year = Instant::ZERO + Span::from_secs(365 * 24 * 3_600) + Span::from_millis(250);
    fidelity.close(year);
    fidelity.answered(year, Span::from_nanos(5), 0);
    fidelity.handed_out(year, Span::ZERO, 0);
    fidelity.close(year + Span::from_secs(1));
    assert_eq!(fidelity.counted(), (2, 0));
    let starts: Vec<u64> = fidelity.periods().map(|period| period.start.as_nanos() / MS).collect();
    assert_eq!(starts, [0, 365 * 24 * 3_600 * 1_000]);
    assert!(fidelity.periods().all(|period| period.windows.len() == WINDOWS as usize));
}
