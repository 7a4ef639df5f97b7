//! Benchmark results as curves, from which models are fitted and which compare with theory: the only conversion, for
//! every format.
//!
//! Results of the same workload are runs of a curve, which differ in depth or rate. Values that the input does not state
//! are assumed, with a finding: a size, a share of reads and an order of addresses.

use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_record::{
    Conditions, Curve, EndReason, Estimate, FORMAT, Figures, Finding, Run, Source, Steadiness, Subject, Tally,
};
use plimsoll_units::{Bytes, Iops, Span};

use crate::reading::{Reading, ReadingEvidence};

/// Assumed size of an operation.
const BLOCK: Bytes = Bytes::kib(4);
/// Assumed size of the accessed range.
const SPACE: Bytes = Bytes::gib(1);
/// Share of the offered rate below which an open load is overloaded.
const MIN_ACHIEVED: f64 = 0.97;
/// The finding's quantity for an assumed size of the accessed range.
pub const ASSUMED_SPACE: &str = "the size of the accessed range";

/// A curve of benchmark results.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedCurve {
    /// The curve, without knee and load line.
    pub curve: Curve,
    /// Names of its results, in the order of the input.
    pub tests: Vec<String>,
}

/// The results of a reading as curves, in the order of the input; those of parts, of intervals and of transactions are
/// left out. With `test`, only results whose name is or begins with it.
pub fn build_curves(reading: &Reading, test: Option<&str>) -> Vec<ImportedCurve> {
    let mut curves: Vec<(Workload, ImportedCurve)> = Vec::new();
    let is_named = |one: &ReadingEvidence| test.is_none_or(|name| one.test == name);
    let begins = |one: &ReadingEvidence| test.is_none_or(|name| one.test.starts_with(name));
    let results = || reading.evidence.iter().filter(|one| !one.is_part && one.at_s.is_none());
    let by_name: Vec<&ReadingEvidence> = results().filter(|one| is_named(one)).collect();
    let selected = if by_name.is_empty() { results().filter(|one| begins(one)).collect() } else { by_name };
    for one in selected {
        let Some(pace) = find_pace(one) else { continue };
        let workload = Workload::of(one);
        let found = curves.iter_mut().find(|(other, _)| *other == workload);
        let (_, imported) = if let Some(found) = found {
            found
        } else {
            let imported = ImportedCurve { curve: curve(reading, one, &workload, pace), tests: Vec::new() };
            curves.push((workload, imported));
            curves.last_mut().expect("a curve was added")
        };
        imported.curve.runs.push(run(one, pace));
        imported.curve.wall += Span::from_secs_f64(one.lasted_s.unwrap_or(0.0));
        imported.tests.push(one.test.clone());
    }
    let mut curves: Vec<ImportedCurve> = curves.into_iter().map(|(_, imported)| imported).collect();
    for imported in &mut curves {
        imported.curve.runs.sort_by(|a, b| order(a.offered).total_cmp(&order(b.offered)));
        if let [stream] = &mut imported.curve.conditions.streams[..] {
            stream.pace = imported.curve.runs[0].offered;
        }
    }
    curves
}

/// Closed loads by depth, then open loads by rate.
fn order(pace: Pace) -> f64 {
    match pace {
        Pace::Closed { depth } => f64::from(depth) - f64::from(u32::MAX),
        Pace::Open { rate, .. } => rate.as_f64(),
    }
}

/// The constants of a curve.
#[derive(Clone, Debug, PartialEq)]
struct Workload {
    /// Percentage of reads: achieved shares scatter around the requested one.
    reads: Option<u32>,
    sequential: Option<bool>,
    block: Option<u64>,
    direct: Option<bool>,
    durable: bool,
    flush_every: Option<u32>,
    scope: u32,
}

impl Workload {
    fn of(one: &ReadingEvidence) -> Self {
        Self {
            reads: one.setting.reads.map(|share| (share * 100.0).round() as u32),
            sequential: one.setting.sequential,
            block: one.setting.block_bytes.map(|bytes| bytes.round() as u64).filter(|bytes| *bytes > 0),
            direct: one.offering.direct,
            durable: one.offering.durable,
            flush_every: one.offering.flush_every,
            scope: one.scope,
        }
    }

    fn stream(&self, space: Bytes, pace: Pace) -> StreamSpec {
        let block = self.block.map_or(BLOCK, Bytes::new);
        let sizes = BlockMix::weighted(vec![(block, 1)]).unwrap_or_else(|| BlockMix::one(BLOCK));
        StreamSpec {
            name: "data".into(),
            mix: Mix {
                sizes,
                reads: f64::from(self.reads.unwrap_or(100)) / 100.0,
                durable: self.durable,
                flush_every: self.flush_every.unwrap_or(0),
            },
            pattern: if self.sequential == Some(true) { Pattern::Sequential } else { Pattern::Uniform },
            region: Region::first(space.max(block)),
            pace,
        }
    }

    /// Findings about values that are assumed.
    fn assumptions(&self, space: Option<f64>) -> Vec<Finding> {
        let assumed = |is_stated: bool, what: &str, value: String| {
            (!is_stated).then(|| Finding::Assumed { what: what.into(), value })
        };
        let all = [
            assumed(self.block.is_some(), "the size of operations", BLOCK.to_string()),
            assumed(self.reads.is_some(), "the share of reads", "100 %".into()),
            assumed(self.sequential.is_some(), "the order of addresses", "random".into()),
            assumed(space.is_some(), ASSUMED_SPACE, SPACE.to_string()),
        ];
        all.into_iter().flatten().collect()
    }
}

/// Depth or rate; none for results that state neither, or no operations per second.
fn find_pace(one: &ReadingEvidence) -> Option<Pace> {
    one.iops.filter(|iops| *iops > 0.0)?;
    if let Some(rate) = one.offering.rate {
        return Some(Pace::Open { rate: Iops::from_f64(rate.max(1e-3)), arrival: Arrival::Constant });
    }
    let depth = one.setting.depth.map(f64::round).filter(|depth| (1.0..=1e9).contains(depth))?;
    Some(Pace::Closed { depth: depth as u32 })
}

fn curve(reading: &Reading, one: &ReadingEvidence, workload: &Workload, pace: Pace) -> Curve {
    let space = one.offering.space_bytes;
    let size = space.map_or(SPACE, |bytes| Bytes::new(bytes as u64));
    let scope = &reading.scopes[one.scope as usize];
    let names = [&scope.host, &scope.part].into_iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>();
    let name = if names.is_empty() { reading.name.clone() } else { names.join(":") };
    Curve {
        format: FORMAT.into(),
        made_by: reading.version.clone().unwrap_or_else(|| reading.kind.to_string()),
        started: None,
        wall: Span::ZERO,
        command: Vec::new(),
        ended: EndReason::Complete,
        source: source(reading, one),
        subject: Subject { name, kind: Subject::IMPORTED.into(), size, device: None },
        host: None,
        conditions: Conditions {
            streams: vec![workload.stream(size, pace)],
            threads: one.setting.threads.map_or(1, |threads| threads as u32),
            direct: workload.direct.unwrap_or(true),
            compressible: 0.0,
            seed: 1,
            objective: None,
            trace: None,
        },
        runs: Vec::new(),
        knee: None,
        load_line: None,
        closed_line: None,
        basis: None,
        slots: Vec::new(),
        findings: workload.assumptions(space),
    }
}

/// A program's own output is a measurement; a table of figures is a publication.
fn source(reading: &Reading, one: &ReadingEvidence) -> Source {
    if reading.kind.id == crate::bench::LOAD_CURVE.kind.id {
        return Source::Published { document: reading.name.clone() };
    }
    let program =
        reading.version.as_ref().map_or_else(|| reading.kind.to_string(), |version| version.replacen('-', " ", 1));
    let engine = one.offering.engine.as_ref().map(|engine| format!(", {engine}")).unwrap_or_default();
    Source::Measured { engine: format!("{program}{engine}") }
}

fn run(one: &ReadingEvidence, pace: Pace) -> Run {
    let iops = one.iops.unwrap_or(0.0);
    let mut findings = one.findings.clone();
    // Little's law (1961) for a load whose depth is always in flight.
    let by_depth = match pace {
        Pace::Closed { depth } => f64::from(depth) / iops,
        Pace::Open { .. } => 0.0,
    };
    if one.mean_s.is_none() && by_depth > 0.0 {
        let value = "depth over rate (Little's law)".into();
        findings.push(Finding::Assumed { what: "the mean response time".into(), value });
    }
    let mean_ns = one.mean_s.unwrap_or(by_depth) * 1e9;
    let at = |quantile: f64| {
        let found = one.quantiles.iter().find(|(share, _)| (share - quantile).abs() < 1e-9);
        found.map_or_else(Estimate::default, |(_, seconds)| Estimate::bare(seconds * 1e9))
    };
    let is_overloaded = one.offering.rate.is_some_and(|rate| iops < MIN_ACHIEVED * rate);
    let block = one.setting.block_bytes.unwrap_or(BLOCK.get() as f64);
    Run {
        offered: pace,
        warm_up: Span::ZERO,
        span: Span::from_secs_f64(one.lasted_s.unwrap_or(0.0)),
        total: Tally::default(),
        unserved: 0,
        series: Vec::new(),
        lateness: plimsoll_record::Bins::default(),
        cpu: None,
        bound_by: Vec::new(),
        figures: Figures {
            iops: Estimate::bare(iops),
            bytes_per_second: one.bytes_s.unwrap_or(iops * block),
            mean_ns: Estimate::bare(mean_ns),
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            in_flight: iops * mean_ns / 1e9,
            steadiness: if is_overloaded { Steadiness::Overloaded } else { Steadiness::Unknown },
            ..Figures::default()
        },
        findings,
    }
}
