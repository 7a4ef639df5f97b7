//! Long inputs: adjacent samples are merged, and means remain correct.

use plimsoll_ingest::{Builder, Class, Demand, Measure, Outcome, Statistic};

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
    assert!(reading.cautions.iter().any(|caution| caution.text.contains("were joined to windows of")));
    let seconds: f64 = reading.windows.iter().map(|window| window.length.as_secs_f64()).sum();
    assert!((seconds - 10.0 * samples as f64).abs() < 1.0, "{seconds}");
    let demand = Demand::of(&[&reading]);
    let subject = &demand.subjects[0];
    assert_eq!(subject.slots.len(), reading.windows.len());
    let mean = |measure| subject.summary(subject.series(Class::Read, measure).unwrap()).unwrap().mean;
    assert!((mean(Measure::Iops) - 200.0).abs() < 0.01, "{}", mean(Measure::Iops));
    assert!((mean(Measure::Throughput) - 200.0 * 8_192.0).abs() < 100.0);
    assert!((mean(Measure::Latency) - 0.001_75).abs() < 1e-6, "{}", mean(Measure::Latency));
    let maxima = reading.figures.iter().filter(|figure| figure.statistic == Statistic::Maximum);
    let of_reads = |figure: &&plimsoll_ingest::Figure| (figure.class, figure.measure) == (Class::Read, Measure::Iops);
    assert!(maxima.filter(of_reads).all(|figure| (figure.value - 300.0).abs() < 1e-9));
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
    assert!(reading.cautions.iter().any(|caution| caution.text.contains("the others are skipped")));
}
