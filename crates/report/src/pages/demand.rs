//! Demand: recognised inputs, load by class and over time, and the origin of each number.

use std::cmp::Reverse;
use std::mem::discriminant;

use plimsoll_choose::sizing::{DesignError, find_refusal};
use plimsoll_ingest::{
    Class, DatabaseDemand, Demand, Fate, Figure, Measure, MissCurve, Outcome, OutcomeSummary, Reading, ReadingEvidence,
    Summary,
};
use plimsoll_language::{label, say};
use plimsoll_record::{Finding, Weight};
use plimsoll_units::Bytes;

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Exhibit, Fact, Headline, Item, Page, PageSection, Table};
use crate::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemandDetail {
    Figures,
    /// The demand and the origin of every number.
    Origins,
}

/// Maximum number of windows in a table over time.
const WINDOWS_MAX: usize = 48;
/// Maximum number of benchmark results in a table.
const RESULTS_MAX: usize = 60;

/// The inputs and their demand.
pub fn demand(outcomes: &[Outcome], demand: &Demand, detail: DemandDetail) -> Page {
    let readings = || outcomes.iter().filter_map(Outcome::reading);
    let mut sections = vec![PageSection::bare(label!("Inputs"), vec![Block::Table(inputs(outcomes))])];
    sections.extend(demand.subjects.iter().flat_map(subject));
    for reading in readings() {
        sections.push(PageSection::bare(say!("Benchmarks: {}", file_name(&reading.name)), list_evidence(reading)));
        sections.extend(reading.curves.iter().map(miss_curve));
    }
    if detail == DemandDetail::Origins {
        sections.extend(readings().map(origins));
    }
    sections.push(PageSection::bare(label!("Doubts"), vec![Block::Facts(doubts(outcomes))]));
    let busiest = find_busiest(&demand.subjects);
    Page {
        title: label!("Demand of storage").to_owned(),
        headline: busiest.as_ref().map(|busiest| Headline::of(headline(busiest, demand.subjects.len()))),
        exhibit: busiest
            .map_or(Exhibit::OfSections, |busiest| Exhibit::Block(Block::Table(tabulate_classes(busiest.subject)))),
        sections,
        ..Page::default()
    }
}

/// The load of a window, where known.
struct WindowLoad<'a> {
    subject: &'a DatabaseDemand,
    index: usize,
    iops: SplitRate,
    bytes: SplitRate,
}

/// A rate of reads and writes.
#[derive(Clone, Copy)]
struct SplitRate {
    reads: Option<f64>,
    writes: Option<f64>,
    /// Both together, where only this is known.
    together: Option<f64>,
}

impl SplitRate {
    fn sum(self) -> Option<f64> {
        let parts = self.reads.zip(self.writes).map(|(reads, writes)| reads + writes);
        parts.or(self.together).or(self.reads).or(self.writes)
    }
}

impl<'a> WindowLoad<'a> {
    fn of(subject: &'a DatabaseDemand, index: usize) -> Self {
        let value = |class, measure| subject.series(class, measure)?.values.get(index).copied()?;
        // The parts, where the inputs have no total.
        let sum = |total, parts: &[Class], measure| {
            let parts = || parts.iter().filter_map(|class| value(*class, measure)).reduce(|a, b| a + b);
            value(total, measure).or_else(parts)
        };
        let reads = [Class::RandomRead, Class::SequentialRead, Class::TempRead, Class::BackupRead];
        let writes = [Class::DataWrite, Class::RedoWrite, Class::TempWrite];
        let rate = |measure| SplitRate {
            reads: sum(Class::Read, &reads, measure),
            writes: sum(Class::Write, &writes, measure),
            together: value(Class::All, measure),
        };
        Self { subject, index, iops: rate(Measure::Iops), bytes: rate(Measure::Throughput) }
    }

    /// Operations, then bytes.
    fn order(&self) -> [f64; 2] {
        [self.iops, self.bytes].map(|rate| rate.sum().unwrap_or(0.0))
    }
}

/// The window with the most operations of all subjects; `None` if no window has operations or bytes.
fn find_busiest(subjects: &[DatabaseDemand]) -> Option<WindowLoad<'_>> {
    let loads =
        subjects.iter().flat_map(|subject| (0..subject.slots.len()).map(|index| WindowLoad::of(subject, index)));
    let order = |a: &WindowLoad<'_>, b: &WindowLoad<'_>| {
        let ([a, a_bytes], [b, b_bytes]) = (a.order(), b.order());
        a.total_cmp(&b).then(a_bytes.total_cmp(&b_bytes))
    };
    loads.filter(|load| load.iops.sum().or(load.bytes.sum()).is_some()).max_by(order)
}

/// `Demand of ORCL: 6,000 IOPS, 98 % reads, 50.3 MB/s in the busiest of 8 windows (60 min from 2026-03-02 10:00)`.
fn headline(load: &WindowLoad<'_>, subjects: usize) -> String {
    let WindowLoad { subject: database, index, iops, bytes } = load;
    let of = match (database.name.as_str(), subjects) {
        ("", _) => String::new(),
        (name, 1) => say!(" of {name}"),
        (name, all) => say!(" of {name}, the busiest of {all}"),
    };
    let operations = match *iops {
        SplitRate { reads: Some(reads), writes: Some(writes), .. } if reads + writes > 0.0 => {
            let share = (reads / (reads + writes) * 100.0).round();
            say!("{} IOPS, {} % reads", number::three(reads + writes), number::three(share))
        }
        SplitRate { together: Some(all), .. } => format!("{} IOPS", number::three(all)),
        SplitRate { reads: Some(reads), writes: None, .. } => {
            say!("{} reads a second, writes unknown", number::three(reads))
        }
        SplitRate { reads: None, writes: Some(writes), .. } => {
            say!("{} writes a second, reads unknown", number::three(writes))
        }
        SplitRate { reads: Some(_), .. } => label!("no operations").to_owned(),
        SplitRate { .. } => label!("operations unknown").to_owned(),
    };
    let part = match *bytes {
        SplitRate { reads: Some(_), writes: None, together: None } => label!(" of reads"),
        SplitRate { reads: None, writes: Some(_), together: None } => label!(" of writes"),
        SplitRate { .. } => "",
    };
    let throughput = bytes
        .sum()
        .map_or(label!("bytes unknown").to_owned(), |bytes| format!("{} MB/s{part}", number::three(bytes / 1e6)));
    let slot = &database.slots[*index];
    let begin = slot.begin.map_or(String::new(), |begin| say!(" from {begin}").replace('T', " "));
    let length = minutes(slot.length.as_secs_f64());
    let count: u32 = database.slots.iter().map(|slot| slot.windows).sum();
    let window = if count > 1 {
        say!("in the busiest of {} windows ({length}{begin})", number::integer(f64::from(count)))
    } else {
        say!("on average over {length}{begin}")
    };
    let cached = database.cached_read_s(*index).map_or_else(String::new, |seconds| {
        say!("; part of the reads never reached storage ({} ms on average)", number::three(seconds * 1e3))
    });
    if matches!(find_refusal(database), Some(DesignError::Stalled { .. })) {
        return say!(
            "Measured rates{of} while storage stalls, not the demand: {operations}, {throughput} {window}{cached}"
        );
    }
    say!("Demand{of}: {operations}, {throughput} {window}{cached}")
}

/// The recognised format of each input.
pub(crate) fn inputs(outcomes: &[Outcome]) -> Table {
    let verdict = |outcome: &Outcome| match outcome.verdict() {
        OutcomeSummary::Read => label!("read in full"),
        OutcomeSummary::Partly => label!("read in part"),
        OutcomeSummary::Refused => label!("refused"),
    };
    Table::rows(label!("Inputs"), outcomes)
        .column(Column::text(label!("input"), 0), |outcome| file_name(outcome.name()))
        .column(Column::text(label!("is"), 0), |outcome| {
            let kind = outcome.kind().map_or(label!("not known").to_owned(), |kind| kind.to_string());
            let version = outcome.reading().and_then(|reading| reading.version.as_ref());
            version.map_or(kind.clone(), |version| format!("{kind} {version}"))
        })
        .column(Column::text(label!("was"), 0), |outcome| verdict(outcome))
        .column(Column::new(label!("figures"), "", ColumnKind::Share, 2), |outcome| {
            let count = outcome.reading()?.figures.len() as f64;
            Some(Cell::figure(number::integer(count), count))
        })
        .table()
        .with_notes(describe_ignored(outcomes).into_iter().chain(times(outcomes)))
}

/// The last part of a path.
pub(crate) fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The time zones of dated inputs.
fn times(outcomes: &[Outcome]) -> Option<String> {
    let readings = || outcomes.iter().filter_map(Outcome::reading);
    let dated = readings().flat_map(|reading| &reading.windows).any(|window| window.begin.is_some());
    let mut zones: Vec<&str> = readings().filter_map(|reading| reading.assumed_zone.as_deref()).collect();
    zones.sort_unstable();
    zones.dedup();
    match zones.as_slice() {
        _ if !dated => None,
        [] => Some(label!("Times are in UTC.").to_owned()),
        zones => Some(say!(
            "Times are in UTC. Times without an offset are taken as {} (--time-zone sets another zone).",
            zones.join(label!(", "))
        )),
    }
}

fn describe_ignored(outcomes: &[Outcome]) -> Option<String> {
    let parts = |fate: Fate| {
        let parts = outcomes.iter().filter_map(Outcome::reading).flat_map(|reading| &reading.parts);
        let mut names: Vec<&str> = parts.filter(|part| part.fate == fate).map(|part| part.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let (ignored, missing) = (parts(Fate::Ignored).len(), parts(Fate::Missing));
    let mut text = String::new();
    if ignored > 0 {
        text = say!("{ignored} kinds of sections without storage figures were ignored. ");
    }
    if !missing.is_empty() {
        text += &say!("Missing in some inputs: {}.", missing.join(label!(", ")));
    }
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

fn minutes(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{} s", number::three(seconds))
    } else {
        format!("{} min", number::three(seconds / 60.0))
    }
}

/// The load of a database or host.
fn subject(subject: &DatabaseDemand) -> [PageSection; 3] {
    let name = if subject.name.is_empty() { label!("Demand") } else { subject.name.as_str() };
    let refusal = find_refusal(subject).map(|error| {
        Fact::caution(label!("note"), say!("plimsoll size refuses this load: {}", words::clean(&error.to_string())))
    });
    let of_combination = subject.doubts.iter().map(|doubt| Fact::caution(label!("note"), doubt.to_string()));
    let notes = refusal.into_iter().chain(of_combination);
    [
        PageSection::new(name, vec![Block::Facts(windows(subject))]),
        PageSection::bare(say!("{name} by class"), vec![Block::Table(tabulate_classes(subject))]),
        PageSection::bare(
            say!("{name} over time"),
            vec![Block::Table(over_time(subject)), Block::Facts(notes.collect())],
        ),
    ]
}

fn windows(subject: &DatabaseDemand) -> Vec<Fact> {
    // Joined windows hide no peaks: their own windows count.
    let lengths: Vec<f64> = subject.slots.iter().map(|slot| slot.resolution.as_secs_f64()).collect();
    let count: usize = subject.slots.iter().map(|slot| slot.windows as usize).sum();
    let (least, max) = lengths.iter().fold((f64::MAX, 0.0_f64), |(a, b), &s| (a.min(s), b.max(s)));
    let each = if max > least * 1.02 { say!("{} to {}", minutes(least), minutes(max)) } else { minutes(max) };
    let begin = subject.slots.iter().find_map(|slot| slot.begin);
    let from = begin.map_or(String::new(), |begin| say!(", from {begin}").replace('T', " "));
    let several = if count > lengths.len() {
        let (count, joined) = (number::integer(count as f64), number::integer(lengths.len() as f64));
        say!("{count} windows of {each}{from}; quiet neighbours are joined: {joined} windows")
    } else if count > 1 {
        say!("{count} windows of {each}{from}")
    } else {
        say!("1 window of {each}{from}")
    };
    let hidden = if max > 3_900.0 { label!("; averages hide shorter peaks") } else { "" };
    let mut facts = vec![Fact::new(label!("over"), format!("{several}{hidden}"))];
    if !subject.instances.is_empty() {
        facts.push(Fact::new(label!("of"), subject.instances.join(label!(", "))));
    }
    facts.extend(absent(subject));
    facts
}

/// The classes whose operations are unknown.
fn absent(subject: &DatabaseDemand) -> Option<Fact> {
    let name = |class: &Class| match subject.series(*class, Measure::Throughput) {
        Some(_) => say!("operations of {} (their bytes are known)", class.label()),
        None => class.label().to_owned(),
    };
    let names: Vec<String> = subject.absent().iter().map(name).collect();
    (!names.is_empty())
        .then(|| Fact::caution(label!("absent"), say!("{}: unknown, not zero", names.join(label!(" and ")))))
}

pub(crate) fn tabulate_classes(subject: &DatabaseDemand) -> Table {
    let of = |class, measure| subject.series(class, measure).and_then(|series| subject.summary(series));
    let mean = |class, measure, unit: f64| of(class, measure).map(|summary| Cell::three(summary.mean / unit));
    let has_figures = |class: &Class| {
        let measures = [Measure::Iops, Measure::Throughput, Measure::Size, Measure::Latency];
        measures.into_iter().any(|measure| of(*class, measure).is_some())
    };
    let classes = Class::ALL.into_iter().filter(has_figures);
    let mut table =
        Table::rows(label!("Load by class"), classes).column(Column::text(label!("class"), 0), |class| class.label());
    let (rates, bytes) = ((Measure::Iops, 1.0), (Measure::Throughput, 1e6));
    if subject.slots.len() > 1 {
        type Statistic = fn(&Summary) -> f64;
        let statistics: [(&str, Statistic); 3] =
            [(label!("mean"), |of| of.mean), ("p95", |of| of.p95), (label!("highest"), |of| of.maximum)];
        for ((measure, unit), name, priorities) in [(rates, "IOPS", [0, 0, 0]), (bytes, "MB/s", [0, 2, 3])] {
            let columns = statistics.into_iter().zip(priorities);
            let columns = columns.map(|((part, value), priority)| (value, Column::rate(part, name, priority)));
            table = table.columns(columns, |class, value| {
                of(*class, measure).map(|summary| Cell::three(value(&summary) / unit))
            });
        }
    } else {
        let columns =
            [(rates, Column::rate(label!("rate"), "IOPS", 0)), (bytes, Column::rate(label!("bytes"), "MB/s", 0))];
        table = table.columns(columns, |class, (measure, unit)| mean(*class, measure, unit));
    }
    table
        .column(Column::new(label!("size"), "KiB", ColumnKind::Size, 1), |class| mean(*class, Measure::Size, 1024.0))
        .column(Column::time(label!("latency"), "ms", 0), |class| mean(*class, Measure::Latency, 1e-3))
        .table()
        .with_notes(overlap(subject))
}

/// Says that temporary reads are among the others as well, where the parts of the reads exceed the total.
fn overlap(subject: &DatabaseDemand) -> Option<String> {
    let rate = |class| {
        let series = subject.series(class, Measure::Iops)?;
        Some(subject.summary(series)?.mean)
    };
    let (all, temp) = (rate(Class::Read)?, rate(Class::TempRead)?);
    let others = [Class::RandomRead, Class::SequentialRead, Class::BackupRead].map(|class| rate(class).unwrap_or(0.0));
    let parts = temp + others.iter().sum::<f64>();
    (parts > all * 1.02).then(|| {
        say!(
            "Temporary reads are among the other reads, too: the parts are {} IOPS, the reads {}. size subtracts them.",
            number::three(parts),
            number::three(all)
        )
    })
}

fn over_time(subject: &DatabaseDemand) -> Table {
    let count = if subject.slots.len() < 2 { 0 } else { subject.slots.len() };
    let columns = [(Measure::Iops, "IOPS"), (Measure::Throughput, "MB/s")].into_iter().flat_map(|(measure, unit)| {
        [(Class::Read, label!("reads")), (Class::Write, label!("writes"))]
            .map(|(class, name)| ((class, measure), Column::rate(name, unit, 0)))
    });
    let more = (count > WINDOWS_MAX).then(|| say!("The first {WINDOWS_MAX} of {count} windows; --json has all."));
    Table::rows(label!("Load over time"), 0..count.min(WINDOWS_MAX))
        .column(Column::text(label!("from"), 0), |index| {
            let begin = subject.slots[*index].begin;
            begin.map_or(label!("unknown").to_owned(), |begin| begin.to_string().replace('T', " "))
        })
        .column(Column::text(label!("for"), 1), |index| minutes(subject.slots[*index].length.as_secs_f64()))
        .columns(columns, |index, (class, measure)| {
            let unit = if measure == Measure::Iops { 1.0 } else { 1e6 };
            subject.series(class, measure)?.values[*index].map(|value| Cell::three(value / unit))
        })
        .table()
        .with_notes(more)
}

/// Benchmark results of an input. They are never part of the demand.
fn list_evidence(reading: &Reading) -> Vec<Block> {
    let total: Vec<&ReadingEvidence> = reading.evidence.iter().filter(|one| one.at_s.is_none()).collect();
    let moments = reading.evidence.len() - total.len();
    if reading.evidence.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![say!("Measured by {}: benchmark results, not part of the demand.", reading.kind)];
    if total.len() > RESULTS_MAX {
        notes.push(say!("The first {RESULTS_MAX} of {}: --json has all.", total.len()));
    }
    if moments > 0 {
        notes.push(say!("{} values over time are in --json.", number::integer(moments as f64)));
    }
    if total.iter().any(|one| one.transactions_s.is_some()) {
        notes.push(label!("Rates marked tx are transactions per second, with transaction response times.").to_owned());
    }
    vec![Block::Table(results(reading, total.into_iter().take(RESULTS_MAX)).with_notes(notes))]
}

fn results<'a>(reading: &Reading, evidence: impl Iterator<Item = &'a ReadingEvidence>) -> Table {
    let displayed = |value: Option<f64>, unit: f64| value.map(|value| Cell::three(value / unit));
    let evidence: Vec<&ReadingEvidence> = evidence.collect();
    let doubt = evidence.iter().any(|one| gravest(one).is_some()).then(|| ((), Column::text(label!("doubt"), 0)));
    let host = |one: &ReadingEvidence| reading.scopes[one.scope as usize].host.as_str();
    // Results of several hosts have the same names.
    let has_hosts = reading.evidence.iter().any(|one| host(one) != host(&reading.evidence[0]));
    Table::rows(label!("Results of benchmarks"), evidence)
        .column(Column::text(label!("test"), 0), |one| one.label())
        .columns(has_hosts.then(|| ((), Column::text(label!("host"), 0))), |one, ()| host(one).to_owned())
        .column(Column::new(label!("size"), "KiB", ColumnKind::Size, 2), |one| {
            displayed(one.setting.block_bytes, 1_024.0)
        })
        .column(Column::new(label!("depth"), "", ColumnKind::Share, 3), |one| displayed(one.setting.depth, 1.0))
        .column(Column::rate(label!("rate"), "IOPS", 0), |one| match (one.iops, one.transactions_s) {
            (None, Some(transactions)) => Some(Cell::text(say!("{} tx", number::three(transactions)))),
            (iops, _) => displayed(iops, 1.0),
        })
        .column(Column::rate(label!("bytes"), "MB/s", 0), |one| displayed(one.bytes_s, 1e6))
        .column(Column::time(label!("mean"), "ms", 0), |one| displayed(one.mean_s, 1e-3))
        .column(Column::time("p99", "ms", 1), |one| {
            let p99 = one.quantiles.iter().find(|(quantile, _)| (quantile - 0.99).abs() < 1e-9);
            displayed(p99.map(|(_, seconds)| *seconds), 1e-3)
        })
        .columns(doubt, |one, ()| gravest(one).map_or("", words::weight))
        .table()
}

/// Misses by cache size.
fn miss_curve(curve: &MissCurve) -> PageSection {
    let bytes = |value: f64| Bytes::new(value as u64).to_string();
    let touched = say!("{} by {} reads", bytes(curve.working_set_bytes), number::integer(curve.reads));
    let mut facts = vec![
        Fact::new(label!("touched"), touched),
        Fact::new(label!("sampled"), say!("{} % of the pages", number::three(100.0 * curve.sampled))),
    ];
    let steps = [0.1, 0.25, 0.5, 1.0].into_iter().filter_map(|share: f64| {
        let size = share * curve.working_set_bytes;
        Some(say!("{} with {}", number::three(100.0 * curve.ratio(size)?), bytes(size)))
    });
    let steps: Vec<String> = steps.collect();
    if !steps.is_empty() {
        facts.push(Fact::new(label!("misses"), say!("% of the reads: {}", steps.join(label!(", ")))));
    }
    PageSection::new(label!("Misses by cache size"), vec![Block::Facts(facts)])
}

pub(crate) fn format_figure(figure: &Figure) -> String {
    let value = figure.value;
    match figure.measure {
        Measure::Iops => format!("{} IOPS", number::three(value)),
        Measure::Throughput => format!("{} MB/s", number::three(value / 1e6)),
        Measure::Size => format!("{} KiB", number::three(value / 1024.0)),
        Measure::Latency => format!("{} ms", number::three(value * 1e3)),
        Measure::Depth => number::three(value),
        Measure::Busy => format!("{} %", number::three(value * 100.0)),
    }
}

pub(crate) fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Iops => label!("iops"),
        Measure::Throughput => label!("throughput"),
        Measure::Size => label!("size"),
        Measure::Latency => label!("latency"),
        Measure::Depth => label!("depth"),
        Measure::Busy => label!("busy"),
    }
}

/// Every number of an input with its origin.
fn origins(reading: &Reading) -> PageSection {
    let entry = |figure: &Figure| {
        let part = &reading.scopes[figure.scope as usize].part;
        let class = figure.class.label();
        let class = if part.is_empty() { class.to_owned() } else { say!("{class} of {}", file_name(part)) };
        let measure = measure_name(figure.measure);
        Item::new(say!("{class}, {measure}: {}; {}", format_figure(figure), figure.origin), [])
    };
    PageSection::folded(&reading.name, vec![Block::Items(reading.figures.iter().map(entry).collect())])
}

/// The doubts about benchmark results, gravest first; of a kind of finding the first is quoted, and the others are counted.
fn judged(reading: &Reading) -> Vec<Fact> {
    let mut kinds: Vec<(&ReadingEvidence, &Finding, usize)> = Vec::new();
    for one in reading.evidence.iter().filter(|one| !one.is_part) {
        for finding in &one.findings {
            match kinds.iter_mut().find(|(_, other, _)| discriminant(*other) == discriminant(finding)) {
                Some((.., more)) => *more += 1,
                None => kinds.push((one, finding, 0)),
            }
        }
    }
    kinds.sort_by_key(|(_, finding, _)| Reverse(finding.weight()));
    let fact = |(one, finding, more): (&ReadingEvidence, &Finding, usize)| {
        let others = if more > 0 { say!(" (and {more} more results)") } else { String::new() };
        let text = say!("{}, {}: {}{others}", reading.name, one.label(), words::finding(finding));
        let weight = finding.weight();
        Fact::new(words::weight(weight), say!("{text} -> {}", finding.remedy())).with_emphasis(weight.into())
    };
    kinds.into_iter().map(fact).collect()
}

/// The gravest doubt about a result.
fn gravest(one: &ReadingEvidence) -> Option<Weight> {
    one.findings.iter().map(Finding::weight).max().filter(|weight| *weight > Weight::Note)
}

/// Refused inputs, and cautions about accepted ones.
pub(crate) fn doubts(outcomes: &[Outcome]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Refused { name, refusal } => {
                facts.push(Fact::caution(label!("refused"), format!("{name}: {refusal}")));
            }
            Outcome::Read(reading) => {
                facts.extend(judged(reading));
                facts.extend(reading.cautions.iter().map(|caution| {
                    let place = caution.origin.as_ref().map_or(String::new(), |origin| say!(", {origin}"));
                    Fact::caution(label!("caution"), format!("{}{place}: {}", reading.name, caution.doubt))
                }));
            }
        }
    }
    facts
}
