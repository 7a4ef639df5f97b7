//! Files of a job: names, creation, opening, flushing and removal.

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::fault::{FaultKind, Findings};
use crate::settings::Settings;
use crate::value::{self, Distribution, Extent};

/// `fallocate`: allocation of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// No allocation before writes.
    None,
    /// Native allocation if supported: the default.
    Native,
    /// `posix_fallocate`.
    Posix,
    /// `fallocate` with `FALLOC_FL_KEEP_SIZE`.
    KeepSize,
    /// `ftruncate`, without allocation.
    Truncate,
}

/// `sync`: durability of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// Not durable until a flush.
    No,
    /// Data and the metadata needed to read them: `O_DSYNC`.
    Data,
    /// Data and all metadata: `O_SYNC`.
    All,
}

/// `file_service_type`: choice of the file of an operation. `run` operations (at least 1) go to a file before the next
/// choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileOrder {
    RoundRobin {
        /// Number of operations.
        run: u64,
    },
    /// Each file until it is complete.
    Sequential,
    /// Random with equal probability.
    Random {
        /// Number of operations.
        run: u64,
    },
    Zipf {
        /// Exponent: at least 0, not 1.
        theta: f64,
    },
    Pareto {
        /// Shape: between 0 and 1, exclusive.
        h: f64,
    },
    Normal {
        /// Standard deviation in percent of the number of files.
        deviation: f64,
    },
}

/// Advice to the kernel on the order of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAdvice {
    /// None.
    None,
    ByOrder,
    Random,
    Sequential,
}

/// Flags of `sync_file_range`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeSync {
    /// Waits for pages in writeback.
    pub wait_before: bool,
    /// Starts to write dirty pages.
    pub write: bool,
    /// Waits for these pages.
    pub wait_after: bool,
}

/// Files, and how they are opened.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in fio")]
#[derive(Clone, Debug, PartialEq)]
pub struct FileOptions {
    /// `filename`: names as given; empty for generated names.
    pub names: Vec<String>,
    /// `directory`: used by copies of a job in turn.
    pub directories: Vec<String>,
    /// `filename_format`: template of generated names with `$jobname`, `$jobnum`, `$filenum` and `$clientuid`.
    pub name_format: String,
    /// Number of files: those of `filename`, or `nrfiles`.
    pub count: u64,
    /// `openfiles`: files open at a time; at most `count`.
    pub open: u64,
    /// `file_service_type`.
    pub order: FileOrder,
    /// `size`: total of all files; `None` if not given.
    pub size: Option<Extent>,
    /// `filesize`: range of the size of each file.
    pub each: Option<(Bytes, Bytes)>,
    /// `direct=1`, or `buffered=0`: direct I/O.
    pub direct: bool,
    /// `sync`.
    pub synchronous: Synchronous,
    /// `fsync`: writes per flush.
    pub fsync_every: Option<u64>,
    /// `fdatasync`: writes per flush of data.
    pub fdatasync_every: Option<u64>,
    /// `sync_file_range`: writes per call, and its flags.
    pub range_every: Option<(u64, RangeSync)>,
    /// `end_fsync`: a flush when the job ends.
    pub flush_at_end: bool,
    /// `fsync_on_close`: a flush when a file is closed.
    pub flush_on_close: bool,
    /// `fallocate`.
    pub allocation: Allocation,
    /// `overwrite`: files are written completely before the job begins.
    pub overwrite: bool,
    /// `create_only`: files are created, without further I/O.
    pub create_only: bool,
    /// `allow_file_create`: missing files may be created.
    pub may_create: bool,
    /// `pre_read`: files are read completely before the job begins.
    pub read_before: bool,
    /// `invalidate`: cached pages are dropped before the job begins.
    pub invalidate: bool,
    /// `unlink`: created files are removed at the end.
    pub unlink: bool,
    /// `fadvise_hint`.
    pub advice: FileAdvice,
}

impl FileOptions {
    /// Paths of a copy of a job, counted from 0.
    ///
    /// Observed with fio 3.33: names are relative to the directory; copies use several directories in turn; `filename`
    /// is the same for all copies, generated names contain the numbers of copy and file.
    pub fn paths(&self, job: &str, copy: u64) -> Vec<String> {
        let directory = self.directories.get((copy % self.directories.len().max(1) as u64) as usize);
        let within = |name: String| match directory {
            Some(directory) => format!("{}/{name}", directory.trim_end_matches('/')),
            None => name,
        };
        if !self.names.is_empty() {
            return self.names.iter().cloned().map(within).collect();
        }
        let made_up = |file: u64| {
            self.name_format
                .replace("$jobname", job)
                .replace("$jobnum", &copy.to_string())
                .replace("$filenum", &file.to_string())
                .replace("$clientuid", "localhost")
        };
        (0..self.count).map(made_up).map(within).collect()
    }
}

pub(super) fn read_files(settings: &Settings, findings: &mut Findings) -> FileOptions {
    let names = settings.text("filename").map_or_else(Vec::new, |text| list(&text));
    let count = if names.is_empty() { settings.count("nrfiles").max(1) } else { names.len() as u64 };
    let later = |name: &str, other: &str| settings.order(name) > settings.order(other);
    let direct = if later("buffered", "direct") { !settings.flag("buffered") } else { settings.flag("direct") };
    FileOptions {
        count,
        open: settings.above_zero("openfiles").map_or(count, |open| open.min(count)),
        names,
        directories: settings.text("directory").map_or_else(Vec::new, |text| list(&text)),
        name_format: settings.text("filename_format").unwrap_or_default(),
        order: order(settings, findings),
        size: settings.extent("size").filter(|size| *size != Extent::Bytes(Bytes::ZERO)),
        each: settings.sizes("filesize"),
        direct,
        synchronous: match settings.word("sync") {
            "dsync" => Synchronous::Data,
            "sync" | "1" => Synchronous::All,
            _ => Synchronous::No,
        },
        fsync_every: settings.above_zero("fsync"),
        fdatasync_every: settings.above_zero("fdatasync"),
        range_every: range(settings, findings),
        flush_at_end: settings.flag("end_fsync"),
        flush_on_close: settings.flag("fsync_on_close"),
        allocation: match settings.word("fallocate") {
            "none" | "0" => Allocation::None,
            "posix" | "1" => Allocation::Posix,
            "keep" => Allocation::KeepSize,
            "truncate" => Allocation::Truncate,
            _ => Allocation::Native,
        },
        overwrite: settings.flag("overwrite"),
        create_only: settings.flag("create_only"),
        may_create: settings.flag("allow_file_create"),
        read_before: settings.flag("pre_read"),
        invalidate: settings.flag("invalidate"),
        unlink: settings.flag("unlink"),
        advice: match settings.word("fadvise_hint") {
            "0" => FileAdvice::None,
            "random" => FileAdvice::Random,
            "sequential" => FileAdvice::Sequential,
            _ => FileAdvice::ByOrder,
        },
    }
}

fn order(settings: &Settings, findings: &mut Findings) -> FileOrder {
    let (word, after) = settings.choice("file_service_type").unwrap_or(("roundrobin", None));
    let read = match word {
        "zipf" | "pareto" | "normal" | "gauss" => {
            let text = after.as_ref().map_or(word.to_owned(), |after| format!("{word}:{after}"));
            value::distribution(&text).map(|distribution| match distribution {
                Distribution::Zipf { theta, .. } => FileOrder::Zipf { theta },
                Distribution::Pareto { h, .. } => FileOrder::Pareto { h },
                Distribution::Normal { deviation, .. } => FileOrder::Normal { deviation },
                _ => FileOrder::Random { run: 1 },
            })
        }
        _ => match after.as_deref().map_or(Ok(1), str::parse::<u64>) {
            Ok(_) if word == "sequential" => Ok(FileOrder::Sequential),
            Ok(run) if word == "random" => Ok(FileOrder::Random { run: run.max(1) }),
            Ok(run) => Ok(FileOrder::RoundRobin { run: run.max(1) }),
            Err(_) => Err(label!("no number behind the colon; write one, such as random:8").to_owned()),
        },
    };
    read.unwrap_or_else(|words| {
        let (what, remedy) = words.split_once("; ").unwrap_or((&words, label!("write another value")));
        let what = format!("file_service_type={word}:{}: {what}", after.unwrap_or_default());
        findings.fault(settings.place("file_service_type"), FaultKind::Value, what, remedy);
        FileOrder::RoundRobin { run: 1 }
    })
}

/// Splits names at colons; `\:` is a colon in a name.
fn list(text: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek().is_some_and(|next| matches!(next, ':' | '\\')) => name.extend(letters.next()),
            ':' => names.push(std::mem::take(&mut name)),
            other => name.push(other),
        }
    }
    names.push(name);
    names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// `sync_file_range=wait_before,write:8`: flags, and the number of writes before each call. `None` for no calls.
fn range(settings: &Settings, findings: &mut Findings) -> Option<(u64, RangeSync)> {
    let text = settings.text("sync_file_range")?;
    let (flags, every) = text.split_once(':').map_or((&text[..], "1"), |(flags, every)| (flags, every));
    let mut sync = RangeSync::default();
    let are_flags = flags.split(',').map(str::trim).all(|flag| {
        match flag {
            "wait_before" => sync.wait_before = true,
            "write" => sync.write = true,
            "wait_after" => sync.wait_after = true,
            _ => return false,
        }
        true
    });
    match every.trim().parse::<u64>() {
        Ok(every) if are_flags => Some((every, sync)).filter(|_| every > 0),
        _ => {
            let what = say!("sync_file_range={text}: no flags and number of writes");
            let remedy = label!(
                "write wait_before, write and wait_after, separated by commas, and the number: write,wait_after:8"
            );
            findings.fault(settings.place("sync_file_range"), FaultKind::Value, what, remedy);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_colons() {
        let check = |text, expected: &[&str]| assert_eq!(list(text), expected, "{text}");
        check("/tmp/a", &["/tmp/a"]);
        check("/dev/sda:/dev/sdb", &["/dev/sda", "/dev/sdb"]);
        check(r"/dev/disk/by-path/pci-0000\:00\:01", &["/dev/disk/by-path/pci-0000:00:01"]);
        check(r"a\\b\c", &[r"a\b\c"]);
        check(" a : b :", &["a", "b"]);
        check("::", &[]);
    }
}
