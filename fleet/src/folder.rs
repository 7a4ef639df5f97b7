//! The folder of a fleet: settings, volumes, and points by month and bucket.
//!
//! ```text
//! fleet.json                                    format and number of buckets
//! volumes.csv                                   number, identifier, configuration, region, account, team, name
//! metrics/month=2026-01/bucket=07/points.parquet
//! rejected/                                     input rows that could not be used, with the reason
//! ```

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use serde::{Deserialize, Serialize};

/// Version of the folder's format.
const FORMAT: u32 = 1;
/// Key of the hash of a file's points in its metadata.
pub const CONTENT_KEY: &str = "plimsoll.content";
/// Key of the numbers of a file's volumes in its metadata, separated by commas.
pub const VOLUMES_KEY: &str = "plimsoll.volumes";
/// Maximum number of buckets.
const MAX_BUCKETS: u32 = 1_024;

#[derive(Debug, Serialize, Deserialize)]
struct Settings {
    format: u32,
    buckets: u32,
}

/// The folder of a fleet.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Absolute path.
    pub root: PathBuf,
    /// Number of buckets; volume `n` is in bucket `n` modulo this.
    pub buckets: u32,
}

/// The points of a bucket in a month.
#[derive(Clone, Debug)]
pub struct PointsFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Its month, such as `2026-01`.
    pub month: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of points.
    pub rows: i64,
    /// Hash of the points.
    pub content: String,
}

impl PointsFile {
    /// Numbers of the volumes with points. They are not part of the description: all files of a fleet are in memory.
    pub fn read_volumes(&self) -> Result<Vec<u32>> {
        let metadata = open_points(&self.path)?;
        let volumes = metadata_value(&metadata, VOLUMES_KEY).unwrap_or_default();
        let numbers = volumes.split(',').filter(|number| !number.is_empty()).map(str::parse);
        numbers.collect::<Result<_, _>>().with_context(|| format!("read the volumes of {}", self.path.display()))
    }
}

/// The files of a bucket, in the order of months.
#[derive(Clone, Debug)]
pub struct BucketFiles {
    /// Number of the bucket.
    pub bucket: u32,
    /// Its files.
    pub files: Vec<PointsFile>,
}

impl Folder {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self> {
        let file = path.join("fleet.json");
        let text = fs::read_to_string(&file).with_context(|| {
            format!("{} is no folder of a fleet: make one with `ingest` or `generate`", path.display())
        })?;
        let settings: Settings = serde_json::from_str(&text).with_context(|| format!("read {}", file.display()))?;
        let format = settings.format;
        ensure!(
            format == FORMAT,
            "{} has format {format}, this program reads {FORMAT}: use its version",
            file.display()
        );
        Ok(Self { root: fs::canonicalize(path)?, buckets: settings.buckets })
    }

    /// Opens a folder, or makes one.
    pub fn open_or_create(path: &Path, buckets: u32) -> Result<Self> {
        if path.join("fleet.json").exists() {
            return Self::open(path);
        }
        ensure!((1..=MAX_BUCKETS).contains(&buckets), "--buckets is {buckets}: choose 1 to {MAX_BUCKETS}");
        fs::create_dir_all(path).with_context(|| format!("create {}", path.display()))?;
        let text = serde_json::to_string(&Settings { format: FORMAT, buckets })?;
        write_atomically(&path.join("fleet.json"), text.as_bytes())?;
        Self::open(path)
    }

    /// A lock against a second writer, released when it is dropped.
    pub fn lock(&self) -> Result<File> {
        let file = File::create(self.root.join(".lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(error) => bail!("another process writes to {} ({error}): wait until it ends", self.root.display()),
        }
    }

    /// The bucket of a volume.
    pub fn bucket_of(&self, volume: u32) -> u32 {
        volume % self.buckets
    }

    /// The file of a month, such as `2026-01`, and a bucket.
    pub fn points_path(&self, month: &str, bucket: u32) -> PathBuf {
        self.root.join(format!("metrics/month={month}/bucket={bucket:04}/points.parquet"))
    }

    /// All files by bucket, each bucket's in the order of months; buckets without points are left out.
    pub fn files(&self) -> Result<Vec<BucketFiles>> {
        let metrics = self.root.join("metrics");
        ensure!(metrics.is_dir(), "{} has no metrics: run `ingest` or `generate` first", self.root.display());
        let mut months: Vec<String> = Vec::new();
        for entry in fs::read_dir(metrics)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            months.extend(name.strip_prefix("month=").map(str::to_owned));
        }
        months.sort_unstable();
        let mut found = Vec::new();
        for bucket in 0..self.buckets {
            let paths = months.iter().map(|month| (month, self.points_path(month, bucket)));
            let existing = paths.filter(|(_, path)| path.exists());
            let files = existing.map(|(month, path)| read_footer(month, path)).collect::<Result<Vec<_>>>()?;
            if !files.is_empty() {
                found.push(BucketFiles { bucket, files });
            }
        }
        Ok(found)
    }
}

fn open_points(path: &Path) -> Result<FileMetaData> {
    let reader = SerializedFileReader::new(File::open(path)?);
    let reader =
        reader.with_context(|| format!("read {}: restore it, or remove it and ingest again", path.display()))?;
    Ok(reader.metadata().file_metadata().clone())
}

fn metadata_value(metadata: &FileMetaData, key: &str) -> Option<String> {
    let entries = metadata.key_value_metadata().into_iter().flatten();
    entries.filter(|entry| entry.key == key).find_map(|entry| entry.value.clone())
}

fn read_footer(month: &str, path: PathBuf) -> Result<PointsFile> {
    let bytes = path.metadata()?.len();
    let metadata = open_points(&path)?;
    let (Some(content), Some(_)) = (metadata_value(&metadata, CONTENT_KEY), metadata_value(&metadata, VOLUMES_KEY))
    else {
        bail!("{} was not written by this program: ingest its points", path.display());
    };
    Ok(PointsFile { rows: metadata.num_rows(), path, month: month.to_owned(), bytes, content })
}

/// Writes a file under another name, syncs it and renames it: readers find all of it or nothing.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_name(path);
    let written = fs::write(&temporary, bytes).and_then(|()| File::open(&temporary)?.sync_all());
    written.with_context(|| format!("write {}", temporary.display()))?;
    rename_durably(&temporary, path)
}

/// A file that is written piece by piece under another name: readers find all of it or nothing.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: BufWriter<File>,
    is_finished: bool,
}

impl AtomicFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self> {
        let temporary = temporary_name(path);
        let file = File::create(&temporary).with_context(|| format!("create {}", temporary.display()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), is_finished: false })
    }

    /// Syncs the file and puts it into place.
    pub fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        written.with_context(|| format!("write {}", self.path.display()))?;
        rename_durably(&temporary_name(&self.path), &self.path)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // If it stays, the next writer removes it.
            let _ = fs::remove_file(temporary_name(&self.path));
        }
    }
}

/// A name in the same folder that readers ignore.
pub fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", process_name()))
}

/// A name of this process. Processes of several containers on one file system may have the same number.
pub fn process_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        // The standard library's keys are random.
        let random = RandomState::new().build_hasher().finish() as u32;
        format!("{}-{random:08x}", std::process::id())
    })
}

/// Renames a synced file, and syncs the folder.
pub fn rename_durably(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("rename {} to {}", from.display(), to.display()))?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("sync {}", parent.display()))
}

/// Removes what interrupted writers left over in a folder.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_hidden && path.extension().is_some_and(|extension| extension == "tmp") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// A folder for temporary results of this process, removed at its end.
#[derive(Debug)]
pub struct WorkFolder {
    /// Its path.
    pub path: PathBuf,
    _lock: File,
}

/// First part of the names of these folders.
const WORK: &str = "executor-";
/// Locked while the process runs.
const LOCK: &str = ".lock";

impl WorkFolder {
    /// Makes a folder in `parent`, and removes those of processes that ended without their removal.
    pub fn create(parent: &Path) -> Result<Self> {
        fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
        for entry in fs::read_dir(parent)? {
            let entry = entry?;
            let is_work = entry.file_name().to_string_lossy().starts_with(WORK);
            let lock = is_work.then(|| File::open(entry.path().join(LOCK)).ok()).flatten();
            if lock.is_some_and(|lock| lock.try_lock().is_ok()) {
                fs::remove_dir_all(entry.path()).with_context(|| format!("remove {}", entry.path().display()))?;
            }
        }
        // Under another name until it is locked.
        let hidden = parent.join(format!(".{WORK}{}", process_name()));
        fs::create_dir(&hidden).with_context(|| format!("create {}", hidden.display()))?;
        let lock = File::create(hidden.join(LOCK))?;
        lock.lock()?;
        let path = parent.join(format!("{WORK}{}", process_name()));
        fs::rename(&hidden, &path)?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // The next executor removes a folder that is left over.
        let _ = fs::remove_dir_all(&self.path);
    }
}
