//! dstat, pidstat and biosnoop.

use jiff::civil::date;
use plimsoll_ingest::{Class, Demand, FormatInput, Measure};
use plimsoll_units::Span;

use crate::read::{cautions, check, cut_anywhere, figures, reading, reading_as, refusal};
use crate::series::{laws, near, values};

pub const DSTAT: &str = "\
\"Dstat 0.7.2 CSV output\"
\"Author:\",\"someone\",,,,\"URL:\",\"somewhere\"
\"Host:\",\"pier1\",,,,\"User:\",\"op\"
\"Cmdline:\",\"dstat --time -dr --output dstat.csv 5\",,,,\"Date:\",\"31 Dec 2025 23:59:50 UTC\"

\"system\",\"dsk/total\",,\"dsk/sda\",,\"io/total\",,\"io/sda\",,\"sda\"
\"time\",\"read\",\"writ\",\"read\",\"writ\",\"read\",\"writ\",\"read\",\"writ\",\"util\"
31-12 23:59:50,1457249.745,1442479.137,1.0,1.0,30.1,22.5,1.0,1.0,5
31-12 23:59:55,3276800.000,8192000.000,1638400,4096000,400.000,500.000,200,250,50
01-01 00:00:00,6553600.000,8192000.000,1638400,4096000,800.000,500.000,200,250,60
";

pub const SCREEN: &str = "\
----system---- ----total-cpu-usage---- -dsk/total- --io/total- 
     time     |usr sys idl wai hiq siq| read  writ| read  writ
24-01 17:26:08|  2   0  97   1   0   0| 628k 2602k|38.6  56.4 
24-01 17:26:09|  2   0  97   1   0   0|  32M 4096B|4096     1 
24-01 17:26:10|  2   0  97   1   0   0|   0     0 |   0     0 
----system---- ----total-cpu-usage---- -dsk/total- --io/total- 
     time     |usr sys idl wai hiq siq| read  writ| read  writ
24-01 17:26:11|  2   0  97   1   0   0|  16M    0 |1.2k     0 
";

pub const PIDSTAT: &str = "\
Linux 6.8.0-45-generic (pier1) \t03/02/26 \t_x86_64_\t(12 CPU)

11:59:50 PM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
11:59:55 PM   999       307   1024.00    512.00      0.00      12  postgres
11:59:55 PM   999       308   1024.00     -1.00      0.00       2  postgres
11:59:55 PM     0        12      0.00     64.00      0.00       0  jbd2/sda2-8

11:59:55 PM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
12:00:00 AM   999       307   4096.00    512.00      0.00      12  postgres

Average:      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
Average:      999       307   2560.00    512.00      0.00      12  postgres
";

pub const BIOSNOOP: &str = "\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   QUE(ms) LAT(ms)
0.001000    db writer      1950    nvme0n1   W 13092560   8192       0.10   1.00
0.500000    postgres       1956    nvme0n1   R 2048       8192       0.01   0.50
0.500600    postgres       1956    nvme0n1   R 2064       8192       0.01   0.50
2.000000    postgres       1956    sda       R 9000       4096       0.01   2.00
";

#[test]
fn the_first_sample_of_dstat_is_since_boot() {
    let expected = [
        "reads Iops 400",
        "reads Throughput 3276800",
        "reads Size 8192",
        "writes Iops 500",
        "writes Throughput 8192000",
        "writes Size 16384",
        "reads Iops 800 in 1",
        "reads Throughput 6553600 in 1",
        "reads Size 8192 in 1",
        "writes Iops 500 in 1",
        "writes Throughput 8192000 in 1",
        "writes Size 16384 in 1",
    ];
    let found = check(DSTAT, &expected);
    laws(&found);
    assert_eq!(found.windows[0].begin, Some(date(2025, 12, 31).at(23, 59, 50, 0)));
    assert_eq!(found.windows[1].begin, Some(date(2025, 12, 31).at(23, 59, 55, 0)), "the year ends inside");
    near(&values(&found, "sda", Class::Read, Measure::Iops), &[200.0, 200.0]);
    near(&values(&found, "sda", Class::All, Measure::Busy), &[0.5, 0.6]);
    let demand = Demand::of(&[&found]);
    assert_eq!(demand.subjects[0].series(Class::Read, Measure::Iops).unwrap().values, [Some(400.0), Some(800.0)]);
    assert!(found.cautions.is_empty(), "{:?}", found.cautions);
}

#[test]
fn latencies_of_devices_belong_to_the_total_or_replace_it() {
    let with = |names: &str, values: &str| -> String {
        let line = |line: &str| match line {
            _ if line.starts_with("\"system") => format!("{line},\"sda\",\"sda\",\"sdb\",\"sdb\"\n"),
            _ if line.starts_with("\"time") => format!("{line},{names}\n"),
            _ if line.starts_with(char::is_numeric) => format!("{line},{values}\n"),
            _ => format!("{line}\n"),
        };
        DSTAT.lines().map(line).collect()
    };
    let waits = "\"rawait\",\"wawait\"";
    let latency = |text: &str| {
        let found = reading(text);
        let demand = Demand::of(&[&found]);
        let series = |class, measure| demand.subjects[0].series(class, measure).map(|series| series.values[0]);
        (series(Class::Read, Measure::Iops), series(Class::Read, Measure::Latency))
    };
    let single = with(&format!("{waits},\"x\",\"y\""), "2.5,1.5,0,0");
    assert_eq!(latency(&single), (Some(Some(400.0)), Some(Some(0.0025))));
    // The second device has no rates of its own, so that the total cannot be replaced.
    let both = with(&format!("{waits},{waits}"), "2.5,1.5,3,3");
    assert_eq!(latency(&both).0, Some(Some(400.0)));
}

#[test]
fn layers_of_dstat_count_once_and_empty_cells_are_doubted() {
    let with = |names: [&str; 2], second: &str| {
        let [a, b] = names;
        let head = DSTAT.split("\"system").next().unwrap();
        format!(
            "{head}\"system\",\"io/{a}\",,\"io/{b}\",\n\"time\",\"read\",\"writ\",\"read\",\"writ\"\n31-12 23:59:50,1,1,1,1\n\
             31-12 23:59:55,100,200,100,200\n01-01 00:00:00,100,200,{second}\n"
        )
    };
    let reads = |text: &str| {
        let found = reading(text);
        let series = Demand::of(&[&found]).subjects[0].series(Class::Read, Measure::Iops).unwrap().values.clone();
        (series, cautions(&found))
    };
    for (names, above) in [
        (["sda", "dm-0"], "dm-0"),
        (["sda", "sda1"], "sda1"),
        (["nvme0n1", "nvme0n1p1"], "nvme0n1p1"),
        (["sda", "vg0-data"], "vg0-data"),
        (["sda", "md0"], "RAID md0"),
    ] {
        let (series, doubts) = reads(&with(names, "100,200"));
        assert_eq!(series, [Some(100.0), Some(100.0)], "{names:?}");
        assert!(doubts.contains(above), "{names:?}: {doubts}");
    }
    let (series, doubts) = reads(&with(["sda", "sdb"], "100,200"));
    assert_eq!((series, doubts.as_str()), (vec![Some(200.0); 2], ""));
    let (_, doubts) = reads(&with(["sda", "sdb"], ","));
    assert!(doubts.contains("sdb lacks values of writes in 1 of 2 windows"), "{doubts}");
}

#[test]
fn samples_without_times_have_the_delay_of_the_command() {
    let untimed = |command: &str| -> String {
        let line = |line: &str| match line {
            _ if line.starts_with("\"Cmdline") => line.replace("dstat --time -dr --output dstat.csv 5", command) + "\n",
            _ if line.starts_with("\"system") || line.starts_with("\"time") || line.starts_with(char::is_numeric) => {
                format!("{}\n", line.split_once(',').unwrap_or_default().1)
            }
            _ => format!("{line}\n"),
        };
        DSTAT.lines().map(line).collect()
    };
    for (command, seconds) in
        [("dstat -dr 5", 5), ("dstat -dr 10 60", 10), ("dstat -dr -C 0", 1), ("dstat -dr --output 1", 1)]
    {
        let found = reading(&untimed(command));
        let expected = Span::from_secs(seconds);
        assert!(found.windows.len() == 2 && found.windows.iter().all(|window| window.length == expected), "{command}");
        near(&values(&found, "", Class::Read, Measure::Iops), &[400.0, 800.0]);
        assert_eq!(found.windows[0].begin, Some(date(2025, 12, 31).at(23, 59, 50, 0)));
    }
    let interval = Some(Span::from_secs(20));
    let specified = reading_as(FormatInput { interval, ..FormatInput::from("test") }, &untimed("dstat -dr 5"));
    assert_eq!(specified.windows[0].length, Span::from_secs(5), "the input precedes the caller");
    assert!(cautions(&specified).contains("contradicts its times"), "{:?}", specified.cautions);
}

#[test]
fn forms_of_other_versions_yield_equal_figures() {
    let names = "\"time\",\"read\",\"writ\",\"read\",\"writ\",\"read\",\"writ\",\"read\",\"writ\",\"util\"";
    let with_groups = "\"time\",\"dsk/total:read\",\"dsk/total:writ\",\"dsk/sda:read\",\"dsk/sda:writ\",\"io/total:read\",\
                       \"io/total:writ\",\"io/sda:read\",\"io/sda:writ\",\"sda:util\"";
    let of_dool = |line: &str| {
        let line = line.replace("Dstat 0.7.2", "Dool 1.3.1");
        let Some((time, rest)) = line.split_once(',').filter(|_| line.starts_with(char::is_numeric)) else {
            return line + "\n";
        };
        format!("\"{}\",{rest}\n", time.replace("31-12", "Dec-31").replace("01-01", "Jan-01"))
    };
    let semicolons = DSTAT.replace(',', ";").replace('.', ",").replace("0,7,2", "0.7.2");
    let forms = [
        DSTAT.replace(names, with_groups),
        DSTAT.replace(names, &with_groups.replace("io/total:", "").replace("io/sda:", "")),
        DSTAT.lines().map(of_dool).collect(),
        semicolons.replace('"', ""),
        semicolons,
    ];
    let expected = reading(DSTAT);
    for form in forms {
        assert_ne!(form, DSTAT);
        let found = reading(&form);
        assert_eq!((figures(&found), &found.windows), (figures(&expected), &expected.windows), "{form}");
    }
}

#[test]
fn another_run_in_the_same_file_has_its_own_columns_and_host() {
    let swapped = DSTAT
        .replace("dsk/", "x/")
        .replace("io/", "dsk/")
        .replace("x/", "io/")
        .replace("31 Dec 2025 23:59:50", "01 Jan 2026 01:00:00")
        .replace("31-12 23:59:5", "01-01 01:00:0")
        .replace("01-01 00:00:00", "01-01 01:00:10");
    let found = reading(&format!("{DSTAT}{swapped}"));
    near(&values(&found, "", Class::Read, Measure::Iops), &[400.0, 800.0, 3_276_800.0, 6_553_600.0]);
    near(&values(&found, "", Class::Read, Measure::Throughput), &[3_276_800.0, 6_553_600.0, 400.0, 800.0]);
    assert_eq!(found.windows[2].begin, Some(date(2026, 1, 1).at(1, 0, 0, 0)));
    let hosts = reading(&format!("{DSTAT}{}", DSTAT.replace("pier1", "pier2")));
    let demand = Demand::of(&[&hosts]);
    for host in ["pier1", "pier2"] {
        let subject = demand.subjects.iter().find(|subject| subject.name == host).unwrap();
        assert_eq!(subject.series(Class::Read, Measure::Iops).unwrap().values, [Some(400.0), Some(800.0)], "{host}");
    }
}

#[test]
fn copies_of_samples_do_not_add_up() {
    let iostat = "\
Linux 5.14.0 (pier1) \t03/24/25 \t_x86_64_\t(8 CPU)

03/24/25 10:00:00
Device            r/s     rkB/s     w/s     wkB/s  r_await  w_await  aqu-sz  %util
sda              1.00      8.00    1.00      8.00     0.50     1.00    0.50  10.00

03/24/25 10:00:10
Device            r/s     rkB/s     w/s     wkB/s  r_await  w_await  aqu-sz  %util
sda            100.00    800.00    5.00     40.00     0.50     1.00    0.50  10.00

03/24/25 10:00:20
Device            r/s     rkB/s     w/s     wkB/s  r_await  w_await  aqu-sz  %util
sda            200.00   1600.00    5.00     40.00     0.50     1.00    0.50  10.00

";
    for text in [DSTAT, iostat] {
        let (once, twice) = (reading(text), reading(&text.repeat(2)));
        assert_eq!((&twice.windows, twice.figures.len()), (&once.windows, once.figures.len()));
        let series = |reading: &plimsoll_ingest::Reading| {
            Demand::of(&[reading]).subjects[0].series(Class::Read, Measure::Iops).unwrap().values.clone()
        };
        assert_eq!(series(&twice), series(&once));
        assert!(cautions(&twice).contains("overlapping windows count once"), "{:?}", twice.cautions);
    }
}

#[test]
fn colours_of_the_screen_are_ignored() {
    let line = |line: &str| format!("\u{1b}[0;34m{line}\u{1b}[0m\n");
    let coloured: String = SCREEN.lines().map(line).collect();
    assert_eq!(reading(&coloured).figures, reading(SCREEN).figures);
}

#[test]
fn zones_of_dstat_are_offsets_or_doubted() {
    let cdt = reading(&DSTAT.replace("UTC", "CDT"));
    assert!(cautions(&cdt).contains("its times are in CDT"));
    let zone = Some(jiff::tz::TimeZone::fixed(jiff::tz::offset(-5)));
    let local = reading_as(FormatInput { zone, ..FormatInput::from("test") }, &DSTAT.replace("UTC", "CDT"));
    assert_eq!(local.windows[0].begin, Some(date(2026, 1, 1).at(4, 59, 50, 0)));
}

#[test]
fn bytes_alone_are_no_operations() {
    let text = DSTAT.replace("\"io/", "\"net/");
    let found = reading(&text);
    assert!(cautions(&found).contains("bytes without operations"));
    assert_eq!(Demand::of(&[&found]).subjects[0].absent(), [Class::Read, Class::Write]);
    assert!(
        refusal(&DSTAT.replace("\"dsk/", "\"net/").replace("\"io/", "\"raw/")).contains("no columns of disks")
            || refusal(&DSTAT.replace("\"dsk/", "\"net/").replace("\"io/", "\"raw/")).contains("columns of disks")
    );
}

#[test]
fn the_screen_of_dstat_is_rounded() {
    let expected = [
        "reads Iops 4096",
        "reads Throughput 33554432",
        "reads Size 8192",
        "writes Iops 1",
        "writes Throughput 4096",
        "writes Size 4096",
        "reads Iops 0 in 1",
        "reads Throughput 0 in 1",
        "writes Iops 0 in 1",
        "writes Throughput 0 in 1",
        "reads Iops 1200 in 2",
        "reads Throughput 16777216 in 2",
        "reads Size 13981.013333 in 2",
        "writes Iops 0 in 2",
        "writes Throughput 0 in 2",
    ];
    let found = check(SCREEN, &expected);
    assert!(cautions(&found).contains("rounded for the screen"));
    assert!(found.windows.iter().all(|window| window.begin.is_none()), "the year is unknown");
    let begin = Some(date(2026, 1, 24).at(17, 26, 8, 0));
    let dated = reading_as(FormatInput { begin, ..FormatInput::from("test") }, SCREEN);
    assert_eq!(dated.windows[0].begin, begin);
}

#[test]
fn tasks_of_pidstat_have_bytes_only() {
    let expected = [
        "reads Throughput 2097152",
        "writes Throughput 589824",
        "reads Throughput 4194304 in 1",
        "writes Throughput 524288 in 1",
    ];
    let found = check(PIDSTAT, &expected);
    assert_eq!(found.windows[1].begin, Some(date(2026, 3, 2).at(23, 59, 55, 0)));
    near(&values(&found, "postgres", Class::Read, Measure::Throughput), &[2_097_152.0, 4_194_304.0]);
    assert!(cautions(&found).contains("bytes of tasks without operations"));
    assert_eq!(Demand::of(&[&found]).subjects[0].absent(), [Class::Read, Class::Write]);
    // Unknown bytes are no zero.
    assert!(cautions(&found).contains("1 rows of tasks have unknown bytes (-1)"));
    let unknown = reading(&PIDSTAT.replace("      0.00     64.00", "     -1.00     -1.00"));
    near(&values(&unknown, "jbd2/sda2-8", Class::Read, Measure::Throughput), &[]);
    let once = "Linux 6.8.0 (pier1) 03/02/26 _x86_64_ (12 CPU)\n\n15:43:32   UID   PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
                15:43:32     0     1     10.55     39.65      6.66     962  systemd\n";
    assert!(refusal(once).contains("no sample of an interval"));
}

#[test]
fn operations_of_biosnoop_are_a_trace() {
    let found = reading(BIOSNOOP);
    let total = |class, measure| {
        let mut figures = found.figures.iter().filter(|figure| (figure.class, figure.measure) == (class, measure));
        figures.find(|figure| found.scopes[figure.scope as usize].part.is_empty()).map(|figure| figure.value)
    };
    assert_eq!(found.kind.id, "trace-biosnoop");
    assert_eq!(total(Class::Read, Measure::Size), Some(8_192.0), "the first second");
    let parts: Vec<&str> =
        found.scopes.iter().map(|scope| scope.part.as_str()).filter(|part| !part.is_empty()).collect();
    assert_eq!(parts, ["nvme0n1", "sda"]);
    cut_anywhere(BIOSNOOP);
    let interval = Some(Span::from_secs(1));
    assert!(!reading_as(FormatInput { interval, ..FormatInput::from("test") }, BIOSNOOP).figures.is_empty());
}
