//! Changes of a control plane to a volume: its tags, its group, and the initiators that may use it.

use std::time::Instant;

use crate::admission::Initiators;
use crate::manage::{IN_FLIGHT_TIMEOUT, POLL_INTERVAL, unanswered};
use crate::metadata::VolumeMetadata;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::tags::check_tags;

impl Service {
    /// Replaces a tag of a volume.
    pub fn set_tag(&self, name: &str, key: &str, value: String) -> Result<(), Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        let mut tags = volume.metadata.tags.clone();
        tags.insert(key.to_owned(), value);
        check_tags(&tags)?;
        let metadata = VolumeMetadata { tags, ..volume.metadata.clone() };
        self.store_metadata(volume, metadata)
    }

    /// Moves a volume into a group (the instance to which it is attached) or out of its group, sets the initiators that
    /// may use it, and replaces a tag, in a single commit. Waits until no request of the volume is in flight: its model
    /// restarts idle. Without initiators its sessions end first.
    pub fn set_group(
        &self,
        name: &str,
        group: Option<&str>,
        initiators: &Initiators,
        tag: (&str, String),
    ) -> Result<(), Refusal> {
        let moved = self.regroup(name, group, initiators, tag);
        // The target as the metadata have it, whether they were changed or not.
        let state = self.state();
        if let Ok(volume) = state.volume(name) {
            let offer = volume.offer(self.inner.options.slow);
            self.inner.handle.call(move |server| server.offer(offer))?;
        }
        moved
    }

    fn regroup(
        &self,
        name: &str,
        group: Option<&str>,
        initiators: &Initiators,
        tag: (&str, String),
    ) -> Result<(), Refusal> {
        let begun = Instant::now();
        loop {
            let mut state = self.state();
            let volume = state.volume(name)?;
            state.fits(&volume.product, group, self.products())?;
            let group_id = group.map(|group| state.group(group).map(|group| group.id)).transpose()?;
            let is_moved = volume.metadata.group.as_deref() == group;
            let (export, seed, before) = (volume.export, volume.metadata.seed, volume.metadata.group.clone());
            let closed = (*initiators == Initiators::None).then(|| volume.closed_offer(self.inner.options.slow));
            let regroup = move |server: &mut plimsoll_front::Server| {
                if let Some(offer) = closed {
                    server.offer(offer);
                    server.end_sessions(export);
                }
                let (volumes, now, _) = server.volumes();
                is_moved || volumes.regroup(now, export, seed, group_id)
            };
            if self.inner.handle.call(regroup)? {
                let before = before.and_then(|group| state.groups.get(&group)).map(|group| group.id);
                let volume = state.volume_mut(name)?;
                let mut metadata = VolumeMetadata { group: group.map(str::to_owned), ..volume.metadata.clone() };
                metadata.instance.clone_from(&metadata.group);
                metadata.initiators.clone_from(initiators);
                metadata.tags.insert(tag.0.to_owned(), tag.1);
                let stored = check_tags(&metadata.tags).and_then(|()| self.store_metadata(volume, metadata));
                if stored.is_err() && !is_moved {
                    // The commit failed: the volume stays where its metadata have it.
                    self.inner.handle.call(move |server| {
                        let (volumes, now, _) = server.volumes();
                        volumes.regroup(now, export, seed, before)
                    })?;
                }
                volume.unit = self.unit_of(volume.id, &volume.metadata, &volume.product);
                return stored;
            }
            if begun.elapsed() >= IN_FLIGHT_TIMEOUT {
                return Err(unanswered(name));
            }
            drop(state);
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
