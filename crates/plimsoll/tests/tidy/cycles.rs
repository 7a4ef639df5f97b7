//! Modules of a crate that need each other in a circle: a reader cannot start at any of them. The list may only shrink.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};
use super::tree;

/// The present state: `crate modules` per line, without crates that have no cycle.
const CYCLES: &str = "crates/plimsoll/tests/tidy/cycles.txt";

/// The modules at the top of a crate that each of them names.
type Uses<'s> = BTreeMap<&'s str, BTreeSet<&'s str>>;

fn check(sources: &[Source], listed: &str) -> Vec<Complaint> {
    let mut crates: BTreeMap<&str, Uses<'_>> = BTreeMap::new();
    for source in sources {
        let Some((name, file)) = source.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
            continue;
        };
        let module = file.split('/').next().unwrap_or(file).trim_end_matches(".rs");
        if !["lib", "main"].contains(&module) {
            let uses = crates.entry(name).or_default().entry(module).or_default();
            uses.extend(source.crate_modules.iter().map(String::as_str));
        }
    }
    let listed: BTreeMap<&str, usize> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, modules)| Some((name, modules.parse().ok()?)))
        .collect();
    let complain = |(name, uses): (&str, Uses<'_>)| {
        let cyclic: Vec<&str> = uses.keys().copied().filter(|module| reaches(&uses, module, module)).collect();
        let allowed = listed.get(name).copied().unwrap_or_default();
        (cyclic.len() != allowed).then(|| Complaint {
            place: CYCLES.to_owned(),
            found: format!("crate {name} has {} modules in cycles: {}", cyclic.len(), cyclic.join(", ")),
            allowed: format!("{allowed}"),
            remedy: if cyclic.len() > allowed {
                "move what two modules share below both".to_owned()
            } else {
                format!("write {name} {}", cyclic.len())
            },
        })
    };
    crates.into_iter().filter_map(complain).collect()
}

/// True if a chain of uses leads from one module to another.
fn reaches(uses: &Uses<'_>, from: &str, to: &str) -> bool {
    let (mut reached, mut to_visit) = (BTreeSet::new(), vec![from]);
    while let Some(module) = to_visit.pop() {
        for &next in uses.get(module).into_iter().flatten().filter(|next| **next != module) {
            if next == to {
                return true;
            }
            if reached.insert(next) {
                to_visit.push(next);
            }
        }
    }
    false
}

#[test]
fn modules_form_no_new_cycles() {
    assert_none(&check(sources(), &tree::read_text(CYCLES).unwrap_or_default()));
}

#[test]
fn a_planted_cycle_and_a_forgotten_entry_are_found() {
    let source = |path: &str, text: &str| Source::parse(path, text.to_owned());
    let files = [
        source("crates/a/src/lib.rs", "mod one; mod two; mod three; use crate::one::One;"),
        source("crates/a/src/one.rs", "use crate::{three, two::{Two, deep}};"),
        source("crates/a/src/two/deep.rs", "fn f() { crate::one::g() }"),
        source("crates/a/src/three.rs", "// crate::one\n#[cfg(test)]\nmod tests { use crate::one; }"),
    ];
    assert_found(&check(&files, ""), &[&format!("{CYCLES}: crate a has 2 modules in cycles: one, two")]);
    assert_found(&check(&files, "a 2"), &[]);
    assert_found(&check(&files, "a 3"), &[&format!("{CYCLES}: crate a has 2 modules")]);
}
