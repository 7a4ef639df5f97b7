//! Snapshots of several volumes with the content of the same moment, as volume groups take them.

use plimsoll_language::label;
use plimsoll_volume::{Edit, VolumeAccess, VolumeId};

use crate::api;
use crate::automation::Automation;
use crate::metadata::VolumeMetadata;
use crate::moment;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::tags::{Tags, check_tags};
use crate::volume::{RingVolume, Volume};

/// A snapshot of a volume to be created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Name of the volume.
    pub of: String,
    pub name: String,
    /// Texts of control planes.
    pub tags: Tags,
}

impl Service {
    /// Creates a snapshot of each volume in a single commit. All have the content of the same moment: no write is in
    /// flight on any of the volumes when they are taken.
    pub fn snapshot_all(&self, snapshots: &[Snapshot]) -> Result<Vec<api::Volume>, Refusal> {
        let mut state = self.state();
        let (mut created, mut of) = (Vec::new(), Vec::new());
        for snapshot in snapshots {
            check_tags(&snapshot.tags)?;
            state.free(&snapshot.name)?;
            let source = state.volume(&snapshot.of)?;
            let (like, model) = (&source.product.like, source.product.model.to_string());
            let mut metadata = VolumeMetadata::new(&snapshot.name, like, &model, moment::now());
            metadata.of = Some(snapshot.of.clone());
            metadata.tags.clone_from(&snapshot.tags);
            of.push((source.id, metadata.text()));
            created.push((metadata, source.product.clone(), source.size));
        }
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let first = self.inner.handle.edit(Edit::Snapshots { of });
        let VolumeId(first) = first.map_err(|error| Refusal::of_edit(label!("a volume of the group"), &error))?;
        let mut snapshots = Vec::new();
        for (number, (metadata, product, size)) in created.into_iter().enumerate() {
            let (id, access) = (VolumeId(first + number as u32), VolumeAccess::ReadOnly);
            let unit = self.unit_of(id, &metadata, &product);
            let served = RingVolume::new(id, &metadata, &product, (size, access), None, self.inner.options.slow);
            let served = served.with_unit(unit.clone());
            let export = self.inner.handle.call(move |server| served.begin(server))??;
            let automation = Automation::new(self.model_now(), &metadata, &product, &self.inner.options);
            let volume = Volume { unit, ..Volume::new(id, export, (size, access), metadata, product, automation) };
            snapshots.push(self.show(&volume)?);
            volume.log_creation();
            state.volumes.insert(volume.metadata.name.clone(), volume);
        }
        Ok(snapshots)
    }
}
