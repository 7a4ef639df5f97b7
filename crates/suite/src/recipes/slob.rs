//! SLOB: random reads and updates of single blocks by sessions inside a database, with rising concurrency up to
//! saturation.
//!
//! Follows SLOB 2.5 and pgio: a row per block, keys at random places, all schemas active at every point, rising threads
//! per schema; the load is measured in block reads and writes by the database's counters. Scans of a second table
//! (`SCAN_PCT`) and a preferred schema (`HOT_SCHEMA_FREQUENCY`) are not supported.

mod dialect;
mod layout;
mod options;
mod points;
mod print;
mod scatter;
mod scripts;
mod turns;
mod verdicts;

use std::sync::Arc;

use plimsoll_analyse::{Precision, Sweep, SweepPlan, SweepPoint as Load, chosen_objective, knee, load_line};
use plimsoll_database::{System, Value};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{DatabaseAbout, DatabaseSide, Listing, Run, Slice, StepQuantity, Verdict};
use plimsoll_units::{Bytes, Span};

use crate::ground::Facts;
use crate::options::OptionsError;
use crate::recipe::{CompletedStep, Recipe};
use crate::result::StepResult;
use crate::session_run::session_run;
use crate::sql::{SessionsResult, SessionsStep, SqlRequest, StatementsStep};
use crate::step::{Step, Work};

pub use options::{Hotspot, RedoStress, SchemaScale, SlobOptions, ThinkTime};

use dialect::places_at_once;
use layout::SchemaLayout;
use options::SlobError;
use points::{PointSpec, SlobCurve, SlobPoint};

/// Maximum number of loading sessions.
const MAX_LOADERS: u32 = 4;
/// Maximum number of refining loads around the load line.
const REFINEMENTS: usize = 3;
/// Minimum and maximum duration of a point.
const MIN_POINT: Span = Span::from_secs(3);
const MAX_POINT: Span = Span::from_secs(60);

#[derive(Debug)]
pub struct Slob {
    options: SlobOptions,
    layout: Arc<SchemaLayout>,
    /// Loading steps, and a count of the rows.
    preparations: Vec<Step>,
    /// Index of the present curve in the shares of updates, and its sweep.
    curve: usize,
    sweep: Option<Sweep>,
    /// Parameters of each step after these.
    given: Vec<PointSpec>,
}

impl Slob {
    /// The recipe on a database with these facts.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the ground.
    pub fn new(options: SlobOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let (system, about) = facts.database.as_ref().ok_or(SlobError::NoDatabase)?;
        let layout = Arc::new(options.layout(*system, about)?);
        let preparations = build_preparations(&layout);
        Ok(Self { options, layout, preparations, curve: 0, sweep: None, given: Vec::new() })
    }

    /// The executed points with their parameters.
    fn measured<'a>(
        &'a self,
        done: &'a [CompletedStep],
    ) -> impl Iterator<Item = (PointSpec, &'a SessionsStep, &'a SessionsResult)> {
        let both = self.given.iter().zip(done.iter().skip(self.preparations.len()));
        both.filter_map(|(spec, done)| match &done.step.work {
            Work::Sessions(step) => Some((*spec, step, done.result.sessions()?)),
            _ => None,
        })
    }

    /// Measured points in order of threads.
    fn points(&self, done: &[CompletedStep]) -> Vec<SlobPoint> {
        let mut points: Vec<SlobPoint> =
            self.measured(done).map(|(spec, step, observed)| SlobPoint::of(spec, step, observed)).collect();
        points.sort_by_key(|point| point.spec.threads);
        points
    }

    /// Points of the present curve as runs of units of work by threads per schema, and their total time.
    fn runs(&self, done: &[CompletedStep]) -> (Vec<Run>, Span) {
        let (mut runs, mut spent) = (Vec::new(), Span::ZERO);
        let pct = self.options.update_pcts[self.curve];
        for (spec, step, observed) in self.measured(done).filter(|(spec, ..)| spec.update_pct == pct) {
            let offered = Pace::Closed { depth: spec.threads };
            runs.push(Run { offered, ..session_run(step, observed).run });
            spent = observed.series.iter().map(|slice: &Slice| slice.span).fold(spent, |sum, span| sum + span);
        }
        (runs, spent)
    }

    /// Next load of the present curve, in threads per schema.
    fn load(&mut self, done: &[CompletedStep]) -> Option<Load> {
        let (runs, spent) = self.runs(done);
        let plan = self.plan();
        let sweep = self.sweep.get_or_insert_with(|| Sweep::new(plan));
        // No open loads: sessions continue as soon as they have a reply.
        sweep.next(&runs, &[], spent)
    }

    fn plan(&self) -> SweepPlan {
        let each = self.options.budget / self.options.update_pcts.len() as u64;
        SweepPlan {
            budget: each,
            depths: self.options.threads.clone(),
            max_depth: self.options.max_threads(),
            rates: None,
            arrival: Arrival::Poisson,
            objective: self.options.objective,
            precision: Precision::default(),
            repetitions: 1,
            least_point: MIN_POINT.min(each / 2),
            max_point: MAX_POINT,
            slots: None,
        }
    }

    fn step(&self, spec: PointSpec, load: &Load) -> Step {
        let sessions = spec.threads * self.options.schemas;
        let step = SessionsStep {
            sessions,
            pace: Pace::Closed { depth: sessions },
            kinds: turns::kinds(self.layout.system),
            work: turns::work(&self.layout, spec.update_pct),
            turns: None,
            warm_up: load.warm_up,
            least: load.least,
            max: load.max,
            precision: Precision::default(),
            objective: self.options.objective,
            checkpoint: true,
            seed: self.options.seed.wrapping_add((self.preparations.len() + self.given.len()) as u64),
        };
        let (pct, threads) = (spec.update_pct, print::threads(spec.threads));
        let name = format!("UPDATE_PCT={pct}: {threads} for each of {} schemas", self.options.schemas);
        Step::sessions(name, step).measuring(StepQuantity::UnitsOfWork)
    }

    /// Rows and blocks of each schema, counted after loading.
    fn counted(&self, done: &[CompletedStep]) -> Vec<(i64, f64, f64)> {
        let Some(last) = done.get(self.preparations.len() - 1).and_then(|done| done.result.statements()) else {
            return Vec::new();
        };
        let number = |value: Option<&Value>| value.and_then(Value::float).unwrap_or(0.0);
        last.rows.iter().map(|row| (number(row.first()) as i64, number(row.get(1)), number(row.get(2)))).collect()
    }
}

/// Loading steps: tables, rows, indexes with statistics, and a count.
fn build_preparations(layout: &Arc<SchemaLayout>) -> Vec<Step> {
    let of_schemas = |statements: &dyn Fn(u32) -> Vec<String>| (1..=layout.schemas).flat_map(statements).collect();
    let (tables, finish) = (of_schemas(&|schema| layout.create(schema)), of_schemas(&|schema| layout.finish(schema)));
    vec![
        Step::statements("Creating tables", StatementsStep::of(tables)).loading(),
        Step::statements("Loading rows, one to a block", filling(layout)).loading(),
        Step::statements("Indexes and statistics", StatementsStep::of(finish)).loading(),
        Step::query("Counting rows and blocks", layout.count()),
    ]
}

/// Loads chunk by chunk, alternating schemas. With half as many sessions as schemas, two sessions rarely fill the same
/// schema concurrently, which would split its pages.
fn filling(layout: &Arc<SchemaLayout>) -> StatementsStep {
    let (layout, schemas) = (Arc::clone(layout), u64::from(layout.schemas));
    let (places, at_once) = (layout.scatter(1).places(), places_at_once(layout.system));
    // SQLite allows a single writer.
    let sessions = if layout.system == System::Sqlite { 1 } else { (layout.schemas / 2).clamp(1, MAX_LOADERS) };
    let at = move |index: u64| {
        let (schema, chunk) = (index % schemas + 1, index / schemas);
        let range = (chunk * at_once, ((chunk + 1) * at_once).min(places));
        vec![SqlRequest::text(layout.fill(schema as u32, range))]
    };
    StatementsStep { sessions, ..StatementsStep::new(places.div_ceil(at_once) * schemas, at) }
}

impl Recipe for Slob {
    fn name(&self) -> &'static str {
        "slob"
    }

    fn follows(&self) -> String {
        "SLOB 2.5, in any database".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let (options, layout) = (&self.options, &self.layout);
        let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let mut settings = vec![
            ("schemas".to_owned(), options.schemas.to_string()),
            (
                "scale".to_owned(),
                format!("{} blocks, {}", layout.rows, Bytes::new(layout.rows.saturating_mul(layout.block))),
            ),
            ("work unit".to_owned(), options.work_unit.to_string()),
            ("update pct".to_owned(), list(&options.update_pcts)),
            ("redo stress".to_owned(), format!("{:?}", options.redo_stress).to_lowercase()),
            ("obfuscated".to_owned(), (!options.compressible).to_string()),
            ("duration".to_owned(), options.budget.to_string()),
            ("max sessions".to_owned(), options.max_sessions.to_string()),
            ("seed".to_owned(), options.seed.to_string()),
        ];
        let mut add = |name: &str, value: Option<String>| settings.extend(value.map(|value| (name.to_owned(), value)));
        add("threads", options.threads.as_deref().map(list));
        add("objective", options.objective.map(|objective| objective.to_string()));
        let hot = |hot: Hotspot| format!("{} at {}, every unit of work number {}", hot.size, hot.offset, hot.frequency);
        add("hotspot", options.hotspot.map(hot));
        let think = |think: ThinkTime| format!("{} to {}, after one in {}", think.least, think.max, think.frequency);
        add("think time", options.think_time.map(think));
        settings
    }

    fn data_size(&self) -> Bytes {
        // A row fills a block; the index is small.
        Bytes::new(u64::from(self.layout.schemas) * self.layout.rows * self.layout.block)
    }

    fn data_key(&self) -> Option<String> {
        Some(self.layout.data())
    }

    fn expected(&self) -> usize {
        let curves = self.options.update_pcts.len();
        let doublings = self.options.max_threads().next_power_of_two().ilog2() as usize + 1;
        let points = self.options.threads.as_ref().map_or(doublings + REFINEMENTS, Vec::len);
        self.preparations.len() + (curves * points).max(self.given.len())
    }

    fn next(&mut self, done: &[CompletedStep], _facts: &Facts) -> Option<Step> {
        if done.iter().any(|done| matches!(done.result, StepResult::Skipped(_))) {
            return None;
        }
        if let Some(step) = self.preparations.get(done.len()) {
            return Some(step.clone());
        }
        while let Some(&update_pct) = self.options.update_pcts.get(self.curve) {
            if let Some(load) = self.load(done)
                && let Pace::Closed { depth: threads } = load.pace
            {
                let spec = PointSpec { update_pct, threads };
                let step = self.step(spec, &load);
                self.given.push(spec);
                return Some(step);
            }
            self.curve += 1;
            self.sweep = None;
        }
        None
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let listing = |title: String, text| Listing { title, text };
        let (points, counted, block) = (self.points(done), self.counted(done), self.layout.block);
        let mut listings = Vec::new();
        if !points.is_empty() {
            listings
                .push(listing("every point".into(), print::format_curve(&points, &self.options.update_pcts, block)));
        }
        for pct in &self.options.update_pcts {
            if let Some(best) = SlobCurve::of(&points, *pct).best() {
                listings.push(listing(format!("load profile, UPDATE_PCT={pct}"), print::profile(best)));
            }
        }
        if !counted.is_empty() {
            listings.push(listing("rows to a block".into(), print::rows(&counted, block)));
        }
        listings
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        let points = self.points(done);
        let about = facts.database.as_ref().map_or_else(DatabaseAbout::default, |(_, about)| about.clone());
        let mut verdicts: Vec<Verdict> = Vec::new();
        for pct in &self.options.update_pcts {
            verdicts.extend(verdicts::of_curve(&SlobCurve::of(&points, *pct), *pct, self.options.objective));
        }
        let caution = verdicts::page_cache_caution(&points, self.layout.block, &about).filter(|_| !points.is_empty());
        verdicts.extend(caution.into_iter().chain(verdicts::uneven(&self.counted(done))).map(Verdict::from));
        if !points.is_empty() {
            verdicts.extend(verdicts::setting(&self.options, &self.layout, &about).map(Verdict::from));
        }
        verdicts
    }

    /// Result of the first curve: units of work with different shares of updates are not comparable.
    fn database_result(&self, done: &[CompletedStep], facts: &Facts) -> DatabaseSide {
        let points = self.points(done);
        let first = SlobCurve::of(&points, self.options.update_pcts[0]);
        let runs: Vec<Run> = first.points.iter().map(|point| point.measured.run.clone()).collect();
        let several = runs.len() > 1;
        let objective = self.options.objective.or_else(|| chosen_objective(&runs)).filter(|_| several);
        DatabaseSide {
            about: facts.database.as_ref().map(|(_, about)| about.clone()).unwrap_or_default(),
            knee: knee(&runs).filter(|_| several),
            load_line: objective.and_then(|objective| load_line(&runs, objective)),
            ..DatabaseSide::default()
        }
    }
}
