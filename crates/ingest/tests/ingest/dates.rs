//! The order of day and month in dates, from all dates of an input.

use jiff::civil::{Date, date};
use plimsoll_ingest::time_in_utc;

use crate::series::{cut_anywhere, has_caution, laws, read};

const DOUBT: &str = "may be swapped";

/// Checks the dates of a table's windows, and whether their order is doubted.
fn check(times: &[&str], expected: &[(i8, i8)], doubt: Option<&str>) {
    let rows = times.iter().map(|time| format!("{time},100\n")).collect::<Vec<_>>().concat();
    let table = format!("time,read_iops\n{rows}");
    let reading = read(&table);
    laws(&reading);
    let found: Vec<Date> = reading.windows.iter().filter_map(|window| Some(window.begin?.date())).collect();
    let expected: Vec<Date> = expected.iter().map(|(month, day)| date(2026, *month, *day)).collect();
    assert_eq!(found, expected, "{times:?}");
    assert_eq!(has_caution(&reading, DOUBT), doubt.is_some(), "{times:?}: {:?}", reading.cautions);
    assert!(doubt.is_none_or(|first| has_caution(&reading, &format!("the {first} is assumed"))), "{times:?}");
    cut_anywhere(&table);
}

#[test]
fn a_day_above_twelve_proves_the_order_of_all_dates() {
    let day_first = ["01/02/2026 10:00", "01/02/2026 10:05", "13/02/2026 10:10"];
    check(&day_first, &[(2, 1), (2, 1), (2, 13)], None);
    check(
        &["28/02/2026 10:00", "28/02/2026 10:05", "01/03/2026 10:00", "02/03/2026 10:00"],
        &[(2, 28), (2, 28), (3, 1), (3, 2)],
        None,
    );
    check(&["02/01/2026 10:00", "02/01/2026 10:05", "02/13/2026 10:10"], &[(2, 1), (2, 1), (2, 13)], None);
    check(&["02-01-26 10:00", "02-01-26 10:05", "02-13-26 10:10"], &[(2, 1), (2, 1), (2, 13)], None);
    // Each date is then read in its only order.
    check(&["13/02/2026 10:00", "13/02/2026 10:05", "02/14/2026 10:10"], &[(2, 13), (2, 13), (2, 14)], None);
    check(&["01/02/2026 10:00", "13/02/2026 10:05", "02/14/2026 10:10"], &[(1, 31), (2, 12), (2, 13)], Some("day"));
}

#[test]
fn times_rise_in_the_order_of_their_dates() {
    check(&["05/01/2026 10:00", "05/01/2026 10:05", "02/03/2026 10:00"], &[(1, 5), (1, 5), (3, 2)], None);
    // Nearer times are likelier, but not certain.
    check(&["01/02/2026 23:55", "02/02/2026 00:05", "03/02/2026 00:05"], &[(2, 1), (2, 1), (2, 2)], Some("day"));
}

#[test]
fn ambiguous_dates_are_doubted() {
    check(&["01/02/2026 10:05", "01/02/2026 10:10"], &[(1, 2), (1, 2)], Some("month"));
    check(&["01/02/26 10:05", "01/02/26 10:10"], &[(1, 2), (1, 2)], Some("month"));
    check(&["01-02-2026 10:05", "01-02-2026 10:10"], &[(2, 1), (2, 1)], Some("day"));
    for certain in ["02/02/2026", "02.02.2026", "2026-02-02", "2026/02/02"] {
        check(&[&format!("{certain} 10:05"), &format!("{certain} 10:10")], &[(2, 2), (2, 2)], None);
    }
    assert_eq!(time_in_utc("01/02/2026 10:00", None), None, "a time of the caller must be certain");
    assert_eq!(time_in_utc("13/02/2026 10:00", None), Some(date(2026, 2, 13).at(10, 0, 0, 0)));
}

#[test]
fn hosts_follow_the_same_rule() {
    let device = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n\
                  sda 10.00 80.00 0.00 0.00 0.50 8.00 5.00 40.00 0.00 0.00 1.00 8.00 0.01 1.00\n\n";
    let iostat = |dates: [&str; 3]| {
        let reports = dates.iter().map(|date| format!("{date} 10:00:00\n{device}")).collect::<Vec<_>>().concat();
        format!("Linux 6.1.0 (db1) 02/02/2026 _x86_64_ (4 CPU)\n\n{reports}")
    };
    let days = read(&iostat(["11/02/2026", "12/02/2026", "13/02/2026"]));
    assert_eq!(days.windows.last().and_then(|window| window.begin), Some(date(2026, 2, 12).at(10, 0, 0, 0)));
    assert!(days.windows.iter().all(|window| window.length.as_secs_f64() <= 86_400.0), "{:?}", days.windows);
    assert!(!has_caution(&days, DOUBT), "{:?}", days.cautions);
    let months = read(&iostat(["01/02/2026", "02/02/2026", "02/02/2026"]));
    assert!(has_caution(&months, DOUBT), "{:?}", months.cautions);
    let sar = |date: &str| {
        format!(
            "Linux 6.1.0 (db1)  {date}  _x86_64_  (4 CPU)\n\n\
             18:00:00          tps      rtps      wtps   bread/s   bwrtn/s\n\
             19:00:00        15.00     10.00      5.00    160.00     80.00\n"
        )
    };
    let begin = |date: &str| read(&sar(date)).windows[0].begin.map(jiff::civil::DateTime::date);
    assert_eq!(begin("13/02/2026"), Some(date(2026, 2, 13)));
    assert_eq!(begin("01/02/26"), Some(date(2026, 1, 2)), "the C locale");
    assert!(has_caution(&read(&sar("01/02/2026")), DOUBT));
    assert!(!has_caution(&read(&sar("01/02/26")), DOUBT));
}
