//! Replaces `?` by `$1`, `$2` and so on, outside of literals, quoted names and comments.

/// The statement with PostgreSQL's placeholders.
pub(super) fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 8);
    let mut count = 0;
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest, out.chars().next_back());
        if length > 0 {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        if first == '?' {
            count += 1;
            out.push_str(&format!("${count}"));
        } else {
            out.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// Length of the literal, name or comment at the beginning; 0 without.
fn skipped(rest: &str, before: Option<char>) -> usize {
    let through = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    match rest.as_bytes() {
        [b'\'', ..] if matches!(before, Some('e' | 'E')) => escaped(rest),
        [quote @ (b'\'' | b'"'), ..] => through(if *quote == b'"' { "\"" } else { "'" }, 1),
        [b'-', b'-', ..] => through("\n", 2),
        [b'/', b'*', ..] => comment(rest),
        [b'$', ..] if !before.is_some_and(|before| before.is_alphanumeric() || before == '_') => dollars(rest),
        _ => 0,
    }
}

/// `E'...'`, with backslash escapes.
fn escaped(rest: &str) -> usize {
    let mut taken = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if taken => taken = false,
            '\\' => taken = true,
            '\'' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `/* ... */`, which nest.
fn comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// `$tag$ ... $tag$`; 0 for a `$1`.
fn dollars(rest: &str) -> usize {
    let tag = rest[1..].find('$').map(|at| &rest[..at + 2]);
    let is_tag = |tag: &&str| {
        let name = &tag[1..tag.len() - 1];
        !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let Some(tag) = tag.filter(is_tag) else { return 0 };
    rest[tag.len()..].find(tag).map_or(rest.len(), |at| at + 2 * tag.len())
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn placeholders_are_numbered_outside_of_literals() {
        let check = |sql: &str, order: &str| assert_eq!(numbered(sql), order, "{sql}");
        check("SELECT ?, a+? FROM t WHERE b=?", "SELECT $1, a+$2 FROM t WHERE b=$3");
        check("SELECT '?', 'it''s ?', \"a?\", ?", "SELECT '?', 'it''s ?', \"a?\", $1");
        check("SELECT E'\\'?', ? -- why?\n, ?", "SELECT E'\\'?', $1 -- why?\n, $2");
        check("/* ? /* ? */ ? */ ? /* ?", "/* ? /* ? */ ? */ $1 /* ?");
        check("SELECT $$ ? $$, $a$ ? $$ ? $a$, ?, $1", "SELECT $$ ? $$, $a$ ? $$ ? $a$, $1, $1");
        check("SELECT 'unfinished ?", "SELECT 'unfinished ?");
        check("größe = ? – ?", "größe = $1 – $2");
        check("", "");
    }
}
