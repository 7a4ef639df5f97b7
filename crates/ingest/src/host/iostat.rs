//! iostat of Linux as text: every generation of its columns, with or without times.

use memchr::memmem;

use super::disks::{Absent, Heading};
use super::noted::Noted;
use super::reports::{Follows, Reports};
use super::timeline::{self, UNDATED};
use crate::builder::Builder;
use crate::figure::Origin;
use crate::format::{Form, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::timestamp::{self, Stamp};

const KIND: Kind = Kind { id: "iostat", name: "iostat (text)" };

/// iostat as text.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |input| Box::new(Lines::new(Iostat::new(input))) };

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    // What other programs print beside the same columns.
    if has("rtps") || has("# hostname;") || head.starts_with(b"{") || has("extended device statistics") {
        return Resemblance::None;
    }
    let lines = head.split(|byte| *byte == b'\n').filter(|line| line.len() < 1_000 && line.contains(&b'/'));
    let is_heading = |line: &[u8]| {
        std::str::from_utf8(line).is_ok_and(|line| Heading::read(line).is_some() && !line.contains(" DEV"))
    };
    let banner = head.starts_with(b"Linux ") || has("\nLinux ");
    match lines.into_iter().any(is_heading) {
        true => Resemblance::Is { marks: 3 + u8::from(banner) + u8::from(has("avg-cpu")) },
        false if has("avg-cpu") => Resemblance::Near { marks: 2, missing: "table of devices (run it without -c)" },
        false => Resemblance::None,
    }
}

#[derive(Debug)]
struct Iostat {
    reports: Reports,
    /// True between the heading of devices and what is no row of them.
    in_table: bool,
    /// Blanks before a heading, when all of the text is indented.
    indent: usize,
    /// When the report that is being read was printed, and the one that comes.
    printed: Option<Stamp>,
    coming: Option<Stamp>,
    /// A blank line ended the rows.
    complete: bool,
    doubted: bool,
    noted: Noted,
}

impl Iostat {
    fn new(input: &Input) -> Self {
        Self {
            reports: Reports::new(input),
            in_table: false,
            indent: 0,
            printed: None,
            coming: None,
            complete: false,
            doubted: false,
            noted: Noted::default(),
        }
    }

    /// Ends the report that is being read. `follows` says whether another one of the same run follows.
    fn close(&mut self, follows: Follows, out: &mut Builder) {
        self.in_table = false;
        let absent = if self.complete { Absent::Idle } else { Absent::Unknown };
        let at = self.printed.map(|stamp| timeline::instant(stamp, out));
        self.reports.close(at, absent, follows, out);
    }

    /// A line that is no row: a heading, a time, a banner, or none of iostat's.
    fn other(&mut self, line: &str, number: u64, out: &mut Builder) {
        let text = line.trim_end();
        if text.trim_start().is_empty() {
            self.complete = true;
            return;
        }
        if self.heading(text, out) {
            return;
        }
        if let Some(stamp) = self.time(text) {
            self.in_table = false;
            self.doubt(stamp, number, out);
            self.coming = Some(stamp);
        } else if let Some((host, version)) = banner(text) {
            self.close(Follows::Nothing, out);
            self.reports.run(host, out);
            (self.printed, self.coming) = (None, None);
            out.version(version);
        } else if text.contains("%idle") || text.contains("%iowait") {
            self.in_table = false;
            self.noted.note("avg-cpu", Fate::Ignored);
        } else if self.in_table && self.reports.disks.knows(text) {
            self.noted.note("rows of devices", Fate::Broken);
            out.caution(Some(Origin::line(number)), "a row of devices that cannot be read: left out");
        } else {
            self.in_table = false;
        }
    }

    fn heading(&mut self, text: &str, out: &mut Builder) -> bool {
        let is = self.reports.disks.heading().is(text) || (text.contains('/') && Heading::read(text).is_some());
        if is {
            self.close(Follows::Report, out);
            (self.printed, self.complete) = (self.coming.take(), false);
            self.in_table = self.reports.disks.begin(text);
            self.indent = text.len() - text.trim_start().len();
        }
        is
    }

    /// A time, with its date or, of old versions, without.
    fn time(&self, text: &str) -> Option<Stamp> {
        let text = text.trim_start();
        if let Some(time) = text.strip_prefix("Time: ") {
            let mut words = time.split_whitespace();
            let (time, _) = timestamp::time_of_day(words.next()?, words.next().unwrap_or_default())?;
            // Without a date only the time between two reports is known, and midnight is passed once a day.
            let last = self.coming.or(self.printed);
            return last.map_or(Some(Stamp::on(UNDATED, time)), |last| last.next_at(time));
        }
        if text.starts_with(|first: char| first.is_ascii_digit()) { timestamp::parse(text) } else { None }
    }

    fn doubt(&mut self, stamp: Stamp, line: u64, out: &mut Builder) {
        if stamp.doubtful && !std::mem::replace(&mut self.doubted, true) {
            let text = "dates like this can be read in two ways: the month is taken to come first; \
                        S_TIME_FORMAT=ISO iostat -t leaves no doubt";
            out.caution(Some(Origin::line(line)), text);
        }
    }
}

impl LineFormat for Iostat {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let indent = line.get(..self.indent).filter(|indent| indent.trim_start().is_empty());
        let row = &line[indent.map_or(0, str::len)..];
        let is_row = self.in_table
            && !row.is_empty()
            && !self.reports.disks.heading().is(line)
            && self.reports.disks.row(row, number, out);
        if !is_row {
            self.other(line, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.close(Follows::Nothing, out);
        self.reports.end(out);
        self.noted.tell(out);
        if self.reports.disks.has_given() {
            return Ok(());
        }
        let what = "it has a heading of devices and no row below it: check that it was copied completely, and that the \
                    devices named to iostat exist";
        Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() })
    }
}

/// Host and system of `Linux 5.15.0 (host) 03/05/2025 _x86_64_ (96 CPU)`.
pub(super) fn banner(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("Linux ")?;
    let (release, rest) = rest.split_once(" (")?;
    let (host, rest) = rest.split_once(')')?;
    let version = &line.trim_start()[.."Linux ".len() + release.len()];
    (rest.contains(['/', '-', '.', '年']) && !release.contains(' ')).then_some((host, version))
}
