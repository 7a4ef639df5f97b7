//! A served volume: its metadata and its present state.

use std::collections::VecDeque;

use plimsoll_device::nbd::Emulation;
use plimsoll_front::iscsi::{Admission, Controller, UnitIdentity};
use plimsoll_front::{Offer, Server};
use plimsoll_language::say;
use plimsoll_volume::{Export, GroupId, Limits, NotServed, Serving, Slow, VolumeAccess, VolumeId};

use crate::api;
use crate::automation::Automation;
use crate::metadata::VolumeMetadata;
use crate::minutes::MinuteCounters;
use crate::moment;
use crate::product::Product;
use crate::recent::RecentSeconds;
use crate::refusal::Refusal;

/// Limits of requests in flight per volume; block size 1 and the maximum payload of NBD.
const LIMITS: Limits = Limits { requests: 1_024, bytes: 256 << 20, payload: 64 << 20, block: 1 };

/// Changes of level or product kept for each volume.
const MAX_LEVEL_CHANGES: usize = 128;

/// A volume or a snapshot.
#[derive(Debug)]
pub(crate) struct Volume {
    pub id: VolumeId,
    pub export: Export,
    pub size: u64,
    pub access: VolumeAccess,
    pub metadata: VolumeMetadata,
    pub product: Product,
    pub faults: Option<api::Faults>,
    pub attachment: Option<api::Attachment>,
    pub recording: Option<String>,
    pub automation: Automation,
    pub watch: RecentSeconds,
    /// Identity over iSCSI; `None` if the service has no portal.
    pub unit: Option<Box<UnitIdentity>>,
    /// Controller with the optimized paths, if they are asymmetric.
    pub owner: Controller,
    /// The last changes of level or product, oldest first.
    pub level_changes: VecDeque<api::LevelChange>,
    pub minutes: MinuteCounters,
}

/// Everything that is sent to the ring loop to serve a volume.
#[derive(Debug)]
pub(crate) struct RingVolume {
    serving: Serving,
    offer: Offer,
}

impl RingVolume {
    pub fn new(
        volume: VolumeId,
        metadata: &VolumeMetadata,
        product: &Product,
        (size, access): (u64, VolumeAccess),
        group: Option<GroupId>,
        slow: Slow,
    ) -> Self {
        let serving = Serving { volume, model: product.model.clone(), seed: metadata.seed, limits: LIMITS, group };
        Self { serving, offer: build_offer(Export(0), &metadata.name, product, (size, access), slow) }
    }

    /// The same with an identity over iSCSI.
    pub fn with_unit(mut self, unit: Option<Box<UnitIdentity>>) -> Self {
        self.offer.unit = unit;
        self
    }

    /// Registers and exports the volume.
    pub fn begin(self, server: &mut Server) -> Result<Export, NotServed> {
        let Self { serving, mut offer } = self;
        let (volumes, now, _) = server.volumes();
        offer.export = volumes.serve(now, &serving)?;
        let export = offer.export;
        server.offer(offer);
        Ok(export)
    }
}

impl Volume {
    /// A newly served volume, without requests, faults or recording.
    pub fn new(
        id: VolumeId,
        export: Export,
        (size, access): (u64, VolumeAccess),
        metadata: VolumeMetadata,
        product: Product,
        automation: Automation,
    ) -> Self {
        let watch = RecentSeconds::default();
        let (faults, attachment, recording, unit) = (None, None, None, None);
        let owner = Controller::default();
        Self {
            id,
            export,
            size,
            access,
            metadata,
            product,
            faults,
            attachment,
            recording,
            automation,
            watch,
            unit,
            owner,
            level_changes: VecDeque::new(),
            minutes: MinuteCounters::default(),
        }
    }

    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    pub fn log_creation(&self) {
        let VolumeMetadata { name, like, of, .. } = &self.metadata;
        match (of, self.access) {
            (None, _) => tracing::info!(volume = name, like, bytes = self.size, "volume created"),
            (Some(of), VolumeAccess::ReadOnly) => {
                tracing::info!(volume = name, of, bytes = self.size, "snapshot created");
            }
            (Some(of), VolumeAccess::ReadWrite) => {
                tracing::info!(volume = name, of, like, bytes = self.size, "clone created");
            }
        }
    }

    /// Logs and keeps a change of level or product.
    pub fn note_change(&mut self, to: &Product) {
        if to.like == self.product.like {
            return;
        }
        tracing::info!(volume = self.name(), from = self.product.like, to = to.like, "level changed");
        if self.level_changes.len() == MAX_LEVEL_CHANGES {
            self.level_changes.pop_front();
        }
        let to = to.level().map_or_else(|| to.like.clone(), |level| level.to_string());
        self.level_changes.push_back(api::LevelChange { at_ms: moment::now_ns() / 1_000_000, to });
    }

    /// Returns itself, or a refusal if another volume has taken the name since `id` was read.
    pub fn with_id(&self, id: VolumeId) -> Result<&Self, Refusal> {
        let changed = || {
            let name = self.name();
            Refusal::conflict(say!("{name} was changed by another request meanwhile: try again"))
        };
        if self.id == id { Ok(self) } else { Err(changed()) }
    }

    /// Present export of the volume for clients.
    pub fn offer(&self, slow: Slow) -> Offer {
        let offer = build_offer(self.export, self.name(), &self.product, (self.size, self.access), slow);
        Offer { unit: self.unit.clone(), ..offer }
    }

    /// The same with a target that admits no initiator.
    pub fn closed_offer(&self, slow: Slow) -> Offer {
        let mut offer = self.offer(slow);
        if let Some(unit) = &mut offer.unit {
            unit.admission = Admission::Closed;
        }
        offer
    }

    /// Metadata after a change to `product`.
    pub fn metadata_like(&self, product: &Product, rests_from: Option<u32>, slow: Slow) -> VolumeMetadata {
        let mut metadata = VolumeMetadata { rests_from, ..self.metadata.clone() };
        metadata.like.clone_from(&product.like);
        metadata.model = product.model.to_string();
        if let Some(bill) = metadata.bill.as_mut().filter(|_| product.like != self.product.like) {
            bill.change(moment::now_ns(), slow, &product.like, product.offer.as_deref());
        }
        metadata
    }

    /// Refused while the volume is a block device of this host.
    /// True if a block device of this host or an instance of a control plane may use it, with or without clients.
    pub const fn is_attached(&self) -> bool {
        self.attachment.is_some() || self.metadata.instance.is_some()
    }

    pub fn unattached(&self, what: &str) -> Result<(), Refusal> {
        if let Some(instance) = &self.metadata.instance {
            let name = self.name();
            return Err(Refusal::conflict(say!(
                "{name} is attached to instance {instance}: {what} when it is detached there, by the API that attached it"
            )));
        }
        let Some(attachment) = &self.attachment else { return Ok(()) };
        let place = format_place(attachment);
        let name = self.name();
        Err(Refusal::conflict(say!(
            "{name} is attached{place}: {what} when it is detached (plimsoll volume detach {name})"
        )))
    }

    pub fn display(&self, listens: &[String], clients: usize, slow: Slow) -> api::Volume {
        let VolumeMetadata { name, group, of, created, bill, autotune, .. } = &self.metadata;
        api::Volume {
            name: name.clone(),
            like: self.product.like.clone(),
            level: self.product.level(),
            size_bytes: self.size,
            writable: self.access == VolumeAccess::ReadWrite,
            of: of.clone(),
            group: group.clone(),
            created: created.clone(),
            model: self.product.model.to_string(),
            slow: None,
            iscsi: None,
            host: None,
            forced: self.metadata.forced,
            doubts: self.product.doubts(),
            uris: listens.iter().map(|listen| uri(listen, name)).collect(),
            clients,
            attachment: self.attachment.clone(),
            autotune: autotune.clone(),
            faults: self.faults.clone(),
            recording: self.recording.clone(),
            cost: bill.as_ref().and_then(|bill| bill.cost(moment::now_ns(), slow)),
            durability: api::DurabilityTerms::default(),
            trouble: None,
        }
    }
}

/// Formats ` at /dev/loop0, mounted on /mnt`.
pub(crate) fn format_place(attachment: &api::Attachment) -> String {
    let device = attachment.device.as_ref().or(attachment.file.as_ref()).map(|device| say!(" at {device}"));
    let mounted = attachment.mountpoint.as_ref().map(|mountpoint| say!(", mounted on {mountpoint}"));
    device.into_iter().chain(mounted).collect()
}

fn build_offer(
    export: Export,
    name: &str,
    product: &Product,
    (size, access): (u64, VolumeAccess),
    slow: Slow,
) -> Offer {
    let like = product.offer.is_some().then(|| product.like.clone());
    let emulation = Emulation { like, model: product.model.to_string(), slow: slow.times() };
    Offer { access, medium: product.medium(), ..Offer::new(export, name, size) }.emulated(&emulation)
}

/// `nbd+unix:///data?socket=/run/nbd` from `nbd+unix:///?socket=/run/nbd`.
fn uri(listen: &str, name: &str) -> String {
    let (place, query) =
        listen.split_once('?').map_or((listen, String::new()), |(place, rest)| (place, format!("?{rest}")));
    format!("{}/{name}{query}", place.strip_suffix('/').unwrap_or(place))
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn uri_contains_name_as_export() {
        assert_eq!(uri("nbd+unix:///?socket=/run/nbd", "data"), "nbd+unix:///data?socket=/run/nbd");
        assert_eq!(uri("nbd://127.0.0.1:10809", "data"), "nbd://127.0.0.1:10809/data");
        assert_eq!(uri("nbds://host:1/", "data"), "nbds://host:1/data");
    }
}
