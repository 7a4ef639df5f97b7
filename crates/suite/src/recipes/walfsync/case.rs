//! The ways in which logs are made durable, as data: what is written, how, and what each database does.
//!
//! Knows nothing about what came of them.

use plimsoll_device::{Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_units::{Bytes, Kind, Span};

use super::WalPreset;
use crate::ground::Facts;
use crate::step::{Access, Descriptor, Step, Worker};

/// How a write becomes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The file is opened with `O_DIRECT` and `O_DSYNC`.
    OpenDatasync,
    /// The file is opened with `O_DSYNC`, through the page cache.
    Dsync,
    /// `fdatasync` after it.
    Fdatasync,
    /// `fsync` after it.
    Fsync,
    /// `fsync` after a write past the page cache.
    DirectFsync,
    /// `F_FULLFSYNC` of another operating system.
    Writethrough,
    /// The file is opened with `O_DIRECT` and `O_SYNC`.
    OpenSync,
    /// `fsync`, and the file is opened again.
    FsyncClose,
    /// The file is opened again, and flushed by an `fsync` there.
    CloseFsync,
    /// Never.
    Plain,
}

impl Method {
    const fn is_direct(self) -> bool {
        matches!(self, Self::OpenDatasync | Self::OpenSync | Self::DirectFsync)
    }

    /// It needs a file that can be opened.
    const fn reopens(self) -> bool {
        matches!(self, Self::FsyncClose | Self::CloseFsync)
    }

    const fn flushes(self) -> bool {
        matches!(self, Self::Fdatasync | Self::Fsync | Self::DirectFsync | Self::FsyncClose | Self::CloseFsync)
    }

    /// The kind of operation after which the data are durable.
    pub(super) const fn durable(self) -> Kind {
        if self.flushes() { Kind::Flush } else { Kind::Write }
    }

    const fn measures(self) -> &'static str {
        match self {
            Self::Plain => "The page cache: nothing is made durable",
            Self::OpenDatasync | Self::OpenSync | Self::Dsync => "Durable writes, one after the other",
            Self::FsyncClose => {
                "A write and its flush; then the file is opened and closed once, where pg_test_fsync does so twice"
            }
            Self::CloseFsync => {
                "A write, and a flush through a descriptor opened for it, where pg_test_fsync opens two"
            }
            _ => "A write into the page cache or past it, and its flush, one after the other",
        }
    }
}

/// Where writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The beginning of the file again and again.
    Start,
    /// One behind the other, from the beginning again at the end of the file.
    Appended,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Index of the heading that it stands below.
    pub(super) group: usize,
    /// What it is called there.
    pub(super) label: String,
    pub(super) method: Method,
    /// Bytes of one write.
    pub(super) size: u32,
    /// Writes of one operation of the table.
    pub(super) writes: u32,
    /// Writes between two flushes.
    pub(super) flush_every: u32,
    pub(super) place: Place,
}

impl Case {
    fn new(group: usize, label: impl Into<String>, method: Method, size: u32, writes: u32) -> Self {
        Self { group, label: label.into(), method, size, writes, flush_every: writes, place: Place::Start }
    }

    fn appended(self) -> Self {
        Self { place: Place::Appended, ..self }
    }

    /// Why it cannot be done here; none where it can.
    pub(super) fn refused(&self, facts: &Facts) -> Option<&'static str> {
        if self.method == Method::Writethrough {
            return Some("Linux has no such call");
        }
        if self.method.reopens() && !facts.has_cache() {
            return Some("there are no files here that could be opened again");
        }
        let off_grid = self.method.is_direct() && !u64::from(self.size).is_multiple_of(facts.grid);
        if off_grid {
            return Some("direct I/O needs larger blocks here");
        }
        (self.method == Method::Plain && !facts.has_cache()).then_some("there is no page cache here")
    }

    /// The step of so many seconds that measures it, in a file of `file` bytes.
    pub(super) fn step(&self, name: String, file: Bytes, span: Span) -> Step {
        let used = match self.place {
            Place::Start => Bytes::new(u64::from(self.size) * u64::from(self.writes)),
            Place::Appended => file,
        };
        let lane = LaneSpec { align: 1, ..LaneSpec::new(self.size, Pattern::Sequential) };
        let flush_every = if self.method.flushes() { self.flush_every } else { 0 };
        let job = JobSpec { flush_every, ..JobSpec::new(Work::Writes, lane, Region::first(used), Until::span(span)) };
        let access = Access {
            engine: Engine::Inline,
            direct: self.method.is_direct(),
            opened: match self.method {
                Method::OpenDatasync | Method::Dsync => SyncMode::Dsync,
                Method::OpenSync => SyncMode::Sync,
                _ => SyncMode::None,
            },
            flush: if self.method == Method::Fdatasync { Flush::Fdatasync } else { Flush::Fsync },
            descriptor: match self.method {
                Method::FsyncClose => Descriptor::Reopened,
                Method::CloseFsync => Descriptor::Another,
                _ => Descriptor::Kept,
            },
            ..Access::buffered()
        };
        Step::io(name, vec![Worker::new(job, 0, used, access)]).measuring(self.method.measures())
    }
}

/// Headings and lines of a preset.
pub(super) fn cases(preset: WalPreset) -> (Vec<Vec<String>>, Vec<Case>) {
    match preset {
        WalPreset::Postgresql => postgresql(),
        WalPreset::Innodb => innodb(),
        WalPreset::Oracle => oracle(),
        WalPreset::Etcd => etcd(),
    }
}

fn postgresql() -> (Vec<Vec<String>>, Vec<Case>) {
    let preference = "(in wal_sync_method preference order, except fdatasync is Linux's default)";
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let headings = vec![
        lines(&["Compare file sync methods using one 8kB write:", preference]),
        lines(&["Compare file sync methods using two 8kB writes:", preference]),
        lines(&[
            "Compare open_sync with different write sizes:",
            "(This is designed to compare the cost of writing 16kB in different write",
            "open_sync sizes.)",
        ]),
        lines(&[
            "Test if fsync on non-write file descriptor is honored:",
            "(If the times are similar, fsync() can sync data written on a different",
            "descriptor.)",
        ]),
        lines(&["Non-sync'ed 8kB writes:"]),
    ];
    let methods = [
        ("open_datasync", Method::OpenDatasync),
        ("fdatasync", Method::Fdatasync),
        ("fsync", Method::Fsync),
        ("fsync_writethrough", Method::Writethrough),
        ("open_sync", Method::OpenSync),
    ];
    let mut cases: Vec<Case> = (0..2)
        .flat_map(|group| methods.map(|(label, method)| Case::new(group, label, method, 8192, group as u32 + 1)))
        .collect();
    cases.extend([1, 2, 4, 8, 16].map(|count| {
        let plural = if count > 1 { "s" } else { "" };
        let label = format!("{count:2} * {:2}kB open_sync write{plural}", 16 / count);
        Case::new(2, label, Method::OpenSync, 16_384 / count, count)
    }));
    cases.push(Case::new(3, "write, fsync, close", Method::FsyncClose, 8192, 1));
    cases.push(Case::new(3, "write, close, fsync", Method::CloseFsync, 8192, 1));
    cases.push(Case::new(4, "write", Method::Plain, 8192, 1));
    (headings, cases)
}

fn innodb() -> (Vec<Vec<String>>, Vec<Case>) {
    let headings = vec![
        vec!["InnoDB redo log, appended and made durable at each commit:".to_owned()],
        vec!["InnoDB doublewrite buffer and pages of 16kB, made durable one by one:".to_owned()],
        vec!["Redo written at commit and flushed later (innodb_flush_log_at_trx_commit=2):".to_owned()],
    ];
    let sizes = [(512, "512B"), (1024, "1kB"), (4096, "4kB"), (16_384, "16kB")];
    let mut cases: Vec<Case> =
        sizes.map(|(size, word)| Case::new(0, format!("redo {word}, fsync"), Method::Fsync, size, 1).appended()).into();
    cases.push(Case::new(0, "redo 512B, O_DSYNC", Method::Dsync, 512, 1).appended());
    cases.push(Case::new(1, "page 16kB, fsync", Method::Fsync, 16_384, 1).appended());
    cases.push(Case::new(1, "page 16kB, O_DIRECT, fsync", Method::DirectFsync, 16_384, 1).appended());
    let twice = Case::new(1, "doublewrite and page, O_DIRECT", Method::DirectFsync, 16_384, 2);
    cases.push(Case { flush_every: 1, ..twice }.appended());
    cases.push(Case::new(2, "redo 512B", Method::Plain, 512, 1).appended());
    (headings, cases)
}

fn oracle() -> (Vec<Vec<String>>, Vec<Case>) {
    let headings = vec![
        vec!["Redo writes of multiples of 512 bytes, direct and synchronous (log file parallel write):".to_owned()],
        vec!["Redo logs with 4kB blocks (BLOCKSIZE 4096):".to_owned()],
    ];
    let word = |size: u32| if size < 1024 { format!("{size}B") } else { format!("{}kB", size >> 10) };
    let case = |group: usize| {
        move |size: u32| Case::new(group, format!("redo {}", word(size)), Method::OpenDatasync, size, 1).appended()
    };
    let mut cases: Vec<Case> = (9..=20).step_by(1).map(|power| 1 << power).map(case(0)).collect();
    cases.extend([4096, 16_384, 65_536].map(case(1)));
    (headings, cases)
}

fn etcd() -> (Vec<Vec<String>>, Vec<Case>) {
    let headings = vec![vec!["Appends of 2300 bytes, each with fdatasync (etcd WAL):".to_owned()]];
    (headings, vec![Case::new(0, "append 2300B, fdatasync", Method::Fdatasync, 2300, 1).appended()])
}
