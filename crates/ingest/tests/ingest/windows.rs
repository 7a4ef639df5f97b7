//! Performance counters of Windows and of esxtop: logs, and the list of Get-Counter.

use jiff::civil::date;
use plimsoll_ingest::{Class, Demand, FormatInput, Measure};
use plimsoll_units::Span;

use crate::read::{cautions, changed, check, cut_anywhere, reading, reading_as, refusal};
use crate::series::{laws, near, values};

/// A log of a host with two disks and their total.
pub const LOG: &str = "\
\"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)\",\"\\\\PIER\\PhysicalDisk(_Total)\\Disk Reads/sec\",\"\\\\PIER\\PhysicalDisk(_Total)\\Disk Writes/sec\",\
\"\\\\PIER\\PhysicalDisk(_Total)\\Disk Read Bytes/sec\",\"\\\\PIER\\PhysicalDisk(_Total)\\Avg. Disk sec/Read\",\
\"\\\\PIER\\PhysicalDisk(0 C:)\\Disk Reads/sec\",\"\\\\PIER\\PhysicalDisk(0 C:)\\Disk Writes/sec\",\"\\\\PIER\\PhysicalDisk(1 D:)\\Disk Reads/sec\",\
\"\\\\PIER\\PhysicalDisk(1 D:)\\Disk Writes/sec\",\"\\\\PIER\\LogicalDisk(D:)\\Disk Reads/sec\",\"\\\\PIER\\Memory\\Pages/sec\"
\"03/02/2026 10:00:00.000\",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \",\" \"
\"03/02/2026 10:00:10.000\",\"300.5\",\"50\",\"2461696\",\"0.0015\",\"100.5\",\"20\",\"200\",\"30\",\"200\",\"7\"
\"03/02/2026 10:00:20.000\",\"600.5\",\"60\",\"4919296\",\"0.0025\",\"100.5\",\"20\",\"500\",\"40\",\"500\",\"7\"
The command completed successfully.
";

/// The list of Get-Counter, with a path over two lines.
pub const LIST: &str = "\
Timestamp                 CounterSamples
---------                 --------------
3/22/2026 10:00:01 PM     \\\\pier\\physicaldisk(_total)\\disk reads/sec :
                          120.5

                          \\\\pier\\physicaldisk(_total)\\disk
                          writes/sec :
                          30

3/22/2026 10:00:02 PM     \\\\pier\\physicaldisk(_total)\\disk reads/sec :
                          240.5

                          \\\\pier\\physicaldisk(_total)\\disk
                          writes/sec :
                          60
";

/// The batch output of esxtop.
pub const ESXTOP: &str = "\
\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\esx1\\Physical Disk Adapter(vmhba0)\\Reads/sec\",\"\\\\esx1\\Physical Disk SCSI Device(naa.60a)\\Reads/sec\",\
\"\\\\esx1\\Physical Disk SCSI Device(naa.60a)\\Writes/sec\",\"\\\\esx1\\Physical Disk SCSI Device(naa.60a)\\MBytes Read/sec\",\
\"\\\\esx1\\Physical Disk SCSI Device(naa.60a)\\Average Guest MilliSec/Read\",\"\\\\esx1\\Physical Disk SCSI Device(naa.60a)\\Average Driver MilliSec/Read\",\
\"\\\\esx1\\Physical Disk SCSI Device(naa.60b)\\Reads/sec\"
\"03/02/2026 10:00:05\",\"1100\",\"1000\",\"200\",\"8\",\"1.25\",\"1.00\",\"100\"
\"03/02/2026 10:00:10\",\"1100\",\"1000\",\"200\",\"8\",\"1.50\",\"1.00\",\"100\"
";

#[test]
fn empty_cells_of_a_disk_are_doubted() {
    let text = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\H\\PhysicalDisk(0 C:)\\Disk Reads/sec\",\"\\\\H\\PhysicalDisk(1 D:)\\Disk Reads/sec\"\n\
        \"03/02/2026 10:00:00\",\"100\",\"200\"\n\"03/02/2026 10:00:15\",\"100\",\" \"\n\"03/02/2026 10:00:30\",\"100\",\"200\"\n";
    assert!(cautions(&reading(text)).contains("1 D: lacks values of reads in 1 of 3 windows"));
    assert_eq!(cautions(&reading(&text.replace("\" \"", "\"200\""))), "");
}

#[test]
fn a_total_and_its_disks_are_counted_once() {
    let expected = [
        "reads Iops 300.5",
        "reads Throughput 2461696",
        "reads Size 8192",
        "reads Latency 0.0015",
        "writes Iops 50",
        "reads Iops 600.5 in 1",
        "reads Throughput 4919296 in 1",
        "reads Size 8192 in 1",
        "reads Latency 0.0025 in 1",
        "writes Iops 60 in 1",
    ];
    let found = check(LOG, &expected);
    laws(&found);
    near(&values(&found, "1 D:", Class::Read, Measure::Iops), &[200.0, 500.0]);
    let demand = Demand::of(&[&found]);
    let series = demand.subjects[0].series(Class::Read, Measure::Iops).unwrap();
    assert_eq!(series.values, [Some(300.5), Some(600.5)], "the total, without the disks");
    // The zone of the head is 60 minutes east of UTC.
    assert_eq!(found.windows[0].begin, Some(date(2026, 3, 2).at(9, 0, 0, 0)));
    assert_eq!(found.windows[0].length, Span::from_secs(10));
    assert!(found.assumed_zone.is_none() && found.cautions.is_empty(), "{:?}", found.cautions);
}

#[test]
fn disks_are_counted_without_a_total_or_with_an_incomplete_one() {
    let without = LOG.replace("PhysicalDisk(_Total)", "Cache");
    let demand = Demand::of(&[&reading(&without)]);
    let of = |class| demand.subjects[0].series(class, Measure::Iops).unwrap().values.clone();
    assert_eq!((of(Class::Read), of(Class::Write)), (vec![Some(300.5), Some(600.5)], vec![Some(50.0), Some(60.0)]));
    let incomplete = reading(&LOG.replace("PhysicalDisk(_Total)\\Disk Writes", "Cache\\Disk Writes"));
    assert!(cautions(&incomplete).contains("the total lacks writes"));
    let demand = Demand::of(&[&incomplete]);
    assert_eq!(demand.subjects[0].series(Class::Write, Measure::Iops).unwrap().values, [Some(50.0), Some(60.0)]);
    let logical = LOG.replace("PhysicalDisk", "Processor");
    near(&values(&reading(&logical), "D:", Class::Read, Measure::Iops), &[200.0, 500.0]);
}

#[test]
fn separators_decimal_signs_and_languages_vary() {
    let rows = |text: &str| text.split_inclusive('\n').take(4).collect::<String>();
    let plain = rows(LOG);
    let semicolons: String = plain.lines().map(|line| line.replace("\",\"", "\";\"") + "\n").collect();
    let commas: String = semicolons
        .lines()
        .enumerate()
        .map(|(n, line)| if n < 2 { line.to_owned() } else { decimal_commas(line) } + "\n")
        .collect();
    let tabs = plain.replace("\",\"", "\"\t\"").replace("PDH-CSV", "PDH-TSV");
    let german = plain
        .replace("PhysicalDisk", "Physikalischer Datentr\u{e4}ger")
        .replace("Disk Reads/sec", "Lesevorg\u{e4}nge/s")
        .replace("Disk Writes/sec", "Schreibvorg\u{e4}nge/s")
        .replace("Disk Read Bytes/sec", "Bytes gelesen/s")
        .replace("Avg. Disk sec/Read", "Mittlere Sek./Lesevorg\u{e4}nge");
    let french = plain
        .replace("PhysicalDisk", "Disque physique")
        .replace("Disk Reads/sec", "Lectures disque/s")
        .replace("Disk Writes/sec", "\u{c9}critures disque/s")
        .replace("Disk Read Bytes/sec", "Lectures disque, octets/s")
        .replace("Avg. Disk sec/Read", "Moyenne disque s/lecture");
    let expected: Vec<f64> = reading(&plain).figures.iter().map(|figure| figure.value).collect();
    for text in [semicolons, commas, tabs, german, french] {
        let found: Vec<f64> = reading(&text).figures.iter().map(|figure| figure.value).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// `0.0015` as `0,0015`, except in the time.
fn decimal_commas(line: &str) -> String {
    let Some((time, rest)) = line.split_once(';') else { return line.to_owned() };
    format!("{time};{}", rest.replace('.', ","))
}

#[test]
fn lines_of_the_console_may_precede_the_names() {
    let plain = reading(LOG);
    assert_eq!(reading(&format!("\n{LOG}")).figures.len(), plain.figures.len());
    let copied = reading(&format!("C:\\>typeperf -cf counters.txt -si 10\r\n\r\n{LOG}"));
    assert_eq!((copied.windows, copied.figures.len()), (plain.windows, plain.figures.len()));
    assert_eq!(copied.figures[0].origin.line, plain.figures[0].origin.line + 2);
}

#[test]
fn names_in_the_code_page_of_the_system_are_recognised() {
    let german = LOG
        .replace("PhysicalDisk", "Physikalischer Datentr\u{e4}ger")
        .replace("Disk Reads/sec", "Lesevorg\u{e4}nge/s")
        .replace("Disk Writes/sec", "Schreibvorg\u{e4}nge/s")
        .replace("Disk Read Bytes/sec", "Bytes gelesen/s")
        .replace("Avg. Disk sec/Read", "Mittlere Sek./Lesevorg\u{e4}nge");
    let expected = reading(&german).figures.len();
    // Windows-1252 and code page 850.
    for letter in [0xe4, 0x84] {
        let bytes: Vec<u8> = german.chars().map(|c| if c == '\u{e4}' { letter } else { c as u8 }).collect();
        let outcome = crate::read::outcome("test", &bytes, 1_000);
        assert_eq!(outcome.reading().map(|reading| reading.figures.len()), Some(expected));
    }
}

#[test]
fn a_list_of_get_counter_is_read() {
    let expected = ["reads Iops 120.5", "writes Iops 30", "reads Iops 240.5 in 1", "writes Iops 60 in 1"];
    let found = check(LIST, &expected);
    assert_eq!(found.windows[1].begin, Some(date(2026, 3, 22).at(22, 0, 1, 0)));
    let single: String = LIST.split_inclusive('\n').take(8).collect();
    assert!(cautions(&reading(&single)).contains("a single sample without the length of its window"));
}

#[test]
fn samples_of_export_csv_are_those_of_the_list() {
    let rows = LIST.lines().skip(2).collect::<Vec<&str>>().join(" ");
    let expected = reading(LIST).figures;
    assert!(rows.contains("240.5") && expected.len() == 4);
    let sample = |time: &str, counter: &str, value: &str| {
        format!(
            "\"\\\\pier\\physicaldisk(_total)\\disk {counter}/sec\",\"_total\",\"{value}\",\"3/22/2026 {time} PM\",\"0\"\r\n"
        )
    };
    let head = "#TYPE Microsoft.PowerShell.Commands.GetCounter.PerformanceCounterSample\r\n\"Path\",\"InstanceName\",\"CookedValue\",\"Timestamp\",\"Status\"\r\n";
    let text = [
        head.to_owned(),
        sample("10:00:01", "reads", "120.5"),
        sample("10:00:01", "writes", "30"),
        sample("10:00:02", "reads", "240.5"),
        sample("10:00:02", "writes", "60"),
    ];
    let text = text.concat();
    let values = |figures: &[plimsoll_ingest::Figure]| figures.iter().map(|one| one.value).collect::<Vec<f64>>();
    assert_eq!(values(&reading(&text).figures), values(&expected));
    let semicolons = text.replace("\",\"", "\";\"").replace("120.5", "120,5").replace("240.5", "240,5");
    assert_eq!(values(&reading(&semicolons).figures), values(&expected));
    cut_anywhere(&text);
}

#[test]
fn devices_of_esxtop_are_counted_without_their_adapters() {
    let found = reading(ESXTOP);
    laws(&found);
    near(&values(&found, "naa.60a", Class::Read, Measure::Iops), &[1_000.0, 1_000.0]);
    near(&values(&found, "naa.60a", Class::Read, Measure::Throughput), &[8_388_608.0, 8_388_608.0]);
    near(&values(&found, "naa.60a", Class::Read, Measure::Latency), &[0.00125, 0.0015]);
    assert!(found.scopes.iter().all(|scope| scope.part != "vmhba0"), "{:?}", found.scopes);
    cut_anywhere(ESXTOP);
}

#[test]
fn disks_of_a_machine_are_counted_without_their_sum() {
    let path = |instance: &str| format!("\"\\\\esx1\\Virtual Disk({instance})\\Reads/sec\"");
    let names = ["17:vm1", "17:vm1:scsi0:0", "17:vm1:scsi0:1", "18:vm10"].map(path).join(",");
    let text = format!(
        "\"(PDH-CSV 4.0) (UTC)(0)\",{names}\n\"03/02/2026 10:00:05\",\"30\",\"10\",\"20\",\"5\"\n\
         \"03/02/2026 10:00:10\",\"30\",\"10\",\"20\",\"5\"\n"
    );
    let found = reading(&text);
    let demand = Demand::of(&[&found]);
    assert_eq!(demand.subjects[0].series(Class::Read, Measure::Iops).unwrap().values, [Some(35.0), Some(35.0)]);
}

#[test]
fn counters_have_names_of_further_languages() {
    for (object, reads, writes) in [
        ("Disco f\u{ed}sico", "Lecturas de disco/s", "Escrituras en disco/s"),
        ("Disco fisico", "Letture disco/sec", "Scritture disco/sec"),
        ("PhysicalDisk", "Leituras de disco/s", "Grava\u{e7}\u{f5}es de disco/s"),
    ] {
        let text =
            LOG.replace("PhysicalDisk", object).replace("Disk Reads/sec", reads).replace("Disk Writes/sec", writes);
        let found = reading(&text);
        near(&values(&found, "", Class::Read, Measure::Iops), &[300.5, 600.5]);
        near(&values(&found, "", Class::Write, Measure::Iops), &[50.0, 60.0]);
    }
}

#[test]
fn cells_that_are_not_numbers_are_doubted() {
    let found = reading(&LOG.replace("\"300.5\"", "\"1.300,5\"").replace("\"50\"", "\"many\""));
    near(&values(&found, "", Class::Read, Measure::Iops), &[1_300.5, 600.5]);
    assert!(cautions(&found).contains("not numbers are skipped: 1, such as \"many\""), "{:?}", found.cautions);
}

/// Rows of the table `Perf`, newest first.
#[test]
fn samples_of_log_analytics_are_read() {
    let row = |minute: u32, counter: &str, value: f64| {
        format!("\"11/20/2025, 10:0{minute}:00.000 AM\",SQL1,LogicalDisk,Disk {counter}/sec,_Total,{value}\n")
    };
    let rows: String =
        [2, 1, 0].iter().flat_map(|minute| [row(*minute, "Reads", 100.5), row(*minute, "Writes", 7.0)]).collect();
    let text = format!("TimeGenerated [UTC],Computer,ObjectName,CounterName,InstanceName,CounterValue\n{rows}");
    let found = reading(&text);
    near(&values(&found, "", Class::Read, Measure::Iops), &[100.5; 3]);
    near(&values(&found, "", Class::Write, Measure::Iops), &[7.0; 3]);
    assert_eq!(found.scopes[0].host, "SQL1");
    assert!(found.windows.iter().all(|window| window.length == Span::from_secs(60)), "{:?}", found.windows);
}

#[test]
fn logs_without_disks_are_refused_with_their_reason() {
    let other = LOG.replace("Disk(", "Thing(");
    assert!(refusal(&other).contains("none of its counters is a rate of disks"));
    let single: String = ESXTOP.split_inclusive('\n').take(2).collect();
    assert!(refusal(&single).contains("no two rows"));
    let interval = FormatInput { interval: Some(Span::from_secs(5)), ..FormatInput::from("test") };
    assert_eq!(reading_as(interval, &single).figures.len(), 6);
}

#[test]
fn damaged_logs_have_an_outcome() {
    for at in 0..60 {
        changed(LOG, at * 31, b"\",;(9\n"[at % 6], 1_000 - at);
        changed(LIST, at * 7, b"\\: 9x\n"[at % 6], 600 - at);
    }
}
