//! atop: output of `atop -P` for programs, and its pages of text.
//!
//! The first sample of both is the mean since the host was started: it is left out if others follow.

use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Class, Fate, Origin, Scope, Window};
use crate::refusal::Refusal;
use crate::series::Said;
use crate::snapshot::{Counted, Risen};
use crate::text;
use crate::text::timestamp::{self, Stamp};

/// What one sample says of one disk.
struct Disk {
    name: Arc<str>,
    line: u64,
    said: Vec<(Said, f64, &'static str)>,
}

/// Disks of one sample, and when it was taken.
#[derive(Default)]
struct Sample {
    host: String,
    end: Option<DateTime>,
    length: Span,
    /// It is the mean since the start.
    is_boot: bool,
    disks: Vec<Disk>,
}

/// The samples of an input: the one since the start waits for another.
#[derive(Default)]
struct Samples {
    boot: Option<Sample>,
    count: u32,
    disks: u32,
}

impl Samples {
    /// Disks of one sample; further ones are left out.
    const MOST: usize = 10_000;

    fn put(&mut self, sample: Sample, out: &mut Builder) {
        if sample.disks.is_empty() {
            return;
        }
        if sample.is_boot {
            self.boot.get_or_insert(sample);
            return;
        }
        self.hand_over(&sample, out);
    }

    /// Hands over what is left: the mean since the start when there is nothing else. How many figures of disks there are.
    fn finish(&mut self, out: &mut Builder) -> u32 {
        if let Some(boot) = self.boot.take() {
            if self.count == 0 {
                let text =
                    "one sample, the mean since the host was started: every peak is hidden in it; let atop take more";
                out.caution(None, text);
                self.hand_over(&boot, out);
            } else {
                out.part("sample since the start", Fate::Ignored);
            }
        }
        self.disks
    }

    fn hand_over(&mut self, sample: &Sample, out: &mut Builder) {
        if sample.length.is_zero() {
            let line = sample.disks.first().map_or(0, |disk| disk.line);
            return out.caution(Some(Origin::line(line)), "a sample of no length: left out");
        }
        let length = sample.length;
        let begin = sample.end.and_then(|end| timestamp::before(end, length));
        let window = match begin {
            Some(_) => out.window(Window { begin, length }),
            None => out.sample(Window { begin, length }),
        };
        for disk in &sample.disks {
            put(disk, &sample.host, (window, length.as_secs_f64()), out);
        }
        self.count += 1;
        self.disks += sample.disks.len() as u32;
    }
}

fn put(disk: &Disk, host: &str, (window, seconds): (u32, f64), out: &mut Builder) {
    let scope = out.scope(Scope { host: host.to_owned(), part: disk.name.to_string(), ..Scope::default() });
    let mut sums: Vec<(&Counted, f64, Origin)> = Vec::with_capacity(disk.said.len());
    for (said, value, field) in &disk.said {
        let (counted, sum) = match said {
            Said::Sum(counted) => (counted, *value),
            Said::Rate(counted) => (counted, value * seconds),
            Said::Figure(..) => continue,
        };
        let origin = Origin { line: disk.line, table: Some(Arc::clone(&disk.name)), field: out.text(field) };
        sums.push((counted, sum, origin));
    }
    let counts: Vec<(&Counted, f64, &Origin)> =
        sums.iter().map(|(counted, sum, origin)| (*counted, *sum, origin)).collect();
    Risen { counts: &counts, seconds, at: (scope, window) }.put(&Origin::line(disk.line), out);
}

/// Output of `atop -P`.
pub(crate) const LABELLED: Form =
    Form::lines("atop-labelled", "output of atop -P", is_labelled, |_| Box::new(Labelled::default()));

fn is_labelled(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let rows = text.lines().take(500).filter(|line| fields(line).is_some()).count();
    let disks = text.lines().any(|line| line.starts_with("DSK ") && fields(line).is_some());
    match (disks, rows, head.has("SEP\n") || head.has("SEP\r\n") || text.trim_end().ends_with("SEP")) {
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
            return Err(out.unusable(what));
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
        let disk = fields(line).and_then(|mut fields| Some((labelled_disk(&mut fields, number)?, fields)));
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

fn labelled_disk(fields: &mut Fields, line: u64) -> Option<Disk> {
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

/// Pages of atop.
pub(crate) const PAGE: Form = Form::lines("atop", "pages of atop", is_page, |_| Box::new(Pages::default()));

fn is_page(head: &Head<'_>) -> Resemblance {
    match (
        head.has("ATOP - ") && head.has(" elapsed"),
        head.has("\nDSK |") || head.text().starts_with("DSK |"),
        head.has("\nCPU |"),
    ) {
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
            match page_disk(line, number, self.sample.length) {
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
            return Err(out.unusable(what));
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
    Some((host, end, text::elapsed(elapsed)?))
}

fn page_disk(line: &str, number: u64, length: Span) -> Option<Disk> {
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

    use super::{bytes, heading};

    #[test]
    fn headings_are_read() {
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
