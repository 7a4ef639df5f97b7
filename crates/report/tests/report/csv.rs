//! CSV of curves: complete rows, plain numbers.

use crate::support;

use plimsoll_record::Curve;
use plimsoll_report::page_csv;

fn csv(curve: &Curve) -> String {
    page_csv(&support::page(&[curve]))
}

/// Reads RFC 4180 strictly.
fn parse(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'));
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            _ => cell.push(c),
        }
    }
    assert!(!quoted && cell.is_empty() && row.is_empty(), "the last line ends");
    rows
}

#[test]
fn every_row_has_all_columns() {
    for (name, curve) in support::odd() {
        let rows = parse(&csv(&curve));
        let expected: usize = curve.runs.iter().map(|run| 1 + run.total.0.len()).sum();
        assert_eq!(rows.len(), 1 + expected, "{name}");
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{name}");
        let numbers = rows[0].iter().enumerate().filter(|(_, name)| name.contains("_ns") || name.contains("iops"));
        for (column, head) in numbers {
            for row in &rows[1..] {
                let cell = &row[column];
                assert!(cell.is_empty() || cell.parse::<f64>().is_ok_and(f64::is_finite), "{name} {head}: {cell}");
            }
        }
    }
}

#[test]
fn several_curves_are_one_table() {
    let (one, other) = (support::build_curve(), support::curve_of(&support::CLOUD));
    let rows = parse(&page_csv(&support::page(&[&one, &other])));
    let of = |curve: &Curve| rows.iter().filter(|row| row[0] == curve.subject.name).count();
    let expected = |curve: &Curve| curve.runs.iter().map(|run| 1 + run.total.0.len()).sum::<usize>();
    assert_eq!((of(&one), of(&other)), (expected(&one), expected(&other)));
}

#[test]
fn quoted_names_round_trip() {
    let curve: Curve = support::hostile();
    let rows = parse(&csv(&curve));
    assert_eq!(rows[1][0], curve.subject.name.replace(|c: char| c.is_control(), "\u{fffd}"));
}

#[test]
fn unknown_values_are_empty() {
    let mut curve = support::without_intervals(support::build_curve());
    curve.runs.push(support::idle_run());
    let rows = parse(&csv(&curve));
    let column = |name: &str| rows[0].iter().position(|head| head == name).unwrap();
    assert_eq!(rows[1][column("p99_ns_low")], "");
    assert!(!rows[1][column("p99_ns")].is_empty());
    let idle = rows.last().unwrap();
    assert_eq!((idle[column("iops")].as_str(), idle[column("p99_ns")].as_str()), ("0", ""));
}

#[test]
fn rates_of_streams_add_up_to_the_total() {
    let curve = support::drained(support::build_curve());
    let rows = parse(&csv(&curve));
    for name in ["iops", "bytes_per_s"] {
        let column = rows[0].iter().position(|head| head == name).unwrap();
        let rate = |row: &Vec<String>| row[column].parse::<f64>().unwrap();
        let mut rest = &rows[1..];
        for run in &curve.runs {
            let (own, after) = rest.split_at(1 + run.total.0.len());
            let parts: f64 = own[1..].iter().map(rate).sum();
            assert!((parts / rate(&own[0]) - 1.0).abs() < 1e-6, "{name}: {parts} of {}", rate(&own[0]));
            rest = after;
        }
    }
}
