//! Counts of each export: requests, bytes, errors, and the lateness of replies.

use plimsoll_record::{Bins, Recorder};
use plimsoll_units::Span;
use plimsoll_volume::{Command, Errno, Export};

use super::turnaround::Turnarounds;

/// The counts of an export over an interval.
#[derive(Clone, Debug, Default)]
pub struct Count {
    pub reads: u64,
    pub writes: u64,
    /// Other answered requests.
    pub others: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests answered with an error.
    pub errors: u64,
    pub lateness: Bins,
}

#[derive(Debug, Default)]
struct CountRow {
    export: Option<Export>,
    count: Count,
    lateness: Recorder,
    turnarounds: Turnarounds,
}

/// The counts of all exports.
#[derive(Debug, Default)]
pub(super) struct ServerCounts {
    rows: Vec<CountRow>,
}

impl ServerCounts {
    pub(super) fn row(&mut self, export: Export) -> u32 {
        let found = self.rows.iter().position(|row| row.export == Some(export));
        let row = found.unwrap_or_else(|| {
            self.rows.push(CountRow { export: Some(export), ..CountRow::default() });
            self.rows.len() - 1
        });
        row as u32
    }

    /// The model answered a request after a wait.
    #[inline]
    pub(super) fn answered(&mut self, row: u32, lateness: Span, wait: Span) {
        let Some(row) = self.rows.get_mut(row as usize) else { return };
        row.lateness.record(lateness);
        row.turnarounds.waited(wait);
    }

    /// A request ended: its payload is complete, or it failed.
    #[inline]
    pub(super) fn ended(&mut self, row: u32, command: Command, length: u32, outcome: Result<(), Errno>) {
        let Some(CountRow { count, .. }) = self.rows.get_mut(row as usize) else { return };
        match (outcome, command) {
            (Err(_), _) => count.errors += 1,
            (Ok(()), Command::Read) => {
                count.reads += 1;
                count.bytes_read += u64::from(length);
            }
            (Ok(()), Command::Write) => {
                count.writes += 1;
                count.bytes_written += u64::from(length);
            }
            (Ok(()), _) => count.others += 1,
        }
    }

    /// The turnarounds of the row's clients.
    #[inline]
    pub(super) fn turnarounds(&mut self, row: u32) -> Option<&mut Turnarounds> {
        self.rows.get_mut(row as usize).map(|row| &mut row.turnarounds)
    }

    /// A request was refused before it reached a volume.
    pub(super) fn refused(&mut self, row: u32) {
        if let Some(row) = self.rows.get_mut(row as usize) {
            row.count.errors += 1;
            row.lateness.record(Span::ZERO);
        }
    }

    pub(super) fn take(&mut self, export: Export) -> Count {
        let row = self.row(export) as usize;
        let row = &mut self.rows[row];
        Count { lateness: row.lateness.take(), ..std::mem::take(&mut row.count) }
    }
}
