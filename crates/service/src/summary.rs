//! Summaries of volumes and groups for lists of control planes, which need the lock and no call to the ring.

use plimsoll_catalogue::{Ceiling, Kinds, Like, MachineShape, Offer, OptionValue, PriceTerms, Product, Scope};
use plimsoll_volume::VolumeAccess;

use crate::api;
use crate::group::ServedGroup;
use crate::moment;
use crate::service::Service;
use crate::tags::Tags;
use crate::volume::Volume;

/// A volume or a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSummary {
    pub name: String,
    /// Number in the store; never reused.
    pub id: u32,
    /// Current configuration.
    pub like: String,
    /// Name of its product, such as `oci/block-volume`; `None` for bare stages.
    pub product: Option<String>,
    /// Numeric options of the product with their values, in the order of the product file.
    pub settings: Vec<(String, f64)>,
    pub level: Option<u32>,
    /// Level to return to while the volume rests at its lowest level.
    pub rests_from: Option<u32>,
    /// Size in bytes as seen by clients.
    pub size_bytes: u64,
    /// `false` for a snapshot.
    pub writable: bool,
    /// Volume or snapshot that it was copied from.
    pub of: Option<String>,
    /// Group whose limits the volume shares.
    pub group: Option<String>,
    /// Time of creation, RFC 3339.
    pub created: String,
    /// Automatic level changes.
    pub autotune: Option<api::Autotune>,
    /// Block device on this host.
    pub attachment: Option<api::Attachment>,
    /// Texts of control planes.
    pub tags: Tags,
}

/// A group: an instance of the catalogue, or stages.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSummary {
    pub name: String,
    /// Number in the store of the volume that keeps its metadata; never reused.
    pub id: u32,
    /// Its machine or stages.
    pub like: String,
    /// Shape of the machine; `None` for bare stages.
    pub shape: Option<MachineShape>,
    /// Numeric options of the machine with their values.
    pub settings: Vec<(String, f64)>,
}

/// A machine of the catalogue, and the limits that all its volumes share.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSummary {
    pub shape: MachineShape,
    /// Operations per second; `None` if the catalogue has no such limit.
    pub iops: Option<MachineLimit>,
    /// Bytes per second; `None` if the catalogue has no such limit.
    pub bytes_per_second: Option<MachineLimit>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineLimit {
    /// Rate without credits.
    pub sustained: f64,
    /// Rate while credits last; the sustained rate of machines without credits.
    pub burst: f64,
}

impl MachineSummary {
    fn of(offer: &Offer) -> Option<Self> {
        Some(Self {
            shape: offer.machine_shape()?,
            iops: machine_limit(&offer.ceilings, |ceiling| ceiling.iops),
            bytes_per_second: machine_limit(&offer.ceilings, |ceiling| ceiling.bytes_per_second),
        })
    }
}

fn machine_limit(ceilings: &[Ceiling], rate: fn(&Ceiling) -> Option<f64>) -> Option<MachineLimit> {
    let lowest = |burst: bool| {
        let of_machine =
            ceilings.iter().filter(|ceiling| ceiling.scope == Scope::Machine && ceiling.kinds == Kinds::All);
        of_machine.filter(|ceiling| ceiling.burst == burst).filter_map(rate).min_by(f64::total_cmp)
    };
    let sustained = lowest(false)?;
    Some(MachineLimit { sustained, burst: lowest(true).unwrap_or(sustained) })
}

impl VolumeSummary {
    /// Value of a numeric option of the product.
    pub fn setting(&self, name: &str) -> Option<f64> {
        self.settings.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    fn of(volume: &Volume) -> Self {
        let offer = volume.product.offer.as_deref();
        let metadata = &volume.metadata;
        Self {
            name: metadata.name.clone(),
            id: volume.id.0,
            like: volume.product.like.clone(),
            product: offer.map(|offer| offer.product().name().to_owned()),
            settings: offer.map(numbers).unwrap_or_default(),
            level: volume.product.level(),
            rests_from: metadata.rests_from,
            size_bytes: volume.size,
            writable: volume.access == VolumeAccess::ReadWrite,
            of: metadata.of.clone(),
            group: metadata.group.clone(),
            created: metadata.created.clone(),
            autotune: metadata.autotune.clone(),
            attachment: volume.attachment.clone(),
            tags: metadata.tags.clone(),
        }
    }
}

fn numbers(offer: &Offer) -> Vec<(String, f64)> {
    let number = |value: &Option<OptionValue>| match value {
        Some(OptionValue::Number(number)) => Some(*number),
        _ => None,
    };
    offer.options.iter().filter_map(|option| Some((option.name.to_string(), number(&option.value)?))).collect()
}

impl Service {
    /// A volume or snapshot by name.
    pub fn find_summary(&self, name: &str) -> Option<VolumeSummary> {
        self.state().volumes.get(name).map(VolumeSummary::of)
    }

    /// All volumes and snapshots, by name.
    pub fn list_summaries(&self) -> Vec<VolumeSummary> {
        self.state().volumes.values().map(VolumeSummary::of).collect()
    }

    /// All groups, by name.
    pub fn list_group_summaries(&self) -> Vec<GroupSummary> {
        let groups: Vec<(String, u32, String)> = self.state().groups.values().map(identity).collect();
        groups.into_iter().map(|group| self.summarise_group(group)).collect()
    }

    /// The machines of a provider in the catalogue with their default options, by name.
    pub fn machines(&self, provider: &str) -> Vec<MachineSummary> {
        let terms = PriceTerms { as_of: moment::utc_date(), currency: None, region: None };
        let names = self.products().products().flat_map(Product::machines);
        let machine = |name: String| match name.parse::<Like>() {
            Ok(Like::Config(config)) => MachineSummary::of(&self.products().offer(&config, &terms).ok()?),
            _ => None,
        };
        let of_provider = names.filter(|name| name.split('/').next() == Some(provider));
        let mut machines: Vec<MachineSummary> = of_provider.filter_map(machine).collect();
        machines.sort_by(|a, b| a.shape.name.cmp(&b.shape.name));
        machines
    }

    fn summarise_group(&self, (name, id, like): (String, u32, String)) -> GroupSummary {
        let terms = PriceTerms { as_of: moment::utc_date(), currency: None, region: None };
        let offer = match like.parse::<Like>() {
            Ok(Like::Config(config)) => self.products().offer(&config, &terms).ok(),
            _ => None,
        };
        let shape = offer.as_ref().and_then(Offer::machine_shape);
        GroupSummary { name, id, like, shape, settings: offer.as_ref().map(numbers).unwrap_or_default() }
    }
}

fn identity(group: &ServedGroup) -> (String, u32, String) {
    (group.metadata.name.clone(), group.volume.0, group.metadata.like.clone())
}
