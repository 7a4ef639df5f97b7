//! Long series, whose quiet windows are joined: the design point is that of all samples.

use plimsoll_choose::sizing::{Design, derive_requirements};
use plimsoll_ingest::{Builder, Demand, Ingest, Outcome, Reading};
use plimsoll_units::{Bytes, Span};

const SAMPLES: u32 = 90_000;

/// Samples of a second in the format of iostat, with reads of 8 KiB only.
fn report(rates: &[f64]) -> String {
    let mut text = String::from("Device r/s w/s rkB/s wkB/s r_await w_await\nsda 1 1 1 1 1 1\n");
    for (second, rate) in rates.iter().enumerate() {
        let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
        text += &format!(
            "\n2025-03-{day:02}T{hour:02}:{minute:02}:{:02}\nDevice r/s w/s rkB/s wkB/s r_await w_await\n\
             sda {rate:.2} 0.00 {:.2} 0.00 0.50 0.00\n",
            second % 60,
            rate * 8.0
        );
    }
    text + "\n"
}

/// Share of the operations that wait at a limit, counted to parts of a sample.
fn waiting(rates: &[f64], limit: f64) -> f64 {
    let (mut behind, mut late) = (0.0_f64, 0.0);
    for rate in rates {
        let slope = rate / limit - 1.0;
        let end = (behind + slope).max(0.0);
        late += rate * if end > 0.0 { 1.0 } else { (behind / -slope).clamp(0.0, 1.0) };
        behind = end;
    }
    late / rates.iter().sum::<f64>()
}

/// The lowest limit at which 1 % of the operations wait.
fn lowest(rates: &[f64]) -> f64 {
    let (mut low, mut high) = (0.0, rates.iter().copied().fold(0.0, f64::max));
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if waiting(rates, middle) <= 0.01 { high = middle } else { low = middle }
    }
    high
}

fn check(rate: impl Fn(u32, f64) -> f64) {
    let mut state = 11_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let rates: Vec<f64> = (0..SAMPLES).map(|second| (rate(second, noise()) * 100.0).round() / 100.0).collect();
    let mut ingest = Ingest::new("iostat");
    ingest.feed(report(&rates).as_bytes());
    let outcomes = ingest.finish();
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    assert!(!readings[0].joined.is_empty() && readings[0].figures.len() <= Builder::MAX_FINE);
    let subject = &Demand::of(&readings).subjects[0];
    let found = derive_requirements(subject, &Design::of(Bytes::gib(100))).unwrap();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    assert!((found.measured.highest_iops - highest).abs() < 1e-6, "{} {highest}", found.measured.highest_iops);
    let limit = lowest(&rates);
    assert!((found.measured.iops / limit - 1.0).abs() < 0.005, "{} {limit}", found.measured.iops);
    let mut sorted = rates.clone();
    sorted.sort_by(f64::total_cmp);
    for share in [0.5, 0.95] {
        let found =
            derive_requirements(subject, &Design { quantile: Some(share), ..Design::of(Bytes::gib(100)) }).unwrap();
        let expected = sorted[(share * rates.len() as f64).ceil() as usize - 1];
        assert!((found.measured.iops / expected - 1.0).abs() < 0.005, "{} {expected}", found.measured.iops);
    }
    assert_eq!((found.measured.windows, found.measured.longest), (SAMPLES as usize, Span::from_secs(1)));
    assert!(found.steps.is_empty(), "a second hides no peaks: {:?}", found.steps);
}

#[test]
fn short_peaks_among_quiet_samples_determine_the_design() {
    check(|second, noise| if second % 900 < 2 { 60_000.0 + 9_000.0 * noise } else { 400.0 + 800.0 * noise });
}

#[test]
fn a_plateau_longer_than_the_windows_that_stay_is_the_limit() {
    check(|second, noise| if second % 1_000 < 120 { 9_000.0 + 600.0 * noise } else { 200.0 + 300.0 * noise });
}

#[test]
fn the_backlog_of_a_burst_drains_at_the_rates_of_the_samples() {
    let drains = |second: u32, noise: f64| match second % 3_000 {
        0..4 => 30_000.0,
        4..400 => {
            if noise < 0.5 {
                2_000.0
            } else {
                7_000.0
            }
        }
        _ => 300.0 * noise,
    };
    check(drains);
}
