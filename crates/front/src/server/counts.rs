//! What is counted of each export: requests, bytes, errors, and how late replies were.

use plimsoll_record::{Bins, Recorder};
use plimsoll_units::Span;
use plimsoll_volume::{Command, Export, Reply};

use super::turnaround::Turnarounds;

/// What an export did in a while.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Reads that were answered.
    pub reads: u64,
    /// Writes that were answered.
    pub writes: u64,
    /// Other requests that were answered.
    pub others: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests that were answered with an error.
    pub errors: u64,
    /// How long after its moment each reply left.
    pub lateness: Bins,
}

#[derive(Debug, Default)]
struct Row {
    export: Option<Export>,
    count: Count,
    lateness: Recorder,
    turnarounds: Turnarounds,
}

/// The counts of all exports.
#[derive(Debug, Default)]
pub(super) struct Counts {
    rows: Vec<Row>,
}

impl Counts {
    /// The row of an export.
    pub(super) fn row(&mut self, export: Export) -> u32 {
        let found = self.rows.iter().position(|row| row.export == Some(export));
        let row = found.unwrap_or_else(|| {
            self.rows.push(Row { export: Some(export), ..Row::default() });
            self.rows.len() - 1
        });
        row as u32
    }

    #[inline]
    pub(super) fn answered(&mut self, row: u32, command: Command, length: u32, reply: &Reply) {
        let Some(Row { count, lateness, .. }) = self.rows.get_mut(row as usize) else { return };
        lateness.record(reply.lateness);
        match (reply.outcome, command) {
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

    /// What turnarounds of the row's clients show.
    #[inline]
    pub(super) fn turnarounds(&mut self, row: u32) -> Option<&mut Turnarounds> {
        self.rows.get_mut(row as usize).map(|row| &mut row.turnarounds)
    }

    /// A request was refused before it reached the service.
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
