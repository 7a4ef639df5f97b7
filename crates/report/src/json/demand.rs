//! Inputs with their figures, and the demand of each database or host.

use std::sync::Arc;

use plimsoll_ingest::{
    Caution, Class, DatabaseDemand, Demand, Fate, Figure, InputPart, Measure, MeasureSeries, MissCurve, Outcome,
    OutcomeSummary, Reading, ReadingEvidence, Slot, Statistic, Summary,
};
use plimsoll_record::Finding;
use plimsoll_units::Span;
use schemars::JsonSchema;
use serde::Serialize;

use super::{each, finite};
use crate::pages::measure_name;

/// Class of operations, by their purpose.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Class", extend("enum" = Class::ALL.map(Class::name)))]
pub(super) struct ClassName(&'static str);

impl From<Class> for ClassName {
    fn from(class: Class) -> Self {
        Self(class.name())
    }
}

/// An input with its figures, or the reason why it was refused.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Input {
    Refused(RefusedInput),
    Read(ReadInput),
}

impl From<&Outcome> for Input {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Refused { .. } => Self::Refused(outcome.into()),
            Outcome::Read(reading) => Self::Read((&**reading, outcome.verdict()).into()),
        }
    }
}

/// An input without its figures, or the reason why it was refused.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum InputSummary {
    Refused(RefusedInput),
    Read(ReadSummary),
}

impl From<&Outcome> for InputSummary {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Refused { .. } => Self::Refused(outcome.into()),
            Outcome::Read(reading) => Self::Read((&**reading).into()),
        }
    }
}

view! {
    /// Inputs, number by number, and their demand.
    struct DemandResult from (outcomes, demand): (&[Outcome], &Demand) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.demand/1"))]
        format: &'static str = "plimsoll.demand/1",
        /// Inputs in the order of the arguments.
        inputs: Vec<Input> = each(outcomes),
        /// Demand of each database, or of each host if the inputs name no database.
        subjects: Vec<SubjectView> = each(&demand.subjects),
    }

    /// An input that was refused.
    struct RefusedInput from outcome: &Outcome {
        /// Name of the input.
        name: String = outcome.name().to_owned(),
        /// Recognised form; null if it was not recognised.
        kind: Option<&'static str> = outcome.kind().map(|kind| kind.id),
        /// `refused`.
        #[schemars(extend("const" = "refused"))]
        verdict: &'static str = "refused",
        /// Reason with its place, and the remedy.
        refused: String = match outcome {
            Outcome::Refused { refusal, .. } => refusal.to_string(),
            Outcome::Read(_) => String::new(),
        },
    }

    /// An input without its figures.
    struct ReadSummary from reading: &Reading {
        /// Name of the input.
        name: String = reading.name.clone(),
        /// Recognised form.
        kind: &'static str = reading.kind.id,
        /// Version of the program that wrote it; null if unknown.
        version: Option<String> = reading.version.clone(),
        /// Reasons to doubt its figures.
        cautions: Vec<CautionView> = each(&reading.cautions),
    }

    /// An input with its figures.
    struct ReadInput from (reading, verdict): (&Reading, OutcomeSummary) {
        #[serde(flatten)]
        summary: ReadSummary = reading.into(),
        /// `read`, or `partly` if a section is broken.
        #[schemars(extend("enum" = ["read", "partly"]))]
        verdict: &'static str = if verdict == OutcomeSummary::Read { "read" } else { "partly" },
        /// Time zone assumed for times without an offset; null if no time lacks one.
        assumed_zone: Option<String> = reading.assumed_zone.clone(),
        /// Sections of the input.
        sections: Vec<InputSection> = each(&reading.parts),
        /// Figures in the order of the input.
        figures: Vec<FigureView> = reading.figures.iter().map(|figure| (reading, figure).into()).collect(),
        /// Results of benchmarks; never added to demand.
        evidence: Vec<EvidenceView> = each(&reading.evidence),
        /// Miss ratios by cache size.
        miss_curves: Vec<MissCurveView> = each(&reading.curves),
    }

    /// A doubt about an input.
    #[schemars(rename = "Caution")]
    struct CautionView from caution: &Caution {
        /// Kind of the doubt, for filters.
        kind: String = caution.doubt.kind(),
        /// Place in the input; null for the whole input.
        place: Option<String> = caution.origin.as_ref().map(ToString::to_string),
        /// The doubt in a sentence, and the remedy.
        text: String = caution.doubt.to_string(),
    }

    /// A section of an input.
    struct InputSection from part: &InputPart {
        /// Name in the input.
        name: String = part.name.clone(),
        /// Outcome.
        #[schemars(extend("enum" = ["read", "empty", "missing", "broken", "ignored"]))]
        fate: &'static str = match part.fate {
            Fate::Read(_) => "read",
            Fate::Empty => "empty",
            Fate::Missing => "missing",
            Fate::Broken => "broken",
            Fate::Ignored => "ignored",
        },
        /// Count of numbers that were read; null unless it was read.
        numbers: Option<u32> = match part.fate {
            Fate::Read(numbers) => Some(numbers),
            _ => None,
        },
    }

    /// A number with its meaning and place.
    #[schemars(rename = "Figure")]
    struct FigureView from (reading, figure): (&Reading, &Figure) {
        /// Database; empty if unknown.
        database: String = reading.scopes[figure.scope as usize].database.clone(),
        /// Instance of a clustered database; empty if unknown.
        instance: String = reading.scopes[figure.scope as usize].instance.clone(),
        /// Host; empty if unknown.
        host: String = reading.scopes[figure.scope as usize].host.clone(),
        /// Device, volume, file or tablespace; empty for all of them.
        part: String = reading.scopes[figure.scope as usize].part.clone(),
        /// Begin of the window by the clock of the report; null if unknown.
        begin: Option<String> = reading.windows[figure.window as usize].begin.map(|begin| begin.to_string()),
        /// Length of the window in nanoseconds.
        window_ns: Span = reading.windows[figure.window as usize].length,
        /// Class of the operations.
        class: ClassName = figure.class.into(),
        #[serde(flatten)]
        quantity: Quantity = (figure.measure, figure.statistic).into(),
        /// Value in the unit.
        value: Option<f64> = finite(figure.value),
        /// Line in the input, from 1; null if the input has no lines.
        line: Option<u64> = Some(figure.origin.line).filter(|line| *line > 0),
        /// Table or section; null if there is none.
        table: Option<Arc<str>> = figure.origin.table.clone(),
        /// Row and column, counter or path; empty for the whole line or table.
        field: Arc<str> = Arc::clone(&figure.origin.field),
    }

    /// Measured quantity.
    struct Quantity from (measure, statistic): (Measure, Statistic) {
        /// Measured quantity.
        #[schemars(extend("enum" = ["iops", "throughput", "size", "latency", "depth", "busy"]))]
        measure: &'static str = measure_name(measure),
        /// Mean of the window, or maximum of shorter windows in it.
        #[schemars(extend("enum" = ["mean", "maximum"]))]
        statistic: &'static str = match statistic {
            Statistic::Mean => "mean",
            Statistic::Maximum => "maximum",
        },
        /// Unit: operations per second, bytes per second, bytes of an operation, seconds, operations in flight, or share
        /// of the window with operations in flight, 0 to 1.
        #[schemars(extend("enum" = ["iops", "bytes_per_second", "bytes", "seconds", "operations", "share"]))]
        unit: &'static str = match measure {
            Measure::Iops => "iops",
            Measure::Throughput => "bytes_per_second",
            Measure::Size => "bytes",
            Measure::Latency => "seconds",
            Measure::Depth => "operations",
            Measure::Busy => "share",
        },
    }

    /// Result of a benchmark. Values that the input does not state are null.
    #[schemars(rename = "Evidence")]
    struct EvidenceView from one: &ReadingEvidence {
        /// Name of the test.
        test: String = one.test.clone(),
        /// Share of reads, 0 to 1.
        reads_share: Option<f64> = one.setting.reads,
        /// True for consecutive addresses, false for random addresses.
        sequential: Option<bool> = one.setting.sequential,
        /// Bytes of an operation.
        block_bytes: Option<f64> = one.setting.block_bytes,
        /// Operations in flight of all threads.
        depth: Option<f64> = one.setting.depth,
        /// Threads, processes or sessions.
        threads: Option<f64> = one.setting.threads,
        /// Operations per second.
        iops: Option<f64> = one.iops,
        /// Bytes per second.
        bytes_per_second: Option<f64> = one.bytes_s,
        /// Transactions per second of database benchmarks.
        transactions_per_second: Option<f64> = one.transactions_s,
        /// Mean latency in seconds; of transactions, if they are counted.
        mean_seconds: Option<f64> = one.mean_s,
        /// Quantiles of the latency.
        quantiles: Vec<QuantileView> = each(&one.quantiles),
        /// Duration in seconds.
        lasted_seconds: Option<f64> = one.lasted_s,
        /// Seconds from the begin of the test to this interval; null for a whole test.
        at_seconds: Option<f64> = one.at_s,
        /// Direct I/O; otherwise through the page cache.
        direct: Option<bool> = one.offering.direct,
        /// Operations per second that were offered by the clock; null for a closed load.
        offered_iops: Option<f64> = one.offering.rate,
        /// Doubts about the result that follow from its own output.
        findings: Vec<EvidenceFinding> = each(&one.findings),
        /// Place in the input.
        place: String = one.origin.to_string(),
    }

    /// A doubt about a benchmark result.
    struct EvidenceFinding from finding: &Finding {
        /// Severity: `note`, `caution`, or `void` for figures that do not describe the storage.
        weight: &'static str = crate::words::weight(finding.weight()),
        /// The doubt.
        text: String = crate::words::finding(finding),
        /// The remedy.
        remedy: &'static str = finding.remedy(),
    }

    /// A quantile of the latency.
    #[schemars(rename = "Quantile")]
    struct QuantileView from (quantile, seconds): &(f64, f64) {
        /// Quantile, 0 to 1.
        quantile: f64 = *quantile,
        /// Latency in seconds.
        seconds: Option<f64> = finite(*seconds),
    }

    /// Miss ratio of a cache by its size.
    #[schemars(rename = "MissCurve")]
    struct MissCurveView from curve: &MissCurve {
        /// Reads of pages or objects.
        reads: f64 = curve.reads,
        /// Distinct bytes read or written.
        working_set_bytes: f64 = curve.working_set_bytes,
        /// Share of the pages that were followed, 0 to 1; below 1 the curve is an estimate.
        sampled_share: f64 = curve.sampled,
        /// Points of the curve by size, from 0.
        points: Vec<MissPoint> = each(&curve.points),
    }

    /// Misses of a cache of one size.
    struct MissPoint from (bytes, misses): &(f64, f64) {
        /// Size of the cache in bytes.
        cache_bytes: f64 = *bytes,
        /// Share of reads that miss, 0 to 1.
        misses_share: f64 = *misses,
    }

    /// Demand of a database or host.
    #[schemars(rename = "Subject")]
    struct SubjectView from subject: &DatabaseDemand {
        /// Name; empty if unknown.
        name: String = subject.name.clone(),
        /// Instances by name.
        instances: Vec<String> = subject.instances.clone(),
        /// Windows in order of time.
        windows: Vec<WindowOfDemand> = each(&subject.slots),
        /// Reads or writes whose operations no input counts: unknown, not zero.
        absent: Vec<ClassName> = subject.absent().into_iter().map(Into::into).collect(),
        /// Operations by class and quantity.
        series: Vec<SeriesView> = subject.series.iter().map(|series| (subject, series).into()).collect(),
        /// Reasons to doubt the combination of the inputs.
        doubts: Vec<String> = subject.doubts.iter().map(ToString::to_string).collect(),
    }

    /// A window of time.
    struct WindowOfDemand from slot: &Slot {
        /// Begin by the clocks of the inputs; null if unknown.
        begin: Option<String> = slot.begin.map(|begin| begin.to_string()),
        /// Length in nanoseconds.
        window_ns: Span = slot.length,
        /// Number of windows of the input that it joins, which are quiet neighbours in a long input; otherwise 1.
        joins: u32 = slot.windows,
    }

    /// A quantity of a class over all windows.
    #[schemars(rename = "Series")]
    struct SeriesView from (subject, series): (&DatabaseDemand, &MeasureSeries) {
        /// Class of the operations.
        class: ClassName = series.class.into(),
        #[serde(flatten)]
        quantity: Quantity = (series.measure, series.statistic).into(),
        /// Value of each window in the unit; null if unknown.
        values: Vec<Option<f64>> = series.values.clone(),
        /// Summary, each window weighted by its length; null if no window has a value.
        over_windows: Option<SummaryView> = subject.summary(series).map(Into::into),
    }

    /// Summary of a series over its windows.
    #[schemars(rename = "Summary")]
    struct SummaryView from summary: Summary {
        /// Number of windows with a value.
        windows: usize = summary.windows,
        /// Mean.
        mean: f64 = summary.mean,
        /// Value that is not exceeded in half of the time.
        p50: f64 = summary.p50,
        /// Value that is not exceeded in 95 % of the time.
        p95: f64 = summary.p95,
        /// Highest window.
        maximum: f64 = summary.maximum,
    }
}
