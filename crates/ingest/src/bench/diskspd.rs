//! diskspd as text and as XML: a result for each time span, and its two directions if mixed.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use plimsoll_language::label;

use super::{doubts, part};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, Offering, Origin, ReadingEvidence, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;

/// The parameters of a file or disk.
#[derive(Clone, Debug, Default, PartialEq)]
struct DiskSpdTarget {
    path: String,
    block_bytes: Option<f64>,
    /// Operations in flight per thread.
    outstanding: Option<f64>,
    /// Threads of its own; none if all threads share the files.
    threads: Option<f64>,
    sequential: Option<bool>,
    /// The software cache is disabled.
    direct: Option<bool>,
}

/// The result of a direction, or of both.
#[derive(Clone, Debug, Default, PartialEq)]
struct Got {
    bytes: f64,
    operations: f64,
    iops: Option<f64>,
    mean_s: Option<f64>,
    quantiles: Vec<(f64, f64)>,
    line: u64,
}

/// A time span with its results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Span {
    number: usize,
    seconds: Option<f64>,
    threads: Option<f64>,
    /// Of both directions, reads, and writes.
    got: [Option<Got>; 3],
}

impl Span {
    /// Emits the results.
    fn put(self, targets: &[DiskSpdTarget], out: &mut Builder) {
        let [total, reads, writes] = &self.got;
        let total_operations = total.as_ref().map(|got| got.operations).filter(|operations| *operations > 0.0);
        let share = reads.as_ref().zip(total_operations).map(|(reads, total)| reads.operations / total);
        let setting = Setting { reads: share, ..find_common(targets, self.threads) };
        let mut paths: Vec<&str> = targets.iter().map(|target| target.path.as_str()).collect();
        paths.dedup();
        let scope = part(out, &paths.join(" "));
        let direct = targets.iter().map(|target| target.direct).reduce(|all, one| if all == one { all } else { None });
        let direct = direct.flatten();
        let is_mixed = share.is_some_and(|share| share > 0.0 && share < 1.0);
        let name = format!("span {}", self.number);
        let mut results = vec![(name.clone(), total, share)];
        if is_mixed {
            results.push((format!("{name}, its reads"), reads, Some(1.0)));
            results.push((format!("{name}, its writes"), writes, Some(0.0)));
        }
        for (name, got, share) in results {
            let Some(got) = got.as_ref().filter(|got| got.operations > 0.0) else { continue };
            let origin = Origin { line: got.line, ..out.origin(got.line, &name, "") };
            let size = got.bytes / got.operations;
            let iops = got.iops.or(self.seconds.map(|seconds| got.operations / seconds));
            out.evidence(ReadingEvidence {
                setting: Setting { reads: share, ..setting.clone() },
                offering: Offering { direct, ..Offering::default() },
                findings: doubts(direct, self.seconds),
                iops,
                bytes_s: iops.map(|iops| iops * size),
                mean_s: got.mean_s.filter(|seconds| *seconds > 0.0),
                quantiles: got.quantiles.clone(),
                lasted_s: self.seconds,
                ..ReadingEvidence::new(scope, name, origin)
            });
        }
    }
}

/// The common parameters of all targets; differing ones are absent.
fn find_common(targets: &[DiskSpdTarget], threads: Option<f64>) -> Setting {
    fn same<T: PartialEq + Copy>(targets: &[DiskSpdTarget], of: impl Fn(&DiskSpdTarget) -> Option<T>) -> Option<T> {
        let first = of(targets.first()?)?;
        targets.iter().all(|target| of(target) == Some(first)).then_some(first)
    }
    let depths: Option<Vec<f64>> =
        targets.iter().map(|target| Some(target.outstanding? * target.threads.or(threads)?)).collect();
    Setting {
        reads: None,
        sequential: same(targets, |target| target.sequential),
        block_bytes: same(targets, |target| target.block_bytes),
        depth: depths.filter(|depths| !depths.is_empty()).map(|depths| depths.iter().sum()),
        threads,
    }
}

const MAX_TARGETS: usize = 10_000;

/// diskspd's text.
pub(crate) const TEXT_FORM: Form =
    Form::lines("diskspd-text", "diskspd (text)", is_text, |_| Box::new(DiskSpdText::default()));

fn is_text(head: &Head<'_>) -> Resemblance {
    let marks = ["actual test time:", "I/O per s", "Results for timespan", "thread |", "diskspd"];
    let count = head.count(&marks);
    Resemblance::is(3, count > 2).or_near(2, count == 2, "table with the column `I/O per s`")
}

#[derive(Default)]
struct DiskSpdText {
    /// The parameters of each span, in order.
    plans: Vec<Vec<DiskSpdTarget>>,
    /// The parameters from the command, for texts without others.
    command: Vec<DiskSpdTarget>,
    span: Option<Span>,
    table: DiskSpdTable,
    /// Threads with rows in the first table.
    observed: BTreeSet<u32>,
    /// The last non-empty line.
    above: String,
}

#[derive(Default)]
enum DiskSpdTable {
    #[default]
    None,
    /// Of both directions, reads or writes: its column names, once known.
    Rates(usize, Vec<String>),
    Percentiles,
}

impl LineFormat for DiskSpdText {
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
            self.span = Some(Span { number: text::parse_number(rest).unwrap_or(1.0) as usize, ..Span::default() });
        } else if self.span.is_some() {
            self.result(text, number, out);
        } else if let Some((name, value)) = text.split_once(':') {
            self.parameter(name, value);
        } else {
            self.addressed(text);
        }
        text.clone_into(&mut self.above);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let is_cut = self.span.as_ref().is_some_and(|span| span.got.iter().any(Option::is_none));
        self.flush(out);
        out.require_results(InputFault::Incomplete { lacks: label!("line of totals") })?;
        if is_cut {
            out.caution(None, Doubt::EndsWithin { item: label!("its tables").to_owned() });
            out.part("tables", Fate::Broken);
        }
        Ok(())
    }
}

impl DiskSpdText {
    /// Reads a line of `Input parameters`.
    fn parameter(&mut self, name: &str, value: &str) {
        let name = name.trim();
        if name == "timespan" {
            if self.plans.len() < MAX_TARGETS {
                self.plans.push(Vec::new());
            }
        } else if name == "path"
            && let Some(plan) = self.plans.last_mut().filter(|plan| plan.len() < MAX_TARGETS)
        {
            let path = value.trim().trim_matches('\'').to_owned();
            let direct = self.command.first().and_then(|target| target.direct);
            plan.push(DiskSpdTarget { path, direct, ..DiskSpdTarget::default() });
        }
        let Some(target) = self.plans.last_mut().and_then(|plan| plan.last_mut()) else { return };
        match name {
            "block size" => target.block_bytes = text::size(value),
            "threads per file" => target.threads = text::parse_number(value),
            name if name.starts_with("number of outstanding I/O operations") => {
                target.outstanding = text::parse_number(value);
            }
            _ => self.addressed(name),
        }
    }

    /// `using random I/O (alignment: 8192)`, `using sequential I/O (stride: 65536)`
    fn addressed(&mut self, text: &str) {
        let Some(target) = self.plans.last_mut().and_then(|plan| plan.last_mut()) else { return };
        if text.starts_with("software cache disabled") {
            target.direct = Some(true);
        } else if text.starts_with("using software cache") || text.starts_with("using software and hardware") {
            target.direct = Some(false);
        }
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
            span.seconds = text::parse_seconds(time, 1.0).filter(|seconds| *seconds > 0.0);
        } else if let Some(count) = text.strip_prefix("thread count:") {
            span.threads = text::parse_number(count);
        } else if let Some(direction) = ["Total IO", "Read IO", "Write IO"].iter().position(|name| *name == text) {
            self.table = DiskSpdTable::Rates(direction, Vec::new());
        } else if text.starts_with("%-ile") {
            // Targets may have equal tables: only the heading of the total differs.
            let is_total = self.above.to_ascii_lowercase().starts_with("total");
            self.table = if is_total { DiskSpdTable::Percentiles } else { DiskSpdTable::None };
        } else if text.contains('|') {
            let cells: Vec<&str> = text.split('|').map(str::trim).collect();
            match &mut self.table {
                DiskSpdTable::Rates(_, columns) if cells[0] == "thread" => {
                    *columns = cells.iter().map(|&cell| cell.to_owned()).collect();
                }
                DiskSpdTable::Rates(0, _) if self.observed.len() < MAX_TARGETS => {
                    self.observed.extend(cells[0].parse::<u32>());
                }
                DiskSpdTable::Percentiles => percentile(&mut span.got, &cells),
                _ => {}
            }
        }
        self.total(text, number, out);
    }

    /// `total:  24952832 |  6092 |  4.75 |  1215.24 |  6.531 |  396.90 |  13.584`
    fn total(&mut self, text: &str, number: u64, out: &mut Builder) {
        let (DiskSpdTable::Rates(direction, columns), Some(span)) = (&self.table, &mut self.span) else { return };
        let Some(rest) = text.strip_prefix("total:").filter(|rest| rest.contains('|')) else { return };
        // The name shares the first column with the bytes.
        let cells: Vec<&str> = rest.split('|').collect();
        let cell = |name: &str| {
            let column = columns.iter().position(|column| column == name)?.checked_sub(1)?;
            text::parse_number(cells.get(column)?)
        };
        let (Some(bytes), Some(operations)) = (cell("bytes"), cell("I/Os")) else {
            let origin = out.origin(number, "", "total");
            return out.caution(Some(origin), Doubt::lacking("totals", "bytes and operations"));
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
        self.table = DiskSpdTable::None;
        let observed = std::mem::take(&mut self.observed).len();
        let Some(span) = self.span.take() else { return };
        if let Some(threads) = span.threads.filter(|threads| observed > 0 && *threads > observed as f64) {
            out.caution(None, Doubt::ThreadsMissing { observed, threads });
        }
        let plan = span.number.checked_sub(1).and_then(|index| self.plans.get(index));
        let targets = plan.filter(|plan| !plan.is_empty()).unwrap_or(&self.command);
        span.put(targets, out);
    }
}

/// `3-nines |  1.608 |  8.378 |  7.432`: reads, writes, all; milliseconds.
fn percentile(got: &mut [Option<Got>; 3], cells: &[&str]) {
    let share = match cells[0] {
        "min" => 0.0,
        "max" => 1.0,
        name => match (text::parse_number(name), name.ends_with("-nines")) {
            (Some(nines), true) if (1.0..=12.0).contains(&nines) => 1.0 - 0.1_f64.powf(nines),
            (Some(percent), false) if percent <= 100.0 => percent / 100.0,
            _ => return,
        },
    };
    for (column, direction) in [(1, 1), (2, 2), (3, 0)] {
        let seconds =
            cells.get(column).and_then(|cell| text::parse_number(cell)).map(|milliseconds| milliseconds * 1e-3);
        if let (Some(seconds), Some(got)) = (seconds, &mut got[direction]) {
            got.quantiles.push((share, seconds));
        }
    }
}

/// The parameters of each file from the command, with the program's defaults.
fn commanded(command: &str) -> Vec<DiskSpdTarget> {
    let mut target = DiskSpdTarget {
        path: String::new(),
        block_bytes: Some(65_536.0),
        outstanding: Some(2.0),
        threads: Some(1.0),
        sequential: Some(true),
        direct: Some(false),
    };
    let mut paths: Vec<&str> = Vec::new();
    for word in command.split_whitespace().skip(1) {
        let Some(flag) = word.strip_prefix(['-', '/']) else {
            paths.push(word);
            continue;
        };
        let (name, value) = flag.split_at(flag.chars().next().map_or(0, char::len_utf8));
        match name {
            // Parameters of a profile are not in the command.
            "X" => return Vec::new(),
            "b" => target.block_bytes = text::size(value),
            "o" => target.outstanding = text::parse_number(value),
            "t" => target.threads = text::parse_number(value),
            "F" => target.threads = None,
            // A mix of random and sequential is neither.
            "r" if value.starts_with('s') => target.sequential = None,
            "r" => target.sequential = Some(false),
            "h" => target.direct = Some(true),
            // `-Sw` and others leave the software cache enabled.
            "S" if value.is_empty() || value.contains(['u', 'h']) => target.direct = Some(true),
            _ => {}
        }
    }
    paths.iter().take(MAX_TARGETS).map(|&path| DiskSpdTarget { path: path.to_owned(), ..target.clone() }).collect()
}

/// diskspd's XML.
pub(crate) const XML_FORM: Form = Form::document("diskspd-xml", "diskspd (XML)", is_xml, read_xml);

fn is_xml(head: &Head<'_>) -> Resemblance {
    let marks = ["<Results>", "<TimeSpan>", "<Profile>", "<ResultFormat>xml", "<TestTimeSeconds>"];
    let count = head.count(&marks);
    Resemblance::is(3, count > 2).or_near(2, count == 2, "element TimeSpan with TestTimeSeconds")
}

fn read_xml(_: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let text = String::from_utf8_lossy(document);
    let document = Document::parse(text.trim_start())
        .map_err(|error| out.unusable(InputFault::InvalidXml { error: error.to_string() }))?;
    let results = document.root_element();
    if let Some(version) = descend(results, &["System", "Tool", "Version"]).and_then(|node| node.text()) {
        out.version(version);
    }
    let plans: Vec<Vec<DiskSpdTarget>> = descend(results, &["Profile", "TimeSpans"])
        .map(|spans| children(spans, "TimeSpan").map(read_targets).collect())
        .unwrap_or_default();
    for (index, span) in children(results, "TimeSpan").enumerate() {
        let targets = plans.get(index).map_or(&[][..], Vec::as_slice);
        span_of(span, index + 1, &document).put(targets, out);
    }
    out.require_results(InputFault::Unfinished { lacks: label!("time span with an operation") })
}

fn children<'a, 'd>(node: Node<'a, 'd>, name: &'static str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn descend<'a, 'd>(node: Node<'a, 'd>, path: &[&'static str]) -> Option<Node<'a, 'd>> {
    path.iter().try_fold(node, |node, name| children(node, name).next())
}

fn node_number(node: Node<'_, '_>, name: &'static str) -> Option<f64> {
    children(node, name).next()?.text().and_then(text::parse_number)
}

/// The parameters of a span of the profile.
fn read_targets(span: Node<'_, '_>) -> Vec<DiskSpdTarget> {
    let shared = node_number(span, "ThreadCount").is_some_and(|count| count > 0.0);
    let Some(list) = children(span, "Targets").next() else { return Vec::new() };
    let of = |target: Node<'_, '_>| {
        let text = |name| children(target, name).next().and_then(|node| node.text()).unwrap_or_default();
        // Newer versions have the share of random operations in addition to their alignment.
        let sequential = match node_number(target, "RandomRatio") {
            Some(percent) if percent > 0.0 && percent < 100.0 => None,
            Some(percent) => Some(percent <= 0.0),
            None => Some(node_number(target, "Random").is_none()),
        };
        DiskSpdTarget {
            path: text("Path").to_owned(),
            block_bytes: node_number(target, "BlockSize"),
            outstanding: node_number(target, "RequestCount"),
            threads: node_number(target, "ThreadsPerFile").filter(|_| !shared),
            sequential,
            direct: Some(["DisableOSCache", "DisableAllCache"].into_iter().any(|name| text(name) == "true")),
        }
    };
    children(list, "Target").map(of).collect()
}

fn span_of(span: Node<'_, '_>, index: usize, document: &Document<'_>) -> Span {
    let line = u64::from(document.text_pos_at(span.range().start).row);
    let latency = children(span, "Latency").next();
    let direction = |counts: &[&'static str], bytes: &[&'static str], mean: &'static str, quantile: &'static str| {
        let mut got = Got { line, ..Got::default() };
        for target in children(span, "Thread").flat_map(|thread| children(thread, "Target")) {
            got.operations += counts.iter().filter_map(|name| node_number(target, name)).sum::<f64>();
            got.bytes += bytes.iter().filter_map(|name| node_number(target, name)).sum::<f64>();
        }
        if let Some(latency) = latency {
            got.mean_s = node_number(latency, mean).map(|milliseconds| milliseconds * 1e-3);
            got.quantiles = children(latency, "Bucket")
                .filter_map(|bucket| {
                    Some((node_number(bucket, "Percentile")? / 100.0, node_number(bucket, quantile)? * 1e-3))
                })
                .filter(|(share, _)| (0.0..=1.0).contains(share))
                .collect();
        }
        Some(got)
    };
    let got = [
        direction(
            &["ReadCount", "WriteCount"],
            &["ReadBytes", "WriteBytes"],
            "AverageTotalMilliseconds",
            "TotalMilliseconds",
        ),
        direction(&["ReadCount"], &["ReadBytes"], "AverageReadMilliseconds", "ReadMilliseconds"),
        direction(&["WriteCount"], &["WriteBytes"], "AverageWriteMilliseconds", "WriteMilliseconds"),
    ];
    Span {
        number: index,
        seconds: node_number(span, "TestTimeSeconds").filter(|seconds| *seconds > 0.0),
        threads: node_number(span, "ThreadCount"),
        got,
    }
}
