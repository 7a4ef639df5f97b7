//! Status variables in every layout, the monitor of InnoDB, and files of the performance schema.

use plimsoll_ingest::{Fate, FormatInput, Outcome};
use plimsoll_units::Span;
use proptest::prelude::*;

use super::read::{cautions, changed, check, cut_anywhere, figures, joined, outcome, reading, refusal};

const NAMES: [&str; 10] = [
    "Innodb_data_fsyncs",
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_log_writes",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_page_size",
    "Uptime",
];
const FIRST: [u64; 10] = [100, 1_638_400, 100, 600, 5_000_000, 400, 90, 400_000, 16_384, 1_000];
/// Ten seconds later: 200 reads and 500 writes, 300 of them of the log.
const LATER: [u64; 10] = [350, 4_915_200, 300, 1_100, 8_430_400, 700, 290, 553_600, 16_384, 1_010];

const FIGURES: [&str; 13] = [
    "reads Iops 20",
    "data writes Iops 20",
    "redo Iops 30",
    "writes Iops 50",
    "flushes Iops 25",
    "reads Throughput 327680",
    "data writes Throughput 327680",
    "redo Throughput 15360",
    "writes Throughput 343040",
    "reads Size 16384",
    "data writes Size 16384",
    "redo Size 512",
    "writes Size 6860.8",
];

fn lines(values: &[u64; 10], mut line: impl FnMut(&str, u64) -> String) -> String {
    NAMES.iter().zip(values).map(|(name, value)| line(name, *value)).collect()
}

fn boxed(values: &[u64; 10]) -> String {
    let ruler = "+----------------------+----------+\n";
    let heading = format!("{ruler}| Variable_name        | Value    |\n{ruler}");
    heading + &lines(values, |name, value| format!("| {name:<20} | {value:<8} |\n")) + ruler
}

/// Two samples side by side.
fn side_by_side(second: &[u64; 10]) -> String {
    let mut second = second.iter();
    lines(&FIRST, |name, value| format!("{name}  {value}  {}\n", second.next().expect("as many")))
}

fn differences() -> [u64; 10] {
    std::array::from_fn(|at| LATER[at] - FIRST[at])
}

#[test]
fn every_layout_yields_equal_figures() {
    let twice = |print: &dyn Fn(&[u64; 10]) -> String| print(&FIRST) + &print(&LATER);
    let shapes = [
        twice(&|values| lines(values, |name, value| format!("{name}\t{value}\n"))),
        twice(&|values| {
            "Variable_name\tValue\n".to_owned() + &lines(values, |name, value| format!("{name}\t{value}\r\n"))
        }),
        twice(&|values| lines(values, |name, value| format!("{} {value}\n", name.to_uppercase()))),
        twice(&boxed),
        twice(&|values| {
            lines(values, |name, value| format!("*** 1. row ***\nVariable_name: {name}\n        Value: {value}\n"))
        }),
        twice(&|values| lines(values, |name, value| format!("\"{name}\",\"{value}\"\n"))),
        twice(&|values| {
            lines(values, |name, value| format!("  {{\"Variable_name\": \"{name}\", \"Value\": \"{value}\"}},\n"))
        }),
        boxed(&FIRST) + &boxed(&differences()),
        side_by_side(&LATER),
        side_by_side(&differences()),
    ];
    for shape in shapes {
        check(&shape, &FIGURES);
    }
}

#[test]
fn a_separately_counted_log_is_added_to_writes() {
    let print = |values: &[u64; 10]| {
        lines(
            values,
            |name, value| if name == "Innodb_os_log_fsyncs" { String::new() } else { format!("{name}\t{value}\n") },
        )
    };
    let read = reading(&(print(&FIRST) + &print(&LATER)));
    let found = figures(&read);
    assert!(found.contains(&"data writes Iops 50".to_owned()), "{found:?}");
    assert!(found.contains(&"redo Iops 30".to_owned()) && found.contains(&"writes Iops 80".to_owned()), "{found:?}");
}

#[test]
fn times_are_uptimes_clocks_or_provided_by_the_caller() {
    let print = |values: &[u64; 10]| {
        lines(values, |name, value| if name == "Uptime" { String::new() } else { format!("{name}\t{value}\n") })
    };
    let clock = format!("2026-01-31T12:00:00+01:00\n{}2026-01-31T12:00:10+01:00\n{}", print(&FIRST), print(&LATER));
    let read = check(&clock, &FIGURES);
    assert_eq!(read.windows[0].begin, Some("2026-01-31T11:00:00".parse().unwrap()));
    let bare = print(&FIRST) + &print(&LATER);
    assert!(reading(&bare).figures.is_empty() && cautions(&reading(&bare)).contains("without times"));
    let input = FormatInput { interval: Some(Span::from_secs(10)), ..FormatInput::from("test") };
    let Outcome::Read(read) = outcome(input, bare.as_bytes(), 64) else { panic!("a status") };
    assert_eq!(figures(&read), FIGURES);
    let input = FormatInput { begin: Some("2026-01-31T09:00:00".parse().unwrap()), ..FormatInput::from("test") };
    let Outcome::Read(read) = outcome(input, (boxed(&FIRST) + &boxed(&LATER)).as_bytes(), 64) else {
        panic!("a status")
    };
    assert_eq!(read.windows[0].begin, Some("2026-01-31T09:00:00".parse().unwrap()));
}

#[test]
fn counters_wrap_and_servers_restart() {
    let mut wrapped = (FIRST, LATER);
    wrapped.0[1] = 4_294_967_296 - 1_000;
    wrapped.1[1] = 3_275_800;
    let read = reading(&(boxed(&wrapped.0) + &boxed(&wrapped.1)));
    assert_eq!(figures(&read), FIGURES);
    let read = reading(&(boxed(&LATER) + &boxed(&FIRST)));
    assert!(read.figures.is_empty() && cautions(&read).contains("uptime fell"), "{}", cautions(&read));
    // A single snapshot is since the start.
    let alone = joined(&[&boxed(&FIRST)]);
    assert!(
        figures(&alone[0]).contains(&"reads Iops 0.1".to_owned()) && cautions(&alone[0]).contains("second snapshot")
    );
    let two = joined(&[&boxed(&FIRST), &boxed(&LATER)]);
    assert_eq!(figures(&two[1]), FIGURES);
}

#[test]
fn other_variables_are_refused_by_name() {
    let message = refusal(
        "Variable      Per day  Per second     11 secs\nInnodb_data_read  5000000  60 \nInnodb_data_reads 200\n",
    );
    assert!(message.contains("rounded"), "{message}");
    let message = refusal("Com_select\t5\nCom_insert\t6\nHandler_read_first\t3\n");
    assert!(message.contains("Innodb_data_reads"), "{message}");
    let cut = boxed(&FIRST) + boxed(&LATER).split_at(250).0;
    let read = reading(&cut);
    assert!(read.parts.iter().any(|part| part.fate == Fate::Broken), "{:?}", read.parts);
}

fn monitor(time: &str, seconds: u32, log: &str) -> String {
    format!(
        "=====================================\n{time} INNODB MONITOR OUTPUT\n=====================================\n\
         Per second averages calculated from the last {seconds} seconds\n--------\nFILE I/O\n--------\n\
         I/O thread 0 state: waiting for i/o request (insert buffer thread)\n\
         Pending normal aio reads: [1, 2] , aio writes: 4 [4, 0] ,\n ibuf aio reads:, log i/o's:, sync i/o's:\n\
         21427 OS file reads, 23672 OS file writes, 13449 OS fsyncs\n\
         20.50 reads/s, 16384 avg bytes/read, 50.00 writes/s, 2.25 fsyncs/s\n---\nLOG\n---\n{log}\
         ----------------------\nBUFFER POOL AND MEMORY\n----------------------\n0.00 reads/s, 9.00 creates/s, 9.00 writes/s\n\
         ----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n"
    )
}

const MONITORED: [&str; 8] = [
    "reads Iops 20.5",
    "reads Throughput 335872",
    "reads Size 16384",
    "writes Iops 50",
    "data writes Iops 20",
    "redo Iops 30",
    "flushes Iops 2.25",
    "reads Depth 3",
];

#[test]
fn the_monitor_has_rates_over_its_own_window() {
    let log = "41 log i/o's done, 30.00 log i/o's/second\n";
    for time in ["260131  2:30:20", "2026-01-31 02:30:20 0x7f33f45fe640", "2026-01-31 02:30:20 140536961435200"] {
        let text = monitor(time, 20, log);
        let expected: Vec<&str> = MONITORED.into_iter().chain(["writes Depth 4"]).collect();
        let read = check(&text, &expected);
        assert_eq!(read.windows[0].begin, Some("2026-01-31T02:30:00".parse().unwrap()));
        assert_eq!(read.windows[0].length, Span::from_secs(20));
        let line = "Type\tName\tStatus\nInnoDB\t\t".to_owned() + &text.replace('\n', "\\n") + "\n";
        assert_eq!(figures(&reading(&line)), expected, "as a line of a client in batch mode");
    }
    let two = monitor("260131 12:30:20", 20, "") + &monitor("260131 12:30:40", 20, "");
    let read = reading(&two);
    assert_eq!(read.windows.len(), 2);
    assert!(!figures(&read).iter().any(|figure| figure.starts_with("redo")), "an unreported log is absent");
}

#[test]
fn an_empty_monitor_is_refused() {
    let text = monitor("260131 12:30:20", 0, "");
    assert!(reading(&text).figures.is_empty() && cautions(&reading(&text)).contains("cover no time"));
    let text = monitor("260131 12:30:20", 20, "");
    let without = text.replace("20.50 reads/s", "some");
    assert!(refusal(&without).contains("FILE I/O"));
    let cut = reading(text.split_once("BUFFER POOL").unwrap().0);
    assert!(cut.parts.iter().any(|part| part.fate == Fate::Broken) && figures(&cut).len() == 7);
}

fn raw(scale: u64) -> String {
    format!(
        "file\tcount_read\ttotal_read\tavg_read\tcount_write\ttotal_written\tavg_write\ttotal\twrite_pct\n\
         /d/t/a.ibd\t{}\t{}\t16384\t{}\t{}\t16384\t0\t0\n/d/ib_logfile0\t0\t0\t0\t{}\t{}\t512\t0\t100\n",
        10 * scale,
        163_840 * scale,
        20 * scale,
        327_680 * scale,
        30 * scale,
        15_360 * scale
    )
}

#[test]
fn files_are_classified() {
    let text = format!("2026-01-31 12:00:00\n{}2026-01-31 12:00:10\n{}", raw(1), raw(2));
    let read = check(
        &text,
        &[
            "reads Iops 1",
            "data writes Iops 2",
            "redo Iops 3",
            "writes Iops 5",
            "reads Throughput 16384",
            "data writes Throughput 32768",
            "redo Throughput 1536",
            "writes Throughput 34304",
            "reads Size 16384",
            "data writes Size 16384",
            "redo Size 512",
            "writes Size 6860.8",
        ],
    );
    assert!(read.scopes.iter().any(|scope| scope.part == "/d/t/a.ibd"));
    let formatted = text.replace("\t163840\t", "\t160.00 KiB\t").replace("\t327680\t", "\t320.00 KiB\t");
    let read = reading(&formatted);
    assert!(figures(&read).contains(&"reads Throughput 16384".to_owned()) && cautions(&read).contains("x$"));
    let vertical = |time: &str, reads: u64| {
        format!(
            "{time}\n*** 1. row ***\n FILE_NAME: /d/a.ibd\nCOUNT_READ: {reads}\nSUM_TIMER_READ: {}\n\
             SUM_NUMBER_OF_BYTES_READ: {}\nCOUNT_WRITE: 0\nSUM_TIMER_WRITE: 0\nSUM_NUMBER_OF_BYTES_WRITE: 0\n",
            reads * 500_000_000,
            reads * 16_384
        )
    };
    let read = reading(&(vertical("2026-01-31 12:00:00", 10) + &vertical("2026-01-31 12:00:10", 20)));
    assert!(figures(&read).contains(&"reads Latency 0.0005".to_owned()), "{:?}", figures(&read));
    assert!(refusal("DESC x;\ncount_read\tbigint(20)\tNO\t0\n").contains("row of a file"));
}

#[test]
fn digests_have_calls_time_and_rows() {
    let sample = |time: &str, n: u64| {
        format!(
            "{time}\nSCHEMA_NAME\tDIGEST\tCOUNT_STAR\tSUM_TIMER_WAIT\tSUM_ROWS_EXAMINED\n\
             shop\t0123456789abcdef0123\t{}\t{}\t{}\nshop\tfedcba9876543210fedc\t{n}\t1000\t1\n",
            10 * n,
            2_000_000_000_000 * n,
            5_000 * n
        )
    };
    let text = sample("2026-01-31 12:00:00", 1) + &sample("2026-01-31 12:00:10", 3);
    let read = reading(&text);
    assert_eq!(read.kind.id, "mysql-digests");
    let slow = read.scopes.iter().position(|scope| scope.part == "statement 0123456789abcdef of shop").unwrap();
    let tallies: Vec<_> =
        read.tallies.iter().filter(|tally| tally.scope == slow as u32).map(|tally| (tally.name, tally.value)).collect();
    assert_eq!(tallies, [("calls", 20.0), ("execution seconds", 4.0), ("rows examined", 10_000.0)]);
    cut_anywhere(&text);
    assert!(refusal("digest,count_star,avg\n").contains("sum_timer_wait"));
}

proptest! {
    #[test]
    fn any_change_yields_an_outcome(at in 0_usize..3_000, byte in any::<u8>(), cut in 0_usize..3_000) {
        let shapes = [boxed(&FIRST) + &boxed(&LATER), monitor("260131 12:30:20", 20, ""), raw(1) + &raw(2)];
        for shape in &shapes {
            changed(shape, at, byte, cut);
        }
    }
}
