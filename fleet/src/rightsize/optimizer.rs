//! Comparison with the export of AWS Compute Optimizer (`export-ebs-volume-recommendations`): each disagreement with its
//! reason.
//!
//! Columns: <https://docs.aws.amazon.com/compute-optimizer/latest/ug/exporting-recommendations.html>. Their names are
//! compared without regard to case.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use csv::StringRecord;
use plimsoll_catalogue::{Catalogue, Offer};
use serde::{Deserialize, Serialize};

use super::Answer;
use super::decide::{Action, monthly_micros, number};
use super::output::FinalAnswer;
use crate::folder::AtomicFile;
use crate::limits::Offers;
use crate::points::{HASH_START, hash_bytes};
use crate::records::{Record, Scratch, Sorter};
use crate::terms::TermOptions;
use crate::volumes::finish_table;

/// Mebibyte.
const MIB: f64 = 1_048_576.0;

/// Why two answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disagreement {
    /// The row could not be read.
    Unreadable,
    /// The export describes another present configuration than the inventory.
    InventoryDiffers,
    /// There is no answer here.
    NoAnswer,
    /// Limits delay operations of the volume.
    Throttled,
    /// The proposal of the export is below the busiest point.
    BelowPeak,
    /// The proposal carries the busiest point, without the headroom.
    LessHeadroom,
    /// The proposal is of another product.
    OtherProduct,
    /// The proposal has more than the need with headroom.
    MoreCapacity,
}

/// A volume in both answers.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Compared {
    id: String,
    finding: String,
    export_config: String,
    export_cost_micros: Option<i64>,
    config: String,
    cost_micros: Option<i64>,
    /// `None` if both agree.
    disagreement: Option<Disagreement>,
    /// The reason of the disagreement.
    reason: String,
}

/// The comparison. Its rows are in `compute-optimizer.csv`, in the order of the export.
#[derive(Debug, Default)]
pub struct OptimizerComparison {
    /// Rows of the export about volumes with an answer.
    pub compared: usize,
    /// Those whose answers agree.
    pub agreed: usize,
    /// Number of rows of each disagreement, and the first reason.
    pub disagreements: BTreeMap<Disagreement, (i64, String)>,
    /// Rows about volumes that have no points here.
    pub without_points: usize,
}

impl OptimizerComparison {
    fn add(&mut self, row: &Compared) {
        self.compared += 1;
        match row.disagreement {
            None => self.agreed += 1,
            Some(disagreement) => {
                self.disagreements.entry(disagreement).or_insert_with(|| (0, row.reason.clone())).0 += 1;
            }
        }
    }
}

/// Properties of an EBS volume; `None` where its type has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EbsVolume {
    kind: String,
    size_gib: f64,
    iops: Option<f64>,
    mib_per_second: Option<f64>,
}

impl EbsVolume {
    /// `None` for other products.
    pub fn of(offer: &Offer) -> Option<Self> {
        let kind = offer.product().name().strip_prefix("aws/")?.to_owned();
        let (iops, mib_per_second) = (number(offer, "iops"), number(offer, "throughput"));
        Some(Self { kind, size_gib: number(offer, "size")?, iops, mib_per_second })
    }

    /// As `quote` reads it. Types other than gp3, io1 and io2 derive their limits from the size.
    fn to_config(&self) -> String {
        let Self { kind, size_gib, .. } = self;
        let option = |name: &str, value: Option<f64>| value.map(|value| format!(",{name}={value}")).unwrap_or_default();
        let iops = self.iops.filter(|_| ["gp3", "io1", "io2"].contains(&kind.as_str()));
        let throughput = self.mib_per_second.filter(|_| kind == "gp3");
        format!("aws/{kind}:{size_gib}GiB{}{}", option("iops", iops), option("throughput", throughput))
    }
}

/// A row of the export.
#[derive(Debug, Serialize, Deserialize)]
struct Recommendation {
    /// Number of the row.
    row: u64,
    id: String,
    finding: String,
    days: Option<f64>,
    present: EbsVolume,
    /// Of the first rank; the present one without a recommendation.
    proposed: EbsVolume,
}

/// The columns of an export by name in lower case.
struct ExportColumns(HashMap<String, usize>);

impl ExportColumns {
    fn text<'r>(&self, row: &'r StringRecord, name: &str) -> Option<&'r str> {
        row.get(*self.0.get(name)?).map(str::trim).filter(|text| !text.is_empty())
    }

    fn volume(&self, row: &StringRecord, prefix: &str) -> Result<Option<EbsVolume>, String> {
        let read_number = |name: &str| {
            let text = self.text(row, &format!("{prefix}{name}"));
            text.map(|text| text.parse::<f64>().map_err(|_| format!("{name} {text:?} is no number"))).transpose()
        };
        let Some(kind) = self.text(row, &format!("{prefix}volumetype")) else { return Ok(None) };
        let size_gib = read_number("volumesize")?.ok_or_else(|| format!("{prefix}volumesize is empty"))?;
        let (iops, mib_per_second) = (read_number("volumebaselineiops")?, read_number("volumebaselinethroughput")?);
        Ok(Some(EbsVolume { kind: kind.to_lowercase(), size_gib, iops, mib_per_second }))
    }

    fn recommendation(&self, number: u64, row: &StringRecord) -> Result<Recommendation, String> {
        let arn = self.text(row, "volumearn").ok_or("volumeArn is empty")?;
        let present = self.volume(row, "currentconfiguration_")?.ok_or("it has no current configuration")?;
        let proposed = self.volume(row, "recommendationoptions_1_configuration_")?;
        Ok(Recommendation {
            row: number,
            id: arn.rsplit('/').next().unwrap_or(arn).to_owned(),
            finding: self.text(row, "finding").unwrap_or_default().to_owned(),
            days: self.text(row, "lookbackperiodindays").and_then(|days| days.parse().ok()),
            proposed: proposed.unwrap_or_else(|| present.clone()),
            present,
        })
    }
}

/// An export and the answers about its volumes, a bounded part of them in memory.
pub struct OptimizerExport<'a> {
    /// Rows by identifier.
    rows: Sorter<'a>,
    /// Hashes of their identifiers.
    ids: HashSet<u64>,
    /// Answers by identifier, with their proposals.
    answers: Sorter<'a>,
    /// Compared rows by their number.
    compared: Sorter<'a>,
}

impl<'a> OptimizerExport<'a> {
    /// Reads an export.
    pub fn read(path: &Path, scratch: &'a Scratch) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path)?;
        let names = reader.headers()?.iter().map(|name| name.trim().trim_start_matches('\u{feff}').to_lowercase());
        let columns = ExportColumns(names.zip(0..).collect());
        ensure!(
            columns.0.contains_key("volumearn") && columns.0.contains_key("currentconfiguration_volumetype"),
            "{} is no export of EBS volumes of Compute Optimizer: it lacks volumeArn or currentConfiguration_volumeType",
            path.display()
        );
        let [rows, answers, compared] = [(); 3].map(|()| scratch.sorter());
        let mut export = Self { rows, ids: HashSet::new(), answers, compared };
        for (number, row) in (0_u64..).zip(reader.records()) {
            let row = row.with_context(|| format!("read {}", path.display()))?;
            match columns.recommendation(number, &row) {
                Ok(recommendation) => {
                    export.ids.insert(hash_bytes(HASH_START, recommendation.id.as_bytes()));
                    export.rows.push_json(recommendation.id.as_bytes(), &recommendation)?;
                }
                Err(reason) => {
                    let id = columns.text(&row, "volumearn").unwrap_or_default().to_owned();
                    let disagreement = Some(Disagreement::Unreadable);
                    let unreadable = Compared { id, disagreement, reason, ..Compared::default() };
                    export.compared.push_json(&number.to_be_bytes(), &unreadable)?;
                }
            }
        }
        Ok(export)
    }

    /// Adds an answer if the export may have its volume.
    pub fn add(&mut self, row: &FinalAnswer) -> Result<()> {
        let id = row.answer.volume.id.as_bytes();
        if self.ids.contains(&hash_bytes(HASH_START, id)) {
            self.answers.push_json(id, &(&row.answer, &row.proposed))?;
        }
        Ok(())
    }

    /// Compares the export with the answers, and writes the rows into a folder.
    pub fn compare(mut self, comparer: &Comparer<'_>, out: &Path) -> Result<OptimizerComparison> {
        let mut found = OptimizerComparison::default();
        let mut prices = Offers::new(comparer.catalogue);
        let mut answers = self.answers.finish()?.peekable();
        for row in self.rows.finish()? {
            let Record { key, value } = row?;
            let is_before = |answer: &Result<Record>| answer.as_ref().is_ok_and(|answer| answer.key < key);
            while answers.next_if(is_before).is_some() {}
            if let Some(Err(_)) = answers.peek() {
                answers.next().transpose()?;
            }
            let answer = answers.peek().and_then(|answer| answer.as_ref().ok()).filter(|answer| answer.key == key);
            let Some(answer) = answer else {
                found.without_points += 1;
                continue;
            };
            let recommendation: Recommendation = serde_json::from_slice(&value)?;
            let (answer, proposed): (Answer, Option<EbsVolume>) = serde_json::from_slice(&answer.value)?;
            let row = comparer.compare_one(&recommendation, &answer, proposed, &mut prices)?;
            self.compared.push_json(&recommendation.row.to_be_bytes(), &row)?;
        }
        let mut table = csv::Writer::from_writer(AtomicFile::create(&out.join("compute-optimizer.csv"))?);
        for row in self.compared.finish()? {
            let comparison: Compared = serde_json::from_slice(&row?.value)?;
            found.add(&comparison);
            table.serialize(comparison)?;
        }
        finish_table(table)?;
        Ok(found)
    }
}

/// Terms of a comparison.
pub struct Comparer<'a> {
    /// The products.
    pub catalogue: &'a Catalogue,
    /// Terms of prices.
    pub terms: &'a TermOptions,
    /// Capacity over need.
    pub headroom: f64,
}

impl Comparer<'_> {
    fn compare_one(
        &self,
        theirs: &Recommendation,
        answer: &Answer,
        proposed: Option<EbsVolume>,
        prices: &mut Offers<'_>,
    ) -> Result<Compared> {
        let terms = self.terms.price_terms(&answer.volume.region)?;
        let export_config = theirs.proposed.to_config();
        let export_cost_micros = prices.get(&export_config, &terms).ok().and_then(monthly_micros);
        let present = prices.get(&answer.volume.config, &terms).ok().and_then(EbsVolume::of);
        let has_proposal = answer.new_config.is_some();
        let ours = if has_proposal { proposed } else { present.clone() };
        let config = answer.new_config.clone().unwrap_or_else(|| answer.volume.config.clone());
        let cost_micros = answer.new_cost_micros.or(answer.cost_micros);
        let (disagreement, mut reason) = match (&present, &ours) {
            (Some(present), Some(ours)) if answer.action != Action::Unknown => self
                .explain(theirs, answer, present, ours)
                .map_or((None, String::new()), |(why, text)| (Some(why), text)),
            _ => (Some(Disagreement::NoAnswer), "the volume has no EBS configuration, price or load here".to_owned()),
        };
        if let (Some(days), Some(_)) = (theirs.days, disagreement) {
            reason.push_str(&format!("; the export looks back {days} days"));
        }
        let (id, finding) = (theirs.id.clone(), theirs.finding.clone());
        Ok(Compared { id, finding, export_config, export_cost_micros, config, cost_micros, disagreement, reason })
    }

    /// The first reason that applies; `None` if both answers are the same.
    fn explain(
        &self,
        theirs: &Recommendation,
        answer: &Answer,
        present: &EbsVolume,
        ours: &EbsVolume,
    ) -> Option<(Disagreement, String)> {
        let proposed = &theirs.proposed;
        if is_other(&theirs.present, present) {
            let (export, inventory) = (theirs.present.to_config(), present.to_config());
            let text = format!("the export describes {export}, the inventory {inventory}: update the older one");
            return Some((Disagreement::InventoryDiffers, text));
        }
        if !is_other(proposed, ours) {
            return None;
        }
        let share = answer.throttled_permille as f64 / 10.0;
        if answer.throttled {
            let text = format!("limits delay operations in {share:.1} % of the time: the need is at least the load");
            return Some((Disagreement::Throttled, text));
        }
        let (iops, mib) = (answer.need_iops as f64, answer.need_bytes_per_second as f64 / MIB);
        // A type without the option has limits by its size, which are in the export.
        let carries = |room: f64| {
            let enough = |limit: Option<f64>, need: f64| limit.is_none_or(|limit| limit >= need * room);
            enough(proposed.iops, iops) && enough(proposed.mib_per_second, mib)
        };
        let limits = format!(
            "{} IOPS and {} MiB/s",
            proposed.iops.map_or("unknown".to_owned(), |iops| iops.to_string()),
            proposed.mib_per_second.map_or("unknown".to_owned(), |rate| rate.to_string())
        );
        let need = format!("the busiest point needs {iops} IOPS and {mib:.1} MiB/s");
        Some(if !carries(1.0) {
            (Disagreement::BelowPeak, format!("{need}, the export proposes {limits}"))
        } else if !carries(self.headroom) {
            (
                Disagreement::LessHeadroom,
                format!("{need}, with a headroom of {}; the export proposes {limits}", self.headroom),
            )
        } else if proposed.kind != ours.kind {
            (
                Disagreement::OtherProduct,
                format!("{need}: {} carries it, the export proposes {}", ours.kind, proposed.kind),
            )
        } else {
            (Disagreement::MoreCapacity, format!("{need}, the export proposes {limits}"))
        })
    }
}

/// True for another type, size, or provisioned rate. A rate that one side does not state is no difference.
fn is_other(a: &EbsVolume, b: &EbsVolume) -> bool {
    let differ = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a - b).abs() >= 1.0);
    a.kind != b.kind
        || (a.size_gib - b.size_gib).abs() >= 1.0
        || differ(a.iops, b.iops)
        || differ(a.mib_per_second, b.mib_per_second)
}
