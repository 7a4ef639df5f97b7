//! Database time by window, correlation of waits with the load, changes between two periods, and work by origin.

use std::iter;

use plimsoll_choose::diagnosis::{Changed, HistoryQuantity, LoadCorrelation, PeriodChange, WindowTime};
use plimsoll_ingest::{PartWork, Slot, WindowCount};
use plimsoll_language::{label, say};

use super::Case;
use crate::page::{Block, Cell, Column, ColumnKind, PageSection, Table};
use crate::words::diagnosis::{duration, event, part, quantity, value};

/// Maximum number of windows to list, by active sessions.
const WINDOWS_MAX: usize = 24;
/// Maximum number of rows in other tables.
const ROWS_MAX: usize = 12;

fn window_columns() -> [Column; 8] {
    [
        Column::text(label!("window"), 0),
        Column::new(label!("active"), label!("sessions"), ColumnKind::Share, 0),
        Column::rate(label!("load"), "IOPS", 1),
        Column::rate(label!("load"), "MB/s", 1),
        Column::new(label!("storage"), "%", ColumnKind::Share, 0),
        Column::text(label!("longest part"), 1),
        Column::new(label!("share"), "%", ColumnKind::Share, 1),
        Column::text(label!("longest wait"), 2),
    ]
}

fn load_columns() -> [Column; 4] {
    [
        Column::text(label!("waits for"), 0),
        Column::new(label!("share"), "%", ColumnKind::Share, 0),
        Column::new(label!("with load"), "-1 to 1", ColumnKind::Share, 0),
        Column::text(label!("load"), 1),
    ]
}

fn change_columns() -> [Column; 4] {
    [
        Column::text(label!("quantity"), 0),
        Column::text(label!("before"), 0),
        Column::text(label!("after"), 0),
        Column::new(label!("after / before"), "", ColumnKind::Share, 1),
    ]
}

/// Bytes of a usual read of a database.
const BLOCK: f64 = 8192.0;

fn work_columns() -> [Column; 8] {
    [
        Column::text(label!("part"), 0),
        Column::new(label!("reads"), "", ColumnKind::Share, 0),
        Column::new(label!("of all"), "%", ColumnKind::Share, 0),
        Column::new(label!("bytes read"), "%", ColumnKind::Share, 0),
        Column::new(label!("writes"), "", ColumnKind::Share, 1),
        Column::new(label!("of all"), "%", ColumnKind::Share, 1),
        Column::new(label!("calls"), "", ColumnKind::Share, 2),
        Column::time(label!("time"), "s", 2),
    ]
}

/// Windows over time; `None` for a single window.
pub(super) fn section(case: &Case<'_>) -> Option<PageSection> {
    let history = case.found.history.as_ref()?;
    let mut windows: Vec<&WindowTime> = history.windows.iter().collect();
    windows.sort_by(|a, b| b.active.total_cmp(&a.active));
    windows.truncate(WINDOWS_MAX);
    windows.sort_by_key(|window| window.slot.begin);
    let mut table = Table::of(label!("Database time by window"), window_columns(), windows, window);
    table = table.with_notes(windows_note(history.windows.len(), case.subject.slots.len()));
    let mut blocks = vec![Block::Table(table)];
    if !history.unusual.is_empty() {
        let displayed = history.unusual.iter().take(ROWS_MAX);
        let unusual = Table::of(label!("Unusual windows"), unusual_columns(), displayed, |unusual| {
            vec![
                Cell::text(format_begin(unusual.slot)),
                Cell::text(quantity(&unusual.quantity)),
                Cell::text(value(&unusual.quantity, unusual.value)),
                Cell::text(value(&unusual.quantity, unusual.median)),
                Cell::three(unusual.score),
            ]
        });
        let note = label!(
            "the most unusual quantity of each window, at most a twentieth of the windows; distance: modified \
                    z-score, in median absolute deviations, 3.5 and more"
        )
        .to_owned();
        blocks.push(Block::Table(unusual.with_notes([note])));
    }
    if !history.with_load.is_empty() {
        let table = Table::of(label!("Waits and load"), load_columns(), &history.with_load, with_load);
        let note = label!(
            "rank correlation over the windows: near 1 the wait grows with the load, near 0 it is independent of the load"
        );
        blocks.push(Block::Table(table.with_notes([note.to_owned()])));
    }
    blocks.extend(history.change.as_ref().map(change));
    Some(
        PageSection::bare(case.title(label!("Windows over time")), blocks)
            .with_anchor(format!("d{}-history", case.index)),
    )
}

/// The listed windows, those with database time, and all of the subject.
fn windows_note(timed: usize, count: usize) -> Option<String> {
    let without = match count - timed.min(count) {
        0 => String::new(),
        1 => say!("1 of {count} windows has no database time, or less than the input resolves"),
        without => say!("{without} of {count} windows have no database time, or less than the input resolves"),
    };
    let listed = if timed > WINDOWS_MAX {
        say!("the {WINDOWS_MAX} of {timed} windows with database time that have the most active sessions")
    } else {
        String::new()
    };
    let note = [listed, without].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(label!("; "));
    Some(note).filter(|note| !note.is_empty())
}

fn unusual_columns() -> [Column; 5] {
    [
        Column::text(label!("window"), 0),
        Column::text(label!("quantity"), 0),
        Column::text(label!("value"), 0),
        Column::text(label!("median"), 1),
        Column::new(label!("distance"), "", ColumnKind::Share, 2),
    ]
}

fn format_begin(slot: Slot) -> String {
    let begin =
        slot.begin.map_or_else(|| label!("unknown time").to_owned(), |begin| begin.to_string().replace('T', " "));
    say!("{begin}, {}", duration(slot.length.as_secs_f64()))
}

fn percent(share: f64) -> Cell {
    // A sum of no parts is -0.
    let hundredths = share * 100.0 + 0.0;
    Cell::figure(format!("{hundredths:.1}"), hundredths)
}

fn window(window: &WindowTime) -> Vec<Cell> {
    vec![
        Cell::text(format_begin(window.slot)),
        Cell::three(window.active),
        Cell::or_unknown(window.rates[0], Cell::three),
        Cell::or_unknown(window.rates[1], |bytes| Cell::three(bytes / 1e6)),
        percent(window.storage),
        Cell::text(part(window.main)),
        percent(window.main_share),
        Cell::text(window.event.as_deref().unwrap_or_default()),
    ]
}

fn with_load(wait: &LoadCorrelation) -> Vec<Cell> {
    // Above all of the time where the input rounds nearly idle windows.
    let share = Some(wait.share).filter(|share| *share <= 1.0);
    vec![
        Cell::text(&wait.event),
        Cell::or_unknown(share, percent),
        Cell::figure(format!("{:.2}", wait.correlation), wait.correlation),
        Cell::text(quantity(&wait.load)),
    ]
}

/// Comparison of the later windows with the earlier ones.
fn change(change: &PeriodChange) -> Block {
    let is_shown = |changed: &&Changed| !matches!(changed.quantity, HistoryQuantity::WaitSeconds(_));
    let displayed = change.quantities.iter().filter(is_shown).take(ROWS_MAX);
    let table = Table::of(label!("Earlier and later windows"), change_columns(), displayed, |changed| {
        let ratio = (changed.before > 0.0).then(|| changed.after / changed.before);
        vec![
            Cell::text(quantity(&changed.quantity)),
            Cell::text(value(&changed.quantity, changed.before)),
            Cell::text(value(&changed.quantity, changed.after)),
            Cell::or_unknown(ratio, Cell::three),
        ]
    });
    let [before, after] = change.windows;
    let note = say!("{before} windows before {}, {after} from then on", format_begin(change.from));
    Block::Table(table.with_notes([note]))
}

/// A count of a part that cannot be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Partial {
    Reads,
    Bytes,
}

/// The smaller of two shares that contradict each other: the reads of the part, or all others, would be smaller than a sector or
/// larger than any read. Databases count them separately, such as those of parallel or remote processes of a statement.
fn find_partial(work: &PartWork, total: &PartWork) -> Option<Partial> {
    /// Bytes of a sector, and of a read that no database exceeds.
    const SIZES: [f64; 2] = [512.0, 16_777_216.0];
    /// Smaller shares of the reads have no mean size.
    const MIN_SHARE: f64 = 0.01;
    if [work.reads, work.bytes_read, total.reads, total.bytes_read].iter().any(|count| *count <= 0.0) {
        return None;
    }
    let mean = work.bytes_read / work.reads;
    let others = total.reads - work.reads;
    let mean_of_others = (others >= MIN_SHARE * total.reads).then(|| (total.bytes_read - work.bytes_read) / others);
    if mean > SIZES[1] || mean_of_others.is_some_and(|mean| mean < SIZES[0]) {
        Some(Partial::Reads)
    } else if mean < SIZES[0] || mean_of_others.is_some_and(|mean| mean > SIZES[1]) {
        Some(Partial::Bytes)
    } else {
        None
    }
}

/// Work by statement and file, the largest first.
pub(super) fn works(case: &Case<'_>) -> Option<PageSection> {
    let total = case.subject.works.iter().find(|work| work.part.is_empty());
    let mut parts: Vec<&PartWork> = case.subject.works.iter().filter(|work| !work.part.is_empty()).collect();
    if parts.is_empty() {
        return None;
    }
    let seconds = |work: &PartWork| work.tally(WindowCount::EXECUTION_S);
    // Some inputs count only the bytes of a part.
    let load = |work: &PartWork| work.reads.max(work.bytes_read / BLOCK) + work.writes + seconds(work).unwrap_or(0.0);
    parts.sort_by(|a, b| load(b).total_cmp(&load(a)));
    let listed = parts.len();
    parts.truncate(ROWS_MAX);
    let has_writes = parts.iter().any(|work| work.writes > 0.0);
    let share = |part: f64, of: fn(&PartWork) -> f64| {
        let all = total.map_or(0.0, of);
        Cell::or_unknown((all > 0.0).then(|| (part / all).min(1.0)), percent)
    };
    let partial = |work: &PartWork| find_partial(work, total?);
    let has_partial = parts.iter().any(|work| partial(work).is_some());
    let row = |work: &PartWork| {
        let partial = partial(work);
        let reads = Some(work.reads).filter(|_| partial != Some(Partial::Reads));
        let has_bytes = work.bytes_read > 0.0 && partial != Some(Partial::Bytes);
        vec![
            Cell::text(event(&work.part)),
            Cell::or_unknown(reads.filter(|reads| *reads > 0.0 || work.bytes_read <= 0.0), Cell::three),
            Cell::or_unknown(reads.filter(|reads| *reads > 0.0), |reads| share(reads, |total| total.reads)),
            Cell::or_unknown(has_bytes.then_some(()), |()| share(work.bytes_read, |total| total.bytes_read)),
            Cell::or_unknown(has_writes.then_some(work.writes), Cell::three),
            Cell::or_unknown(has_writes.then_some(()), |()| share(work.writes, |total| total.writes)),
            Cell::or_unknown(work.tally(WindowCount::CALLS), Cell::three),
            Cell::or_unknown(seconds(work), Cell::three),
        ]
    };
    let table = Table::of(label!("Work by part"), work_columns(), parts, row).without_unknown();
    let overlap = say!("statements and files overlap one another; {} of {listed} are shown", listed.min(ROWS_MAX));
    let left_out = label!(
        "reads, or bytes, that contradict the other number of their row are left out: the input counts only a part of them"
    );
    let notes = iter::once(overlap).chain(has_partial.then(|| left_out.to_owned()));
    let blocks = vec![Block::Table(table.with_notes(notes))];
    Some(PageSection::bare(case.title(label!("Work by part")), blocks).with_anchor(format!("d{}-works", case.index)))
}

#[cfg(test)]
mod tests {
    use plimsoll_ingest::{InputPosition, PartWork};

    use super::{Partial, find_partial, windows_note};

    #[test]
    fn reads_that_contradict_the_bytes_of_their_row_are_partial() {
        let work = |reads: f64, bytes_read: f64| PartWork {
            part: String::new(),
            seconds: 3_600.0,
            reads,
            bytes_read,
            read_s: 0.0,
            writes: 0.0,
            bytes_written: 0.0,
            tallies: std::collections::BTreeMap::new(),
            place: InputPosition::default(),
        };
        let total = work(10.54e6, 687.28e9);
        let table = [
            (work(164_600.0, 687.19e9), Some(Partial::Reads)),
            (work(164_600.0, 10.74e9), None),
            (work(10.54e6, 687.28e9), None),
            (work(9.0e6, 1e6), Some(Partial::Bytes)),
            (work(100.0, 50e9), Some(Partial::Reads)),
            (work(0.0, 687.19e9), None),
        ];
        for (part, expected) in table {
            assert_eq!(find_partial(&part, &total), expected, "{part:?}");
        }
    }

    #[test]
    fn both_numbers_of_windows_are_explained() {
        assert_eq!(
            windows_note(162, 214).as_deref(),
            Some(
                "the 24 of 162 windows with database time that have the most active sessions; 52 of 214 windows have no database \
                 time, or less than the input resolves"
            )
        );
        let idle = windows_note(7, 8);
        assert_eq!(idle.as_deref(), Some("1 of 8 windows has no database time, or less than the input resolves"));
        assert_eq!(windows_note(8, 8), None);
    }
}
