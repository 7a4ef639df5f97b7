//! `replay`: the load of all volumes under today's limits, or under those of another product.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use plimsoll_catalogue::{Catalogue, Config, Offer, Part, PriceTerms, Setting};
use plimsoll_choose::hours::Levels;
use plimsoll_fleet_engine::{LevelLimits, LevelWaits, MAX_LEVELS};
use plimsoll_units::Span;
use serde::{Deserialize, Serialize};

use crate::folder::{AtomicFile, Folder, remove_leftovers};
use crate::limits::{Offers, limits_of, limits_or_none};
use crate::parallel::map_in_chunks;
use crate::place::PlaceOptions;
use crate::records::Scratch;
use crate::replay::{FleetLimits, Replayed, Verdict, forget, replay, results_folder, with_verdicts};
use crate::rightsize::{monthly_micros, number};
use crate::terms::TermOptions;
use crate::volumes::{FleetVolume, VolumeRows, finish_table};

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
    remove_leftovers(&folder.root)?;
    let catalogue = Catalogue::built_in();
    let results = options.results.clone().unwrap_or_else(|| results_folder(&folder));
    if options.again {
        forget(&results)?;
    }
    let place = options.place.run_place()?;
    let template = options.product.as_deref().map(str::parse).transpose().context("--as")?;
    let what_if = WhatIf { catalogue: &catalogue, options, template };
    let scratch = Scratch::new(&folder.root, options.place.max_buffered);
    let (mut limits, mut subjects) = (FleetLimits::new(&folder, &scratch), scratch.sorter());
    let mut sums = Sums::default();
    map_in_chunks(
        VolumeRows::open(&folder)?,
        || Offers::new(&catalogue),
        |offers, volume| what_if.subject_of(offers, volume),
        |(of_volume, subject)| {
            sums.autotuned += usize::from(subject.is_autotuned);
            limits.push(subject.volume.volume, &of_volume)?;
            subjects.push_json(&subject.volume.volume.to_be_bytes(), &subject)
        },
    )?;
    if let Some(highest) = options.autotune_to {
        ensure!(
            sums.autotuned > 0,
            "--autotune-to {highest}: no volume has a product that autotunes levels, with a default level below: see \
             `plimsoll product oci/block-volume`"
        );
    }
    let replayed = replay(&folder, limits.finish()?, &results, &place)?;
    let mut table = options.csv.as_deref().map(AtomicFile::create).transpose()?.map(csv::Writer::from_writer);
    let subjects = subjects.finish()?.map(|record| Ok(serde_json::from_slice(&record?.value)?));
    for pair in with_verdicts(subjects, |subject: &Subject| subject.volume.volume, replayed.verdicts(&scratch)?) {
        let (subject, Some(verdict)) = pair? else { continue };
        sums.add(&subject, &verdict);
        if let Some(table) = &mut table {
            table.serialize(ReplayRow::of(&subject, &verdict))?;
        }
    }
    table.map(finish_table).transpose()?;
    Ok(sums.to_text(&replayed, &options.terms.currency))
}

/// Terms of a replay.
struct WhatIf<'a> {
    catalogue: &'a Catalogue,
    options: &'a ReplayOptions,
    /// The product of all volumes.
    template: Option<Config>,
}

/// A volume of a replay.
#[derive(Debug, Serialize, Deserialize)]
struct Subject {
    volume: FleetVolume,
    /// Monthly prices by level, a single one for volumes whose level stays.
    prices: Vec<Option<i64>>,
    is_autotuned: bool,
    /// Why its waits are unknown.
    not_replayed: Option<String>,
}

impl WhatIf<'_> {
    fn subject_of(&self, offers: &mut Offers<'_>, volume: FleetVolume) -> Result<(LevelLimits, Subject)> {
        let terms = self.options.terms.price_terms(&volume.region)?;
        let own = offers.of_volume(&volume, &self.options.terms)?;
        let offer = match &self.template {
            Some(template) => own.and_then(|own| as_product(self.catalogue, own, template, &terms)),
            None => own.cloned(),
        };
        let offer = offer.ok();
        let highest = self.options.autotune_to;
        let tuned = offer
            .as_ref()
            .zip(highest)
            .and_then(|(offer, highest)| TunedVolume::of(self.catalogue, offer, highest, &terms));
        let subject = Subject {
            volume,
            prices: match &tuned {
                Some(tuned) => tuned.offers.iter().map(monthly_micros).collect(),
                None => vec![offer.as_ref().and_then(monthly_micros)],
            },
            is_autotuned: tuned.is_some(),
            not_replayed: offer.as_ref().and_then(|offer| limits_of(offer).err()).map(|error| error.to_string()),
        };
        let limits = tuned.map_or_else(|| Ok(limits_or_none(offer.as_ref())), |tuned| tuned.limits())?;
        Ok((limits, subject))
    }
}

impl Subject {
    /// Mean monthly price over the time at each level; `None` without a price.
    fn monthly_micros(&self, verdict: &Verdict) -> Option<i64> {
        if let [price] = self.prices[..] {
            return price;
        }
        let (mut sum, mut time) = (0_i128, 0_i128);
        for (price, seconds) in self.prices.iter().zip(verdict.level_seconds) {
            sum += i128::from((*price)?) * i128::from(seconds);
            time += i128::from(seconds);
        }
        i64::try_from(sum / time.max(1)).ok()
    }
}

/// Offers of a volume from its default level to the highest, and when its level changes.
struct TunedVolume {
    offers: Vec<Offer>,
    waits: LevelWaits,
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

/// Sums of all verdicts.
#[derive(Default)]
struct Sums {
    volumes: usize,
    autotuned: usize,
    level_changes: i64,
    cost_micros: i64,
    without_price: usize,
    delayed: usize,
    throttled_seconds: i64,
    longest_wait_ms: i64,
    unknown: usize,
    first_unknown: Option<String>,
}

impl Sums {
    fn add(&mut self, subject: &Subject, verdict: &Verdict) {
        self.volumes += 1;
        self.level_changes += verdict.level_changes;
        match subject.monthly_micros(verdict) {
            Some(price) => self.cost_micros += price,
            None => self.without_price += 1,
        }
        if verdict.throttled_seconds > 0 {
            self.delayed += 1;
            self.throttled_seconds += verdict.throttled_seconds;
            self.longest_wait_ms = self.longest_wait_ms.max(verdict.longest_wait_ms);
        }
        if let Some(reason) = &subject.not_replayed {
            self.unknown += 1;
            self.first_unknown.get_or_insert_with(|| reason.clone());
        }
    }

    fn to_text(&self, replayed: &Replayed, currency: &str) -> String {
        let mut text = format!(
            "{} of {} volumes would wait for limits, {:.1} volume-hours in all; the longest wait is {:.1} s.\n\
             cost a month  {:.2} {currency}\npoints        {} ({} read, {} of {} buckets were finished before)",
            self.delayed,
            self.volumes,
            self.throttled_seconds as f64 / 3_600.0,
            self.longest_wait_ms as f64 / 1_000.0,
            self.cost_micros as f64 / 1e6,
            replayed.points,
            replayed.points_read,
            replayed.finished_before,
            replayed.buckets
        );
        if self.autotuned > 0 {
            let Self { autotuned, level_changes, .. } = self;
            text.push_str(&format!("\nautotuned     {autotuned} volumes, {level_changes} changes of level"));
        }
        if let Some(reason) = &self.first_unknown {
            let count = self.unknown;
            text.push_str(&format!("\nnote: waits of {count} volumes are unknown, and not among these: {reason}"));
        }
        if self.without_price > 0 {
            let count = self.without_price;
            text.push_str(&format!(
                "\nnote: {count} volumes have no configuration or price, and no limits in the replay"
            ));
        }
        text
    }
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

impl<'a> ReplayRow<'a> {
    fn of(subject: &'a Subject, verdict: &Verdict) -> Self {
        Self {
            id: &subject.volume.id,
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
        }
    }
}
