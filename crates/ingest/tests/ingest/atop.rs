//! Samples of atop, as parseable lines and as pages, of invented hosts.

use jiff::civil::date;
use plimsoll_ingest::{Class, Measure, Outcome, OutcomeSummary, Resource};
use plimsoll_units::Span;
use proptest::prelude::*;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, refused, resources, samples, values};

fn labelled() -> String {
    let mut text = String::from(
        "RESET\nDSK db1 1772442000 2026/03/02 10:00:00 9000 sda 90000 900000 9000000 5 5 0 0 0 1.0\nSEP\n",
    );
    for n in 1..=2 {
        let head = format!("db1 {} 2026/03/02 10:00:{n}0 10", 1_772_442_000 + n * 10);
        text += &format!(
            "CPU {head} 100 4 100 300 0 3500 50 30 20 0 0\nDSK {head} sda 5000 1000 16000 500 8000 10 160 2 3.0\n"
        );
        text += &format!("DSK {head} sdb 0 0 0 0 0 -1 0 0 0.0\nLVM {head} vg-lv 5000 1000 16000 500 8000\nSEP\n");
    }
    text
}

#[test]
fn parseable_lines_are_counts_of_a_sample() {
    let reading = read(&labelled());
    laws(&reading);
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0; 2]);
    near(&values(&reading, "sda", Class::Read, Measure::Size), &[8_192.0; 2]);
    near(&values(&reading, "sda", Class::Write, Measure::Throughput), &[409_600.0; 2]);
    near(&values(&reading, "sda", Class::Discard, Measure::Iops), &[1.0; 2]);
    near(&resources(&reading, Resource::UsedProcessors), &[0.45]);
    near(&values(&reading, "sda", Class::All, Measure::Busy), &[0.5; 2]);
    near(&values(&reading, "sda", Class::All, Measure::Depth), &[1.5; 2]);
    near(&values(&reading, "sdb", Class::Discard, Measure::Iops), &[]);
    assert_eq!(reading.windows[0].begin, Some(date(2026, 3, 2).at(9, 0, 0, 0)));
    assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(10)) && reading.windows.len() == 2);
    assert!(reading.scopes.iter().all(|scope| scope.host == "db1"));
    cut_anywhere(&labelled());
    let filtered: Vec<String> =
        labelled().lines().filter(|line| line.starts_with("DSK")).skip(1).map(str::to_owned).collect();
    near(&values(&read(&filtered.join("\n")), "sda", Class::Read, Measure::Iops), &[100.0; 2]);
    let old = labelled().replace(" 10 160 2 3.0", "").replace(" -1 0 0 0.0", "");
    near(&values(&read(&old), "sda", Class::Write, Measure::Iops), &[50.0; 2]);
}

#[test]
fn a_sample_since_boot_is_used_only_without_others() {
    let text = labelled();
    let alone = read(text.split_inclusive("SEP\n").next().unwrap());
    near(&values(&alone, "sda", Class::Read, Measure::Iops), &[100.0]);
    assert!(has_caution(&alone, "hides all peaks"));
    let cut = outcome(&text.as_bytes()[..text.find("sdb").unwrap() + 5], 10, "test");
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
    let none: Vec<&str> = text.lines().filter(|line| !line.starts_with("DSK")).collect();
    assert!(refused(&none.join("\n")).contains("-P DSK"));
}

fn pages() -> String {
    let page = |time: &str, elapsed: &str, row: &str, end: &str| {
        format!(
            "\nATOP - db1   2026/03/02  {time}   ------   {elapsed} elapsed\nCPU | sys  6% | user 101% | irq 3% | idle 290% |\n{row}\n{end}NPROCS\n"
        )
    };
    let row = "DSK |      sda | busy     50% | read    1000 | write    500 | KiB/r     8 | KiB/w 16 | MBr/s 0.8 | MBw/s 0.8 | avq 3.00 | avio 3.3 ms |";
    page(
        "10:00:00",
        "2h10m",
        "DSK | sda | busy 4% | read 16088e3 | write 4 | avio 0.60 ms |",
        "  *** system and process activity since boot ***\n",
    ) + &page("10:00:10", "10s", row, "")
        + &page("10:00:20", "10s", row, "")
}

#[test]
fn pages_are_windows() {
    let reading = read(&pages());
    laws(&reading);
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0; 2]);
    near(&values(&reading, "sda", Class::Read, Measure::Size), &[8_388.608; 2]);
    near(&values(&reading, "sda", Class::Write, Measure::Size), &[16_384.0; 2]);
    near(&values(&reading, "sda", Class::All, Measure::Depth), &[1.5; 2]);
    near(&resources(&reading, Resource::UsedProcessors), &[1.1]);
    assert_eq!(reading.windows[1].begin, Some(date(2026, 3, 2).at(10, 0, 10, 0)));
    cut_anywhere(&pages());
    let alone = read(pages().split("ATOP").take(2).collect::<Vec<_>>().join("ATOP").as_str());
    near(&values(&alone, "sda", Class::Read, Measure::Iops), &[16_088e3 / 7_800.0]);
    assert!(refused(&pages().replace("DSK |", "XXX |")).contains("lines of disks"));
}

#[test]
fn real_files_are_read() {
    for (name, bytes) in samples("atop") {
        let total = outcome(&bytes, 65_536, name.as_str());
        let Outcome::Read(reading) = &total else { panic!("{name}: {total:?}") };
        println!("{name}: {:?}, {} figures, {:?}", total.verdict(), reading.figures.len(), reading.cautions);
        laws(reading);
        assert!(!reading.figures.is_empty(), "{name}");
        assert_eq!(outcome(&bytes, 997, name.as_str()), total, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_damage_yields_an_outcome(cut in 0_usize..1_000, at in 0_usize..2_000, junk in "[ |0-9A-Za-z:/\n-]{0,30}", step in 1_usize..500) {
        for mut text in [labelled(), pages()] {
            text.insert_str(at % text.len(), &junk);
            text.truncate(text.len() - cut % text.len());
            let total = outcome(text.as_bytes(), text.len(), "test");
            prop_assert_eq!(outcome(text.as_bytes(), step, "test"), total);
        }
    }
}
