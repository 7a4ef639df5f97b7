//! Tables in the layout of SNIA reports: figures by block size and mix, the measurement window, and all rounds.
//!
//! A megabyte is 1,000,000 bytes, a gigabyte 1,000,000,000.

use plimsoll_record::Listing;
use plimsoll_units::Bytes;

use super::results::{Results, five_nines};
use super::steady::{EXCURSION, RANGE, Steady};
use super::test::SniaTest;

pub(super) fn listings(results: &Results) -> Vec<Listing> {
    if results.rounds.is_empty() {
        return Vec::new();
    }
    let test = results.test;
    let listing = |title: String, text: String| Listing { title, text };
    if test == SniaTest::WriteSaturation {
        return vec![listing(format!("{test}: plot data"), saturation(results))];
    }
    vec![
        listing(format!("{test}: averages"), tables(results)),
        listing(format!("{test}: steady state"), window(results)),
        listing(format!("{test}: plot data"), rounds(results)),
    ]
}

/// Text of a cell; `None` without a result.
type CellText<'a> = &'a dyn Fn(usize) -> Option<String>;

fn tables(results: &Results) -> String {
    let of = match results.steady() {
        Some(Steady { first, last, .. }) => format!("rounds {first} to {last}"),
        None => "rounds so far".into(),
    };
    let average = |cell: usize| results.average(cell).map(|figure| results.display(figure));
    if results.test != SniaTest::Latency {
        return table(results, &format!("{}, average of {of}", results.unit()), &average);
    }
    let longest = |cell: usize| {
        let bins = results.response(cell);
        (!bins.is_empty()).then(|| format!("{:.3}", bins.max_ns as f64 / 1e6))
    };
    let high = |cell: usize| five_nines(&results.response(cell)).map(|span| format!("{:.3}", span.as_millis_f64()));
    [
        table(results, &format!("average latency, ms, of {of}"), &average),
        table(results, &format!("maximum latency, ms, of {of}"), &longest),
        table(results, &format!("p99.999 latency, ms, of {of}, where there are 100,000 operations"), &high),
    ]
    .join("\n")
}

/// Rows are block sizes, ascending; columns are mixes, from writes to reads.
fn table(results: &Results, title: &str, figure: CellText<'_>) -> String {
    let mut blocks: Vec<u32> = results.cells.iter().map(|cell| cell.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut mixes: Vec<f64> = results.cells.iter().map(|cell| cell.reads).collect();
    mixes.sort_by(f64::total_cmp);
    mixes.dedup();
    let mut text = format!("{title}\n{:>10}  read/write, %\n{:>10}", "", "block");
    for &reads in &mixes {
        text += &format!(" {:>10}", super::RoundLoad { reads, block: 1 }.mix());
    }
    text += "\n";
    for &block in &blocks {
        text += &format!("{:>10}", Bytes::new(block.into()).to_string());
        for &reads in &mixes {
            let place =
                results.cells.iter().position(|cell| cell.block == block && cell.reads.total_cmp(&reads).is_eq());
            text += &format!(" {:>10}", place.and_then(figure).unwrap_or_default());
        }
        text = text.trim_end().to_owned() + "\n";
    }
    text
}

/// Rules of the steady state, their limits, and the measured values.
fn window(results: &Results) -> String {
    let (cell, unit) = (results.test.tracked(), results.unit());
    let Some(steady) = results.steady() else {
        return format!("tracked: {cell}, {unit}\nsteady state: fewer than five rounds\n");
    };
    let Steady { first, last, mean, range, excursion, slope, origin, .. } = steady;
    let state = if steady.is_reached() { "reached" } else { "not reached" };
    format!(
        "tracked: {cell}, {unit}\nsteady state: {state}\nwindow: rounds {first} to {last}\naverage: {mean:.3}\n\
         range: {:.3}, {:.1} % of the average; {:.0} % allowed\n\
         slope excursion: {:.3}, {:.1} % of the average; {:.0} % allowed\nbest fit: {slope:.3} * round + {origin:.3}\n",
        range * mean,
        range * 100.0,
        RANGE * 100.0,
        (excursion * mean).abs(),
        excursion.abs() * 100.0,
        EXCURSION * 100.0
    )
}

/// A line per complete round: tracked figure, best fit within the window, and all loads of the tracked mix.
fn rounds(results: &Results) -> String {
    let (tracked, steady) = (results.tracked(), results.steady());
    let of_mix = |(_, cell): &(usize, &super::RoundLoad)| cell.reads.total_cmp(&results.test.tracked().reads).is_eq();
    let places: Vec<(usize, &super::RoundLoad)> = results.cells.iter().enumerate().filter(of_mix).collect();
    let mut text = format!("{:>5} {:>12} {:>12}", "round", "tracked", "best fit");
    for (_, cell) in &places {
        text += &format!(" {:>12}", Bytes::new(cell.block.into()).to_string());
    }
    text += "\n";
    for (index, value) in tracked.iter().enumerate() {
        let round = index + 1;
        let within = steady.filter(|steady| (steady.first..=steady.last).contains(&round));
        let line = within.map(|steady| results.display(steady.line(round))).unwrap_or_default();
        text += &format!("{round:5} {:>12} {line:>12}", results.display(*value));
        for (place, _) in &places {
            text += &format!(" {:>12}", results.display(results.figure(&results.complete_rounds()[index][*place])));
        }
        text += "\n";
    }
    text
}

/// A line per round of writes.
fn saturation(results: &Results) -> String {
    let mut text = format!(
        "{:>5} {:>10} {:>12} {:>12} {:>10} {:>10} {:>10}\n",
        "round", "minutes", "written GB", "IOPS", "mean ms", "p99.999 ms", "max ms"
    );
    let (mut minutes, mut written) = (0.0, 0);
    for (index, observed) in results.rounds.iter().flatten().enumerate() {
        minutes += observed.span.as_secs_f64() / 60.0;
        written += observed.written;
        let high =
            five_nines(&observed.response).map_or_else(String::new, |span| format!("{:.3}", span.as_millis_f64()));
        text += &format!(
            "{:5} {minutes:10.2} {:12.3} {:12.0} {:10.3} {high:>10} {:10.3}\n",
            index + 1,
            written as f64 / 1e9,
            observed.iops,
            observed.mean().as_millis_f64(),
            observed.response.max_ns as f64 / 1e6
        );
    }
    text
}
