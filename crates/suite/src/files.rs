//! Many small files in a temporary directory: created, looked up and removed by sequential calls. The directory is
//! removed with its contents at the end.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use plimsoll_device::thread_usage;
use plimsoll_drive::{Fault, Observe};
use plimsoll_language::say;
use plimsoll_record::Recorder;
use plimsoll_units::Span;

use crate::result::FilesResult;
use crate::step::{FileWork, FilesStep};

/// Interval between two calls of the observer.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A temporary directory for the files.
pub(crate) struct FileTree(PathBuf);

impl FileTree {
    pub(crate) fn new(directory: &Path) -> Result<Self, Fault> {
        let path = directory.join(format!(".plimsoll-files-{}", std::process::id()));
        fs::create_dir(&path).map_err(|source| Fault { attempt: format!("making {}", path.display()), source })?;
        Ok(Self(path))
    }

    pub(crate) fn work(&self, step: &FilesStep, observe: Observe<'_>) -> Result<FilesResult, Fault> {
        let failed = |source| Fault { attempt: say!("working on files in {}", self.0.display()), source };
        let names = FileNames::new(step);
        for directory in 0..step.directories.max(1) {
            fs::create_dir_all(self.0.join(directory.to_string())).map_err(failed)?;
        }
        let mut buffer = vec![0; step.sizes.1 as usize];
        Rng::with_seed(step.seed).fill(&mut buffer);
        let (mut each, mut done) = (Recorder::new(), 0);
        let before = thread_usage();
        let began = Instant::now();
        let mut looked = began;
        for (path, size) in names.order(step).map(|index| names.at(&self.0, index)) {
            let start = Instant::now();
            touch(step.work, &path, &mut buffer[..size as usize]).map_err(failed)?;
            let ended = Instant::now();
            each.record(span(ended - start));
            done += 1;
            if ended - looked > POLL_INTERVAL {
                looked = ended;
                if observe(&[]).is_break() {
                    break;
                }
            }
        }
        sync_of(&self.0).map_err(failed)?;
        let cpu = (thread_usage() - before).cpu;
        Ok(FilesResult { files: done, span: span(began.elapsed()), each: each.take(), cpu })
    }
}

impl Drop for FileTree {
    fn drop(&mut self) {
        // Remaining files stay; the directory's name identifies its owner.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(duration.as_nanos() as u64)
}

/// Flushes the whole filesystem, including names.
fn sync_of(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(directory)?)?)
}

fn touch(work: FileWork, path: &Path, content: &mut [u8]) -> io::Result<()> {
    match work {
        FileWork::Create => File::create_new(path)?.write_all(content),
        FileWork::Stat => {
            let length = fs::metadata(path)?.len() as usize;
            if length > 0 {
                File::open(path)?.read_exact(&mut content[..length])?;
            }
            Ok(())
        }
        FileWork::Delete => fs::remove_file(path),
    }
}

/// Names and sizes of a step's files: the same for every step with the same seed.
struct FileNames {
    step: FilesStep,
    /// Random parts of the names; empty for ascending names.
    random: Vec<u64>,
}

impl FileNames {
    fn new(step: &FilesStep) -> Self {
        let mut rng = Rng::with_seed(step.seed);
        let random = if step.ordered { Vec::new() } else { (0..step.files).map(|_| rng.u64(..)).collect() };
        Self { step: *step, random }
    }

    /// Order of visits: by name for ascending names. Otherwise files are created in index order, and looked up and
    /// removed in a different order.
    fn order(&self, step: &FilesStep) -> impl Iterator<Item = u64> + use<> {
        let mut order: Vec<u64> = (0..self.step.files).collect();
        if !step.ordered && step.work != FileWork::Create {
            Rng::with_seed(step.seed ^ 1).shuffle(&mut order);
        }
        order.into_iter()
    }

    fn at(&self, root: &Path, index: u64) -> (PathBuf, u64) {
        let name = match self.random.get(index as usize) {
            None => format!("{index:010}"),
            Some(random) => format!("{:07x}{index:06}", random & 0xfff_ffff),
        };
        let (least, max) = self.step.sizes;
        let size = Rng::with_seed(self.step.seed ^ index).u64(least..=max.max(least));
        (root.join((index % self.step.directories.max(1)).to_string()).join(name), size)
    }
}
