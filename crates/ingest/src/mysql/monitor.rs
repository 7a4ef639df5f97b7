//! The monitor of InnoDB: `SHOW ENGINE INNODB STATUS`, once or many times, or as a server's error log has it.
//!
//! It gives rates over the last seconds before it was taken, not sums: each output is a window of its own. The texts of
//! transactions and deadlocks in it are passed over.

use plimsoll_units::Span;

use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Window};
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::timestamp::{self, Stamp};

const KIND: Kind = Kind { id: "innodb-monitor", name: "SHOW ENGINE INNODB STATUS" };

pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open };

fn open(_: &Input) -> Box<dyn Format> {
    Box::new(Lines::new(Monitor::default()))
}

fn resembles(head: &[u8]) -> Resemblance {
    let has = |mark: &str| memchr::memmem::find(head, mark.as_bytes()).is_some();
    match (has("INNODB MONITOR OUTPUT"), has("Per second averages calculated from the last ")) {
        (true, true) => Resemblance::Is { marks: 9 },
        (true, false) => {
            Resemblance::Near { marks: 2, missing: "line `Per second averages calculated from the last ...`" }
        }
        _ if has(" OS file reads, ") && has(" OS fsyncs") => {
            Resemblance::Near { marks: 2, missing: "heading INNODB MONITOR OUTPUT" }
        }
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Monitor {
    output: Option<Output>,
    outputs: u32,
    read: u32,
    broken: u32,
    pending_said: bool,
}

/// One output, from its heading to its end.
struct Output {
    line: u64,
    at: Option<Stamp>,
    length_s: Option<f64>,
    /// Inside the section of this name.
    section: Section,
    rates: Option<(u64, [f64; 4])>,
    log_writes: Option<(u64, f64)>,
    pending: [Option<f64>; 2],
    pending_line: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Other,
    Files,
    Log,
}

impl LineFormat for Monitor {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        // A client in batch mode writes the whole output as one line, with its line ends as two letters.
        if line.contains("\\n") && line.contains("INNODB MONITOR OUTPUT") {
            line.split("\\n").for_each(|line| self.take(line, number, out));
        } else {
            self.take(line, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(output) = self.output.take() {
            self.broken += 1;
            out.caution(
                Some(Origin::line(output.line)),
                "the output has no end: it was cut, as servers do at 1 MB, or not copied completely",
            );
            self.put(&output, out);
        }
        if self.outputs == 0 {
            let what = "no line of reads, writes and fsyncs a second in its section FILE I/O: give the whole output"
                .to_owned();
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        }
        out.part("FILE I/O", if self.broken > 0 { Fate::Broken } else { Fate::Read(self.read) });
        Ok(())
    }
}

impl Monitor {
    fn take(&mut self, line: &str, number: u64, out: &mut Builder) {
        let line = line.trim_end();
        if let Some(head) = line.strip_suffix("INNODB MONITOR OUTPUT") {
            if head.trim_end().ends_with("END OF") {
                if let Some(output) = self.output.take() {
                    self.put(&output, out);
                }
                return;
            }
            if let Some(output) = self.output.take() {
                self.broken += 1;
                out.caution(Some(Origin::line(output.line)), "the output has no end: the next one begins before");
                self.put(&output, out);
            }
            self.output = Some(Output::new(number, taken(head)));
            return;
        }
        if let Some(output) = &mut self.output {
            output.line(line, number);
        }
    }

    fn put(&mut self, output: &Output, out: &mut Builder) {
        let Some((line, [reads, size, writes, fsyncs])) = output.rates else {
            self.broken += 1;
            return out.caution(Some(Origin::line(output.line)), "an output without rates in FILE I/O: left out");
        };
        self.outputs += 1;
        let Some(length_s) = output.length_s.filter(|length| *length > 0.0) else {
            let text = "its rates are over no time at all: wait some seconds between two SHOW ENGINE INNODB STATUS";
            return out.caution(Some(Origin::line(output.line)), text);
        };
        let length = Span::from_secs_f64(length_s);
        let begin = output.at.and_then(|at| timestamp::before(out.instant(at), length));
        let window = out.window(Window { begin, length });
        let at = (out.scope(Scope::default()), window);
        let mut mean = |class, measure, value, line, field| {
            let origin = out.origin(line, "FILE I/O", field);
            out.mean(at, class, measure, value, origin);
        };
        mean(Class::Read, Measure::Iops, reads, line, "reads/s");
        mean(Class::Read, Measure::Throughput, reads * size, line, "reads/s, avg bytes/read");
        if reads > 0.0 {
            mean(Class::Read, Measure::Size, size, line, "avg bytes/read");
        }
        mean(Class::Write, Measure::Iops, writes, line, "writes/s");
        if let Some((log_line, log)) = output.log_writes.filter(|(_, log)| *log <= writes) {
            mean(Class::DataWrite, Measure::Iops, writes - log, line, "writes/s");
            mean(Class::RedoWrite, Measure::Iops, log, log_line, "log i/o's/second");
        }
        mean(Class::Flush, Measure::Iops, fsyncs, line, "fsyncs/s");
        self.read += 4;
        self.pending(output, at, out);
    }

    fn pending(&mut self, output: &Output, at: (u32, u32), out: &mut Builder) {
        for (class, field, pending) in
            [(Class::Read, "pending reads", output.pending[0]), (Class::Write, "pending writes", output.pending[1])]
        {
            let Some(pending) = pending else { continue };
            let origin = out.origin(output.pending_line, "FILE I/O", field);
            if pending > 0.0 && !self.pending_said {
                self.pending_said = true;
                out.caution(
                    Some(origin.clone()),
                    "pending operations are those of one moment, not a mean over the window",
                );
            }
            out.mean(at, class, Measure::Depth, pending, origin);
            self.read += 1;
        }
    }
}

impl Output {
    fn new(line: u64, at: Option<Stamp>) -> Self {
        Self {
            line,
            at,
            length_s: None,
            section: Section::Other,
            rates: None,
            log_writes: None,
            pending: [None; 2],
            pending_line: 0,
        }
    }

    fn line(&mut self, line: &str, number: u64) {
        match line.trim() {
            "FILE I/O" => self.section = Section::Files,
            "LOG" => self.section = Section::Log,
            // Names of sections are in capitals, under a line of hyphens.
            heading if is_heading(heading) => self.section = Section::Other,
            line if self.section == Section::Files => self.files(line, number),
            line if self.section == Section::Log => {
                if let Some(rate) = line.strip_suffix("log i/o's/second").and_then(|line| line.rsplit(' ').nth(1)) {
                    self.log_writes = rate.parse().ok().map(|rate| (number, rate));
                }
            }
            line => {
                if let Some(rest) = line.strip_prefix("Per second averages calculated from the last ") {
                    self.length_s = self.length_s.or(rest.split(' ').next().and_then(|word| word.parse().ok()));
                }
            }
        }
    }

    fn files(&mut self, line: &str, number: u64) {
        if line.contains(" avg bytes/read, ") {
            self.rates = rates(line).map(|rates| (number, rates));
        } else if let Some(rest) = line.strip_prefix("Pending normal aio reads:") {
            let (reads, writes) = rest.split_once("aio writes:").unwrap_or((rest, ""));
            self.pending = [pending(reads), pending(writes)];
            self.pending_line = number;
        }
    }
}

/// `0.31 reads/s, 16384 avg bytes/read, 0.04 writes/s, 0.04 fsyncs/s`: reads, bytes, writes, fsyncs. Between them a server
/// may say more.
fn rates(line: &str) -> Option<[f64; 4]> {
    let of = |unit: &str| {
        let word = line.split(", ").find_map(|part| part.trim().strip_suffix(unit))?;
        word.trim().parse::<f64>().ok().filter(|rate| rate.is_finite())
    };
    Some([of(" reads/s")?, of(" avg bytes/read")?, of(" writes/s")?, of(" fsyncs/s")?])
}

/// `0 [0, 2, 1]`, `[0, 2, 1]` or `3`: how many in all.
fn pending(text: &str) -> Option<f64> {
    let (sum, each) = text.split_once('[').unwrap_or((text, ""));
    let sum = sum.trim().trim_end_matches(',').trim();
    if sum.is_empty() {
        let each = each.split_once(']')?.0;
        return each.split(',').map(|number| number.trim().parse::<f64>().ok()).sum();
    }
    sum.parse().ok()
}

fn is_heading(line: &str) -> bool {
    line.len() >= 3
        && line.bytes().any(|byte| byte.is_ascii_uppercase())
        && !line.bytes().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// When an output was taken: `2026-01-31 12:30:05 0x7f...`, `260131 12:30:05`, `260131  2:30:05`.
fn taken(head: &str) -> Option<Stamp> {
    let mut words = head.split_whitespace();
    let (day, time) = (words.next()?, words.next()?);
    if day.len() == 6 && day.bytes().all(|byte| byte.is_ascii_digit()) {
        return timestamp::parse(&format!("20{}-{}-{} {time}", &day[..2], &day[2..4], &day[4..]));
    }
    timestamp::parse(&format!("{day} {time}"))
}
