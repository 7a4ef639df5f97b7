//! Reliability of a load line: grade of confidence with reasons, meaning of the number, next command.

use std::path::Path;

use plimsoll_catalogue::Ask;
use plimsoll_language::{join_sentences, label, say};
use plimsoll_record::{
    ClosedLine, Curve, EndReason, Finding, Lasting, LineBasis, LoadLine, NoLine, ObjectiveOrigin, Source, Weight,
};
use plimsoll_units::Span;

use super::{clean, closed_line, command, load_line, source_word, tens, unjudged};
use crate::{number, pick};

/// Ratios of interval ends up to `TIGHT` give a high grade, above `WIDE` a low grade.
const TIGHT: f64 = 1.35;
const WIDE: f64 = 2.5;
/// Maximum difference of the halves of a measurement that agree, as the logarithm of their ratio.
const HALVES_AGREE: f64 = 0.15;
/// Maximum share of the limit that the generator's lateness may take.
const LATE_SHARE: f64 = 0.1;
/// Maximum share of missed slots well below the line for a high and for a fair grade.
const FEW_LAPSES: f64 = 0.05;
const MANY_LAPSES: f64 = 0.25;
/// The objective has to be at least this multiple of the generator's lateness.
const GENERATOR_MARGIN: u64 = 5;

/// Confidence in a load line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    Low,
    Fair,
    High,
}

impl Grade {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Low => label!("low"),
            Self::Fair => label!("fair"),
            Self::High => label!("high"),
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Low => label!("low confidence"),
            Self::Fair => label!("fair confidence"),
            Self::High => label!("high confidence"),
        }
    }
}

/// Grade of a load line and its reasons: `the halves agree (8,600 and 8,720 IOPS), held for 2.9 s`. `None` if the line
/// was not derived from slots.
pub(crate) fn describe_grade(curve: &Curve) -> Option<(Grade, String)> {
    let (basis, line) = (curve.basis.as_ref()?, curve.load_line.as_ref()?);
    if line.iops().is_none() {
        return pick::closed_answer(curve).map(|closed| (Grade::Low, closed_reasons(closed)));
    }
    let mut grade = Grade::High;
    let mut reasons = Vec::new();
    let mut add = |max_grade: Grade, reason: String| {
        grade = grade.min(max_grade);
        reasons.push(reason);
    };
    let (max_grade, reason) = width(line);
    add(max_grade, reason);
    let (max_grade, reason) = generator(basis, line, &curve.source);
    add(max_grade, reason);
    if let Some((first, second)) = basis.halves {
        let apart = (second / first).ln().abs();
        let word = if apart <= HALVES_AGREE { label!("agree") } else { label!("differ") };
        let max_grade = if apart <= HALVES_AGREE { Grade::High } else { Grade::Fair };
        let max_grade = if basis.fell { Grade::Low } else { max_grade };
        add(max_grade, say!("its halves {word} ({} and {})", number::three(first), number::three(second)));
    }
    if let Some((max_grade, reason)) = lapses(basis) {
        add(max_grade, reason);
    }
    if let Some(reason) = neighbours(curve) {
        add(Grade::Fair, reason);
    }
    match basis.lasting {
        Lasting::Sustained { seconds, .. } => {
            add(Grade::High, say!("sustained for {}", number::clock(Span::from_secs_f64(seconds))));
        }
        Lasting::BurstsOnly { .. } => add(Grade::Fair, label!("sustained at a lower load than bursts").into()),
        Lasting::MissedWhenHeld { .. } => add(Grade::Fair, label!("missed when sustained").into()),
        Lasting::NotHeld => add(Grade::Fair, label!("not sustained").into()),
    }
    if curve.findings.iter().any(|finding| finding.weight() == Weight::Void) {
        add(Grade::Low, label!("voided by a finding below").into());
    }
    Some((grade, reasons.join(label!(", "))))
}

/// The answer of closed loads.
pub(crate) fn closed_verdict(line: &LoadLine, closed: &ClosedLine) -> String {
    let answer = closed_line(closed);
    let objective = line.objective();
    let missed = if closed.objective == objective { String::new() } else { say!(", and none {objective}") };
    say!("Closed loads: {answer}{missed}")
}

/// Why closed loads answer in place of arrivals at a rate.
pub(crate) fn without_rate(line: &LoadLine) -> String {
    match line {
        LoadLine::Refused { why: NoLine::HostTaken { host, lateness_p99, .. }, .. } => unjudged(host, *lateness_p99),
        line => say!("of arrivals at a rate: {}", load_line(line)),
    }
}

fn closed_reasons(closed: &ClosedLine) -> String {
    let slots = if closed.slots == 1 { label!("a single slot").to_owned() } else { say!("{} slots", closed.slots) };
    let disturbed = if closed.is_disturbed { label!(", in which the processor was taken away, too") } else { "" };
    let delayed = if closed.delayed >= 0.005 {
        let share = number::integer(100.0 * closed.delayed);
        say!(", and {share} % of the operations were late only because of that and do not count")
    } else {
        String::new()
    };
    say!("closed loads, whose waiting is limited by their depth; {slots} at this depth{disturbed}{delayed}")
}

/// The share of the slots in which the processor was taken away, and the time after which enough others would remain.
fn describe_host_steal(curve: &Curve) -> Option<String> {
    let Some(LoadLine::Refused { why: NoLine::HostTaken { share, seconds, .. }, .. }) = curve.load_line else {
        return None;
    };
    let needed = seconds.map_or_else(String::new, |seconds| {
        let needed = number::integer(tens(seconds));
        say!(" Measuring for about {needed} s (--duration) would leave enough of the others.")
    });
    let share = number::integer(100.0 * share);
    Some(say!("The processor was taken away in {share} % of the slots of arrivals.{needed}"))
}

fn width(line: &LoadLine) -> (Grade, String) {
    match line.iops().and_then(|iops| iops.interval) {
        Some((low, high)) => {
            let ratio = high / low.max(1e-9);
            let percent = number::integer(50.0 * ratio.ln());
            let grade = if ratio <= TIGHT {
                Grade::High
            } else if ratio <= WIDE {
                Grade::Fair
            } else {
                Grade::Low
            };
            (grade, say!("interval of {percent} %"))
        }
        None => (Grade::Fair, label!("a lower bound").into()),
    }
}

fn generator(basis: &LineBasis, line: &LoadLine, source: &Source) -> (Grade, String) {
    if matches!(source, Source::Simulated { .. }) {
        return (Grade::High, label!("no generator lateness").into());
    }
    let late = basis.lateness_p99;
    let share = late.as_secs_f64() / line.objective().limit.as_secs_f64();
    let grade = match () {
        () if basis.generator_bound || basis.left_out > basis.slots => Grade::Low,
        () if share > LATE_SHARE || basis.left_out > 0 => Grade::Fair,
        () => Grade::High,
    };
    let all = basis.slots + basis.left_out;
    let taken = (basis.left_out > 0).then(|| {
        let share = f64::from(basis.left_out) / f64::from(all);
        say!(", the processor was taken away in {} % of {all} slots", number::integer(100.0 * share))
    });
    (grade, say!("generator lateness {late} (p99){}", taken.unwrap_or_default()))
}

/// The share of slots well below the line that missed the objective, if significant.
fn lapses(basis: &LineBasis) -> Option<(Grade, String)> {
    let (missed, count) = basis.lapses.filter(|(missed, _)| *missed > FEW_LAPSES)?;
    let grade = if missed > MANY_LAPSES { Grade::Low } else { Grade::Fair };
    let slots = number::integer(f64::from(count));
    Some((grade, say!("{} of {slots} slots below the line missed the objective", number::percent(missed))))
}

/// Other activity, if counters showed it.
fn neighbours(curve: &Curve) -> Option<String> {
    curve.findings.iter().find_map(|finding| match finding {
        Finding::OtherLoad { iops } => Some(say!("others used the device ({} IOPS)", number::three(*iops))),
        Finding::StolenTime { share } => Some(say!("{} of the processor time was stolen", number::percent(*share))),
        Finding::ProcessorBound { .. } => Some(label!("the processors were busy").into()),
        _ => None,
    })
}

/// A slot as text: `half second`.
pub(crate) fn format_slot(span: Span) -> String {
    match (span.as_secs_f64() * 1e3).round() as u64 {
        225..=275 => label!("quarter second").into(),
        450..=550 => label!("half second").into(),
        900..=1_100 => label!("whole second").into(),
        _ => say!("slot of {}", Span::from_millis((span.as_secs_f64() * 1e3).round().max(1.0) as u64)),
    }
}

/// The load line of a run is that of a limit, below which an application may need more; `None` for other runs.
pub fn line_at_limit(curve: &Curve) -> Option<String> {
    let LoadLine::At { iops, .. } = curve.load_line.as_ref()? else { return None };
    let mut findings = curve.findings.iter().chain(curve.runs.iter().flat_map(|run| &run.findings));
    let is_throttled = findings.any(|finding| matches!(finding, Finding::Throttled { .. }));
    let is_limit = is_throttled || super::binding_limit(curve).is_some() || !super::is_below_maximum(curve, iops.value);
    let limit = super::limit(curve).filter(|_| is_limit)?;
    Some(say!(
        "The need is the load line of this run, at least {} IOPS, which a limit of its storage lets through ({}): an application may \
         need more, and --iops states its rate",
        number::rate(iops.value),
        limit.trim_end_matches(['.', '。'])
    ))
}

/// The origin of a load of which only the rate is given.
pub fn load_of_run(curve: &Curve, input: Option<&Path>) -> String {
    say!(
        "size, mix and pattern of the operations are those of the run of {}: name another run for others",
        subject(curve, input)
    )
}

/// The file of a run, whose target may be a file of another host; otherwise the target.
fn subject(curve: &Curve, input: Option<&Path>) -> String {
    clean(&input.map_or_else(|| curve.subject.name.clone(), |file| file.display().to_string()))
}

/// The origin of a load of which only the rate is given, without a run.
pub fn load_of_preset(preset: &str, ask: &Ask) -> String {
    say!(
        "size, mix and pattern of the operations are assumed, as no run was kept: those of the preset {preset}, {}",
        super::offer::ask(ask)
    )
}

/// A need without a capacity.
pub fn without_capacity() -> String {
    label!("no capacity is required: each product is as small as its limits allow; --capacity states yours").to_owned()
}

/// A run on one line, for results based on it: target, source, load line, objective and its origin.
pub fn run(curve: &Curve, input: Option<&Path>) -> String {
    let began = curve.started.as_ref().map(|started| say!(" at {}", clean(started))).unwrap_or_default();
    let line = curve.load_line.as_ref().map_or_else(|| label!("no load line").into(), load_line);
    let origin = curve.basis.map_or("", |basis| match basis.origin {
        ObjectiveOrigin::Given => label!(" (objective as given)"),
        ObjectiveOrigin::Chosen { .. } => label!(" (objective chosen by the measurement)"),
        ObjectiveOrigin::Retained => label!(" (objective kept from an earlier run)"),
        ObjectiveOrigin::Shared => label!(" (objective shared with the compared runs)"),
    });
    say!("Run: {}, {}{began}: {line}{origin}", subject(curve, input), source_word(&curve.source))
}

/// Meaning of the load line in sentences; `None` if it was not derived from slots.
pub(crate) fn meaning(curve: &Curve) -> Option<String> {
    let (basis, line) = (curve.basis.as_ref()?, curve.load_line.as_ref()?);
    let objective = line.objective();
    let slot = format_slot(basis.slot);
    let mut sentences = Vec::new();
    if line.iops().is_some() {
        sentences.push(say!("The load line is the highest load at which the typical {slot} meets {objective}."));
    }
    sentences.extend(describe_host_steal(curve));
    if let Some((missed, count)) = basis.lapses {
        let of = number::integer(f64::from(count));
        sentences.push(match missed {
            missed if missed > 0.0 => {
                say!("Below 80 % of the load line, {} of {of} slots missed the objective.", number::percent(missed))
            }
            _ => say!("Below 80 % of the load line, all of {of} slots met the objective."),
        });
    }
    let is_lower = matches!(basis.lasting, Lasting::BurstsOnly { .. } | Lasting::MissedWhenHeld { .. });
    if let Some(iops) = basis.nineteen_of_twenty.filter(|_| !is_lower) {
        sentences.push(say!("95 % of the slots meet the objective up to {} IOPS.", number::three(iops)));
    }
    match basis.origin {
        ObjectiveOrigin::Given => {}
        ObjectiveOrigin::Retained => {
            sentences.push(
                label!("The objective is that of an earlier run of this target, so that runs are comparable.").into(),
            );
        }
        ObjectiveOrigin::Shared => {
            sentences.push(label!("The objective is that of the slowest of the compared results.").into());
        }
        ObjectiveOrigin::Chosen { light_p99 } => sentences.push(chosen(light_p99, basis)),
    }
    Some(join_sentences(sentences)).filter(|text| !text.is_empty())
}

fn chosen(light_p99: Span, basis: &LineBasis) -> String {
    let steep = if basis.slope > 0.0 {
        let moves = (1.65_f64.ln() / basis.slope).exp_m1();
        say!(", and a tail 1.65 times as long moves the line by {}", number::percent(moves))
    } else {
        String::new()
    };
    let late = basis.lateness_p99;
    let judged = if late * GENERATOR_MARGIN > light_p99 * 2 {
        say!(", at least {GENERATOR_MARGIN} times the lateness of the generator ({late})")
    } else {
        String::new()
    };
    say!(
        "The objective was chosen as the shortest standard limit of at least twice the p99 of the lightest load \
         ({light_p99}){judged}{steep}; set another with --objective."
    )
}

/// The suggested next command.
pub(crate) fn next(curve: &Curve) -> Option<String> {
    let words = &curve.command;
    let is_measured = words.get(1).is_some_and(|word| word == "measure");
    if words.get(1).is_none_or(|word| word != "measure" && word != "simulate") {
        return None;
    }
    let (again, is_quick) = at_length(words);
    let with = |mut again: Vec<String>, more: &[&str]| {
        again.extend(more.iter().map(ToString::to_string));
        Some(command(&again))
    };
    if curve.ended != EndReason::Complete {
        return None;
    }
    let basis = curve.basis.as_ref();
    match curve.load_line.as_ref() {
        Some(LoadLine::Refused {
            why: NoLine::Scatter { seconds, .. } | NoLine::HostTaken { seconds: Some(seconds), .. },
            ..
        }) if !has_time(&again) => {
            let duration = format!("{}s", tens(*seconds));
            with(again, &["--duration", &duration])
        }
        Some(line) if line.iops().is_some() && is_quick && basis.is_some() => with(again, &[]),
        Some(line) if line.iops().is_some() && is_measured => Some("plimsoll match".into()),
        _ => None,
    }
}

/// A command without `--quick`, and whether it had that option.
fn at_length(words: &[String]) -> (Vec<String>, bool) {
    let arguments = words.iter().skip(1).filter(|word| *word != "--quick").cloned();
    let again: Vec<String> = std::iter::once("plimsoll".to_owned()).chain(arguments).collect();
    let is_quick = again.len() < words.len();
    (again, is_quick)
}

fn has_time(words: &[String]) -> bool {
    words.iter().any(|word| word == "--thorough" || word.starts_with("--duration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_run_is_no_quick_one() {
        let check = |command: &str, again: &str, is_quick: bool| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(at_length(&words), (again.split(' ').map(str::to_owned).collect(), is_quick), "{command}");
        };
        check("./plimsoll measure d -q", "plimsoll measure d -q", false);
        check("plimsoll measure d --quick", "plimsoll measure d", true);
    }

    #[test]
    fn lateness_of_the_generator_is_a_reason_for_the_objective() {
        let light = Span::from_micros(372);
        let text =
            |late_us| chosen(light, &LineBasis { lateness_p99: Span::from_micros(late_us), ..LineBasis::default() });
        assert!(text(5_260).contains("5 times the lateness of the generator (5.26 ms)"), "{}", text(5_260));
        assert!(!text(10).contains("generator"), "{}", text(10));
    }

    #[test]
    fn objective_that_moves_the_line_is_stated_without_praise() {
        let check = |slope, expected: &str| {
            let text = chosen(Span::from_micros(372), &LineBasis { slope, ..LineBasis::default() });
            assert!(text.contains(expected) && !text.contains("only"), "{text}");
        };
        check(1.0, "moves the line by 65 %");
        check(10.0, "moves the line by 5.14 %");
    }

    #[test]
    fn missed_slots_below_the_line_lower_the_grade() {
        let check = |missed, expected: Option<Grade>| {
            let basis = LineBasis { lapses: Some((missed, 40)), ..LineBasis::default() };
            assert_eq!(lapses(&basis).map(|(grade, _)| grade), expected, "{missed}");
        };
        check(0.025, None);
        check(0.1, Some(Grade::Fair));
        check(0.4, Some(Grade::Low));
        assert_eq!(lapses(&LineBasis::default()), None);
    }
}
