//! A text word by word: numbers and words of the vocabulary stay, everything else is somebody's name.

use super::names::{Kind, Names};

/// What becomes of a word that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// A stand-in takes its place.
    Name,
    /// Crosses do, as many as it had letters.
    Cross,
    /// It is left out.
    Drop,
}

/// A text without names. Columns stay where they are as far as there are blanks to take or to give.
pub(super) fn clean(text: &str, unknown: Unknown, names: &mut Names) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Letters that were added beyond their place, or are missing in it.
    let mut surplus = 0_isize;
    // After a word that names a field, and the mark behind it.
    let (mut key, mut is_marked): (Option<Kind>, bool) = (None, false);
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| is_gap(letter) != is_gap(first)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        if is_gap(first) {
            is_marked |= piece.contains('=');
            // What a list or an object holds has fields of its own.
            key = key.filter(|_| !piece.contains(['[', '{']));
            out.push_str(&spaced(piece, &mut surplus));
            continue;
        }
        let word = piece.trim_matches(is_edge);
        let Some(at) = piece.find(word).filter(|_| !word.is_empty()) else {
            is_marked |= piece.contains(':');
            out.push_str(piece);
            continue;
        };
        let (before, behind) = (&piece[..at], &piece[at + word.len()..]);
        let stand_in = stand_in(word, key.filter(|_| is_marked), unknown, names);
        (key, is_marked) = (key_of(word), behind.contains(':'));
        let stands = stand_in.as_deref().unwrap_or(word);
        surplus += stands.chars().count().cast_signed() - word.chars().count().cast_signed();
        out.push_str(before);
        out.push_str(stands);
        out.push_str(behind);
    }
    out
}

/// What takes the place of a word; none when it stays.
fn stand_in(word: &str, key: Option<Kind>, unknown: Unknown, names: &mut Names) -> Option<String> {
    if let Some(kind) = key.filter(|_| !is_number(word)) {
        return Some(names.of(kind, word));
    }
    if is_number(word) || names.is_word(word) {
        return None;
    }
    if let Some(known) = names.known(word) {
        return Some(known.to_owned());
    }
    Some(match unknown {
        Unknown::Name => names.of(kind_of(word), word),
        Unknown::Cross => "x".repeat(word.chars().count()),
        Unknown::Drop => String::new(),
    })
}

/// Blanks that give or take what a stand-in is longer or shorter by.
fn spaced(gap: &str, surplus: &mut isize) -> String {
    let Some(at) = gap.find(' ').filter(|_| *surplus != 0) else { return gap.to_owned() };
    let blanks = gap[at..].len() - gap[at..].trim_start_matches(' ').len();
    // A single blank divides the words of a sentence: nothing has to stand below the next one.
    if blanks == 1 && *surplus < 0 {
        return gap.to_owned();
    }
    let wanted = (blanks.cast_signed() - *surplus).max(1).unsigned_abs();
    *surplus -= blanks.cast_signed() - wanted.cast_signed();
    format!("{}{}{}", &gap[..at], " ".repeat(wanted), &gap[at + blanks..])
}

/// What stands between words.
fn is_gap(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter, '"' | '\'' | '(' | ')' | '{' | '}' | '[' | ']' | ',' | ';' | '|')
        || matches!(letter, '=' | '<' | '>' | '!' | '?' | '&')
}

/// What stands around a word and is not of it.
fn is_edge(letter: char) -> bool {
    !letter.is_alphanumeric()
}

/// Words after which a name stands.
fn key_of(word: &str) -> Option<Kind> {
    match word.to_ascii_lowercase().as_str() {
        "nodename" | "hostname" | "hosts" => Some(Kind::Host),
        "datname" | "db_name" => Some(Kind::Database),
        "filename" | "directory" => Some(Kind::File),
        _ => None,
    }
}

fn kind_of(word: &str) -> Kind {
    if word.contains("::") || is_address(word) {
        Kind::Address
    } else if word.contains(['/', '\\']) {
        Kind::File
    } else {
        Kind::Name
    }
}

/// Four numbers with points between them, which no version of a program and no number has.
fn is_address(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

/// A number, with its unit or sign, or a moment.
pub(super) fn is_number(word: &str) -> bool {
    const LONGEST: usize = 40;
    const MOST_DIGITS: usize = 24;
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let crosses = !word.is_empty() && word.bytes().all(|byte| byte == b'#');
    if crosses {
        return true;
    }
    let colons = word.matches(':').count();
    if digits == 0 || digits > MOST_DIGITS || word.len() > LONGEST || colons > 3 || word.contains("::") {
        return false;
    }
    if !word.starts_with(|letter: char| letter.is_ascii_digit()) || is_address(word) {
        return false;
    }
    let mut runs = 0;
    for run in word.split(|letter: char| !letter.is_alphabetic()).filter(|run| !run.is_empty()) {
        runs += 1;
        if !is_unit(run) && !is_month(run, word) {
            return false;
        }
    }
    let is_moment = word.contains([':', '-']);
    let signs = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | ',' | ':' | '-' | '+' | '/' | '%');
    runs <= if is_moment { 3 } else { 1 } && word.chars().all(signs)
}

fn is_unit(run: &str) -> bool {
    const UNITS: &str = " k m g t p e b kb mb gb tb kib mib gib tib s us ms ns min mins h d x z utc am pm i n ";
    let run = run.to_lowercase();
    UNITS.contains(&format!(" {run} ")) || run == "\u{b5}s"
}

/// The month of `16-Feb-13`, in whatever language.
fn is_month(run: &str, word: &str) -> bool {
    let hyphens = word.matches('-').count();
    (1..=2).contains(&hyphens)
        && run.chars().count() <= 5
        && word.split('-').nth(1).is_some_and(|part| part.contains(run))
        && word
            .split('-')
            .next()
            .is_some_and(|day| matches!(day.len(), 1 | 2) && day.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{Unknown, clean, is_number};
    use crate::anonymize::names::Names;

    #[test]
    fn numbers_and_moments_are_known() {
        let numbers = [
            "12",
            "1,234.5",
            "749.07us",
            "16.3G",
            "1.5E+07",
            "####",
            "23-Apr-14",
            "16:33:20",
            "11.2.0.4.0",
            "12/01/2021",
            "2024-03-14T17:53:14-0700",
            "8K",
            "10-M\u{e4}rz",
            "1e6",
            "13/05/09",
        ];
        for number in numbers {
            assert!(is_number(number), "{number}");
        }
        for name in ["10.0.0.1", "3e5b7d", "00:11:22:33:44:55", "2001::1", "4p8nkdv2", "12-shopping", "db1", "0x1f", ""]
        {
            assert!(!is_number(name), "{name}");
        }
    }

    #[test]
    fn what_nobody_knows_is_a_name() {
        let table = [
            ("Linux 5.4 (shop.example.com)   12/01/2021", Unknown::Name, "Linux 5.4 (name1)              12/01/2021"),
            ("sda  1.0   shopdata  2.0", Unknown::Name, "sda  1.0   name1     2.0"),
            ("vg  12.0 13.0", Unknown::Name, "name1 12.0 13.0"),
            ("\"filename\" : \"/srv/a/b\", \"bw\" : 7", Unknown::Name, "\"filename\" : \"/file1\", \"bw\" : 7"),
            ("from 10.0.0.1 and /u01/x", Unknown::Name, "from ip1 and /file1"),
            ("Elapsed: customers 3", Unknown::Cross, "Elapsed: xxxxxxxxx 3"),
            ("SQL ordered by customers", Unknown::Drop, "SQL ordered by "),
        ];
        for (text, unknown, expected) in table {
            assert_eq!(clean(text, unknown, &mut Names::new()), expected);
        }
    }
}
