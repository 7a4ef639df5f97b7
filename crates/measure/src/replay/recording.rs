//! A recording: read once to its end for validation, and again for each replay.

use std::fs::File;
use std::path::{Path, PathBuf};

use plimsoll_ingest::{InputFault, Requests, TraceFault, TraceRequest};
use plimsoll_load::Recorded;
use plimsoll_record::{Action, Finding, Outline, TraceEntry};
use plimsoll_units::{Bytes, Op};

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayedPart {
    /// All operations; for models a trim is a write without data.
    All,
    /// Operations with data, and flushes.
    Moving,
    Reads,
}

impl ReplayedPart {
    /// Maximum length of an operation, which limits the buffers of operations in flight.
    pub const MAX_LENGTH: u64 = 32 << 20;

    fn omits(self, entry: &TraceEntry) -> Option<OmittedKind> {
        let moves_data = matches!(entry.action, Action::Read | Action::Write | Action::DurableWrite);
        match entry.action {
            _ if self == Self::All => None,
            Action::Trim => Some(OmittedKind::Trim),
            _ if moves_data && entry.length == 0 => Some(OmittedKind::Empty),
            _ if moves_data && entry.length > Self::MAX_LENGTH => Some(OmittedKind::Large),
            Action::Write | Action::DurableWrite if self == Self::Reads => Some(OmittedKind::Write),
            Action::Flush if self == Self::Reads => Some(OmittedKind::Flush),
            _ => None,
        }
    }
}

/// Categories of operations that may be omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OmittedKind {
    Trim,
    Empty,
    Large,
    Write,
    Flush,
}

impl OmittedKind {
    /// Their descriptions, in order of declaration.
    const WORDS: [&str; 5] = ["trims", "without a length", "of more than 32 MiB at once", "writes", "flushes"];
}

/// A trace file and its properties from a complete scan.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    outline: Outline,
    layout: ReplayLayout,
    part: ReplayedPart,
    omitted: [u64; OmittedKind::WORDS.len()],
    /// Number of operations by the largest power of two that divides their offset and length.
    alignments: [u64; 65],
    largest: u64,
    doubts: Vec<String>,
}

impl Recording {
    /// Scans the trace at `path`, of which `part` will be replayed.
    pub fn scan(path: &Path, part: ReplayedPart) -> Result<Self, MeasureError> {
        let mut requests = open(path).map_err(|fault| malformed_error(path, &fault))?;
        let (mut layout, mut omitted, mut alignments, mut largest) = (ReplayLayout::default(), [0; 5], [0; 65], 0);
        let noted = requests.by_ref().filter_map(|request| match request {
            Err(fault) => Some(Err(fault)),
            Ok(request) => {
                if let Some(kind) = part.omits(&request.requested) {
                    omitted[kind as usize] += 1;
                    return None;
                }
                let TraceEntry { offset, length, .. } = request.requested;
                alignments[(offset | length).trailing_zeros() as usize] += 1;
                largest = largest.max(length);
                Some(Ok(layout.note(&request)))
            }
        });
        let outline = Outline::over(noted).map_err(|fault| malformed_error(path, &fault))?;
        let Some(outline) = outline else {
            let (path, reads_only) = (path.display().to_string(), part == ReplayedPart::Reads);
            return Err(match omitted.iter().sum() {
                0 => InvalidRequest::EmptyRecording { path }.into(),
                omitted => InvalidRequest::OmittedRecording { path, omitted, reads_only }.into(),
            });
        };
        let reach = layout.settle();
        let outline = Outline { reach, dropped: requests.dropped(), ..outline };
        let mut doubts: Vec<String> = requests.doubts().iter().map(ToString::to_string).collect();
        doubts.extend(layout.doubt());
        Ok(Self { path: path.to_owned(), outline, layout, part, omitted, alignments, largest, doubts })
    }

    /// Path as given by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Properties of the replayed operations.
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Number of operations in the file, including omitted operations.
    pub fn all_operations(&self) -> u64 {
        self.outline.operations + self.omitted.iter().sum::<u64>()
    }

    /// End of the last byte addressed.
    pub const fn reach(&self) -> Bytes {
        Bytes::new(self.outline.reach)
    }

    /// Size of the largest operation.
    pub const fn largest(&self) -> Bytes {
        Bytes::new(self.largest)
    }

    /// True if replayed operations change the storage.
    pub fn writes(&self) -> bool {
        self.outline.mix.reads < 1.0
    }

    /// Number of operations that are not aligned to `block`, a power of two.
    pub fn unaligned(&self, block: Bytes) -> u64 {
        self.alignments.iter().take(block.get().trailing_zeros() as usize).sum()
    }

    /// Fails if the recording extends beyond `size`; `limit` names it, such as `the size of data` or `--size`.
    pub fn fit(&self, limit: &str, size: Bytes, remedy: &str) -> Result<(), MeasureError> {
        let reach = self.reach();
        if reach <= size {
            return Ok(());
        }
        let (path, limit, remedy) = (self.path.display().to_string(), limit.to_owned(), remedy.to_owned());
        Err(InvalidRequest::Reach { path, reach, limit, size, remedy }.into())
    }

    /// Gaps, assumptions and omissions.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let Outline { dropped, operations: retained, .. } = self.outline;
        let incomplete = (dropped > 0).then_some(Finding::TraceIncomplete { dropped, retained });
        let doubts = self.doubts.iter().map(|what| Finding::TraceDoubted { what: what.clone() });
        incomplete.into_iter().chain(doubts).chain(self.omitted())
    }

    fn omitted(&self) -> Option<Finding> {
        let count: u64 = self.omitted.iter().sum();
        let kinds = self.omitted.iter().zip(OmittedKind::WORDS).filter(|(count, _)| **count > 0);
        let parts: Vec<String> = kinds.map(|(count, words)| format!("{count} {words}")).collect();
        (count > 0).then(|| Finding::NotReplayed { count, what: parts.join(", ") })
    }

    /// Reads the operations to replay, at their final offsets. Ends after a fault.
    ///
    /// # Errors
    /// The file is missing or was replaced.
    pub fn operations(&self) -> Result<impl Iterator<Item = Result<Recorded, TraceFault>> + use<'_>, TraceFault> {
        let offered = open(&self.path)?.filter_map(|request| match request {
            Err(fault) => Some(Err(fault)),
            Ok(request) if self.part.omits(&request.requested).is_some() => None,
            Ok(request) => Some(self.check_unchanged(self.layout.place(&request).recorded())),
        });
        // Ignores operations appended since the scan.
        Ok(offered.take(usize::try_from(self.outline.operations).unwrap_or(usize::MAX)))
    }

    /// Checks an operation against the scan, which determined buffers and space.
    fn check_unchanged(&self, recorded: Recorded) -> Result<Recorded, TraceFault> {
        let Op { offset, length, kind, .. } = recorded.op;
        let reaches = offset.saturating_add(u64::from(length));
        let fits = u64::from(length) <= self.largest && reaches <= self.outline.reach;
        if fits && (self.writes() || !kind.writes() || self.part == ReplayedPart::All) {
            return Ok(recorded);
        }
        Err(InputFault::Changed.into())
    }
}

fn open(path: &Path) -> Result<Requests, TraceFault> {
    let file = File::open(path).map_err(|error| InputFault::Unreadable { error: error.to_string() })?;
    Requests::new(file)
}

fn malformed_error(path: &Path, fault: &TraceFault) -> MeasureError {
    let line = fault.line.map(|line| format!(":{line}")).unwrap_or_default();
    MeasureError::usage(format!("{}{line}: {fault}", path.display()))
}

/// Consecutive placement of the volumes of a trace on a single volume.
#[derive(Debug, Default)]
struct ReplayLayout {
    /// Extent of each volume during the scan, then its offset.
    volumes: Vec<u64>,
}

impl ReplayLayout {
    /// Alignment of volumes, as of partitions.
    const ALIGNED: u64 = 1 << 20;

    fn note(&mut self, request: &TraceRequest) -> TraceEntry {
        let volume = request.volume as usize;
        if volume >= self.volumes.len() {
            self.volumes.resize(volume + 1, 0);
        }
        let TraceEntry { offset, length, .. } = request.requested;
        self.volumes[volume] = self.volumes[volume].max(offset.saturating_add(length));
        request.requested
    }

    /// Assigns an offset to each volume. Returns the total extent.
    fn settle(&mut self) -> u64 {
        let (mut begin, mut reach) = (0_u64, 0);
        for volume in &mut self.volumes {
            reach = begin.saturating_add(*volume);
            *volume = std::mem::replace(&mut begin, reach.checked_next_multiple_of(Self::ALIGNED).unwrap_or(u64::MAX));
        }
        reach
    }

    fn place(&self, request: &TraceRequest) -> TraceEntry {
        let begin = self.volumes.get(request.volume as usize).copied().unwrap_or(0);
        TraceEntry { offset: request.requested.offset.saturating_add(begin), ..request.requested }
    }

    fn doubt(&self) -> Option<String> {
        let count = self.volumes.len();
        (count > 1).then(|| format!("its {count} volumes are replayed consecutively on a single volume"))
    }
}
