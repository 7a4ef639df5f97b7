//! Requirement files: the built-in ones, and defects with their positions.

#![expect(clippy::disallowed_methods, reason = "compares an embedded list with its folder")]

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_catalogue::{Requirement, built_in_requirements, parse_requirement};

#[test]
fn no_file_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../requirements");
    let entries = std::fs::read_dir(folder).expect("the folder of requirements");
    let name = |path: &Path| path.file_name().expect("a file").to_string_lossy().into_owned();
    let in_folder: BTreeSet<String> = entries.map(|entry| name(&entry.expect("a readable folder").path())).collect();
    let listed: BTreeSet<String> = built_in_requirements().map(|(name, _)| format!("{name}.toml")).collect();
    assert_eq!(listed, in_folder, "the list is crates/catalogue/src/built_in.rs");
}

#[test]
fn every_file_is_sound_and_has_sources() {
    for (name, text) in built_in_requirements() {
        let requirement = parse_requirement(name, text).unwrap_or_else(|complaints| panic!("{}", complaints[0]));
        let conditions = requirement.conditions.iter().map(|condition| &condition.cite);
        for cite in conditions.chain([&requirement.cite]) {
            assert!(cite.url.starts_with("https://"), "{name}: {cite}");
        }
    }
}

#[test]
fn guide_has_each_requirement_and_a_sound_example() {
    const GUIDE: &str = include_str!("../../../../docs/requirements.md");
    for (name, _) in built_in_requirements() {
        assert!(GUIDE.contains(&format!("`{name}`")), "{name}");
    }
    let (_, example) = GUIDE.split_once("```toml\n").expect("the guide has an example");
    let (example, _) = example.split_once("```\n\n").expect("the example has an end");
    parse_requirement("own.toml", example).unwrap_or_else(|complaints| panic!("{}", complaints[0]));
}

#[test]
fn defects_are_located() {
    let sound = Requirement::built_in_text("etcd").unwrap();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(sound.contains(from), "{from}");
        let complaints = parse_requirement("own.toml", &sound.replacen(from, to, 1)).unwrap_err();
        let found: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|line| line.contains(expected)), "{to:?} gave {found:?}");
    };
    check("about =", "abuot =", "own.toml:3:1: the file has no key \"abuot\"; did you mean about?");
    check("title = \"etcd\"", "", "own.toml:1:1: the file has no title");
    check("figure = \"sync p99\"", "figure = \"snc p99\"", "figure is \"snc p99\"; did you mean sync p99");
    check("figure = \"sync p99\"", "figure = \"iops\"", "[[condition]] of iops has no at_least");
    check("at_most = \"10ms\"", "at_most = 10", "at_most of sync p99 is no limit");
    check("at_most = \"10ms\"", "at_most = \"0ms\"", "at_most of sync p99 is no limit");
    check("at_most =", "at_least =", "[[condition]] has no key \"at_least\"");
    check("source = \"ibm\"", "source = \"imb\"", "source \"imb\" is not defined; did you mean ibm?");
    check("[[condition]]", "[condition]", "condition is table: a list in brackets");
    check("rw=write", "'''", "own.toml:11");
}
