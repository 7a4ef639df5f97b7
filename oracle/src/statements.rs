//! Oracle's SQL as text: splitting of scripts, and placeholders in Oracle's syntax.
//!
//! The server takes a single statement at a time. As in Oracle's tools, SQL statements end with `;`, and PL/SQL blocks
//! with a line that contains only `/`.

/// Keywords that begin a PL/SQL block.
const BLOCKS: [&str; 2] = ["BEGIN", "DECLARE"];
/// Objects of `CREATE` that contain PL/SQL.
const PROGRAMS: [&str; 5] = ["PROCEDURE", "FUNCTION", "PACKAGE", "TRIGGER", "TYPE"];
/// Keywords allowed between `CREATE` and the object.
const BETWEEN: [&str; 4] = ["OR", "REPLACE", "EDITIONABLE", "NONEDITIONABLE"];

/// Splits a script into statements: SQL without its `;`, PL/SQL with it.
pub(super) fn split(script: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut rest = script;
    while let Some(start) = first_code(rest) {
        rest = &rest[start..];
        let (statement, length) = up_to_end(rest, is_block(rest));
        if !statement.is_empty() {
            statements.push(statement);
        }
        rest = &rest[length..];
    }
    statements
}

/// Replaces `?` by `:1`, `:2` and so on, outside of literals, names and comments.
pub(super) fn numbered(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 8);
    let (mut at, mut count) = (0, 0);
    while at < sql.len() {
        let length = opaque(&sql[at..]);
        if length > 0 {
            text.push_str(&sql[at..at + length]);
            at += length;
            continue;
        }
        let letter = next(sql, at);
        if letter == '?' {
            count += 1;
            text.push_str(&format!(":{count}"));
        } else {
            text.push(letter);
        }
        at += letter.len_utf8();
    }
    text
}

/// Offset of the first word after blanks, comments, `;`, and lines of `/`.
fn first_code(text: &str) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let letter = next(text, at);
        if letter.is_whitespace() || letter == ';' {
            at += letter.len_utf8();
        } else if rest.starts_with("--") || rest.starts_with("/*") {
            at += opaque(rest);
        } else if letter == '/' {
            at += 1;
        } else {
            return Some(at);
        }
    }
    None
}

/// A statement up to its `;` (SQL only), to a line of `/`, or to the end; and the length including the terminator.
fn up_to_end(text: &str, is_block: bool) -> (&str, usize) {
    let mut at = 0;
    while at < text.len() {
        let length = opaque(&text[at..]);
        if length > 0 {
            at += length;
            continue;
        }
        let letter = next(text, at);
        if (letter == ';' && !is_block) || is_slash_line(text, at) {
            return (text[..at].trim_end(), at + 1);
        }
        at += letter.len_utf8();
    }
    (text.trim_end(), text.len())
}

fn is_block(text: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut words = text
        .split(|letter: char| !is_word(letter))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .take(6);
    match words.next().as_deref() {
        Some("CREATE") => {
            words.find(|word| !BETWEEN.contains(&word.as_str())).is_some_and(|word| PROGRAMS.contains(&word.as_str()))
        }
        Some(word) => BLOCKS.contains(&word) || text.starts_with("<<"),
        None => false,
    }
}

/// True for a `/` that is alone on its line.
fn is_slash_line(text: &str, at: usize) -> bool {
    if !text[at..].starts_with('/') {
        return false;
    }
    let before = text[..at].rsplit('\n').next().unwrap_or_default();
    let after = text[at + 1..].split('\n').next().unwrap_or_default();
    before.trim().is_empty() && after.trim().is_empty()
}

/// Length of the literal, name or comment that begins here; 0 without. Unterminated ones extend to the end.
fn opaque(text: &str) -> usize {
    let to = |from: usize, end: &str| text[from..].find(end).map_or(text.len(), |found| from + found + end.len());
    let bytes = text.as_bytes();
    match bytes {
        [b'-', b'-', ..] => text.find('\n').unwrap_or(text.len()),
        [b'/', b'*', ..] => to(2, "*/"),
        [b'q' | b'Q', b'\'', ..] => {
            let Some(open) = text[2..].chars().next() else { return text.len() };
            let close = match open {
                '[' => ']',
                '{' => '}',
                '(' => ')',
                '<' => '>',
                same => same,
            };
            to(2 + open.len_utf8(), &format!("{close}'"))
        }
        [b'\'', ..] => to(1, "'"),
        [b'"', ..] => to(1, "\""),
        // Consumes the whole word: a name that ends in q is not the start of a q-quoted literal.
        [first, ..] if first.is_ascii_alphabetic() => {
            let end = bytes.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"_$#".contains(byte)));
            end.unwrap_or(text.len())
        }
        _ => 0,
    }
}

fn next(text: &str, at: usize) -> char {
    text[at..].chars().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_split_like_sqlplus() {
        let check = |script: &str, expected: &[&str]| assert_eq!(split(script), expected, "{script}");
        check("", &[]);
        check(" ;;\n-- nothing; at all\n/* nor; here */ ;\n/\n", &[]);
        check("SELECT 1 FROM dual", &["SELECT 1 FROM dual"]);
        check("DELETE FROM t;\nCOMMIT;", &["DELETE FROM t", "COMMIT"]);
        check(
            "INSERT INTO t VALUES ('a;b''c;', \"x;y\") ; COMMIT",
            &["INSERT INTO t VALUES ('a;b''c;', \"x;y\")", "COMMIT"],
        );
        check(
            "SELECT q'[it's; ok]' FROM dual; SELECT 2 FROM dual",
            &["SELECT q'[it's; ok]' FROM dual", "SELECT 2 FROM dual"],
        );
        check("SELECT faq'x;y' FROM t", &["SELECT faq'x;y' FROM t"]);
        check(
            "SELECT 4/2 FROM dual; SELECT 1 -- a; b\nFROM dual",
            &["SELECT 4/2 FROM dual", "SELECT 1 -- a; b\nFROM dual"],
        );
        check("SELECT 1 FROM dual\n/\nSELECT 2 FROM dual\n/", &["SELECT 1 FROM dual", "SELECT 2 FROM dual"]);
    }

    #[test]
    fn plsql_blocks_are_not_split() {
        let create = "create or replace\nprocedure p as\nbegin\n  x := 1 / 2; -- a\n  y := 2;\nend;";
        let script = format!("DROP TABLE t; {create}\n  /  \nBEGIN p; END;\n/\nSELECT 1 FROM dual;");
        assert_eq!(split(&script), ["DROP TABLE t", create, "BEGIN p; END;", "SELECT 1 FROM dual"]);
        assert_eq!(split("declare x int; begin null; end;"), ["declare x int; begin null; end;"]);
        assert_eq!(split("CREATE TABLE package (i INT); BEGINNER"), ["CREATE TABLE package (i INT)", "BEGINNER"]);
        assert_eq!(split("CREATE EDITIONABLE TRIGGER x; y;"), ["CREATE EDITIONABLE TRIGGER x; y;"]);
    }

    #[test]
    fn placeholders_are_numbered_and_literals_unchanged() {
        let check = |sql: &str, expected: &str| assert_eq!(numbered(sql), expected);
        check("UPDATE t SET a = ? WHERE b = ?", "UPDATE t SET a = :1 WHERE b = :2");
        check("SELECT '?', \"?\", q'{?}', ? /* ? */ FROM t -- ?", "SELECT '?', \"?\", q'{?}', :1 /* ? */ FROM t -- ?");
        check("SELECT 'Grüße?' || ? FROM \u{e4}?", "SELECT 'Grüße?' || :1 FROM \u{e4}:2");
        check("SELECT 'open ?", "SELECT 'open ?");
    }
}
