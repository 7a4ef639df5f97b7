//! Crowds of sessions for a terminal: the load line, the curve, the figures, and where the time went.

use plimsoll_record::{Spent, Split, SuiteRun};

use super::TextStyle;
use super::paint::{Line, Tone, cut, wrap};
use super::{page, plot};
use crate::crowds::{Group, Point, below, groups, headline, responses, splits};
use crate::page::Table;
use crate::statements;
use crate::words::Counted;
use crate::words::database::{PARTS, share_of, spent};

/// More curves than these have their figures alone.
const MOST_PLOTS: usize = 4;
/// More bars than these are those of the first, the knee and the last of each curve.
const MOST_BARS: usize = 16;

/// What crowds and statements came to: nothing of suites without them.
pub(super) fn parts(suite: &SuiteRun, style: &TextStyle) -> Vec<Vec<Line>> {
    let groups = groups(suite);
    let mut parts: Vec<Vec<Line>> = groups.iter().map(|group| head(suite, group, style)).collect();
    for group in groups.iter().take(MOST_PLOTS) {
        let mut lines = plot::plot(&group.curve, Counted::Transactions, style);
        if let Some(title) = lines.first_mut().filter(|_| !group.name.is_empty()) {
            let text = format!("{}: response time against transactions/s completed", group.name);
            *title = Line::of(cut(&text, style.width), Tone::Strong);
        }
        parts.push(lines);
    }
    parts.push(titled("Behind these figures", &responses(&groups), style));
    parts.push(titled("What the database and its storage did", &below(suite, &groups), style));
    parts.push(time(&groups, style));
    let title = if groups.is_empty() { "Behind these figures" } else { "Statements" };
    parts.push(titled(title, &statements::table(suite), style));
    parts
}

fn head(suite: &SuiteRun, group: &Group<'_>, style: &TextStyle) -> Vec<Line> {
    let told = headline(suite, group);
    let verdict = told.verdict.iter().flat_map(|text| wrap(text, style.width));
    let rest = wrap(&told.rest.join(" "), style.width);
    let lines = verdict.map(|line| Line::of(line, Tone::Strong)).chain(rest.into_iter().map(Line::plain));
    lines.filter(|_| !told.rest.is_empty() || told.verdict.is_some()).collect()
}

fn titled(title: &str, table: &Table, style: &TextStyle) -> Vec<Line> {
    let lines = page::table(table, style);
    if lines.is_empty() { lines } else { [Line::of(title, Tone::Strong)].into_iter().chain(lines).collect() }
}

/// The split of sessions' time: a bar of letters for each point, then the shares.
fn time(groups: &[Group<'_>], style: &TextStyle) -> Vec<Line> {
    let table = splits(groups);
    let mut lines = titled("Where the time went", &table, style);
    if lines.is_empty() {
        return lines;
    }
    let bars: Vec<(String, &Split)> = shown(groups).into_iter().filter_map(bar_of).collect();
    let name = bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(style.width / 3);
    let width = (style.width - name - 2).min(64);
    let drawn =
        bars.iter().map(|(of, split)| Line::plain(format!("{:<name$}  {}", cut(of, name), letters(split, width))));
    let used =
        PARTS.iter().filter(|part| bars.iter().any(|(_, split)| share_of(split, **part).is_some_and(|s| s > 0.0)));
    let legend: Vec<String> = used.map(|part| format!("{} {}", spent(*part).1, spent(*part).0)).collect();
    let legend = format!("each line is all of the sessions' time: {}", legend.join(", "));
    let legend = wrap(&legend, style.width).into_iter().map(|line| Line::of(line, Tone::Quiet));
    let above: Vec<Line> = drawn.chain(legend).collect();
    lines.splice(1..1, above);
    lines
}

fn bar_of<'a>(point: &Point<'a>) -> Option<(String, &'a Split)> {
    Some((point.name(), point.crowd.split.as_ref()?))
}

/// All points, or the first, the knee and the last of each curve.
fn shown<'a, 'b>(groups: &'b [Group<'a>]) -> Vec<&'b Point<'a>> {
    if groups.iter().map(|group| group.points.len()).sum::<usize>() <= MOST_BARS {
        return groups.iter().flat_map(|group| &group.points).collect();
    }
    let of = |group: &'b Group<'a>| {
        let knee = group.at_knee().map(|point| &point.step.name);
        let last = group.points.len().saturating_sub(1);
        let telling = move |(index, point): &(usize, &'b Point<'a>)| {
            *index == 0 || *index == last || Some(&point.step.name) == knee
        };
        group.points.iter().enumerate().filter(telling).map(|(_, point)| point)
    };
    groups.iter().flat_map(of).collect()
}

/// The parts as letters, each boundary where it falls: what is narrower than half a letter has none.
fn letters(split: &Split, width: usize) -> String {
    let total: f64 = PARTS.iter().filter_map(|part| share_of(split, *part)).sum();
    let mut out = String::new();
    let (mut so_far, mut written) = (0.0, 0);
    for part in PARTS {
        so_far += share_of(split, part).unwrap_or(0.0);
        let end = if total > 0.0 { (so_far / total.max(1.0) * width as f64).round() as usize } else { 0 };
        out.extend(std::iter::repeat_n(letter(part), end.min(width).saturating_sub(written)));
        written = written.max(end.min(width));
    }
    out
}

const fn letter(part: Spent) -> char {
    spent(part).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shares: &[(Spent, f64)], expected: &str) {
        assert_eq!(letters(&Split { shares: shares.to_vec(), method: String::new() }, 10), expected);
    }

    #[test]
    fn letters_follow_the_shares() {
        check(&[(Spent::Processor, 0.2), (Spent::Reading, 0.7), (Spent::Locked, 0.1)], "CCRRRRRRRL");
        check(&[(Spent::Reading, 0.96), (Spent::Locked, 0.04)], "RRRRRRRRRR");
        check(&[(Spent::Reading, f64::NAN)], "");
        check(&[(Spent::Reading, 0.5)], "RRRRR");
        check(&[(Spent::Reading, 3.0), (Spent::Client, 3.0)], "RRRRRNNNNN");
    }
}
