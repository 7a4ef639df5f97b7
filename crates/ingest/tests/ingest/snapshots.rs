//! Snapshots collected by plimsoll, of each source.

use plimsoll_ingest::{Class, Fate, Measure, Statistic};
use proptest::prelude::*;

use super::read::{cautions, changed, check, cut_anywhere, figures, reading, refusal};

const POSTGRES: &str = r#"{"format":"plimsoll.snapshots/1","program":"plimsoll 0","source":"postgres","server":"db","version":"18.1","block_bytes":8192,"cache_bytes":134217728}
{"at":"2026-01-31T12:00:00Z","server":{"track_io_timing":"on"},"pg_stat_io":[{"backend_type":"client backend","object":"relation","context":"normal","reads":10,"read_bytes":81920,"read_time":5}],"pg_stat_database":[{"datid":1,"xact_commit":5,"blks_read":7,"active_time":100}]}
{"at":"2026-01-31T12:00:10Z","server":{"track_io_timing":"on"},"pg_stat_io":[{"backend_type":"client backend","object":"relation","context":"normal","reads":110,"read_bytes":901120,"read_time":55}],"pg_stat_database":[{"datid":1,"xact_commit":25,"blks_read":9,"active_time":2100}]}
"#;

const MYSQL: &str = r#"{"format":"plimsoll.snapshots/1","source":"mysql","server":"db"}
{"at":"2026-01-31T12:00:00Z","status":{"Innodb_data_reads":"10","Innodb_data_read":"163840","Uptime":"100"}}
{"at":"2026-01-31T12:00:10Z","status":{"Innodb_data_reads":"20","Innodb_data_read":"327680","Uptime":"110"}}
"#;

const LINUX: &str = r#"{"format":"plimsoll.snapshots/1","source":"linux","host":"h","devices":{"sda":{"size_bytes":1}},"left_out":["dm-0"],"processors":4}
{"at":"2026-01-31T12:00:00Z","uptime_s":100,"devices":{"sda":{"reads":10,"sectors_read":80,"ms_reading":5,"ms_busy":4,"ms_weighted":5}},"pressure_io":{"some_us":1000000,"full_us":0}}
{"at":"2026-01-31T12:00:10Z","uptime_s":110,"devices":{"sda":{"reads":1010,"sectors_read":8080,"ms_reading":1005,"ms_busy":504,"ms_weighted":1005}},"pressure_io":{"some_us":3000000,"full_us":500000}}
"#;

const ORACLE: &str = r#"SQL*Plus: a remark of the client's
{"format":"plimsoll.snapshots/1","source":"oracle","server":"ORCL","version":"19.0.0.0.0"}
{"row":"filetype","inst":1,"at":"2026-01-31T12:00:00","started":"2026-01-01T00:00:00","type":"Data File","small_reads":1000,"large_reads":100,"small_writes":0,"large_writes":0,"small_read_mb":8,"large_read_mb":100,"small_write_mb":0,"large_write_mb":0}
{"row":"filetype","inst":1,"at":"2026-01-31T13:00:00","started":"2026-01-01T00:00:00","type":"Data File","small_reads":37000,"large_reads":3700,"small_writes":0,"large_writes":0,"small_read_mb":296,"large_read_mb":3700,"small_write_mb":0,"large_write_mb":0}
{"row":"time","inst":1,"at":"2026-01-31T12:00:00","started":"2026-01-01T00:00:00","name":"DB time","seconds":10}
{"row":"time","inst":1,"at":"2026-01-31T13:00:00","started":"2026-01-01T00:00:00","name":"DB time","seconds":3610}
{"row":"event","inst":1,"at":"2026-01-31T12:00:00","name":"db file sequential read","waits":100,"seconds":1,"foreground":50}
{"row":"event","inst":1,"at":"2026-01-31T13:00:00","name":"db file sequential read","waits":300,"seconds":3,"foreground":150}
{"row":"bucket","inst":1,"at":"2026-01-31T12:00:00","name":"db file sequential read","upto_us":1000,"waits":50}
{"row":"bucket","inst":1,"at":"2026-01-31T13:00:00","name":"db file sequential read","upto_us":1000,"waits":200}
{"row":"bucket","inst":1,"at":"2026-01-31T13:00:00","name":"db file sequential read","upto_us":2000,"waits":50}
{"row":"metric","inst":1,"at":"2026-01-31T13:00:00","begin":"2026-01-31T12:00:01","seconds":3599,"name":"Physical Read Total IO Requests Per Sec","mean":11,"max":450}
{"row":"metric","inst":1,"at":"2026-01-31T13:00:00","begin":"2026-01-31T12:00:01","seconds":3599,"name":"Host CPU","mean":11,"max":450}
{"row":"host","inst":1,"processors":8,"memory_bytes":1000}
"#;

#[test]
fn postgres_is_read_like_its_views() {
    let read = check(
        POSTGRES,
        &[
            "random reads Iops 10",
            "reads Iops 10",
            "random reads Throughput 81920",
            "reads Throughput 81920",
            "random reads Size 8192",
            "random reads Latency 0.0005",
            "reads Size 8192",
            "reads Latency 0.0005",
        ],
    );
    assert_eq!((read.version.as_deref(), read.scopes[0].database.as_str()), (Some("18.1"), "db"));
    assert_eq!((read.times[0].database_s, read.times[0].commits), (2.0, Some(20.0)));
    assert!(!cautions(&read).contains("8 KiB"), "the head declares the block size");
    assert_eq!(read.databases[0].cache_bytes, Some(134_217_728.0));
}

#[test]
fn mysql_is_read_like_its_status() {
    check(MYSQL, &["reads Iops 1", "reads Throughput 16384", "reads Size 16384"]);
}

#[test]
fn members_of_an_array_are_excluded_from_totals() {
    let text = r#"{"format":"plimsoll.snapshots/1","source":"linux","host":"h","devices":{"md2":{},"sda":{},"sdb":{},"sdc":{}},"arrays":{"md2":["sda","sdb"]}}
{"at":"2026-03-02T09:00:00Z","devices":{"md2":{"writes":0,"ms_writing":0},"sda":{"writes":0,"ms_writing":0},"sdb":{"writes":0,"ms_writing":0},"sdc":{"writes":0,"ms_writing":0}}}
{"at":"2026-03-02T09:00:10Z","devices":{"md2":{"writes":1000,"ms_writing":0},"sda":{"writes":900,"ms_writing":900},"sdb":{"writes":900,"ms_writing":900},"sdc":{"writes":50,"ms_writing":50}}}
"#;
    let mut ingest = plimsoll_ingest::Ingest::new("linux");
    ingest.feed(text.as_bytes());
    let outcomes = ingest.finish();
    let reading = outcomes[0].reading().expect("it is read");
    let demand = plimsoll_ingest::Demand::of(&[reading]);
    let writes = demand.subjects[0].series(Class::Write, Measure::Iops).expect("writes");
    assert_eq!(writes.values, [Some(105.0)]);
    assert!(reading.cautions.iter().any(|caution| caution.doubt.to_string().contains("md2, and its disks sda, sdb")));
}

#[test]
fn linux_yields_devices_and_pressure() {
    let read = check(LINUX, &[]);
    let values: Vec<String> = read
        .figures
        .iter()
        .map(|figure| format!("{} {:?} {}", figure.class.name(), figure.measure, (figure.value * 1e9).round() / 1e9))
        .collect();
    assert_eq!(
        values,
        [
            "reads Iops 100",
            "reads Throughput 409600",
            "all Depth 0.1",
            "all Busy 0.05",
            "reads Size 4096",
            "reads Latency 0.001"
        ]
    );
    assert_eq!(read.scopes[0].part, "sda");
    let waits: Vec<_> = read.waits.iter().map(|wait| (wait.event.as_str(), wait.total_s)).collect();
    assert_eq!(waits, [("io pressure, all tasks", 0.5), ("io pressure, some tasks", 2.0)]);
    assert!(read.parts.iter().any(|part| part.name == "dm-0" && part.fate == Fate::Ignored));
    assert_eq!(read.databases[0].processors, Some(4.0));
}

#[test]
fn oracle_yields_means_maxima_and_histograms() {
    let read = reading(ORACLE);
    let of = |statistic| {
        let mut figures = read.figures.iter().filter(move |figure| figure.statistic == statistic);
        figures.find(|figure| figure.class.name() == "reads").map(|figure| (figure.value, figure.window))
    };
    assert_eq!((of(Statistic::Mean), of(Statistic::Maximum)), (Some((11.0, 0)), Some((450.0, 0))));
    assert!(figures(&read).contains(&"random reads Iops 10".to_owned()), "{:?}", figures(&read));
    assert!(figures(&read).contains(&"sequential reads Size 1048576".to_owned()));
    assert_eq!((read.times[0].database_s, read.scopes[0].instance.as_str()), (3_600.0, "1"));
    let wait = &read.waits[0];
    assert_eq!((wait.count, wait.total_s, wait.foreground), (200.0, 2.0, true));
    assert_eq!(wait.histogram, [(0.001, 0.75), (f64::INFINITY, 0.25)]);
    cut_anywhere(ORACLE);
}

#[test]
fn a_truncated_file_is_read_partly() {
    let read = reading(&POSTGRES[..POSTGRES.len() - 30]);
    assert!(
        read.parts.iter().any(|part| part.fate == Fate::Broken) && cautions(&read).contains("interrupted recording")
    );
    let noted = MYSQL.to_owned() + "{\"at\":\"2026-01-31T12:00:20Z\",\"note\":\"the server went away\"}\n";
    let read = reading(&noted);
    assert!(cautions(&read).contains("the server went away") && !read.figures.is_empty());
    let later =
        [("12:00", "12:01"), ("163840", "427680"), ("327680", "527680"), ("\"20\"", "\"40\""), ("\"10\"", "\"30\"")];
    let uptimes = [("\"100\"", "\"160\""), ("\"110\"", "\"170\"")];
    let later = later.iter().chain(&uptimes).fold(MYSQL.to_owned(), |text, (from, to)| text.replace(from, to));
    let twice = MYSQL.to_owned() + &later;
    assert_eq!(reading(&twice).windows.len(), 3, "concatenated files are read as a single file");
}

#[test]
fn refusals_name_a_remedy() {
    assert!(refusal(&MYSQL.replace("snapshots/1", "snapshots/2")).contains("newer plimsoll"));
    assert!(refusal(&MYSQL.replace("\"mysql\"", "\"db2\"")).contains("newer plimsoll"));
    assert!(refusal(MYSQL.lines().next().unwrap()).contains("longer than its interval"));
    assert!(refusal("plimsoll.snapshots/1").contains("head line"));
}

proptest! {
    #[test]
    fn any_change_yields_an_outcome(at in 0_usize..3_000, byte in any::<u8>(), cut in 0_usize..3_000) {
        for text in [POSTGRES, MYSQL, LINUX, ORACLE] {
            changed(text, at, byte, cut);
        }
    }
}
