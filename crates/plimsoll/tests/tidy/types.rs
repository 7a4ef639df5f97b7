//! Names of types: a reader who searches for a name finds one or two definitions.

use std::collections::BTreeMap;

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};

/// Definitions with the same name in the workspace, if any of them is visible outside its file.
const MAX_VISIBLE: usize = 2;
/// Definitions with the same name, of any visibility.
const MAX_ALL: usize = 3;

/// Name of the type that a line defines at the top level, and true if it is visible outside its file.
fn defined_type(line: &str) -> Option<(&str, bool)> {
    let public = line.strip_prefix("pub").and_then(|rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(") ").map(|(_, rest)| rest),
        None => rest.strip_prefix(' '),
    });
    let rest = public.unwrap_or(line);
    let name = ["struct ", "enum ", "trait ", "type ", "union "].iter().find_map(|word| rest.strip_prefix(word))?;
    let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
    Some((&name[..end], public.is_some()))
}

fn check(sources: &[Source]) -> Vec<Complaint> {
    let mut definitions: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.path.contains("/src/")) {
        for (name, visible) in source.text.lines().filter_map(defined_type) {
            definitions.entry(name).or_default().push((&source.path, visible));
        }
    }
    let complain = |(name, found): (&str, Vec<(&str, bool)>)| {
        let visible = found.iter().filter(|(_, visible)| *visible).count();
        (visible > MAX_VISIBLE || found.len() > MAX_ALL).then(|| Complaint {
            place: found.last().map(|(path, _)| (*path).to_owned()).unwrap_or_default(),
            found: format!("{name} is defined {} times, {visible} of them visible outside their file", found.len()),
            allowed: format!("{MAX_VISIBLE} visible definitions and {MAX_ALL} in all"),
            remedy: format!(
                "choose names that tell them apart: {}",
                found.iter().map(|(path, _)| *path).collect::<Vec<_>>().join(", ")
            ),
        })
    };
    definitions.into_iter().filter_map(complain).collect()
}

#[test]
fn names_of_types_are_not_repeated() {
    assert_none(&check(sources()));
}

#[test]
fn repeated_names_are_found() {
    let of = |lines: &[&str]| {
        let parse = |(index, line): (usize, &&str)| {
            Source::parse(&format!("crates/a/src/f{index}.rs"), format!("{line} Row;\n"))
        };
        check(&lines.iter().enumerate().map(parse).collect::<Vec<_>>())
    };
    assert_found(&of(&["pub struct", "pub(crate) struct", "struct"]), &[]);
    assert_found(
        &of(&["pub struct", "pub(crate) struct", "pub(super) struct"]),
        &["crates/a/src/f2.rs: Row is defined 3 times, 3 of them visible"],
    );
    assert_found(&of(&["struct"; 4]), &["crates/a/src/f3.rs: Row is defined 4 times, 0 of them visible"]);
}
