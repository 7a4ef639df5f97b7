//! Text and JSON of `nvme amzn stats` and `ebsnvme stats`, one or more samples, with optional times and devices between
//! them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;
use serde_json::Value;

use super::{COUNTERS, EbsStatistics, MAX_BINS};
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, LatencyBin, Origin, ReadingScope};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::SampleInterval;
use crate::text::number_after;
use crate::text::timestamp;

/// Output of either program.
pub(crate) const FORM: Form = Form::lines("ebs-statistics", "EBS statistics", resembles, |input| {
    Box::new(EbsText { pace: SampleInterval::new(input), ..EbsText::default() })
});

fn resembles(head: &Head<'_>) -> Resemblance {
    let keys = head.count(&["\"total_read_ops\"", "performance_exceeded_iops\"", "\"volume_queue_length\""]);
    let text = head.count(&["Total Ops", "Performance Exceeded (us)", "Queue Length (point in time)"]);
    Resemblance::is(6, keys.max(text) == 3).or_near(2, keys.max(text) == 2, "all counters of nvme amzn stats")
}

/// Maximum bytes of a sample in JSON.
const MAX_JSON: usize = 1 << 20;

#[derive(Default)]
struct EbsText {
    pace: SampleInterval,
    /// Times of samples without their own, by volume.
    paces: BTreeMap<String, SampleInterval>,
    /// The device or volume of the next samples.
    volume: String,
    /// The time of the next sample of each volume, and the volumes that had one.
    at: Option<DateTime>,
    at_taken: BTreeSet<String>,
    /// Samples at an interval: differences, except for the first.
    polled: Option<Polled>,
    /// An incomplete JSON object, its open braces and first line.
    json: String,
    depth: usize,
    begun: u64,
    /// The current sample in text.
    sample: EbsStatistics,
    section: Option<Section>,
    samples: u32,
    timed: bool,
}

/// Samples with an interval of their program.
struct Polled {
    every_s: f64,
    sum: Option<EbsStatistics>,
    count: u32,
}

/// A section of the text: the first counter of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Counters(usize),
    Histogram(usize),
    /// Histograms by size of operations.
    Detail,
}

impl LineFormat for EbsText {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if !self.json.is_empty() || text.starts_with('{') {
            self.json_line(line, number, out);
        } else if text.is_empty() || text.starts_with('=') || text.starts_with("Lower ") {
        } else if let Some(every_s) = number_after(text, " every ").filter(|_| text.starts_with("Polling ")) {
            self.take_text(number, out);
            self.polled = Some(Polled { every_s, sum: None, count: 0 });
        } else if let Some(volume) = volume_of(text) {
            self.take_text(number, out);
            volume.clone_into(&mut self.volume);
        } else if let Some(section) = section(text) {
            if section == Section::Counters(0) {
                self.take_text(number, out);
                self.begun = number;
            }
            let is_detail = self.section == Some(Section::Detail) && matches!(section, Section::Histogram(_));
            self.section = if is_detail { Some(Section::Detail) } else { Some(section) };
        } else if let Some(length) = text.strip_prefix("Queue Length (point in time):") {
            self.sample.queue_length = length.trim().parse().ok();
        } else if !self.row(text) {
            match timestamp::of_line(text) {
                Some(taken) => {
                    self.take_text(number, out);
                    self.at = self.pace.taken(taken, out);
                    self.at_taken.clear();
                }
                None => out.caution_once(Some(Origin::line(number)), Doubt::lacking("lines", "statistics")),
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if !self.json.is_empty() {
            self.break_off(out);
        }
        self.take_text(self.begun, out);
        out.require(self.samples > 0, InputFault::missing("complete sample", &["nvme amzn stats -o json"]))?;
        out.part("samples", Fate::Read(self.samples));
        out.require(self.samples < 2 || self.timed, Doubt::UntimedSamples { items: label!("samples") })
    }
}

impl EbsText {
    /// Adds a line to the current JSON object.
    fn json_line(&mut self, line: &str, number: u64, out: &mut Builder) {
        if self.json.is_empty() {
            self.begun = number;
        }
        self.json.push_str(line);
        self.json.push('\n');
        // Names and numbers have no braces.
        self.depth += line.matches('{').count();
        self.depth = self.depth.saturating_sub(line.matches('}').count());
        if self.depth > 0 && self.json.len() <= MAX_JSON {
            return;
        }
        let parsed = serde_json::from_str(&self.json);
        match parsed {
            Ok(Value::Object(object)) => {
                let statistics = EbsStatistics::of_json(&object);
                self.json.clear();
                self.take(&statistics, self.begun, out);
            }
            _ => self.break_off(out),
        }
    }

    fn break_off(&mut self, out: &mut Builder) {
        self.json.clear();
        self.depth = 0;
        out.caution(Some(Origin::line(self.begun)), Doubt::InvalidJson { item: label!("a sample") });
        out.part("sample", Fate::Broken);
    }

    /// Reads `Read: 12` or `[256 - 512] => 3`; false for other lines.
    fn row(&mut self, text: &str) -> bool {
        match self.section {
            Some(Section::Counters(first)) => {
                let Some((name, value)) = text.split_once(':') else { return false };
                let second = match name {
                    "Read" | "IOPS" => 0,
                    "Write" | "Throughput" => 1,
                    _ => return false,
                };
                self.sample.counters[first + second] = value.trim().parse().ok();
                true
            }
            Some(Section::Histogram(index)) => {
                let bins = &mut self.sample.histograms[index];
                bins.extend(bin(text).filter(|_| bins.len() < MAX_BINS));
                text.starts_with('[') || text.starts_with("Number of bins")
            }
            Some(Section::Detail) => text.starts_with(['[', '(']) || text.contains("Histogram"),
            None => false,
        }
    }

    /// Ends the current sample in text, if there is one.
    fn take_text(&mut self, line: u64, out: &mut Builder) {
        let sample = std::mem::take(&mut self.sample);
        self.section = None;
        if !sample.is_empty() {
            self.take(&sample, if self.begun > 0 { self.begun } else { line }, out);
        }
    }

    /// Adds a sample.
    fn take(&mut self, sample: &EbsStatistics, line: u64, out: &mut Builder) {
        if sample.is_empty() {
            return out.caution_once(Some(Origin::line(line)), Doubt::lacking("a sample", "counters"));
        }
        let scope = ReadingScope { part: self.volume.clone(), ..ReadingScope::default() };
        let (mut statistics, mut age) = (sample, None);
        if let Some(polled) = &mut self.polled {
            let sum = polled.sum.get_or_insert_with(|| sample.clone());
            if polled.count > 0 {
                sum.add(sample);
            }
            age = Some(Span::from_secs_f64(polled.every_s * f64::from(polled.count)));
            polled.count += 1;
            statistics = sum;
        }
        let at = self.at.filter(|_| self.at_taken.insert(self.volume.clone()));
        let (at, age) = if at.is_some() || age.is_some() {
            (at, age)
        } else {
            self.paces.entry(self.volume.clone()).or_insert_with(|| self.pace.clone()).next()
        };
        self.timed |= at.is_some() || age.is_some();
        self.samples += 1;
        super::put(statistics, scope, (at, age), line, out);
    }
}

/// The device or volume in a line that names it, such as `/dev/nvme1n1:`, `vol-0a1` or `#DEV nvme1n1`.
fn volume_of(text: &str) -> Option<&str> {
    let is_name = |text: &str| text.starts_with("/dev/") || text.starts_with("vol");
    let of_comment = || text.strip_prefix('#')?.split_ascii_whitespace().next_back();
    let name =
        if is_name(text) { Some(text) } else { of_comment().filter(|word| is_name(word) || word.starts_with("nvme")) };
    name.map(|name| name.trim_end_matches(':'))
}

/// The section of a heading, with or without a colon.
fn section(text: &str) -> Option<Section> {
    let of = |name: &str| COUNTERS.iter().position(|(own, ..)| *own == name).map(Section::Counters);
    let text = text.trim_end_matches(':');
    match text {
        "Total Ops" => of("total_read_ops"),
        "Total Bytes" => of("total_read_bytes"),
        "Total Time (us)" => of("total_read_time"),
        "EBS Volume Performance Exceeded (us)" => of("ebs_volume_performance_exceeded_iops"),
        "EC2 Instance EBS Performance Exceeded (us)" | "EC2 Instance Local Storage Performance Exceeded (us)" => {
            of("ec2_instance_performance_exceeded_iops")
        }
        "IO Size Range" => Some(Section::Detail),
        _ if text.starts_with("Read IO Latency Histogram") => Some(Section::Histogram(0)),
        _ if text.starts_with("Write IO Latency Histogram") => Some(Section::Histogram(1)),
        _ => None,
    }
}

/// `[256      - 512     ] => 620`
fn bin(text: &str) -> Option<(LatencyBin, u64)> {
    let (bounds, count) = text.strip_prefix('[')?.split_once("] =>")?;
    let (lower, upper) = bounds.split_once('-')?;
    let number = |text: &str| text.trim().parse().ok();
    Some((LatencyBin { lower_us: number(lower)?, upper_us: number(upper)? }, number(count)?))
}
