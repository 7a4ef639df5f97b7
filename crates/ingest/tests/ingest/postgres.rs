//! Views of PostgreSQL in every layout and version, and their cautions.

use plimsoll_ingest::{Demand, Fate, OutcomeSummary, WindowCount};
use proptest::prelude::*;

use super::read::{cautions, changed, check, cut_anywhere, figures, joined, outcome, reading, refusal};

/// Ten seconds of version 18: 1,000 single reads of 8 KiB, 100 scans of 128 KiB, 50 writes, 20 writes of the log.
const ROWS: [[[&str; 8]; 3]; 2] = [
    [
        ["client backend", "relation", "normal", "5000", "40960000", "2500", "", ""],
        ["client backend", "relation", "bulkread", "10", "1310720", "100", "0", "0"],
        ["walwriter", "wal", "normal", "", "", "", "100", "819200"],
    ],
    [
        ["client backend", "relation", "normal", "6000", "49152000", "3000", "50", "409600"],
        ["client backend", "relation", "bulkread", "110", "14417920", "300", "0", "0"],
        ["walwriter", "wal", "normal", "", "", "", "120", "983040"],
    ],
];

const COLUMNS: [&str; 8] =
    ["backend_type", "object", "context", "reads", "read_bytes", "read_time", "writes", "write_bytes"];

const TIMES: [&str; 2] = ["2026-01-31 12:00:00", "2026-01-31 12:00:10"];

const FIGURES: [&str; 21] = [
    "random reads Iops 100",
    "sequential reads Iops 10",
    "reads Iops 110",
    "data writes Iops 5",
    "redo Iops 2",
    "writes Iops 7",
    "random reads Throughput 819200",
    "sequential reads Throughput 1310720",
    "reads Throughput 2129920",
    "data writes Throughput 40960",
    "redo Throughput 16384",
    "writes Throughput 57344",
    "random reads Size 8192",
    "random reads Latency 0.0005",
    "sequential reads Size 131072",
    "sequential reads Latency 0.002",
    "reads Size 19362.909091",
    "reads Latency 0.000636",
    "data writes Size 8192",
    "redo Size 8192",
    "writes Size 8192",
];

/// Both snapshots in a layout.
fn print_both(print: impl Fn(&str, &[[&str; 8]; 3]) -> String) -> String {
    TIMES.iter().zip(&ROWS).map(|(time, rows)| print(time, rows)).collect()
}

fn separated(rows: &[[&str; 8]; 3], separator: &str) -> String {
    let lines = [COLUMNS].into_iter().chain(*rows);
    lines.map(|cells| cells.join(separator) + "\n").collect()
}

fn aligned(rows: &[[&str; 8]; 3]) -> String {
    let row = |cells: &[&str; 8]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!(" {cell:<14} ")).collect();
        cells.join("|") + "\n"
    };
    let ruler = ["-".repeat(16).as_str(); 8].join("+") + "\n";
    row(&COLUMNS) + &ruler + &rows.iter().map(row).collect::<String>() + "(3 rows)\n\n"
}

fn expanded(rows: &[[&str; 8]; 3]) -> String {
    let record = |(cells, number): (&[&str; 8], usize)| {
        let fields = COLUMNS.iter().zip(cells).map(|(name, cell)| format!("{name:<14} | {cell}\n"));
        format!("-[ RECORD {number} ]-+-----\n") + &fields.collect::<String>()
    };
    rows.iter().zip(1..).map(record).collect::<String>() + "\n"
}

/// Records of `\pset border 2`.
fn boxed(rows: &[[&str; 8]; 3]) -> String {
    let record = |(cells, number): (&[&str; 8], usize)| {
        let fields = COLUMNS.iter().zip(cells).map(|(name, cell)| format!("| {name:<14} | {cell:<16} |\n"));
        format!("+-[ RECORD {number} ]---+------------------+\n") + &fields.collect::<String>()
    };
    rows.iter().zip(1..).map(record).collect::<String>() + "+----------------+------------------+\n\n"
}

/// The characters of `\pset linestyle unicode`.
fn with_lines(table: &str) -> String {
    table.replace('|', "\u{2502}").replace('-', "\u{2500}").replace('+', "\u{253c}")
}

/// Groups of thousands of `\pset numericlocale`.
fn grouped(table: &str, mark: char) -> String {
    let cell = |value: &str| -> String {
        let is_mark = |at: usize| at > 0 && (value.len() - at).is_multiple_of(3);
        value
            .chars()
            .enumerate()
            .flat_map(|(at, digit)| is_mark(at).then_some(mark).into_iter().chain([digit]))
            .collect()
    };
    let line = |line: &str| match line.split_once("| ") {
        Some((name, value)) if value.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{name}| {}\n", cell(value))
        }
        _ => format!("{line}\n"),
    };
    table.lines().map(line).collect()
}

fn json(rows: &[[&str; 8]; 3]) -> String {
    let field = |(name, cell): (&&str, &&str)| match cell.parse::<f64>() {
        Ok(_) => format!("\"{name}\": {cell}"),
        Err(_) if cell.is_empty() => format!("\"{name}\": null"),
        Err(_) => format!("\"{name}\": \"{cell}\""),
    };
    let row = |cells: &[&str; 8]| {
        let fields: Vec<String> = COLUMNS.iter().zip(cells).map(field).collect();
        format!("{{{}}}", fields.join(", "))
    };
    format!("[{}]\n", rows.iter().map(row).collect::<Vec<_>>().join(",\n "))
}

#[test]
fn every_layout_yields_equal_figures() {
    let shapes: [&str; 14] = [
        &print_both(|time, rows| format!("{time}\n{}", aligned(rows))),
        &print_both(|time, rows| format!(" now \n-----\n {time}.000+01\n(1 row)\n\n{}", aligned(rows))),
        &print_both(|time, rows| format!("{time}\n{}", expanded(rows))),
        &print_both(|time, rows| format!("{time}\n{}", with_lines(&expanded(rows)))),
        &print_both(|time, rows| format!("{time}\n{}", boxed(rows))),
        &print_both(|time, rows| format!("{time}\n{}", with_lines(&boxed(rows)))),
        &print_both(|time, rows| format!("{time}\n{}", grouped(&expanded(rows), '.'))),
        &print_both(|time, rows| format!("{time}\n{}", grouped(&expanded(rows), ','))),
        &print_both(|time, rows| format!("{time}\n{}", separated(rows, "|"))),
        &print_both(|time, rows| format!("{time}\n{}", separated(rows, ","))),
        &print_both(|time, rows| format!("{time}\n{}", separated(rows, "\t"))),
        &print_both(|time, rows| format!("{time}\n{}", json(rows))),
        &print_both(|time, rows| format!("{{\"now\": \"{time}\", \"pg_stat_io\": {}}}\n", json(rows).trim_end())),
        &print_both(|time, rows| {
            let psql = json(rows).trim_end().replace('\n', "  +\n ");
            format!("{time}\n json_agg \n-----------\n {psql}\n(1 row)\n\n")
        }),
    ];
    for shape in shapes {
        check(shape, &FIGURES);
    }
}

#[test]
fn times_are_found_in_every_position() {
    let watch = ["Sat Jan 31 12:00:00 2026 (every 10s)\n\n", "        Sat 31 Jan 2026 12:00:10 PM CET (every 10s)\n\n"];
    let watched: String = watch.iter().zip(&ROWS).map(|(title, rows)| (*title).to_owned() + &aligned(rows)).collect();
    check(&watched, &FIGURES);
    let unknown = watched.replace("Jan", "Tammi").replace("Sat", "La");
    let read = check(&unknown, &FIGURES);
    assert_eq!(read.windows[0].begin, None, "a moment that cannot be read is none");
    let history = separated(&ROWS[0], ",") + separated(&ROWS[1], ",").split_once('\n').unwrap().1;
    let history: String = history
        .lines()
        .enumerate()
        .map(|(at, line)| match at {
            0 => format!("ts,{line}\n"),
            1..=3 => format!("{},{line}\n", TIMES[0]),
            _ => format!("{},{line}\n", TIMES[1]),
        })
        .collect();
    check(&history, &FIGURES);
}

#[test]
fn two_files_are_two_snapshots() {
    let texts = [format!("{}\n{}", TIMES[0], aligned(&ROWS[0])), format!("{}\n{}", TIMES[1], aligned(&ROWS[1]))];
    let alone = reading(&texts[0]);
    assert!(alone.figures.is_empty() && alone.snapshots.len() == 1, "a single snapshot has no demand");
    for order in [[0, 1], [1, 0]] {
        let both = joined(&order.map(|at| texts[at].as_str()));
        let found: Vec<String> = both.iter().flat_map(figures).collect();
        assert_eq!(found, FIGURES);
    }
}

#[test]
fn older_versions_count_blocks() {
    let table = |reads: u32, op_bytes: &str| {
        format!("backend_type,object,context,reads,read_time{op_bytes}\nclient backend,relation,normal,{reads},0")
    };
    let sixteen = |reads| table(reads, ",op_bytes") + ",4096\n";
    let text = format!("{}\n{}{}\n{}", TIMES[0], sixteen(100), TIMES[1], sixteen(300));
    let expected = [
        "random reads Iops 20",
        "reads Iops 20",
        "random reads Throughput 81920",
        "reads Throughput 81920",
        "random reads Size 4096",
        "reads Size 4096",
    ];
    let message = cautions(&check(&text, &expected));
    assert!(message.contains("track_io_timing") && message.contains("counted in blocks"), "{message}");
    assert!(!message.contains("8 KiB"), "{message}");
    // An absent block size is assumed, with a caution.
    let bare = |reads| table(reads, "") + "\n";
    let text = format!("{}\n{}{}\n{}", TIMES[0], bare(100), TIMES[1], bare(300));
    let read = reading(&text);
    assert!(figures(&read).contains(&"reads Size 8192".to_owned()) && cautions(&read).contains("8 KiB"));
    let text = format!(" block_size \n------------\n 16384\n(1 row)\n\n{text}");
    let read = reading(&text);
    assert!(figures(&read).contains(&"reads Size 16384".to_owned()) && !cautions(&read).contains("8 KiB"));
}

#[test]
fn operations_of_version_18_without_bytes_have_no_size() {
    let snapshot = |time: &str, reads: u32| {
        format!(
            "{time}\nbackend_type,object,context,reads,read_time\nclient backend,relation,normal,{reads},{reads}\n\
             io worker,relation,normal,0,0\n"
        )
    };
    let text = snapshot(TIMES[0], 100) + &snapshot(TIMES[1], 300);
    let expected = ["random reads Iops 20", "reads Iops 20", "random reads Latency 0.001", "reads Latency 0.001"];
    let message = cautions(&check(&text, &expected));
    assert!(message.contains("select read_bytes") && !message.contains("counted in blocks"), "{message}");
    assert!(!message.contains("8 KiB"), "{message}");
}

#[test]
fn servers_without_pg_stat_io_are_read_from_other_views() {
    let views = |time: &str, n: u32| {
        format!(
            "{time}\ndatname|xact_commit|blks_read|blk_read_time|temp_bytes|active_time\n\
             a|{}|{}|{}|{}|{}\nb|0|0|0|0|0\n(2 rows)\n\
             buffers_checkpoint|buffers_clean|buffers_backend\n{}|0|0\n(1 row)\n\
             wal_records|wal_bytes|wal_write|wal_sync|wal_write_time|wal_sync_time\n1|{}|{}|{}|{}|{}\n(1 row)\n",
            100 * n,
            1_000 * n,
            500 * n,
            81_920 * n,
            30_000 * n,
            200 * n,
            40_960 * n,
            10 * n,
            10 * n,
            5 * n,
            20 * n
        )
    };
    let text = views(TIMES[0], 1) + &views(TIMES[1], 2);
    let read = check(
        &text,
        &[
            "reads Iops 100",
            "data writes Iops 20",
            "redo Iops 1",
            "writes Iops 21",
            "flushes Iops 1",
            "reads Throughput 819200",
            "data writes Throughput 163840",
            "redo Throughput 4096",
            "temp writes Throughput 8192",
            "writes Throughput 167936",
            "reads Size 8192",
            "reads Latency 0.0005",
            "data writes Size 8192",
            "redo Size 4096",
            "redo Latency 0.0005",
            "writes Size 7996.952381",
            "flushes Latency 0.002",
        ],
    );
    let time = &read.times[0];
    assert_eq!((time.database_s, time.commits), (30.0, Some(100.0)));
    let waits: Vec<_> = read.waits.iter().map(|wait| (wait.event.as_str(), wait.count, wait.total_s)).collect();
    assert!(waits.contains(&("DataFileRead", 1_000.0, 0.5)) && waits.contains(&("WALSync", 10.0, 0.02)), "{waits:?}");
}

#[test]
fn unmeasured_times_are_absent() {
    let view = |time: &str, n: u32, log_ms: u32| {
        format!(
            "{time}\nbackend_type,object,context,reads,read_bytes,read_time,writes,write_bytes,write_time\n\
             client backend,relation,normal,{},1,{},{},1,{}\nwalwriter,wal,normal,,,,{},1,{}\n",
            100 * n,
            50 * n,
            10 * n,
            10 * n,
            10 * n,
            log_ms * n
        )
    };
    let latencies = |log_ms: u32| -> Vec<String> {
        let read = reading(&(view(TIMES[0], 1, log_ms) + &view(TIMES[1], 2, log_ms)));
        assert_eq!(cautions(&read).contains("track_wal_io_timing"), log_ms == 0);
        figures(&read).into_iter().filter(|figure| figure.contains("Latency")).collect()
    };
    let reads = ["random reads Latency 0.0005", "reads Latency 0.0005", "data writes Latency 0.001"];
    assert_eq!(latencies(0), reads, "writes of the log are not timed, and so are not all writes");
    let all: Vec<&str> = reads.into_iter().chain(["redo Latency 0.003", "writes Latency 0.002"]).collect();
    assert_eq!(latencies(30), all);
}

#[test]
fn settings_and_times_may_follow_each_other() {
    let views = |time: &str, rows| {
        let now = format!("-[ RECORD 1 ]-----\nnow | {time}.5+01\n\n");
        now + &expanded(rows)
    };
    let read = check(&(views("2026-01-31 12:00:00", &ROWS[0]) + &views("2026-01-31 12:00:10", &ROWS[1])), &FIGURES);
    assert_eq!(read.windows[0].begin, Some("2026-01-31T11:00:00.5".parse().unwrap()));
    let near = views("2026-01-31 12:00:00", &ROWS[0]) + &views("2026-01-31 12:00:01", &ROWS[1]);
    assert_eq!(reading(&near).windows[0].length, plimsoll_units::Span::from_secs(1));
}

#[test]
fn statements_are_parts_without_their_text() {
    let table = |time: &str, n: u32| {
        format!(
            "{time}\n queryid | calls | shared_blks_read | query \n---------+-------+------------------+-------\n \
             17      | {n}   | {}              | SELECT secret +\n         |       |                  | FROM t|u\n\
             (1 row)\n\n",
            n * 100
        )
    };
    let read = reading(&(table(TIMES[0], 1) + &table(TIMES[1], 2)));
    let parts: Vec<&str> = read.scopes.iter().map(|scope| scope.part.as_str()).collect();
    assert_eq!(parts, ["statement 17"]);
    assert_eq!(format!("{:.3}", read.figures[0].value), "10.000");
    assert!(!format!("{read:?}").contains("secret"), "texts of statements are not kept");
}

#[test]
fn resets_and_restarts_yield_no_figures() {
    let table = |time: &str, reads: u32, reset: &str| {
        format!(
            "{time}\nbackend_type,object,context,reads,read_bytes,stats_reset\nx,relation,normal,{reads},1,{reset}\n"
        )
    };
    let text = table(TIMES[0], 10, "2026-01-01 00:00:00+00") + &table(TIMES[1], 500, "2026-01-31 12:00:05+00");
    let read = reading(&text);
    assert!(read.figures.is_empty() && cautions(&read).contains("reset"), "{:?}", read.figures);
    let text = table(TIMES[0], 500, "") + &table(TIMES[1], 10, "");
    assert!(reading(&text).figures.is_empty());
    let text = table(TIMES[1], 10, "") + &table(TIMES[0], 500, "");
    assert!(reading(&text).figures.is_empty() && cautions(&reading(&text)).contains("clock"));
}

#[test]
fn truncated_rows_are_no_resets() {
    const COLUMNS: &str = "backend_type,object,context,reads,read_bytes,writes,write_bytes,stats_reset\n";
    let rows = |n: u32| {
        format!(
            "client backend,relation,normal,{0},{1},0,0,2026-01-01 00:00:00.123456+00\n\
             client backend,relation,bulkread,{0},{1},0,0,2026-01-01 00:00:00.123456+00\n",
            100 * n,
            819_200 * n
        )
    };
    let sample = |second: u32, rows: &str| format!("2026-01-31 12:00:{second:02}\n{COLUMNS}{rows}");
    let full = rows(2);
    let row_end = full.trim_end().len();
    // Within each cell of the second row, between rows, and within the time of the reset.
    for end in (full.find('\n').unwrap() + 1..row_end).filter(|end| full.is_char_boundary(*end)) {
        for line_end in ["", "\n"] {
            let text = sample(0, &rows(1)) + &sample(10, &(full[..end].to_owned() + line_end)) + &sample(20, &rows(3));
            let text = if line_end.is_empty() {
                text.replacen("12:00:20", "\n2026-01-31 12:00:20", 1).replace("2026-01-31 \n", "\n")
            } else {
                text
            };
            let read = reading(&text);
            let found = cautions(&read);
            assert!(!found.contains("reset"), "{end}: {found}\n{text}");
            let rates: Vec<String> =
                figures(&read).into_iter().filter(|figure| figure.starts_with("reads Iops")).collect();
            let is_complete = rates.iter().all(|rate| rate.starts_with("reads Iops 20"));
            assert!(is_complete && !rates.is_empty(), "{end}: {rates:?}\n{text}");
            // At the end of the file.
            let cut = reading(&(sample(0, &rows(1)) + &sample(10, &rows(2)) + &sample(20, &full[..end])));
            assert!(!cautions(&cut).contains("reset"), "{end}: {}", cautions(&cut));
        }
    }
}

#[test]
fn rows_that_are_missing_in_a_snapshot_are_no_fall_of_counters() {
    let sample = |time: &str, rows: &[[&str; 8]]| {
        format!("{time}\n{}\n{}", COLUMNS.join(","), rows.iter().map(|row| row.join(",") + "\n").collect::<String>())
    };
    let text = sample(TIMES[0], &ROWS[0]) + &sample("2026-01-31 12:00:05", &ROWS[1][..2]) + &sample(TIMES[1], &ROWS[1]);
    let read = check(&text, &FIGURES);
    let found = cautions(&read);
    assert!(found.contains("lacks rows of pg_stat_io") && !found.contains("restart"), "{found}");
}

#[test]
fn a_reset_of_pg_stat_io_is_not_mixed_with_other_views() {
    let sample = |time: &str, reads: u32, reset: &str| {
        format!(
            "{time}\nbackend_type,object,context,reads,read_bytes,stats_reset\nx,relation,normal,{reads},1,{reset}\n\n\
             datname,blks_read,xact_commit\na,900000,1\n"
        )
    };
    let text = sample(TIMES[0], 10, "2026-01-01 00:00:00+00") + &sample(TIMES[1], 500, "2026-01-31 12:00:05+00");
    let read = reading(&text);
    assert!(figures(&read).is_empty(), "{:?}", figures(&read));
}

#[test]
fn refusals_of_broken_inputs_name_the_fault() {
    let text = print_both(|time, rows| format!("{time}\n{}", separated(rows, "|")));
    let cut = outcome("test", &text.as_bytes()[..text.len() - 12], 4096);
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
    let broken = text.replace("bulkread|10|", "bulkread|10|7|");
    let read = reading(&broken);
    assert!(read.parts.iter().any(|part| part.fate == Fate::Broken) && cautions(&read).contains("9 cells under 8"));
    assert!(refusal("backend_type is a column\n").contains("row of pg_stat_io"));
    let message = refusal("SELECT backend_type, object, context, reads FROM pg_stat_io;\n");
    assert!(message.contains("the nearest is statistics of PostgreSQL"), "{message}");
    let half = print_both(|time, rows| format!("{time}\n{}", json(rows)));
    let half = outcome("test", &half.as_bytes()[..half.len() - 40], 4096);
    assert_eq!(half.verdict(), OutcomeSummary::Partly);
}

proptest! {
    #[test]
    fn any_change_yields_an_outcome(at in 0_usize..3_000, byte in any::<u8>(), cut in 0_usize..3_000) {
        let shapes = [
            print_both(|time, rows| format!("{time}\n{}", aligned(rows))),
            print_both(|time, rows| format!("{time}\n{}", expanded(rows))),
            print_both(|time, rows| format!("{time}\n{}", json(rows))),
        ];
        for shape in &shapes {
            changed(shape, at, byte, cut);
        }
    }
}

#[test]
fn work_is_split_by_statement_and_autovacuum_is_counted() {
    let sample = |time: &str, n: u64| {
        format!(
            "{time}\nbackend_type,object,context,reads,read_bytes,writes,write_bytes\n\
             client backend,relation,normal,{0},{1},0,0\nautovacuum worker,relation,vacuum,{2},{3},0,0\n\
             \nqueryid,calls,total_exec_time,shared_blks_read,shared_blks_written\n77,{n},{4},{0},0\n78,{n},{n},{n},0\n\
             \nnum_timed,num_requested,buffers_written,write_time\n1,{n},{n},{n}\n",
            600 * n,
            600 * n * 8_192,
            400 * n,
            400 * n * 8_192,
            5_000 * n,
        )
    };
    let text = sample("2026-01-31 12:00:00", 1) + &sample("2026-01-31 12:00:10", 4);
    let read = reading(&text);
    let demand = Demand::of(&[&read]);
    let works = &demand.subjects[0].works;
    let work = |part: &str| works.iter().find(|work| work.part == part).unwrap_or_else(|| panic!("{part}: {works:?}"));
    assert_eq!((work("").reads, work("").tally(WindowCount::AUTOVACUUM)), (3_000.0, Some(1_200.0)));
    assert_eq!((work("statement 77").reads, work("statement 77").tally(WindowCount::CALLS)), (1_800.0, Some(3.0)));
    assert_eq!(work("statement 77").tally(WindowCount::EXECUTION_S), Some(15.0));
    assert_eq!(work("").tally(WindowCount::CHECKPOINTS_REQUESTED), Some(3.0));
    assert_eq!(work("").tally(WindowCount::CHECKPOINTS_TIMED), Some(0.0));
    assert!(works[0].part.is_empty(), "the whole comes first");
    cut_anywhere(&text);
}
