//! pidstat -d: bytes that tasks read and wrote, sample by sample. It counts no operations.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use plimsoll_units::Span;

use super::iostat::parse_banner;
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::processors::UsedProcessors;
use crate::reading::{Class, Doubt, Fate, Measure, ReadingScope, ReadingWindow};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, KIB, timestamp};

/// Tasks with their bytes.
pub(crate) const FORM: Form = Form::lines("pidstat", "pidstat -d", resembles, |_| Box::new(Pidstat::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let has = head.has("kB_rd/s") && head.has("kB_wr/s");
    Resemblance::is(6, has && head.has("PID")).or_near(2, has, "column PID")
}

#[derive(Default)]
struct Pidstat {
    host: String,
    date: Option<Date>,
    /// The end of the preceding sample.
    from: Option<DateTime>,
    at: Option<DateTime>,
    names: Vec<String>,
    /// Bytes read and written per second, by command, as far as known, with the line of the first task.
    tasks: BTreeMap<String, ([Option<f64>; 2], u64)>,
    /// Number of rows without their bytes.
    unknown: u64,
    /// Processors in use by all tasks in the current sample, with the line of the first task.
    processors: Option<(f64, u64)>,
    used: UsedProcessors,
    samples: u32,
    last: u64,
}

impl Pidstat {
    /// Maximum commands that are listed separately.
    const MAX_TASKS: usize = 256;

    /// The time at the begin of a line: a time of day, or seconds since 1970; and the rest of the line.
    fn time<'a>(&self, line: &'a str) -> Option<(DateTime, &'a str)> {
        let (first, rest) = line.trim_start().split_once([' ', '\t'])?;
        let rest = rest.trim_start();
        if let Some(at) = first.parse().ok().and_then(timestamp::of_unix) {
            return Some((at, rest));
        }
        let (next, behind) = rest.split_once([' ', '\t'])?;
        let (time, is_twelve) = timestamp::time_of_day(first, next)?;
        Some((self.on_date(time), if is_twelve { behind.trim_start() } else { rest }))
    }

    /// A time of day on the current date, or on the next after midnight.
    fn on_date(&self, time: Time) -> DateTime {
        let date = self.at.or(self.from).map(DateTime::date).or(self.date).unwrap_or(super::UNDATED);
        let at = date.to_datetime(time);
        let is_next =
            self.at.or(self.from).is_some_and(|last| last.duration_since(at) > SignedDuration::from_hours(12));
        if is_next { at.checked_add(SignedDuration::from_hours(24)).unwrap_or(at) } else { at }
    }

    fn heading(&mut self, at: Option<DateTime>, rest: &str, out: &mut Builder) {
        self.flush(out);
        self.names = rest.split_whitespace().map(str::to_owned).collect();
        // The first heading has the begin of its sample.
        self.from = self.from.or(at);
    }

    fn row(&mut self, at: DateTime, rest: &str, number: u64, out: &mut Builder) {
        if self.at.is_some_and(|before| before != at) {
            self.flush(out);
        }
        self.at = Some(at);
        let words: Vec<&str> = rest.split_whitespace().collect();
        let place = |name: &str| self.names.iter().position(|existing| existing == name);
        if let Some(percent) = place("%CPU").and_then(|place| text::parse_decimal(words.get(place)?)) {
            let (sum, _) = self.processors.get_or_insert((0.0, number));
            *sum += percent / 100.0;
        }
        let (Some(read), Some(written), Some(command)) = (place("kB_rd/s"), place("kB_wr/s"), place("Command")) else {
            return;
        };
        let bytes_s = |place: usize| parse_bytes_s(words.get(place)?);
        let (Some(read), Some(written)) = (bytes_s(read), bytes_s(written)) else {
            return out.skip(number, Doubt::lacking("a task", "its bytes"));
        };
        let name = words.get(command..).map(|words| words.join(" ")).unwrap_or_default();
        let name = if self.tasks.len() < Self::MAX_TASKS { name } else { "others".to_owned() };
        let (sums, _) = self.tasks.entry(name).or_insert(([None; 2], number));
        // Unknown values are -1.
        let values = [read, written].map(|bytes| Some(bytes).filter(|bytes| *bytes >= 0.0));
        self.unknown += u64::from(values.contains(&None));
        for (sum, bytes) in sums.iter_mut().zip(values) {
            *sum = add(*sum, bytes);
        }
    }

    /// Emits the current sample.
    fn flush(&mut self, out: &mut Builder) {
        if self.tasks.is_empty() {
            // The table of processors precedes that of bytes.
            return;
        }
        let tasks = std::mem::take(&mut self.tasks);
        let processors = self.processors.take();
        let (Some(at), false) = (self.at, tasks.is_empty()) else { return };
        let from = self.from.replace(at);
        let seconds = from.map_or(0.0, |from| at.duration_since(from).as_secs_f64());
        if seconds <= 0.0 {
            return out.caution_once(None, Doubt::MeanOfTasks);
        }
        self.samples += 1;
        if let Some((used, line)) = processors {
            self.used.add(used, seconds, line);
        }
        let length = Span::from_secs_f64(seconds);
        let is_dated = at.year() > super::UNDATED.year();
        let until = if is_dated { out.local(at) } else { at };
        let begin = timestamp::before(until, length).filter(|_| is_dated);
        let window = ReadingWindow { begin, length };
        let window = if is_dated { out.window(window) } else { out.sample(window) };
        out.divide();
        let sum = tasks.values().fold([None; 2], |sum, (bytes, _)| [add(sum[0], bytes[0]), add(sum[1], bytes[1])]);
        let line = tasks.values().map(|(_, line)| *line).min().unwrap_or_default();
        let all = [(String::new(), (sum, line))];
        for (part, (bytes, line)) in all.into_iter().chain(tasks) {
            let name = if part.is_empty() { "all tasks".to_owned() } else { part.clone() };
            let scope = out.scope(ReadingScope { host: self.host.clone(), part, ..ReadingScope::default() });
            for ((class, field), value) in [(Class::Read, "kB_rd/s"), (Class::Write, "kB_wr/s")].into_iter().zip(bytes)
            {
                let Some(value) = value else { continue };
                let origin = out.origin(line, &name, field);
                out.mean((scope, window), class, Measure::Throughput, value, origin);
            }
        }
    }
}

/// The sum of the known ones.
fn add(sum: Option<f64>, bytes: Option<f64>) -> Option<f64> {
    sum.into_iter().chain(bytes).reduce(|sum, bytes| sum + bytes)
}

/// `1000.00`, or `55.4k` and `0.0B` with --human.
fn parse_bytes_s(word: &str) -> Option<f64> {
    match text::parse_decimal(word) {
        Some(number) => Some(number * KIB),
        None => text::size(word),
    }
}

impl LineFormat for Pidstat {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        self.last = number;
        if let Some((host, _)) = parse_banner(line) {
            self.flush(out);
            self.used.emit(&self.host, "%CPU", out);
            host.clone_into(&mut self.host);
            let date = line.split_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
            self.date = date.and_then(timestamp::parse_date).map(|date| out.date(date));
            (self.from, self.at) = (None, None);
        } else if line.contains("kB_rd/s") || (line.contains("%CPU") && line.contains("PID")) {
            let unmarked = line.trim_start_matches(['#', ' ']);
            let timed = self.time(unmarked);
            let rest = timed.map_or(unmarked, |(_, rest)| rest);
            // Of `# Time UID PID` the first word is the column of the time.
            let rest = rest.strip_prefix("Time").unwrap_or(rest);
            // A zone may follow the time.
            let rest = rest.find("UID").map_or(rest, |at| &rest[at..]);
            self.heading(timed.map(|(at, _)| at), rest, out);
        } else if line.starts_with("Average") {
            self.flush(out);
        } else if let Some((at, rest)) = self.time(line) {
            let rest = rest.find(|letter: char| letter.is_ascii_digit()).map_or(rest, |at| &rest[at..]);
            self.row(at, rest, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        self.used.emit(&self.host, "%CPU", out);
        out.end_at(self.last);
        out.require(self.samples > 0, InputFault::missing("sample of an interval", &["pidstat -d 10 360"]))?;
        out.caution(None, Doubt::BytesOfTasks);
        if self.unknown > 0 {
            out.caution(None, Doubt::TasksUnknown { count: self.unknown });
        }
        out.part("tasks", Fate::Read(self.samples));
        Ok(())
    }
}
