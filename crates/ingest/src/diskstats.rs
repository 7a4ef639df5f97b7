//! `/proc/diskstats` and `/sys/block/*/stat`: counters of Linux block devices, one snapshot or many in a file.
//!
//! Between snapshots there may be lines that say when: `TS` and seconds, `date`, ISO times, `/proc/uptime`. Without them
//! the caller says how far apart snapshots are. Knows nothing of what else a host counts.

mod row;
mod table;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use self::row::{Line, line};
use self::table::Table;
use crate::builder::Builder;
use crate::figure::{Origin, Window};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::timestamp;

const KIND: Kind = Kind { id: "diskstats", name: "/proc/diskstats" };

/// Snapshots of `/proc/diskstats`, or of `/sys/block/*/stat`.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Lines::new(Diskstats { input: input.clone(), ..Diskstats::default() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let text = String::from_utf8_lossy(head);
    let (mut rows, mut bare, mut others) = (0, 0, 0);
    for text in text.lines().take(200).filter(|line| !line.trim().is_empty()) {
        match line(text) {
            Line::Row { name: Some(_), .. } | Line::Heading(_) => rows += 1,
            Line::Row { name: None, .. } => bare += 1,
            Line::At(_) | Line::Age(_) => {}
            Line::Short | Line::Other => others += 1,
        }
    }
    match (rows, bare, others) {
        (1.., _, others) if rows + bare > others => Resemblance::Is { marks: 3 },
        (0, 1.., 0) => Resemblance::Is { marks: 1 },
        (1.., ..) => Resemblance::Near { marks: 1, missing: "counters of a device in most of its lines" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Diskstats {
    input: Input,
    table: Table,
    /// When the snapshot at hand was taken.
    at: Option<DateTime>,
    age: Option<Span>,
    /// The device that a heading named, for lines that name none.
    heading: Option<String>,
    /// Snapshots that were handed over.
    count: u32,
    /// Something says when one of them was taken.
    timed: bool,
    /// The last line that says nothing.
    broken: Option<u64>,
    last: u64,
}

impl LineFormat for Diskstats {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, text: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        self.last = number;
        match line(text) {
            Line::Row { name, numbers, count } => {
                let name = name.or(self.heading.as_deref()).unwrap_or_default();
                if self.table.has(name) {
                    let name = name.to_owned();
                    self.take(out);
                    self.table.add(&name, number, &numbers, count);
                } else {
                    self.table.add(name, number, &numbers, count);
                }
                if !matches!(count, 4 | 11 | 15 | 17..) {
                    self.broken = Some(number);
                    let text = format!("{count} counters, where kernels have 11, 15 or 17: the last ones are left out");
                    out.caution(Some(Origin::line(number)), text);
                }
            }
            Line::Heading(name) => self.heading = Some(name.to_owned()),
            Line::At(at) => {
                self.take(out);
                self.at = Some(out.instant(at));
            }
            Line::Age(age) => {
                self.take(out);
                self.age = Some(age);
            }
            Line::Short => {
                self.broken = Some(number);
                out.caution(Some(Origin::line(number)), "a row without its counters: left out");
            }
            Line::Other => out.caution_once(Some(Origin::line(number)), "lines that are no counters: left out"),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.take(out);
        if self.broken == Some(self.last) {
            out.part("last line", Fate::Broken);
        }
        let unusable = |what: &str| Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() };
        if self.count == 0 {
            return Err(unusable("it has no counters of a device: give what `cat /proc/diskstats` prints"));
        }
        let devices = self.table.finish(out);
        if devices == 0 {
            return Err(unusable("its devices are memory and loops alone: was it taken on the host itself?"));
        }
        if self.count > 1 && !self.timed {
            return Err(unusable(
                "several snapshots, and no times between them: say the interval at which they were taken",
            ));
        }
        Ok(())
    }
}

impl Diskstats {
    /// Hands over the snapshot at hand.
    fn take(&mut self, out: &mut Builder) {
        if self.table.is_empty() {
            return;
        }
        let interval = self.input.interval.filter(|_| self.at.is_none() && self.age.is_none());
        let at = self.at.take().or_else(|| self.counted_on());
        self.timed |= at.is_some() || self.age.is_some() || interval.is_some();
        let window = interval.filter(|_| at.is_none() && self.count > 0);
        let window = window.map(|length| out.sample(Window { begin: None, length }));
        self.table.hand_over(at, self.age.take(), window, out);
        self.heading = None;
        self.count += 1;
    }

    /// When the snapshot at hand was taken, by what the caller knows.
    fn counted_on(&self) -> Option<DateTime> {
        let begin = self.input.begin.filter(|_| self.age.is_none())?;
        let since = match (self.count, self.input.interval) {
            (0, _) => Some(0.0),
            (count, Some(interval)) => Some(interval.as_secs_f64() * f64::from(count)),
            _ => None,
        };
        timestamp::later(begin, since?)
    }
}
