//! `sadf -d` for databases: lines of fields below a comment with their names, each with time and length.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;

use plimsoll_language::label;

use super::disks::{Heading, NameAt};
use super::iostat::processor_shares;
use super::{In, Noted, Tables, Timeline};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::processors::UsedProcessors;
use crate::reading::{Doubt, Fate, Origin};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, timestamp};

/// `sadf -d`, with semicolons or the separator of a spreadsheet.
pub(crate) const FORM: Form = Form::lines("sadf", "sadf -d", resembles, |input| Box::new(Sadf::new(input)));

fn resembles(head: &Head<'_>) -> Resemblance {
    let is = Resemblance::is(6, head.has_any(&["hostname;interval;timestamp", "hostname,interval,timestamp"]));
    is.or_near(3, head.has(";LINUX-RESTART"), "line `# hostname;interval;timestamp;...`")
}

#[derive(Debug)]
struct SadfHost {
    tables: Tables,
    /// The end of the current rows of devices, and their seconds.
    sample: Option<(DateTime, f64)>,
    used: UsedProcessors,
    /// Numbers of processors with rows of their own.
    processors: BTreeSet<u32>,
}

#[derive(Debug, Default)]
struct Sadf {
    hosts: BTreeMap<String, SadfHost>,
    timeline: Timeline,
    separator: u8,
    table: In,
    heading: String,
    numbers: Vec<f64>,
    noted: Noted,
}

impl Sadf {
    /// Maximum number of hosts.
    const MAX_HOSTS: usize = 1_000;

    fn new(input: &FormatInput) -> Self {
        Self { timeline: Timeline::new(input), separator: b';', ..Self::default() }
    }

    fn named(&mut self, line: &str, out: &mut Builder) {
        self.close(out);
        let names = line.trim_start_matches(['#', ' ']);
        self.separator = if names.starts_with("hostname;") { b';' } else { b',' };
        let names: Vec<&str> = names.split(char::from(self.separator)).skip(3).map(str::trim).collect();
        self.table = match names.as_slice() {
            [] => In::Other,
            [first, ..] if *first == "DEV" => In::Disks,
            [first, rest @ ..] if *first == "CPU" && rest.contains(&"%idle") => In::Processors,
            names if names.contains(&"rtps") && !names.contains(&"DEV") => In::Transfers,
            _ => In::Other,
        };
        self.heading = names.join(" ");
        if names.len() > 1 && names[1..].contains(&"DEV") {
            out.caution(None, Doubt::SingleLine);
        }
        if self.table == In::Other {
            self.noted.note("other tables", Fate::Ignored);
        }
    }

    /// Ends the current samples of devices.
    fn close(&mut self, out: &mut Builder) {
        for host in self.hosts.values_mut() {
            host.close(&mut self.timeline, out);
        }
    }

    fn row(&mut self, line: &str, number: u64, out: &mut Builder) -> Option<()> {
        let mut fields = line.splitn(4, char::from(self.separator));
        let (name, seconds, at, rest) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let seconds: f64 = text::parse_decimal(seconds)?;
        if seconds < 0.0 || rest.starts_with("LINUX-RESTART") || rest.starts_with("COM") {
            self.close(out);
            return Some(());
        }
        let at = timestamp::parse(at).map(|at| out.instant(at))?;
        if self.table == In::Other {
            return Some(());
        }
        if !self.hosts.contains_key(name) {
            if self.hosts.len() >= Self::MAX_HOSTS {
                self.noted.note("hosts beyond the first thousand", Fate::Ignored);
                return Some(());
            }
            let (used, processors) = (UsedProcessors::default(), BTreeSet::new());
            let host = SadfHost { tables: Tables::of(name), sample: None, used, processors };
            self.hosts.insert(name.to_owned(), host);
        }
        let host = self.hosts.get_mut(name)?;
        if self.table == In::Processors {
            let columns: Vec<String> = self.heading.split(' ').skip(1).map(str::to_owned).collect();
            let (processor, values) = rest.split_once(char::from(self.separator))?;
            let values = values.replace(char::from(self.separator), " ");
            if let Ok(processor) = processor.parse() {
                host.processors.insert(processor);
            } else {
                let shares = processor_shares(&columns, &values)?;
                host.used.add_shares(shares.used, shares, seconds, number);
            }
            return Some(());
        }
        let (device, rest) = match self.table {
            In::Disks => rest.split_once(char::from(self.separator))?,
            _ => ("", rest),
        };
        self.numbers.clear();
        if !text::columns(rest.as_bytes(), self.separator, &mut self.numbers) {
            self.numbers.clear();
            self.numbers.extend(
                rest.split(char::from(self.separator)).map(|field| text::parse_decimal(field).unwrap_or(f64::NAN)),
            );
        }
        if self.table == In::Disks && host.sample.is_some_and(|sample| sample != (at, seconds)) {
            host.close(&mut self.timeline, out);
        }
        let disks = if self.table == In::Disks { &mut host.tables.disks } else { &mut host.tables.total };
        if disks.is_empty() && !disks.heading().is(&self.heading) {
            disks.put_heading(heading(&self.heading)?);
        }
        if self.numbers.len() != disks.heading().len() {
            return None;
        }
        if self.table == In::Transfers {
            let window = begin_window(&mut self.timeline, (at, seconds), number, out);
            host.tables.transfers(number, &self.numbers, window, out);
        } else {
            host.sample = Some((at, seconds));
            disks.numbers(device, number, &self.numbers);
        }
        Some(())
    }
}

/// Columns of a heading, whose first may be the device.
fn heading(text: &str) -> Option<Heading> {
    let names = text.split_whitespace().filter(|name| *name != "DEV").map(str::to_owned).collect();
    Heading::of(names, NameAt::First).map(|heading| heading.with_text(text))
}

impl SadfHost {
    fn close(&mut self, timeline: &mut Timeline, out: &mut Builder) {
        let Some(sample) = self.sample.take().filter(|_| !self.tables.disks.is_empty()) else { return };
        let window = begin_window(timeline, sample, self.tables.disks.line(), out);
        self.tables.devices(window, out);
    }
}

/// The window of a line, which contains its end and length.
fn begin_window(timeline: &mut Timeline, (at, seconds): (DateTime, f64), line: u64, out: &mut Builder) -> u32 {
    timeline.from(None);
    timeline.sample(Some(at), Some(seconds), line, out)
}

impl LineFormat for Sadf {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if text.is_empty() {
            return Ok(());
        }
        if text.trim_start_matches(['#', ' ']).starts_with("hostname") {
            self.named(text, out);
        } else if self.row(text, number, out).is_none() {
            self.noted.note("lines", Fate::Broken);
            out.caution(Some(Origin::line(number)), Doubt::UnreadableItem { item: label!("line") });
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.close(out);
        for (name, host) in &mut self.hosts {
            host.tables.end(out);
            let listed = host.processors.len() as f64;
            host.used.emit_share(name, "CPU -1", (listed > 0.0).then_some(listed), out);
        }
        self.noted.list(out);
        let has_given = self.hosts.values().any(|host| host.tables.has_given());
        out.require(has_given, InputFault::missing("table of disks", &["sadf -d FILE -- -b -d"]))
    }
}
