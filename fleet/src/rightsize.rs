//! Rightsizing: the cheapest configuration of each volume that carries its need, checked in a second replay.

mod command;
mod decide;
mod forms;
mod need;
mod optimizer;
mod output;
mod page;
mod text;
mod totals;

use std::collections::HashSet;
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use plimsoll_catalogue::{Catalogue, Offer};
use plimsoll_fleet_engine::{LevelLimits, Rules};
use serde::Serialize;

use crate::folder::Folder;
use crate::limits::{Offers, RulesBuilder, limits_of};
use crate::parallel::map_on_all_processors;
use crate::place::PlaceOptions;
use crate::replay::{Replayed, RunPlace, Verdict, replay, results_folder};
use crate::terms::TermOptions;
use crate::volumes::{FleetVolume, FleetVolumes};
use decide::{Action, Decider, MAX_DELAYED_PERMILLE, Risk, is_throttled};
pub use decide::{monthly_micros, number};
use need::CarriedShare;
use optimizer::{Comparer, OptimizerComparison};

/// Options of `rightsize`.
#[derive(Debug, Args)]
pub struct RightsizeOptions {
    /// Folder of the fleet
    pub folder: PathBuf,
    /// Folder for the answers: HTML, Parquet, CSV, JSON, commands, Terraform and Kubernetes; `rightsize` in the folder of the fleet if none
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Points that have to be carried
    #[arg(long, value_enum, default_value_t = CarriedShare::Max)]
    pub percentile: CarriedShare,
    /// Capacity over need
    #[arg(long, default_value_t = 1.1)]
    pub headroom: f64,
    /// Products to choose from, such as aws/gp3; all of the volume's provider if none
    #[arg(long)]
    pub to: Vec<String>,
    /// Export of EBS volumes of AWS Compute Optimizer (CSV): disagreements with their reasons in compute-optimizer.csv
    #[arg(long)]
    pub compute_optimizer: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceOptions,
    #[command(flatten)]
    pub terms: TermOptions,
}

/// The answer about a volume. Money is in millionths of the currency, per month.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The volume.
    #[serde(flatten)]
    pub volume: FleetVolume,
    /// What to do.
    pub action: Action,
    /// Operations per second at the busiest point, or the requested percentile.
    pub need_iops: i64,
    /// Bytes per second.
    pub need_bytes_per_second: i64,
    /// True if limits delay its operations.
    pub throttled: bool,
    /// Thousandths of the time at a limit, or with an exceeded limit by the provider's checks.
    pub throttled_permille: i64,
    /// Price of today's configuration.
    pub cost_micros: Option<i64>,
    /// The proposed configuration, if it differs.
    pub new_config: Option<String>,
    /// Its price.
    pub new_cost_micros: Option<i64>,
    /// Savings; negative for a raise.
    pub saving_micros: i64,
    /// Thousandths of the operations that the proposed configuration would delay in a replay of the points.
    pub new_delayed_permille: Option<i64>,
    /// The command of the provider for the change.
    pub command: Option<String>,
    /// Reasons to doubt the answer.
    pub risks: Vec<Risk>,
}

/// Result of a rightsizing.
#[derive(Debug)]
pub struct Rightsized {
    /// Answers by number of the volume.
    pub answers: Vec<Answer>,
    /// The proposed offer of each answer.
    pub offers: Vec<Option<Offer>>,
    /// Currency of all prices.
    pub currency: String,
    /// Points of the fleet.
    pub points: i64,
    /// Folder of the files.
    pub out: PathBuf,
    /// Identifiers of volumes without points, about which there is no answer.
    pub without_points: Vec<String>,
    /// Comparison with Compute Optimizer.
    pub comparison: Option<OptimizerComparison>,
}

/// Answers for all volumes with points, writes them to files, and returns the first screen.
pub fn rightsize(options: &RightsizeOptions) -> Result<String> {
    ensure!(options.headroom >= 1.0, "--headroom is {}: choose 1 or more", options.headroom);
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    let catalogue = Catalogue::built_in();
    for name in &options.to {
        catalogue.find(name)?;
    }
    let volumes = FleetVolumes::open(&folder)?;
    let place = options.place.run_place()?;
    // Offers are found again where they are needed: those of a large fleet do not fit into memory.
    let (mut rules, mut offers) = (RulesBuilder::default(), Offers::new(&catalogue));
    for volume in &volumes.list {
        rules.add(limits_or_none(present_offer(&mut offers, volume, &options.terms)?.ok()));
    }
    let today = replay(&folder, rules.rules(), &results_folder(&folder), &place)?;
    let mut drafts = answer_all(options, &catalogue, &volumes, &today)?;
    check_by_replay(&folder, &place, rules, &mut drafts)?;
    let (answers, offers): (Vec<Answer>, Vec<_>) = drafts.into_iter().map(|draft| (draft.answer, draft.best)).unzip();
    let points = today.verdicts.iter().map(|verdict| verdict.points).sum();
    let out = options.out.clone().unwrap_or_else(|| folder.root.join("rightsize"));
    let comparer = Comparer { catalogue: &catalogue, terms: &options.terms, headroom: options.headroom };
    let comparison =
        options.compute_optimizer.as_ref().map(|path| comparer.compare(path, &answers, &offers)).transpose()?;
    let currency = options.terms.currency.clone();
    let answered: HashSet<u32> = answers.iter().map(|answer| answer.volume.volume).collect();
    let without_points = volumes.list.into_iter().filter(|volume| !answered.contains(&volume.volume));
    let without_points = without_points.map(|volume| volume.id).collect();
    let rightsized = Rightsized { answers, offers, currency, points, out, without_points, comparison };
    output::write(&rightsized)?;
    Ok(text::first_screen(&rightsized))
}

/// Today's offer of each volume, by number, or the reason why there is none.
pub fn present_offers(
    catalogue: &Catalogue,
    volumes: &FleetVolumes,
    terms: &TermOptions,
) -> Result<Vec<Result<Offer, String>>> {
    let mut offers = Offers::new(catalogue);
    volumes.list.iter().map(|volume| Ok(present_offer(&mut offers, volume, terms)?.cloned())).collect()
}

/// Today's offer of a volume, or the reason why there is none.
fn present_offer<'a>(
    offers: &'a mut Offers<'_>,
    volume: &FleetVolume,
    terms: &TermOptions,
) -> Result<Result<&'a Offer, String>> {
    if volume.config.is_empty() {
        return Ok(Err("the inventory has no configuration: add it to volumes.csv".to_owned()));
    }
    Ok(offers.get(&volume.config, &terms.price_terms(&volume.region)?))
}

/// Limits of a replay; none for offers without them.
fn limits_or_none(offer: Option<&Offer>) -> LevelLimits {
    offer.and_then(|offer| limits_of(offer).ok()).map_or_else(LevelLimits::default, LevelLimits::fixed)
}

/// Rules of offers by number of the volume. Offers without limits of a replay have none.
pub fn rules_of<'a>(offers: impl Iterator<Item = Option<&'a Offer>>) -> Rules {
    let mut rules = RulesBuilder::default();
    for offer in offers {
        rules.add(limits_or_none(offer));
    }
    rules.finish()
}

/// An answer before its check.
struct Draft {
    answer: Answer,
    best: Option<Offer>,
}

fn answer_all(
    options: &RightsizeOptions,
    catalogue: &Catalogue,
    volumes: &FleetVolumes,
    today: &Replayed,
) -> Result<Vec<Draft>> {
    let decider = Decider { catalogue, to: &options.to, percentile: options.percentile, room: options.headroom };
    let answer_some = |verdicts: &[Verdict]| -> Result<Vec<Draft>> {
        let mut offers = Offers::new(catalogue);
        let answer = |verdict: &Verdict| {
            let number = verdict.volume;
            let volume = volumes.list.get(number as usize);
            let volume = volume.with_context(|| format!("volume {number} is not in volumes.csv: restore the file"))?;
            let offer = present_offer(&mut offers, volume, &options.terms)?;
            answer_one(&decider, volume, offer, verdict, &options.terms)
        };
        verdicts.iter().map(answer).collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let chunks = today.verdicts.chunks(today.verdicts.len().div_ceil(threads).max(1)).collect();
    Ok(map_on_all_processors(chunks, answer_some)?.into_iter().flatten().collect())
}

fn answer_one(
    decider: &Decider<'_>,
    volume: &FleetVolume,
    offer: Result<&Offer, String>,
    verdict: &Verdict,
    terms: &TermOptions,
) -> Result<Draft> {
    let terms = terms.price_terms(&volume.region)?;
    let throttled = is_throttled(verdict);
    let permille = |part: i64, of: i64| if of > 0 { part.saturating_mul(1_000) / of } else { 0 };
    let throttled_permille = if verdict.checked_points > 0 {
        permille(verdict.exceeded_points, verdict.checked_points)
    } else {
        permille(verdict.pinned_seconds, verdict.seconds)
    };
    let mut answer = Answer {
        volume: volume.clone(),
        action: Action::Unknown,
        need_iops: (verdict.operations_peak[0] + 999) / 1_000,
        need_bytes_per_second: verdict.bytes_peak[0],
        throttled,
        throttled_permille,
        cost_micros: None,
        new_config: None,
        new_cost_micros: None,
        saving_micros: 0,
        new_delayed_permille: None,
        command: None,
        risks: Vec::new(),
    };
    let offer = match offer {
        Ok(offer) => offer,
        Err(reason) => {
            answer.risks.push(Risk::NoConfiguration { reason });
            return Ok(Draft { answer, best: None });
        }
    };
    let Some(cost) = monthly_micros(offer) else {
        let reason = format!("{} has no price in {}", offer.short(), terms.region.as_deref().unwrap_or("any region"));
        answer.risks.push(Risk::NoConfiguration { reason });
        return Ok(Draft { answer, best: None });
    };
    answer.cost_micros = Some(cost);
    if verdict.seconds == 0 {
        answer.risks.push(Risk::LoadUnknown);
        return Ok(Draft { answer, best: None });
    }
    let mut decision = decider.decide(verdict, offer, cost, &terms);
    decision.risks.extend(not_replayed(offer));
    answer.action = decision.action;
    answer.need_iops = decision.need.iops.ceil() as i64;
    answer.need_bytes_per_second = decision.need.bytes_per_second.ceil() as i64;
    answer.risks = decision.risks;
    let best = decision.best.map(|(best, price)| {
        answer.new_config = Some(best.short().to_string());
        answer.new_cost_micros = Some(price);
        answer.saving_micros = cost - price;
        answer.command = command::change_command(volume, terms.region.as_deref().unwrap_or_default(), offer, &best);
        best
    });
    Ok(Draft { answer, best })
}

/// The reason why a replay does not have the limits of an offer.
fn not_replayed(offer: &Offer) -> Option<Risk> {
    limits_of(offer).err().map(|error| Risk::NotReplayed { reason: error.to_string() })
}

/// Replays the points with the proposed configurations, and withdraws those that would delay too many operations.
fn check_by_replay(folder: &Folder, place: &RunPlace, mut rules: RulesBuilder, drafts: &mut [Draft]) -> Result<()> {
    for draft in drafts.iter().filter(|draft| draft.best.is_some()) {
        rules.replace(draft.answer.volume.volume, limits_or_none(draft.best.as_ref()));
    }
    let replayed = replay(folder, rules.rules(), &results_folder(folder), place)?;
    for (draft, verdict) in drafts.iter_mut().zip(&replayed.verdicts) {
        let answer = &mut draft.answer;
        ensure!(answer.volume.volume == verdict.volume, "the points changed during the run: run it again");
        let Some(best) = &draft.best else { continue };
        if let Some(risk) = not_replayed(best) {
            answer.risks.push(risk);
            continue;
        }
        let operations = (verdict.total[0] + verdict.total[1]).max(1);
        let delayed = verdict.delayed_operations.saturating_mul(1_000) / operations;
        answer.new_delayed_permille = Some(delayed);
        if delayed > MAX_DELAYED_PERMILLE && answer.action != Action::Raise {
            answer.action = Action::Fits;
            answer.risks.push(Risk::ReplayDelays { permille: delayed });
            (answer.new_config, answer.new_cost_micros, answer.command) = (None, None, None);
            answer.saving_micros = 0;
            draft.best = None;
        }
    }
    Ok(())
}
