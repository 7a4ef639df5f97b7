//! fio's logs: `milliseconds, value, direction, size` and more depending on the version. The quantity is not in the
//! file but in its name (`_bw`, `_iops`, `_lat`, `_clat`, `_slat`).

use plimsoll_language::label;

use super::json::of_bins;
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, Origin, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};

/// Logs of bandwidth, operations and latencies.
pub(crate) const FORM: Form = Form::lines("fio-log", "fio log", is_log, |input| Box::new(FioLog::new(input)));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogQuantity {
    Bandwidth,
    Operations,
    Latency,
    /// Of submission: not a latency of storage.
    Submission,
}

impl LogQuantity {
    /// The suffix of fio's file names.
    const NAMES: [(&'static str, Self); 5] = [
        ("_bw", Self::Bandwidth),
        ("_iops", Self::Operations),
        ("_clat", Self::Latency),
        ("_slat", Self::Submission),
        ("_lat", Self::Latency),
    ];

    fn of(name: &str) -> Option<Self> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let ends = |end: &str| {
            let at = file.rfind(end)?;
            file[at + end.len()..].starts_with(['.', '-']).then_some(at)
        };
        let existing = Self::NAMES.iter().filter_map(|(end, value)| Some((ends(end)?, *value)));
        existing.max_by_key(|(at, _)| *at).map(|(_, value)| value)
    }
}

/// A row; the position of the direction shows whether there is a second value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogRow {
    ms: u64,
    value: f64,
    direction: usize,
    size: u64,
    fields: usize,
}

impl LogRow {
    const DIRECTIONS: [&'static str; 3] = ["reads", "writes", "discards"];

    fn of(line: &str, two_values: bool) -> Option<Self> {
        let mut fields = line.split(',').map(str::trim);
        let mut count = 0;
        let mut next = || {
            count += 1;
            fields.next()
        };
        let ms = next()?.parse().ok()?;
        let value: u64 = next()?.parse().ok()?;
        if two_values {
            next()?.parse::<u64>().ok()?;
        }
        let direction = next()?.parse().ok().filter(|direction| *direction < 3)?;
        let size = next()?.parse().ok()?;
        let rest = fields.map(|field| {
            let hexadecimal =
                field.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
            (hexadecimal || field.parse::<u64>().is_ok()).then_some(())
        });
        let rest = rest.collect::<Option<Vec<()>>>()?.len();
        let fields = count + rest;
        (fields <= 8).then_some(Self { ms, value: value as f64, direction, size, fields })
    }
}

fn is_log(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let is_cut = head.bytes().len() >= Form::HEAD - 4;
    let total = if is_cut { text.rsplit_once('\n').map_or("", |(total, _)| total) } else { text };
    let (mut single, mut double, mut lines) = (0, 0, 0);
    for line in total.lines().map(str::trim).filter(|line| !line.is_empty()).take(200) {
        // fio puts a blank after each comma, other programs do not.
        let is_spaced = line.matches(", ").count() == line.matches(',').count();
        lines += 1;
        single += u32::from(is_spaced && LogRow::of(line, false).is_some());
        double += u32::from(is_spaced && LogRow::of(line, true).is_some());
    }
    match single.max(double) {
        max if max >= 2 && max * 10 >= lines * 9 => Resemblance::Is { marks: 3 },
        max if max >= 2 && max * 2 >= lines => Resemblance::Near { marks: 1, missing: "such row in most lines" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct FioLog {
    name: String,
    value: Option<LogQuantity>,
    /// Rows before the number of values is known.
    early: Vec<(u64, String)>,
    two_values: Option<bool>,
    series: [BucketSeries; 3],
    fields: usize,
    /// Time of the first row, if times are since 1970.
    origin_ms: Option<u64>,
    last_ms: u64,
    single: bool,
    /// A value is too large for microseconds: the operation would have begun before the test.
    too_long: bool,
    broken: u64,
    back: u64,
}

/// Rows to determine whether there are two values.
const EARLY: usize = 64;
/// Larger than any test duration: times since 1970.
const CALENDAR_MS: u64 = 1_000_000_000_000;

impl FioLog {
    fn new(input: &FormatInput) -> Self {
        Self {
            value: LogQuantity::of(&input.name),
            name: input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),

            ..Self::default()
        }
    }

    fn decide(&mut self, out: &mut Builder) {
        let fits = |two_values| self.early.iter().filter(|(_, line)| LogRow::of(line, two_values).is_some()).count();
        let two_values = fits(true) > fits(false);
        self.two_values = Some(two_values);
        for (number, line) in std::mem::take(&mut self.early) {
            self.row(&line, number, two_values, out);
        }
    }

    fn row(&mut self, line: &str, number: u64, two_values: bool, out: &mut Builder) {
        let Some(row) = LogRow::of(line, two_values) else {
            self.broken += 1;
            return out.caution(Some(Origin::line(number)), Doubt::UnknownItem { item: label!("a row of a log") });
        };
        let origin = *self.origin_ms.get_or_insert(if row.ms >= CALENDAR_MS { row.ms } else { 0 });
        let since_ms = row.ms.saturating_sub(origin);
        self.back += u64::from(since_ms + 1_000 < self.last_ms);
        self.last_ms = self.last_ms.max(since_ms);
        self.fields = self.fields.max(row.fields - usize::from(two_values));
        self.single |= row.size > 0;
        self.too_long |= row.value / 1e3 > since_ms as f64 + 1_000.0 && origin == 0;
        self.series[row.direction].add(since_ms, row.value, number);
    }

    /// The unit of latencies in seconds, with a caution if it is assumed.
    fn unit(&self) -> (f64, Option<Doubt>) {
        if self.fields > 5 || self.too_long {
            return (1e-9, None);
        }
        let (unit_s, unit, precedent) = match self.fields {
            5 => (1e-9, "nanoseconds", "version 3"),
            _ => (1e-6, "microseconds", "version 2 with four columns"),
        };
        (unit_s, Some(Doubt::TimeUnitAssumed { unit, precedent: Some(precedent) }))
    }
}

impl LineFormat for FioLog {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        if let Some(two_values) = self.two_values {
            self.row(line, number, two_values, out);
            return Ok(());
        }
        self.early.push((number, line.to_owned()));
        if self.early.len() >= EARLY {
            self.decide(out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if self.two_values.is_none() {
            self.decide(out);
        }
        let Some(value) = self.value else {
            let names = "_bw.1.log, _iops.1.log, _lat.1.log, _clat.1.log";
            return Err(out.unusable(InputFault::NamelessQuantity { item: label!("a log"), names }));
        };
        let has_rows = self.series.iter().any(|series| series.total().rows != 0.0);
        out.require(has_rows, InputFault::Unfinished { lacks: label!("row") })?;
        if value == LogQuantity::Submission {
            out.caution(None, Doubt::SubmissionLatency);
            out.part("submission latencies", Fate::Ignored);
            return Ok(());
        }
        if self.broken > 0 {
            out.part(format!("{} unreadable rows", self.broken), Fate::Broken);
        }
        if self.back > 0 {
            out.caution(None, Doubt::LogsOfSeveralJobs);
        }
        let unit = if value == LogQuantity::Latency { self.unit() } else { (1.0, None) };
        if let Some(doubt) = unit.1 {
            out.caution(None, doubt);
        }
        self.emit(value, unit.0, out);
        Ok(())
    }
}

impl FioLog {
    fn emit(&self, value: LogQuantity, unit_s: f64, out: &mut Builder) {
        let scope = out.scope(ReadingScope::default());
        let mut count = 0;
        for (direction, series) in self.series.iter().enumerate().filter(|(_, series)| series.total().rows > 0.0) {
            let reads = [Some(1.0), Some(0.0), None][direction];
            let test = format!("{}, its {}", self.name, LogRow::DIRECTIONS[direction]);
            let field = out.text(LogRow::DIRECTIONS[direction]);
            let mut put = |sum: f64, rows: f64, line: u64, seconds: (Option<f64>, f64), out: &mut Builder| {
                let mean = sum / rows;
                let origin = Origin { line, table: None, field: field.clone() };
                let mut evidence = ReadingEvidence {
                    at_s: seconds.0,
                    lasted_s: Some(seconds.1),
                    ..ReadingEvidence::new(scope, test.clone(), origin)
                };
                evidence.setting = Setting { reads, ..Setting::default() };
                match value {
                    LogQuantity::Bandwidth => evidence.bytes_s = Some(mean * 1024.0),
                    LogQuantity::Operations => evidence.iops = Some(mean),
                    LogQuantity::Latency | LogQuantity::Submission => evidence.mean_s = Some(mean * unit_s),
                }
                count += 1;
                out.evidence(evidence);
            };
            let total = series.total();
            put(total.sum, total.rows, total.line, (None, self.last_ms as f64 / 1e3), out);
            for (at_s, cell) in series.moments() {
                put(cell.sum, cell.rows, cell.line, (Some(at_s), series.width_s()), out);
            }
        }
        if self.single && value != LogQuantity::Latency {
            out.caution(None, Doubt::SingleOperations);
        }
        out.part("moments", Fate::Read(count));
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct BucketSums {
    rows: f64,
    /// The sum of their values.
    sum: f64,
    /// The first of them.
    line: u64,
}

impl BucketSums {
    fn of(cells: &[Self]) -> Self {
        let mut total = Self::default();
        for cell in cells {
            total.merge(cell);
        }
        total
    }

    fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.sum += other.sum;
        if self.line == 0 {
            self.line = other.line;
        }
    }
}

/// Values by time bucket.
#[derive(Clone, Debug)]
struct BucketSeries {
    cells: Vec<BucketSums>,
    width_ms: u64,
}

impl Default for BucketSeries {
    fn default() -> Self {
        Self { cells: Vec::new(), width_ms: 1_000 }
    }
}

impl BucketSeries {
    /// Maximum number of buckets.
    const MAX_BUCKETS: u64 = 10_000;

    fn add(&mut self, since_ms: u64, value: f64, line: u64) {
        while since_ms / self.width_ms >= Self::MAX_BUCKETS {
            self.width_ms = self.width_ms.saturating_mul(2);
            self.cells = self.cells.chunks(2).map(BucketSums::of).collect();
        }
        let index = (since_ms / self.width_ms) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, BucketSums::default());
        }
        self.cells[index].merge(&BucketSums { rows: 1.0, sum: value, line });
    }

    /// The non-empty buckets: seconds from the begin, with their sums.
    fn moments(&self) -> impl Iterator<Item = (f64, BucketSums)> {
        let width_s = self.width_s();
        let all = self.cells.iter().enumerate().map(move |(index, cell)| (index as f64 * width_s, *cell));
        all.filter(|(_, cell)| cell.rows > 0.0)
    }

    /// Seconds of a bucket.
    fn width_s(&self) -> f64 {
        self.width_ms as f64 / 1e3
    }

    /// The sum of all buckets.
    fn total(&self) -> BucketSums {
        BucketSums::of(&self.cells)
    }
}

pub(crate) const HISTOGRAM_FORM: Form =
    Form::lines("fio-histogram-log", "fio histogram log", is_histogram_log, |_| Box::new(Histograms::default()));

/// Bins of a group; each group is twice as wide as the preceding one.
const IN_GROUP: u64 = 64;
/// Bins of versions 2 and 3, and the unit of their values.
const BINS: [(usize, f64); 2] = [(19 * 64, 1e-6), (29 * 64, 1e-9)];
/// Maximum intervals emitted separately.
const MAX_INTERVALS: usize = 10_000;

/// Merging of bins: the factor, and the unit.
#[derive(Clone, Copy)]
struct BinScale {
    joined: u64,
    unit_s: f64,
}

impl BinScale {
    /// From the number of bins in a row.
    fn of(count: usize) -> Option<Self> {
        // fio allows at most six halvings.
        (0..=6).find_map(|halved| {
            let (_, unit_s) = BINS.into_iter().find(|(bins, _)| bins >> halved == count)?;
            Some(Self { joined: 1 << halved, unit_s })
        })
    }

    /// The centre of a bin.
    fn value(self, bin: usize) -> f64 {
        let lowest = |index: u64| -> f64 {
            if index < 2 * IN_GROUP {
                return index as f64;
            }
            let doubled = index / IN_GROUP - 1;
            ((IN_GROUP + index % IN_GROUP) as f64) * (1_u64 << doubled) as f64
        };
        let first = bin as u64 * self.joined;
        f64::midpoint(lowest(first), lowest(first + self.joined))
    }
}

fn is_histogram_log(head: &Head<'_>) -> Resemblance {
    let mut lines = head.text().lines().filter(|line| !line.trim().is_empty()).take(3).map(parse_row);
    match lines.next() {
        Some(Some((_, direction, counts))) if direction < 3 && BinScale::of(counts.len()).is_some() => {
            Resemblance::Is { marks: 7 }
        }
        _ => Resemblance::None,
    }
}

/// Milliseconds, direction and counts of a row.
fn parse_row(line: &str) -> Option<(u64, usize, Vec<f64>)> {
    let mut fields = line.split(',').map(str::trim).filter(|field| !field.is_empty());
    let (ms, direction) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    fields.next()?.parse::<u64>().ok()?;
    let counts =
        fields.map(|field| field.parse::<u64>().ok().map(|count| count as f64)).collect::<Option<Vec<f64>>>()?;
    Some((ms, direction, counts))
}

#[derive(Default)]
struct Histograms {
    /// Total counts of each direction, with the end of the last interval.
    totals: [(Vec<f64>, u64); 3],
    emitted: u32,
    first_ms: Option<u64>,
}

impl LineFormat for Histograms {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let existing = parse_row(line).filter(|(_, direction, _)| *direction < 3);
        let Some((ms, direction, counts, scale)) = existing.and_then(|(ms, direction, counts)| {
            let scale = BinScale::of(counts.len())?;
            Some((ms, direction, counts, scale))
        }) else {
            out.caution(Some(Origin::line(number)), Doubt::UnknownItem { item: label!("a row of a histogram") });
            out.part("row", Fate::Broken);
            return Ok(());
        };
        let first = *self.first_ms.get_or_insert(ms);
        let (total, before) = &mut self.totals[direction];
        let begin = if *before == 0 { first.min(ms) } else { *before };
        let lasted_s = ms.saturating_sub(begin) as f64 / 1e3;
        *before = ms;
        if total.len() < counts.len() {
            total.resize(counts.len(), 0.0);
        }
        for (total, count) in total.iter_mut().zip(&counts) {
            *total += count;
        }
        if (self.emitted as usize) < MAX_INTERVALS {
            self.emitted += emit(direction, &counts, scale, (Some(begin as f64 / 1e3), lasted_s, number), out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        for (direction, (total, last)) in std::mem::take(&mut self.totals).into_iter().enumerate() {
            if let Some(scale) = BinScale::of(total.len()) {
                self.emitted += emit(direction, &total, scale, (None, last as f64 / 1e3, 0), out);
            }
        }
        out.require(self.emitted > 0, InputFault::Unfinished { lacks: label!("counts") })?;
        out.part("intervals", Fate::Read(self.emitted));
        Ok(())
    }
}

/// Emits an interval or the total, unless it is empty.
fn emit(
    direction: usize,
    counts: &[f64],
    scale: BinScale,
    (at_s, lasted_s, line): (Option<f64>, f64, u64),
    out: &mut Builder,
) -> u32 {
    let bins: Vec<(f64, f64)> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0.0)
        .map(|(bin, count)| (scale.value(bin), *count))
        .collect();
    let all: f64 = bins.iter().map(|(_, count)| count).sum();
    if all <= 0.0 {
        return 0;
    }
    let sum: f64 = bins.iter().map(|(value, count)| value * count).sum();
    let scope = out.scope(ReadingScope::default());
    let name = ["reads", "writes", "discards"][direction];
    let origin = out.origin(line, "", name);
    out.evidence(ReadingEvidence {
        setting: Setting { reads: [Some(1.0), Some(0.0), None][direction], ..Setting::default() },
        iops: (lasted_s > 0.0).then(|| all / lasted_s),
        mean_s: Some(sum / all * scale.unit_s),
        quantiles: of_bins(&bins, scale.unit_s),
        lasted_s: (lasted_s > 0.0).then_some(lasted_s),
        at_s,
        ..ReadingEvidence::new(scope, name, origin)
    });
    1
}

#[cfg(test)]
mod tests {
    use super::{BinScale, BucketSeries, LogQuantity, LogRow};

    #[test]
    fn names_determine_the_quantity() {
        let table = [
            ("a/b_bw.1.log", Some(LogQuantity::Bandwidth)),
            ("read-4k_iops.log", Some(LogQuantity::Operations)),
            ("x_bw_lat.3.log", Some(LogQuantity::Latency)),
            ("fio_clat.1-2.log", Some(LogQuantity::Latency)),
            ("fio_slat.log", Some(LogQuantity::Submission)),
            ("latency.log", None),
        ];
        for (name, expected) in table {
            assert_eq!(LogQuantity::of(name), expected, "{name}");
        }
    }

    #[test]
    fn rows_have_four_to_eight_fields() {
        let row =
            |line, double| LogRow::of(line, double).map(|row| (row.ms, row.value as u64, row.direction, row.fields));
        assert_eq!(row("502, 134629, 0, 0", false), Some((502, 134_629, 0, 4)));
        assert_eq!(row("1, 2, 1, 4096, 8192, 0x0, 77", false), Some((1, 2, 1, 7)));
        assert_eq!(row("1, 2, 9, 1, 4096, 0, 0", true), Some((1, 2, 1, 7)));
        assert_eq!((row("1, 2, 3, 4", false), row("1, x, 0, 0", false), row("1, 2, 0", false)), (None, None, None));
    }

    #[test]
    fn long_series_keep_their_sums() {
        let mut series = BucketSeries::default();
        for second in 0..25_000 {
            series.add(second * 1_000, 2.0, second + 1);
        }
        let moments: Vec<_> = series.moments().collect();
        assert_eq!((moments.len(), series.width_s() as u64), (6_250, 4));
        assert_eq!((moments[1].0 as u64, moments[1].1.sum as u64, moments[1].1.line), (4, 8, 5));
        assert_eq!((series.total().rows as u64, series.total().sum as u64), (25_000, 50_000));
    }

    #[test]
    fn bins_are_those_of_fio() {
        let fine = BinScale::of(1856).unwrap();
        assert_eq!((fine.value(0), fine.value(100), fine.value(128)).0.to_bits(), 0.5_f64.to_bits());
        // The third group has steps of double, the fourth of four.
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(near(fine.value(128), 129.0) && near(fine.value(191), 255.0) && near(fine.value(192), 258.0));
        let coarse = BinScale::of(1856 >> 3).unwrap();
        assert!(near(coarse.value(16), 136.0), "{}", coarse.value(16));
        assert!(BinScale::of(1216).is_some_and(|scale| scale.unit_s > 1e-9) && BinScale::of(100).is_none());
    }
}
