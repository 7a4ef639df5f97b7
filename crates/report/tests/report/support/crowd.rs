//! Synthetic suites on databases: sessions on storage with queues, and statements in sequence.

use std::sync::OnceLock;

use plimsoll_analyse::{chosen_objective, knee, load_line};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{
    Bins, Counter, CpuTime, DatabaseAbout, DatabaseCounters, DatabaseSide, DelayAndQueue, DiskCounters, EndReason,
    Estimate, Figures, Finding, Listing, Recorder, Run, SUITE_FORMAT, SessionLimit, SessionRun, SessionTimes,
    SharedVerdict, Slice, Source, Spent, Statements, Steadiness, StepRun, StepWork, StorageSide, Subject, SuiteRun,
    Tally,
};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Span};

use super::Dice;

/// A database on storage.
#[derive(Clone, Copy)]
pub struct Server {
    pub name: &'static str,
    /// Transactions per second at saturation, all of them reading.
    pub capacity: f64,
    /// Response time of the lightest load in milliseconds.
    pub base_ms: f64,
    pub seed: u64,
}

/// On a volume with a rate limit.
pub const VOLUME: Server = Server { name: "PostgreSQL on /mnt/gp3", capacity: 420.0, base_ms: 11.0, seed: 3 };
/// On a local drive, thirty times as fast.
pub const DRIVE: Server = Server { name: "PostgreSQL on /mnt/nvme", capacity: 12_600.0, base_ms: 0.9, seed: 5 };

const SLICES: usize = 30;
const WARM_UP: usize = 4;
/// Blocks read per transaction.
const BLOCKS: f64 = 58.0;

/// Sessions from 1 to 64 on a storage, in a group for each name.
pub fn crowds(server: &Server, groups: &[(&str, f64)]) -> SuiteRun {
    let mut dice = Dice(server.seed);
    let mut steps = vec![loading()];
    for (group, updates) in groups {
        for sessions in [1u32, 2, 4, 8, 16, 32, 64] {
            let name = if group.is_empty() { String::new() } else { format!("{group}: ") };
            let name = if sessions == 1 { format!("{name}1 session") } else { format!("{name}{sessions} sessions") };
            let crowd = simulate_sessions(server, sessions, *updates, &mut dice);
            steps.push(step(&name, StepWork::Sessions(Box::new(crowd))));
        }
    }
    let runs: Vec<Run> = steps.iter().filter_map(|step| Some(crowd_in(&step.work)?.run.clone())).collect();
    let objective = chosen_objective(&runs).unwrap();
    let side = DatabaseSide {
        about: about(),
        knee: knee(&runs),
        load_line: load_line(&runs, objective),
        fitted: (groups.len() == 1).then_some(DelayAndQueue {
            demand: Span::from_nanos((1e9 / server.capacity) as u64),
            delay: Span::from_nanos((server.base_ms * 0.8e6) as u64),
            error: 0.043,
        }),
        snapshots: Some("slob.snap".into()),
    };
    suite(server.name, "slob", steps, side)
}

/// A load whose level changes twice.
pub fn staged() -> SuiteRun {
    let mut run = crowds(&VOLUME, &[("", 0.25)]);
    run.steps.truncate(3);
    if let Some(side) = &mut run.database {
        (side.knee, side.load_line, side.fitted) = (None, None, None);
    }
    if let StepWork::Sessions(crowd) = &mut run.steps[2].work {
        crowd.marks = vec![
            (Span::from_secs(12), "iops 3,000 to 6,000".into()),
            (Span::from_secs(24), "iops 6,000 to 3,000".into()),
        ];
    }
    run
}

/// Tests of sequential statements; `slow` is a multiple of the time of the fastest.
pub fn statements(name: &str, slow: f64) -> SuiteRun {
    let tests = [
        ("ATIS: create", 28, 40.0),
        ("ATIS: insert", 9_768, 3_100.0),
        ("ATIS: simple join", 500, 640.0),
        ("connect: connect", 10_000, 11_200.0),
        ("connect: select 1 row", 100_000, 5_300.0),
        ("create: tables", 10_000, 31_000.0),
        ("insert: insert", 300_000, 52_000.0),
        ("wisconsin: joins", 100, 12.0),
    ];
    let step_of = |(name, count, ms): (&str, u64, f64)| {
        let span = Span::from_nanos((ms * slow * 1e6) as u64);
        let mut each = Recorder::new();
        for nth in 0..200u64 {
            each.record(Span::from_nanos((span.as_nanos() / count).max(1) * (90 + nth % 30) / 100));
        }
        let done = if name.starts_with("create") && slow > 2.0 { count / 3 } else { count };
        let work = Statements {
            requested: count,
            done,
            wrong: if name.ends_with("joins") && slow > 2.0 { 2 } else { 0 },
            span,
            each: each.take(),
            client: CpuTime { user: span / 20, system: span / 40 },
            counted: DatabaseCounters { log_flushes: Some(count), ..DatabaseCounters::default() },
            storage: StorageSide {
                disk: Some(DiskCounters { flushes: count * 2, ..DiskCounters::default() }),
                ..StorageSide::default()
            },
        };
        step(name, StepWork::Statements(Box::new(work)))
    };
    let steps = tests.into_iter().map(step_of).collect();
    suite(name, "sql-bench", steps, DatabaseSide { about: about(), ..DatabaseSide::default() })
}

/// Suites of the same kind on two storages, with two groups each.
pub fn several() -> Vec<SuiteRun> {
    let groups = [("100 % reads", 0.0), ("75/25", 0.25)];
    vec![crowds(&VOLUME, &groups), crowds(&DRIVE, &groups)]
}

/// The same tests on three databases.
pub fn tested() -> Vec<SuiteRun> {
    [("MariaDB on /mnt/a", 1.0), ("PostgreSQL on /mnt/a", 1.35), ("MariaDB on /mnt/b", 3.0)]
        .map(|(name, slow)| statements(name, slow))
        .into()
}

/// The session group of a step.
pub fn crowd_in(work: &StepWork) -> Option<&SessionRun> {
    match work {
        StepWork::Sessions(crowd) => Some(crowd),
        _ => None,
    }
}

/// Suites with edge cases for renderers, by name.
pub fn odd() -> Vec<(&'static str, SuiteRun)> {
    static MADE: OnceLock<SuiteRun> = OnceLock::new();
    let total = MADE.get_or_init(|| crowds(&VOLUME, &[("", 0.25)]));
    let with = |change: &dyn Fn(&mut SuiteRun)| {
        let mut run = total.clone();
        change(&mut run);
        run
    };
    let each = |change: &dyn Fn(&mut SessionRun)| {
        with(&|run| {
            for step in &mut run.steps {
                if let StepWork::Sessions(crowd) = &mut step.work {
                    change(crowd);
                }
            }
        })
    };
    vec![
        ("whole", total.clone()),
        ("groups", crowds(&DRIVE, &[("100 % reads", 0.0), ("75/25", 0.25)])),
        ("staged", staged()),
        ("statements", statements("MariaDB on /mnt/a", 1.0)),
        ("cut short", statements("MariaDB on /mnt/b", 3.0)),
        ("empty", with(&|run| run.steps.clear())),
        ("one point", with(&|run| run.steps.truncate(2))),
        ("no database", with(&|run| run.database = None)),
        (
            "nothing counted",
            each(&|crowd| {
                crowd.counted = DatabaseCounters::default();
                crowd.storage = StorageSide::default();
                (crowd.split, crowd.client, crowd.limit) = (None, None, None);
            }),
        ),
        (
            "nothing done",
            each(&|crowd| {
                crowd.run.figures = Figures::default();
                crowd.run.total = Tally::default();
                crowd.run.series.clear();
                crowd.run.span = Span::ZERO;
                crowd.counted = DatabaseCounters { reads: Some(0), hits: Some(0), ..DatabaseCounters::default() };
            }),
        ),
        (
            "open",
            each(&|crowd| {
                let rate = Iops::per_second(u64::from(crowd.sessions) * 10);
                crowd.run.offered = Pace::Open { rate, arrival: Arrival::Poisson };
            }),
        ),
        (
            "nonsense",
            each(&|crowd| {
                let wild = Estimate { value: f64::NAN, interval: Some((f64::NEG_INFINITY, f64::NAN)) };
                let figures = &mut crowd.run.figures;
                (figures.p99_ns, figures.mean_ns) = (wild, wild);
                figures.iops.interval = Some((-3.0, f64::INFINITY));
                crowd.storage.bound_by = vec![("rate".into(), f64::NAN)];
                crowd.marks = vec![(Span::MAX, "late".into())];
                crowd.split = Some(SessionTimes {
                    shares: vec![(Spent::Reading, f64::NAN), (Spent::Other, 7.0)],
                    method: String::new(),
                });
                crowd.limit = None;
            }),
        ),
        ("hostile", hostile(total.clone())),
    ]
}

/// Sets names that break output without escaping or wrapping.
pub fn hostile(mut run: SuiteRun) -> SuiteRun {
    let name = format!("a: <b>&\"'--\u{1b}[31m\n,x{}", "y".repeat(300));
    run.subject.name.clone_from(&name);
    run.suite.clone_from(&name);
    run.follows.clone_from(&name);
    run.settings.push((name.clone(), name.clone()));
    run.command.push(name.clone());
    run.verdicts.push(SharedVerdict::Text { text: name.clone() }.into());
    run.listings.push(Listing { title: name.clone(), text: "a table".into() });
    run.findings.push(Finding::Unobserved { what: name.clone(), why: name.clone() });
    if let Some(side) = &mut run.database {
        side.about.system.clone_from(&name);
        side.about.folder = Some(name.clone());
        side.about.settings.push((name.clone(), name.clone()));
        side.snapshots = Some(name.clone());
    }
    for step in &mut run.steps {
        step.name = format!("{name} {}", step.name);
        if let StepWork::Sessions(crowd) = &mut step.work {
            crowd.kinds = vec![name.clone()];
            crowd.limit = Some(name.clone().into());
            crowd.marks = vec![(Span::from_secs(3), name.clone())];
            crowd.storage.bound_by = vec![(name.clone(), 0.5)];
            if let Some(split) = &mut crowd.split {
                split.method.clone_from(&name);
            }
        }
    }
    run
}

fn about() -> DatabaseAbout {
    DatabaseAbout {
        system: "PostgreSQL".into(),
        version: "15.14".into(),
        block: Bytes::kib(8),
        cache: Some(Bytes::mib(64)),
        direct: Some(false),
        memory: Some(Bytes::mib(256)),
        durable: Some(true),
        folder: Some("/mnt/gp3/plimsoll-pg".into()),
        created: true,
        settings: vec![("fsync".into(), "on".into()), ("full_page_writes".into(), "on".into())],
    }
}

fn suite(name: &str, suite: &str, steps: Vec<StepRun>, side: DatabaseSide) -> SuiteRun {
    SuiteRun {
        format: SUITE_FORMAT.into(),
        made_by: "plimsoll 0.1.0".into(),
        started: Some("2026-03-02T10:04:05Z".into()),
        wall: Span::from_secs(400),
        command: ["plimsoll", "suite", suite, "--make", "postgres", "--path", "/mnt/gp3"].map(String::from).into(),
        ended: EndReason::Complete,
        source: Source::Measured { engine: "SQL".into() },
        subject: Subject { name: name.into(), kind: "database".into(), size: Bytes::gib(4), device: None },
        host: Some(super::host()),
        suite: suite.into(),
        follows: "SLOB 2.5.4".into(),
        settings: vec![("UPDATE_PCT".into(), "25".into()), ("WORK_UNIT".into(), "64".into())],
        steps,
        database: Some(Box::new(side)),
        listings: Vec::new(),
        verdicts: Vec::new(),
        findings: vec![Finding::PageCacheBelowDatabase { share: 0.12 }],
    }
}

fn step(name: &str, work: StepWork) -> StepRun {
    StepRun { name: name.into(), round: 1, counts: true, measures: None, writes_each: None, work }
}

fn loading() -> StepRun {
    let mut each = Recorder::new();
    each.record(Span::from_secs(20));
    let work =
        Statements { requested: 1, done: 1, span: Span::from_secs(20), each: each.take(), ..Statements::default() };
    StepRun { counts: false, ..step("load", StepWork::Statements(Box::new(work))) }
}

fn simulate_sessions(server: &Server, sessions: u32, updates: f64, dice: &mut Dice) -> SessionRun {
    let capacity = server.capacity / (1.0 + updates);
    let (light, depth) = (f64::from(sessions) / (server.base_ms / 1e3), f64::from(sessions));
    let achieved = 1.0 / (light.powf(-2.2) + capacity.powf(-2.2)).powf(1.0 / 2.2);
    let mean_ns = depth / achieved * 1e9;
    let used = achieved / capacity;
    let run = build_run(sessions, achieved, mean_ns, updates, dice);
    let seconds = SLICES as f64;
    let count = |each: f64| (achieved * each * seconds) as u64;
    let (reads, flushes) = (count(BLOCKS), count(updates));
    let read_ns = mean_ns / BLOCKS * 0.8;
    let time = |count: u64, ns: f64| Span::from_nanos((count as f64 * ns) as u64);
    SessionRun {
        sessions,
        kinds: vec!["read".into(), "update".into()],
        run,
        parts: Tally::default(),
        counted: DatabaseCounters {
            hits: Some(reads / 3),
            reads: Some(reads),
            read_time: Some(time(reads, read_ns)),
            writes: Some(count(BLOCKS * updates)),
            log_bytes: Some(flushes * 9_000),
            log_flushes: Some(flushes),
            log_flush_time: Some(time(flushes, read_ns * 2.2)),
            commits: Some(count(1.0)),
            lock_time: None,
            fetched_bytes: Some(reads * 8192 / 100 * 88),
            cpu: Some(CpuTime { user: Span::from_secs(9), system: Span::from_secs(4) }),
        },
        storage: StorageSide {
            disk: Some(DiskCounters {
                device: "nvme1n1".into(),
                reads: reads * 88 / 100,
                read_bytes: reads * 8192 / 100 * 88,
                read_time: time(reads * 88 / 100, read_ns * 0.93),
                writes: count(BLOCKS * updates),
                written_bytes: count(BLOCKS * updates) * 8192,
                write_time: time(count(BLOCKS * updates), read_ns),
                flushes,
                flush_time: time(flushes, read_ns * 2.0),
                busy: Span::from_nanos((used.min(1.0) * seconds * 1e9) as u64),
            }),
            host: None,
            bound_by: Vec::new(),
        },
        split: Some(SessionTimes { shares: shares(used, updates), method: format!("1,200 looks, {sessions} at once") }),
        client: Some(CpuTime { user: Span::from_millis(900), system: Span::from_millis(400) }),
        limit: (used > 0.9).then(|| SessionLimit::Stage { stage: "reads of the storage".into() }),
        marks: Vec::new(),
    }
}

fn shares(used: f64, updates: f64) -> Vec<(Spent, f64)> {
    let (cpu, commits, locks, client) =
        (0.2 * (1.0 - used) + 0.04, 0.5 * updates, 0.03 * used, 0.05 * (1.0 - used) + 0.003);
    vec![
        (Spent::Processor, cpu),
        (Spent::Reading, 1.0 - cpu - commits - locks - client),
        (Spent::Committing, commits),
        (Spent::Locked, locks),
        (Spent::Client, client),
    ]
}

fn build_run(sessions: u32, rate: f64, mean_ns: f64, updates: f64, dice: &mut Dice) -> Run {
    let (mut total, mut series) = (Tally::default(), Vec::new());
    for slice in 0..SLICES + WARM_UP {
        let pace = rate * (1.0 + 0.03 * dice.normal()) * if slice < 2 { 0.6 } else { 1.0 };
        let tally = Tally(vec![
            counter(0, pace * (1.0 - updates), mean_ns, dice),
            counter(1, pace * updates, mean_ns * 1.6, dice),
        ]);
        if slice >= WARM_UP {
            total.merge(&tally);
        }
        series.push(Slice {
            start: Instant::from_nanos(slice as u64 * 1_000_000_000),
            span: Span::from_secs(1),
            tally,
        });
    }
    let response = total.response();
    let quantile = |q: f64, share| super::around(response.quantile(q).unwrap().as_nanos() as f64, share);
    let figures = Figures {
        iops: super::around(rate, 0.011),
        bytes_per_second: 0.0,
        mean_ns: super::around(mean_ns, 0.02),
        p50_ns: quantile(0.5, 0.02),
        p99_ns: quantile(0.99, 0.06),
        p999_ns: quantile(0.999, 0.2),
        objective_ns: None,
        objective: None,
        in_flight: f64::from(sessions),
        steadiness: Steadiness::Steady,
    };
    Run {
        offered: Pace::Closed { depth: sessions },
        warm_up: Span::from_secs(WARM_UP as u64),
        span: Span::from_secs(SLICES as u64),
        total,
        unserved: 0,
        lateness: Bins::default(),
        series,
        cpu: None,
        bound_by: Vec::new(),
        figures,
        findings: Vec::new(),
    }
}

fn counter(stream: u8, rate: f64, mean_ns: f64, dice: &mut Dice) -> Counter {
    const SAMPLES: u64 = 60;
    let mut response = Recorder::new();
    for _ in 0..SAMPLES {
        let tail = if dice.uniform() < 0.03 { 2.5 } else { 1.0 };
        response.record(Span::from_nanos((mean_ns * (0.25 * dice.normal()).exp() * tail) as u64));
    }
    let mut response = response.take();
    let times = (rate / SAMPLES as f64 * 100.0).round() as u64;
    response.bins.iter_mut().for_each(|(_, count)| *count = *count * times / 100);
    response.bins.retain(|(_, count)| *count > 0);
    response.count = response.bins.iter().map(|(_, count)| *count).sum();
    response.sum_ns = response.count.saturating_mul(mean_ns as u64);
    let kind = if stream == 0 { Kind::Read } else { Kind::Write };
    Counter { stream, kind, bytes: 0, errors: Vec::new(), response, service: None }
}
