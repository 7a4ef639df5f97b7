//! The files of a job: their names, how they are made, opened, flushed and removed.

use plimsoll_units::Bytes;

use crate::fault::{FaultKind, Findings};
use crate::settings::Settings;
use crate::value::{self, Distribution, Extent};

/// `fallocate`: how a new file gets its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Not at all before it is written.
    None,
    /// As the system does it, if it does: the default.
    Native,
    /// `posix_fallocate`.
    Posix,
    /// `fallocate` without a new length.
    KeepSize,
    /// A new length without room.
    Truncate,
}

/// `sync`: when a write is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// Whenever somebody flushes.
    No,
    /// With its data and what is needed to find them: `O_DSYNC`.
    Data,
    /// With all that is known of the file: `O_SYNC`.
    All,
}

/// `file_service_type`: which of several files an operation goes to. `run` operations go to one before the next is
/// chosen; at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileOrder {
    /// One after the other, and around.
    RoundRobin {
        /// Operations.
        run: u64,
    },
    /// Each until it is done.
    Sequential,
    /// Any, all alike.
    Random {
        /// Operations.
        run: u64,
    },
    /// By Zipf's law.
    Zipf {
        /// Exponent: at least 0 and not 1.
        theta: f64,
    },
    /// By a Pareto law.
    Pareto {
        /// Power: above 0 and below 1.
        h: f64,
    },
    /// By a normal law.
    Normal {
        /// Standard deviation in hundredths of all files.
        deviation: f64,
    },
}

/// Files, and how they are opened and kept.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in fio")]
#[derive(Clone, Debug, PartialEq)]
pub struct Files {
    /// `filename`: names as they were given, one or more; none when fio makes them up.
    pub names: Vec<String>,
    /// `directory`: copies of a job take them in turn.
    pub directories: Vec<String>,
    /// `filename_format`: how names are made up, of `$jobname`, `$jobnum`, `$filenum` and `$clientuid`.
    pub name_format: String,
    /// Number of files: of `filename`, or of `nrfiles`.
    pub count: u64,
    /// `openfiles`: how many are open at a time; at most `count`.
    pub open: u64,
    /// `file_service_type`.
    pub order: FileOrder,
    /// `size`: of all files together; `None` when not given.
    pub size: Option<Extent>,
    /// `filesize`: of each file, drawn from the first to the second.
    pub each: Option<(Bytes, Bytes)>,
    /// `direct=1`, or `buffered=0`: past the page cache.
    pub direct: bool,
    /// `sync`.
    pub synchronous: Synchronous,
    /// `fsync`: a flush after so many writes.
    pub fsync_every: Option<u64>,
    /// `fdatasync`: a flush of data, and of what is needed to find them, after so many writes.
    pub fdatasync_every: Option<u64>,
    /// `end_fsync`: a flush when the job ends.
    pub flush_at_end: bool,
    /// `fsync_on_close`: a flush whenever a file is closed.
    pub flush_on_close: bool,
    /// `fallocate`.
    pub allocation: Allocation,
    /// `overwrite`: files are written whole before the job begins.
    pub overwrite: bool,
    /// `create_only`: files are made, and nothing else is done.
    pub create_only: bool,
    /// `allow_file_create`: files that do not exist may be made.
    pub may_create: bool,
    /// `pre_read`: files are read whole before the job begins.
    pub read_before: bool,
    /// `invalidate`: the page cache forgets them before the job begins.
    pub invalidate: bool,
    /// `unlink`: what was made is removed at the end.
    pub unlink: bool,
}

impl Files {
    /// The paths of one copy of a job, counted from 0.
    ///
    /// Learned by running fio 3.33: names lie in the directory, of several the copy's own in turn; `filename` is the same
    /// for all copies, names that are made up have the copy's number and the file's.
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

pub(super) fn read(settings: &Settings, findings: &mut Findings) -> Files {
    let names = settings.text("filename").map_or_else(Vec::new, |text| list(&text));
    let count = if names.is_empty() { settings.count("nrfiles").max(1) } else { names.len() as u64 };
    let later = |name: &str, other: &str| settings.order(name) > settings.order(other);
    let direct = if later("buffered", "direct") { !settings.flag("buffered") } else { settings.flag("direct") };
    Files {
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
            Err(_) => Err("no number behind the colon; write one, such as random:8".to_owned()),
        },
    };
    read.unwrap_or_else(|words| {
        let (what, remedy) = words.split_once("; ").unwrap_or((&words, "write another value"));
        let what = format!("file_service_type={word}:{}: {what}", after.unwrap_or_default());
        findings.fault(settings.place("file_service_type"), FaultKind::Value, what, remedy);
        FileOrder::RoundRobin { run: 1 }
    })
}

/// Names with colons between them; `\:` is a colon within a name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_separated() {
        let check = |text, expected: &[&str]| assert_eq!(list(text), expected, "{text}");
        check("/tmp/a", &["/tmp/a"]);
        check("/dev/sda:/dev/sdb", &["/dev/sda", "/dev/sdb"]);
        check(r"/dev/disk/by-path/pci-0000\:00\:01", &["/dev/disk/by-path/pci-0000:00:01"]);
        check(r"a\\b\c", &[r"a\b\c"]);
        check(" a : b :", &["a", "b"]);
        check("::", &[]);
    }
}
