//! Classification of the lines of a job file.

use plimsoll_language::{label, say};

/// A line without its comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Empty,
    /// The name in brackets.
    Section(&'a str),
    Include(&'a str),
    /// A name, and the text after `=`.
    Option(&'a str, Option<&'a str>),
    /// Fault and remedy.
    Malformed(&'static str, &'static str),
}

/// The line up to any `;` or `#`, trimmed at its end.
pub(super) fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default().trim_end()
}

/// Note on a comment that begins within a value.
pub(super) fn cut_short(line: &str, cut: &str) -> Option<String> {
    let after = line[cut.len()..].chars().next()?;
    let is_value = cut.contains('=') && matches!(after, ';' | '#');
    is_value.then(|| say!("a comment begins at {after}, also within a word: only {:?} is read", cut.trim_start()))
}

pub(super) fn read(cut: &str) -> Line<'_> {
    let line = cut.trim_start();
    if line.is_empty() {
        return Line::Empty;
    }
    if let Some(rest) = line.strip_prefix('[') {
        return match rest.split_once(']') {
            Some((_, after)) if !after.trim().is_empty() => {
                Line::Malformed(label!("text behind a section's ]"), label!("write it on a line of its own"))
            }
            Some((name, _)) if name.trim().is_empty() => {
                Line::Malformed(label!("a section without a name"), label!("write [name]"))
            }
            Some((name, _)) => Line::Section(name),
            None => Line::Malformed(label!("a section without its ]"), label!("write [name]")),
        };
    }
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name.trim_end(), Some(value)),
        None => (line, None),
    };
    match (name, value) {
        ("", _) => Line::Malformed(label!("a value without a name"), label!("write an option's name before =")),
        ("include", Some(file)) => Line::Include(file.trim()),
        (_, None) if line.starts_with("include ") => Line::Include(line["include ".len()..].trim()),
        _ => Line::Option(name, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &Line) {
        assert_eq!(&read(without_comment(line)), expected, "{line:?}");
    }

    #[test]
    fn lines_are_classified() {
        check("", &Line::Empty);
        check("  ; all comment", &Line::Empty);
        check("# all comment", &Line::Empty);
        check(" \t[a b ] ; c", &Line::Section("a b "));
        check("[a] b", &Line::Malformed("text behind a section's ]", "write it on a line of its own"));
        check("[a", &Line::Malformed("a section without its ]", "write [name]"));
        check("[]", &Line::Malformed("a section without a name", "write [name]"));
        check("rw=read ; c", &Line::Option("rw", Some("read")));
        check("bs = 4k\t# c", &Line::Option("bs", Some(" 4k")));
        check("  stonewall  ", &Line::Option("stonewall", None));
        check("rw=a=b", &Line::Option("rw", Some("a=b")));
        check("=5", &Line::Malformed("a value without a name", "write an option's name before ="));
        check("include a b.fio", &Line::Include("a b.fio"));
        check("include=a.fio", &Line::Include("a.fio"));
        check("a\r", &Line::Option("a", None));
    }

    #[test]
    fn values_cut_by_comments_are_noted() {
        let cut = |line| cut_short(line, without_comment(line));
        assert!(cut("filename=/tmp/a;b").is_some_and(|words| words.contains("\"filename=/tmp/a\"")));
        assert_eq!((cut("bs=4k ; b"), cut("# a=b"), cut("bs=4k")), (None, None, None));
    }
}
