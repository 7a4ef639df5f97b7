//! Diagnoses: verdicts, supporting figures, and the origin of each number.

mod history;
mod origins;
mod over_time;
mod response;
mod time;

use maud::{Markup, html};
use plimsoll_catalogue::Counts;
use plimsoll_choose::diagnosis::{
    CeilingUse, CountedEvent, Diagnosis, DiagnosisVerdict, OfferUse, Slice, Split, TimePart,
};
use plimsoll_ingest::{Class, DatabaseDemand, Demand, MIN_STORAGE_READ_S, Measure, Outcome, Reading, Slot};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::demand::{doubts, file_name, inputs};
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Emphasis, Fact, Headline, Link, Page, PageSection, Table};
use crate::words::diagnosis::{
    busiest, duration, headline, own_processors, part, rate_of, seconds, share, verdict_text,
};
use crate::words::{clean, product_text};

/// Maximum number of inputs in a chart's source.
const INPUTS_MAX: usize = 3;

/// A database or host with its diagnosis.
struct Case<'a> {
    index: usize,
    /// Number of databases and hosts on the page.
    count: usize,
    subject: &'a DatabaseDemand,
    found: &'a Diagnosis,
    readings: &'a [&'a Reading],
}

/// The time that shares refer to, and how far the parts of the database's time exceed it.
fn excess(split: &Split) -> String {
    let Some(parts_s) = split.parts_s else { return label!("shares are of it").to_owned() };
    if split.total_s > split.database_s {
        say!("all shares are of {} s, the sum of its parts", number::three(parts_s))
    } else {
        say!("shares are of it, and add up to {} (sampled separately)", share(parts_s / split.total_s))
    }
}

/// Diagnoses of all databases and hosts of `demand`, in its order.
pub fn diagnoses(outcomes: &[Outcome], demand: &Demand, diagnoses: &[Diagnosis]) -> Page {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    let count = demand.subjects.len();
    let case = |(index, (subject, found))| Case { index, count, subject, found, readings: &readings };
    let cases: Vec<Case<'_>> = demand.subjects.iter().zip(diagnoses).enumerate().map(case).collect();
    let mut page = match cases.as_slice() {
        [case] => Page {
            title: say!("Diagnosis of {}", case.name()),
            headline: Some(case.headline()),
            figures: case.figures(),
            ..Page::default()
        },
        _ => Page { title: say!("Diagnoses of {count} databases and hosts"), ..Page::default() },
    };
    if cases.is_empty() {
        let none = label!("No input has a storage load.").to_owned();
        page.sections.push(PageSection::bare("", vec![Block::Text(none)]));
    }
    page.sections.extend(cases.iter().flat_map(Case::sections));
    page.sections.push(PageSection::detail(label!("Inputs"), vec![Block::Table(inputs(outcomes))]));
    page.sections.push(PageSection::bare(label!("Doubts about the inputs"), vec![Block::Facts(doubts(outcomes))]));
    page.sections.extend(cases.iter().map(origins::section));
    page
}

impl Case<'_> {
    fn name(&self) -> String {
        if self.subject.name.is_empty() { label!("the storage").to_owned() } else { clean(&self.subject.name) }
    }

    /// The title of a section, with the name of the case if there are several.
    fn title(&self, title: &str) -> String {
        if self.count > 1 { format!("{}: {title}", self.name()) } else { title.to_owned() }
    }

    fn headline(&self) -> Headline {
        let text = headline(self.found).unwrap_or_else(|| label!("Findings").to_owned());
        let large_gaps = self.subject.doubts.iter().filter(|doubt| doubt.is_large_gap());
        let cautions = self.cached_reads().into_iter().chain(large_gaps.map(ToString::to_string)).collect();
        Headline { text, cautions, ..Headline::default() }
    }

    /// Windows whose reads are too short for storage.
    fn cached_reads(&self) -> Option<String> {
        let all = self.subject.slots.len();
        let cached = (0..all).filter(|slot| self.subject.cached_read_s(*slot).is_some()).count();
        (cached > 0).then(|| {
            say!(
                "Part of the reads never reached storage: in {cached} of {all} windows a read took less than {} on average, as \
                 the page cache of the system answered; compare with iostat of the same time.",
                seconds(MIN_STORAGE_READ_S)
            )
        })
    }

    fn figures(&self) -> Vec<Fact> {
        let mut figures = Vec::new();
        let link = |anchor: Option<String>| anchor.map(|anchor| Link { anchor, name: String::new() });
        if let Some(split) = &self.found.split {
            let time = format!("{} s", number::three(split.database_s));
            let place = link(Some(origins::time_id(self.index))).into_iter().collect();
            let within = say!("in {}", duration(self.found.windows.seconds));
            let fact = Fact::new(label!("Database time"), time).with_links(place).with_remark(within);
            figures.push(fact.with_remark(excess(split)));
            let active = Fact::new(label!("Active sessions"), number::three(split.active));
            let busy = self.found.busy.as_ref().map_or(String::new(), |busy| say!("highest {}", busiest(busy)));
            figures.push(active.with_remark(label!("on average")).with_remark(busy));
        }
        figures.extend(self.processors_busy());
        figures.extend(self.load());
        figures.extend(self.highest_in_flight());
        if let Some(on) = &self.found.on {
            let used = on.ceilings.first();
            let used = used.map(|used| say!("{} of {} at most", share(used.highest), used.name));
            figures.push(Fact::new(label!("Beside"), &on.config).with_remark(used.unwrap_or_default()));
        }
        let stored = self.subject.account.as_ref().and_then(|account| account.stored_bytes);
        figures.extend(stored.map(|bytes| Fact::new(label!("On disk"), Bytes::new(bytes.round() as u64).to_string())));
        figures
    }

    /// Mean operations and bytes per second; a direction that no input counts is named.
    fn load(&self) -> Option<Fact> {
        let mean = |class, measure| {
            let series = self.subject.series(class, measure)?;
            Some(self.subject.summary(series)?.mean)
        };
        let directions = |measure| [Class::Read, Class::Write].map(|class| mean(class, measure));
        let total = |measure| match directions(measure) {
            [None, None] => mean(Class::All, measure),
            [reads, writes] => Some(reads.unwrap_or(0.0) + writes.unwrap_or(0.0)),
        };
        let (iops, bytes) = (total(Measure::Iops), total(Measure::Throughput));
        let rates = [iops.map(|iops| format!("{} IOPS", number::three(iops))), bytes.map(number::throughput)];
        let text = rates.into_iter().flatten().collect::<Vec<_>>().join(label!(", "));
        let (measure, unit) =
            if iops.is_some() { (Measure::Iops, label!("operations")) } else { (Measure::Throughput, label!("bytes")) };
        let of = match directions(measure) {
            [Some(reads), Some(writes)] if reads + writes > 0.0 => {
                say!("{} of the {unit} are reads", share(reads / (reads + writes)))
            }
            [Some(_), None] => label!("without writes, which are unknown").to_owned(),
            [None, Some(_)] => label!("without reads, which are unknown").to_owned(),
            _ => String::new(),
        };
        let fact = (!text.is_empty())
            .then(|| Fact::new(label!("Load"), text).with_remark(of).with_remark(label!("on average")));
        fact.map(|fact| fact.with_remark(self.highest_load()))
    }

    /// The windows with the most operations and the most bytes.
    fn highest_load(&self) -> String {
        let at = |slot: &Slot| {
            let begin = slot.begin.map(|begin| say!(" from {}", begin.strftime("%Y-%m-%d %H:%M")));
            say!("{} for {}", begin.unwrap_or_default(), duration(slot.length.as_secs_f64()))
        };
        let [operations, bytes] = &self.found.highest;
        let operations = operations.as_ref().map(|(slot, iops)| (slot, format!("{} IOPS", number::three(*iops))));
        let bytes = bytes.as_ref().map(|(slot, bytes)| (slot, number::throughput(*bytes)));
        match (operations, bytes) {
            (Some((slot, iops)), Some((same, bytes))) if slot == same => {
                say!("highest {iops} and {bytes}{}", at(slot))
            }
            (operations, bytes) => {
                let parts = [operations, bytes].into_iter().flatten();
                let parts: Vec<String> = parts.map(|(slot, rate)| say!("highest {rate}{}", at(slot))).collect();
                parts.join(label!(", "))
            }
        }
    }

    /// The class with the most operations in flight, or the most sessions that wait for it.
    fn highest_in_flight(&self) -> Option<Fact> {
        let count =
            |value: f64| if value < 0.001 { label!("less than 0.001").to_owned() } else { number::three(value) };
        let responses = self.found.responses.iter().chain(&self.found.waits);
        let highest = responses.max_by(|a, b| a.in_flight.total_cmp(&b.in_flight));
        // The remainder of a wait class has a time without a number of waits.
        let is_rest = |slice: &&Slice| slice.part == TimePart::OtherUserIo;
        let rest = self.found.split.as_ref().and_then(|split| split.slices.iter().find(is_rest));
        let rest = rest.map(|slice| (slice, slice.seconds / self.found.windows.seconds));
        let in_flight = highest.map_or(0.0, |response| response.in_flight);
        if let Some((slice, sessions)) = rest.filter(|(_, sessions)| *sessions > in_flight) {
            let text = say!("{} sessions, {}", count(sessions), part(slice.part));
            return Some(
                Fact::new(label!("Most waits for I/O"), text).with_remark(label!("number and latency unknown")),
            );
        }
        let highest = highest?;
        let place = origins::mean_id(self, highest.class, Measure::Latency);
        let place = place.map(|anchor| Link { anchor, name: String::new() });
        let (in_flight, class) = (count(highest.in_flight), highest.class.label());
        let (name, text) = match highest.counted {
            CountedEvent::SessionWait => (label!("Most waits for I/O"), say!("{in_flight} sessions, {class}")),
            _ => (label!("Most I/O in flight"), say!("{in_flight} {class}")),
        };
        let of = say!("{} at {}", seconds(highest.latency_s), rate_of(highest.counted, highest.iops));
        Some(Fact::new(name, text).with_links(place.into_iter().collect()).with_remark(of))
    }

    fn processors_busy(&self) -> Option<Fact> {
        let (split, host) = (self.found.split.as_ref(), self.found.host.as_ref());
        let busy = split.and_then(|split| split.host_busy).or(host.map(|host| host.busy))?;
        let count = split.map_or_else(|| host?.processors, |split| split.processors);
        let of = count.map_or(String::new(), |count| say!("of {}", number::integer(count)));
        let own = split.and_then(|split| own_processors(split, busy * count?)).unwrap_or_default();
        let idle = split.map_or_else(|| host?.io_wait, |split| split.host.io_wait);
        let idle = idle.map_or(String::new(), |idle| say!("idle in I/O wait {}", share(idle)));
        let busy = number::percent((busy * 1e3).round() / 1e3);
        Some(Fact::new(label!("Processors busy"), busy).with_remark(of).with_remark(own).with_remark(idle))
    }

    fn sections(&self) -> Vec<PageSection> {
        let windows = self.found.windows;
        let begin = windows.first.and_then(|slot| slot.begin);
        let from = begin.map_or(String::new(), |begin| say!(", from {begin}").replace('T', " "));
        let over = match windows.count {
            1 => say!("1 window of {}{from}", duration(windows.longest_s)),
            count => {
                let longest = duration(windows.longest_s);
                say!("{} windows of up to {longest}{from}", number::integer(count as f64))
            }
        };
        let mut facts = vec![Fact::new(label!("over"), over)];
        facts.extend(self.found.on.as_ref().map(|on| Fact::new(label!("on"), &on.config)));
        let name = if self.subject.name.is_empty() { label!("Diagnosis") } else { self.subject.name.as_str() };
        let mut sections = vec![PageSection::new(name, vec![Block::Facts(facts)]), self.verdicts()];
        sections.extend(time::build_section(self));
        sections.push(time::what_ifs(self));
        sections.extend(history::section(self));
        sections.extend(history::works(self));
        sections.extend(over_time::section(self));
        sections.extend(response::build_section(self));
        sections.extend(self.found.on.as_ref().map(|on| self.ceilings(on)));
        sections.extend(time::places(self));
        let doubts = self.subject.doubts.iter().filter(|doubt| !doubt.is_large_gap());
        let doubts = doubts.map(|doubt| Fact::caution(label!("note"), doubt.to_string())).collect();
        sections
            .push(PageSection::bare(self.title(label!("Doubts about the combination")), vec![Block::Facts(doubts)]));
        sections
    }

    /// Verdicts with remedies and links to their evidence.
    fn verdicts(&self) -> PageSection {
        let mut facts = Vec::new();
        // Nothing is to be done about the small shares of an idle database.
        let is_idle = |verdict: &&DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::Quiet { .. });
        let is_quiet = self.found.verdicts.iter().any(|verdict| is_idle(&verdict));
        for verdict in &self.found.verdicts {
            let mut text = verdict_text(verdict);
            if is_quiet && !is_idle(&verdict) {
                text.remedy.clear();
            }
            let emphasis = if text.kind == "answer" { Emphasis::Strong } else { Emphasis::Caution };
            let links = origins::of_verdict(self, verdict);
            facts.push(Fact::new(text.kind, text.text).with_emphasis(emphasis).with_links(links));
            facts.extend((!text.remedy.is_empty()).then(|| Fact::new(label!("  do"), text.remedy)));
        }
        PageSection::bare(self.title(label!("Findings")), vec![Block::Facts(facts)])
    }

    /// The demand relative to the ceilings of the configuration.
    fn ceilings(&self, on: &OfferUse) -> PageSection {
        let block = if on.ceilings.is_empty() {
            let none = label!("no input has a rate, or the catalogue has no ceiling for this configuration");
            Block::Note(none.to_owned())
        } else {
            let note = label!("sustained, for the mix of the busiest window; \"at it\": windows at or above 95 %");
            let table = Table::of(label!("Use of each ceiling"), ceiling_columns(), &on.ceilings, ceiling);
            Block::Table(table.with_notes([note.to_owned()]))
        };
        PageSection::bare(self.title(&say!("Ceilings of {}", on.config)), vec![block])
            .with_anchor(format!("d{}-ceilings", self.index))
    }

    fn source(&self) -> Markup {
        let mut used: Vec<usize> =
            self.subject.series.iter().flat_map(|series| series.sources.iter().map(|at| at.0)).collect();
        used.sort_unstable();
        used.dedup();
        let name = |at: &usize| {
            let reading = self.readings.get(*at)?;
            Some(say!("{} ({})", clean(file_name(&reading.name)), reading.kind))
        };
        let names: Vec<String> = used.iter().take(INPUTS_MAX).filter_map(name).collect();
        let more = used.len().saturating_sub(INPUTS_MAX);
        html! {
            (names.join(label!(", ")))
            @if more > 0 { (label!(" and ")) (number::integer(more as f64)) (label!(" more")) }
            (label!("; ")) a href={ "#" (origins::section_id(self.index)) } { (label!("origin of each number")) }
        }
    }
}

fn ceiling_columns() -> [Column; 6] {
    [
        Column::text(label!("ceiling"), 0),
        Column::text(label!("allows"), 0),
        Column::text(label!("demand"), 2),
        Column::new(label!("highest"), "%", ColumnKind::Share, 0),
        Column::new(label!("mean"), "%", ColumnKind::Share, 1),
        Column::new(label!("at it"), label!("windows"), ColumnKind::Share, 0),
    ]
}

fn ceiling(ceiling: &CeilingUse) -> Vec<Cell> {
    let rate = |value: f64| match ceiling.counts {
        Counts::Operations => Cell::text(format!("{} IOPS", number::three(value))),
        Counts::Bytes => Cell::text(number::throughput(value)),
    };
    vec![
        Cell::text(product_text(&ceiling.name)),
        rate(ceiling.allows),
        rate(ceiling.demand),
        Cell::three(ceiling.highest * 100.0).with_gauge(ceiling.highest),
        Cell::three(ceiling.mean * 100.0),
        Cell::figure(number::integer(ceiling.near as f64), ceiling.near as f64),
    ]
}
