//! CSV files with declared columns, row by row.

use anyhow::{Context, Result, bail, ensure};
use csv::StringRecord;
use jiff::tz::TimeZone;
use plimsoll_ingest::time_in_utc;

use super::batch::Batch;
use super::blocks::RowBlock;
use crate::months::CALENDAR;
use crate::points::{METRICS, MetricPoint};

/// The columns of a CSV file by name.
#[derive(Debug, Default)]
pub struct DeclaredColumns {
    id: String,
    time: String,
    period: String,
    metrics: [Option<String>; 6],
}

impl DeclaredColumns {
    /// Parses `id=VolumeId,time=Timestamp,period=300,read_ops=ReadOps`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut columns = Self::default();
        for part in text.split(',').map(str::trim) {
            let (field, column) = part
                .split_once('=')
                .with_context(|| format!("--columns: {part:?} is no field with its column: write FIELD=COLUMN"))?;
            match (field, METRICS.iter().position(|metric| *metric == field)) {
                ("id", _) => column.clone_into(&mut columns.id),
                ("time", _) => column.clone_into(&mut columns.time),
                ("period", _) => column.clone_into(&mut columns.period),
                (_, Some(metric)) => columns.metrics[metric] = Some(column.to_owned()),
                _ => bail!("--columns: {field:?} is no field: use id, time, period, {}", METRICS.join(", ")),
            }
        }
        for (field, column) in [("id", &columns.id), ("time", &columns.time), ("period", &columns.period)] {
            ensure!(!column.is_empty(), "--columns lacks {field}: add {field}=COLUMN");
        }
        ensure!(columns.metrics.iter().any(Option::is_some), "--columns has no metric: add {}", METRICS.join(", "));
        Ok(columns)
    }
}

/// The columns of a file by index.
pub struct ColumnPositions {
    id: usize,
    time: usize,
    period: Period,
    metrics: [Option<usize>; 6],
}

#[derive(Clone, Copy)]
enum Period {
    Seconds(i64),
    Column(usize),
}

impl ColumnPositions {
    /// The positions by the header of a file, with which its first block begins.
    pub fn of(columns: &DeclaredColumns, first: &RowBlock) -> Result<Self> {
        let mut reader = csv::Reader::from_reader(first.bytes.as_slice());
        let header = reader.headers()?;
        let find = |name: &str| {
            let position = header.iter().position(|column| column == name);
            let present = || header.iter().collect::<Vec<_>>().join(", ");
            position.with_context(|| format!("it has no column {name:?}, only {}: change --columns", present()))
        };
        let mut metrics = [None; 6];
        for (position, name) in metrics.iter_mut().zip(&columns.metrics) {
            *position = name.as_deref().map(find).transpose()?;
        }
        let period = match columns.period.parse::<i64>() {
            Ok(seconds) => Period::Seconds(seconds),
            Err(_) => Period::Column(find(&columns.period)?),
        };
        Ok(Self { id: find(&columns.id)?, time: find(&columns.time)?, period, metrics })
    }

    fn point(&self, row: &StringRecord) -> Result<MetricPoint, String> {
        let field = |position: usize| row.get(position).map(str::trim).ok_or("the row is too short");
        let time = field(self.time)?;
        let at = time.parse::<i64>().ok().or_else(|| {
            let time = time_in_utc(time, None)?.to_zoned(TimeZone::UTC).ok()?;
            Some(time.timestamp().as_second())
        });
        let at = at.filter(|at| CALENDAR.contains(at)).ok_or_else(|| format!("{time:?} is no time"))?;
        let period = match self.period {
            Period::Seconds(seconds) => seconds,
            Period::Column(position) => integer(field(position)?)?.ok_or("the period is empty")?,
        };
        if !(1..=86_400).contains(&period) {
            return Err(format!("a period of {period} s: 1 to 86,400 are possible"));
        }
        let mut metrics = [None; 6];
        for (metric, position) in metrics.iter_mut().zip(self.metrics) {
            *metric = position.map(field).transpose()?.map(integer).transpose()?.flatten();
        }
        if metrics.iter().all(Option::is_none) {
            return Err("the row has no metric".to_owned());
        }
        Ok(MetricPoint { at, period, metrics, ..MetricPoint::default() })
    }
}

/// A whole number, also as `12.0`; `None` for an empty field.
fn integer(text: &str) -> Result<Option<i64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => digits,
        _ => text,
    };
    let number = digits.parse::<i64>().ok().filter(|number| (0..=MAX_VALUE).contains(number));
    number.map(Some).ok_or_else(|| format!("{text:?} is no whole number of 0 to {MAX_VALUE}"))
}

/// Maximum value of a metric: sums of 9,000 such points do not overflow.
pub const MAX_VALUE: i64 = 1_000_000_000_000_000;

/// Reads whole rows.
pub fn read(block: &RowBlock, columns: &ColumnPositions, batch: &mut Batch) {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).has_headers(block.has_header).from_reader(block.bytes.as_slice());
    let mut row = StringRecord::new();
    let line_of = |position: &csv::Position| position.line() + block.line - 1;
    loop {
        let begin = line_of(reader.position());
        match reader.read_record(&mut row) {
            Ok(false) => return,
            Ok(true) => {}
            Err(error) => {
                batch.reject(begin, error.to_string(), "");
                continue;
            }
        }
        let id = row.get(columns.id).map(str::trim).unwrap_or_default();
        match columns.point(&row) {
            Ok(point) if !id.is_empty() => {
                let volume = batch.number(id, "");
                batch.point(volume, point);
            }
            unusable => {
                let reason = if id.is_empty() { None } else { unusable.err() };
                let reason = reason.unwrap_or_else(|| "the row names no volume".to_owned());
                let text = row.iter().collect::<Vec<_>>().join(",");
                batch.reject(row.position().map_or(begin, line_of), reason, &text);
            }
        }
    }
}
