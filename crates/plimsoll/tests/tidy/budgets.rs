//! Line budgets of crates. A crate that grows has to raise its budget, visible to the reviewer.

use std::collections::BTreeMap;

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};
use super::tree;

/// The budgets: `crate lines` per line.
const BUDGETS: &str = "crates/plimsoll/tests/tidy/budgets.txt";
/// A budget is lowered once the crate is this much below it.
const SLACK: usize = 200;

fn check(sources: &[Source], budgets: &str) -> Vec<Complaint> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources {
        let name = source.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        if let Some((name, _)) = name {
            *lines.entry(name).or_default() += source.text.lines().count();
        }
    }
    let budgets: BTreeMap<&str, usize> = budgets
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, budget)| Some((name, budget.trim().parse().ok()?)))
        .collect();
    let complain = |(name, lines): (&str, usize)| {
        let budget = budgets.get(name).copied().unwrap_or_default();
        let remedy = if lines > budget {
            format!("remove lines, or write {name} {} and give the reason in the commit", lines.next_multiple_of(100))
        } else {
            format!("write {name} {}", lines.next_multiple_of(100))
        };
        (lines > budget || lines + SLACK < budget).then(|| Complaint {
            place: BUDGETS.to_owned(),
            found: format!("crate {name} has {lines} lines of source"),
            allowed: format!("its budget, {budget}"),
            remedy,
        })
    };
    lines.into_iter().filter_map(complain).collect()
}

#[test]
fn crates_keep_their_budgets() {
    assert_none(&check(sources(), &tree::read_text(BUDGETS).unwrap_or_default()));
}

#[test]
fn growth_and_forgotten_budgets_are_found() {
    let of = |lines: usize| [Source::parse("crates/a/src/lib.rs", "// a line\n".repeat(lines))];
    let found = |lines: usize| format!("{BUDGETS}: crate a has {lines} lines");
    assert_found(&check(&of(300), "a 300"), &[]);
    assert_found(&check(&of(301), "a 300"), &[&found(301)]);
    assert_found(&check(&of(300), "b 300"), &[&found(300)]);
    assert_found(&check(&of(100), "a 300"), &[]);
    assert_found(&check(&of(99), "a 300"), &[&found(99)]);
}
