//! The events with most time as text, whose rows are read by their words: copies shift cells, trim lines, replace blanks
//! with tabs and lose the ruler.

use crate::text::table::spaced;

/// A column of these tables.
struct TopColumn {
    /// Its name in the HTML report.
    header: &'static str,
    /// Its texts in the last line of the headings, in lower case, longer ones before their beginnings.
    texts: &'static [&'static str],
    is_optional: bool,
}

/// The columns in their order. Releases before 10.1 have no average, those before 10.2 no class in Statspack, and tables of
/// a cluster begin with the instance.
const COLUMNS: [TopColumn; 8] = [
    TopColumn { header: INSTANCE, texts: &["inst #", "inst#", "inst", "i#"], is_optional: true },
    TopColumn { header: "event", texts: &["wait event", "event"], is_optional: false },
    TopColumn { header: "waits", texts: &["waits"], is_optional: false },
    TopColumn { header: "time(s)", texts: &["time (sec)", "time (s)", "time(s)", "time"], is_optional: false },
    TopColumn { header: "avg wait (ms)", texts: IN_MS, is_optional: true },
    TopColumn { header: "avg wait", texts: &["avg wait", "wait"], is_optional: true },
    TopColumn { header: "% db time", texts: SHARES, is_optional: false },
    TopColumn { header: CLASS, texts: &["wait class", "class"], is_optional: true },
];
const IN_MS: &[&str] = &["avg wait (ms)", "avg wait(ms)", "avg(ms)", "wait(ms)", "(ms)"];
const SHARES: &[&str] =
    &["ela time", "call time", "% db time", "%db time", "db time", "wt time", "% total", "%total", "time"];
/// The instance of a row; `*` for all of a cluster.
pub(super) const INSTANCE: &str = "i#";
const CLASS: &str = "wait class";

/// The columns of a table of the events with most time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TopLayout {
    columns: Vec<&'static str>,
}

impl TopLayout {
    /// Reads the last line of the headings. None for other tables.
    pub(super) fn of(line: &str) -> Option<Self> {
        let lower = spaced(line).to_lowercase();
        let (mut rest, mut columns) = (lower.as_str(), Vec::new());
        for column in &COLUMNS {
            let follows =
                |text: &&str| rest.strip_prefix(*text).filter(|rest| rest.is_empty() || rest.starts_with(' '));
            match column.texts.iter().find_map(follows) {
                Some(after) => {
                    rest = after.trim_start();
                    columns.push(column.header);
                }
                None if column.is_optional => {}
                None => return None,
            }
        }
        rest.is_empty().then_some(Self { columns })
    }

    /// The names of the columns.
    pub(super) fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The cells of a row. None for other numbers of words.
    pub(super) fn split_row(&self, line: &str) -> Option<Vec<String>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (instance, words) = match self.columns.first() {
            Some(&INSTANCE) => words.split_first().filter(|(word, _)| **word == "*" || is_number(word))?,
            _ => (&"", words.as_slice()),
        };
        // The name and the class have several words.
        let is_text = |name: &&&str| matches!(**name, INSTANCE | "event" | CLASS);
        let numbers = self.columns.len() - self.columns.iter().filter(is_text).count();
        let end = words.iter().rposition(|word| is_number(word))? + 1;
        let begin = end - words[..end].iter().rev().take(numbers).take_while(|word| is_number(word)).count();
        let (name, class) = (words[..begin].join(" "), words[end..].join(" "));
        let mut found = words[begin..end].to_vec();
        match found.as_slice() {
            [_, ..] if found.len() == numbers && begin > 0 && !is_number(words[begin - 1]) => {}
            [time, share] if is_processor(&name) => {
                let (time, share) = (*time, *share);
                found = vec![""; numbers];
                (found[1], found[numbers - 1]) = (time, share);
            }
            _ => return None,
        }
        let mut found = found.into_iter();
        let cell = |column: &&str| match *column {
            INSTANCE => (*instance).to_owned(),
            "event" => name.clone(),
            CLASS => class.clone(),
            _ => found.next().unwrap_or_default().to_owned(),
        };
        Some(self.columns.iter().map(cell).collect())
    }
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
    use super::TopLayout;

    /// The cells of rows below a line of headings.
    fn check(heading: &str, columns: &str, rows: &[(&str, Option<&str>)]) {
        let layout = TopLayout::of(heading).unwrap_or_else(|| panic!("{heading}"));
        assert_eq!(layout.columns().join("|"), columns, "{heading}");
        for (row, expected) in rows {
            let cells = layout.split_row(row).map(|cells| cells.join("|"));
            assert_eq!(cells.as_deref(), *expected, "{row}");
        }
    }

    #[test]
    fn rows_of_each_release_are_read_by_their_words() {
        let columns = "event|waits|time(s)|avg wait|% db time|wait class";
        check(
            "Event                                Waits Time (sec)      Wait   time Class",
            columns,
            &[
                (
                    "db file sequential read       27,000,000      27000    1.00ms   75.0 User I/O",
                    Some("db file sequential read|27,000,000|27000|1.00ms|75.0|User I/O"),
                ),
                (
                    "db file sequential read\t27,000,000\t27000\t1.00ms\t75.0 User I/O",
                    Some("db file sequential read|27,000,000|27000|1.00ms|75.0|User I/O"),
                ),
                ("DB CPU               3600             10.0", Some("DB CPU||3600||10.0|")),
                ("gc cr block 2-way   ########  27 2 .1", Some("gc cr block 2-way|########|27|2|.1|")),
                ("latch free             27  2   .1 Other", None),
                ("latch free 1    80,000       27 2   .1 Other", None),
                ("Top events", None),
            ],
        );
        let with_class = "event|waits|time(s)|avg wait (ms)|% db time|wait class";
        check("Event                     Waits     Time(s)   (ms)   time Wait Class", with_class, &[]);
        check("  Event\tWaits\tTime Avg(ms)\ttime\tWait Class", with_class, &[]);
        check(
            "Event                                 Waits    Time (s)   (ms)   Time",
            "event|waits|time(s)|avg wait (ms)|% db time",
            &[("log file sync  36,722  56  2  3.7", Some("log file sync|36,722|56|2|3.7"))],
        );
        let of_9 = [
            ("db file sequential read  360,000  1,800 60.00", Some("db file sequential read|360,000|1,800|60.00")),
            ("CPU time   900    30.00", Some("CPU time||900|30.00")),
            ("latch free 1,800 60.00", None),
        ];
        for heading in [
            "Event                              Waits    Time (s) Ela Time",
            "Event            Waits    Time(s)  % Total",
            "Event                                               Waits    Time (s) Call Time",
        ] {
            check(heading, "event|waits|time(s)|% db time", &of_9);
        }
        check(
            "Event                              Waits    Time (s)   DB Time     Wait Class",
            "event|waits|time(s)|% db time|wait class",
            &[("log file sync 36,722 56 3.7 Commit", Some("log file sync|36,722|56|3.7|Commit"))],
        );
        check(
            "Inst Event                      Waits     Time(s)   (ms)   time Wait Class",
            "i#|event|waits|time(s)|avg wait (ms)|% db time|wait class",
            &[
                ("   1 log file sync  36,722  56  2  3.7 Commit", Some("1|log file sync|36,722|56|2|3.7|Commit")),
                ("   * DB CPU   56    3.7", Some("*|DB CPU||56||3.7|")),
                ("log file sync  36,722  56  2  3.7 Commit", None),
            ],
        );
    }

    #[test]
    fn other_tables_have_other_headings() {
        for heading in [
            "Event                        Waits  -outs    Time (s)    (ms)      /txn",
            "Event                               Waits   Timeouts   Time (s)   (ms)     /txn",
            "Event",
            "",
        ] {
            assert_eq!(TopLayout::of(heading), None, "{heading}");
        }
    }
}
