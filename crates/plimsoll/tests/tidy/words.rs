//! Words: meaningless names, missing first lines, marks of unfinished work, commented-out code.

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};

/// Meaningless parts of names.
const EMPTY_PARTS: [&str; 6] = ["util", "utils", "helper", "helpers", "manager", "managers"];
/// Meaningless as a whole name; `longest_common_prefix` is permitted.
const EMPTY_NAMES: [&str; 2] = ["common", "misc"];
/// Meaningless prefixes of functions. A test is named after the behaviour, not after a question; `what_if` is a term.
const EMPTY_PREFIXES: [&str; 3] = ["handle_", "what_", "who_"];
const PERMITTED_PREFIX: &str = "what_if";
/// Marks of unfinished work.
const MARKS: [&str; 2] = ["TODO", "FIXME"];

fn check(source: &Source) -> Vec<Complaint> {
    let mut complaints = empty_names(source);
    complaints.extend(first_line(source));
    let comments = source.text.lines().enumerate().filter_map(|(index, line)| Some((index + 1, comment(line)?)));
    for (number, comment) in comments {
        complaints.extend(promise(source, number, comment));
        complaints.extend(code(source, number, comment));
    }
    complaints
}

fn empty_names(source: &Source) -> Vec<Complaint> {
    let complaint = |place: String, name: &str| Complaint {
        place,
        found: format!("the name {name}"),
        allowed: format!(
            "names without {}, other than {}; functions that do not begin with {}",
            EMPTY_PARTS.join(", "),
            EMPTY_NAMES.join(" and "),
            EMPTY_PREFIXES.join(", ")
        ),
        remedy: "name it after what it holds or does".to_owned(),
    };
    let of_path = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
    let in_path = of_path.filter(|part| is_empty_name(part)).map(|part| complaint(source.path.clone(), part));
    let at_fault = source
        .definitions
        .iter()
        .filter(|defined| is_empty_name(&defined.name) || (defined.function && has_empty_prefix(&defined.name)));
    let in_code = at_fault.map(|defined| complaint(format!("{}:{}", source.path, defined.line), &defined.name));
    in_path.chain(in_code).collect()
}

fn has_empty_prefix(name: &str) -> bool {
    !name.starts_with(PERMITTED_PREFIX) && EMPTY_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn is_empty_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    EMPTY_NAMES.contains(&lower.as_str()) || parts(name).any(|part| EMPTY_PARTS.contains(&part.as_str()))
}

/// The words of a name: `disk_manager`, `disk-manager` and `DiskManager` are equal.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::new();
    for letter in name.chars() {
        match letter {
            '_' | '-' | '.' => spaced.push(' '),
            upper if upper.is_ascii_uppercase() => spaced.extend([' ', upper.to_ascii_lowercase()]),
            other => spaced.push(other),
        }
    }
    // An acronym is split into letters; an empty word is not an acronym.
    spaced.split_whitespace().map(String::from).collect::<Vec<_>>().into_iter()
}

fn first_line(source: &Source) -> Option<Complaint> {
    (!source.text.starts_with("//!")).then(|| Complaint {
        place: format!("{}:1", source.path),
        found: format!("{:?}", source.text.lines().next().unwrap_or_default()),
        allowed: "a first line that begins with //!".to_owned(),
        remedy: "say what the file is, and what it knows nothing about".to_owned(),
    })
}

/// The text of a line comment, without documentation, which contains examples.
fn comment(line: &str) -> Option<&str> {
    let (before, text) = line.split_once("//")?;
    let in_address = before.ends_with(':');
    (!in_address && !text.starts_with(['/', '!'])).then_some(text.trim())
}

fn promise(source: &Source, line: usize, comment: &str) -> Option<Complaint> {
    let mark = MARKS.iter().find(|mark| comment.split(|c: char| !c.is_alphanumeric()).any(|word| word == **mark))?;
    let names_issue = comment.split('#').skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_digit()));
    (!names_issue).then(|| Complaint {
        place: format!("{}:{line}", source.path),
        found: format!("{mark} without an issue"),
        allowed: format!("{mark} with the number of an issue, as in {mark}(#12)"),
        remedy: "do it, open an issue and name it, or say as a limit what is not done".to_owned(),
    })
}

/// True for a comment line that parses as a Rust statement.
fn code(source: &Source, line: usize, comment: &str) -> Option<Complaint> {
    let shaped = comment.ends_with(';') && comment.contains(['(', '=', ':']);
    let statement = shaped && syn::parse_str::<syn::Stmt>(comment).is_ok();
    statement.then(|| Complaint {
        place: format!("{}:{line}", source.path),
        found: format!("code in a comment: {comment}"),
        allowed: "sentences that say why".to_owned(),
        remedy: "delete it: the history keeps it".to_owned(),
    })
}

#[test]
fn words_are_well_chosen() {
    assert_none(&sources().iter().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn planted_words_are_found() {
    let source = |path: &str, text: &str| check(&Source::parse(path, text.to_owned()));
    assert_found(&source("a/src/x.rs", "//! Sound.\nfn longest_common_prefix() {}\n"), &[]);
    assert_found(&source("a/tests/common/mod.rs", "//! Found.\n"), &["a/tests/common/mod.rs: the name common"]);
    assert_found(&source("a.rs", "//! Found.\nstruct DiskManager;\n"), &["a.rs:2: the name DiskManager"]);
    assert_found(&source("a.rs", "//! Found.\nfn handle_read() {}\n"), &["a.rs:2: the name handle_read"]);
    assert_found(&source("a.rs", "//! Sound.\nstruct S;\nimpl T for S {\n    fn handle_read() {}\n}\n"), &[]);
    assert_found(&source("a.rs", "//! Found.\nfn f(io_utils: u8) {}\n"), &["a.rs:2: the name io_utils"]);
    assert_found(&source("a.rs", "fn f() {}\n"), &["a.rs:1: \"fn f() {}\""]);
    assert_found(&source("a.rs", "//! Found.\n// TODO: later\n"), &["a.rs:2: TODO without"]);
    assert_found(&source("a.rs", "//! Sound.\n// TODO(#12): later; see https://a.b\n"), &[]);
    assert_found(&source("a.rs", "//! Found.\n// let x = f();\n"), &["a.rs:2: code in a comment"]);
    assert_found(&source("a.rs", "//! Sound.\nfn f() {} // none is lost (all are kept);\n"), &[]);
}
