//! An emulated volume for a server that is made for a run: served by this very program in a process of its own, attached with
//! a filesystem, and taken down with all that was on it.

mod folders;
mod service;

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll_device::{Access, Caching, disk_counters, drop_cache, host_time, open};
use plimsoll_record::Finding;
use plimsoll_service::api::{About, Create, Level, Stats, Volume};
use plimsoll_service::client::volume_path;
use plimsoll_suite::{StorageSample, UnderlyingStorage};
use plimsoll_units::Span;

use self::folders::Folders;
use self::service::Service;
use crate::args::{AttachArgs, MakeArgs, MakeFs};
use crate::console::Console;
use crate::offers::{NamedModel, Offers, SPACE};
use crate::trouble::Trouble;
use crate::volumes::{Making, asked, attached, detached};

/// The volume's name.
const NAME: &str = "data";
/// How long a volume that somebody still uses is waited for.
const IN_USE: Duration = Duration::from_secs(15);
/// Rates that are tried as the fastest that this host answers safely, each half of the one before.
const HALVINGS: usize = 8;
/// More seconds of an emulation than this share may not be later than their model.
const LATE: f64 = 0.05;

/// The volume. When this is dropped it is detached, and nothing of it stays.
pub struct Stage {
    service: Service,
    folders: Folders,
    /// The stages of the model that is measured.
    model: String,
    /// As it is attached.
    volume: Volume,
    is_attached: bool,
    /// The configuration that it becomes for the measurement; none once it is.
    becomes: Option<String>,
    /// Its counts then.
    begun: Stats,
    /// Levels that it will have, and when, soonest first.
    changes: VecDeque<(Span, String)>,
}

impl Stage {
    /// Makes the volume that was asked for, and mounts it. Says on the console how far it is.
    ///
    /// # Errors
    /// Nobody sells such a volume, this host is too slow for it, this user is not root, or a program is missing. Nothing is
    /// left then.
    pub fn make(making: &MakeArgs, like: &str, console: &mut Console) -> Result<Self, Trouble> {
        let size = size_of(like, making)?;
        if !rustix::process::geteuid().is_root() {
            return Err(Trouble::usage(
                "--like: an emulated volume becomes a block device with a filesystem, which needs root: run it with sudo, or \
                 leave out --like for the storage of --path itself",
            ));
        }
        let begun = Instant::now();
        console.tell(&format!("making an emulated volume like {like}, with its data below {}", making.path.display()));
        let folders = Folders::make(&making.path)?;
        let service =
            Service::start(&folders.home, &folders.run, making.terms.products.as_deref(), making.slow, console)?;
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
                "data are loaded at the full speed of this host; from the measurement on it is like {like}"
            ));
        }
        Ok(stage)
    }

    /// Where its filesystem is mounted.
    pub fn point(&self) -> &Path {
        &self.folders.point
    }

    /// The stages of the model that is measured.
    pub fn model(&self) -> &str {
        &self.model
    }

    fn create(&mut self, like: &str, size: Option<u64>) -> Result<(), Trouble> {
        let wanted = Create { name: NAME.into(), like: like.into(), size_bytes: size, ..Create::default() };
        match self.service.client.post("/v1/volumes", &wanted) {
            Ok(answer) => {
                self.model = self.service.client.read::<Volume>(&answer)?.model;
                Ok(())
            }
            Err(error) if error.is_mistake() => {
                Err(Trouble::usage(format!("--like {like}: {}", with_our_flag(&error.to_string()))))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn attach(&mut self) -> Result<(), Trouble> {
        let args = AttachArgs {
            name: NAME.into(),
            mountpoint: Some(self.folders.point.clone()),
            mkfs: Some(MakeFs::Ext4),
            // What was not written when the filesystem was made is not written under the load either.
            mount_options: Some("noatime,noinit_itable".into()),
            file: false,
        };
        let answer = attached(&self.service.client, &args, Making::Fresh)?;
        self.is_attached = true;
        self.volume = self.service.client.read(&answer)?;
        self.begun = self.stats().unwrap_or_default();
        Ok(())
    }

    /// Its counts, without the seconds that they came of.
    fn stats(&self) -> Result<Stats, Trouble> {
        asked(&self.service.client, &volume_path(NAME, "stats?periods=0"))
    }

    /// Makes it as fast as this host answers safely. False where that is refused.
    fn quicken(&self) -> bool {
        let client = &self.service.client;
        let Ok(about) = asked::<About>(client, "/v1/service") else { return false };
        // What timers of this host are too coarse for is refused.
        let rates = std::iter::successors(Some(about.floor.iops / 2), |rate| Some(rate / 2)).take(HALVINGS);
        rates.take_while(|rate| *rate > 0).any(|rate| {
            let level = Level { to: format!("limit({rate})"), force_detach: false };
            client.post(&volume_path(NAME, "level"), &level).is_ok()
        })
    }

    /// Unmounts it and takes its device back. What is still to be written is not waited for as the product would make one wait:
    /// it is to be removed.
    fn detach(&self) -> Result<(), Trouble> {
        let client = &self.service.client;
        // It only takes longer where that is refused.
        self.quicken();
        let until = Instant::now() + IN_USE;
        while let Err(trouble) = detached(client, NAME) {
            if Instant::now() > until || !self.service.answers() {
                return Err(trouble);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for (at, level) in self.changes.iter().filter(|_| self.is_attached) {
            let _ = writeln!(std::io::stderr(), "plimsoll: --change {at}={level}: no sessions went on for so long");
        }
        if self.is_attached
            && let Err(trouble) = self.detach()
            && !self.folders.pull()
        {
            // There is nobody to return it to.
            let _ = writeln!(std::io::stderr(), "plimsoll: the emulated volume is not taken down in order: {trouble}");
        }
        self.service.stop();
    }
}

impl UnderlyingStorage for Stage {
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
        let failed = |error: std::io::Error| format!("writing what was loaded to {}: {error}", point.display());
        let directory = File::open(point).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))?;
        uncache(point);
        let to = Level { to: like.clone(), force_detach: false };
        let made = self.service.client.post(&volume_path(NAME, "level"), &to);
        let volume = made.and_then(|answer| self.service.client.read(&answer));
        self.volume = volume.map_err(|error| format!("becoming like {like}: {error}"))?;
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

/// Empties the page cache of all files below a directory, whose data are written. What cannot be opened keeps its pages.
fn uncache(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => uncache(&entry.path()),
            Ok(kind) if kind.is_file() => {
                let opened = open(&entry.path(), Access::Read, Caching::Buffered);
                let _ = opened.and_then(|opened| drop_cache(&opened.file));
            }
            _ => {}
        }
    }
}

/// Too many seconds in which the volume was not what its model says.
fn late(begun: &Stats, now: &Stats) -> Option<Finding> {
    let late = now.unfaithful.saturating_sub(begun.unfaithful);
    let all = late + now.faithful.saturating_sub(begun.faithful);
    (late as f64 > LATE * all as f64).then(|| {
        let note =
            format!("in {late} of {all} seconds the volume answered later than its model, as this host was busy");
        Finding::NotStorageAlone { note }
    })
}

/// Size in bytes of a volume of stages, which have no capacity; none for a product. Refuses an unknown model before anything is
/// created.
fn size_of(like: &str, making: &MakeArgs) -> Result<Option<u64>, Trouble> {
    let mut offers = Offers::new(&making.terms)?;
    let named = NamedModel::read(like, || Ok(&mut offers));
    let named = named.map_err(|trouble| Trouble::usage(format!("--like {like}: {trouble}")))?;
    Ok(named.offer.is_none().then_some(SPACE.get()))
}

/// What a service is started with is a flag of the suite's here.
fn with_our_flag(refusal: &str) -> String {
    match refusal.split_once(": start the service with --slow ") {
        Some((why, rest)) => {
            let times: String = rest.chars().take_while(char::is_ascii_digit).collect();
            format!("{why}: add --slow {times}, which lets it answer {times} times slower than it would")
        }
        None => refusal.to_owned(),
    }
}

fn changes_of(asked: &[(Span, String)]) -> VecDeque<(Span, String)> {
    let mut changes = asked.to_vec();
    changes.sort_by_key(|(at, _)| *at);
    changes.into()
}

fn interrupted(console: &Console) -> Result<(), Trouble> {
    if console.interrupted() { Err(Trouble::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_fast_may_be_slowed() {
        let refusal = "oci:2TB@120vpu carries 300000 IOPS, and this host 100000 without a model, of which half (50000) is \
                       safe: start the service with --slow 6, which makes time 6 times slower";
        let told = with_our_flag(refusal);
        assert!(told.ends_with("is safe: add --slow 6, which lets it answer 6 times slower than it would"), "{told}");
        assert_eq!(with_our_flag("no such product"), "no such product");
    }

    #[test]
    fn levels_come_in_the_order_of_time() {
        let asked = [(Span::from_secs(60), "20vpu".to_owned()), (Span::from_secs(30), "10vpu".to_owned())];
        let levels: Vec<String> = changes_of(&asked).into_iter().map(|(_, level)| level).collect();
        assert_eq!(levels, ["10vpu", "20vpu"]);
    }

    #[test]
    fn an_emulation_that_was_late_too_often_says_so() {
        let stats = |faithful, unfaithful| Stats { faithful, unfaithful, ..Stats::default() };
        assert_eq!(late(&stats(5, 5), &stats(105, 10)), None);
        let finding = late(&stats(5, 5), &stats(65, 25)).expect("a quarter was late");
        assert!(finding.text().contains("in 20 of 80 seconds"), "{}", finding.text());
        assert_eq!(late(&stats(0, 0), &stats(0, 0)), None);
    }
}
