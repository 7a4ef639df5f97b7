//! Files of nmon in the formats of AIX and Linux, of invented hosts.

use std::fmt::Write as _;

use jiff::civil::date;
use plimsoll_ingest::{Class, Fate, Measure, Outcome, OutcomeSummary};
use plimsoll_units::Span;
use proptest::prelude::*;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, refused, samples, values};

const HEAD: &str = "AAA,progname,nmon\nAAA,version,16m\nAAA,host,db1\nAAA,time,23:59.00\nAAA,date,02-MAR-2026\n\
    AAA,interval,30\nCPU_ALL,CPU Total db1,User%\nBBBP,000,/etc/release\n";

fn linux() -> String {
    let mut text = HEAD.to_owned();
    for (section, about) in [
        ("DISKBUSY", "Disk %Busy"),
        ("DISKREAD", "Disk Read KB/s"),
        ("DISKWRITE", "Disk Write KB/s"),
        ("DISKXFER", "Disk transfers per second"),
        ("DISKBSIZE", "Disk Block Size"),
    ] {
        let _ = writeln!(text, "{section},{about} db1,sda,sda1,dm-0,loop0");
        let _ = writeln!(text, "{section}1,{about} db1,sdb");
    }
    text.push_str("DGREADS,Group reads/s db1,sda,all\nDGREADSERV,Group ms db1,sda,all\n");
    for (n, at) in ["23:59:30,02-MAR-2026", "00:00:00,03-MAR-2026", "00:00:30,03-MAR-2026"].iter().enumerate() {
        let n = n + 1;
        let _ = write!(
            text,
            "ZZZZ,T{n:04},{at}\nCPU_ALL,T{n:04},5.0\nDISKBUSY,T{n:04},50.0,50.0,50.0,0.0\nDISKBUSY1,T{n:04},100.3\n\
             DISKREAD,T{n:04},{read}.0,800.0,800.0,0.0\nDISKREAD1,T{n:04},8.0\nDISKWRITE,T{n:04},80.0,80.0,-nan,0.0\n\
             DISKXFER,T{n:04},110.0,110.0,110.0,0.0\nDISKXFER1,T{n:04},2.0\nDISKBSIZE,T{n:04},8.0,8.0,8.0,0.0\n\
             DGREADS,T{n:04},100.0,100.0\nDGREADSERV,T{n:04},0.5,0.5\n",
            read = 800 * n,
        );
    }
    text
}

#[test]
fn samples_of_linux_are_windows() {
    let reading = read(&linux());
    laws(&reading);
    near(&values(&reading, "sda", Class::All, Measure::Iops), &[110.0; 3]);
    near(&values(&reading, "sda", Class::Read, Measure::Throughput), &[819_200.0, 1_638_400.0, 2_457_600.0]);
    near(&values(&reading, "sda", Class::All, Measure::Size), &[8_192.0; 3]);
    near(&values(&reading, "sda", Class::All, Measure::Busy), &[0.5; 3]);
    near(&values(&reading, "sdb", Class::All, Measure::Busy), &[1.0; 3]);
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0; 3]);
    near(&values(&reading, "sda", Class::Read, Measure::Latency), &[0.000_5; 3]);
    let begins: Vec<_> = reading.windows.iter().map(|window| window.begin.unwrap()).collect();
    assert_eq!(begins[0], date(2026, 3, 2).at(23, 59, 0, 0));
    assert_eq!(begins[2], date(2026, 3, 3).at(0, 0, 0, 0));
    assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(30)));
    assert!(reading.scopes.iter().all(|scope| scope.host == "db1" && (scope.part == "sda" || scope.part == "sdb")));
    assert!(reading.parts.iter().any(|part| part.name == "dm-0" && part.fate == Fate::Ignored));
    assert_eq!(reading.version.as_deref(), Some("16m"));
    assert!(reading.cautions.is_empty(), "{:?}", reading.cautions);
    cut_anywhere(&linux());
}

#[test]
fn another_recording_in_the_same_file_has_its_own_host_and_samples() {
    let once = read(&linux());
    let twice = read(&linux().repeat(2));
    assert_eq!((&twice.windows, twice.figures.len()), (&once.windows, once.figures.len()));
    assert!(has_caution(&twice, "overlapping windows count once"), "{:?}", twice.cautions);
    let hosts = read(&(linux() + &linux().replace("db1", "db2")));
    assert_eq!((&hosts.windows, hosts.figures.len()), (&once.windows, 2 * once.figures.len()));
    let of_host = |host: &str| hosts.scopes.iter().filter(|scope| scope.host == host).count();
    assert_eq!((of_host("db1"), of_host("db2")), (2, 2));
}

#[test]
fn a_sorted_file_yields_equal_figures() {
    let text = linux();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let (sorted, total) = (read(&lines.join("\n")), read(&text));
    let plain = |reading: &plimsoll_ingest::Reading| -> Vec<_> {
        reading.figures.iter().map(|figure| (figure.window, figure.class, figure.measure, figure.value)).collect()
    };
    assert_eq!((plain(&sorted), &sorted.windows), (plain(&total), &total.windows));
    let other = text.replace('.', ";").replace(',', ".").replace('.', "\u{1}").replace(';', ",").replace('\u{1}', ";");
    assert_eq!(plain(&read(&other)), plain(&total), "decimal commas");
}

#[test]
fn aix_separates_reads_from_writes() {
    let mut text = HEAD.replace("nmon", "topas_nmon") + "AAA,AIX,7.1.3.30\n";
    for section in ["DISKXFER", "DISKRIO", "DISKWIO", "DISKSERV", "DISKREADSERV", "DISKWRITESERV", "DISKWAIT"] {
        let _ = writeln!(text, "{section},About db1,hdisk1,hdisk2");
    }
    text.push_str(
        "ZZZZ,T0001,23:59:30,02-MAR-2026\nDISKXFER,T0001,30.0,0.0\nDISKRIO,T0001,20.0,0.0\nDISKWIO,T0001,10.0,0.0\n",
    );
    text.push_str(
        "DISKSERV,T0001,3.5,0.0\nDISKREADSERV,T0001,1.5,0.0\nDISKWRITESERV,T0001,2.0,0.0\nDISKWAIT,T0001,0.5,0.0\n",
    );
    let reading = read(&text);
    laws(&reading);
    assert_eq!(reading.platform.as_deref(), Some("AIX 7.1.3.30"));
    near(&values(&reading, "hdisk1", Class::Read, Measure::Iops), &[20.0]);
    near(&values(&reading, "hdisk1", Class::Write, Measure::Latency), &[0.002_5]);
    near(&values(&reading, "hdisk1", Class::All, Measure::Latency), &[]);
    near(&values(&reading, "hdisk2", Class::Read, Measure::Latency), &[]);
    let old = text.lines().filter(|line| !line.contains("READSERV") && !line.contains("WRITESERV"));
    let reading = read(&old.collect::<Vec<_>>().join("\n"));
    near(&values(&reading, "hdisk1", Class::All, Measure::Latency), &[0.004]);
}

#[test]
fn gaps_and_backward_clocks_cause_cautions() {
    let text = linux();
    let gap: Vec<&str> = text.lines().filter(|line| !line.contains("T0002")).collect();
    let reading = read(&gap.join("\n"));
    assert_eq!(reading.windows[1].begin, Some(date(2026, 3, 3).at(0, 0, 0, 0)));
    assert_eq!(reading.windows[1].length, Span::from_secs(30));
    let back = read(&text.replace("00:00:30,03", "00:00:30,01"));
    assert!(has_caution(&back, "clock did not advance"));
    assert_eq!(back.windows.len(), 2);
    let cut = outcome(&text.as_bytes()[..text.find("DISKXFER,T0003").unwrap() + 20], 100, "test");
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
    assert!(refused(HEAD).contains("no sections of disks"));
    assert!(refused(&text.replace("ZZZZ", "ZZZY")).contains("no sample of disks with a time"));
    assert!(refused("ZZZZ,T0001,00:00:00\n").contains("nearest is nmon"));
}

#[test]
fn real_files_are_read() {
    for (name, bytes) in samples("nmon") {
        let total = outcome(&bytes, 65_536, name.as_str());
        let Outcome::Read(reading) = &total else { panic!("{name}: {total:?}") };
        println!(
            "{name}: {:?}, {} figures in {} windows",
            total.verdict(),
            reading.figures.len(),
            reading.windows.len()
        );
        laws(reading);
        assert_eq!((total.verdict(), reading.cautions.as_slice()), (OutcomeSummary::Read, [].as_slice()), "{name}");
        assert_eq!(outcome(&bytes, 997, name.as_str()), total, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_damage_yields_an_outcome(
        cut in 0_usize..2_000, at in 0_usize..3_000, junk in "(ZZZZ,T000[0-9],[0-9:]{0,8}|DISKREAD,[ -~]{0,20}|[,0-9A-Z\n-]{0,30})",
        step in 1_usize..500,
    ) {
        let mut text = linux();
        text.insert_str(at % text.len(), &junk);
        text.truncate(text.len() - cut % text.len());
        let total = outcome(text.as_bytes(), text.len(), "test");
        prop_assert_eq!(outcome(text.as_bytes(), step, "test"), total);
    }
}
