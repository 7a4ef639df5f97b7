//! Targets of volumes: their portals, and the controller that owns them.

use plimsoll_front::iscsi::{Admission, Paths, UnitIdentity};
use plimsoll_language::{label, say};
use plimsoll_volume::VolumeId;

use crate::admission::Initiators;
use crate::api;
use crate::metadata::VolumeMetadata;
use crate::product::Product;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::volume::Volume;

impl Service {
    /// The target of a volume, with the addresses of its portals.
    ///
    /// # Errors
    /// There is no such volume, or the service has no portal.
    pub fn iscsi_target(&self, name: &str) -> Result<api::IscsiTarget, Refusal> {
        self.target(self.state().volume(name)?)
    }

    /// Makes the other controller the owner of a volume with asymmetric paths. Its initiators are notified.
    ///
    /// # Errors
    /// There is no such volume, its paths are alike, or the service has no portal.
    pub fn fail_over(&self, name: &str) -> Result<api::IscsiTarget, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        let is_asymmetric = volume.unit.as_ref().is_some_and(|unit| unit.paths == Paths::TwoControllers);
        if self.inner.options.iscsi.is_some() && !is_asymmetric {
            return Err(Refusal::conflict(say!(
                "{name} has no controllers: {} has equal paths over iSCSI",
                volume.product.like
            )));
        }
        let (export, owner) = (volume.export, volume.owner.partner());
        self.inner.handle.call(move |server| server.set_owner(export, owner))?;
        volume.owner = owner;
        self.target(volume)
    }

    fn target(&self, volume: &Volume) -> Result<api::IscsiTarget, Refusal> {
        if volume.metadata.initiators == Initiators::None {
            return Err(Refusal::conflict(say!(
                "{} was detached by a control plane, which has closed its target: attach it there again",
                volume.name()
            )));
        }
        self.shown_target(volume).ok_or_else(|| {
            Refusal::conflict(label!("the service has no iSCSI portal: start it with plimsoll serve --iscsi HOST:PORT"))
        })
    }

    pub(crate) fn shown_target(&self, volume: &Volume) -> Option<api::IscsiTarget> {
        let options = self.inner.options.iscsi.as_ref()?;
        let unit = volume.unit.as_ref().filter(|unit| unit.admission != Admission::Closed)?;
        Some(options.target(unit, volume.owner))
    }

    /// The identity of a volume over iSCSI; `None` if the service has no portal.
    pub(crate) fn unit_of(
        &self,
        id: VolumeId,
        metadata: &VolumeMetadata,
        product: &Product,
    ) -> Option<Box<UnitIdentity>> {
        let options = self.inner.options.iscsi.as_ref()?;
        Some(Box::new(options.unit(self.inner.store, id, metadata, product)))
    }
}
