//! An emulated volume for a server created for a run: served by this program in a child process, attached with a
//! filesystem, and removed afterwards.

mod error;
mod folders;
mod process;

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_device::{AccessMode, Caching, drop_cache, open};
use plimsoll_language::{label, say};
use plimsoll_record::Finding;
use plimsoll_units::Span;

pub use self::error::StageError;
pub use self::folders::ServiceFolders;
pub use self::process::{RunningService, ServiceCommand};
use crate::api::{About, BoundCount, Create, Level, Stats, Volume};
use crate::block_device::{AttachError, AttachOptions, AttachProgress, Filesystem, FormatPolicy, attach, detach};
use crate::client::{Client, ClientError, volume_path};
use crate::observed::{fetch_counters, find_lateness};

const NAME: &str = "data";
/// Time to wait for a volume that is in use.
const IN_USE_TIMEOUT: Duration = Duration::from_secs(15);
/// Number of rates to try as the fastest safe rate of this host, each half of the previous.
const HALVINGS: usize = 8;

/// An emulated volume to create.
#[derive(Clone, Debug)]
pub struct StageRequest<'a> {
    /// Directory of its data.
    pub path: &'a Path,
    /// Configuration of the catalogue, or stages.
    pub like: &'a str,
    /// Size of a volume of stages, which have no capacity.
    pub size_bytes: Option<u64>,
    /// Changes of the level with their times since the start of the sessions.
    pub changes: Vec<(Span, String)>,
    pub service: ServiceCommand<'a>,
}

/// Progress and interruption of the creation of a volume.
pub struct StageMonitor<'a> {
    /// True if the user requested an end.
    pub is_interrupted: &'a dyn Fn() -> bool,
    /// Receives messages about completed steps.
    pub tell: &'a mut dyn FnMut(&str),
    /// Receives the progress of slow programs.
    pub progress: AttachProgress<'a>,
}

impl StageMonitor<'_> {
    fn check_interrupt(&self) -> Result<(), StageError> {
        if (self.is_interrupted)() { Err(StageError::Interrupted) } else { Ok(()) }
    }
}

/// The volume; detached and deleted on drop.
#[derive(Debug)]
pub struct StagedVolume {
    service: RunningService,
    folders: ServiceFolders,
    /// The attached volume, with the stages of the measured model.
    volume: Volume,
    is_attached: bool,
    /// Configuration for the measurement; `None` after the change.
    becomes: Option<String>,
    /// Counters at the change.
    begun: Stats,
    /// Remaining changes of the level, in chronological order.
    changes: VecDeque<(Span, String)>,
    model: String,
}

impl StagedVolume {
    /// Creates and mounts the volume.
    ///
    /// # Errors
    /// Unknown product, host too slow, not root, or a missing program. Everything is cleaned up.
    pub fn create(request: StageRequest<'_>, monitor: &mut StageMonitor<'_>) -> Result<Self, StageError> {
        let StageRequest { path, like, size_bytes, changes, service } = request;
        if !rustix::process::geteuid().is_root() {
            return Err(StageError::Refused(
                label!(
                    "--like: attaching an emulated volume as a block device needs root: run as root, or \
                 omit --like to use the storage of --path directly"
                )
                .to_owned(),
            ));
        }
        let begun = Instant::now();
        (monitor.tell)(&say!("creating an emulated volume like {like}, with its data in {}", path.display()));
        let folders = ServiceFolders::make(path)?;
        let service = RunningService::start(&folders, service, monitor.is_interrupted)?;
        let mut stage = Self {
            service,
            folders,
            volume: Volume::default(),
            is_attached: false,
            becomes: None,
            begun: Stats::default(),
            changes: sort_changes(changes),
            model: String::new(),
        };
        stage.create_volume(like, size_bytes)?;
        if stage.set_fastest_rate() {
            stage.becomes = Some(like.to_owned());
        }
        monitor.check_interrupt()?;
        stage.attach(monitor.progress)?;
        monitor.check_interrupt()?;
        (monitor.tell)(&say!("mounted after {:.0} s", begun.elapsed().as_secs_f64()));
        if stage.becomes.is_some() {
            (monitor.tell)(&say!(
                "data are loaded at the full speed of this host; during the measurement the volume emulates {like}"
            ));
        }
        Ok(stage)
    }

    /// Mount point of the filesystem.
    pub fn point(&self) -> &Path {
        &self.folders.point
    }

    /// Stages of the measured model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The block device below `/dev`.
    pub fn device(&self) -> Option<&str> {
        self.volume.attachment.as_ref().and_then(|attachment| attachment.device.as_deref()?.strip_prefix("/dev/"))
    }

    /// Number of answers by the limit that delayed them; empty if the service does not respond.
    pub fn bound_by(&self) -> Vec<BoundCount> {
        fetch_counters(&self.service.client, NAME).unwrap_or_default().bound_by
    }

    /// True until [`begin_measuring`](Self::begin_measuring) if the volume is faster than its product.
    pub const fn is_fast(&self) -> bool {
        self.becomes.is_some()
    }

    /// Writes cached data to the volume, and changes it to the measured product.
    ///
    /// # Errors
    /// Text with the cause.
    pub fn begin_measuring(&mut self) -> Result<(), String> {
        let Some(like) = self.becomes.take() else { return Ok(()) };
        let point = self.point();
        let failed = |error: std::io::Error| say!("writing loaded data to {}: {error}", point.display());
        let directory = File::open(point).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))?;
        uncache(point);
        let volume = self.set_level(&like).map_err(|error| say!("changing to {like}: {error}"))?;
        self.volume = volume;
        self.begun = fetch_counters(&self.service.client, NAME).unwrap_or_default();
        Ok(())
    }

    /// Makes the next change of the level that is due. Returns it, or why it was refused.
    pub fn change(&mut self, elapsed: Span) -> Option<String> {
        let (_, level) = self.changes.front().filter(|(at, _)| *at <= elapsed)?.clone();
        self.changes.pop_front();
        Some(match self.set_level(&level) {
            Ok(_) => level,
            Err(error) => format!("{level} refused: {error}"),
        })
    }

    /// Changes that were not due before the end.
    pub fn remaining_changes(&self) -> impl Iterator<Item = &(Span, String)> {
        self.changes.iter().filter(|_| self.is_attached)
    }

    /// Reasons to doubt the emulation.
    pub fn findings(&self) -> Vec<Finding> {
        let doubts = self.volume.doubts.iter().cloned().map(|what| Finding::ModelDoubted { what });
        doubts
            .chain(fetch_counters(&self.service.client, NAME).ok().and_then(|stats| find_lateness(&self.begun, &stats)))
            .collect()
    }

    /// Detaches the volume and stops its service.
    ///
    /// # Errors
    /// The volume is in use, and could not be unmounted by force.
    pub fn remove(&mut self) -> Result<(), AttachError> {
        let detached = if std::mem::take(&mut self.is_attached) { self.detach() } else { Ok(()) };
        let outcome = detached.or_else(|trouble| if self.folders.pull() { Ok(()) } else { Err(trouble) });
        self.service.stop();
        outcome
    }

    fn create_volume(&mut self, like: &str, size_bytes: Option<u64>) -> Result<(), StageError> {
        let client = &self.service.client;
        let request = Create { name: NAME.into(), like: like.into(), size_bytes, ..Create::default() };
        let volume = client.post("/v1/volumes", &request).map_err(|error| match error {
            ClientError::Refused { too_fast: Some(figures), .. } => StageError::too_fast(like, figures),
            error if error.is_mistake() => StageError::Refused(format!("--like {like}: {error}")),
            error => error.into(),
        })?;
        self.model = client.read::<Volume>(&volume)?.model;
        Ok(())
    }

    fn attach(&mut self, progress: AttachProgress<'_>) -> Result<(), AttachError> {
        let options = AttachOptions {
            name: NAME.into(),
            mountpoint: Some(self.folders.point.clone()),
            filesystem: Some(Filesystem::Ext4),
            policy: FormatPolicy::Fresh,
            // Inode tables must not be initialised during the load.
            mount_options: Some("noatime,noinit_itable".into()),
            file_only: false,
        };
        let answer = attach(&self.service.client, &options, progress)?;
        self.is_attached = true;
        self.volume = self.service.client.read(&answer)?;
        self.begun = fetch_counters(&self.service.client, NAME).unwrap_or_default();
        Ok(())
    }

    fn set_level(&self, to: &str) -> Result<Volume, ClientError> {
        let client: &Client = &self.service.client;
        let level = Level { to: to.to_owned(), force_detach: false };
        client.read(&client.post(&volume_path(NAME, "level"), &level)?)
    }

    /// Sets the fastest safe rate of this host. Returns false if all are refused.
    fn set_fastest_rate(&self) -> bool {
        let Ok(about) = self.service.client.fetch::<About>("/v1/service") else { return false };
        // Rates that timers of this host cannot resolve are refused.
        let rates = std::iter::successors(Some(about.floor.iops / 2), |rate| Some(rate / 2)).take(HALVINGS);
        rates.take_while(|rate| *rate > 0).any(|rate| self.set_level(&format!("limit({rate})")).is_ok())
    }

    /// Unmounts it and removes its device, at full speed, as remaining writes are deleted anyway.
    fn detach(&self) -> Result<(), AttachError> {
        // Slower if refused.
        self.set_fastest_rate();
        let until = Instant::now() + IN_USE_TIMEOUT;
        while let Err(trouble) = detach(&self.service.client, NAME) {
            if Instant::now() > until || !self.service.answers() {
                return Err(trouble);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}

impl Drop for StagedVolume {
    fn drop(&mut self) {
        // Drop cannot return an error; the caller received it.
        let _ = self.remove();
    }
}

/// Evicts all files of a directory from the page cache after they were written. Files that cannot be opened are
/// skipped.
fn uncache(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => uncache(&entry.path()),
            Ok(kind) if kind.is_file() => {
                let opened = open(&entry.path(), AccessMode::Read, Caching::Buffered);
                let _ = opened.and_then(|opened| drop_cache(&opened.file));
            }
            _ => {}
        }
    }
}

fn sort_changes(mut changes: Vec<(Span, String)>) -> VecDeque<(Span, String)> {
    changes.sort_by_key(|(at, _)| *at);
    changes.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TooFast;

    #[test]
    fn refusal_of_fast_products_names_the_flag() {
        let figures = TooFast { response_ns: 4_000, timer_p50_ns: 12_000, slow_times: 3 };
        let expected = "--like link(4us) answers after 4 us, and timers of this host are late by 12 us as a rule: add \
                        --slow 3 to run the model 3 times slower";
        assert_eq!(StageError::too_fast("link(4us)", figures).to_string(), expected);
    }

    #[test]
    fn changes_are_sorted_by_time() {
        let changes = vec![(Span::from_secs(60), "20vpu".to_owned()), (Span::from_secs(30), "10vpu".to_owned())];
        let levels: Vec<String> = sort_changes(changes).into_iter().map(|(_, level)| level).collect();
        assert_eq!(levels, ["10vpu", "20vpu"]);
    }

    #[test]
    fn late_emulation_has_a_finding() {
        let stats = |faithful, unfaithful| Stats { faithful, unfaithful, ..Stats::default() };
        assert_eq!(find_lateness(&stats(5, 5), &stats(105, 10)), None);
        let finding = find_lateness(&stats(5, 5), &stats(65, 25)).expect("a quarter was late");
        assert!(finding.text().contains("in 20 of 80 seconds"), "{}", finding.text());
        assert_eq!(find_lateness(&stats(0, 0), &stats(0, 0)), None);
    }
}
