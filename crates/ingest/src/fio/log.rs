//! fio's logs: `milliseconds, value, direction, size` and, by version, more. What the values are is not in the file: fio
//! puts it into the name (`_bw`, `_iops`, `_lat`, `_clat`, `_slat`), so that is where it is read.

use super::series::Series;
use crate::builder::Builder;
use crate::evidence::{Evidence, Setting};
use crate::figure::{Origin, Scope};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;

const KIND: Kind = Kind { id: "fio-log", name: "fio log" };

/// Logs of bandwidth, operations and latencies.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles: is_log, open: |input| Box::new(Lines::new(Log::new(input))) };

pub(crate) use super::hist::FORM as HISTOGRAM_FORM;

/// What the values of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Bandwidth,
    Operations,
    Latency,
    /// Of submission alone: no latency of storage.
    Submission,
}

impl Value {
    /// What fio puts into names for it.
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
        let known = Self::NAMES.iter().filter_map(|(end, value)| Some((ends(end)?, *value)));
        known.max_by_key(|(at, _)| *at).map(|(_, value)| value)
    }
}

/// A row: where its direction stands tells whether a second value stands before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    ms: u64,
    value: f64,
    direction: usize,
    size: u64,
    fields: usize,
}

impl Row {
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

fn is_log(head: &[u8]) -> Resemblance {
    let text = String::from_utf8_lossy(head);
    let whole =
        if head.len() >= Form::HEAD - 4 { text.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { &text };
    let (mut one, mut two, mut lines) = (0, 0, 0);
    for line in whole.lines().map(str::trim).filter(|line| !line.is_empty()).take(200) {
        // fio puts a blank behind each comma, and others do not.
        let is_spaced = line.matches(", ").count() == line.matches(',').count();
        lines += 1;
        one += u32::from(is_spaced && Row::of(line, false).is_some());
        two += u32::from(is_spaced && Row::of(line, true).is_some());
    }
    match one.max(two) {
        most if most >= 2 && most * 10 >= lines * 9 => Resemblance::Is { marks: 3 },
        most if most >= 2 && most * 2 >= lines => Resemblance::Near { marks: 1, missing: "such row in most lines" },
        _ => Resemblance::None,
    }
}

struct Log {
    name: String,
    value: Option<Value>,
    /// Rows before it is known how many values they have.
    early: Vec<(u64, String)>,
    two_values: Option<bool>,
    series: [Series; 3],
    fields: usize,
    /// The first row's time, where times are of the calendar.
    origin_ms: Option<u64>,
    last_ms: u64,
    single: bool,
    /// A value that cannot be microseconds: it would have begun before the test.
    too_long: bool,
    least: f64,
    broken: u64,
    back: u64,
}

/// Rows that tell whether there are two values.
const EARLY: usize = 64;
/// Later than any test lasts: times since 1970.
const CALENDAR_MS: u64 = 1_000_000_000_000;

impl Log {
    fn new(input: &Input) -> Self {
        Self {
            value: Value::of(&input.name),
            name: input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
            early: Vec::new(),
            two_values: None,
            series: Default::default(),
            fields: 0,
            origin_ms: None,
            last_ms: 0,
            single: false,
            too_long: false,
            least: f64::INFINITY,
            broken: 0,
            back: 0,
        }
    }

    fn decide(&mut self, out: &mut Builder) {
        let fits = |two_values| self.early.iter().filter(|(_, line)| Row::of(line, two_values).is_some()).count();
        let two_values = fits(true) > fits(false);
        self.two_values = Some(two_values);
        for (number, line) in std::mem::take(&mut self.early) {
            self.row(&line, number, two_values, out);
        }
    }

    fn row(&mut self, line: &str, number: u64, two_values: bool, out: &mut Builder) {
        let Some(row) = Row::of(line, two_values) else {
            self.broken += 1;
            return out.caution(Some(Origin::line(number)), "it is no row of a log: left out");
        };
        let origin = *self.origin_ms.get_or_insert(if row.ms >= CALENDAR_MS { row.ms } else { 0 });
        let since_ms = row.ms.saturating_sub(origin);
        self.back += u64::from(since_ms + 1_000 < self.last_ms);
        self.last_ms = self.last_ms.max(since_ms);
        self.fields = self.fields.max(row.fields - usize::from(two_values));
        self.single |= row.size > 0;
        self.too_long |= row.value / 1e3 > since_ms as f64 + 1_000.0 && origin == 0;
        if row.value > 0.0 {
            self.least = self.least.min(row.value);
        }
        self.series[row.direction].add(since_ms, row.value, number);
    }

    /// Seconds of a latency's unit, and what is to be said about it.
    fn unit(&self) -> (f64, Option<&'static str>) {
        if self.fields > 5 || self.too_long {
            return (1e-9, None);
        }
        match (self.fields, self.least) {
            (5, _) => (1e-9, Some("the log does not name its unit: nanoseconds are taken, as version 3 writes them")),
            _ => (
                1e-6,
                Some(
                    "the log does not name its unit: with four columns microseconds are taken, as version 2 writes them",
                ),
            ),
        }
    }
}

impl LineFormat for Log {
    fn kind(&self) -> Kind {
        KIND
    }

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
            let what = "nothing in a log says what its values are: keep the name that fio gave it, such as \
                        test_bw.1.log, test_iops.1.log, test_lat.1.log or test_clat.1.log"
                .to_owned();
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        };
        if self.series.iter().all(|series| series.whole().rows == 0.0) {
            return Err(Refusal::Unusable {
                kind: KIND,
                origin: None,
                what: "it has no row: did the test end?".to_owned(),
            });
        }
        if value == Value::Submission {
            out.caution(
                None,
                "it has the time of submission alone, which is no latency of storage: give the log of lat or clat",
            );
            out.part("submission latencies", Fate::Ignored);
            return Ok(());
        }
        if self.broken > 0 {
            out.part(format!("{} rows that cannot be read", self.broken), Fate::Broken);
        }
        if self.back > 0 {
            out.caution(None, "its times go back: logs of several jobs are in it; their values are averaged");
        }
        let unit = if value == Value::Latency { self.unit() } else { (1.0, None) };
        if let Some(doubt) = unit.1 {
            out.caution(None, doubt);
        }
        self.tell(value, unit.0, out);
        Ok(())
    }
}

impl Log {
    fn tell(&self, value: Value, unit_s: f64, out: &mut Builder) {
        let scope = out.scope(Scope::default());
        let mut told = 0;
        for (direction, series) in self.series.iter().enumerate().filter(|(_, series)| series.whole().rows > 0.0) {
            let reads = [Some(1.0), Some(0.0), None][direction];
            let test = format!("{}, its {}", self.name, Row::DIRECTIONS[direction]);
            let field = out.text(Row::DIRECTIONS[direction]);
            let mut put = |sum: f64, rows: f64, line: u64, seconds: (Option<f64>, f64), out: &mut Builder| {
                let mean = sum / rows;
                let origin = Origin { line, table: None, field: field.clone() };
                let mut evidence = Evidence {
                    at_s: seconds.0,
                    lasted_s: Some(seconds.1),
                    ..Evidence::new(scope, test.clone(), origin)
                };
                evidence.setting = Setting { reads, ..Setting::default() };
                match value {
                    Value::Bandwidth => evidence.bytes_s = Some(mean * 1024.0),
                    Value::Operations => evidence.iops = Some(mean),
                    Value::Latency | Value::Submission => evidence.mean_s = Some(mean * unit_s),
                }
                told += 1;
                out.evidence(evidence);
            };
            let whole = series.whole();
            put(whole.sum, whole.rows, whole.line, (None, self.last_ms as f64 / 1e3), out);
            for (at_s, cell) in series.moments() {
                put(cell.sum, cell.rows, cell.line, (Some(at_s), series.width_s()), out);
            }
        }
        if self.single && value != Value::Latency {
            out.caution(
                None,
                "its rows are single operations: give a log that fio averaged (log_avg_msec=1000) for rates",
            );
        }
        out.part("moments", Fate::Read(told));
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Value};

    #[test]
    fn names_tell_what_values_are() {
        let table = [
            ("a/b_bw.1.log", Some(Value::Bandwidth)),
            ("read-4k_iops.log", Some(Value::Operations)),
            ("x_bw_lat.3.log", Some(Value::Latency)),
            ("fio_clat.1-2.log", Some(Value::Latency)),
            ("fio_slat.log", Some(Value::Submission)),
            ("latency.log", None),
        ];
        for (name, expected) in table {
            assert_eq!(Value::of(name), expected, "{name}");
        }
    }

    #[test]
    fn rows_have_four_to_eight_fields() {
        let row = |line, two| Row::of(line, two).map(|row| (row.ms, row.value as u64, row.direction, row.fields));
        assert_eq!(row("502, 134629, 0, 0", false), Some((502, 134_629, 0, 4)));
        assert_eq!(row("1, 2, 1, 4096, 8192, 0x0, 77", false), Some((1, 2, 1, 7)));
        assert_eq!(row("1, 2, 9, 1, 4096, 0, 0", true), Some((1, 2, 1, 7)));
        assert_eq!((row("1, 2, 3, 4", false), row("1, x, 0, 0", false), row("1, 2, 0", false)), (None, None, None));
    }
}
