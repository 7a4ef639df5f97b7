//! Numbers of dependencies, which STYLE.md limits.

use std::collections::BTreeSet;

use super::complaint::{Complaint, assert_found, assert_none};
use super::tree;
use super::workspace::list_packages;

const STYLE: &str = "STYLE.md";

/// The limits of the sentence `At most N direct dependencies, and N packages in Cargo.lock`.
fn read_limits(style: &str) -> Option<[usize; 2]> {
    let (_, sentence) = style.split_once("At most ")?;
    let mut numbers = sentence.split_whitespace().filter_map(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?])
}

fn check(style: &str, found: [usize; 2]) -> Vec<Complaint> {
    let limits = read_limits(style).unwrap_or_default();
    let names = ["direct dependencies", "packages in Cargo.lock"];
    let complain = |((name, found), limit): ((&str, usize), usize)| {
        (found != limit).then(|| Complaint {
            place: STYLE.to_owned(),
            found: format!("there are {found} {name}"),
            allowed: limit.to_string(),
            remedy: format!("use a dependency that exists, or write {found} and give the reason in the commit"),
        })
    };
    names.into_iter().zip(found).zip(limits).filter_map(complain).collect()
}

#[test]
fn dependencies_are_as_many_as_the_style_allows() {
    let direct: BTreeSet<&str> = list_packages()
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| !dependency.inside && !dependency.dev)
        .map(|dependency| dependency.name.as_str())
        .collect();
    // Packages of the workspace have no source.
    let lock = tree::read_text("Cargo.lock").unwrap_or_default();
    let locked = lock.lines().filter(|line| line.starts_with("source = ")).count();
    assert_none(&check(&tree::read_text(STYLE).unwrap_or_default(), [direct.len(), locked]));
}

#[test]
fn more_and_fewer_dependencies_are_found() {
    let style = "At most 3 direct dependencies, and 20\npackages in `Cargo.lock`";
    assert_found(&check(style, [3, 20]), &[]);
    assert_found(&check(style, [4, 20]), &["STYLE.md: there are 4 direct dependencies"]);
    assert_found(&check(style, [3, 19]), &["STYLE.md: there are 19 packages in Cargo.lock"]);
}
