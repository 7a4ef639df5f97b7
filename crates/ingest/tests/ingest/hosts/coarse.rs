//! Long inputs: adjacent samples are merged, and means remain correct.

use plimsoll_ingest::{Builder, Class, Demand, Measure, Outcome, Resource, Statistic};
use plimsoll_units::Span;

use super::{outcome, reading};

/// Samples of 10 s, alternating between 100 reads/s of 1 ms and 300 reads/s of 2 ms.
fn long(samples: u64) -> String {
    let mut text = String::from("Linux 6.1.0 (host1) \t03/24/2025 \t_x86_64_\t(16 CPU)\n");
    for number in 0..=samples {
        let second = 10 * number;
        let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
        let row = if number % 2 == 0 {
            "300.00    0.00  2400.00     0.00    2.00    0.00"
        } else {
            "100.00    0.00   800.00     0.00    1.00    0.00"
        };
        text += &format!(
            "\n2025-{:02}-{:02}T{hour:02}:{minute:02}:{:02}\nDevice   r/s     w/s    rkB/s    wkB/s r_await w_await\nsda   {row}\n",
            1 + day / 28,
            1 + day % 28,
            second % 60,
        );
    }
    text + "\n"
}

#[test]
fn merged_windows_keep_means_maxima_and_times() {
    // Six figures of each sample: about twice the limit.
    let samples = 2 * Builder::MAX_FINE as u64 / 6;
    let reading = reading(&long(samples));
    assert!(reading.figures.len() + reading.windows.len() <= Builder::MAX_FINE, "{}", reading.figures.len());
    assert!(reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("were joined to windows of")));
    let seconds: f64 = reading.windows.iter().map(|window| window.length.as_secs_f64()).sum();
    assert!((seconds - 10.0 * samples as f64).abs() < 1.0, "{seconds}");
    let demand = Demand::of(&[&reading]);
    let subject = &demand.subjects[0];
    assert_eq!(subject.slots.len(), reading.windows.len());
    let mean = |measure| subject.summary(subject.series(Class::Read, measure).unwrap()).unwrap().mean;
    assert!((mean(Measure::Iops) - 200.0).abs() < 0.01, "{}", mean(Measure::Iops));
    assert!((mean(Measure::Throughput) - 200.0 * 8_192.0).abs() < 100.0);
    assert!((mean(Measure::Latency) - 0.001_75).abs() < 1e-6, "{}", mean(Measure::Latency));
    let summary = subject.summary(subject.series(Class::Read, Measure::Iops).unwrap()).unwrap();
    assert_eq!((summary.windows as u64, summary.p50, summary.p95, summary.maximum), (samples, 100.0, 300.0, 300.0));
    assert!(subject.slots.iter().all(|slot| slot.resolution == Span::from_secs(10)), "no shorter peaks are hidden");
    let slowest = reading.figures.iter().filter(|figure| figure.statistic == Statistic::Maximum);
    assert!(slowest.clone().all(|figure| figure.measure != Measure::Iops && figure.value <= 0.002));
    assert!(slowest.count() > 1_000, "the highest latencies of joined windows");
}

#[test]
fn processors_in_use_survive_the_merging_of_windows() {
    let processors = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          20.00    0.00    5.00    3.00    0.00   72.00\n";
    let text = long(2 * Builder::MAX_FINE as u64 / 6).replace("\nDevice ", &format!("\n{processors}\nDevice "));
    let reading = reading(&text);
    assert!(reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("were joined to windows of")));
    let demand = Demand::of(&[&reading]);
    let mut resources = demand.subjects[0].resources.iter();
    let used = resources.find(|one| one.resource == Resource::UsedProcessors).unwrap();
    assert!((used.value - 4.0).abs() < 1e-9, "a quarter of 16 without waits for storage: {}", used.value);
}

/// A seeded sequence between 0 and 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn peaks_and_percentiles_of_joined_windows_are_those_of_the_samples() {
    // Two disks with noise, and peaks of a second in either of them.
    let mut state = 7;
    let samples: Vec<[f64; 2]> = (0..90_000_u32)
        .map(|second| {
            let mut quiet = || (random(&mut state) * 800.0).round() + 100.0;
            let [a, b] = [quiet(), quiet()];
            match second % 3_000 {
                1_234 => [f64::from(60_000 + second / 100), b],
                2_345 => [a, f64::from(40_000 + second / 100)],
                _ => [a, b],
            }
        })
        .collect();
    let mut text = String::from("Device r/s w/s rkB/s wkB/s r_await w_await\nsda 1 1 1 1 1 1\nsdb 1 1 1 1 1 1\n");
    for (second, rates) in samples.iter().enumerate() {
        let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
        text += &format!(
            "\n2025-03-{day:02}T{hour:02}:{minute:02}:{:02}\nDevice r/s w/s rkB/s wkB/s r_await w_await\n",
            second % 60
        );
        for (name, rate) in ["sda", "sdb"].iter().zip(rates) {
            text += &format!("{name} {rate:.2} 0.00 {:.2} 0.00 0.50 0.00\n", rate * 8.0);
        }
    }
    let reading = reading(&(text + "\n"));
    assert!(reading.figures.len() + reading.windows.len() <= Builder::MAX_FINE, "{}", reading.figures.len());
    let demand = Demand::of(&[&reading]);
    let subject = &demand.subjects[0];
    let series = subject.series(Class::Read, Measure::Iops).unwrap();
    let summary = subject.summary(series).unwrap();
    let mut totals: Vec<f64> = samples.iter().map(|rates| rates.iter().sum()).collect();
    totals.sort_by(f64::total_cmp);
    let at = |share: f64| totals[(share * totals.len() as f64).ceil() as usize - 1];
    assert!((summary.p50 / at(0.5) - 1.0).abs() < 0.005, "{} {}", summary.p50, at(0.5));
    assert!((summary.p95 / at(0.95) - 1.0).abs() < 0.005, "{} {}", summary.p95, at(0.95));
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    assert!((summary.mean / mean - 1.0).abs() < 1e-3, "{} {mean}", summary.mean);
    let highest = totals[totals.len() - 1];
    assert!((summary.maximum - highest).abs() < 1e-9, "{} {highest}", summary.maximum);
    let peaks = |values: &mut dyn Iterator<Item = f64>| values.filter(|rate| *rate > 30_000.0).count();
    assert_eq!(peaks(&mut series.values.iter().flatten().copied()), 60, "each peak has a window of its own");
    assert!(reading.joined.len() > 1_000 && series.values.len() < 40_000, "{}", series.values.len());
}

#[test]
fn means_of_latencies_and_sizes_are_weighted_by_operations() {
    let mut text = String::new();
    for (time, row) in [
        ("00", "1.00 1.00 1.00 1.00 1.00 1.00"),
        ("10", "1000.00 0.00 8000.00 0.00 1.00 0.00"),
        ("20", "10.00 0.00 1000.00 0.00 9.00 0.00"),
    ] {
        text += &format!("2025-01-01T10:00:{time}\nDevice r/s w/s rkB/s wkB/s r_await w_await\nsda {row}\n\n");
    }
    let reading = reading(&text);
    let demand = Demand::of(&[&reading]);
    let subject = &demand.subjects[0];
    let summary = |measure| subject.summary(subject.series(Class::Read, measure).unwrap()).unwrap();
    let bytes = summary(Measure::Throughput).mean / summary(Measure::Iops).mean;
    assert!((summary(Measure::Size).mean - bytes).abs() < 1e-6, "{}", summary(Measure::Size).mean);
    assert!((summary(Measure::Latency).mean - 1.09 / 1_010.0).abs() < 1e-9, "{}", summary(Measure::Latency).mean);
    assert!((summary(Measure::Latency).maximum - 0.009).abs() < 1e-12, "percentiles are those of windows");
}

#[test]
fn short_inputs_are_not_merged() {
    let reading = reading(&long(1_000));
    assert_eq!(reading.windows.len(), 1_000);
    assert!(reading.cautions.is_empty(), "{:?}", reading.cautions);
    assert!(reading.figures.iter().all(|figure| figure.statistic == Statistic::Mean));
}

#[test]
fn many_devices_are_bounded() {
    let mut text = String::from("Device             r/s     w/s    rkB/s    wkB/s\n");
    for number in 0..5_000 {
        text += &format!("nvme{number}n1  1.00  1.00 8.00 8.00\n");
    }
    let Outcome::Read(reading) = outcome("test", text.as_bytes(), 4_096) else { panic!("refused") };
    assert_eq!(reading.scopes.len(), 4_096);
    assert!(reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("the others are skipped")));
}
