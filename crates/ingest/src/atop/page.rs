//! atop's pages of text: a heading with the time, and a line of cells for each disk.

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
use crate::timestamp::{self, Stamp};

const KIND: Kind = Kind { id: "atop", name: "pages of atop" };

/// Pages of atop.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |_| Box::new(Lines::new(Pages::default())) };

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    match (has("ATOP - ") && has(" elapsed"), has("\nDSK |") || head.starts_with(b"DSK |"), has("\nCPU |")) {
        (true, true, _) => Resemblance::Is { marks: 4 },
        (true, _, true) => Resemblance::Is { marks: 2 },
        (true, ..) => Resemblance::Near { marks: 1, missing: "line of CPU or DSK" },
        (_, true, _) => Resemblance::Near { marks: 1, missing: "heading `ATOP -`" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Pages {
    sample: Sample,
    samples: Samples,
    count: u32,
    others: u32,
}

impl LineFormat for Pages {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.starts_with("ATOP - ") {
            self.samples.put(std::mem::take(&mut self.sample), out);
            self.count += 1;
            match heading(line) {
                Some((host, end, length)) => {
                    let end = end.map(|end| out.instant(end));
                    self.sample = Sample { host, end, length, ..Sample::default() };
                }
                None => out.caution(Some(Origin::line(number)), "a heading that cannot be read: its page is left out"),
            }
        } else if line.starts_with("DSK |") {
            match disk(line, number, self.sample.length) {
                Some(disk) if self.sample.disks.len() < Samples::MOST => self.sample.disks.push(disk),
                Some(_) => {}
                None => out.caution(Some(Origin::line(number)), "a disk without its counts: left out"),
            }
        } else if line.contains("since boot ***") {
            self.sample.is_boot = true;
        } else {
            self.others += u32::from(line.starts_with("LVM |") || line.starts_with("MDD |"));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.samples.put(std::mem::take(&mut self.sample), out);
        let rows = self.samples.finish(out);
        if self.others > 0 {
            out.part("LVM, MDD", Fate::Ignored);
        }
        if rows == 0 {
            let what = "none of its pages has a line of disks: let atop print more lines, or run `atop -r FILE -P DSK`";
            return Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() });
        }
        out.part("DSK", Fate::Read(rows));
        if rows < self.count {
            out.caution(
                None,
                "pages leave idle disks out, so means are those of busy times: run `atop -r FILE -P DSK`",
            );
        }
        Ok(())
    }
}

/// `ATOP - db1   2026/03/02  09:00:10   ----   10s elapsed`
fn heading(line: &str) -> Option<(String, Option<Stamp>, Span)> {
    let mut words = line.strip_prefix("ATOP - ")?.split_ascii_whitespace();
    let host = words.next()?.to_owned();
    let end = timestamp::parse(&format!("{} {}", words.next()?, words.next()?));
    let elapsed = words.take_while(|word| *word != "elapsed").last()?;
    Some((host, end, span(elapsed)?))
}

/// `5d17h8m18s`
fn span(text: &str) -> Option<Span> {
    let (mut total, mut number) = (0_u64, 0_u64);
    for letter in text.bytes() {
        let unit = match letter {
            b'0'..=b'9' => {
                number = number.checked_mul(10)?.checked_add(u64::from(letter - b'0'))?;
                continue;
            }
            b'd' => 86_400,
            b'h' => 3_600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        number = 0;
    }
    Some(Span::from_secs(total))
}

fn disk(line: &str, number: u64, length: Span) -> Option<Disk> {
    let mut cells = line.split('|').skip(1).map(str::trim);
    let name = cells.next().filter(|name| !name.is_empty())?;
    let (mut reads, mut writes, mut busy, mut queue) = (None, None, None, None);
    let (mut sizes, mut rates) = ([None; 2], [None; 2]);
    for cell in cells {
        let mut words = cell.split_ascii_whitespace();
        let (Some(what), Some(value)) = (words.next(), words.next()) else { continue };
        let value = value.trim_end_matches('%').parse::<f64>().ok().filter(|value| *value >= 0.0);
        match what {
            "read" => reads = value,
            "write" => writes = value,
            "busy" => busy = value.map(|percent| (percent / 100.0).min(1.0)),
            "KiB/r" | "KiB/rd" => sizes[0] = value,
            "KiB/w" | "KiB/wr" => sizes[1] = value,
            "MBr/s" => rates[0] = value,
            "MBw/s" => rates[1] = value,
            "avq" => queue = value,
            _ => {}
        }
    }
    let mut said = vec![
        (Said::Sum(Counted::Operations(Class::Read)), reads?, "read"),
        (Said::Sum(Counted::Operations(Class::Write)), writes?, "write"),
    ];
    let seconds = length.as_secs_f64();
    for (class, count, size, rate, field) in [
        (Class::Read, reads?, sizes[0], rates[0], "KiB/r, MBr/s"),
        (Class::Write, writes?, sizes[1], rates[1], "KiB/w, MBw/s"),
    ] {
        let bytes = bytes(count, size, rate, seconds);
        said.extend(bytes.map(|bytes| (Said::Sum(Counted::Bytes(class)), bytes, field)));
    }
    if let Some(busy) = busy {
        said.push((Said::Rate(Counted::BusySeconds(Class::All)), busy, "busy"));
        said.extend(queue.map(|queue| (Said::Rate(Counted::QueueSeconds(Class::All)), queue * busy, "avq while busy")));
    }
    Some(Disk { name: name.into(), line: number, said })
}

/// Bytes out of two rounded figures: KiB of an operation, and MiB a second with one decimal. The one is taken that is
/// printed with more digits.
fn bytes(count: f64, kib: Option<f64>, mib_s: Option<f64>, seconds: f64) -> Option<f64> {
    const KIB: f64 = 1_024.0;
    match (kib, mib_s) {
        (Some(kib), Some(mib_s)) if mib_s * 10.0 < kib => Some(count * kib * KIB),
        (_, Some(mib_s)) => Some(mib_s * KIB * KIB * seconds),
        (kib, None) => kib.map(|kib| count * kib * KIB),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Span;

    use super::{bytes, heading, span};

    #[test]
    fn headings_and_lengths_are_read() {
        assert_eq!(span("5d17h8m18s"), Some(Span::from_secs(493_698)));
        assert_eq!(span("10s"), Some(Span::from_secs(10)));
        assert_eq!(span("--"), None);
        let (host, end, length) = heading("ATOP - db1   2026/03/02  09:00:10   ----   1m10s elapsed").unwrap();
        assert_eq!((host.as_str(), end.is_some(), length), ("db1", true, Span::from_secs(70)));
        assert_eq!(heading("ATOP - db1"), None);
    }

    #[test]
    fn the_figure_with_more_digits_is_taken() {
        assert_eq!(bytes(100.0, Some(8.0), Some(0.1), 10.0), Some(819_200.0));
        assert_eq!(bytes(100.0, Some(8.0), Some(5.0), 10.0), Some(52_428_800.0));
        assert_eq!(bytes(100.0, None, None, 10.0), None);
    }
}
