//! Products that would not carry a load, by reason.

use plimsoll_choose::Rejected;

use crate::text::paint::{Line, Tone, wrap};
use crate::text::{Detail, TextStyle};
use crate::words::clean;

/// Names that are shown of each reason.
const NAMES: usize = 5;

/// One line a reason, the commonest first; with [`Detail::All`] one a product.
pub(super) fn lines(rejected: &[Rejected], detail: Detail, style: &TextStyle) -> Vec<Line> {
    if rejected.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::of(format!("Would not carry it: {}", rejected.len()), Tone::Strong)];
    let texts: Vec<String> = if detail == Detail::All {
        rejected.iter().map(|one| format!("{}: {}", one.name, one.why)).collect()
    } else {
        groups(rejected).iter().map(Group::words).collect()
    };
    for text in texts {
        let hanging = wrap(&clean(&text), style.width - 2).into_iter().enumerate();
        lines.extend(hanging.map(|(index, line)| Line::plain(format!("{}{line}", if index == 0 { "" } else { "  " }))));
    }
    lines
}

/// Products with the same reason.
struct Group<'r> {
    reason: String,
    members: Vec<&'r Rejected>,
}

impl Group<'_> {
    fn words(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|one| product(&one.name)).collect();
        let reason = if let [only] = self.members.as_slice() { &only.why } else { &self.reason };
        format!("{} - {reason}: {}", self.members.len(), first(&names))
    }
}

/// The first names, and how many there are more.
pub(super) fn first(names: &[&str]) -> String {
    match names.len().saturating_sub(NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..NAMES].join(", ")),
    }
}

fn groups(rejected: &[Rejected]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for one in rejected {
        let reason = reason(one);
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group.members.push(one),
            None => groups.push(Group { reason, members: vec![one] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

/// A reason without what differs from product to product: its name and numbers with their units become dots.
fn reason(one: &Rejected) -> String {
    let why = one.why.replace(product(&one.name), "it");
    let words = why.split(' ').map(|word| if word.starts_with(|c: char| c.is_ascii_digit()) { "…" } else { word });
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "ns", "us", "ms", "s"];
    let mut kept: Vec<&str> = Vec::new();
    for word in words {
        if kept.last() != Some(&"…") || !units.contains(&word.trim_end_matches(|c: char| c.is_ascii_punctuation())) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// The product's name of a configuration: `stripe(2,64KiB) of aws/gp3:size=100` is of `aws/gp3`.
fn product(configuration: &str) -> &str {
    let volume = configuration.rsplit(" of ").next().unwrap_or(configuration);
    volume.split([':', ' ']).next().unwrap_or(volume)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(reasons: &[(&str, &str)]) -> Vec<Rejected> {
        reasons.iter().map(|(name, why)| Rejected { name: (*name).into(), why: (*why).into() }).collect()
    }

    fn check(rejected: &[(&str, &str)], expected: &[&str]) {
        let found: Vec<String> = groups(&many(rejected)).iter().map(Group::words).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_reason_is_said_once() {
        let few = "it answers 4000 of 12000 IOPS (simulated)";
        let more = "it answers 5000 of 12000 IOPS (simulated)";
        check(
            &[
                ("z/hdd", "it cannot hold 4 TiB"),
                ("aws/gp3:size=100", few),
                ("stripe(2,64KiB) of oci/block:size=50", more),
            ],
            &["2 - it answers … of … IOPS (simulated): aws/gp3, oci/block", "1 - it cannot hold 4 TiB: z/hdd"],
        );
        let silent = |name: &str| format!("the catalogue does not know when {name} answers, only what it carries");
        let (a, b) = (silent("a/a"), silent("b/b"));
        let said = "2 - the catalogue does not know when it answers, only what it carries: a/a, b/b";
        check(&[("a/a:size=1", &a), ("b/b", &b)], &[said]);
        let late = |time: &str| format!("p99 is {time} at this load (simulated)");
        let (a, b) = (late("2.5 ms"), late("812 us"));
        check(&[("a/a", &a), ("b/b", &b)], &["2 - p99 is … at this load (simulated): a/a, b/b"]);
    }

    #[test]
    fn a_long_list_stays_short() {
        let names: Vec<String> = (0..40).map(|n| format!("a/p{n}")).collect();
        let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "too slow")).collect();
        check(&all, &["40 - too slow: a/p0, a/p1, a/p2, a/p3, a/p4 and 35 more"]);
        let style = TextStyle::default();
        assert_eq!(lines(&many(&all), Detail::Normal, &style).len(), 2);
        assert_eq!(lines(&many(&all), Detail::All, &style).len(), 41);
    }
}
