//! nmon: samples of AIX and Linux hosts, each section of a sample in a line of its own.
//!
//! The lines may come as they were written, or sorted: the times (`ZZZZ`) then stand behind all that they belong to. Knows
//! the sections of disks alone.

mod sample;
mod section;

use jiff::civil::{Date, DateTime, Time};
use memchr::memmem;
use plimsoll_units::Span;

use self::sample::Samples;
use self::section::section;
use crate::builder::Builder;
use crate::figure::Origin;
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::number::Numerals;
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::timestamp;

const KIND: Kind = Kind { id: "nmon", name: "nmon file" };

/// Files of nmon and topas.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |_| Box::new(Lines::new(Nmon::default())) };

fn resembles(head: &[u8]) -> Resemblance {
    let has =
        |text: &str| head.starts_with(text.as_bytes()) || memmem::find(head, format!("\n{text}").as_bytes()).is_some();
    let either = |text: &str| has(&format!("{text},")) || has(&format!("{text};"));
    let known = has("AAA,progname") || has("AAA;progname");
    match (known, either("AAA"), has("ZZZZ,T") || has("ZZZZ;T"), has("DISK") || has("CPU")) {
        (true, ..) => Resemblance::Is { marks: 4 },
        (_, true, true, _) | (_, _, true, true) => Resemblance::Is { marks: 3 },
        (_, true, _, true) | (_, _, true, _) => Resemblance::Near { marks: 2, missing: "line `AAA,progname`" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Nmon {
    semicolons: bool,
    host: String,
    date: Option<Date>,
    time: Option<Time>,
    interval: Option<Span>,
    samples: Samples,
    /// The time that came last: a date may be missing, and midnight pass.
    last_at: Option<DateTime>,
    broken: Option<u64>,
    last: u64,
}

impl LineFormat for Nmon {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if !line.starts_with(['A', 'D', 'Z']) {
            return Ok(());
        }
        self.last = number;
        self.semicolons |= line.starts_with("AAA;");
        let mut fields = line.split(if self.semicolons { ';' } else { ',' });
        let (name, second) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default().trim());
        match (name, sample_number(second)) {
            ("AAA", _) => self.about(second, fields.next().unwrap_or_default().trim(), out),
            ("ZZZZ", Some(sample)) => match self.moment(fields.next(), fields.next()) {
                Some(at) => {
                    let (at, begin) = (out.local(at), self.begin(out));
                    self.samples.begin(sample, at, (begin, self.interval), &self.host, out);
                }
                None => out.caution(Some(Origin::line(number)), "a time that cannot be read: its sample is left out"),
            },
            (_, sample) => {
                let Some((quantity, of_group)) = section(name) else { return Ok(()) };
                let Some(sample) = sample else {
                    if self.host.is_empty() {
                        second.rsplit(' ').next().unwrap_or_default().clone_into(&mut self.host);
                    }
                    self.samples.columns(name, of_group, fields);
                    return Ok(());
                };
                let numerals = if self.semicolons { Numerals::Comma } else { Numerals::Point };
                let values = fields.map(|field| numerals.number(field));
                if !self.samples.add(sample, (name, quantity), number, values) {
                    self.broken = Some(number);
                    out.caution(Some(Origin::line(number)), "fewer values than its section has columns, or no columns");
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let begin = self.begin(out);
        self.samples.finish((begin, self.interval), &self.host, out);
        if self.broken == Some(self.last) {
            out.part("last line", Fate::Broken);
        }
        let unusable = |what: &str| Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() });
        if out.count() == 0 {
            return unusable(if self.samples.has_columns() {
                "none of its samples of disks has a time: is it whole?"
            } else {
                "it has no sections of disks: was it taken without them?"
            });
        }
        Ok(())
    }
}

/// `T0001`
fn sample_number(text: &str) -> Option<u32> {
    text.strip_prefix('T').filter(|digits| digits.len() >= 3)?.parse().ok()
}

/// `21:23:10`, or `21:23.10` as some versions print it.
fn time(text: &str) -> Option<Time> {
    timestamp::time_of_day(text.trim(), "").map(|(time, _)| time)
}

impl Nmon {
    /// When the file begins.
    fn begin(&self, out: &mut Builder) -> Option<DateTime> {
        self.date.zip(self.time).map(|(date, time)| out.local(date.to_datetime(time)))
    }

    /// A line about the file as a whole.
    fn about(&mut self, key: &str, value: &str, out: &mut Builder) {
        match key {
            "host" => value.clone_into(&mut self.host),
            "date" => self.date = timestamp::date(value).map(|(date, _)| date),
            "time" => self.time = time(value),
            "interval" => self.interval = value.parse().ok().filter(|s| *s > 0).map(Span::from_secs),
            "version" => out.version(value),
            _ => {}
        }
    }

    fn moment(&mut self, clock: Option<&str>, date: Option<&str>) -> Option<DateTime> {
        let time = time(clock?)?;
        let at = if let Some(date) = date.and_then(|date| timestamp::date(date.trim())) {
            date.0.to_datetime(time)
        } else {
            let date = self.last_at.map(DateTime::date).or(self.date)?;
            let at = date.to_datetime(time);
            let is_past_midnight = self.last_at.is_some_and(|last| last.duration_since(at).as_hours() > 12);
            if is_past_midnight { date.tomorrow().ok()?.to_datetime(time) } else { at }
        };
        self.last_at = Some(at);
        Some(at)
    }
}
