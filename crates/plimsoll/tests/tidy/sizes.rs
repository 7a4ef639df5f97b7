//! Length of files and functions, and the ratchet: exceptions that may only shrink.

use std::collections::BTreeMap;

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};
use super::tree;

/// Lines of a file, blank lines and comments included.
const FILE_LINES_MAX: usize = 1_000;
/// Lines of a function, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// The exceptions: `path lines` or `path::function lines` per line.
const RATCHET: &str = "crates/plimsoll/tests/tidy/ratchet.txt";

/// A file or function with its length.
#[derive(Debug)]
struct Piece {
    place: String,
    lines: usize,
    limit: usize,
}

fn list_pieces(sources: &[Source]) -> BTreeMap<String, Piece> {
    let mut pieces: BTreeMap<String, Piece> = BTreeMap::new();
    for source in sources {
        let lines = source.text.lines().count();
        pieces.insert(source.path.clone(), Piece { place: source.path.clone(), lines, limit: FILE_LINES_MAX });
        for function in &source.functions {
            let piece = Piece {
                place: format!("{}:{}", source.path, function.line),
                lines: function.lines,
                limit: FUNCTION_LINES_MAX,
            };
            // Of functions with the same name, the longest counts.
            let key = format!("{}::{}", source.path, function.name);
            if pieces.get(&key).is_none_or(|other| other.lines < piece.lines) {
                pieces.insert(key, piece);
            }
        }
    }
    pieces
}

fn check(sources: &[Source], ratchet: &str) -> Vec<Complaint> {
    let (pieces, mut complaints) = (list_pieces(sources), Vec::new());
    let mut excepted = BTreeMap::new();
    for (index, line) in ratchet.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let place = format!("{RATCHET}:{}", index + 1);
        match line.rsplit_once(' ').and_then(|(key, lines)| Some((key.trim(), lines.parse::<usize>().ok()?))) {
            Some((key, lines)) => {
                complaints.extend(stale(place, key, lines, pieces.get(key)));
                excepted.insert(key, lines);
            }
            None => complaints.push(unreadable(place, line)),
        }
    }
    for (key, piece) in &pieces {
        let (limit, is_exception) = excepted.get(key.as_str()).map_or((piece.limit, false), |lines| (*lines, true));
        if piece.lines > limit && piece.lines > piece.limit {
            complaints.push(too_long(key, piece, limit, is_exception));
        }
    }
    complaints
}

fn too_long(key: &str, piece: &Piece, limit: usize, is_exception: bool) -> Complaint {
    let allowed = if is_exception {
        format!("{limit} lines, by its exception in {RATCHET}, which may only shrink")
    } else {
        format!("{limit} lines")
    };
    let remedy = if piece.limit == FILE_LINES_MAX {
        "split the file: one concept per file"
    } else {
        "name a part of the function and move it below"
    };
    Complaint {
        place: piece.place.clone(),
        found: format!("{key} has {} lines", piece.lines),
        allowed,
        remedy: remedy.to_owned(),
    }
}

/// An exception that exceeds the actual length, or has no subject.
fn stale(place: String, key: &str, lines: usize, piece: Option<&Piece>) -> Option<Complaint> {
    let (found, remedy) = match piece {
        None => (format!("{key} does not exist"), "remove the line".to_owned()),
        Some(piece) if piece.lines <= piece.limit => {
            (format!("{key} has {} lines: no exception is needed", piece.lines), "remove the line".to_owned())
        }
        Some(piece) if piece.lines < lines => {
            (format!("{key} has {} lines, its exception {lines}", piece.lines), format!("write {key} {}", piece.lines))
        }
        Some(_) => return None,
    };
    Some(Complaint { place, found, allowed: "exceptions with their present length".to_owned(), remedy })
}

fn unreadable(place: String, line: &str) -> Complaint {
    Complaint {
        place,
        found: format!("{line:?}"),
        allowed: "path lines, path::function lines, or a # comment".to_owned(),
        remedy: "write the line in that form".to_owned(),
    }
}

#[test]
fn files_and_functions_are_short() {
    assert_none(&check(sources(), &tree::read_text(RATCHET).unwrap_or_default()));
}

#[test]
fn long_ones_are_found_and_the_ratchet_only_shrinks() {
    let function = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
    let file = |text: String| [Source::parse("a.rs", text)];
    assert_found(&check(&file(function(70)), ""), &[]);
    assert_found(&check(&file(function(71)), ""), &["a.rs:1: a.rs::f has 71 lines"]);
    assert_found(&check(&file("//\n".repeat(1_000)), ""), &[]);
    assert_found(&check(&file("//\n".repeat(1_001)), ""), &["a.rs: a.rs has 1001 lines"]);

    let seventy_two = file(function(72));
    assert_found(&check(&seventy_two, "# why\na.rs::f 72\n"), &[]);
    assert_found(&check(&seventy_two, "a.rs::f 71\n"), &["a.rs:1: a.rs::f has 72 lines"]);
    let ratchet = |found: &str| format!("{RATCHET}:1: {found}");
    assert_found(&check(&seventy_two, "a.rs::f 73\n"), &[&ratchet("a.rs::f has 72 lines, its exception 73")]);
    assert_found(&check(&file(function(3)), "a.rs::f 72\n"), &[&ratchet("a.rs::f has 3 lines: no exception")]);
    assert_found(&check(&file(function(3)), "b.rs 1200\n"), &[&ratchet("b.rs does not exist")]);
    assert_found(&check(&file(function(3)), "b.rs\n"), &[&ratchet("\"b.rs\"")]);
}
