//! AWR reports and Statspack of old releases, copied in part, or in other clothes.

use plimsoll_ingest::{Class, Demand, Measure, Reading, WaitCause};
use plimsoll_testkit::Workload;

use crate::read::{cautions, check, cut_anywhere, figures, reading, refusal};

const HEAD_10: &str = "\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Release     RAC Host
------------ ----------- ------------ -------- ----------- --- ------------
QUAY              771204 quay1               1 10.2.0.4.0  NO  pier1

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       801 02-Mar-26 09:00:00       140        .1
  End Snap:       802 02-Mar-26 10:00:00       142        .2
   Elapsed:               60.00 (mins)
   DB Time:               40.00 (mins)

Cache Sizes
~~~~~~~~~~~                       Begin        End
                             ---------- ----------
               Buffer Cache:     4,096M     4,096M  Std Block Size:         8K

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:             50,000.00             10,000.00
             Physical reads:                100.00                 20.00
            Physical writes:                 50.00                 10.00

Top 5 Timed Events                                         Avg %Total
~~~~~~~~~~~~~~~~~~                                        wait   Call
Event                                 Waits    Time (s)   (ms)   Time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
CPU time                                          1,200          50.0
db file sequential read             180,000         720      4   30.0   User I/O
row cache mutex                       9,000         240     27   10.0 Concurrenc
log file sync                        60,000         120      2    5.0     Commit
log file parallel write              60,000          60      1    2.5 System I/O
          -------------------------------------------------------------
";

const WAITS_10: &str = "\
\u{c}Wait Events                               DB/Inst: QUAY/quay1  Snaps: 801-802
-> ordered by wait time desc, waits desc (idle events last)

                                                                  Avg
                                             %Time  Total Wait    wait     Waits
Event                                 Waits  -outs    Time (s)    (ms)      /txn
---------------------------- -------------- ------ ----------- ------- ---------
db file sequential read             180,000     .0         720       4       2.1
row cache mutex                       9,000     .0         240      27       0.1
log file sync                        60,000     .0         120       2       1.9
log file parallel write              60,000     .0          60       1       1.9
          -------------------------------------------------------------
";

const STATISTICS_10: &str = "\
Instance Activity Stats                   DB/Inst: QUAY/quay1  Snaps: 801-802

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
physical read total IO requests             180,000           50.0           9.0
physical read total bytes             1,474,560,000      409,600.0      70,000.0
physical write total IO requests             90,000           25.0           4.5
physical write total bytes              737,280,000      204,800.0      35,000.0
redo size                               180,000,000       50,000.0      10,000.0
redo writes                                  60,000           16.7           3.3
          -------------------------------------------------------------
End of Report
";

fn of_10() -> String {
    format!("{HEAD_10}{WAITS_10}{STATISTICS_10}")
}

/// The texts of this module, for mutants.
pub fn texts() -> Vec<String> {
    let shop = Workload::shop(9);
    let [tabs, quoted] = [with_tabs(&shop.awr_text()), quote_text(&shop.statspack())];
    vec![
        of_10(),
        HEAD_10.to_owned(),
        STATSPACK_9.to_owned(),
        FRONT_19.to_owned(),
        BARS.to_owned(),
        browser(),
        tabs,
        quoted,
    ]
}

/// Seconds of the waits of sessions, by event.
fn waits(reading: &Reading) -> Vec<(&str, WaitCause, f64)> {
    let of_sessions = reading.waits.iter().filter(|wait| wait.foreground);
    of_sessions.map(|wait| (wait.event.as_str(), wait.cause, wait.total_s)).collect()
}

const SESSIONS_10: [(&str, WaitCause, f64); 3] = [
    ("db file sequential read", WaitCause::Storage(Class::RandomRead), 720.0),
    ("row cache mutex", WaitCause::Concurrency, 240.0),
    ("log file sync", WaitCause::Commit, 120.0),
];

#[test]
fn wait_events_before_11_1_are_divided_by_process() {
    let reading = reading(&of_10());
    assert_eq!(waits(&reading), SESSIONS_10);
    let log = reading.waits.iter().find(|wait| wait.event == "log file parallel write").unwrap();
    assert!(!log.foreground, "the log writer's waits are not part of the database's time");
    assert_eq!(log.origin.table.as_deref(), Some("Wait Events"));
    let time = &reading.times[0];
    assert_eq!((time.database_s, time.processor_s), (2_400.0, Some(1_200.0)));
    cut_anywhere(&of_10());
}

#[test]
fn waits_of_background_processes_are_subtracted() {
    let own = WAITS_10.replace("Wait Events  ", "Background Wait Events  ");
    let is_own = |line: &&str| !line.contains("sync") && !line.contains("mutex");
    let own: String = own.split_inclusive('\n').filter(is_own).collect();
    let own = own.replace("180,000     .0         720", " 30,000     .0         120");
    let reading = reading(&format!("{HEAD_10}{WAITS_10}{own}{STATISTICS_10}"));
    let reads: Vec<_> = reading.waits.iter().filter(|wait| wait.event == "db file sequential read").collect();
    let of = |foreground: bool| {
        reads
            .iter()
            .filter(|wait| wait.foreground == foreground)
            .map(|wait| (wait.count, wait.total_s))
            .collect::<Vec<_>>()
    };
    assert_eq!((of(true), of(false)), (vec![(150_000.0, 600.0)], vec![(30_000.0, 120.0)]));
}

#[test]
fn top_events_substitute_missing_tables() {
    let reading = reading(&format!("{HEAD_10}{STATISTICS_10}"));
    assert_eq!(waits(&reading), SESSIONS_10);
    assert_eq!(reading.times[0].processor_s, Some(1_200.0));
    assert!(cautions(&reading).contains("only the events with most time are known"));
    let untimed = HEAD_10.replace("   DB Time:               40.00 (mins)\n", "");
    let reading = crate::read::reading(&format!("{untimed}{STATISTICS_10}"));
    assert!((reading.times[0].database_s - 2_400.0).abs() < 1e-9, "1,200 s of processors are 50.0 %");
    assert!(cautions(&reading).contains("derived from the share"));
}

/// The front page with `row` for the reads.
fn with_reads(row: &str) -> String {
    let line = |line: &str| if line.starts_with("db file sequential read") { row } else { line }.to_owned() + "\n";
    HEAD_10.lines().map(line).collect::<String>() + STATISTICS_10
}

/// Waits and seconds of the reads.
fn of_reads(text: &str) -> Option<(f64, f64)> {
    let found = reading(text);
    let wait = found.waits.iter().find(|wait| wait.event == "db file sequential read")?;
    assert_eq!(found.times[0].processor_s, Some(1_200.0));
    Some((wait.count, wait.total_s.round()))
}

#[test]
fn rows_of_top_events_are_read_by_their_words() {
    let plain = "db file sequential read             180,000         720      4   30.0   User I/O";
    let expected = Some((180_000.0, 720.0));
    for row in [
        plain.to_owned(),
        plain.replacen("   180", "180", 1),
        plain.replacen("  180", "180", 1),
        plain.replacen(" 180", "    180", 1),
        plain.replacen("read ", "read           ", 1),
        plain.replacen("180,000", "#######", 1),
        plain.replacen("720", "###", 1),
        plain.replacen("180,000         720", "#######         ###", 1),
    ] {
        assert_eq!(of_reads(&with_reads(&row)), expected, "{row}");
    }
    let text = with_reads(plain);
    let ruler = text.lines().position(|line| line.starts_with("------------------------------ ----------")).unwrap();
    let each_line = |change: &dyn Fn(&str) -> String| text.lines().map(change).collect::<Vec<_>>().join("\n");
    let unruled = text.lines().enumerate().filter(|(at, _)| *at != ruler).map(|(_, line)| line);
    let unruled = unruled.collect::<Vec<_>>().join("\n");
    let trimmed = each_line(&|line| line.trim_start().to_owned());
    let indented = each_line(&|line| format!("    {line}"));
    let (front, events) = text.split_at(text.find("Top ").expect("the heading of the events"));
    let tabs = front.to_owned() + &events.replace("     ", "\t");
    for text in [unruled, trimmed, indented, tabs] {
        assert_eq!(of_reads(&text), expected, "{text}");
    }
}

#[test]
fn without_an_unreadable_event_the_others_give_no_answer() {
    for row in [
        "db file sequential read             180,000         ###      #   #### User I/O",
        "db file sequential read   720      4   30.0   User I/O",
    ] {
        let found = reading(&with_reads(row));
        assert!(cautions(&found).contains("the time of a wait event is not readable"), "{row}: {}", cautions(&found));
        assert!(found.waits.iter().all(|wait| !wait.foreground), "{:?}", found.waits);
    }
}

#[test]
fn numbers_too_long_for_a_table_of_waits_are_replaced() {
    let row = "db file sequential read             180,000     .0         720       4       2.1";
    let with = |row_of: &str| of_10().replace(row, row_of);
    assert_eq!(of_reads(&of_10()), Some((180_000.0, 720.0)));
    assert_eq!(of_reads(&with(&row.replace("180,000", "#######"))), Some((180_000.0, 720.0)));
    assert_eq!(of_reads(&with(&row.replace("720", "###"))), Some((180_000.0, 720.0)));
}

#[test]
fn blocks_of_a_front_page_before_11_2_are_bytes() {
    let expected = [
        "reads Throughput 819200",
        "writes Throughput 409600",
        "redo Throughput 50000",
        "random reads Latency 0.004",
        "redo Latency 0.001",
    ];
    let reading = check(HEAD_10, &expected);
    let subject = &Demand::of(&[&reading]).subjects[0];
    assert_eq!(subject.absent(), [Class::Read, Class::Write]);
    assert!(cautions(&reading).contains("known in blocks only"));
}

const FRONT_19: &str = "\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB
------------ ----------- ----------- ---------------- ------- ---------- --- ---
QUAY              771204 quay        PRIMARY          EE      19.0.0.0.0 NO  NO

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 02-Mar-26 10:00:00       125       1.6
  End Snap:       101 02-Mar-26 11:00:00       127       2.1
   Elapsed:               60.00 (mins)
   DB Time:              500.00 (mins)

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):               8.3               0.1      0.01      0.02
      Redo size (bytes):       1,000,000.0          20,000.0
       Read IO requests:           4,000.0              80.0
      Write IO requests:             500.0               9.0
           Read IO (MB):              50.0               0.7
          Write IO (MB):               5.0               0.1

Top 10 Foreground Events by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                           Total Wait       Avg   % DB Wait
Event                                Waits Time (sec)      Wait   time Class
------------------------------ ----------- ---------- --------- ------ --------
db file sequential read         14,000,000      21.0K    1.50ms   70.0 User I/O
DB CPU                                           6000             20.0
log file sync                      500,000       1500    3.00ms    5.0 Commit
";

#[test]
fn a_front_page_has_rounded_rates() {
    let expected = [
        "reads Iops 4000",
        "reads Throughput 52428800",
        "reads Size 13107.2",
        "writes Iops 500",
        "writes Throughput 5242880",
        "writes Size 10485.76",
        "redo Throughput 1000000",
        "random reads Latency 0.0015",
    ];
    let reading = check(FRONT_19, &expected);
    let text = cautions(&reading);
    assert!(text.contains("rounded rates of its front page") && text.contains("provide the whole report"), "{text}");
    assert!(!text.contains("End of Report"), "a single caution about the missing rest: {text}");
    let time = &reading.times[0];
    assert_eq!((time.database_s, time.processor_s), (30_000.0, Some(6_000.0)));
    let seconds: f64 = reading.waits.iter().map(|wait| wait.total_s).sum();
    assert!((seconds - 22_500.0).abs() < 1e-9, "{seconds}");
}

#[test]
fn a_front_page_may_have_decimal_commas_or_lack_its_title() {
    let (head, rest) = FRONT_19.split_once("              Snap Id").unwrap();
    let rest = format!("              Snap Id{rest}");
    let plain = reading(FRONT_19);
    let swapped: String = rest
        .chars()
        .map(|letter| {
            if letter == ',' {
                '.'
            } else if letter == '.' {
                ','
            } else {
                letter
            }
        })
        .collect();
    let spaced = reading(&format!("{head}{}", swapped.replace('.', "\u{a0}")));
    assert_eq!(figures(&spaced), figures(&plain), "no-break spaces between thousands");
    let swapped = reading(&format!("{head}{swapped}"));
    assert_eq!((figures(&swapped), swapped.times.len()), (figures(&plain), 1));
    let untitled = reading(&rest);
    assert_eq!(untitled.kind.id, "awr-text");
    assert_eq!((figures(&untitled), &untitled.windows), (figures(&plain), &plain.windows));
    assert_eq!(untitled.waits.len(), plain.waits.len());
}

#[test]
fn blank_lines_between_all_lines_change_no_figure() {
    let work = Workload { host: "quay7".to_owned(), ..Workload::shop(9) };
    for text in [work.awr_text(), work.statspack(), FRONT_19.to_owned(), STATSPACK_9.to_owned()] {
        let spaced = reading(&text.replace('\n', "\r\n\r\n"));
        assert_eq!(figures(&spaced), figures(&reading(&text)));
    }
}

#[test]
fn a_report_inside_of_a_page_is_read() {
    let work = Workload { host: "quay7".to_owned(), ..Workload::shop(9) };
    let text = work.awr_text();
    let page = format!(
        "<html><head><title>AWR</title></head><body><p>See:<pre class=\"code\">{}</pre></body></html>",
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    );
    let found = reading(&page);
    assert_eq!((found.kind.id, figures(&found)), ("awr-html", figures(&reading(&text))));
    let spaces = text.replace(' ', "\u{a0}");
    assert_eq!(reading(&spaces).figures, reading(&text).figures);
}

const STATSPACK_9: &str = "\
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     Cluster Host
------------ ----------- ------------ -------- ----------- ------- ------------
QUAY              771204 quay                1 9.2.0.6.0   NO      pier1

            Snap Id     Snap Time      Sessions Curs/Sess Comment
            ------- ------------------ -------- --------- -------------------
Begin Snap:       1 02-Mar-26 09:00:00       43      10.3
  End Snap:       2 02-Mar-26 10:00:00       41      10.4
   Elapsed:               60.00 (mins)

Cache Sizes (end)
~~~~~~~~~~~~~~~~~
               Buffer Cache:       304M      Std Block Size:          8K

Top 5 Timed Events
~~~~~~~~~~~~~~~~~~                                                     % Total
Event                                               Waits    Time (s) Ela Time
-------------------------------------------- ------------ ----------- --------
db file sequential read                           360,000       1,800    60.00
CPU time                                                          900    30.00
          -------------------------------------------------------------
\u{c}Wait Events for DB: QUAY  Instance: quay  Snaps: 1 -2
-> ordered by wait time desc, waits desc (idle events last)

                                                                   Avg
                                                     Total Wait   wait    Waits
Event                               Waits   Timeouts   Time (s)   (ms)     /txn
---------------------------- ------------ ---------- ---------- ------ --------
db file sequential read           360,000          0      1,800      5      9.0
          -------------------------------------------------------------
\u{c}Instance Activity Stats for DB: QUAY  Instance: quay  Snaps: 1 -2

Statistic                                      Total     per Second    per Trans
--------------------------------- ------------------ -------------- ------------
physical reads                               720,000          200.0         18.0
physical writes                              108,000           30.0          2.7
redo size                                 72,000,000       20,000.0      1,800.0
redo writes                                   36,000           10.0          0.9
          -------------------------------------------------------------
\u{c}Tablespace IO Stats for DB: QUAY  Instance: quay  Snaps: 1 -2
->ordered by IOs (Reads + Writes) desc

Tablespace
------------------------------
                 Av      Av     Av                    Av        Buffer Av Buf
         Reads Reads/s Rd(ms) Blks/Rd       Writes Writes/s      Waits Wt(ms)
-------------- ------- ------ ------- ------------ -------- ---------- ------
BERTHS
       270,000      75    4.0     2.0       54,000       15          0    0.0
CARGO
        90,000      25    8.0     2.0       18,000        5          0    0.0
          -------------------------------------------------------------
End of Report
";

#[test]
fn operations_before_10_2_are_those_of_tablespaces() {
    let expected = [
        "reads Iops 100",
        "reads Throughput 1638400",
        "reads Size 16384",
        "reads Latency 0.005",
        "data writes Iops 20",
        "data writes Throughput 245760",
        "data writes Size 12288",
        "writes Iops 30",
        "writes Throughput 265760",
        "redo Iops 10",
        "redo Throughput 20000",
        "random reads Latency 0.005",
    ];
    let reading = check(STATSPACK_9, &expected);
    assert_eq!(Demand::of(&[&reading]).subjects[0].absent(), []);
    assert!((reading.times[0].database_s - 3_000.0).abs() < 1e-9, "1,800 s are 60 %");
    assert_eq!((reading.scopes[0].database.as_str(), reading.version.as_deref()), ("QUAY", Some("9.2.0.6.0")));
}

#[test]
fn operations_of_files_replace_those_of_tablespaces() {
    let tablespaces = "Tablespace\n------------------------------\n";
    let heading = "Tablespace               Filename\n------------------------ ------------------------------\n";
    let files = STATSPACK_9
        .replace("Tablespace IO Stats", "File IO Stats")
        .replace(tablespaces, heading)
        .replace("BERTHS\n", "BERTHS                   /u01/berths01.dbf\n")
        .replace("CARGO\n", "CARGO                    /u01/cargo01.dbf\n");
    assert_eq!(figures(&reading(&files)), figures(&reading(STATSPACK_9)));
}

#[test]
fn without_tablespaces_operations_are_absent() {
    let cut = &STATSPACK_9[..STATSPACK_9.find("\u{c}Tablespace").unwrap()];
    let reading = reading(cut);
    let subject = &Demand::of(&[&reading]).subjects[0];
    assert_eq!(subject.absent(), [Class::Read, Class::Write]);
    assert!(subject.series(Class::Read, Measure::Throughput).is_some(), "the bytes are known");
    assert!(cautions(&reading).contains("provide the table Tablespace IO Stats"));
}

/// A text with tabs instead of blanks before every eighth column, as SQL*Plus prints it.
fn with_tabs(text: &str) -> String {
    let line = |line: &str| {
        let letters: Vec<char> = line.chars().collect();
        let mut out = String::new();
        for piece in letters.chunks(8) {
            let text: String = piece.iter().collect();
            let short = text.trim_end_matches(' ');
            if piece.len() == 8 && text.len() - short.len() > 1 {
                out.push_str(short);
                out.push('\t');
            } else {
                out.push_str(&text);
            }
        }
        out + "\n"
    };
    text.lines().map(line).collect()
}

fn quote_text(text: &str) -> String {
    text.lines().map(|line| ["> ", line, "\n"].concat()).collect()
}

#[test]
fn tabs_and_quotation_marks_change_no_figure() {
    let work = Workload { host: "quay7".to_owned(), ..Workload::shop(9) };
    for text in [work.awr_text(), work.statspack(), of_10(), STATSPACK_9.to_owned()] {
        let plain = reading(&text);
        let tabs = with_tabs(&text.replace('\u{c}', ""));
        assert!(tabs.contains('\t'));
        assert_eq!(reading(&tabs).figures, plain.figures, "{tabs}");
        assert_eq!(reading(&quote_text(&text)).figures, plain.figures);
        assert_eq!(reading(&quote_text(&tabs)).waits, plain.waits);
        assert_eq!(reading(&text.replace('\n', "\r")).figures, plain.figures);
        cut_anywhere(&quote_text(&tabs));
        for numbered in [number_lines(&text, "\t"), number_lines(&text, ":"), number_lines(&text, "  ")] {
            assert_eq!(reading(&numbered).figures, plain.figures, "{numbered}");
        }
        let cell = |line: &str| format!("\"{}\"\n", line.replace('"', "\"\""));
        let of_cells: String = text.replace('\u{c}', "").lines().map(cell).collect();
        assert_eq!(reading(&of_cells).figures, plain.figures, "{of_cells}");
    }
}

/// As `cat -n` and editors print a text.
fn number_lines(text: &str, mark: &str) -> String {
    let number_line = |(line, number): (&str, u32)| format!("{number:6}{mark}{line}");
    text.lines().zip(1..).map(number_line).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn an_instance_of_a_cluster_is_doubted() {
    let is_doubted = |text: &str| cautions(&reading(text)).contains("one instance of a cluster");
    assert!(!is_doubted(HEAD_10) && is_doubted(&HEAD_10.replace("  NO  pier1", "  YES pier1")));
    assert!(!is_doubted(BARS) && is_doubted(&BARS.replace("| NO\n", "| YES\n")));
    let work = Workload::shop(9);
    for text in [work.awr_text(), work.awr_html(), work.statspack()] {
        assert!(!is_doubted(&text), "{text}");
    }
    let read = reading(&BARS.replace("| NO\n", "| YES\n"));
    assert!(Demand::of(&[&read]).subjects[0].is_cluster);
}

/// As html2text prints a report: without bars at the borders.
const BARS: &str = "\
#  WORKLOAD REPOSITORY report for

DB Name| DB Id| Instance| Inst num| Startup Time| Release| RAC
---|---|---|---|---|---|---
QUAY| 771204| quay1| 1| 02-Feb-26 02:02| 11.2.0.4.0| NO

| Snap Id| Snap Time| Sessions| Cursors/Session
---|---|---|---|---
Begin Snap:| 100| 02-Mar-26 08:00:22| 93|  2.1
End Snap:| 101| 02-Mar-26 09:00:22| 60|  1.9
Elapsed:|  | 60.00 (mins)|  |
DB Time:|  | 120.00 (mins)|  |

Load Profile

| Per Second| Per Transaction| Per Exec| Per Call
---|---|---|---|---
DB Time(s):|  2.0|  0.1|  0.00|  0.00
Redo size (bytes):|  50,000.0|  11,613.0|  |
Read IO requests:|  998.1|  28.5|  |

### Foreground Wait Events

  * s - second

Event| Waits| %Time -outs| Total Wait Time (s)| Avg wait (ms)| Waits /txn| % DB time
---|---|---|---|---|---|---
db file sequential read| 3,600,000| 0| 3,600| 1| 25.0| 50.0

### Instance Activity Stats

Statistic| Total| per Second| per Trans
---|---|---|---
physical read total IO requests| 3,600,000| 1,000.0| 29.2
physical read total bytes| 29,491,200,000| 8,192,000.0| 239,000.0
physical write total IO requests| 180,000| 50.0| 1.1
physical write total bytes| 1,474,560,000| 409,600.0| 9,200.0
redo size| 180,000,000| 50,000.0| 11,613.0
redo writes| 90,000| 25.0| 0.6
End of Report
";

/// As a wiki shows a table: with bars at the borders.
fn bordered() -> String {
    let line = |line: &str| match line {
        _ if !line.contains('|') => format!("{line}\n"),
        _ => format!("| {} |\n", line.trim().replace('|', " | ").replace('_', "\\_")),
    };
    BARS.lines().map(line).collect()
}

/// As a browser copies tables: cells between tabs.
fn browser() -> String {
    let lines = BARS.lines().filter(|line| !line.starts_with("---"));
    lines
        .map(|line| line.trim_start_matches(['#', ' ']).split('|').map(str::trim).collect::<Vec<_>>().join("\t") + "\n")
        .collect()
}

#[test]
fn copied_tables_are_read_by_the_names_of_their_columns() {
    let expected = [
        "reads Iops 1000",
        "reads Throughput 8192000",
        "reads Size 8192",
        "writes Iops 50",
        "writes Throughput 409600",
        "writes Size 8192",
        "redo Iops 25",
        "redo Throughput 50000",
        "random reads Latency 0.001",
    ];
    let list = |mark: char| -> String {
        let line = |line: &str| {
            let cells = line
                .trim_matches('\t')
                .split('\t')
                .map(|cell| if cell.contains([',', ';']) { format!("\"{cell}\"") } else { cell.to_owned() });
            let filled = cells.chain(std::iter::repeat(String::new())).take(9).collect::<Vec<_>>();
            filled.join(&mark.to_string()) + "\n"
        };
        browser().lines().map(line).collect()
    };
    for mark in [',', ';'] {
        let reading = check(&list(mark), &expected);
        assert_eq!((reading.kind.id, reading.times[0].database_s), ("awr-cells", 7_200.0), "{}", list(mark));
    }
    let without_edges = browser().split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect();
    for text in [BARS.to_owned(), bordered(), browser(), without_edges, quote_text(BARS)] {
        let reading = check(&text, &expected);
        assert_eq!(reading.kind.id, "awr-cells");
        assert_eq!((reading.scopes[0].instance.as_str(), reading.times[0].database_s), ("quay1", 7_200.0), "{text}");
        assert_eq!(waits(&reading).len(), 1, "{text}");
    }
}

#[test]
fn refusals_of_incomplete_reports_are_true() {
    let without = |lines: &[&str]| -> String {
        BARS.split_inclusive('\n').filter(|line| !lines.iter().any(|part| line.contains(part))).collect()
    };
    let no_length = "no row `Elapsed:` has a readable number";
    assert!(refusal(&without(&["Elapsed", "End Snap"])).contains(no_length));
    assert!(refusal(&without(&["Begin Snap"]).replace("60.00 (mins)", "soon")).contains(no_length));
    assert_eq!(figures(&reading(&without(&["Elapsed"]))), figures(&reading(BARS)), "between its snapshots");
    let rest = ["physical", "redo", "Redo", "Read IO"];
    let message = refusal(&without(&rest));
    assert!(message.contains("no table of reads and writes was recognised (Load Profile"), "{message}");
    assert_eq!(figures(&reading(BARS)).len(), 9);
}

/// A text whose lines lost the blanks before them.
fn trim_lines(text: &str) -> String {
    text.lines().map(|line| line.trim_start_matches(['\u{c}', ' ']).to_owned() + "\n").collect()
}

#[test]
fn lines_without_their_first_blanks_are_refused_unless_their_words_are_enough() {
    let work = Workload { host: "quay7".to_owned(), ..Workload::shop(9) };
    for text in [work.awr_text(), work.statspack(), of_10(), STATSPACK_9.to_owned()] {
        let message = refusal(&trim_lines(&text));
        assert!(message.contains("are not below their columns ("), "{message}");
        assert!(message.contains("Wait Events"), "the tables are named: {message}");
    }
    for text in [HEAD_10.to_owned(), format!("{HEAD_10}{STATISTICS_10}"), FRONT_19.to_owned()] {
        let (plain, trimmed) = (reading(&text), reading(&trim_lines(&text)));
        assert_eq!(figures(&trimmed), figures(&plain), "{text}");
        assert_eq!((waits(&trimmed), &trimmed.windows), (waits(&plain), &plain.windows), "{text}");
        assert_eq!(trimmed.scopes[0].database, "QUAY");
        cut_anywhere(&trim_lines(&text));
    }
}

#[test]
fn lines_without_their_first_letters_are_refused() {
    let work = Workload { host: "quay7".to_owned(), ..Workload::shop(9) };
    for text in [work.awr_text(), work.statspack(), of_10(), STATSPACK_9.to_owned(), FRONT_19.to_owned()] {
        for letters in [1, 2, 3, 5, 10, 20] {
            let cut = |line: &str| line.chars().skip(letters).collect::<String>() + "\n";
            let message = refusal(&text.replace('\u{c}', "").lines().map(cut).collect::<String>());
            assert!(message.starts_with("not a known format"), "{letters}: {message}");
        }
    }
}

#[test]
fn waits_that_exceed_the_time_of_the_database_are_doubted() {
    let is_doubted = |text: &str| cautions(&reading(text)).contains("some of these figures are wrong");
    let work = Workload { host: "quay7".to_owned(), ..Workload::shop(9) };
    for text in [work.awr_text(), work.awr_html(), work.statspack(), of_10(), HEAD_10.to_owned(), FRONT_19.to_owned()] {
        assert!(!is_doubted(&text), "{text}");
    }
    for text in [
        of_10().replace("   .0         720       4", "   .0       7,200      40"),
        with_reads("db file sequential read             180,000       7,200     40   30.0   User I/O"),
        of_10().replace("   40.00 (mins)", "    4.00 (mins)"),
        FRONT_19.replace("     21.0K    1.50ms", "    210.0K   15.00ms"),
        BARS.replace("3,600,000| 0| 3,600| 1|", "3,600,000| 0| 36,000| 10|"),
    ] {
        assert!(is_doubted(&text), "{text}");
    }
}

#[test]
fn bytes_of_a_front_page_without_requests_have_no_operations() {
    let without = |rows: &[&str]| -> String {
        FRONT_19.split_inclusive('\n').filter(|line| !rows.iter().any(|row| line.contains(row))).collect()
    };
    let expected = ["reads Throughput 52428800", "writes Throughput 5242880", "redo Throughput 1000000"];
    let found = check(&without(&["IO requests"]), &[&expected[..], &["random reads Latency 0.0015"]].concat());
    assert_eq!(Demand::of(&[&found]).subjects[0].absent(), [Class::Read, Class::Write]);
    assert!(cautions(&found).contains("reads are known in bytes only"), "{}", cautions(&found));
    let found = reading(&without(&["Read IO requests"]));
    assert_eq!(Demand::of(&[&found]).subjects[0].absent(), [Class::Read]);
    let profile = "\
IO Profile                  Read+Write/Second     Read/Second    Write/Second
~~~~~~~~~~                  ----------------- --------------- ---------------
            Total (MB):              55.0            50.0             5.0
";
    let (front, events) = FRONT_19.split_once("Top 10").unwrap();
    let of_profile = format!("{}\n{profile}\nTop 10{events}", front.split_once("Load Profile").unwrap().0);
    let found = reading(&of_profile);
    assert_eq!(figures(&found)[..2], expected[..2]);
    assert!(cautions(&found).contains("reads are known in bytes only"), "{}", cautions(&found));
}

#[test]
fn top_events_of_other_releases_are_read_by_the_words_of_their_headings() {
    let (front, _) = HEAD_10.split_once("Top 5").unwrap();
    let read_events = |table: &str| {
        let found = reading(&format!("{front}{table}\n{STATISTICS_10}"));
        let events = waits(&found).into_iter().map(|(event, _, seconds)| format!("{event} {seconds}"));
        (events.collect::<Vec<_>>(), found.times[0].processor_s)
    };
    let expected = (vec!["db file sequential read 720".to_owned(), "log file sync 120".to_owned()], Some(1_200.0));
    let rulers = [
        "----------------------- ------------ ----------- --------",
        "--------------------------------- ------------ -----",
        "",
    ];
    for ruler in rulers {
        for (heading, average, class) in [
            ("Event   Waits  Time (s) Ela Time", "", ["", ""]),
            ("Event   Waits  Time(s)  % Total", "", ["", ""]),
            ("Event   Waits  Time (s)   (ms)   Time", "2", ["", ""]),
            ("Event   Waits  Time (s)  DB Time   Wait Class", "", ["User I/O", "Commit"]),
        ] {
            let table = format!(
                "Top 5 Timed Events\n~~~~~~~~~~~~~~~~~~      % Total\n{heading}\n{ruler}\n\
                 db file sequential read  180,000  720 {average} 30.0 {}\nCPU time  1,200 50.0\n\
                 log file sync 60,000 120 {average} 5.0 {}\n",
                class[0], class[1]
            );
            let table = table.replace("\n\n", "\n");
            assert_eq!(read_events(&table), expected, "{table}");
        }
        let of_instances = |rows: &str| {
            let head = "Top 5 Timed Events\n~~~~~~~~~~~~~~~~~~\nInst Event  Waits  Time(s)  (ms)  time Wait Class";
            let table = format!("{head}\n{ruler}\n{rows}").replace("\n\n", "\n");
            assert_eq!(read_events(&table), expected, "{table}");
        };
        of_instances(
            "1 db file sequential read 100,000 400 4 40.0 User I/O\n2 db file sequential read 80,000 320 4 20.0 User I/O\n\
             1 CPU time 800 50.0\n2 CPU time 400 50.0\n1 log file sync 60,000 120 2 9.0 Commit\n",
        );
        of_instances(
            "* db file sequential read 180,000 720 4 30.0 User I/O\n1 db file sequential read 100,000 400 4 40.0 User I/O\n\
             * CPU time 1,200 50.0\n1 CPU time 800 50.0\n* log file sync 60,000 120 2 5.0 Commit\n",
        );
    }
}
