//! A recording as it is going to be offered: read once to its end, so that what cannot be offered is known before the
//! first operation, and again as often as it is replayed.
//!
//! Knows nothing about what answers, nor when operations are due.

use std::fs::File;
use std::path::{Path, PathBuf};

use plimsoll_ingest::{Request, Requests, TraceFault};
use plimsoll_load::Recorded;
use plimsoll_record::{Action, Asked, Finding, Outline};
use plimsoll_units::{Bytes, Op};

use crate::trouble::Trouble;

/// What of a recording is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it, as a model takes it: a trim is a write that moves nothing.
    All,
    /// What moves data, and flushes.
    Moving,
    /// What reads.
    Reads,
}

impl Part {
    /// No device is asked for more at once, and a buffer of it is held for each operation in flight.
    pub const LARGEST: u64 = 32 << 20;

    fn leaves_out(self, asked: &Asked) -> Option<Sort> {
        let moves_data = matches!(asked.action, Action::Read | Action::Write | Action::DurableWrite);
        match asked.action {
            _ if self == Self::All => None,
            Action::Trim => Some(Sort::Trim),
            _ if moves_data && asked.length == 0 => Some(Sort::Empty),
            _ if moves_data && asked.length > Self::LARGEST => Some(Sort::Large),
            Action::Write | Action::DurableWrite if self == Self::Reads => Some(Sort::Write),
            Action::Flush if self == Self::Reads => Some(Sort::Flush),
            _ => None,
        }
    }
}

/// Sorts of operations that may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Trim,
    Empty,
    Large,
    Write,
    Flush,
}

impl Sort {
    /// Each with its words, in the order of their declaration.
    const WORDS: [&str; 5] = ["trims", "without a length", "of more than 32 MiB at once", "writes", "flushes"];
}

/// A trace in a file, and what is known of it from reading it once.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    outline: Outline,
    layout: Layout,
    part: Part,
    left_out: [u64; Sort::WORDS.len()],
    /// Operations by how many times two divides where they begin and how long they are.
    grains: [u64; 65],
    largest: u64,
    doubts: Vec<String>,
}

impl Recording {
    /// Reads the trace at `path` to its end, of which a `part` is going to be offered.
    pub fn survey(path: &Path, part: Part) -> Result<Self, Trouble> {
        let mut requests = open(path).map_err(|fault| malformed(path, &fault))?;
        let (mut layout, mut left_out, mut grains, mut largest) = (Layout::default(), [0; 5], [0; 65], 0);
        let noted = requests.by_ref().filter_map(|request| match request {
            Err(fault) => Some(Err(fault)),
            Ok(request) => {
                if let Some(sort) = part.leaves_out(&request.asked) {
                    left_out[sort as usize] += 1;
                    return None;
                }
                let Asked { offset, length, .. } = request.asked;
                grains[(offset | length).trailing_zeros() as usize] += 1;
                largest = largest.max(length);
                Some(Ok(layout.note(&request)))
            }
        });
        let outline = Outline::over(noted).map_err(|fault| malformed(path, &fault))?;
        let Some(outline) = outline else {
            return Err(nothing(path, part, left_out.iter().sum()));
        };
        let reach = layout.settle();
        let outline = Outline { reach, dropped: requests.dropped(), ..outline };
        let mut doubts = requests.doubts();
        doubts.extend(layout.doubt());
        Ok(Self { path: path.to_owned(), outline, layout, part, left_out, grains, largest, doubts })
    }

    /// Its file, as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it asks for, without what is left out.
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Operations in the file, with those that are left out.
    pub fn all_operations(&self) -> u64 {
        self.outline.operations + self.left_out.iter().sum::<u64>()
    }

    /// How far operations reach from the first byte.
    pub const fn reach(&self) -> Bytes {
        Bytes::new(self.outline.reach)
    }

    /// The largest operation.
    pub const fn largest(&self) -> Bytes {
        Bytes::new(self.largest)
    }

    /// True when some operations that are offered change the storage.
    pub fn writes(&self) -> bool {
        self.outline.mix.reads < 1.0
    }

    /// Operations that begin or end between blocks of `block`, a power of two.
    pub fn unaligned(&self, block: Bytes) -> u64 {
        self.grains.iter().take(block.get().trailing_zeros() as usize).sum()
    }

    /// Refuses a recording that reaches beyond `size`, the size of what `name` says.
    pub fn fit(&self, name: &str, size: Bytes, remedy: &str) -> Result<(), Trouble> {
        let reach = self.reach();
        if reach <= size {
            return Ok(());
        }
        Err(Trouble::usage(format!("{}: it reaches to {reach}, and {name} has {size}: {remedy}", self.path.display())))
    }

    /// What is missing in it, or was guessed or left out.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let Outline { dropped, operations: kept, .. } = self.outline;
        let incomplete = (dropped > 0).then_some(Finding::TraceIncomplete { dropped, kept });
        let doubts = self.doubts.iter().map(|what| Finding::TraceDoubted { what: what.clone() });
        incomplete.into_iter().chain(doubts).chain(self.left_out())
    }

    fn left_out(&self) -> Option<Finding> {
        let count: u64 = self.left_out.iter().sum();
        let sorts = self.left_out.iter().zip(Sort::WORDS).filter(|(count, _)| **count > 0);
        let what: Vec<String> = sorts.map(|(count, words)| format!("{count} {words}")).collect();
        (count > 0).then(|| Finding::NotReplayed { count, what: what.join(", ") })
    }

    /// The operations that are offered, each at its place, as the file is read again. After a fault there is nothing more.
    ///
    /// # Errors
    /// The file is gone, or is another one.
    pub fn operations(&self) -> Result<impl Iterator<Item = Result<Recorded, TraceFault>> + use<'_>, TraceFault> {
        let offered = open(&self.path)?.filter_map(|request| match request {
            Err(fault) => Some(Err(fault)),
            Ok(request) if self.part.leaves_out(&request.asked).is_some() => None,
            Ok(request) => Some(self.same(self.layout.place(&request).recorded())),
        });
        // A recording that is still being written grows.
        Ok(offered.take(usize::try_from(self.outline.operations).unwrap_or(usize::MAX)))
    }

    /// Buffers and space were made for what the file held when it was read first.
    fn same(&self, recorded: Recorded) -> Result<Recorded, TraceFault> {
        let Op { offset, length, kind, .. } = recorded.op;
        let reaches = offset.saturating_add(u64::from(length));
        let fits = u64::from(length) <= self.largest && reaches <= self.outline.reach;
        if fits && (self.writes() || !kind.writes() || self.part == Part::All) {
            return Ok(recorded);
        }
        let what = "the file has other operations than when it was read first: replay a file that nobody changes";
        Err(TraceFault { line: None, what: what.to_owned() })
    }
}

fn nothing(path: &Path, part: Part, left_out: u64) -> Trouble {
    let all = || format!("all of its {left_out} operations would be left out, so there is nothing to replay");
    let why = match (left_out, part) {
        (0, _) => "no operation was recorded: record while there is a load".to_owned(),
        (_, Part::Reads) => format!("{}: leave out --reads-only, or give another trace", all()),
        _ => format!("{}: give another trace", all()),
    };
    Trouble::usage(format!("{}: {why}", path.display()))
}

fn open(path: &Path) -> Result<Requests<File>, TraceFault> {
    let cannot = |error| TraceFault { line: None, what: format!("cannot be read: {error}") };
    Requests::new(File::open(path).map_err(cannot)?)
}

fn malformed(path: &Path, fault: &TraceFault) -> Trouble {
    let line = fault.line.map(|line| format!(":{line}")).unwrap_or_default();
    Trouble::usage(format!("{}{line}: {fault}", path.display()))
}

/// Where the volumes of a trace lie on the one that they are replayed on: one behind the other.
#[derive(Debug, Default)]
struct Layout {
    /// Of each volume, how far operations reach; once that is known, where it begins.
    volumes: Vec<u64>,
}

impl Layout {
    /// Volumes begin at multiples of this, as partitions do.
    const ALIGNED: u64 = 1 << 20;

    fn note(&mut self, request: &Request) -> Asked {
        let volume = request.volume as usize;
        if volume >= self.volumes.len() {
            self.volumes.resize(volume + 1, 0);
        }
        let Asked { offset, length, .. } = request.asked;
        self.volumes[volume] = self.volumes[volume].max(offset.saturating_add(length));
        request.asked
    }

    /// Gives each volume its place, and says how far all of them reach.
    fn settle(&mut self) -> u64 {
        let (mut begin, mut reach) = (0_u64, 0);
        for volume in &mut self.volumes {
            reach = begin.saturating_add(*volume);
            *volume = std::mem::replace(&mut begin, reach.checked_next_multiple_of(Self::ALIGNED).unwrap_or(u64::MAX));
        }
        reach
    }

    fn place(&self, request: &Request) -> Asked {
        let begin = self.volumes.get(request.volume as usize).copied().unwrap_or(0);
        Asked { offset: request.asked.offset.saturating_add(begin), ..request.asked }
    }

    fn doubt(&self) -> Option<String> {
        let count = self.volumes.len();
        (count > 1).then(|| format!("it has {count} volumes: they are replayed on one, one behind the other"))
    }
}
