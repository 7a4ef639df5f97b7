//! Rightsizing: the cheapest configuration of each volume that carries its need, checked in a second replay.

mod command;
mod decide;
mod forms;
mod need;
mod optimizer;
mod output;
mod page;
mod summary;
mod text;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use plimsoll_catalogue::{Catalogue, Offer};
use plimsoll_fleet_engine::LevelLimits;
use serde::{Deserialize, Serialize};

use crate::folder::{Folder, remove_leftovers};
use crate::limits::{Offers, limits_of, limits_or_none};
use crate::parallel::map_in_chunks;
use crate::place::PlaceOptions;
use crate::records::{Scratch, SortedRecords};
use crate::replay::{FleetLimits, LimitRecords, Replayed, RunPlace, Verdict, replay, results_folder, with_verdicts};
use crate::terms::TermOptions;
use crate::volumes::{FleetVolume, VolumeRows};
use decide::{Action, Decider, MAX_DELAYED_PERMILLE, Risk, is_throttled};
pub use decide::{monthly_micros, number};
use need::CarriedShare;
use optimizer::{Comparer, OptimizerExport};
use output::{AnswerFiles, FinalAnswer};
use summary::Summary;

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
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// Answers for all volumes with points, writes them to files, and returns the first screen.
pub fn rightsize(options: &RightsizeOptions) -> Result<String> {
    ensure!(options.headroom >= 1.0, "--headroom is {}: choose 1 or more", options.headroom);
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    remove_leftovers(&folder.root)?;
    let catalogue = Catalogue::built_in();
    for name in &options.to {
        catalogue.find(name)?;
    }
    let place = options.place.run_place()?;
    let scratch = Scratch::new(&folder.root, options.place.max_buffered);
    let run = Rightsizing { options, folder: &folder, catalogue: &catalogue, scratch: &scratch, place: &place };
    let today = run.replay_today()?;
    let drafts = run.decide(&today)?;
    let summary = run.check(drafts, today.points)?;
    Ok(text::first_screen(&summary))
}

/// A run. Volumes pass through it in the order of their numbers, a bounded number of them in memory.
struct Rightsizing<'a> {
    options: &'a RightsizeOptions,
    folder: &'a Folder,
    catalogue: &'a Catalogue,
    scratch: &'a Scratch,
    place: &'a RunPlace,
}

/// Answers before their check, by number of the volume.
struct Drafts {
    /// JSON of [`Answer`].
    answers: SortedRecords,
    /// Limits of the proposals; of today's configuration where it stays.
    limits: LimitRecords,
    /// Identifiers of volumes without points, about which there is no answer.
    without_points: SortedRecords,
}

/// A volume with its draft and limits.
enum Decided {
    Draft { volume: u32, json: Vec<u8>, limits: LevelLimits },
    WithoutPoints { volume: u32, id: String },
}

impl Rightsizing<'_> {
    fn replay(&self, limits: LimitRecords) -> Result<Replayed> {
        replay(self.folder, limits, &results_folder(self.folder), self.place)
    }

    /// Replays the points under today's limits.
    fn replay_today(&self) -> Result<Replayed> {
        let mut limits = FleetLimits::new(self.folder, self.scratch);
        let limits_of = |offers: &mut Offers<'_>, volume: FleetVolume| {
            let offer = offers.of_volume(&volume, &self.options.terms)?.ok();
            Ok((volume.volume, limits_or_none(offer)))
        };
        map_in_chunks(
            VolumeRows::open(self.folder)?,
            || Offers::new(self.catalogue),
            limits_of,
            |(volume, of_volume)| limits.push(volume, &of_volume),
        )?;
        self.replay(limits.finish()?)
    }

    /// Decides about each volume.
    fn decide(&self, today: &Replayed) -> Result<Drafts> {
        let options = self.options;
        let decider = Decider {
            catalogue: self.catalogue,
            to: &options.to,
            percentile: options.percentile,
            room: options.headroom,
        };
        let decide = |offers: &mut Offers<'_>, (volume, verdict): (FleetVolume, Option<Verdict>)| {
            let number = volume.volume;
            let Some(verdict) = verdict else {
                return Ok(Decided::WithoutPoints { volume: number, id: volume.id });
            };
            let offer = offers.of_volume(&volume, &options.terms)?;
            let present = limits_or_none(offer.as_ref().ok().copied());
            let (answer, best) = answer_one(&decider, volume, offer, &verdict, &options.terms)?;
            let limits = best.map_or(present, |best| limits_or_none(Some(&best)));
            Ok(Decided::Draft { volume: number, json: serde_json::to_vec(&answer)?, limits })
        };
        let (mut answers, mut without_points) = (self.scratch.sorter(), self.scratch.sorter());
        let mut limits = FleetLimits::new(self.folder, self.scratch);
        let verdicts = today.verdicts(self.scratch)?;
        map_in_chunks(
            with_verdicts(VolumeRows::open(self.folder)?, |volume| volume.volume, verdicts),
            || Offers::new(self.catalogue),
            decide,
            |decided| match decided {
                Decided::Draft { volume, json, limits: of_volume } => {
                    limits.push(volume, &of_volume)?;
                    answers.push(&volume.to_be_bytes(), &json)
                }
                Decided::WithoutPoints { volume, id } => without_points.push(&volume.to_be_bytes(), id.as_bytes()),
            },
        )?;
        Ok(Drafts { answers: answers.finish()?, limits: limits.finish()?, without_points: without_points.finish()? })
    }

    /// Replays the points with the proposed configurations, withdraws those that would delay too many operations, and
    /// writes the answers.
    fn check(&self, drafts: Drafts, points: i64) -> Result<Summary> {
        let options = self.options;
        let replayed = self.replay(drafts.limits)?;
        let out = options.out.clone().unwrap_or_else(|| self.folder.root.join("rightsize"));
        let comparer = Comparer { catalogue: self.catalogue, terms: &options.terms, headroom: options.headroom };
        let export = options.compute_optimizer.as_ref();
        let mut export = export.map(|path| OptimizerExport::read(path, self.scratch)).transpose()?;
        let mut files = AnswerFiles::create(&out, &options.terms.currency, points, self.scratch)?;
        let answers = drafts.answers.map(|record| Ok(serde_json::from_slice::<Answer>(&record?.value)?));
        let finish = |offers: &mut Offers<'_>, (mut answer, verdict): (Answer, Option<Verdict>)| {
            let verdict = verdict.context("the points changed during the run: run it again")?;
            let terms = options.terms.price_terms(&answer.volume.region)?;
            let best = match &answer.new_config {
                Some(config) => Some(offers.get(config, &terms).map_err(|error| anyhow!("{config}: {error}"))?),
                None => None,
            };
            let best = best.filter(|best| answer.keeps_proposal(best, &verdict));
            FinalAnswer::of(answer, best)
        };
        map_in_chunks(
            with_verdicts(answers, |answer| answer.volume.volume, replayed.verdicts(self.scratch)?),
            || Offers::new(self.catalogue),
            finish,
            |answer| {
                if let Some(export) = &mut export {
                    export.add(&answer)?;
                }
                files.push(answer)
            },
        )?;
        let comparison = export.map(|export| export.compare(&comparer, &out)).transpose()?;
        files.finish(drafts.without_points, comparison)
    }
}

impl Answer {
    /// True if the proposal stays after a replay with it; otherwise it is withdrawn.
    fn keeps_proposal(&mut self, best: &Offer, verdict: &Verdict) -> bool {
        if let Some(risk) = not_replayed(best) {
            self.risks.push(risk);
            return true;
        }
        let operations = (verdict.total[0] + verdict.total[1]).max(1);
        let delayed = verdict.delayed_operations.saturating_mul(1_000) / operations;
        self.new_delayed_permille = Some(delayed);
        if delayed <= MAX_DELAYED_PERMILLE || self.action == Action::Raise {
            return true;
        }
        self.action = Action::Fits;
        self.risks.push(Risk::ReplayDelays { permille: delayed });
        (self.new_config, self.new_cost_micros, self.command) = (None, None, None);
        self.saving_micros = 0;
        false
    }
}

/// The answer before its check, and the proposed offer.
fn answer_one(
    decider: &Decider<'_>,
    volume: FleetVolume,
    offer: Result<&Offer, String>,
    verdict: &Verdict,
    terms: &TermOptions,
) -> Result<(Answer, Option<Offer>)> {
    let terms = terms.price_terms(&volume.region)?;
    let throttled = is_throttled(verdict);
    let permille = |part: i64, of: i64| if of > 0 { part.saturating_mul(1_000) / of } else { 0 };
    let throttled_permille = if verdict.checked_points > 0 {
        permille(verdict.exceeded_points, verdict.checked_points)
    } else {
        permille(verdict.pinned_seconds, verdict.seconds)
    };
    let mut answer = Answer {
        volume,
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
            return Ok((answer, None));
        }
    };
    let Some(cost) = monthly_micros(offer) else {
        let reason = format!("{} has no price in {}", offer.short(), terms.region.as_deref().unwrap_or("any region"));
        answer.risks.push(Risk::NoConfiguration { reason });
        return Ok((answer, None));
    };
    answer.cost_micros = Some(cost);
    if verdict.seconds == 0 {
        answer.risks.push(Risk::LoadUnknown);
        return Ok((answer, None));
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
        answer.command =
            command::change_command(&answer.volume, terms.region.as_deref().unwrap_or_default(), offer, &best);
        best
    });
    Ok((answer, best))
}

/// The reason why a replay does not have the limits of an offer.
fn not_replayed(offer: &Offer) -> Option<Risk> {
    limits_of(offer).err().map(|error| Risk::NotReplayed { reason: error.to_string() })
}
