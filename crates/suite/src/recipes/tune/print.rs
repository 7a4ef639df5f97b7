//! Listings of the search: the settings as lines of a configuration file, and all comparisons.

use plimsoll_analyse::{GridCell, TuneOutcome, TuneTrial};
use plimsoll_database::System;
use plimsoll_record::{Estimate, Listing, TunedSetting};

use super::verdicts::accepted;
use super::{Search, Tune};

pub(super) fn build_listings(tune: &Tune, search: &Search) -> Vec<Listing> {
    let trials = search.tuning.trials();
    let mut listings = Vec::new();
    let settings = accepted(search);
    if !settings.is_empty() {
        let (file, section) = match tune.system {
            System::Mysql => ("my.cnf", "[mysqld]\n"),
            _ => ("postgresql.conf", ""),
        };
        let lines: Vec<String> = settings.iter().map(|setting| line(tune.system, setting)).collect();
        let text = format!("{section}{}", lines.concat());
        listings.push(Listing { title: format!("Settings for {file}"), text });
    }
    if !trials.is_empty() {
        listings
            .push(Listing { title: "Comparisons with the best settings before".into(), text: table(search, &trials) });
    }
    listings.extend(search.tuning.grid().map(|grid| {
        let row = |cell: &GridCell| {
            let gain = cell.ratio.as_ref().map_or_else(|| "refused".to_owned(), format_gain);
            format!("{:<64} {gain}\n", search.name(&cell.configuration))
        };
        Listing { title: "Grid".into(), text: grid.cells.iter().map(row).collect() }
    }));
    listings
}

/// A line of the configuration file, with its reason as a comment.
fn line(system: System, setting: &TunedSetting) -> String {
    let changes = setting.changes.iter().zip(&setting.before);
    let restart = if setting.needs_restart { "; needs a restart" } else { "" };
    let gain = setting.ratio.as_ref().map(format_gain).unwrap_or_default();
    let lines = changes.map(|((name, value), before)| {
        let value = if system == System::Mysql { value.clone() } else { format!("'{value}'") };
        format!("{:<40} # before: {before}; {gain}{restart}\n", format!("{name} = {value}"))
    });
    lines.collect::<Vec<_>>().concat()
}

fn format_gain(ratio: &Estimate) -> String {
    format!("{} ({})", signed(ratio.value), format_interval(ratio))
}

fn signed(value: f64) -> String {
    // Zero has no sign other than that of a gain.
    format!("{:+.1} %", (1e3 * (value - 1.0)).round() / 10.0 + 0.0)
}

fn format_interval(ratio: &Estimate) -> String {
    ratio.interval.map_or_else(|| "unknown".into(), |(low, high)| format!("{} to {}", signed(low), signed(high)))
}

fn table(search: &Search, trials: &[TuneTrial]) -> String {
    let mut text = format!(
        "{:<48}{:<14}{:>6}{:>10}{:>22}  {}\n",
        "candidate", "before", "pairs", "gain", "95 % interval", "result"
    );
    for trial in trials {
        let joined = |pairs: Vec<String>| pairs.join(", ");
        let candidate = joined(trial.changes.iter().map(|(name, value)| format!("{name} = {value}")).collect());
        let before = joined(trial.before.iter().map(|(_, value)| value.clone()).collect());
        let (gain, interval) =
            trial.ratio.as_ref().map_or_else(Default::default, |ratio| (signed(ratio.value), format_interval(ratio)));
        let outcome = match &trial.outcome {
            TuneOutcome::Accepted => "accepted",
            TuneOutcome::NotBetter => "not better",
            TuneOutcome::Undecided => "undecided",
            TuneOutcome::Unfinished => "unfinished",
            TuneOutcome::Refused(_) => "refused",
        };
        let pairs = trial.pairs;
        text.push_str(&format!("{candidate:<48}{before:<14}{pairs:>6}{gain:>10}{interval:>22}  {outcome}\n"));
    }
    if let Some(ratio) = search.tuning.confirmed() {
        text.push_str(&format!("all accepted settings, in runs after the search: {}\n", format_gain(&ratio)));
    }
    text.push_str(&format!(
        "accepted: the interval excludes 0 also when widened for {} comparisons with 3 looks each, so that a search\n\
         without any effective setting accepts one with a probability of at most 5 %\n",
        search.tuning.comparisons()
    ));
    text
}
