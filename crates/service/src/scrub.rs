//! Comparison of stored data with their checksums: a background scrub, and damage found by reads.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_front::ServerEnded;
use plimsoll_language::{label, say};
use plimsoll_volume::{FilePosition, VolumeId};

use crate::api::{self, DamagedBlock};
use crate::fsck::damaged_blocks;
use crate::refusal::{Refusal, display};
use crate::service::{Service, ServiceState};

/// Bytes compared per step.
const PIECE: u64 = 1 << 20;
/// Default rate in bytes per second.
const RATE: u64 = 100 << 20;
/// Minimum rate in bytes per second.
const RATE_MIN: u64 = 1 << 20;
/// Retry interval for a block that is being written.
const RETRY: Duration = Duration::from_millis(1);
/// Maximum number of damaged blocks listed by a scrub.
const NAMED_MAX: usize = 1_000;

impl ServiceState {
    fn names(&self) -> BTreeMap<VolumeId, String> {
        self.volumes.values().map(|volume| (volume.id, volume.name().to_owned())).collect()
    }
}

impl Service {
    /// Starts to compare the data of a volume, or of all, with their checksums.
    pub fn begin_scrub(&self, scrub: &api::Scrub) -> Result<api::ScrubState, Refusal> {
        let id = scrub.volume.as_deref().map(|name| self.state().volume(name).map(|volume| volume.id)).transpose()?;
        let (places, has_checksums) = self.inner.handle.call(move |server| {
            let places = server.volumes().0.store().places(id);
            (places, server.has_checksums())
        })?;
        if !has_checksums {
            return Err(Refusal::bad(label!(
                "the data directory has no checksums to compare data with: stop the service, and plimsoll volume fsck \
                 --add-checksums adds them"
            )));
        }
        let rate = scrub.rate_bytes.unwrap_or(RATE);
        if rate < RATE_MIN {
            return Err(Refusal::bad(say!("a rate of {} a second would never end: give 1MiB or more", display(rate))));
        }
        let mut state = self.scrubbing();
        if state.running {
            return Err(Refusal::conflict(label!(
                "a scrub is under way: see its progress with GET /v1/scrub, or wait for its end"
            )));
        }
        let total_bytes = places.iter().map(|(_, length)| length).sum();
        *state =
            api::ScrubState { running: true, volume: scrub.volume.clone(), total_bytes, ..api::ScrubState::default() };
        let begun = state.clone();
        drop(state);
        let service = self.clone();
        let work = move || {
            let outcome = service.scrub(&places, rate);
            let mut state = service.scrubbing();
            state.running = false;
            state.error = outcome.err().map(|refusal| refusal.message);
        };
        if let Err(error) = std::thread::Builder::new().name("scrub".into()).spawn(work) {
            self.scrubbing().running = false;
            return Err(Refusal::new(crate::RefusalKind::Failed, say!("starting a thread: {error}")));
        }
        Ok(begun)
    }

    /// Progress of the present scrub, or result of the last.
    pub fn scrub_state(&self) -> Result<api::ScrubState, Refusal> {
        Ok(self.scrubbing().clone())
    }

    fn scrubbing(&self) -> MutexGuard<'_, api::ScrubState> {
        self.inner.scrub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Body of the scrub thread.
    fn scrub(&self, places: &[(FilePosition, u64)], rate: u64) -> Result<(), Refusal> {
        let begun = Instant::now();
        let failed = |error: std::io::Error| Refusal::new(crate::RefusalKind::Failed, say!("reading data: {error}"));
        let mut done = 0;
        for (place, length) in places {
            let file = place.file;
            let sources = self.inner.handle.call(move |server| server.checked_file(file))?.map_err(failed)?;
            let end = place.at + length;
            let mut at = place.at;
            while at < end {
                let piece = PIECE.min(end - at);
                for found in sources.scan(at, piece).map_err(failed)? {
                    self.confirm(FilePosition { at: found, ..*place })?;
                }
                (at, done) = (at + piece, done + piece);
                self.scrubbing().done_bytes = done;
                let due = Duration::from_secs_f64(done as f64 / rate as f64);
                if self.inner.ticker.wait(due.saturating_sub(begun.elapsed())) {
                    return Err(Refusal::from(ServerEnded));
                }
            }
        }
        Ok(())
    }

    /// Examines a mismatch again: the block may have been in the process of being written.
    fn confirm(&self, place: FilePosition) -> Result<(), Refusal> {
        loop {
            let names = self.state().names();
            let looked = self.inner.handle.call(move |server| {
                let is_sound = server.check_block(place);
                let blocks = damaged_blocks(server.volumes().0.store(), place, &names);
                is_sound.map(|is_sound| (is_sound, blocks))
            })?;
            match looked {
                Ok((Some(true), _)) => return Ok(()),
                Ok((Some(false), blocks)) => {
                    let mut state = self.scrubbing();
                    state.damaged_blocks += 1;
                    let room = NAMED_MAX.saturating_sub(state.damaged.len());
                    state.damaged.extend(blocks.into_iter().take(room));
                    return Ok(());
                }
                Ok((None, _)) => std::thread::sleep(RETRY),
                Err(error) => return Err(Refusal::new(crate::RefusalKind::Failed, say!("reading data: {error}"))),
            }
        }
    }

    /// Updates the damaged blocks found by reads, and logs new damage.
    pub(crate) fn watch_damage(&self, state: &mut ServiceState) -> Result<(), ServerEnded> {
        let names = state.names();
        let recorded: Vec<FilePosition> = state.damages.0.keys().copied().collect();
        let found = self.inner.handle.call(move |server| {
            let damaged = server.damaged();
            let store = server.volumes().0.store();
            let blocks =
                |place| if recorded.contains(&place) { None } else { Some(damaged_blocks(store, place, &names)) };
            damaged.into_iter().map(|(place, reads)| (place, (blocks(place), reads))).collect::<BTreeMap<_, _>>()
        })?;
        state.damages.0.retain(|place, _| found.contains_key(place));
        for (place, (blocks, reads)) in found {
            let entry = state.damages.0.entry(place).or_default();
            entry.1 = reads;
            let Some(blocks) = blocks else { continue };
            for DamagedBlock { volume, offset } in &blocks {
                tracing::error!(
                    volume,
                    offset,
                    "damaged: the 4 KiB there differ from their checksum, and reads of them fail (EIO) until they are \
                     overwritten or restored"
                );
            }
            entry.0 = blocks;
        }
        Ok(())
    }
}
