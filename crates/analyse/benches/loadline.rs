//! Load lines of queues with known line, with and without disturbances: bias, coverage, false alarms, power.
//!
//! `cargo bench -p plimsoll-analyse --bench loadline -- [SEEDS] [quick,default,thorough] [MODEL...]` prints the tables
//! of `docs/loadline.md`. 100 seeds of quick and default take a few minutes. SEEDS is how many, or a range such as
//! 1001..1100.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

#[path = "../tests/analyse/queue.rs"]
mod queue;
#[path = "../tests/analyse/toy.rs"]
#[allow(dead_code)]
mod toy;

use std::io::Write;
use std::ops::RangeInclusive;

use plimsoll_analyse::{Purpose, SweepPoint, estimate};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{LoadLine, LoadSlot, Objective, SlotRole};
use plimsoll_units::{Iops, Span};

use queue::{Effort, HostModel, Model, QUEUE, Queue, measured, p99_line, plan};

/// Measured model, with the limit of its objective in milliseconds.
const MODELS: [(&str, Model, u64); 6] = [
    ("M/M/8", QUEUE, 5),
    ("M/M/1 fast", Model { servers: 1, service: 2.5e-5, ..QUEUE }, 1),
    ("limit 12,000 and M/M/16", Model { servers: 16, service: 9e-4, limit: Some((12_000.0, 0.0)), ..QUEUE }, 5),
    ("bank of 52", Model { servers: 52, service: 1.4e-3, is_bank: true, ..QUEUE }, 20),
    ("M/M/1 slow", Model { servers: 1, service: 1e-3, ..QUEUE }, 20),
    ("burst", Model { servers: 16, service: 1e-3, limit: Some((6_000.0, 30_000.0)), ..QUEUE }, 20),
];

/// A host that takes the processor away from the generator.
const HOST: HostModel = HostModel { phases: (1.0, 2.0), pieces: (6e-3, 4e-3) };

/// Name and modification of a model.
type Disturbance = (&'static str, fn(Model) -> Model);

fn disturbances() -> [Disturbance; 6] {
    [
        ("none", |model| model),
        ("twice as slow for 1 s of 5 s", |model| Model { slow: Some((1.0, 4.0, 2.0)), ..model }),
        ("twice as slow for 20 s of 100 s", |model| Model { slow: Some((20.0, 80.0, 2.0)), ..model }),
        ("drift of 10 % in 30 s", |model| Model { drift: Some((0.1, 30.0)), ..model }),
        ("stalls of 20 ms, one in 2 s", |model| Model { stalls: Some((0.5, 0.02)), ..model }),
        ("no processor for 4 of 10 ms, 1 s of 3 s", |model| Model { host: Some(HOST), ..model }),
    ]
}

#[derive(Clone, Copy)]
struct Line {
    value: f64,
    low: f64,
    high: f64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let seeds = parse_seeds(words.first().map_or("100", String::as_str));
    let efforts = words.get(1).map_or("quick,default", String::as_str);
    let is_selected = |name: &str| words.len() < 3 || words[2..].iter().any(|word| name.contains(word.as_str()));
    let efforts: Vec<Effort> = efforts
        .split(',')
        .map(|word| match word {
            "thorough" => Effort::Thorough,
            "default" => Effort::Default,
            _ => Effort::Quick,
        })
        .collect();
    print(
        "| model (truth) | disturbance | effort | bias % | sd % | half width % | covers % | false alarms % | of 3 and 3 % | power at 10/20/30 % | refused |",
    );
    print("|-|-|-|-|-|-|-|-|-|-|-|");
    for (name, model, limit_ms) in MODELS.into_iter().filter(|(name, ..)| is_selected(name)) {
        for (disturbance, change) in disturbances() {
            // A burst allowance is itself a disturbance.
            if name == "burst" && disturbance != "none" {
                continue;
            }
            let (disturbed, objective) = (change(model), toy::p99_within(Span::from_millis(limit_ms)));
            let truth = measure_truth(disturbed, objective);
            for &effort in &efforts {
                let row = study(disturbed, objective, truth, effort, seeds.clone());
                print(&format!("| {name} ({truth:.0}) | {disturbance} | {effort:?} | {row} |"));
            }
        }
    }
}

/// Parses a number of seeds from 1, or a range.
fn parse_seeds(word: &str) -> RangeInclusive<u64> {
    let number = |text: &str| text.parse().expect("a number of seeds, or a range such as 1001..1100");
    match word.split_once("..") {
        Some((first, last)) => number(first)..=number(last),
        None => 1..=number(word),
    }
}

fn print(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Load at which the median half second meets the objective, from 1,200 slots.
fn measure_truth(model: Model, objective: Objective) -> f64 {
    let limit = objective.limit.as_secs_f64();
    let (servers, rate) = (model.servers as f64, 1.0 / model.service);
    let start = match model.limit {
        Some((limited, _)) => 0.9 * limited,
        None if model.is_bank => servers * (rate - 100_f64.ln() / limit),
        None => p99_line(model.servers, model.service, limit),
    };
    // Without its burst: the lasting load. The host of the generator is no part of the storage.
    let model = Model { limit: model.limit.map(|(rate, _)| (rate, 0.0)), host: None, ..model };
    let (mut queue, mut middle) = (Queue::new(model, 999), start);
    for round in 0..3 {
        let passes = if round < 2 { 8 } else { 80 };
        let slots = around(&mut queue, middle, passes);
        let found = estimate(&slots, objective).and_then(|found| found.line.iops());
        middle = found.map_or(middle, |iops| iops.value);
    }
    middle
}

/// Slots of half a second at loads around `middle`.
fn around(queue: &mut Queue, middle: f64, passes: u32) -> Vec<LoadSlot> {
    const OFFSETS: [f64; 15] =
        [-0.6, -0.45, -0.3, -0.22, -0.16, -0.11, -0.07, -0.04, -0.02, 0.0, 0.02, 0.04, 0.07, 0.11, 0.16];
    let mut slots = Vec::new();
    for pass in 0..passes {
        for index in 0..OFFSETS.len() {
            let offset = OFFSETS[(index * 7 + pass as usize) % OFFSETS.len()];
            let rate = Iops::from_f64(middle * offset.exp());
            let half = Span::from_millis(500);
            let point = SweepPoint {
                pace: Pace::Open { rate, arrival: Arrival::Poisson },
                warm_up: Span::from_millis(50),
                least: half,
                max: half,
                purpose: Purpose::LoadLine,
                slot: Some((SlotRole::Pass, pass)),
            };
            slots.extend(queue.measure(&point, half));
        }
    }
    slots
}

fn study(model: Model, objective: Objective, truth: f64, effort: Effort, seeds: RangeInclusive<u64>) -> String {
    let mut lines: Vec<Line> = Vec::new();
    let all = seeds.clone().count();
    for seed in seeds {
        let (slots, _) = measured(model, &plan(effort, Some(objective), seed), seed);
        if let Some(LoadLine::At { iops, .. }) = estimate(&slots, objective).map(|found| found.line)
            && let Some((low, high)) = iops.interval
        {
            lines.push(Line { value: iops.value, low, high });
        }
    }
    let refused = all - lines.len();
    if lines.len() < 4 {
        return format!("- | - | - | - | - | - | - | {refused} of {all}");
    }
    let errors: Vec<f64> = lines.iter().map(|line| (line.value / truth).ln()).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let sd = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
    let mut halves: Vec<f64> = lines.iter().map(|line| (line.high / line.low).ln() / 2.0).collect();
    halves.sort_by(f64::total_cmp);
    let covers = lines.iter().filter(|line| line.low <= truth && truth <= line.high).count();
    let percent = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
    let pairs: Vec<&[Line]> = lines.chunks_exact(2).collect();
    let found = |factor: f64| pairs.iter().filter(|pair| differ(pair[0], scaled(pair[1], factor))).count();
    let power = [1.1, 1.2, 1.3].map(|factor| format!("{:.0}", percent(found(factor), pairs.len()))).join("/");
    let groups: Vec<&[Line]> = lines.chunks_exact(6).collect();
    let welch = groups.iter().filter(|group| differ_on_average(&group[..3], &group[3..])).count();
    format!(
        "{:+.1} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} | {power} | {refused} of {all}",
        100.0 * mean,
        100.0 * sd,
        100.0 * halves[halves.len() / 2],
        percent(covers, lines.len()),
        percent(found(1.0), pairs.len()),
        percent(welch, groups.len()),
    )
}

fn scaled(line: Line, factor: f64) -> Line {
    Line { value: line.value * factor, low: line.low * factor, high: line.high * factor }
}

/// True if two single runs differ: disjoint intervals, and values at least 5 % apart.
fn differ(a: Line, b: Line) -> bool {
    (a.high < b.low || b.high < a.low) && (b.value / a.value).ln().abs() > 1.05_f64.ln()
}

/// True if three runs on each side differ (Welch on logarithms, with floors).
fn differ_on_average(a: &[Line], b: &[Line]) -> bool {
    let logs = |side: &[Line]| side.iter().map(|line| line.value.ln()).collect::<Vec<f64>>();
    let mean = |side: &[f64]| side.iter().sum::<f64>() / side.len() as f64;
    let variance =
        |side: &[f64]| side.iter().map(|log| (log - mean(side)).powi(2)).sum::<f64>() / (side.len() - 1) as f64;
    let (left, right) = (logs(a), logs(b));
    let error = ((variance(&left) + variance(&right)) / 3.0).sqrt();
    let mut halves: Vec<f64> = a.iter().chain(b).map(|line| (line.high / line.low).ln() / 2.0).collect();
    halves.sort_by(f64::total_cmp);
    let floor = 0.5 * (2.0_f64 / 3.0).sqrt() * f64::midpoint(halves[2], halves[3]);
    let least = (2.776 * error).max(1.05_f64.ln()).max(floor);
    (mean(&left) - mean(&right)).abs() > least
}
