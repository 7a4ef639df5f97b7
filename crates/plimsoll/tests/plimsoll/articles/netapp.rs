//! TR-4969 of 2023: Oracle on flash arrays.

use plimsoll_model::ChainSpec;

use crate::articles::figure::{Article, By, Figure, Published};
use crate::articles::shelf::{carried, catalogue, model, offer, parsed};
use crate::articles::trial::{Outcome, Trial};

/// A database block.
const BLOCK: u64 = 8192;
/// A read of a scan.
const MEGABYTE: u64 = 1 << 20;
/// The table of the report.
const TABLE: u64 = 10_000_000_000_000;
/// Depth at which the A800's response time is the 500 us of the report for saturation.
const SATURATED: u32 = 430;

pub fn article() -> Article {
    let figures = [
        reads(),
        working_sets(),
        protocols(),
        mixture(),
        writes(),
        bandwidth(),
        turning_disks(),
        sizing(),
        database(),
        charts(),
    ];
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

fn on(config: &str, depth: u32) -> Outcome {
    Trial::random_reads(BLOCK, depth).over(TABLE).lasting(10, 60).on(&model(config))
}

/// Depth 1, with enough operations for a mean within 1 %.
fn alone(config: &str) -> f64 {
    Trial::random_reads(BLOCK, 1).over(TABLE).lasting(0, 4_000).on(&model(config)).mean_ms * 1e3
}

fn reads() -> Vec<Figure> {
    let exactly = |place, what, us| Figure::new(place, what, Published::Exactly(us), "us");
    let [a, c] = ["a800", "c800"].map(alone);
    let miss = alone("c800:hits=0");
    let full = on("a800", SATURATED).mean_ms * 1e3;
    vec![
        exactly("read latency, storage", "A-Series at best", 100.0)
            .given(
                By::Simulation,
                "`a800:hits=1,latency_of=array`, depth 1",
                alone("a800:hits=1,latency_of=array"),
                0.05,
            )
            .fitted(),
        exactly("A-Series against C-Series", "A-Series, reads in series", 150.0).given(
            By::Simulation,
            "`a800:latency_of=array`, depth 1",
            alone("a800:latency_of=array"),
            0.25,
        ),
        exactly("100 % reads", "A-Series, plateau", 250.0)
            .given(By::Simulation, "`a800`, depth 128", on("a800", 128).mean_ms * 1e3, 0.05)
            .fitted(),
        exactly("100 % reads", "A-Series, near saturation", 500.0)
            .given(By::Simulation, format!("`a800`, depth {SATURATED}"), full, 0.05)
            .fitted(),
        Figure::new("100 % reads", "A-Series, whole curve", Published::Between(0.0, 1000.0), "us").given(
            By::Simulation,
            format!("`a800`, depth {SATURATED}"),
            full,
            0.0,
        ),
        Figure::new("read latency, storage", "C-Series", Published::Exactly(2000.0), "us")
            .given(By::Simulation, "`c800:hits=0`, depth 1", miss, 0.03)
            .fitted(),
        exactly("read latency, cache", "C-Series, out of the controller's memory", 100.0)
            .given(
                By::Simulation,
                "`c800:hits=1,latency_of=array`, depth 1",
                alone("c800:hits=1,latency_of=array"),
                0.05,
            )
            .fitted(),
        Figure::new("100 % reads", "C-Series over A-Series", Published::Between(1.0, f64::INFINITY), "times").given(
            By::Simulation,
            "both depth 1, memory a tenth of the table",
            c / a,
            0.0,
        ),
    ]
}

fn working_sets() -> Vec<Figure> {
    vec![
        Figure::new(
            "read latency, cache",
            "250 TB of which 1 TB is active: C over A",
            Published::Between(0.9, 1.1),
            "times",
        )
        .given(
            By::Simulation,
            "`:working_set=1000` on both: all of it is in memory",
            alone("c800:250000GB,working_set=1000") / alone("a800:250000GB,working_set=1000"),
            0.0,
        ),
        Figure::new(
            "read latency, cache",
            "50 TB of which 100 GB are active: C over A",
            Published::Between(0.9, 1.1),
            "times",
        )
        .given(
            By::Simulation,
            "`:working_set=100` on both",
            alone("c800:50000GB,working_set=100") / alone("a800:50000GB,working_set=100"),
            0.0,
        ),
    ]
}

fn protocols() -> Vec<Figure> {
    let [fc, ip] = ["a800:hits=1", "a800:protocol=nfs,hits=1"].map(alone);
    let [most_fc, most_ip] = ["a800", "a800:protocol=nfs"].map(|config| on(config, 1024).iops);
    let [c_fc, c_ip] = ["c800:hits=0", "c800:hits=0,protocol=nfs"].map(alone);
    vec![
        Figure::new("notes on protocols", "IP protocols, latency added", Published::Exactly(100.0), "us")
            .given(By::Simulation, "`a800:protocol=nfs` less `a800`, depth 1", ip - fc, 0.05)
            .fitted(),
        Figure::new("notes on protocols", "A-Series over IP", Published::Exactly(250.0), "us").given(
            By::Simulation,
            "`a800:protocol=nfs,latency_of=array`, depth 1",
            alone("a800:protocol=nfs,latency_of=array"),
            0.15,
        ),
        Figure::new("notes on protocols", "IP protocols, loss of largest IOPS", Published::Exactly(30.0), "%")
            .given(
                By::Simulation,
                "`a800:protocol=nfs` over `a800`, depth 1024",
                (1.0 - most_ip / most_fc) * 100.0,
                0.02,
            )
            .fitted(),
        Figure::new("notes on protocols", "IP protocols, largest IOPS", Published::Exactly(600_000.0), "IOPS")
            .given(By::Simulation, "`a800:protocol=nfs`, depth 1024", most_ip, 0.01)
            .fitted(),
        Figure::new("notes on protocols", "FC below NVMe/FC: largest IOPS", Published::Between(0.9, 1.0), "times")
            .given(By::Simulation, "`a800:protocol=fc` over `a800`", on("a800:protocol=fc", 1024).iops / most_fc, 0.0)
            .fitted(),
        Figure::new("notes on protocols", "C-Series over IP: hardly to be seen", Published::Between(1.0, 1.1), "times")
            .given(By::Simulation, "`c800:protocol=nfs` over `c800`", c_ip / c_fc, 0.0),
    ]
}

fn mixture() -> Vec<Figure> {
    let mut figures = vec![
        Figure::new("reads and writes", "reads when 75 % of the statements are SELECT", Published::Exactly(80.0), "%")
            .given(By::Law, "an update reads its block too: 1 / (1 + 0.25)", 100.0 / 1.25, 0.001),
    ];
    for (config, series, iops) in [("a800", "A-Series", 700_000), ("c800", "C-Series", 300_000)] {
        let at = |reads| {
            let trial = Trial::random_reads(BLOCK, 1).mixed(reads).over(TABLE).open(iops);
            trial.lasting(20, 120).on(&model(config)).read_ms
        };
        figures.push(
            Figure::new(
                "reads and writes",
                format!("{series}, latency of reads: slightly higher"),
                Published::Between(1.0, 1.25),
                "times",
            )
            .given(
                By::Simulation,
                format!("`{config}`, {iops} a second, 80 % reads over 100 %"),
                at(0.8) / at(1.0),
                0.0,
            ),
        );
    }
    let most =
        |reads| Trial::random_reads(BLOCK, 2048).mixed(reads).over(TABLE).lasting(20, 60).on(&model("a800")).iops;
    // Dies are the limit once the NVRAM is full, so read and write times of a die determine it.
    let die = |name| figure_of("c800", name);
    let (read, write) = (0.9 * die("die_us"), die("die_write_us"));
    let lower = |series| {
        let what = format!("{series}, largest IOPS: lower");
        Figure::new("reads and writes", what, Published::Between(0.5, 1.0), "times")
    };
    figures.push(
        lower("A-Series")
            .given(By::Simulation, "`a800`, depth 2048, 80 % reads over 100 %", most(0.8) / most(1.0), 0.0)
            .fitted(),
    );
    figures.push(
        lower("C-Series")
            .given(
                By::Law,
                "time of a die: 0.9 reads of 1.33 ms, or with a fifth of writes of 2 ms",
                read / (0.8 * read + 0.2 * write),
                0.0,
            )
            .fitted(),
    );
    figures
}

/// A figure of a product file.
fn figure_of(product: &str, name: &str) -> f64 {
    let product = catalogue().find(product).expect("it is known");
    product.figures().iter().find(|figure| figure.name == name).expect("its file has it").value
}

fn writes() -> Vec<Figure> {
    let write =
        |config| Trial::random_reads(BLOCK, 1).over(TABLE).writes().lasting(0, 2_000).on(&model(config)).mean_ms * 1e3;
    let [a, c] = ["a800", "c800"].map(write);
    vec![
        Figure::new("write latency", "A-Series: microseconds", Published::Between(1.0, 999.0), "us").given(
            By::Simulation,
            "`a800`, depth 1",
            a,
            0.0,
        ),
        Figure::new("write latency", "C-Series over A-Series: the same", Published::Between(0.95, 1.05), "times")
            .given(By::Simulation, "depth 1", c / a, 0.02),
        Figure::new("write latency", "C-Series under load: rises slightly", Published::Between(1.0, 1.5), "times")
            .given(
                By::Simulation,
                "`c800`, writes among 80 % reads, 500,000 a second over 100,000",
                written("c800", 500_000) / written("c800", 100_000),
                0.0,
            )
            .fitted(),
        Figure::new("write latency", "A-Series under load", Published::Between(0.95, 1.05), "times").given(
            By::Simulation,
            "`a800`, the same",
            written("a800", 500_000) / written("a800", 100_000),
            0.0,
        ),
    ]
}

/// Mean latency of writes among 80 % reads, ms.
fn written(config: &str, iops: u64) -> f64 {
    Trial::random_reads(BLOCK, 1).mixed(0.8).over(TABLE).open(iops).lasting(40, 200).on(&model(config)).write_ms
}

/// Sequential reads of 1 MiB, megabytes per second.
fn in_order(model: &ChainSpec, depth: u32) -> f64 {
    Trial::random_reads(MEGABYTE, depth).sequential().over(TABLE).lasting(100, 300).on(model).mb()
}

fn bandwidth() -> Vec<Figure> {
    let figure = |what: String, low, high, unit| Figure::new("bandwidth", what, Published::Between(low, high), unit);
    let mut figures = Vec::new();
    for depth in [1, 4, 16, 64] {
        let [a, c] = ["a800", "c800"].map(|config| in_order(&model(config), depth));
        let what = format!("C-Series over A-Series in order, depth {depth}: nearly the same");
        let how = format!("reads of 1 MiB, {} and {} MB/s", a.round(), c.round());
        figures.push(figure(what, 0.9, 1.1, "times").given(By::Simulation, how, c / a, 0.0));
    }
    let ports = 25_600.0;
    let full = in_order(&model("c800"), 64) / ports;
    figures.push(
        figure("C-Series: ports at line rate bind".into(), 0.95, 1.0, "of 8 ports of 32 Gb")
            .given(By::Simulation, "`c800`, reads of 1 MiB in order, depth 64", full, 0.005)
            .fitted(),
    );
    // With the same ports, the difference is due to the media.
    let behind = |config: &str| parsed(&format!("link(1us, 3200MB/s) then {}", model(config)));
    let [flash, turning] = ["c800", "hdd-array"].map(|config| in_order(&behind(config), 64));
    figures.push(
        figure("turning disks over flash behind the same ports: nearly the same".into(), 0.9, 1.1, "times").given(
            By::Simulation,
            "50 drives of `hdd-array` and `c800` behind four ports of 8 Gb, reads of 1 MiB at depth 64",
            turning / flash,
            0.0,
        ),
    );
    figures
}

fn turning_disks() -> Vec<Figure> {
    let ms = alone("hdd-array") / 1e3;
    let ratio = ms * 1e3 / alone("c800:hits=0");
    let cold = |config| Trial::random_reads(BLOCK, 32).over(TABLE).lasting(0, 500).on(&model(config)).mean_ms;
    vec![
        Figure::new("read latency, storage", "a block from a turning disk", Published::Between(8.0, 10.0), "ms").given(
            By::Simulation,
            "`hdd-array`, depth 1",
            ms,
            0.0,
        ),
        Figure::new(
            "workloads that mind latency",
            "random reads of turning disks",
            Published::Between(8.0, 12.0),
            "ms",
        )
        .given(By::Simulation, "`hdd-array`, depth 1", ms, 0.0),
        Figure::new("upgrades", "mean latency begins at", Published::Exactly(8.0), "ms")
            .given(By::Simulation, "`hdd-array`, depth 1", ms, 0.06)
            .fitted(),
        Figure::new("read latency, storage", "a drive", Published::Exactly(120.0), "IOPS")
            .given(By::Quote, "`hdd-array:drives=2`, each", carried("hdd-array:drives=2", BLOCK, 1.0) / 2.0, 0.001)
            .fitted(),
        Figure::new("upgrades", "50 drives", Published::Exactly(6_000.0), "IOPS").given(
            By::Quote,
            "`hdd-array:drives=50`",
            carried("hdd-array:drives=50", BLOCK, 1.0),
            0.001,
        ),
        Figure::new("upgrades", "1,000 drives", Published::Exactly(120_000.0), "IOPS").given(
            By::Quote,
            "`hdd-array:drives=1000`",
            carried("hdd-array:drives=1000", BLOCK, 1.0),
            0.001,
        ),
        Figure::new("upgrades", "C-Series over turning disks, almost", Published::Exactly(4.0), "times").given(
            By::Simulation,
            "`hdd-array` over `c800:hits=0`, depth 1",
            ratio,
            0.08,
        ),
        Figure::new("upgrades", "C-Series over turning disks", Published::Between(4.0, f64::INFINITY), "times").given(
            By::Simulation,
            "`hdd-array` over `c800:hits=0`, depth 1",
            ratio,
            0.0,
        ),
        Figure::new(
            "compression",
            "reads after 30 days of rest: slower",
            Published::Between(1.0, f64::INFINITY),
            "times",
        )
        .given(
            By::Simulation,
            "`c800:cold=1` over `c800`, first half second",
            cold("c800:cold=1") / cold("c800"),
            0.0,
        ),
    ]
}

fn sizing() -> Vec<Figure> {
    let drives = offer("a800").options.into_iter().find(|option| &*option.name == "drives").expect("it is an option");
    let namespaces = carried("a800:namespaces=16,hits=1", BLOCK, 1.0);
    vec![
        Figure::new("IOPS", "drives for each HA pair, at least", Published::Exactly(24.0), "drives").given(
            By::Quote,
            "bound of the option `drives`",
            drives.low.unwrap_or(f64::NAN),
            0.0,
        ),
        Figure::new("ASM", "a namespace", Published::Exactly(200_000.0), "IOPS").given(
            By::Quote,
            "`a800:namespaces=1`",
            carried("a800:namespaces=1,hits=1", BLOCK, 1.0),
            0.001,
        ),
        Figure::new("ASM", "16 namespaces: share of the controllers' capacity", Published::Between(95.0, 100.0), "%")
            .given(By::Quote, "`a800:namespaces=16`: the processors bind", namespaces / 8570.0, 0.0),
        Figure::new("working set", "16 schemas of 655,360 MB", Published::Exactly(10.0), "TiB").given(
            By::Law,
            "16 x 655,360 MiB",
            16.0 * 655_360.0 / f64::from(1 << 20),
            0.001,
        ),
        Figure::new("working set", "1 TB for 16 users, each", Published::Exactly(64.0), "GiB").given(
            By::Law,
            "1 TiB / 16",
            1024.0 / 16.0,
            0.001,
        ),
        Figure::new("working set", "table over the controllers' memory", Published::Exactly(10.0), "times")
            .given(By::Quote, "figure `ram_gb` of `a800`", 10_000.0 / figure_of("a800", "ram_gb"), 0.001)
            .fitted(),
        Figure::new("network", "bandwidth between hosts and array", Published::Exactly(128.0), "GB")
            .missing("eight ports of 32 Gb are 256 Gb, or 25.6 GB/s with their coding: 128 is that of a single controller, in Gb"),
    ]
}

fn database() -> Vec<Figure> {
    let before = alone("c800:hits=0.3");
    let after = alone("c800:hits=0");
    vec![
        Figure::new(
            "CPU",
            "gain from storage when 85 % of the time is CPU: hardly any",
            Published::Between(1.0, 1.2),
            "times as fast",
        )
        .given(By::Law, "Amdahl: no storage time at all, 1 / 0.85", 1.0 / 0.85, 0.0),
        Figure::new(
            "buffer cache",
            "mean latency of storage after it grew: higher",
            Published::Between(1.0, f64::INFINITY),
            "times",
        )
        .given(
            By::Simulation,
            "`c800:hits=0` over `c800:hits=0.3`: the hits are in the database now",
            after / before,
            0.0,
        ),
        Figure::new("buffer cache", "time spent on storage after it grew: less", Published::Between(0.0, 1.0), "times")
            .given(By::Simulation, "the same, 70 % of the reads", 0.7 * after / before, 0.0),
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
    let [a, c, hdd] = ["a800", "c800:hits=0", "hdd-array"].map(|config| alone(config) / 1e6);
    let rise = |config, depth| on(config, depth).mean_ms * 1e3;
    vec![
        format!(
            "A million serial reads are mentioned but not computed: {:.0} s from rotating disks, {:.0} s on the \
             C-Series, {:.0} s on the A-Series.",
            hdd * 1e6,
            c * 1e6,
            a * 1e6
        ),
        "The same plateau is 250 us in a section, 150 us in another, and 250 us again with IP protocols. The model's 180 us are \
         within this range."
            .into(),
        format!(
            "Flat latency until saturation is typical of a pool of many processors, not of fast media. The model's A800 has {:.0} \
             us at depth 64, {:.0} us at depth 160, at 98 % of its maximum, and {:.0} us at depth {SATURATED}: \
             further load only increases waiting.",
            rise("a800", 64),
            rise("a800", 160),
            rise("a800", SATURATED)
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
