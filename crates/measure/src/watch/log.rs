//! The history of a watch: a file for each day with a line for each interval. Lines have checksums, so that a line that was
//! cut off by a kill is skipped; days and their size are limited.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use plimsoll_choose::watch::LoadSample;

/// Begin and end of the names of files; between them is the number of the day since 1970.
const NAME: (&str, &str) = ("day-", ".watch");
/// Maximum number of days: four weeks and today.
const MAX_DAYS: usize = 29;
/// Maximum size of a day: intervals of a second fit.
const MAX_DAY_BYTES: u64 = 16 << 20;
/// Seconds of a day.
const DAY_NS: u64 = 86_400_000_000_000;

#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum SampleLogError {
    /// The directory or a file in it cannot be used.
    #[error("history {}: {source}", .path.display())]
    Io {
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// Another watch writes to it.
    #[error("history {}: another watch uses it: choose another directory with --history", .0.display())]
    InUse(PathBuf),
    /// It belongs to another target.
    #[error("history {}: it is that of {other}: choose another directory with --history", .folder.display())]
    OtherTarget {
        folder: PathBuf,
        /// Name of the other target.
        other: String,
    },
}

/// A history on disk.
#[derive(Debug)]
pub struct SampleLog {
    folder: PathBuf,
    /// The file of a day, and its length.
    day: Option<(u64, File, u64)>,
    /// Released when it is closed.
    _lock: File,
}

impl SampleLog {
    /// Opens the history of a target, and creates the directory if it is absent. Returns its loads in the order of time, and
    /// the number of damaged lines.
    ///
    /// # Errors
    /// The directory cannot be used, another watch uses it, or it belongs to another target.
    pub fn open(folder: &Path, target: &str) -> Result<(Self, Vec<LoadSample>, usize), SampleLogError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SampleLogError::Io { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let lock_path = folder.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(&lock_path).map_err(failed(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(SampleLogError::InUse(folder.to_owned())),
            Err(fs::TryLockError::Error(source)) => return Err(SampleLogError::Io { path: lock_path, source }),
        }
        let name_path = folder.join("target");
        let other = match fs::read_to_string(&name_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other.map_err(failed(&name_path))?,
        };
        if other.is_empty() {
            fs::write(&name_path, target).map_err(failed(&name_path))?;
        } else if other != target {
            return Err(SampleLogError::OtherTarget { folder: folder.to_owned(), other });
        }
        let mut samples: Vec<LoadSample> = Vec::new();
        let mut damaged = 0;
        for day in list_days(folder).map_err(failed(folder))? {
            let path = folder.join(file_name(day));
            let mut text = Vec::new();
            let file = File::open(&path).map_err(failed(&path))?;
            file.take(MAX_DAY_BYTES).read_to_end(&mut text).map_err(failed(&path))?;
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                match std::str::from_utf8(line).ok().and_then(LoadSample::from_line) {
                    Some(sample) => samples.push(sample),
                    None => damaged += 1,
                }
            }
        }
        samples.sort_by_key(|sample| sample.end);
        Ok((Self { folder: folder.to_owned(), day: None, _lock: lock }, samples, damaged))
    }

    /// Appends a load, and removes days that are too old. A day that has reached its size takes no more.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub fn append(&mut self, sample: &LoadSample) -> Result<(), SampleLogError> {
        let day = sample.end.as_nanos() / DAY_NS;
        let path = self.folder.join(file_name(day));
        self.put(day, &path, sample).map_err(|source| SampleLogError::Io { path, source })
    }

    fn put(&mut self, day: u64, path: &Path, sample: &LoadSample) -> io::Result<()> {
        if self.day.as_ref().is_none_or(|(open, ..)| *open != day) {
            let (file, length) = open_day(path)?;
            self.day = Some((day, file, length));
            let days = list_days(&self.folder)?;
            for old in days.iter().take(days.len().saturating_sub(MAX_DAYS)) {
                fs::remove_file(self.folder.join(file_name(*old)))?;
            }
        }
        let line = sample.to_line();
        match &mut self.day {
            Some((_, file, length)) if *length + line.len() as u64 <= MAX_DAY_BYTES => {
                *length += line.len() as u64;
                file.write_all(line.as_bytes())
            }
            _ => Ok(()),
        }
    }
}

/// Opens the file of a day, and ends a line that was cut off.
fn open_day(path: &Path) -> io::Result<(File, u64)> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let is_cut = text.last().is_some_and(|byte| *byte != b'\n');
    if is_cut {
        file.write_all(b"\n")?;
    }
    Ok((file, text.len() as u64 + u64::from(is_cut)))
}

fn file_name(day: u64) -> String {
    format!("{}{day}{}", NAME.0, NAME.1)
}

/// The days with a file, the earliest first.
fn list_days(folder: &Path) -> io::Result<Vec<u64>> {
    let mut days = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let day = name.to_str().and_then(|name| name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?.parse::<u64>().ok());
        days.extend(day);
    }
    days.sort_unstable();
    Ok(days)
}

#[cfg(test)]
mod tests {
    use plimsoll_choose::watch::LoadFlow;
    use plimsoll_units::{Instant, Span};

    use super::*;

    fn sample(second: u64) -> LoadSample {
        LoadSample {
            end: Instant::from_nanos(second * 1_000_000_000),
            length: Span::from_secs(10),
            flows: vec![LoadFlow { iops: 1_234.5, bytes: 8_192.0, reads: 0.75, sequential: false }],
            has_bytes: true,
            latency_s: [Some(0.000_8), None],
            sessions: None,
            connections: None,
        }
    }

    #[test]
    fn killed_write_costs_a_line() {
        let folder = std::env::temp_dir().join(format!("plimsoll-history-{}", std::process::id()));
        let (mut log, samples, damaged) = SampleLog::open(&folder, "host").unwrap();
        assert!((samples.is_empty(), damaged) == (true, 0));
        for second in [10, 20, 30] {
            log.append(&sample(second)).unwrap();
        }
        assert!(matches!(SampleLog::open(&folder, "host"), Err(SampleLogError::InUse(_))));
        drop(log);
        assert!(matches!(SampleLog::open(&folder, "db1"), Err(SampleLogError::OtherTarget { .. })));
        let path = folder.join(file_name(0));
        let text = fs::read(&path).unwrap();
        for cut in 1..=text.len() / 3 {
            fs::write(&path, &text[..text.len() - cut]).unwrap();
            let (mut log, samples, damaged) = SampleLog::open(&folder, "host").unwrap();
            // Without its line end, the last line is complete; without all of it, no line is damaged.
            let (read, broken) = if cut == 1 { (3, 0) } else { (2, usize::from(cut < text.len() / 3)) };
            assert_eq!((samples.len(), damaged), (read, broken), "{cut}");
            log.append(&sample(40)).unwrap();
            drop(log);
            let (_, samples, _) = SampleLog::open(&folder, "host").unwrap();
            assert_eq!(samples.last(), Some(&sample(40)), "{cut}");
        }
        for day in 1..40 {
            let (mut log, ..) = SampleLog::open(&folder, "host").unwrap();
            log.append(&sample(86_400 * day)).unwrap();
        }
        assert_eq!(list_days(&folder).unwrap().len(), MAX_DAYS);
        fs::remove_dir_all(&folder).unwrap();
    }
}
