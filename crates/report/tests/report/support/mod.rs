//! Synthetic curves: a device with a capacity, a base latency and a tail.
#![allow(dead_code, clippy::unwrap_used)]

pub mod crowd;
pub mod markup;
pub mod page;
pub mod shelf;

use std::sync::OnceLock;

use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_record::{
    Bins, Conditions, Counter, CpuTime, Curve, Device, EndReason, Estimate, FORMAT, Figures, Finding, Host, Knee,
    LoadLine, Objective, Recorder, Run, Slice, Source, Steadiness, Subject, Tally,
};
use plimsoll_report::Page;
use plimsoll_report::pages::{self, Sheet};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Span};

/// Properties of a curve's storage.
#[derive(Clone, Copy)]
pub struct Storage {
    pub name: &'static str,
    pub model: &'static str,
    /// Operations per second at saturation.
    pub capacity: f64,
    /// Lightest mean latency in microseconds.
    pub base_us: f64,
    pub seed: u64,
}

/// A local drive.
pub const NVME: Storage =
    Storage { name: "/dev/nvme1n1", model: "Micron 7450 MTFDKCC3T8TFR", capacity: 62_000.0, base_us: 92.0, seed: 7 };
/// A network volume with half the rate.
pub const CLOUD: Storage =
    Storage { name: "/dev/sdb", model: "Cloud block volume", capacity: 31_000.0, base_us: 410.0, seed: 11 };

const SLICES: usize = 12;
const SAMPLES: u64 = 400;

pub struct Dice(pub u64);

impl Dice {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Page of curves without load lines at other objectives.
pub fn page(curves: &[&Curve]) -> Page {
    let sheets: Vec<Sheet<'_>> = curves.iter().map(|curve| Sheet { curve, ladder: Vec::new(), price: None }).collect();
    pages::curves(&sheets)
}

/// A complete curve: eight closed loads, and seven open loads of which the last is overloaded.
pub fn build_curve() -> Curve {
    static MADE: OnceLock<Curve> = OnceLock::new();
    MADE.get_or_init(|| curve_of(&NVME)).clone()
}

/// A complete curve of `storage`.
pub fn curve_of(storage: &Storage) -> Curve {
    let mut dice = Dice(storage.seed);
    let closed = [1u32, 2, 4, 8, 16, 32, 64, 128].map(|depth| Pace::Closed { depth });
    let rates = [0.2, 0.4, 0.6, 0.75, 0.86, 0.94, 1.06].map(|share| Pace::Open {
        rate: Iops::per_second((storage.capacity * share / 100.0).round() as u64 * 100),
        arrival: Arrival::Poisson,
    });
    let runs: Vec<Run> = closed.iter().chain(&rates).map(|pace| run(storage, *pace, &mut dice)).collect();
    let objective: Objective = "p99<=1ms".parse().unwrap();
    let line = crossing(&runs, 1e6);
    let power = |run: &&Run| run.figures.iops.value / run.figures.mean_ns.value;
    let knee = runs[..8].iter().max_by(|a, b| power(a).total_cmp(&power(b))).unwrap();
    Curve {
        format: FORMAT.into(),
        made_by: "plimsoll 0.1.0".into(),
        started: Some("2026-03-02T10:04:05Z".into()),
        wall: Span::from_secs(15 * 14),
        command: ["plimsoll", "measure", storage.name, "--objective", "p99<=1ms", "--mix", "8k random 80 % reads"]
            .map(String::from)
            .into(),
        ended: EndReason::Complete,
        source: Source::Measured { engine: "io_uring".into() },
        subject: subject(storage),
        host: Some(host()),
        conditions: Conditions {
            streams: streams(),
            threads: 4,
            direct: true,
            compressible: 0.0,
            seed: 42,
            objective: Some(objective),
            trace: None,
        },
        knee: Some(Knee { iops: knee.figures.iops.value, mean_ns: knee.figures.mean_ns.value, offered: knee.offered }),
        load_line: Some(LoadLine::At { objective, iops: around(line, 0.034) }),
        closed_line: None,
        basis: None,
        slots: Vec::new(),
        findings: list_findings(),
        runs,
    }
}

/// Load lines of the curve at objectives from missed to met at all loads.
pub fn ladder() -> Vec<LoadLine> {
    let objective = |text: &str| text.parse::<Objective>().unwrap();
    vec![
        LoadLine::Never { objective: objective("p99<=200us"), least: Span::from_micros(233) },
        LoadLine::At { objective: objective("p99<=1ms"), iops: around(41_200.0, 0.03) },
        LoadLine::Beyond { objective: objective("p99<=20ms"), iops: Estimate::bare(62_000.0) },
    ]
}

/// A curve without content.
pub fn empty() -> Curve {
    Curve {
        runs: Vec::new(),
        knee: None,
        load_line: None,
        findings: Vec::new(),
        host: None,
        started: None,
        ..build_curve()
    }
}

/// A run without completions.
pub fn idle_run() -> Run {
    Run {
        offered: Pace::Closed { depth: 1 },
        warm_up: Span::ZERO,
        span: Span::ZERO,
        total: Tally::default(),
        lateness: Bins::default(),
        unserved: 0,
        series: Vec::new(),
        cpu: None,
        bound_by: Vec::new(),
        figures: Figures::default(),
        findings: Vec::new(),
    }
}

/// A curve with names that break output without escaping or wrapping.
pub fn hostile() -> Curve {
    let name = "/mnt/<b>&\"'--\u{1b}[31m\n,x".to_owned();
    let mut curve = build_curve();
    curve.subject.name.clone_from(&name);
    curve.subject.device = Some(Device { model: Some(name.clone()), ..Device::default() });
    curve.source = Source::Measured { engine: name.clone() };
    curve.conditions.streams[0].name.clone_from(&name);
    curve.command.push(name.clone());
    curve.host = Some(Host { cpu: Some(name.clone()), ..Host::default() });
    curve.findings.push(Finding::RingRefused { reason: name.clone() });
    curve.runs[2].bound_by = vec![(name, 0.8)];
    curve
}

/// The curve with as many completions after the offered time as within it: counts double, figures stay.
pub fn drained(mut curve: Curve) -> Curve {
    for run in &mut curve.runs {
        let backlog = run.total.clone();
        run.total.merge(&backlog);
    }
    curve
}

/// The curve without intervals.
pub fn without_intervals(mut curve: Curve) -> Curve {
    for run in &mut curve.runs {
        let figures = &mut run.figures;
        for estimate in
            [&mut figures.iops, &mut figures.mean_ns, &mut figures.p50_ns, &mut figures.p99_ns, &mut figures.p999_ns]
        {
            estimate.interval = None;
        }
    }
    curve
}

/// Curves with edge cases for renderers, by name.
pub fn odd() -> Vec<(&'static str, Curve)> {
    let objective: Objective = "p99.5<=250us".parse().unwrap();
    let with = |change: &dyn Fn(&mut Curve)| {
        let mut curve = build_curve();
        change(&mut curve);
        curve
    };
    vec![
        ("whole", build_curve()),
        ("cloud", curve_of(&CLOUD)),
        ("empty", empty()),
        ("one run", with(&|c| c.runs.truncate(1))),
        ("closed only", with(&|c| c.runs.truncate(8))),
        ("open only", with(&|c| drop(c.runs.drain(..8)))),
        ("idle run", with(&|c| c.runs.push(idle_run()))),
        ("idle runs only", with(&|c| c.runs = vec![idle_run(), idle_run()])),
        ("no intervals", without_intervals(build_curve())),
        ("no line", with(&|c| (c.load_line, c.knee) = (None, None))),
        ("never", with(&|c| c.load_line = Some(LoadLine::Never { objective, least: Span::from_micros(301) }))),
        ("beyond", with(&|c| c.load_line = Some(LoadLine::Beyond { objective, iops: Estimate::bare(60_000.0) }))),
        (
            "own measure",
            with(&|c| {
                c.load_line = Some(LoadLine::At { objective, iops: around(20_000.0, 0.1) });
                for run in &mut c.runs {
                    run.figures.objective_ns = Some(around(run.figures.p99_ns.value * 1.2, 0.05));
                }
            }),
        ),
        ("interrupted", with(&|c| c.ended = EndReason::Interrupted)),
        ("failed", with(&|c| c.ended = EndReason::Failed)),
        (
            "simulated",
            with(&|c| {
                c.source = Source::Simulated { model: "gp3".into(), credits: None };
                c.runs.iter_mut().for_each(|run| run.bound_by = vec![("volume rate, 60,000 IOPS".into(), 0.83)]);
            }),
        ),
        ("errors", with(&|c| c.runs[4].total.0[0].errors = vec![(5, 12), (28, 3)])),
        (
            "nonsense",
            with(&|c| {
                c.runs[1].figures.p99_ns = Estimate { value: f64::NAN, interval: Some((f64::NAN, f64::INFINITY)) };
                c.runs[2].figures.iops.interval = Some((-5.0, f64::INFINITY));
            }),
        ),
        ("hostile", hostile()),
    ]
}

/// Throughput at which the p99 of open loads exceeds `limit_ns`, by linear interpolation.
fn crossing(runs: &[Run], limit_ns: f64) -> f64 {
    let open: Vec<_> = runs[8..].iter().map(|run| (run.figures.iops.value, run.figures.p99_ns.value)).collect();
    let pair = open.windows(2).find(|pair| pair[1].1 > limit_ns).unwrap();
    let share = (limit_ns - pair[0].1) / (pair[1].1 - pair[0].1);
    pair[0].0 + share.clamp(0.0, 1.0) * (pair[1].0 - pair[0].0)
}

pub fn around(value: f64, share: f64) -> Estimate {
    Estimate { value, interval: Some((value * (1.0 - share), value * (1.0 + share))) }
}

fn run(storage: &Storage, offered: Pace, dice: &mut Dice) -> Run {
    let base = storage.base_us * 1e3;
    let (achieved, mean_ns, overload) = match offered {
        Pace::Closed { depth } => {
            // Harmonic sum of the two asymptotes of a closed network.
            let (light, depth) = (f64::from(depth) / (base / 1e9), f64::from(depth));
            let achieved = 1.0 / (light.powf(-2.2) + storage.capacity.powf(-2.2)).powf(1.0 / 2.2);
            (achieved, depth / achieved * 1e9, 0.0)
        }
        Pace::Open { rate, .. } => {
            let use_ = rate.as_f64() / storage.capacity;
            let wait = if use_ < 1.0 { use_.powi(4) / (1.0 - use_) * 0.55 } else { 1.2 };
            (rate.as_f64().min(storage.capacity), base * (1.0 + wait), (use_ - 1.0).max(0.0))
        }
    };
    let mut total = Tally::default();
    let mut series = Vec::new();
    for slice in 0..SLICES + 2 {
        let backlog = overload * slice as f64 * 1e9;
        let wobble = 1.0 + 0.012 * dice.normal();
        let open = matches!(offered, Pace::Open { .. });
        let tally = build_tally(achieved * wobble, mean_ns, backlog, open, dice);
        let start = Instant::from_nanos(slice as u64 * 1_000_000_000);
        if slice >= 2 {
            total.merge(&tally);
        }
        series.push(Slice { start, span: Span::from_secs(1), tally });
    }
    let overloaded = overload > 0.0;
    let figures = build_figures(&total, overloaded);
    let drift = Finding::NoSteadyState { measure: "p99".into(), drift: 1.7 };
    let findings = if overloaded { vec![drift] } else { Vec::new() };
    Run {
        offered,
        warm_up: Span::from_secs(2),
        span: Span::from_secs(SLICES as u64),
        total,
        lateness: Bins::default(),
        unserved: if overloaded { (achieved * overload * 12.0) as u64 } else { 0 },
        series,
        cpu: Some(CpuTime { user: Span::from_millis(1_210), system: Span::from_millis(2_900) }),
        bound_by: Vec::new(),
        figures,
        findings,
    }
}

fn build_figures(total: &Tally, overloaded: bool) -> Figures {
    let (seconds, response) = (SLICES as f64, total.response());
    let quantile = |q: f64, share| around(response.quantile(q).unwrap().as_nanos() as f64, share);
    let iops = total.operations() as f64 / seconds;
    let mean = response.mean().unwrap().as_nanos() as f64;
    Figures {
        iops: around(iops, 0.004),
        bytes_per_second: total.bytes() as f64 / seconds,
        mean_ns: around(mean, 0.012),
        p50_ns: quantile(0.5, 0.008),
        p99_ns: quantile(0.99, 0.03),
        p999_ns: quantile(0.999, 0.11),
        objective_ns: None,
        objective: None,
        in_flight: iops * mean / 1e9,
        steadiness: if overloaded { Steadiness::Overloaded } else { Steadiness::Steady },
    }
}

fn build_tally(rate: f64, mean_ns: f64, backlog: f64, open: bool, dice: &mut Dice) -> Tally {
    let mut counters = Vec::new();
    for (stream, kind, share, slow) in
        [(0, Kind::Read, 0.76, 1.0), (0, Kind::Write, 0.19, 0.7), (1, Kind::DurableWrite, 0.05, 1.3)]
    {
        let (mut response, mut service) = (Recorder::new(), Recorder::new());
        for _ in 0..SAMPLES {
            let body = (0.28 * dice.normal()).exp() * 0.9;
            let tail = if dice.uniform() < 0.012 { 2.0 + 3.0 * dice.uniform() } else { 1.0 };
            let far = if dice.uniform() < 0.000_8 { 4.0 } else { 1.0 };
            let took = mean_ns * slow * body * tail * far;
            let waited = if open { backlog + mean_ns * 0.1 * dice.uniform() } else { 0.0 };
            response.record(Span::from_nanos((took + waited) as u64));
            service.record(Span::from_nanos((took * if open { 0.93 } else { 1.0 }) as u64));
        }
        let times = (rate * share / SAMPLES as f64).round().max(1.0) as u64;
        let (response, service) = (scaled(response.take(), times), scaled(service.take(), times));
        let bytes = response.count * if stream == 0 { 8192 } else { 4096 };
        let service = open.then_some(service);
        counters.push(Counter { stream, kind, bytes, errors: Vec::new(), response, service });
    }
    Tally(counters)
}

/// Each sample represents `times` operations.
fn scaled(mut bins: Bins, times: u64) -> Bins {
    bins.count *= times;
    bins.sum_ns *= times;
    bins.bins.iter_mut().for_each(|(_, count)| *count *= times);
    bins
}

fn streams() -> Vec<StreamSpec> {
    let mix = |size, reads, durable| Mix { sizes: BlockMix::one(size), reads, durable, flush_every: 0 };
    let region = Region::first(Bytes::gib(400));
    vec![
        StreamSpec {
            name: "data".into(),
            mix: mix(Bytes::kib(8), 0.8, false),
            pattern: Pattern::Uniform,
            region,
            pace: Pace::Closed { depth: 1 },
        },
        StreamSpec {
            name: "redo".into(),
            mix: mix(Bytes::kib(4), 0.0, true),
            pattern: Pattern::Sequential,
            region: Region { start: region.length.get(), length: Bytes::gib(4) },
            pace: Pace::Closed { depth: 1 },
        },
    ]
}

fn subject(storage: &Storage) -> Subject {
    Subject {
        name: storage.name.into(),
        kind: "block device".into(),
        size: Bytes::gib(404),
        device: Some(Device {
            name: storage.name.rsplit('/').next().map(String::from),
            model: Some(storage.model.into()),
            size: Some(Bytes::new(3_840_755_982_336)),
            rotational: Some(false),
            logical_block: Some(512),
            physical_block: Some(4096),
            scheduler: Some("none".into()),
            queue_requests: Some(1023),
            write_cache: Some("write through".into()),
            filesystem: None,
            mount_options: None,
        }),
    }
}

pub fn host() -> Host {
    Host {
        kernel: Some("6.8.0-1021".into()),
        cpu: Some("AMD EPYC 9354P 32-Core Processor".into()),
        cpus: Some(16),
        memory: Some(Bytes::gib(128)),
        virtualization: None,
        clock_source: Some("tsc".into()),
        governor: Some("performance".into()),
    }
}

fn list_findings() -> Vec<Finding> {
    vec![
        Finding::BudgetSpent { half_width: 0.11 },
        Finding::FrequencyChanged { ratio: 0.84 },
        Finding::OtherLoad { iops: 212.0 },
    ]
}
