//! Locals that shadow a free function of their file, and dialect words in identifiers. The numbers may only shrink.

use std::collections::BTreeMap;

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};
use super::tree;

/// The present state: `crate shadows words` per line, without crates that have neither.
const IDENTIFIERS: &str = "crates/plimsoll/tests/tidy/identifiers.txt";
/// Words of no field, which stand for a precise name.
const DIALECT: [&str; 11] =
    ["seen", "most", "whole", "wanted", "held", "known", "kept", "asked", "said", "made", "shown"];

/// Numbers of a crate.
#[derive(Default)]
struct Counts {
    shadows: Vec<String>,
    words: BTreeMap<&'static str, usize>,
}

fn check_identifiers(sources: &[Source], listed: &str) -> Vec<Complaint> {
    let mut crates: BTreeMap<&str, Counts> = BTreeMap::new();
    for source in sources {
        let Some(name) = source.path.strip_prefix("crates/").and_then(|path| path.split('/').next()) else { continue };
        let counts = crates.entry(name).or_default();
        let place = |(local, line): &(String, usize)| format!("{}:{line} {local}", source.path);
        counts.shadows.extend(source.shadows.iter().map(place));
        let parts = source.definitions.iter().flat_map(|definition| definition.name.split('_'));
        for part in parts.map(str::to_ascii_lowercase) {
            if let Some(word) = DIALECT.iter().find(|word| **word == part) {
                *counts.words.entry(word).or_default() += 1;
            }
        }
    }
    let listed: BTreeMap<&str, (usize, usize)> = listed.lines().filter_map(parse_entry).collect();
    let complain = |(name, counts): (&str, Counts)| {
        let found = (counts.shadows.len(), counts.words.values().sum::<usize>());
        let allowed = listed.get(name).copied().unwrap_or_default();
        (found != allowed).then(|| Complaint {
            place: IDENTIFIERS.to_owned(),
            found: format!("crate {name} has {}", describe(&counts)),
            allowed: format!("{} shadows and {} dialect words", allowed.0, allowed.1),
            remedy: if found.0 > allowed.0 || found.1 > allowed.1 {
                "name the function with a verb, or the value after its quantity".to_owned()
            } else {
                format!("write {name} {} {}", found.0, found.1)
            },
        })
    };
    crates.into_iter().filter_map(complain).collect()
}

fn parse_entry(line: &str) -> Option<(&str, (usize, usize))> {
    let (name, numbers) = line.split_once(' ')?;
    let (shadows, words) = numbers.split_once(' ')?;
    Some((name, (shadows.parse().ok()?, words.parse().ok()?)))
}

fn describe(counts: &Counts) -> String {
    let words: Vec<String> = counts.words.iter().map(|(word, count)| format!("{word} {count}")).collect();
    format!(
        "{} locals that shadow a function ({}) and {} dialect words ({})",
        counts.shadows.len(),
        counts.shadows.join(", "),
        counts.words.values().sum::<usize>(),
        words.join(", ")
    )
}

#[test]
fn identifiers_get_no_worse() {
    assert_none(&check_identifiers(sources(), &tree::read_text(IDENTIFIERS).unwrap_or_default()));
}

#[test]
fn planted_shadows_and_words_are_found() {
    let check =
        |text: &str, listed: &str| check_identifiers(&[Source::parse("crates/a/src/x.rs", text.to_owned())], listed);
    let shadow = "fn rate() {}\nfn f() {\n    let rate = rate();\n    let (mut g, other) = (1, 2);\n}\nfn g() {}\n";
    let found = format!(
        "{IDENTIFIERS}: crate a has 2 locals that shadow a function (crates/a/src/x.rs:3 rate, crates/a/src/x.rs:4 g) and 0 "
    );
    assert_found(&check(shadow, ""), &[&found]);
    assert_found(&check(shadow, "a 2 0"), &[]);
    assert_found(&check(shadow, "a 3 0"), &[&found]);
    let word = "fn read_whole() {}\nfn f(wholesale: u8) {\n    let seen_whole = 1;\n}\n";
    let found =
        format!("{IDENTIFIERS}: crate a has 0 locals that shadow a function () and 3 dialect words (seen 1, whole 2)");
    assert_found(&check(word, "a 0 2"), &[&found]);
    assert_found(&check(word, "a 0 3"), &[]);
}

#[test]
fn methods_parameters_and_functions_of_other_modules_are_not_shadowed() {
    let text = "struct S;\nimpl S {\n    fn rate(&self) {}\n}\nmod m {\n    fn depth() {}\n}\nfn free() {}\n\
                fn f(free: u8) {\n    let rate = 1;\n    let depth = |free: u8| 2;\n}\n";
    assert_found(&check_identifiers(&[Source::parse("crates/a/src/x.rs", text.to_owned())], ""), &[]);
}
