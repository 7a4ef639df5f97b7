//! Recipes and their execution: the steps of a benchmark, and the layouts of its results.

use plimsoll_analyse::{Settle, chosen_objective, knee, load_line, settle};
use plimsoll_drive::{Fault, Observe, Onward, PartialRun};
use plimsoll_load::Pace;
use plimsoll_record::{
    DatabaseSide, EndReason, Finding, JobRun, Listing, Run, Slice, Statements, StepRun, StepWork, Verdict,
};
use plimsoll_units::{Bytes, Instant, Span};

use crate::ground::{Facts, Ground, StepOutcome, Unfit};
use crate::result::{IoResult, StepResult};
use crate::session_run::{merge_slices, session_run};
use crate::sql::{SessionsResult, SessionsStep, StatementsResult, StatementsStep};
use crate::step::{FileSpec, IoStep, Keep, Step, Work};

#[derive(Clone, Debug)]
pub struct CompletedStep {
    pub step: Step,
    pub result: StepResult,
}

/// A classic benchmark.
pub trait Recipe {
    /// The name of its command: `bonnie`.
    fn name(&self) -> &'static str;

    /// The program or specification that it follows: `Bonnie++ 2.00`.
    fn follows(&self) -> String;

    /// Its settings, as `(name, value)`.
    fn settings(&self) -> Vec<(String, String)>;

    /// Files that it uses; none for a load on a database.
    fn files(&self) -> Vec<FileSpec> {
        Vec::new()
    }

    /// Approximate size of the data loaded into a database; zero if none or unknown.
    fn data_size(&self) -> Bytes {
        Bytes::default()
    }

    /// Parameters that determine the data of its loading steps: equal lines mean equal data. `None` if data cannot be
    /// shared between runs.
    fn data_key(&self) -> Option<String> {
        None
    }

    /// All steps, if none depends on results.
    fn steps(&self) -> &[Step] {
        &[]
    }

    /// Expected number of steps, for progress.
    fn expected(&self) -> usize {
        self.steps().len()
    }

    /// The next step after the executed steps; `None` at the end.
    fn next(&mut self, done: &[CompletedStep], _facts: &Facts) -> Option<Step> {
        self.steps().get(done.len()).cloned()
    }

    /// Results in the original layouts. Also called after an interruption or a failure, with the executed steps.
    fn listings(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Listing>;

    fn verdicts(&self, _done: &[CompletedStep], _facts: &Facts) -> Vec<Verdict> {
        Vec::new()
    }

    /// Whether its conclusions are valid after an interruption, too.
    fn judges_partial_runs(&self) -> bool {
        false
    }

    /// Overall result of a load on a database: by default the knee and the load line of its concurrent sessions.
    fn database_result(&self, done: &[CompletedStep], facts: &Facts) -> DatabaseSide {
        database_result(done, facts)
    }

    /// State for a later run, if any.
    fn state(&self) -> Option<Vec<u8>> {
        None
    }

    /// Whether it found an error, such as wrong data; the command fails then.
    fn has_failed(&self, _done: &[CompletedStep]) -> bool {
        false
    }
}

/// Steps in order, each with the purpose of its figures.
#[derive(Clone, Debug)]
pub(crate) struct StepPlan<T> {
    purposes: Vec<T>,
    pub(crate) steps: Vec<Step>,
}

impl<T> StepPlan<T> {
    /// Executed steps with their purposes.
    pub(crate) fn done<'a>(
        &'a self,
        done: &'a [CompletedStep],
    ) -> impl Iterator<Item = (&'a T, &'a CompletedStep)> + Clone {
        self.purposes.iter().zip(done)
    }

    /// All steps with their purposes, for modification.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&T, &mut Step)> {
        self.purposes.iter().zip(&mut self.steps)
    }
}

impl<T> FromIterator<(T, Step)> for StepPlan<T> {
    fn from_iter<I: IntoIterator<Item = (T, Step)>>(planned: I) -> Self {
        let (purposes, steps) = planned.into_iter().unzip();
        Self { purposes, steps }
    }
}

/// Converts settings to owned names.
pub(crate) fn settings<const N: usize>(settings: [(&str, String); N]) -> Vec<(String, String)> {
    settings.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Observes a suite while it runs.
pub trait SuiteObserver {
    /// A step begins: its index, and the expected number of steps.
    fn step_begins(&mut self, step: &Step, place: usize, expected: usize);

    /// The series of the present step so far. Returns whether to continue.
    fn observe(&mut self, step: &Step, series: &[Slice]) -> Onward;

    fn step_ends(&mut self, _done: &CompletedStep) {}
}

#[derive(Debug)]
pub struct SuiteOutcome {
    /// The executed steps.
    pub done: Vec<CompletedStep>,
    pub ended: EndReason,
    /// The failure that ended it, if any.
    pub fault: Option<Fault>,
}

/// Selection of the steps of a recipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phases {
    #[default]
    All,
    /// The steps before the first measured step.
    Load,
    /// All except loading steps, for existing data.
    Measure,
}

/// Executes the steps of a recipe until its end, an interruption or a failure.
///
/// # Errors
/// The files do not fit or cannot be created; no step was executed.
pub fn perform(
    recipe: &mut dyn Recipe,
    ground: &mut dyn Ground,
    watch: &mut dyn SuiteObserver,
) -> Result<SuiteOutcome, Unfit> {
    perform_phases(recipe, ground, watch, Phases::All)
}

/// Executes a part of the steps.
///
/// # Errors
/// As [`perform`].
pub fn perform_phases(
    recipe: &mut dyn Recipe,
    ground: &mut dyn Ground,
    watch: &mut dyn SuiteObserver,
    phases: Phases,
) -> Result<SuiteOutcome, Unfit> {
    ground.prepare_files(&recipe.files())?;
    let facts = ground.facts().clone();
    let mut outcome = SuiteOutcome { done: Vec::new(), ended: EndReason::Complete, fault: None };
    let mut measuring = false;
    while let Some(step) = recipe.next(&outcome.done, &facts) {
        if phases == Phases::Load && step.counts {
            break;
        }
        if phases == Phases::Measure && step.loads {
            outcome.done.push(CompletedStep { step, result: StepResult::Paused });
            continue;
        }
        if step.counts
            && !std::mem::replace(&mut measuring, true)
            && let Err(fault) = ground.begin_measuring()
        {
            outcome.ended = EndReason::Failed;
            outcome.fault = Some(fault);
            break;
        }
        watch.step_begins(&step, outcome.done.len(), recipe.expected());
        let mut stopped = false;
        let executed = make(&step, ground, &mut |series| {
            let onward = watch.observe(&step, series);
            stopped |= onward.is_break();
            onward
        });
        let (observed, fault) = PartialRun::split(executed.map(Some));
        if let Some(mut observed) = observed {
            if let (Work::Io(io), StepResult::Io(observed)) = (&step.work, &mut observed)
                && io.keep == Keep::Totals
            {
                observed.condense();
            }
            let done = CompletedStep { step, result: observed };
            watch.step_ends(&done);
            outcome.done.push(done);
        }
        if fault.is_some() {
            outcome.ended = EndReason::Failed;
            outcome.fault = fault;
            break;
        }
        if stopped {
            outcome.ended = EndReason::Interrupted;
            break;
        }
    }
    if let Err(fault) = ground.restore_settings() {
        outcome.ended = EndReason::Failed;
        outcome.fault.get_or_insert(fault);
    }
    Ok(outcome)
}

fn make(step: &Step, ground: &mut dyn Ground, observe: Observe<'_>) -> StepOutcome {
    match &step.work {
        Work::Io(io) => ground.io(io, observe).map(StepResult::Io).map_err(|torn| {
            let until = (!torn.until.workers.is_empty()).then_some(StepResult::Io(torn.until));
            Box::new(PartialRun { fault: torn.fault, until })
        }),
        Work::Files(files) => ground.files(files, observe).map_err(PartialRun::at_once),
        Work::Statements(statements) => ground.statements(statements, observe),
        Work::Sessions(sessions) => ground.sessions(sessions, observe),
        Work::Settings(settings) => ground.configure(settings).map_err(PartialRun::at_once),
        Work::Pause(span) => {
            ground.idle(*span, observe);
            Ok(StepResult::Paused)
        }
    }
}

/// Record of a step; `None` for a pause.
pub fn step_run(done: &CompletedStep, facts: &Facts) -> Option<StepRun> {
    let work = match (&done.step.work, &done.result) {
        (Work::Io(step), StepResult::Io(observed)) => StepWork::Io {
            jobs: jobs(step, observed),
            run: Box::new(run_of(step, observed, &facts.stages)),
            span: observed.span(),
        },
        (_, StepResult::Files(observed)) => StepWork::Files {
            files: observed.files,
            span: observed.span,
            each: observed.each.clone(),
            cpu: observed.cpu,
        },
        (Work::Statements(step), StepResult::Statements(observed)) => {
            StepWork::Statements(Box::new(statements(step, observed)))
        }
        (Work::Sessions(step), StepResult::Sessions(observed)) => {
            StepWork::Sessions(Box::new(session_run(step, observed)))
        }
        (_, StepResult::Skipped(why)) => StepWork::Skipped { why: (*why).into() },
        _ => return None,
    };
    let Step { name, round, counts, measures, writes_each, .. } = &done.step;
    let (measures, writes_each) = (measures.clone(), *writes_each);
    Some(StepRun { name: name.clone(), round: *round, counts: *counts, measures, writes_each, work })
}

fn jobs(step: &IoStep, observed: &IoResult) -> Vec<JobRun> {
    let both = step.workers.iter().zip(&observed.workers);
    let one = |(worker, observed): (&crate::step::Worker, &crate::result::WorkerResult)| JobRun {
        job: worker.job.clone(),
        engine: worker.access.engine.to_string(),
        direct: worker.access.direct,
        began: observed.began,
        span: observed.span(),
        total: observed.total(),
        cpu: observed.cpu,
    };
    both.map(one).collect()
}

/// Facts about the database, and the knee and the load line of the measured concurrent sessions.
pub fn database_result(done: &[CompletedStep], facts: &Facts) -> DatabaseSide {
    let counting = done.iter().filter(|done| done.step.counts);
    let pairs: Vec<(&SessionsStep, &SessionsResult)> = counting
        .filter_map(|done| match &done.step.work {
            Work::Sessions(step) => Some((step, done.result.sessions()?)),
            _ => None,
        })
        .collect();
    let runs: Vec<Run> = pairs.iter().map(|(step, observed)| session_run(step, observed).run).collect();
    let requested = pairs.iter().find_map(|(step, _)| step.objective);
    let objective = requested.or_else(|| chosen_objective(&runs));
    DatabaseSide {
        about: facts.database.as_ref().map(|(_, about)| about.clone()).unwrap_or_default(),
        knee: if runs.len() > 1 { knee(&runs) } else { None },
        load_line: objective.filter(|_| runs.len() > 1).and_then(|objective| load_line(&runs, objective)),
        ..DatabaseSide::default()
    }
}

fn statements(step: &StatementsStep, observed: &StatementsResult) -> Statements {
    Statements {
        requested: step.count,
        done: observed.done,
        wrong: observed.wrong,
        span: observed.span,
        each: observed.each.clone(),
        client: observed.client,
        counted: observed.counted,
        storage: observed.storage.clone(),
    }
}

/// All workers as a run, without removing a warm-up: classic benchmarks have none.
fn run_of(step: &IoStep, observed: &IoResult, stages: &[String]) -> Run {
    let depth = step.workers.iter().map(|worker| worker.job.depth).sum::<u32>().max(1);
    let offered = Pace::Closed { depth };
    let span = observed.span();
    let options = Settle { least_warm_up: Span::ZERO, offered_span: span, objective: None, offered, unserved: 0 };
    let settled = settle(&observed.series, &options);
    // A step of a classic benchmark has a defined end; recipes that need a steady state check it themselves.
    let is_of_steps =
        |finding: &Finding| !matches!(finding, Finding::NoSteadyState { .. } | Finding::RateDropped { .. });
    Run {
        offered,
        warm_up: settled.warm_up,
        span: settled.span,
        total: settled.total,
        unserved: 0,
        lateness: plimsoll_record::Bins::default(),
        series: merge_slices(&observed.series, span),
        cpu: observed.cpu(),
        bound_by: observed.bound_by.shares(Instant::ZERO + settled.warm_up, stages),
        figures: settled.figures,
        findings: settled.findings.into_iter().filter(is_of_steps).collect(),
    }
}
