//! Figures of a trace: for each window, for the whole time of each volume, and its working set.

use jiff::SignedDuration;
use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use super::tally::{OfVolume, OpCounter, Peak, SECOND, Sort, SortCount, SortCounts, TallyWindow};
use crate::builder::Builder;
use crate::dialect::{DialectFacts, NumberUnit as CountsOf, Volumes};
use crate::form::FormatInput;
use crate::reading::{Class, Doubt, Fate, Figure, Measure, MissCurve, Origin, ReadingScope, ReadingWindow, Statistic};
use crate::refusal::{InputFault, Refusal};

/// Maximum volumes reported separately.
const MAX_VOLUMES: usize = 1_000;
/// Minimum share of operations with latencies that is representative of all.
const REPRESENTATIVE: f64 = 0.9;

/// The sorts of operations of each class.
const CLASSES: [(Class, &[Sort]); 7] = [
    (Class::All, &[Sort::RandomRead, Sort::SequentialRead, Sort::Write, Sort::Flush, Sort::Discard, Sort::Unknown]),
    (Class::Read, &[Sort::RandomRead, Sort::SequentialRead]),
    (Class::RandomRead, &[Sort::RandomRead]),
    (Class::SequentialRead, &[Sort::SequentialRead]),
    (Class::Write, &[Sort::Write]),
    (Class::Flush, &[Sort::Flush]),
    (Class::Discard, &[Sort::Discard]),
];

/// Classes with peaks, in the order of a cell's peaks.
const PEAKS: [Class; 3] = [Class::All, Class::Read, Class::Write];

/// Emits the figures of a trace.
pub(super) fn emit(
    mut tally: OpCounter,
    about: &DialectFacts,
    input: &FormatInput,
    out: &mut Builder,
) -> Result<(), Refusal> {
    broken(&tally, about, out);
    out.require(tally.operations > 0, InputFault::Incomplete { lacks: label!("readable operation") })?;
    for doubt in &about.doubts {
        out.caution(None, doubt.clone());
    }
    doubts(&tally, about, out);
    let begin = convert_begin(&tally, about).or(input.begin);
    let span = Span::from_nanos(tally.last_ns - tally.first_ns + about.tick_ns);
    let scopes = Scopes::of(&tally, about);
    let total = out.scope(scopes.total.clone());
    let operations = u32::try_from(tally.operations).unwrap_or(u32::MAX);
    let has_rates = tally.timed && !span.is_zero();
    if has_rates {
        windows(&mut tally, total, begin, span, about, out);
    }
    // Last, because the whole time has a separate window.
    let at = out.sample(ReadingWindow { begin, length: span });
    emit_curve(&tally, (total, at), about, out);
    if has_rates {
        add_volumes(&tally, &scopes, at, span, out);
    } else if tally.timed {
        out.caution(None, Doubt::SingleMoment);
    }
    out.part("operations", Fate::Read(operations));
    Ok(())
}

/// Unreadable records.
fn broken(tally: &OpCounter, about: &DialectFacts, out: &mut Builder) {
    for (number, doubt) in &tally.broken {
        let origin = place(*number, about.counts, "", out);
        out.caution(Some(origin), doubt.clone());
    }
    if tally.broken_count > 0 {
        out.part(format!("{} unreadable records", tally.broken_count), Fate::Broken);
    }
}

fn doubts(tally: &OpCounter, about: &DialectFacts, out: &mut Builder) {
    if let Some(back) = tally.back.filter(|back| back.max_ns >= SECOND) {
        let origin = place(back.number, about.counts, "", out);
        let max = Span::from_nanos(back.max_ns);
        out.caution(Some(origin), Doubt::UnorderedOperations { max });
    }
    if about.dropped > 0 {
        out.caution(None, Doubt::OperationsDropped { count: about.dropped });
    }
    if tally.volumes.overflowed {
        out.caution(None, Doubt::TooManyVolumes { limit: Volumes::MAX });
    }
}

fn place(number: u64, counts: CountsOf, field: &str, out: &mut Builder) -> Origin {
    match counts {
        CountsOf::Lines => out.origin(number, "", field),
        CountsOf::Records => out.origin(0, &format!("record {number}"), field),
    }
}

/// The begin of a trace, if its times are absolute (in UTC).
fn convert_begin(tally: &OpCounter, about: &DialectFacts) -> Option<DateTime> {
    let since_1970 = about.epoch_ns?.checked_add(i128::from(tally.first_ns))?;
    let seconds = i64::try_from(since_1970.div_euclid(i128::from(SECOND))).ok()?;
    let ns = i32::try_from(since_1970.rem_euclid(i128::from(SECOND))).ok()?;
    jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0).checked_add(SignedDuration::new(seconds, ns)).ok()
}

struct Scopes {
    total: ReadingScope,
    volumes: Vec<ReadingScope>,
}

impl Scopes {
    fn of(tally: &OpCounter, about: &DialectFacts) -> Self {
        let named = |number: usize| {
            let name = tally.volumes.name(number as u32);
            about
                .scope
                .map_or_else(|| ReadingScope { part: name.clone(), ..ReadingScope::default() }, |scope| scope(&name))
        };
        let volumes: Vec<ReadingScope> = (0..tally.volumes.count()).map(named).collect();
        let mut total = volumes.first().cloned().unwrap_or_default();
        // With several volumes the whole has no part, and has a host only if they share it.
        if volumes.len() > 1 {
            total.part = String::new();
            if volumes.iter().any(|scope| scope.host != total.host) {
                total.host = String::new();
            }
        }
        Self { total, volumes }
    }
}

fn emit_curve(tally: &OpCounter, (scope, window): (u32, u32), about: &DialectFacts, out: &mut Builder) {
    let Some(curve) = tally.misses.finish() else { return };
    if curve.passed > 0 {
        out.caution(None, Doubt::LargeOperations { count: curve.passed });
    }
    let origin = place(1, about.counts, "all operations", out);
    out.curve(MissCurve {
        scope,
        window,
        reads: curve.reads,
        working_set_bytes: curve.distinct_bytes,
        sampled: curve.sampled,
        points: curve.points,
        origin,
    });
}

/// The means of each volume, if there are several.
fn add_volumes(tally: &OpCounter, scopes: &Scopes, window: u32, span: Span, out: &mut Builder) {
    if scopes.volumes.len() < 2 {
        return;
    }
    let operations = |of: &OfVolume| of.counts.iter().map(|count| count.operations).sum::<u64>();
    let mut busiest: Vec<(u64, usize)> =
        tally.by_volume.iter().enumerate().map(|(number, of)| (operations(of), number)).collect();
    busiest.sort_unstable_by_key(|(count, number)| (std::cmp::Reverse(*count), *number));
    if busiest.len() > MAX_VOLUMES {
        out.caution(None, Doubt::BusiestVolumes { count: busiest.len(), reported: MAX_VOLUMES });
    }
    for (_, number) in busiest.into_iter().take(MAX_VOLUMES) {
        let scope = out.scope(scopes.volumes[number].clone());
        let origin = Origin { line: 0, table: None, field: out.text("all operations of the volume") };
        let mut telling = Emitter { at: (scope, window), seconds: span.as_secs_f64(), origin, out };
        telling.counts(&tally.by_volume[number].counts, [true; Sort::COUNT]);
    }
}

/// The figures of each window.
fn windows(
    tally: &mut OpCounter,
    scope: u32,
    begin: Option<DateTime>,
    span: Span,
    about: &DialectFacts,
    out: &mut Builder,
) {
    let (first_ns, last_ns) = (tally.first_ns, tally.last_ns);
    let (origin_ns, width_ns, mut cells) = std::mem::take(&mut tally.windows).finish();
    let mut present = [false; Sort::COUNT];
    for cell in &cells {
        for (present, count) in present.iter_mut().zip(&cell.counts) {
            *present |= count.operations > 0;
        }
    }
    // If times went back, the first window may begin before the first operation.
    let lead_ns = first_ns.saturating_sub(origin_ns);
    let lengths = divide_windows(&mut cells, width_ns, last_ns - origin_ns + about.tick_ns);
    let mut number = 1;
    let mut since_ns = 0;
    for (cell, length) in cells.iter().zip(lengths) {
        number = if cell.first > 0 { cell.first } else { number };
        let from_first =
            i64::try_from(since_ns).unwrap_or(i64::MAX).saturating_sub(i64::try_from(lead_ns).unwrap_or(0));
        let begin = begin.and_then(|begin| begin.checked_add(SignedDuration::from_nanos(from_first)).ok());
        let length = if cells.len() == 1 { span } else { Span::from_nanos(length) };
        let window = out.sample(ReadingWindow { begin, length });
        let origin = place(number, about.counts, "records from here on", out);
        let mut telling = Emitter { at: (scope, window), seconds: length.as_secs_f64(), origin, out };
        telling.counts(&cell.counts, present);
        if width_ns > SECOND {
            telling.peaks(&cell.peaks, present);
        }
        since_ns += width_ns;
    }
}

/// Lengths of the windows. A last one of less than half of the length is merged with its predecessor.
fn divide_windows(cells: &mut Vec<TallyWindow>, width_ns: u64, span_ns: u64) -> Vec<u64> {
    let mut lengths = vec![width_ns; cells.len()];
    // Damaged times may go back: then the last window has the minimum length.
    let rest = span_ns.saturating_sub((cells.len() as u64).saturating_sub(1).saturating_mul(width_ns));
    match lengths.as_mut_slice() {
        [.., before, _] if rest < width_ns / 2 => {
            *before += rest;
            lengths.pop();
            let last = cells.pop();
            if let (Some(cell), Some(last)) = (cells.last_mut(), last) {
                cell.merge(&last);
            }
        }
        [.., last] => *last = rest.max(1),
        [] => {}
    }
    lengths
}

/// Emits figures of a scope and window.
struct Emitter<'a> {
    at: (u32, u32),
    seconds: f64,
    origin: Origin,
    out: &'a mut Builder,
}

impl Emitter<'_> {
    /// Emits figures of each class that occurs.
    fn counts(&mut self, counts: &SortCounts, present: [bool; Sort::COUNT]) {
        for (class, sorts) in CLASSES {
            if !sorts.iter().any(|sort| present[*sort as usize]) {
                continue;
            }
            let mut sum = SortCount::default();
            for sort in sorts {
                let mut count = counts[*sort as usize];
                // Discarded bytes are not transferred.
                if *sort == Sort::Discard && class == Class::All {
                    count.bytes = 0;
                }
                sum.add(&count);
            }
            self.count(class, &sum);
        }
    }

    fn count(&mut self, class: Class, count: &SortCount) {
        let operations = count.operations as f64;
        self.put(class, Measure::Iops, operations / self.seconds);
        if class != Class::Flush {
            self.put(class, Measure::Throughput, count.bytes as f64 / self.seconds);
            if count.operations > 0 {
                self.put(class, Measure::Size, count.bytes as f64 / operations);
            }
        }
        if count.answered > 0 {
            let latency = count.took_ns as f64 / 1e9 / count.answered as f64;
            self.put(class, Measure::Latency, latency);
            if class == Class::All && count.answered as f64 >= REPRESENTATIVE * operations {
                // Little's law (1961).
                self.put(class, Measure::Depth, latency * operations / self.seconds);
            }
        }
    }

    fn peaks(&mut self, peaks: &[Peak; 3], present: [bool; Sort::COUNT]) {
        for (class, peak) in PEAKS.into_iter().zip(peaks) {
            let sorts = CLASSES.iter().find(|(existing, _)| *existing == class).map_or(&[][..], |(_, sorts)| *sorts);
            if sorts.iter().any(|sort| present[*sort as usize]) {
                self.maximum(class, Measure::Iops, peak.operations as f64);
                self.maximum(class, Measure::Throughput, peak.bytes as f64);
            }
        }
    }

    fn put(&mut self, class: Class, measure: Measure, value: f64) {
        self.out.mean(self.at, class, measure, value, self.origin.clone());
    }

    fn maximum(&mut self, class: Class, measure: Measure, value: f64) {
        let ((scope, window), origin) = (self.at, self.origin.clone());
        self.out.figure(Figure { scope, window, class, measure, statistic: Statistic::Maximum, value, origin });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_beyond_the_end_of_a_trace_have_full_lengths() {
        // Times that go back leave windows after the last operation.
        let check = |count: usize, span_ns: u64, expected: &[u64]| {
            let mut cells = vec![TallyWindow::default(); count];
            assert_eq!(divide_windows(&mut cells, 10, span_ns), expected, "{count} windows, {span_ns} ns");
            assert_eq!(cells.len(), expected.len());
        };
        check(3, 5, &[10, 10]);
        check(1, 0, &[1]);
        check(0, 5, &[]);
        check(3, 28, &[10, 10, 8]);
        check(3, 22, &[10, 12]);
    }
}
