//! `atop -P DSK`: one line for each disk, with counts of the sample.

use memchr::memmem;
use plimsoll_units::Span;

use super::{Disk, Sample, Samples};
use crate::builder::Builder;
use crate::figure::{Class, Origin};
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::series::Said;
use crate::snapshot::Counted;
use crate::timestamp;

const KIND: Kind = Kind { id: "atop-labelled", name: "output of atop -P" };

/// Output of `atop -P`.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |_| Box::new(Lines::new(Labelled::default())) };

fn resembles(head: &[u8]) -> Resemblance {
    let text = String::from_utf8_lossy(head);
    let rows = text.lines().take(500).filter(|line| fields(line).is_some()).count();
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let disks = text.lines().any(|line| line.starts_with("DSK ") && fields(line).is_some());
    match (disks, rows, has("SEP\n") || has("SEP\r\n") || text.trim_end().ends_with("SEP")) {
        (true, ..) => Resemblance::Is { marks: 4 },
        (_, 2.., true) => Resemblance::Is { marks: 3 },
        (_, 2.., _) => Resemblance::Near { marks: 1, missing: "line DSK" },
        _ => Resemblance::None,
    }
}

/// What every line begins with: label, host, seconds since 1970, date, time, seconds of the sample.
struct Fields<'a> {
    label: &'a str,
    host: &'a str,
    seconds: f64,
    length: f64,
    rest: std::str::SplitAsciiWhitespace<'a>,
}

fn fields(line: &str) -> Option<Fields<'_>> {
    let mut words = line.split_ascii_whitespace();
    let label =
        words.next().filter(|label| label.len() == 3 && label.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let (host, seconds) = (words.next()?, words.next()?.parse().ok()?);
    let (date, time) = (words.next()?, words.next()?);
    let length = words.next()?.parse().ok().filter(|length| *length >= 0.0)?;
    let is_date = date.len() == 10 && date.as_bytes()[4] == b'/' && time.contains(':');
    is_date.then_some(Fields { label, host, seconds, length, rest: words })
}

#[derive(Default)]
struct Labelled {
    sample: Sample,
    /// Seconds since 1970 at the end of the sample at hand.
    seconds: Option<f64>,
    samples: Samples,
    others: u32,
    broken: Option<u64>,
    last: u64,
}

impl LineFormat for Labelled {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        self.last = number;
        match line.trim_end() {
            "SEP" => self.hand_over(out),
            "RESET" => {
                self.hand_over(out);
                self.sample.is_boot = true;
            }
            line if line.starts_with("DSK ") => self.disk(line, number, out),
            line => self.others += u32::from(line.starts_with("LVM ") || line.starts_with("MDD ")),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.hand_over(out);
        let rows = self.samples.finish(out);
        if self.others > 0 {
            out.part("LVM, MDD", Fate::Ignored);
        }
        if self.broken == Some(self.last) {
            out.part("last line", Fate::Broken);
        }
        if rows == 0 {
            let what = "it has no lines of disks: run `atop -r FILE -P DSK`".to_owned();
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        }
        out.part("DSK", Fate::Read(rows));
        Ok(())
    }
}

impl Labelled {
    fn hand_over(&mut self, out: &mut Builder) {
        self.seconds = None;
        self.samples.put(std::mem::take(&mut self.sample), out);
    }

    fn disk(&mut self, line: &str, number: u64, out: &mut Builder) {
        let disk = fields(line).and_then(|mut fields| Some((disk(&mut fields, number)?, fields)));
        let Some((disk, fields)) = disk else {
            self.broken = Some(number);
            return out.caution(Some(Origin::line(number)), "a line without its values: left out");
        };
        // Where lines between samples were filtered away, the time tells them apart.
        if self.seconds.is_some_and(|seconds| (seconds - fields.seconds).abs() > 0.5) {
            self.hand_over(out);
        }
        if self.seconds.replace(fields.seconds).is_none() {
            fields.host.clone_into(&mut self.sample.host);
            self.sample.length = Span::from_secs_f64(fields.length);
            self.sample.end = timestamp::of_unix(fields.seconds);
        }
        if self.sample.disks.len() < Samples::MOST {
            self.sample.disks.push(disk);
        }
    }
}

fn disk(fields: &mut Fields, line: u64) -> Option<Disk> {
    const SECTOR: f64 = 512.0;
    debug_assert_eq!(fields.label, "DSK");
    let name = fields.rest.next()?;
    let mut numbers = [None; 9];
    for (place, word) in numbers.iter_mut().zip(&mut fields.rest) {
        *place = word.parse::<f64>().ok().filter(|value| *value >= 0.0);
    }
    let [Some(busy_ms), Some(reads), Some(taken), Some(writes), Some(given), ref newer @ ..] = numbers else {
        return None;
    };
    let seconds = busy_ms / 1e3;
    let mut said = vec![
        (Said::Sum(Counted::Operations(Class::Read)), reads, "reads"),
        (Said::Sum(Counted::Bytes(Class::Read)), taken * SECTOR, "sectors read"),
        (Said::Sum(Counted::Operations(Class::Write)), writes, "writes"),
        (Said::Sum(Counted::Bytes(Class::Write)), given * SECTOR, "sectors written"),
        (Said::Sum(Counted::BusySeconds(Class::All)), seconds, "ms busy"),
    ];
    if let [Some(discards), Some(sectors), ..] = newer {
        said.push((Said::Sum(Counted::Operations(Class::Discard)), *discards, "discards"));
        said.push((Said::Sum(Counted::Bytes(Class::Discard)), sectors * SECTOR, "sectors discarded"));
    }
    if let [_, _, _, Some(queue)] = newer {
        said.push((Said::Sum(Counted::QueueSeconds(Class::All)), queue * seconds, "queue while busy"));
    }
    Some(Disk { name: name.into(), line, said })
}
