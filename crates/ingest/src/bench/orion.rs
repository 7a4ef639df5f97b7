//! Orion: its summary, and the matrices of its points as comma-separated values.
//!
//! A matrix does not contain its quantity; its file name does (`_iops`, `_mbps`), and without that it is refused.
//! Matrices of latencies are refused, because their unit depends on the release (ms or us). A megabyte is 1,048,576
//! bytes here.

use plimsoll_language::label;

use super::part;
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, ReadingEvidence, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, MIB};

/// Orion's summary.
pub(crate) const FORM: Form = Form::lines("orion", "Orion summary", resembles, |_| Box::new(Summary::default()));

/// Orion's matrices.
pub(crate) const MATRIX_FORM: Form =
    Form::lines("orion-matrix", "Orion matrix", is_matrix, |input| Box::new(Matrix::new(input)));

fn resembles(head: &Head<'_>) -> Resemblance {
    let maxima = head.has_any(&["Maximum Large MBPS=", "Maximum Small IOPS=", "Minimum Small Latency="]);
    let named = head.has_any(&["ORION VERSION", "ORION: ORacle"]);
    Resemblance::is(3, maxima).or_near(2, named, "line `Maximum Small IOPS` or `Maximum Large MBPS`")
}

fn is_matrix(head: &Head<'_>) -> Resemblance {
    let first = head.text().lines().find(|line| line.len() > 2).unwrap_or_default();
    Resemblance::is(3, first.trim_start().starts_with("Large/Small"))
}

#[derive(Default)]
struct Summary {
    plan: TestParameters,
    /// The last result, to which a line of latencies belongs.
    last: Option<ReadingEvidence>,
}

/// Test parameters from the head of a summary.
#[derive(Default)]
struct TestParameters {
    small_bytes: Option<f64>,
    large_bytes: Option<f64>,
    reads: Option<f64>,
    lasted_s: Option<f64>,
    is_sequential: bool,
    devices: Vec<String>,
}

impl LineFormat for Summary {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(version) = text.strip_prefix("ORION VERSION") {
            self.flush(out);
            self.plan = TestParameters::default();
            out.version(version.trim());
        } else if let Some((_, version)) = text.split_once("ORION: ORacle IO Numbers -- Version") {
            out.version(version.trim());
        } else if let Some(latencies) = text.strip_prefix("Small Read Latency:") {
            self.latencies(latencies);
        } else if let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_result(name)) {
            self.result(name, value, number, out);
        } else {
            self.plan.line(text);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        out.require_results(InputFault::Unfinished { lacks: label!("number among its results") })?;
        out.caution(None, Doubt::MaximumOfPoints);
        Ok(())
    }
}

fn is_result(name: &str) -> bool {
    matches!(name.trim(), "Maximum Large MBPS" | "Maximum Small IOPS" | "Minimum Small Latency")
}

impl TestParameters {
    fn line(&mut self, text: &str) {
        let Some((name, value)) = text.split_once(':') else { return };
        match name.trim() {
            "Small IO size" => self.small_bytes = text::size(value),
            "Large IO size" => self.large_bytes = text::size(value),
            "Write" => self.reads = text::parse_number(value).map(|percent| 1.0 - percent / 100.0),
            "Duration for each Data Point" => self.lasted_s = text::parse_number(value),
            "IO Types" => self.is_sequential = value.contains("Large Sequential"),
            "Name" if self.devices.len() < 1_000 => {
                self.devices.extend(value.split_whitespace().next().map(str::to_owned));
            }
            _ => {}
        }
    }
}

impl Summary {
    /// `1554.54 @ Small=0 and Large=2`, `20349.84 usecs @ Small=1 and Large=0`
    fn result(&mut self, name: &str, value: &str, number: u64, out: &mut Builder) {
        self.flush(out);
        let name = name.trim();
        let origin = out.origin(number, "", name);
        let (figure, place) = value.split_once('@').unwrap_or((value, ""));
        let Some(amount) = text::parse_number(figure) else {
            return out.caution(Some(origin), Doubt::NotANumber { value: label!("the result") });
        };
        let (small, large) = (text::number_after(place, "Small="), text::number_after(place, "Large="));
        let is_large = name.ends_with("MBPS");
        let scope = part(out, &self.plan.devices.join(" "));
        let plan = &self.plan;
        let setting = Setting {
            reads: plan.reads,
            sequential: Some(is_large && plan.is_sequential),
            block_bytes: if is_large { plan.large_bytes } else { plan.small_bytes },
            depth: small.zip(large).map(|(small, large)| small + large),
            threads: None,
        };
        let mut evidence =
            ReadingEvidence { setting, lasted_s: plan.lasted_s, ..ReadingEvidence::new(scope, name, origin) };
        match name {
            "Maximum Large MBPS" => evidence.bytes_s = Some(amount * MIB),
            "Maximum Small IOPS" => evidence.iops = Some(amount),
            // Milliseconds without a unit.
            _ => evidence.mean_s = Some(amount * if figure.contains("usec") { 1e-6 } else { 1e-3 }),
        }
        self.last = Some(evidence);
    }

    /// `avg=169.594 us, min=128.415 us, max=1924.721 us, std dev=13.566 us @ Small=10 and Large=0`
    fn latencies(&mut self, text: &str) {
        let Some(last) = self.last.as_mut().filter(|last| last.setting.reads.is_none_or(|reads| reads >= 1.0)) else {
            return;
        };
        let micros = |mark: &str| text::number_after(text, mark).map(|micros| micros * 1e-6);
        last.mean_s = last.mean_s.or(micros("avg="));
        last.quantiles = [(0.0, micros("min=")), (1.0, micros("max="))]
            .into_iter()
            .filter_map(|(share, seconds)| Some((share, seconds?)))
            .collect();
    }

    fn flush(&mut self, out: &mut Builder) {
        if let Some(last) = self.last.take() {
            out.evidence(last);
        }
    }
}

#[derive(Clone, Copy)]
enum MatrixQuantity {
    Iops,
    Megabytes,
}

struct Matrix {
    measured: Result<MatrixQuantity, InputFault>,
    /// Small operations in flight, by column.
    small: Vec<f64>,
    broken: bool,
}

impl Matrix {
    fn new(input: &FormatInput) -> Self {
        let name = input.name.to_ascii_lowercase();
        let names = [
            ("_iops", Ok(MatrixQuantity::Iops)),
            ("_mbps", Ok(MatrixQuantity::Megabytes)),
            ("_lat", Err(InputFault::MatrixOfLatencies)),
        ];
        let nameless = InputFault::NamelessQuantity { item: label!("a matrix"), names: "_iops, _mbps" };
        let found = names.into_iter().filter_map(|(mark, measured)| Some((name.rfind(mark)?, measured)));
        let measured = found.max_by_key(|(at, _)| *at).map_or(Err(nameless), |(_, measured)| measured);
        Self { measured, small: Vec::new(), broken: false }
    }
}

/// Emits a point: small and large operations in flight.
fn point(measured: MatrixQuantity, (small, large): (f64, f64), value: f64, number: u64, out: &mut Builder) {
    let field = format!("small {small}, large {large}");
    let origin = out.origin(number, "", &field);
    let setting = Setting { depth: Some(small + large), ..Setting::default() };
    let scope = part(out, "");
    let mut evidence = ReadingEvidence { setting, ..ReadingEvidence::new(scope, field, origin) };
    match measured {
        MatrixQuantity::Iops => evidence.iops = Some(value),
        MatrixQuantity::Megabytes => evidence.bytes_s = Some(value * MIB),
    }
    out.evidence(evidence);
}

impl LineFormat for Matrix {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        const MAX_COLUMNS: usize = 10_000;
        let text = line.trim();
        let measured = self.measured.clone().map_err(|fault| out.unusable(fault))?;
        let mut cells = text.split(',').map(str::trim);
        let Some(first) = cells.next().filter(|first| !first.is_empty()) else { return Ok(()) };
        if first.starts_with("Large/Small") {
            self.small = cells.take(MAX_COLUMNS).filter_map(text::parse_number).collect();
            return Ok(());
        }
        let Some(large) = text::parse_number(first) else {
            self.broken = true;
            let origin = out.origin(number, "", first);
            out.caution(Some(origin), Doubt::lacking("a row", "the number of large operations"));
            return Ok(());
        };
        for (small, cell) in self.small.iter().zip(cells) {
            // Points that were not run are blank.
            if let Some(value) = text::parse_number(cell) {
                point(measured, (*small, large), value, number, out);
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        out.require_results(InputFault::Unfinished { lacks: label!("point") })?;
        if self.broken {
            out.part("rows", Fate::Broken);
        }
        Ok(())
    }
}
