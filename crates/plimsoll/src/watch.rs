//! `plimsoll watch`: the load of a running system or of a file against the limits of its storage.

mod follow;
mod target;

use plimsoll_choose::watch::{LimitStep, LoadSample, WatchOptions, WatchPeriod, WatchState, Watcher, read_samples};
use plimsoll_ingest::Demand;
use plimsoll_language::{label, say};
use plimsoll_measure::watch::name_target;
use plimsoll_measure::{InputFiles, Offers, Percent, list_readings};
use plimsoll_report::pages::{self, WatchReport};
use plimsoll_report::{WATCH_RULES, watch_json};
use plimsoll_units::Span;

use crate::args::WatchArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::{self, Forms};
use target::WatchTarget;

/// Interval of readings.
const EVERY: Span = Span::from_secs(10);
/// Minimum interval of readings.
const MIN_INTERVAL: Span = Span::from_secs(1);

/// Watches a target.
pub fn run(args: &WatchArgs) -> Result<(), CliError> {
    if args.rules {
        return output::print(WATCH_RULES.as_bytes());
    }
    let forms = Forms::new(&args.forms)?;
    if args.every.is_some_and(|every| every < MIN_INTERVAL) {
        return Err(CliError::usage(say!("--every: at least {MIN_INTERVAL}")));
    }
    let mut offers = read_offers(&args.terms)?;
    let offer = args.on.as_ref().map(|config| offers.offer(config)).transpose()?;
    let credits = args.credits.map(|Percent(share)| share);
    let watcher = Watcher::new(offer, WatchOptions { lead: args.warn_before, credits });
    let mut watch = Watch::new(name_target(&args.target), forms, offers, watcher);
    watch.is_database_alone = args.device.is_none() && target::is_database(&args.target);
    match target::find(args)? {
        WatchTarget::Recorded(_) if args.otlp.is_some() => {
            return Err(CliError::usage(label!("--otlp sends a running watch: omit it for a file")));
        }
        WatchTarget::Recorded(path) => {
            let only = args.device.clone();
            let input = InputFiles { files: vec![path], interval: args.every, only, ..InputFiles::default() };
            watch.period = WatchPeriod::Recording;
            watch.replay(&input)?;
        }
        WatchTarget::Running(feeds) => watch.follow(feeds, args)?,
    }
    watch.update_step();
    let state = watch.watcher.state();
    let report = watch.report(state.as_ref());
    watch.forms.write(&pages::watch(&report), || watch_json(&report))?;
    match (&watch.trouble, &state) {
        (Some(why), None) => Err(CliError::Failed(anyhow::anyhow!("{why}"))),
        _ if watch.unsent.is_some() => watch.unsent.map_or(Ok(()), |why| Err(CliError::Failed(why))),
        _ => Ok(()),
    }
}

struct Watch {
    name: String,
    period: WatchPeriod,
    is_database_alone: bool,
    forms: Forms,
    offers: Offers,
    watcher: Watcher,
    /// Loads of the last day, for the chart.
    samples: Vec<LoadSample>,
    step: Option<LimitStep>,
    cost: Option<f64>,
    trouble: Option<String>,
    damaged: usize,
    /// Why the latest metrics were not sent.
    unsent: Option<anyhow::Error>,
    /// Alerts that were printed.
    alerts: Vec<String>,
}

impl Watch {
    fn new(name: String, forms: Forms, offers: Offers, watcher: Watcher) -> Self {
        let (samples, alerts) = (Vec::new(), Vec::new());
        Self {
            name,
            period: WatchPeriod::Present,
            is_database_alone: false,
            forms,
            offers,
            watcher,
            samples,
            step: None,
            cost: None,
            trouble: None,
            damaged: 0,
            unsent: None,
            alerts,
        }
    }

    fn report<'a>(&'a self, state: Option<&'a WatchState>) -> WatchReport<'a> {
        WatchReport {
            target: &self.name,
            period: self.period,
            is_database_alone: self.is_database_alone,
            watcher: &self.watcher,
            state,
            step: self.step.as_ref(),
            samples: &self.samples,
            cost: self.cost,
            trouble: self.trouble.as_deref(),
            damaged: self.damaged,
        }
    }

    /// Observes the loads of a file.
    fn replay(&mut self, input: &InputFiles) -> Result<(), CliError> {
        let outcomes = input.read()?;
        let demand = Demand::of(&list_readings(&outcomes)?);
        let [subject] = demand.subjects.as_slice() else {
            let names: Vec<&str> = demand.subjects.iter().map(|subject| subject.name.as_str()).take(8).collect();
            return Err(CliError::usage(say!(
                "{}: the load of {} databases or hosts ({}): use a file of one of them",
                self.name,
                demand.subjects.len(),
                names.join(", ")
            )));
        };
        for sample in read_samples(subject) {
            self.watcher.observe(sample.clone());
            self.samples.push(sample);
        }
        if self.samples.is_empty() {
            return Err(CliError::usage(say!("{}: no operations per second: see plimsoll guide inputs", self.name)));
        }
        Ok(())
    }

    fn update_step(&mut self) {
        let Some((offer, limit)) = self.watcher.offer().zip(self.watcher.deciding_limit(self.period)) else { return };
        let (catalogue, terms) = (&self.offers.catalogue, self.offers.terms_for(offer));
        self.step = Some(self.watcher.next_step(limit, self.period, catalogue, &terms));
    }
}
