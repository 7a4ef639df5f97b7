//! Watches in virtual time: forecasts against the model with single operations, and alerts.

use plimsoll_catalogue::{Catalogue, Counts, Date, Offer, PriceTerms, Scope};
use plimsoll_choose::Lift;
use plimsoll_choose::watch::{AlertKind, LoadFlow, LoadSample, WatchOptions, WatchPeriod, WatchState, Watcher};
use plimsoll_model::{Chain, Model};
use plimsoll_units::{Instant, Kind, Op, Slot, Span, splitmix64};

/// Interval of the samples.
const EVERY: Span = Span::from_secs(10);
/// 2026-11-27 00:00 UTC.
const MIDNIGHT: Instant = Instant::from_nanos(1_795_737_600_000_000_000);
const HOUR: Span = Span::from_secs(3_600);

fn terms() -> PriceTerms {
    PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None }
}

fn offer(config: &str) -> Offer {
    let config = config.parse().expect("a configuration");
    Catalogue::built_in().offer(&config, &terms()).expect("an offer")
}

fn watch(config: &str) -> Watcher {
    Watcher::new(Some(offer(config)), WatchOptions { lead: HOUR, credits: None })
}

fn sample(end: Instant, iops: f64, bytes: f64) -> LoadSample {
    let flow = |iops: f64, reads: f64| LoadFlow { iops, bytes, reads, sequential: bytes > 500_000.0 };
    let flows = if iops > 0.0 { vec![flow(iops * 0.75, 1.0), flow(iops * 0.25, 0.0)] } else { Vec::new() };
    LoadSample {
        end,
        length: EVERY,
        flows,
        has_bytes: true,
        latency_s: [None, None],
        sessions: None,
        connections: None,
    }
}

/// A factor around 1, up to `spread` away from it, for the n-th interval.
fn noise(n: u64, spread: f64) -> f64 {
    let uniform = (splitmix64(n.wrapping_mul(0x9e37_79b9)) >> 11) as f64 / (1_u64 << 53) as f64;
    1.0 + spread * (2.0 * uniform - 1.0)
}

/// Time after which single operations of these loads wait for more than a second in the limits of a configuration.
fn simulate_end(config: &str, loads: &[f64], bytes: u32) -> Span {
    let mut chain = Chain::new(&offer(config).limits().expect("limits"), 7);
    let (mut now, mut slot, mut answers) = (MIDNIGHT, 0, Vec::new());
    let mut submitted = vec![Instant::ZERO; 1 << 16];
    for (index, iops) in loads.iter().enumerate() {
        let count = (iops * EVERY.as_secs_f64()).round() as u64;
        for operation in 0..count {
            now = MIDNIGHT + EVERY * index as u64 + EVERY * operation / count;
            let kind = if operation % 4 == 3 { Kind::Write } else { Kind::Read };
            submitted[slot as usize] = now;
            let offset = (operation % 1_000) * u64::from(bytes);
            chain.submit(now, Slot(slot), &Op { offset, length: bytes, kind, stream: 0 });
            slot = (slot + 1) % (1 << 16);
            chain.drain(now, &mut answers);
            let is_late = |answer: &plimsoll_model::ModelAnswer| {
                answer.at.since(submitted[answer.slot.index()]) > Span::from_secs(1)
            };
            if answers.iter().any(is_late) {
                return now.since(MIDNIGHT);
            }
            answers.clear();
        }
    }
    panic!("{config}: the credits last until {now:?}");
}

/// Watches noisy loads of a mean, until the credits end in the simulation. Returns the forecast in a sentence.
fn check_forecast(config: &str, mean: f64, spread: f64, bytes: u32) -> String {
    let loads: Vec<f64> = (0..4 * 360).map(|n| mean * noise(n, spread)).collect();
    check_loads(config, &loads, bytes)
}

/// The same for the loads of successive intervals.
fn check_loads(config: &str, loads: &[f64], bytes: u32) -> String {
    let end = simulate_end(config, loads, bytes);
    let mut watcher = watch(config);
    let (mut hour_before, mut alert_at) = (None, None);
    for (n, iops) in (1..).zip(loads) {
        let at = EVERY * n;
        if at > end {
            break;
        }
        watcher.observe(sample(MIDNIGHT + at, *iops, f64::from(bytes)));
        let is_hour_before = end - at <= HOUR && hour_before.is_none();
        if is_hour_before || n % 6 == 0 {
            let state = watcher.state().expect("a state");
            if is_hour_before {
                hour_before = Some((end - at, state.credits[0].ends_in.expect("an end")));
            }
            let credits_end = state.firing.iter().find(|alert| alert.kind == AlertKind::CreditsEnd);
            alert_at = alert_at.or(credits_end.map(|alert| alert.since.since(MIDNIGHT)));
        }
    }
    let (left, forecast) = hour_before.expect("an hour before the end");
    let ratio = forecast.as_secs_f64() / left.as_secs_f64();
    assert!((ratio - 1.0).abs() < 0.1, "{config}: {ratio}");
    let alert_at = alert_at.unwrap_or_else(|| panic!("{config}: no alert before the end"));
    assert!(end - alert_at > Span::from_secs(900), "{config}: alert at {alert_at}, end at {end}");
    // The watch agrees with the simulation that the credits are used up.
    for (n, iops) in (1..).zip(loads).filter(|(n, _)| EVERY * *n > end) {
        watcher.observe(sample(MIDNIGHT + EVERY * n, *iops, f64::from(bytes)));
    }
    let state = watcher.state().expect("a state");
    assert!(state.firing.iter().any(|alert| alert.kind == AlertKind::CreditsUsedUp), "{config}: {:?}", state.firing);
    format!("{config}: credits end after {end}, alert after {alert_at}, forecast {left} before the end: {forecast}")
}

#[test]
fn end_of_credits_is_forecast_an_hour_ahead() {
    println!("{}", check_forecast("aws/gp2:500GiB", 2_200.0, 0.3, 16_384));
    println!("{}", check_forecast("aws/gp2:100GiB", 900.0, 0.5, 8_192));
    println!("{}", check_forecast("azure/premium-ssd:P20", 2_600.0, 0.2, 8_192));
}

#[test]
fn end_of_byte_credits_is_forecast_an_hour_ahead() {
    // 20 MiB/s for each 500 GiB, and credits of 500 GiB.
    println!("{}", check_forecast("aws/st1:500GiB", 90.0, 0.3, 1 << 20));
}

/// The present load alone would give an end that is 15 to 23 % too late.
#[test]
fn end_of_credits_is_forecast_under_a_load_that_rises() {
    for (config, from, to, spread) in [
        ("aws/gp2:500GiB", 600.0, 2_600.0, 0.3),
        ("aws/gp2:500GiB", 1_400.0, 2_300.0, 0.1),
        ("aws/gp2:100GiB", 250.0, 1_000.0, 0.5),
        ("azure/premium-ssd:P20", 2_000.0, 3_000.0, 0.2),
    ] {
        // Six hours, and as much of the following ones as the credits last.
        let rise = |n: u64| from + (to - from) * n as f64 / 2_160.0;
        let loads: Vec<f64> = (0..9 * 360).map(|n| rise(n) * noise(n, spread)).collect();
        println!("{}", check_loads(config, &loads, 8_192));
    }
}

/// The trend of the load in each minute.
fn find_trends(loads: impl Iterator<Item = f64>) -> Vec<Option<f64>> {
    let mut watcher = watch("aws/gp2:500GiB");
    let mut trends = Vec::new();
    for (n, iops) in (1_u64..).zip(loads) {
        watcher.observe(sample(MIDNIGHT + EVERY * n, iops, 8_192.0));
        if n % 6 == 0 {
            trends.push(watcher.state().expect("a state").credits[0].trend);
        }
    }
    trends
}

#[test]
fn noise_steps_and_bursts_are_no_trend() {
    let (noisy, step) = (|n: u64| 1_000.0 * noise(n, 0.3), |n: u64| if n < 1_080 { 300.0 } else { 1_200.0 });
    let bursts = |n: u64| if n % 360 < 12 { 2_900.0 } else { 700.0 * noise(n, 0.2) };
    for (name, load) in [("noise", &noisy as &dyn Fn(u64) -> f64), ("step", &step), ("bursts", &bursts)] {
        let trends = find_trends((0..8 * 360).map(load));
        let false_trends: Vec<f64> = trends.iter().flatten().copied().filter(|trend| trend.abs() > 0.05).collect();
        assert!(false_trends.len() * 50 < trends.len(), "{name}: {} of {}", false_trends.len(), trends.len());
    }
    let rises = find_trends((0..6 * 360).map(|n| (600.0 + n as f64 / 2.0) * noise(n, 0.3)));
    // 180 IOPS an hour, of 1,500.
    let last = rises.last().copied().flatten().expect("a trend");
    assert!((last - 0.12).abs() < 0.02, "{last}");
}

/// Idle time before a load is part of no present load.
#[test]
fn end_of_credits_is_forecast_soon_after_a_rise_of_the_load() {
    let (idle, minutes) = (2 * 360, 60);
    let loads = (0..idle).map(|_| 100.0).chain((0..minutes * 6).map(|n| 2_500.0 * noise(n, 0.1)));
    let mut watcher = watch("aws/gp2:500GiB");
    let end = 5_400_000.0 / (2_500.0 - 1_500.0);
    let mut worst = (0.0, 0.0);
    for (n, iops) in (1_u64..).zip(loads) {
        watcher.observe(sample(MIDNIGHT + EVERY * n, iops, 8_192.0));
        let after = (n as f64 - idle as f64) * 10.0;
        if after >= 120.0 {
            let state = watcher.state().expect("a state");
            let forecast = state.credits[0].ends_in.map_or(f64::INFINITY, Span::as_secs_f64);
            let error = forecast / (end - after) - 1.0;
            worst = if f64::abs(error) > f64::abs(worst.1) { (after, error) } else { worst };
        }
    }
    assert!(worst.1.abs() < 0.2, "{:.0} s after the rise: {:+.0} %", worst.0, worst.1 * 100.0);
}

/// Half an hour of credits at the full rate leaves no time for an alert an hour ahead.
#[test]
fn full_burst_raises_the_alert_with_a_quarter_of_its_time_left() {
    let mut watcher = watch("azure/premium-ssd:P20");
    let mut alerts = Vec::new();
    for n in 1..=200 {
        watcher.observe(sample(MIDNIGHT + EVERY * n, 3_500.0, 8_192.0));
        alerts.extend(watcher.state().expect("a state").firing.into_iter().map(|alert| (alert.kind, n)));
    }
    let first = |kind| alerts.iter().find(|(own, _)| *own == kind).map(|(_, n)| EVERY * *n);
    let (ends, used_up) = (first(AlertKind::CreditsEnd), first(AlertKind::CreditsUsedUp));
    let (ends, used_up) = (ends.expect("an alert before the end"), used_up.expect("an alert at the end"));
    assert!((1_750.0..1_800.0).contains(&used_up.as_secs_f64()), "{used_up}");
    assert!(used_up - ends > Span::from_secs(450), "{ends} and {used_up}");
    // The forecast is no alert any more.
    assert!(!alerts.contains(&(AlertKind::CreditsEnd, 200)), "{alerts:?}");
}

#[test]
fn quiet_hours_raise_no_alert() {
    for config in ["aws/gp2:500GiB", "aws/gp3:500GiB,iops=12000 on aws/m5.xlarge", "azure/premium-ssd:P20"] {
        let lasting = offer(config).standing(&watch_ask()).binding().expect("a limit").iops;
        let mut watcher = watch(config);
        for n in 1..=20 * 360 {
            // A load that follows the hours, and each hour two minutes of a burst.
            let hours = (n % 720) as f64 / 720.0;
            let burst = if n % 360 < 12 { 1.3 } else { 0.0 };
            let share = (0.3 + 0.3 * hours).max(burst) * noise(n, 0.2);
            watcher.observe(sample(MIDNIGHT + EVERY * n, lasting * share, 8_192.0));
            if n % 60 == 0 {
                let state = watcher.state().expect("a state");
                assert!(state.firing.is_empty() && state.cleared.is_empty(), "{config} at {n}: {state:?}");
            }
        }
        assert_eq!(watcher.state().expect("a state").observed, HOUR * 20);
    }
}

fn watch_ask() -> plimsoll_catalogue::Ask {
    plimsoll_catalogue::Ask { block: plimsoll_units::Bytes::new(8_192), reads: 0.75, sequential: false }
}

/// The state after ten minutes of a load.
fn after_ten_minutes(config: &str, iops: f64, bytes: f64) -> (Watcher, WatchState) {
    let mut watcher = watch(config);
    for n in 1..=60 {
        watcher.observe(sample(MIDNIGHT + EVERY * n, iops, bytes));
    }
    let state = watcher.state().expect("a state");
    (watcher, state)
}

#[test]
fn limit_of_the_machine_binds_before_that_of_the_volume() {
    let (watcher, state) = after_ten_minutes("aws/gp3:500GiB,iops=12000 on aws/m5.large", 3_000.0, 8_192.0);
    let place = |index: usize| {
        let limit = watcher.limits()[state.limits[index].limit];
        offer("aws/gp3:500GiB,iops=12000 on aws/m5.large").ceilings[limit.ceiling].scope
    };
    assert_eq!(place(0), Scope::Machine, "{:?}", state.limits);
    assert!(state.limits.iter().any(|of| {
        let limit = watcher.limits()[of.limit];
        limit.rate == Some(12_000.0) && (of.mean - 0.25).abs() < 1e-9
    }));
}

#[test]
fn sustained_load_near_a_limit_raises_an_alert_until_it_ends() {
    let mut watcher = watch("aws/gp3:500GiB");
    let load = |n: u64| if (60..180).contains(&n) { 2_900.0 } else { 1_000.0 };
    for n in 1..=360 {
        watcher.observe(sample(MIDNIGHT + EVERY * n, load(n), 8_192.0));
    }
    let state = watcher.state().expect("a state");
    assert_eq!((state.firing.len(), state.cleared.len()), (0, 1), "{state:?}");
    let alert = state.cleared[0];
    assert_eq!(alert.kind, AlertKind::NearLimit);
    let minutes = |at: Instant| at.since(MIDNIGHT).as_secs_f64() / 60.0;
    assert!((15.0..22.0).contains(&minutes(alert.since)), "{}", minutes(alert.since));
    assert!((30.0..40.0).contains(&minutes(alert.until.expect("cleared"))));
    let lift = find_lift(&watcher, WatchPeriod::Recording).expect("a lift");
    assert!(lift.option == "iops" && lift.iops > 3_000.0, "{lift:?}");
}

fn find_lift(watcher: &Watcher, period: WatchPeriod) -> Option<Lift> {
    let deciding = watcher.state()?.deciding_limit(period)?;
    watcher.next_step(deciding.limit(), period, &Catalogue::built_in(), &terms()).lift
}

/// An hour at the limit of operations, then minutes of large reads at the limit of bytes.
#[test]
fn next_step_lifts_the_limit_of_the_headline() {
    let mut watcher = watch("aws/gp3:500GiB");
    for n in 1..=400 {
        let (iops, bytes) = if n <= 360 { (2_990.0, 8_192.0) } else { (118.0, 1_048_576.0) };
        watcher.observe(sample(MIDNIGHT + EVERY * n, iops, bytes));
    }
    let recording = find_lift(&watcher, WatchPeriod::Recording).expect("a lift");
    assert_eq!(recording.option, "iops", "{recording:?}");
    let present = find_lift(&watcher, WatchPeriod::Present).expect("a lift");
    assert_eq!(present.option, "throughput", "{present:?}");
    // No option of the volume lifts a limit of the machine.
    for (config, bytes) in [("aws/gp3:500GiB,iops=12000 on aws/m5.large", 8_192.0), ("aws/gp3:500GiB", 8_192.0)] {
        let (watcher, _) = after_ten_minutes(config, 3_550.0, bytes);
        let has_lift = find_lift(&watcher, WatchPeriod::Present).is_some();
        assert_eq!(has_lift, !config.contains(" on "), "{config}");
    }
}

/// Credits of the volume are used up while those of the machine last: the step raises the volume.
#[test]
fn next_step_lifts_a_limit_above_those_whose_credits_last() {
    let config = "aws/gp2:2000GiB on aws/m5.large";
    let limits = offer(config);
    let watcher = Watcher::new(Some(limits.clone()), WatchOptions { lead: HOUR, credits: None });
    let rate = |scope| {
        let ceilings = limits.ceilings.iter().filter(|ceiling| ceiling.scope == scope && ceiling.iops.is_some());
        ceilings.filter_map(|ceiling| ceiling.iops).min_by(f64::total_cmp).expect("a limit")
    };
    assert!(rate(Scope::Machine) < rate(Scope::Volume), "the machine binds first in the long run");
    let is_of_volume = |limit: &usize| {
        let limit = watcher.limits()[*limit];
        limits.ceilings[limit.ceiling].scope == Scope::Volume && limit.rate == Some(rate(Scope::Volume))
    };
    let limit = (0..watcher.limits().len()).find(is_of_volume).expect("a limit of the volume");
    let mut watcher = watcher;
    watcher.observe(sample(MIDNIGHT, rate(Scope::Volume), 8_192.0));
    let step = watcher.next_step(limit, WatchPeriod::Present, &Catalogue::built_in(), &terms());
    let lift = step.lift.expect("a lift");
    assert_eq!(lift.option, "size", "{lift:?}");
}

#[test]
fn source_without_throughput_has_no_limits_of_bytes() {
    let mut watcher = watch("aws/gp3:500GiB");
    let unsized_load = LoadSample { has_bytes: false, ..sample(MIDNIGHT + EVERY, 1_000.0, 8_192.0) };
    watcher.observe(unsized_load.clone());
    let state = watcher.state().expect("a state");
    assert!(state.limits.iter().all(|of| watcher.limits()[of.limit].counts == Counts::Operations));
    assert_eq!(unsized_load.bytes_per_second(), None);
    let (watcher, state) = after_ten_minutes("aws/gp3:500GiB", 1_000.0, 8_192.0);
    assert!(state.limits.iter().any(|of| watcher.limits()[of.limit].counts == Counts::Bytes));
}

/// Credits of 5.4 million, refilled at 999 a second under a constant load.
#[test]
fn last_seconds_of_credits_are_forecast_with_their_refill() {
    for (iops, share) in [(1_200.0, 0.001), (2_000.0, 0.01), (2_500.0, 0.01)] {
        let options = WatchOptions { lead: HOUR, credits: Some(share) };
        let mut watcher = Watcher::new(Some(offer("aws/gp2:333GiB")), options);
        for n in 1..=2 {
            watcher.observe(sample(MIDNIGHT + EVERY * n, iops, 8_192.0));
        }
        let balance = watcher.state().expect("a state").credits[0];
        let expected = 5_400_000.0 * balance.shares[0] / (iops - 999.0);
        let forecast = balance.ends_in.expect("an end").as_secs_f64();
        assert!((forecast - expected).abs() < 1.0, "{iops} IOPS: {forecast} s, expected {expected} s");
    }
}

#[test]
fn bounds_of_credits_meet_and_part_in_a_gap() {
    let mut watcher = watch("aws/gp2:500GiB");
    let mut at = MIDNIGHT;
    let mut run = |watcher: &mut Watcher, hours: u64, iops: f64| {
        for _ in 0..hours * 360 {
            at += EVERY;
            watcher.observe(sample(at, iops, 8_192.0));
        }
        watcher.state().expect("a state").credits[0].shares
    };
    let [low, high] = run(&mut watcher, 1, 2_000.0);
    assert!(low < 0.01 && (0.6..0.7).contains(&high), "{low} {high}");
    // Empty credits are full after an hour at no load: 5.4 million at 1,500 a second.
    let [low, high] = run(&mut watcher, 2, 0.0);
    assert!(low > 0.99 && high > 0.99, "{low} {high}");
    let after = |minutes: u64| {
        let mut later = watcher.clone();
        later.observe(sample(MIDNIGHT + HOUR * 3 + Span::from_secs(60) * minutes, 1_500.0, 8_192.0));
        later.state().expect("a state").credits[0].shares
    };
    // At most 3,000 a second were spent in a gap, and 1,500 earned.
    let [low, high] = after(10);
    assert!((low - (1.0 - 1_500.0 * 590.0 / 5_400_000.0)).abs() < 0.01 && high > 0.99, "{low} {high}");
    let [low, high] = after(120);
    assert!(low < 0.01 && high > 0.99, "{low} {high}");
}

#[test]
fn former_days_forecast_the_peak() {
    let mut watcher = watch("aws/gp3:500GiB");
    let hour_of = |at: Instant| at.as_nanos() / 3_600_000_000_000 % 24;
    let mut at = MIDNIGHT;
    // Until nine o'clock of the third day.
    while at < MIDNIGHT + HOUR * (48 + 9) {
        at += EVERY;
        let iops = if hour_of(at - EVERY) == 14 { 2_400.0 } else { 600.0 };
        watcher.observe(sample(at, iops, 8_192.0));
        if at == MIDNIGHT + HOUR * 20 {
            assert_eq!(watcher.state().expect("a state").day, None);
        }
    }
    let day = watcher.state().expect("a state").day.expect("two former days");
    let (_, used, peak_at) = day.peak.expect("a peak");
    assert_eq!((day.days, hour_of(peak_at)), (2, 14));
    assert!((used - 0.8).abs() < 0.02, "{used}");
}

/// A third day that rises above the former ones: the peak of the afternoon is forecast with the difference.
#[test]
fn trend_of_the_difference_to_former_days_is_forecast() {
    let mut watcher = watch("aws/gp3:500GiB");
    let day = |at: Instant| 1_000.0 + 600.0 * f64::sin(at.as_nanos() as f64 / 8.64e13 * core::f64::consts::TAU);
    let mut at = MIDNIGHT;
    while at < MIDNIGHT + HOUR * (48 + 6) {
        at += EVERY;
        let excess = if at > MIDNIGHT + HOUR * 48 { at.since(MIDNIGHT + HOUR * 48).as_secs_f64() / 36.0 } else { 0.0 };
        watcher.observe(sample(at, day(at) + excess, 8_192.0));
    }
    let forecast = watcher.state().expect("a state").day.expect("two former days");
    let (_, used, peak_at) = forecast.peak.expect("a peak");
    // At noon: 1,000 IOPS of the former days and 1,200 more; at the present time 1,600 and 600.
    let expected = (0..36).map(|bin| {
        let at = MIDNIGHT + HOUR * 54 + Span::from_secs(600) * bin;
        day(at) + at.since(MIDNIGHT + HOUR * 48).as_secs_f64() / 36.0
    });
    let expected = expected.fold(0.0, f64::max) / 3_000.0;
    assert!((used - expected).abs() < 0.03, "{used}, expected {expected}, at {peak_at:?}");
}

#[test]
fn lines_of_the_history_are_exact_and_checked() {
    let load = LoadSample {
        latency_s: [Some(0.000_812_5), None],
        connections: Some([12.0, 100.0]),
        ..sample(MIDNIGHT, 1_234.567, 8_192.25)
    };
    let line = load.to_line();
    let line = line.trim_end();
    assert_eq!(LoadSample::from_line(line), Some(load));
    let idle = sample(MIDNIGHT, 0.0, 8_192.0);
    assert_eq!(LoadSample::from_line(idle.to_line().trim_end()), Some(idle));
    for end in 0..line.len() {
        assert_eq!(LoadSample::from_line(&line[..end]), None, "{end}");
    }
    for index in 0..line.len() {
        let mut damaged = line.as_bytes().to_vec();
        damaged[index] ^= 1;
        assert_eq!(String::from_utf8(damaged).ok().as_deref().and_then(LoadSample::from_line), None, "{index}");
    }
}
