//! TR-4969 of 2023: Oracle on flash arrays.

use plimsoll_suite::recipes::articles::published::article as published;

use crate::articles::command::{Printed, Reading, run};
use crate::articles::figure::{Article, Figure, Published};

/// Depths of the A800's curve: plateau, saturation and maximum.
const CURVE: &str = "64,128,160,430,1024";
/// Depth at which the A800's response time is the 500 us of the report for saturation.
const SATURATED: &str = "430";

pub fn article() -> Article {
    let figures =
        [reads(), protocols(), mixture(), writes(), bandwidth(), turning_disks(), sizing(), database(), charts()];
    Article {
        title: "TR-4969: Oracle on AFF A-Series and C-Series",
        about: "NetApp, [TR-4969](https://www.netapp.com/media/85630-tr-4969.pdf), May 2023 (Japanese edition): an A800 and \
                a C800 under SLOB with 10 TB. Its charts have no numbers, so only statements in the text can be compared. Where the text gives a direction without a number, the published figure is a range: \
                `1 or more` stands for `higher`. The models are `netapp/aff-a800`, `netapp/aff-c800` and \
                `netapp/hdd-array`.",
        figures: figures.into_iter().flatten().collect(),
        missed: missed(),
    }
}

/// A load of blocks of 8 KiB on the report's table of 10 TB.
fn blocks(configs: &str, reads: u32, load: &str) -> Printed {
    run(format!(
        "plimsoll simulate {configs} --size 10TB --block-size 8KiB --pattern uniform --reads {reads} {load} --csv - --quiet"
    ))
}

/// Random reads one at a time.
fn serial() -> Printed {
    blocks(
        "a800 c800 a800:hits=1 c800:hits=0 c800:hits=0.3 hdd-array \
         a800:latency_of=array a800:latency_of=array,hits=1 c800:latency_of=array,hits=1",
        100,
        "--depth 1",
    )
}

/// Random reads one at a time over IP protocols.
fn serial_over_ip() -> Printed {
    blocks("a800:protocol=nfs,hits=1 c800:protocol=nfs,hits=0 a800:protocol=nfs,latency_of=array", 100, "--depth 1")
}

/// Random reads up to saturation.
fn simulate_curve() -> Printed {
    blocks("a800 a800:protocol=nfs a800:protocol=fc", 100, &format!("--depth {CURVE}"))
}

/// The name of a configuration in tables: of the alias, or with the options as printed.
fn name(config: &str) -> String {
    let (alias, options) = config.split_once(':').unwrap_or((config, ""));
    let product = if alias == "hdd-array" { "netapp/hdd-array".into() } else { format!("netapp/aff-{alias}") };
    match options {
        "" => format!("{product}:10000GB"),
        options if options.contains("GB") => format!("{product}:{options}"),
        options => format!("{product}:10000GB,{options}"),
    }
}

/// Mean response of a configuration at a depth, in microseconds.
fn mean_us(printed: &Printed, config: &str, depth: &str) -> Reading {
    printed.cell(&[("subject", &name(config)), ("depth", depth), ("scope", "all")], "mean_ns").times(1e-3)
}

/// Mean response one at a time, in microseconds.
fn simulate_alone(config: &str) -> Reading {
    mean_us(&serial(), config, "1")
}

/// Operations per second of a configuration at a depth.
fn iops(printed: &Printed, config: &str, depth: &str) -> Reading {
    printed.cell(&[("subject", &name(config)), ("depth", depth), ("scope", "all")], "iops")
}

/// Lines of the table of arrays.
const LOWEST: usize = 0;
const HIGHEST: usize = 1;
const OVER_IP: usize = 2;

/// A published figure of the A-Series, 0, or the C-Series, 1.
fn read_array(line: usize, column: usize) -> f64 {
    published("tr-4969").table("arrays").rows[line].published[column].expect("the report has a figure")
}

fn reads() -> Vec<Figure> {
    let exactly = |place, what, us| Figure::new(place, what, Published::Exactly(us), "us");
    let curve = simulate_curve();
    let sets = blocks(
        "a800:250000GB,working_set=1000 c800:250000GB,working_set=1000 a800:50000GB,working_set=100 c800:50000GB,working_set=100",
        100,
        "--depth 1",
    );
    let equal = |what, set: &str| {
        let [a, c] = ["a800", "c800"].map(|array| mean_us(&sets, &format!("{array}:{set}"), "1"));
        Figure::new("read latency, cache", what, Published::Between(0.9, 1.1), "times").simulated(c / a, 0.0)
    };
    vec![
        exactly("read latency, storage", "A-Series at best", 100.0)
            .simulated(simulate_alone("a800:latency_of=array,hits=1"), 0.05)
            .fitted(),
        exactly("A-Series against C-Series", "A-Series, reads in series", read_array(LOWEST, 0))
            .simulated(simulate_alone("a800:latency_of=array"), 0.25),
        exactly("100 % reads", "A-Series, plateau", 250.0).simulated(mean_us(&curve, "a800", "128"), 0.05).fitted(),
        exactly("100 % reads", "A-Series, near saturation", read_array(HIGHEST, 0))
            .simulated(mean_us(&curve, "a800", SATURATED), 0.05)
            .fitted(),
        Figure::new("100 % reads", "A-Series, whole curve", Published::Between(0.0, 1000.0), "us")
            .simulated(mean_us(&curve, "a800", SATURATED), 0.0),
        Figure::new("read latency, storage", "C-Series", Published::Exactly(read_array(LOWEST, 1)), "us")
            .simulated(simulate_alone("c800:hits=0"), 0.03)
            .fitted(),
        exactly("read latency, cache", "C-Series, out of the controller's memory", 100.0)
            .simulated(simulate_alone("c800:latency_of=array,hits=1"), 0.05)
            .fitted(),
        Figure::new("100 % reads", "C-Series over A-Series", Published::Between(1.0, f64::INFINITY), "times")
            .simulated(simulate_alone("c800") / simulate_alone("a800"), 0.0),
        equal("250 TB of which 1 TB is active: C over A", "250000GB,working_set=1000"),
        equal("50 TB of which 100 GB are active: C over A", "50000GB,working_set=100"),
    ]
}

fn protocols() -> Vec<Figure> {
    let figure = |what, published, unit| Figure::new("notes on protocols", what, published, unit);
    let (ip, curve) = (serial_over_ip(), simulate_curve());
    let over_ip = |config| mean_us(&ip, config, "1");
    let max = |config| iops(&curve, config, "1024");
    vec![
        figure("IP protocols, latency added", Published::Exactly(100.0), "us")
            .simulated(over_ip("a800:protocol=nfs,hits=1") - simulate_alone("a800:hits=1"), 0.05)
            .fitted(),
        figure("A-Series over IP", Published::Exactly(250.0), "us")
            .simulated(over_ip("a800:protocol=nfs,latency_of=array"), 0.15),
        figure("IP protocols, largest IOPS over that of FC", Published::Exactly(70.0), "%")
            .simulated((max("a800:protocol=nfs") / max("a800")).times(100.0), 0.02)
            .fitted(),
        figure("IP protocols, largest IOPS", Published::Exactly(read_array(OVER_IP, 0)), "IOPS")
            .simulated(max("a800:protocol=nfs"), 0.01)
            .fitted(),
        figure("FC below NVMe/FC: largest IOPS", Published::Between(0.9, 1.0), "times")
            .simulated(max("a800:protocol=fc") / max("a800"), 0.0)
            .fitted(),
        figure("C-Series over IP: hardly to be seen", Published::Between(1.0, 1.1), "times")
            .simulated(over_ip("c800:protocol=nfs,hits=0") / simulate_alone("c800:hits=0"), 0.0),
    ]
}

fn mixture() -> Vec<Figure> {
    let figure =
        |what: String, low, high| Figure::new("reads and writes", what, Published::Between(low, high), "times");
    let mut figures = vec![
        Figure::new("reads and writes", "reads when 75 % of the statements are SELECT", Published::Exactly(80.0), "%")
            .missing("arithmetic: an update reads its block too, so 1 / (1 + 0.25) of the operations are reads"),
    ];
    for (config, series, rate) in [("a800", "A-Series", "700000"), ("c800", "C-Series", "300000")] {
        let read = |reads| {
            let printed = blocks(config, reads, &format!("--rate {rate}"));
            printed.cell(&[("kind", "read"), ("offered_iops", rate)], "mean_ns")
        };
        let what = format!("{series}, latency of reads: slightly higher");
        figures.push(figure(what, 1.0, 1.25).simulated(read(80) / read(100), 0.0));
    }
    for (config, series) in [("a800", "A-Series"), ("c800", "C-Series")] {
        let max = |reads| iops(&blocks("a800 c800", reads, "--depth 2048"), config, "2048");
        let what = format!("{series}, largest IOPS: lower");
        figures.push(figure(what, 0.5, 1.0).simulated(max(80) / max(100), 0.0).fitted());
    }
    figures
}

fn writes() -> Vec<Figure> {
    let alone = |config| mean_us(&blocks("a800 c800", 0, "--depth 1"), config, "1");
    let loaded = |config: &str, rate: &str| {
        let printed = blocks(config, 80, "--rate 100000,500000");
        printed.cell(&[("kind", "write"), ("offered_iops", rate)], "mean_ns")
    };
    let under_load = |config| loaded(config, "500000") / loaded(config, "100000");
    let figure = |what, published, unit| Figure::new("write latency", what, published, unit);
    vec![
        figure("A-Series: microseconds", Published::Between(1.0, 999.0), "us").simulated(alone("a800"), 0.0),
        figure("C-Series over A-Series: the same", Published::Between(0.95, 1.05), "times")
            .simulated(alone("c800") / alone("a800"), 0.03),
        figure("C-Series under load: rises slightly", Published::Between(1.0, 1.5), "times")
            .simulated(under_load("c800"), 0.0)
            .fitted(),
        figure("A-Series under load", Published::Between(0.95, 1.05), "times").simulated(under_load("a800"), 0.0),
    ]
}

fn bandwidth() -> Vec<Figure> {
    let figure = |what: String, low, high, unit| Figure::new("bandwidth", what, Published::Between(low, high), unit);
    let scans = run("plimsoll simulate a800 c800 --size 10TB --block-size 1MiB --pattern sequential --reads 100 \
         --depth 1,4,16,64 --csv - --quiet");
    let rate = |config: &str, depth: &str| {
        scans.cell(&[("subject", &name(config)), ("depth", depth), ("scope", "all")], "bytes_per_s")
    };
    let mut figures = Vec::new();
    for depth in ["1", "4", "16", "64"] {
        let what = format!("C-Series over A-Series in order, depth {depth}: nearly the same");
        figures.push(figure(what, 0.9, 1.1, "times").simulated(rate("c800", depth) / rate("a800", depth), 0.0));
    }
    let full = rate("c800", "64").times(1e-9 / 3.2);
    figures.push(
        figure("C-Series: ports at line rate bind".into(), 7.6, 8.0, "ports of 32 Gb").simulated(full, 0.005).fitted(),
    );
    let what = "turning disks over flash behind the same ports: nearly the same".into();
    figures.push(
        figure(what, 0.9, 1.1, "times")
            .missing("no configuration puts the disks of an array behind the ports of another"),
    );
    figures
}

fn turning_disks() -> Vec<Figure> {
    let figure = |place, what, published, unit| Figure::new(place, what, published, unit);
    let ms = || simulate_alone("hdd-array").times(1e-3);
    let over_flash = || simulate_alone("hdd-array") / simulate_alone("c800:hits=0");
    let rested = blocks("c800 c800:cold=1", 100, "--depth 32 --duration 500ms");
    let drives = quote("hdd-array:drives=2 hdd-array:drives=50 hdd-array:drives=1000");
    let carried = |drives_number: u32| {
        let config = if drives_number == 50 { "hdd-array".into() } else { format!("hdd-array:drives={drives_number}") };
        drives.cell(&[("configuration", &name(&config))], "IOPS")
    };
    let random = "random reads of turning disks";
    vec![
        figure("read latency, storage", "a block from a turning disk", Published::Between(8.0, 10.0), "ms")
            .simulated(ms(), 0.0),
        figure("workloads that mind latency", random, Published::Between(8.0, 12.0), "ms").simulated(ms(), 0.0),
        figure("upgrades", "mean latency begins at", Published::Exactly(8.0), "ms").simulated(ms(), 0.06).fitted(),
        figure("read latency, storage", "two drives", Published::Exactly(240.0), "IOPS")
            .quoted(carried(2), 0.001)
            .fitted(),
        figure("upgrades", "50 drives", Published::Exactly(6_000.0), "IOPS").quoted(carried(50), 0.001),
        figure("upgrades", "1,000 drives", Published::Exactly(120_000.0), "IOPS").quoted(carried(1000), 0.001),
        figure("upgrades", "C-Series over turning disks, almost", Published::Exactly(4.0), "times")
            .simulated(over_flash(), 0.08),
        figure("upgrades", "C-Series over turning disks", Published::Between(4.0, f64::INFINITY), "times")
            .simulated(over_flash(), 0.0),
        figure("compression", "reads after 30 days of rest: slower", Published::Between(1.0, f64::INFINITY), "times")
            .simulated(mean_us(&rested, "c800:cold=1", "32") / mean_us(&rested, "c800", "32"), 0.0),
    ]
}

/// Sustained random reads of 8 KiB.
fn quote(configs: &str) -> Printed {
    run(format!("plimsoll quote {configs} --block-size 8KiB --csv -"))
}

fn sizing() -> Vec<Figure> {
    let array = run("plimsoll catalogue show a800 --details");
    let spaces = quote("a800:namespaces=1,hits=1 a800:hits=1 a800:namespaces=512,hits=1");
    let carried = |config: &str| spaces.cell(&[("configuration", &name(config))], "IOPS");
    let arithmetic = "arithmetic on units, without storage";
    vec![
        Figure::new("IOPS", "drives for each HA pair, at least", Published::Exactly(24.0), "drives")
            .quoted(array.after(&["Options", "drives:"]), 0.0),
        Figure::new("ASM", "a namespace", Published::Exactly(200_000.0), "IOPS")
            .quoted(carried("a800:namespaces=1,hits=1"), 0.001),
        Figure::new("ASM", "16 namespaces: share of the controllers' capacity", Published::Between(95.0, 100.0), "%")
            .quoted((carried("a800:hits=1") / carried("a800:namespaces=512,hits=1")).times(100.0), 0.0),
        Figure::new("working set", "16 schemas of 655,360 MB", Published::Exactly(10.0), "TiB").missing(arithmetic),
        Figure::new("working set", "1 TB for 16 users, each", Published::Exactly(64.0), "GiB").missing(arithmetic),
        Figure::new("working set", "memory of the controllers, a tenth of the table", Published::Exactly(1_000.0), "GB")
            .quoted(array.after(&["ram_gb ="]), 0.001)
            .fitted(),
        Figure::new("network", "bandwidth between hosts and array", Published::Exactly(128.0), "GB")
            .missing("eight ports of 32 Gb are 256 Gb, or 25.6 GB/s with their coding: 128 is that of a single controller, in Gb"),
    ]
}

fn database() -> Vec<Figure> {
    let (before, after) = (|| simulate_alone("c800:hits=0.3"), || simulate_alone("c800:hits=0"));
    vec![
        Figure::new(
            "CPU",
            "gain from storage when 85 % of the time is CPU: hardly any",
            Published::Between(1.0, 1.2),
            "times as fast",
        )
        .missing("arithmetic: without any storage time, 1 / 0.85 (Amdahl 1967)"),
        Figure::new(
            "buffer cache",
            "mean latency of storage after it grew: higher",
            Published::Between(1.0, f64::INFINITY),
            "times",
        )
        .simulated(after() / before(), 0.0),
        Figure::new("buffer cache", "time spent on storage after it grew: less", Published::Between(0.0, 1.0), "times")
            .simulated((after() / before()).times(0.7), 0.0),
    ]
}

fn charts() -> Vec<Figure> {
    ["figure 1, reads", "figure 2, reads and writes", "figure 3, writes"]
        .map(|chart| {
            Figure::new(chart, "both curves", Published::Between(0.0, f64::INFINITY), "")
                .missing("a chart without numbers: only its shape can be compared")
        })
        .into()
}

fn missed() -> Vec<String> {
    let seconds = |config: &str| format!("{:.0} s", simulate_alone(config).value);
    let curve = simulate_curve();
    let at = |depth: &str| format!("{:.0} us", mean_us(&curve, "a800", depth).value);
    let share = iops(&curve, "a800", "160").value / iops(&curve, "a800", "1024").value * 100.0;
    vec![
        format!(
            "A million serial reads are mentioned but not computed: {} from rotating disks, {} on the C-Series, {} on the \
             A-Series ({}).",
            seconds("hdd-array"),
            seconds("c800:hits=0"),
            seconds("a800"),
            simulate_alone("a800").how
        ),
        "The same plateau is 250 us in a section, 150 us in another, and 250 us again with IP protocols. The model's 180 us are \
         within this range."
            .into(),
        format!(
            "Flat latency until saturation is typical of a pool of many processors, not of fast media. The model's A800 has {} \
             at depth 64, {} at depth 160, at {share:.0} % of its maximum, and {} at depth {SATURATED} ({}): \
             further load only increases waiting.",
            at("64"),
            at("160"),
            at(SATURATED),
            mean_us(&curve, "a800", "64").how
        ),
        "A fifth of writes is more than a fifth of the work: a write needs more time of processors and QLC dies than a read. The \
         ratio is not published, but is required to size a system with writes."
            .into(),
        "All figures for hits are for a table ten times the memory. With a working set within the memory both arrays are equal, as \
         the report states: measure the working set first."
            .into(),
        "Three repetitions of 20 minutes are mentioned without the spread of the results.".into(),
    ]
}
