//! An emulated volume for a server created for a run: served by this program in a child process, attached with a
//! filesystem, and removed afterwards.

mod folders;
mod service;

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_device::{AccessMode, Caching, disk_counters, drop_cache, host_time, open};
use plimsoll_measure::STAGES_SPACE;
use plimsoll_record::Finding;
use plimsoll_service::api::{About, Create, Level, Stats, Volume};
use plimsoll_service::client::volume_path;
use plimsoll_suite::{StorageSample, UnderlyingStorage};
use plimsoll_units::Span;

pub use self::folders::Folders;
pub use self::service::RunningService;
use crate::args::{AttachArgs, MakeArgs, MakeFs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::offers::{Offers, read_model};
use crate::volumes::{Making, attached, detached, fetch};

/// Name of the volume.
const NAME: &str = "data";
/// Time to wait for a volume that is in use.
const IN_USE_TIMEOUT: Duration = Duration::from_secs(15);
/// Number of rates to try as the fastest safe rate of this host, each half of the previous.
const HALVINGS: usize = 8;
/// Maximum share of seconds in which replies may be later than the model.
const LATE: f64 = 0.05;

/// The volume; detached and deleted on drop.
pub struct StagedVolume {
    service: RunningService,
    folders: Folders,
    /// Stages of the measured model.
    model: String,
    /// The attached volume.
    volume: Volume,
    is_attached: bool,
    /// Configuration for the measurement; `None` after the change.
    becomes: Option<String>,
    /// Counters at the change.
    begun: Stats,
    /// Changes of the level with their times, in chronological order.
    changes: VecDeque<(Span, String)>,
}

impl StagedVolume {
    /// Creates and mounts the requested volume, with progress on the console.
    ///
    /// # Errors
    /// Unknown product, host too slow, not root, or a missing program. Everything is cleaned up.
    pub fn make(making: &MakeArgs, like: &str, console: &mut Console) -> Result<Self, CliError> {
        let size = size_of(like, making)?;
        if !rustix::process::geteuid().is_root() {
            return Err(CliError::usage(
                "--like: attaching an emulated volume as a block device needs root: run as root, or \
                 omit --like to use the storage of --path directly",
            ));
        }
        let begun = Instant::now();
        console.tell(&format!("creating an emulated volume like {like}, with its data in {}", making.path.display()));
        let folders = Folders::make(&making.path)?;
        let service =
            RunningService::start(&folders.home, &folders.run, making.terms.products.as_deref(), making.slow, console)?;
        let changes = changes_of(&making.changes);
        let mut stage = Self {
            service,
            folders,
            model: String::new(),
            volume: Volume::default(),
            is_attached: false,
            becomes: None,
            begun: Stats::default(),
            changes,
        };
        stage.create(like, size)?;
        if stage.quicken() {
            stage.becomes = Some(like.to_owned());
        }
        interrupted(console)?;
        stage.attach()?;
        interrupted(console)?;
        console.tell(&format!("mounted after {:.0} s", begun.elapsed().as_secs_f64()));
        if stage.becomes.is_some() {
            console.tell(&format!(
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

    fn create(&mut self, like: &str, size: Option<u64>) -> Result<(), CliError> {
        let wanted = Create { name: NAME.into(), like: like.into(), size_bytes: size, ..Create::default() };
        match self.service.client.post("/v1/volumes", &wanted) {
            Ok(answer) => {
                self.model = self.service.client.read::<Volume>(&answer)?.model;
                Ok(())
            }
            Err(error) if error.is_mistake() => {
                Err(CliError::usage(format!("--like {like}: {}", with_our_flag(&error.to_string()))))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn attach(&mut self) -> Result<(), CliError> {
        let args = AttachArgs {
            name: NAME.into(),
            mountpoint: Some(self.folders.point.clone()),
            mkfs: Some(MakeFs::Ext4),
            // Inode tables must not be initialised during the load.
            mount_options: Some("noatime,noinit_itable".into()),
            file: false,
            iscsi: false,
        };
        let answer = attached(&self.service.client, &args, Making::Fresh)?;
        self.is_attached = true;
        self.volume = self.service.client.read(&answer)?;
        self.begun = self.stats().unwrap_or_default();
        Ok(())
    }

    /// Its counters, without per-second values.
    fn stats(&self) -> Result<Stats, CliError> {
        fetch(&self.service.client, &volume_path(NAME, "stats?periods=0"))
    }

    /// Sets the fastest safe rate of this host. Returns false if all are refused.
    fn quicken(&self) -> bool {
        let client = &self.service.client;
        let Ok(about) = fetch::<About>(client, "/v1/service") else { return false };
        // Rates that timers of this host cannot resolve are refused.
        let rates = std::iter::successors(Some(about.floor.iops / 2), |rate| Some(rate / 2)).take(HALVINGS);
        rates.take_while(|rate| *rate > 0).any(|rate| {
            let level = Level { to: format!("limit({rate})"), force_detach: false };
            client.post(&volume_path(NAME, "level"), &level).is_ok()
        })
    }

    /// Unmounts it and removes its device, at full speed, as remaining writes are deleted anyway.
    fn detach(&self) -> Result<(), CliError> {
        let client = &self.service.client;
        // Slower if refused.
        self.quicken();
        let until = Instant::now() + IN_USE_TIMEOUT;
        while let Err(trouble) = detached(client, NAME) {
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
        for (at, level) in self.changes.iter().filter(|_| self.is_attached) {
            let _ = writeln!(std::io::stderr(), "plimsoll: --change {at}={level}: the sessions ended before");
        }
        if self.is_attached
            && let Err(trouble) = self.detach()
            && !self.folders.pull()
        {
            // Drop cannot return an error.
            let _ = writeln!(std::io::stderr(), "plimsoll: cannot remove the emulated volume: {trouble}");
        }
        self.service.stop();
    }
}

impl UnderlyingStorage for StagedVolume {
    fn look(&mut self) -> StorageSample {
        let device =
            self.volume.attachment.as_ref().and_then(|attachment| attachment.device.as_deref()?.strip_prefix("/dev/"));
        let bound_by = self.stats().unwrap_or_default().bound_by;
        StorageSample {
            disk: device.and_then(disk_counters),
            host: host_time(),
            bound_by: bound_by.into_iter().map(|bound| (bound.limit, bound.count)).collect(),
        }
    }

    fn is_fast(&self) -> bool {
        self.becomes.is_some()
    }

    fn begin_measuring(&mut self) -> Result<(), String> {
        let Some(like) = self.becomes.take() else { return Ok(()) };
        let point = self.point();
        let failed = |error: std::io::Error| format!("writing loaded data to {}: {error}", point.display());
        let directory = File::open(point).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))?;
        uncache(point);
        let to = Level { to: like.clone(), force_detach: false };
        let made = self.service.client.post(&volume_path(NAME, "level"), &to);
        let volume = made.and_then(|answer| self.service.client.read(&answer));
        self.volume = volume.map_err(|error| format!("changing to {like}: {error}"))?;
        self.begun = self.stats().unwrap_or_default();
        Ok(())
    }

    fn change(&mut self, elapsed: Span) -> Option<String> {
        let (_, level) = self.changes.front().filter(|(at, _)| *at <= elapsed)?.clone();
        self.changes.pop_front();
        let to = Level { to: level.clone(), force_detach: false };
        match self.service.client.post(&volume_path(NAME, "level"), &to) {
            Ok(_) => Some(level),
            Err(error) => Some(format!("{level} refused: {error}")),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let doubts = self.volume.doubts.iter().cloned().map(|what| Finding::ModelDoubted { what });
        doubts.chain(self.stats().ok().and_then(|stats| late(&self.begun, &stats))).collect()
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

/// A finding about seconds in which the volume did not follow its model.
fn late(begun: &Stats, now: &Stats) -> Option<Finding> {
    let late = now.unfaithful.saturating_sub(begun.unfaithful);
    let all = late + now.faithful.saturating_sub(begun.faithful);
    (late as f64 > LATE * all as f64).then(|| {
        let note = format!("in {late} of {all} seconds replies were later than the model, as this host was busy");
        Finding::NotStorageAlone { note }
    })
}

/// Size in bytes of a volume of stages, which have no capacity; `None` for a product. Fails for an unknown model before
/// anything is created.
fn size_of(like: &str, making: &MakeArgs) -> Result<Option<u64>, CliError> {
    let mut offers = Offers::new(&making.terms)?;
    let named = read_model(like, || Ok(&mut offers));
    let named = named.map_err(|trouble| CliError::usage(format!("--like {like}: {trouble}")))?;
    Ok(named.offer.is_none().then_some(STAGES_SPACE.get()))
}

/// Replaces the service's flag in a refusal by the suite's flag.
fn with_our_flag(refusal: &str) -> String {
    match refusal.split_once(": start the service with --slow ") {
        Some((why, rest)) => {
            let times: String = rest.chars().take_while(char::is_ascii_digit).collect();
            format!("{why}: add --slow {times} to run the model {times} times slower")
        }
        None => refusal.to_owned(),
    }
}

fn changes_of(asked: &[(Span, String)]) -> VecDeque<(Span, String)> {
    let mut changes = asked.to_vec();
    changes.sort_by_key(|(at, _)| *at);
    changes.into()
}

fn interrupted(console: &Console) -> Result<(), CliError> {
    if console.interrupted() { Err(CliError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_of_fast_products_names_the_flag() {
        let refusal = "oci:2TB@120vpu carries 300000 IOPS, and this host 100000 without a model, of which half (50000) is \
                       safe: start the service with --slow 6, which makes time 6 times slower";
        let told = with_our_flag(refusal);
        assert!(told.ends_with("is safe: add --slow 6 to run the model 6 times slower"), "{told}");
        assert_eq!(with_our_flag("no such product"), "no such product");
    }

    #[test]
    fn changes_are_sorted_by_time() {
        let asked = [(Span::from_secs(60), "20vpu".to_owned()), (Span::from_secs(30), "10vpu".to_owned())];
        let levels: Vec<String> = changes_of(&asked).into_iter().map(|(_, level)| level).collect();
        assert_eq!(levels, ["10vpu", "20vpu"]);
    }

    #[test]
    fn late_emulation_has_a_finding() {
        let stats = |faithful, unfaithful| Stats { faithful, unfaithful, ..Stats::default() };
        assert_eq!(late(&stats(5, 5), &stats(105, 10)), None);
        let finding = late(&stats(5, 5), &stats(65, 25)).expect("a quarter was late");
        assert!(finding.text().contains("in 20 of 80 seconds"), "{}", finding.text());
        assert_eq!(late(&stats(0, 0), &stats(0, 0)), None);
    }
}
