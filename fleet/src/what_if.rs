//! `replay`: the load of all volumes under today's limits, or under those of another product.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use plimsoll_catalogue::{Catalogue, Config, Offer, Part, PriceTerms, Setting};
use plimsoll_choose::hours::Levels;
use plimsoll_fleet_engine::{LevelLimits, LevelWaits, MAX_LEVELS, Rules};
use plimsoll_units::Span;
use serde::Serialize;

use crate::folder::{Folder, write_atomically};
use crate::limits::{RulesBuilder, limits_of};
use crate::place::PlaceOptions;
use crate::replay::{Replayed, Verdict, forget, replay, results_folder};
use crate::rightsize::{monthly_micros, number, present_offers, rules_of};
use crate::terms::TermOptions;
use crate::volumes::FleetVolumes;

/// Options of `replay`.
#[derive(Debug, Args)]
pub struct ReplayOptions {
    /// Folder of the fleet
    pub folder: PathBuf,
    /// What if all volumes were of this product, each of its own size: aws/gp3, oci/block-volume:vpu=20
    #[arg(long = "as")]
    pub product: Option<String>,
    /// Highest level to which volumes are autotuned, such as 30 for OCI's VPUs; the level of --as or of today is their
    /// default. The level follows the load as that of plimsoll's emulated volumes
    #[arg(long)]
    pub autotune_to: Option<u32>,
    /// Table of the verdicts as CSV
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Replay finished buckets again
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub place: PlaceOptions,
    /// Folder of verdicts and end states; `results` in the folder of the fleet if none
    #[arg(long)]
    pub results: Option<PathBuf>,
    #[command(flatten)]
    pub terms: TermOptions,
}

/// Replays a fleet and returns the answer.
pub fn run(options: &ReplayOptions) -> Result<String> {
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    let catalogue = Catalogue::built_in();
    let volumes = FleetVolumes::open(&folder)?;
    let mut offers = present_offers(&catalogue, &volumes, &options.terms)?;
    if let Some(product) = &options.product {
        let template: Config = product.parse().context("--as")?;
        for (offer, volume) in offers.iter_mut().zip(&volumes.list) {
            let terms = options.terms.price_terms(&volume.region)?;
            *offer =
                offer.as_ref().map_err(Clone::clone).and_then(|own| as_product(&catalogue, own, &template, &terms));
        }
    }
    let results = options.results.clone().unwrap_or_else(|| results_folder(&folder));
    if options.again {
        forget(&results)?;
    }
    let place = options.place.run_place()?;
    let tuned = Tuned::of(options, &catalogue, &volumes, &offers)?;
    let rules = tuned.rules(&offers)?;
    let replayed = replay(&folder, &rules, &results, &place)?;
    if let Some(path) = &options.csv {
        write_csv(path, &volumes, &replayed.verdicts)?;
    }
    Ok(summary(&replayed, &offers, &tuned, &options.terms.currency))
}

/// Levels of autotuned volumes.
struct Tuned {
    /// By number of the volume; `None` for volumes whose level stays.
    levels: Vec<Option<TunedVolume>>,
}

/// Offers of a volume from its default level to the highest, and when its level changes.
struct TunedVolume {
    offers: Vec<Offer>,
    waits: LevelWaits,
}

impl Tuned {
    fn of(
        options: &ReplayOptions,
        catalogue: &Catalogue,
        volumes: &FleetVolumes,
        offers: &[Result<Offer, String>],
    ) -> Result<Self> {
        let Some(highest) = options.autotune_to else { return Ok(Self { levels: Vec::new() }) };
        let mut levels = Vec::with_capacity(offers.len());
        for (offer, volume) in offers.iter().zip(&volumes.list) {
            let terms = options.terms.price_terms(&volume.region)?;
            let tuned = offer.as_ref().ok().and_then(|offer| TunedVolume::of(catalogue, offer, highest, &terms));
            levels.push(tuned);
        }
        ensure!(
            levels.iter().any(Option::is_some),
            "--autotune-to {highest}: no volume has a product that autotunes levels, with a default level below: see \
             `plimsoll product oci/block-volume`"
        );
        Ok(Self { levels })
    }

    fn get(&self, volume: usize) -> Option<&TunedVolume> {
        self.levels.get(volume).and_then(Option::as_ref)
    }

    fn rules(&self, offers: &[Result<Offer, String>]) -> Result<Rules> {
        if self.levels.is_empty() {
            return Ok(rules_of(offers.iter().map(|offer| offer.as_ref().ok())));
        }
        let mut rules = RulesBuilder::default();
        for (number, offer) in offers.iter().enumerate() {
            let fixed = |offer: &Offer| limits_of(offer).map_or_else(|_| LevelLimits::default(), LevelLimits::fixed);
            rules.add(match self.get(number) {
                Some(tuned) => tuned.limits()?,
                None => offer.as_ref().map_or_else(|_| LevelLimits::default(), fixed),
            });
        }
        Ok(rules.finish())
    }
}

impl TunedVolume {
    /// `None` if the product does not autotune levels, or the default is not below `highest`.
    fn of(catalogue: &Catalogue, offer: &Offer, highest: u32, terms: &PriceTerms) -> Option<Self> {
        let levels = Levels::of(catalogue, &offer.config, terms).ok().filter(Levels::follow_load)?;
        let default = number(offer, &levels.option)?.round() as u32;
        let policy = levels.policy(default, highest);
        let mut next = default;
        let mut chosen = Vec::new();
        for level in levels.levels.iter().filter(|level| level.level <= highest) {
            if level.level >= next {
                chosen.push(level.offer.clone());
                next = level.level.saturating_add(policy.step);
            }
        }
        let seconds = |span: Span| span.as_secs_f64().ceil() as i64;
        let waits = LevelWaits {
            up_after_s: seconds(policy.up_after),
            down_first_s: seconds(policy.down_first),
            down_next_s: seconds(policy.down_next),
        };
        (chosen.len() > 1).then_some(Self { offers: chosen, waits })
    }

    fn limits(&self) -> Result<LevelLimits> {
        let levels = self.offers.iter().map(limits_of).collect::<Result<Vec<_>>>()?;
        ensure!(levels.len() <= MAX_LEVELS, "{} levels: a replay has at most {MAX_LEVELS}", levels.len());
        Ok(LevelLimits { levels, waits: self.waits })
    }

    /// Mean monthly price over the time at each level; `None` without a price.
    fn monthly_micros(&self, verdict: &Verdict) -> Option<i64> {
        let (mut sum, mut time) = (0_i128, 0_i128);
        for (offer, seconds) in self.offers.iter().zip(verdict.level_seconds) {
            sum += i128::from(monthly_micros(offer)?) * i128::from(seconds);
            time += i128::from(seconds);
        }
        i64::try_from(sum / time.max(1)).ok()
    }
}

/// The offer of `template` with the capacity of `own`.
fn as_product(catalogue: &Catalogue, own: &Offer, template: &Config, terms: &PriceTerms) -> Result<Offer, String> {
    let product = catalogue.find(&template.volume.product).map_err(|error| error.to_string())?;
    let size = product.smallest_size(own.capacity);
    let size = size.ok_or_else(|| format!("{} cannot hold {}", product.name(), own.capacity))?;
    let mut settings = template.volume.settings.clone();
    settings.insert(0, Setting::Option { name: "size".to_owned(), value: format!("{size}") });
    let volume = Part { product: product.name().to_owned(), settings };
    let config = Config { wraps: Vec::new(), volume, machine: None };
    catalogue.offer(&config, terms).map_err(|refusal| refusal.to_string())
}

fn summary(replayed: &Replayed, offers: &[Result<Offer, String>], tuned: &Tuned, currency: &str) -> String {
    let verdicts = &replayed.verdicts;
    let offer = |verdict: &Verdict| offers.get(verdict.volume as usize).and_then(|offer| offer.as_ref().ok());
    let price = |verdict: &Verdict| match tuned.get(verdict.volume as usize) {
        Some(tuned) => tuned.monthly_micros(verdict),
        None => offer(verdict).and_then(monthly_micros),
    };
    let cost: i64 = verdicts.iter().filter_map(price).sum();
    let without = verdicts.iter().filter(|verdict| price(verdict).is_none()).count();
    let delayed: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.throttled_seconds > 0).collect();
    let hours = delayed.iter().map(|verdict| verdict.throttled_seconds).sum::<i64>() as f64 / 3_600.0;
    let longest = delayed.iter().map(|verdict| verdict.longest_wait_ms).max().unwrap_or(0) as f64 / 1_000.0;
    let points: i64 = verdicts.iter().map(|verdict| verdict.points).sum();
    let mut text = format!(
        "{} of {} volumes would wait for limits, {hours:.1} volume-hours in all; the longest wait is {longest:.1} s.\n\
         cost a month  {:.2} {currency}\npoints        {points} ({} read, {} of {} buckets were finished before)",
        delayed.len(),
        verdicts.len(),
        cost as f64 / 1e6,
        replayed.points_read,
        replayed.finished_before,
        replayed.buckets
    );
    let autotuned = tuned.levels.iter().flatten().count();
    if autotuned > 0 {
        let changes: i64 = verdicts.iter().map(|verdict| verdict.level_changes).sum();
        text.push_str(&format!("\nautotuned     {autotuned} volumes, {changes} changes of level"));
    }
    let limits = |verdict: &Verdict| offer(verdict).and_then(|offer| limits_of(offer).err());
    let mut unknown = verdicts.iter().filter_map(limits);
    if let Some(reason) = unknown.next() {
        let count = 1 + unknown.count();
        text.push_str(&format!("\nnote: waits of {count} volumes are unknown, and not among these: {reason}"));
    }
    if without > 0 {
        text.push_str(&format!(
            "\nnote: {without} volumes have no configuration or price, and no limits in the replay"
        ));
    }
    text
}

/// A row of the table.
#[derive(Serialize)]
struct ReplayRow<'a> {
    id: &'a str,
    points: i64,
    throttled_s: i64,
    delayed_ops: i64,
    longest_wait_ms: i64,
    lowest_credits_milli: i64,
    pinned_s: i64,
    checked_points: i64,
    exceeded_points: i64,
    peak_iops_milli: i64,
    peak_bytes_per_second: i64,
    end_ts: i64,
    level_changes: i64,
}

fn write_csv(path: &std::path::Path, volumes: &FleetVolumes, verdicts: &[Verdict]) -> Result<()> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for verdict in verdicts {
        table.serialize(ReplayRow {
            id: volumes.list.get(verdict.volume as usize).map_or("", |volume| &volume.id),
            points: verdict.points,
            throttled_s: verdict.throttled_seconds,
            delayed_ops: verdict.delayed_operations,
            longest_wait_ms: verdict.longest_wait_ms,
            lowest_credits_milli: verdict.lowest_credits_milli,
            pinned_s: verdict.pinned_seconds,
            checked_points: verdict.checked_points,
            exceeded_points: verdict.exceeded_points,
            peak_iops_milli: verdict.operations_peak[0],
            peak_bytes_per_second: verdict.bytes_peak[0],
            end_ts: verdict.end,
            level_changes: verdict.level_changes,
        })?;
    }
    write_atomically(path, &table.into_inner()?)
}
