//! diskspd's text: what was asked, then tables whose columns stand between bars.

use std::collections::BTreeSet;

use super::{Got, Span, Target};
use crate::bench::{has, without_results, words};
use crate::builder::Builder;
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;

const KIND: Kind = Kind { id: "diskspd-text", name: "diskspd (text)" };
const MOST_TARGETS: usize = 10_000;

/// diskspd's text.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |_| Box::new(Lines::new(Text::default())) };

fn resembles(head: &[u8]) -> Resemblance {
    let marks = ["actual test time:", "I/O per s", "Results for timespan", "thread |", "diskspd"];
    match marks.iter().filter(|mark| has(head, mark)).count() {
        3.. => Resemblance::Is { marks: 3 },
        2 => Resemblance::Near { marks: 2, missing: "table with the column `I/O per s`" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Text {
    /// What each span was asked for, in order.
    plans: Vec<Vec<Target>>,
    /// The same as the command says, for texts that give nothing else.
    command: Vec<Target>,
    span: Option<Span>,
    table: Table,
    /// Threads that the first table has rows of.
    seen: BTreeSet<u32>,
    /// The last line with text.
    above: String,
    found: usize,
}

/// The table that lines are in.
#[derive(Default)]
enum Table {
    #[default]
    None,
    /// Of both directions, reads or writes: names of its columns, once they came.
    Rates(usize, Vec<String>),
    Percentiles,
}

impl LineFormat for Text {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if text.is_empty() {
            return Ok(());
        }
        if let Some(command) = text.strip_prefix("Command Line:") {
            self.flush(out);
            self.plans.clear();
            self.command = commanded(command);
        } else if let Some(rest) = text.strip_prefix("Results for timespan") {
            self.flush(out);
            self.span = Some(Span { number: words::number(rest).unwrap_or(1.0) as usize, ..Span::default() });
        } else if self.span.is_some() {
            self.result(text, number, out);
        } else if let Some((name, value)) = text.split_once(':') {
            self.asked(name, value);
        } else {
            self.addressed(text);
        }
        text.clone_into(&mut self.above);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let is_cut = self.span.as_ref().is_some_and(|span| span.got.iter().any(Option::is_none));
        self.flush(out);
        if self.found == 0 {
            return Err(without_results(KIND, "no table of it has a line of totals: was it saved completely?"));
        }
        if is_cut {
            out.caution(None, "it ends before its last table: save the whole text");
            out.part("tables", Fate::Broken);
        }
        Ok(())
    }
}

impl Text {
    /// A line of `Input parameters`.
    fn asked(&mut self, name: &str, value: &str) {
        let name = name.trim();
        if name == "timespan" {
            if self.plans.len() < MOST_TARGETS {
                self.plans.push(Vec::new());
            }
        } else if name == "path"
            && let Some(plan) = self.plans.last_mut().filter(|plan| plan.len() < MOST_TARGETS)
        {
            let path = value.trim().trim_matches('\'').to_owned();
            plan.push(Target { path, ..Target::default() });
        }
        let Some(target) = self.plans.last_mut().and_then(|plan| plan.last_mut()) else { return };
        match name {
            "block size" => target.block_bytes = words::size(value),
            "threads per file" => target.threads = words::number(value),
            name if name.starts_with("number of outstanding I/O operations") => {
                target.outstanding = words::number(value);
            }
            _ => self.addressed(name),
        }
    }

    /// `using random I/O (alignment: 8192)`, `using sequential I/O (stride: 65536)`
    fn addressed(&mut self, text: &str) {
        let Some(target) = self.plans.last_mut().and_then(|plan| plan.last_mut()) else { return };
        if let Some(rest) = text.strip_prefix("using ").filter(|rest| rest.contains("I/O (")) {
            target.sequential = match (rest.contains("random"), rest.contains("sequential")) {
                (true, false) => Some(false),
                (false, true) => Some(true),
                _ => None,
            };
        }
    }

    fn result(&mut self, text: &str, number: u64, out: &mut Builder) {
        let Some(span) = &mut self.span else { return };
        if let Some(time) = text.strip_prefix("actual test time:") {
            span.seconds = words::seconds(time, 1.0).filter(|seconds| *seconds > 0.0);
        } else if let Some(count) = text.strip_prefix("thread count:") {
            span.threads = words::number(count);
        } else if let Some(direction) = ["Total IO", "Read IO", "Write IO"].iter().position(|name| *name == text) {
            self.table = Table::Rates(direction, Vec::new());
        } else if text.starts_with("%-ile") {
            // Of each target there may be such a table as well: that of all of them says so.
            let is_total = self.above.to_ascii_lowercase().starts_with("total");
            self.table = if is_total { Table::Percentiles } else { Table::None };
        } else if text.contains('|') {
            let cells: Vec<&str> = text.split('|').map(str::trim).collect();
            match &mut self.table {
                Table::Rates(_, columns) if cells[0] == "thread" => {
                    *columns = cells.iter().map(|&cell| cell.to_owned()).collect();
                }
                Table::Rates(0, _) if self.seen.len() < MOST_TARGETS => self.seen.extend(cells[0].parse::<u32>()),
                Table::Percentiles => percentile(&mut span.got, &cells),
                _ => {}
            }
        }
        self.total(text, number, out);
    }

    /// `total:  24952832 |  6092 |  4.75 |  1215.24 |  6.531 |  396.90 |  13.584`
    fn total(&mut self, text: &str, number: u64, out: &mut Builder) {
        let (Table::Rates(direction, columns), Some(span)) = (&self.table, &mut self.span) else { return };
        let Some(rest) = text.strip_prefix("total:").filter(|rest| rest.contains('|')) else { return };
        // The name stands in the first column, and shares it with the bytes.
        let cells: Vec<&str> = rest.split('|').collect();
        let cell = |name: &str| {
            let column = columns.iter().position(|column| column == name)?.checked_sub(1)?;
            words::number(cells.get(column)?)
        };
        let (Some(bytes), Some(operations)) = (cell("bytes"), cell("I/Os")) else {
            let origin = out.origin(number, "", "total");
            return out.caution(Some(origin), "totals without bytes and operations: left out");
        };
        span.got[*direction] = Some(Got {
            bytes,
            operations,
            iops: cell("I/O per s"),
            mean_s: cell("AvgLat").map(|milliseconds| milliseconds * 1e-3),
            quantiles: Vec::new(),
            line: number,
        });
    }

    fn flush(&mut self, out: &mut Builder) {
        self.table = Table::None;
        let seen = std::mem::take(&mut self.seen).len();
        let Some(span) = self.span.take() else { return };
        if let Some(threads) = span.threads.filter(|threads| seen > 0 && *threads > seen as f64) {
            let text = format!("rows of {seen} of so many threads as {threads}: its totals may lack the others");
            out.caution(None, text);
        }
        let plan = span.number.checked_sub(1).and_then(|index| self.plans.get(index));
        let targets = plan.filter(|plan| !plan.is_empty()).unwrap_or(&self.command);
        self.found += span.put(targets, out);
    }
}

/// `3-nines |  1.608 |  8.378 |  7.432`: reads, writes, all; milliseconds.
fn percentile(got: &mut [Option<Got>; 3], cells: &[&str]) {
    let share = match cells[0] {
        "min" => 0.0,
        "max" => 1.0,
        name => match (words::number(name), name.ends_with("-nines")) {
            (Some(nines), true) if (1.0..=12.0).contains(&nines) => 1.0 - 0.1_f64.powf(nines),
            (Some(percent), false) if percent <= 100.0 => percent / 100.0,
            _ => return,
        },
    };
    for (column, direction) in [(1, 1), (2, 2), (3, 0)] {
        let seconds = cells.get(column).and_then(|cell| words::number(cell)).map(|milliseconds| milliseconds * 1e-3);
        if let (Some(seconds), Some(got)) = (seconds, &mut got[direction]) {
            got.quantiles.push((share, seconds));
        }
    }
}

/// What the command asks of each of its files, with the program's own defaults for what it leaves out.
fn commanded(command: &str) -> Vec<Target> {
    let mut asked = Target {
        path: String::new(),
        block_bytes: Some(65_536.0),
        outstanding: Some(2.0),
        threads: Some(1.0),
        sequential: Some(true),
    };
    let mut paths: Vec<&str> = Vec::new();
    for word in command.split_whitespace().skip(1) {
        let Some(flag) = word.strip_prefix(['-', '/']) else {
            paths.push(word);
            continue;
        };
        let (name, value) = flag.split_at(flag.chars().next().map_or(0, char::len_utf8));
        match name {
            // What a profile asks is not in the command.
            "X" => return Vec::new(),
            "b" => asked.block_bytes = words::size(value),
            "o" => asked.outstanding = words::number(value),
            "t" => asked.threads = words::number(value),
            "F" => asked.threads = None,
            // A part of random ones is neither.
            "r" if value.starts_with('s') => asked.sequential = None,
            "r" => asked.sequential = Some(false),
            _ => {}
        }
    }
    paths.iter().take(MOST_TARGETS).map(|&path| Target { path: path.to_owned(), ..asked.clone() }).collect()
}
