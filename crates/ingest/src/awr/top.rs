//! The events with most time as text, whose rows are read by their words: copies shift cells, trim lines, replace blanks
//! with tabs and lose the ruler.

use crate::text::table::spaced;

/// The names of columns as in the HTML report, from the last line of the headings. None for other tables.
pub(super) fn name_columns(line: &str) -> Option<[&'static str; 6]> {
    const AVERAGES: [(&str, &str); 4] = [
        (" (ms)", "avg wait (ms)"),
        (" avg(ms)", "avg wait (ms)"),
        (" wait(ms)", "avg wait (ms)"),
        (" wait", "avg wait"),
    ];
    let lower = spaced(line).to_lowercase();
    let rest = lower.strip_prefix("event waits time")?;
    let rest = [" (sec)", " (s)", "(s)"].iter().find_map(|unit| rest.strip_prefix(unit)).unwrap_or(rest);
    let (rest, average) = AVERAGES.iter().find_map(|(text, name)| Some((rest.strip_prefix(text)?, *name)))?;
    let is_end = matches!(rest.strip_prefix(" time")?, "" | " class" | " wait class");
    is_end.then_some(["event", "waits", "time(s)", average, "% db time", "wait class"])
}

/// The cells of a row under these columns: its name, up to four numbers, and the class. None for other numbers of cells,
/// so that positions decide.
pub(super) fn split_row(line: &str) -> Option<Vec<String>> {
    const NUMBERS: usize = 4;
    let words: Vec<&str> = line.split_whitespace().collect();
    let end = words.iter().rposition(|word| is_number(word))? + 1;
    let begin = end - words[..end].iter().rev().take(NUMBERS).take_while(|word| is_number(word)).count();
    let name = words[..begin].join(" ");
    let [waits, time, average, share] = match words[begin..end] {
        [waits, time, average, share] if begin > 0 && !is_number(words[begin - 1]) => [waits, time, average, share],
        [time, share] if is_processor(&name) => ["", time, "", share],
        _ => return None,
    };
    let class = words[end..].join(" ");
    Some([name.as_str(), waits, time, average, share, class.as_str()].map(str::to_owned).to_vec())
}

/// True for the name of the processor time.
pub(super) fn is_processor(name: &str) -> bool {
    matches!(name, "CPU time" | "DB CPU")
}

/// True for a number that is too long for its column, which SQL*Plus replaces.
pub(super) fn is_overflow(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'#')
}

/// True for a number, with or without a unit, and for the mark of a number that is too long.
fn is_number(word: &str) -> bool {
    const UNITS: [&str; 8] = ["ms", "us", "ns", "s", "K", "M", "G", "T"];
    let digits = UNITS.iter().find_map(|unit| word.strip_suffix(unit)).unwrap_or(word);
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    is_overflow(word) || is_decimal && digits.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{name_columns, split_row};

    #[test]
    fn headings_of_each_release_are_recognised() {
        for line in [
            "Event                                Waits Time (sec)      Wait   time Class",
            "Event                                 Waits     Time(s)   (ms)   time Wait Class",
            "  Event\tWaits\tTime Avg(ms)\ttime\tWait Class",
            "Event                                 Waits    Time (s)   (ms)   Time",
        ] {
            assert!(name_columns(line).is_some(), "{line}");
        }
        assert_eq!(name_columns("Event                        Waits  -outs    Time (s)    (ms)      /txn"), None);
    }

    #[test]
    fn rows_are_read_by_their_words() {
        let cells = |line: &str| split_row(line).map(|cells| cells.join("|"));
        let full = Some("db file sequential read|27,000,000|27000|1.00ms|75.0|User I/O".to_owned());
        assert_eq!(cells("db file sequential read       27,000,000      27000    1.00ms   75.0 User I/O"), full);
        assert_eq!(cells("db file sequential read\t27,000,000\t27000\t1.00ms\t75.0 User I/O"), full);
        assert_eq!(cells("DB CPU               3600             10.0").as_deref(), Some("DB CPU||3600||10.0|"));
        assert_eq!(
            cells("gc cr block 2-way   ########  27 2 .1").as_deref(),
            Some("gc cr block 2-way|########|27|2|.1|")
        );
        assert_eq!(cells("latch free             27  2   .1 Other"), None, "positions decide");
        assert_eq!(cells("latch free 1    80,000       27 2   .1 Other"), None);
        assert_eq!(cells("Top events"), None);
    }
}
