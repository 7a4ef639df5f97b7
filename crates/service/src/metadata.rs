//! Metadata of volumes and groups, stored as JSON in the store's log.
//!
//! Metadata therefore becomes durable together with its volume. A group is a volume of one cluster that is not
//! exported; it is never written and uses no space.

use serde::{Deserialize, Serialize};

use plimsoll_language::say;

use crate::admission::Initiators;
use crate::api;
use crate::bill::Bill;
use crate::tags::Tags;

const VOLUME: &str = "plimsoll.volume/1";
const GROUP: &str = "plimsoll.group/1";

/// Metadata of a volume or a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VolumeMetadata {
    pub format: String,
    pub name: String,
    /// Configuration, and its model in case the catalogue drops it.
    pub like: String,
    pub model: String,
    pub seed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Volume or snapshot that it was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Time of creation, RFC 3339.
    pub created: String,
    /// Absent for a snapshot: its price is not in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<Bill>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotune: Option<api::Autotune>,
    /// Level to return to while the volume rests at its lowest level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_from: Option<u32>,
    /// Texts of control planes.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Instance to which a control plane has attached it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Created by force, although too fast for the timers of the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Initiators that may log in over iSCSI.
    #[serde(default, skip_serializing_if = "Initiators::are_usual")]
    pub initiators: Initiators,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupMetadata {
    format: String,
    pub name: String,
    pub like: String,
    pub model: String,
    pub seed: u64,
}

/// Metadata of a volume or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoredMetadata {
    Volume(Box<VolumeMetadata>),
    Group(GroupMetadata),
}

#[derive(Deserialize)]
struct Head {
    format: String,
}

impl VolumeMetadata {
    pub fn new(name: &str, like: &str, model: &str, created: String) -> Self {
        Self {
            format: VOLUME.to_owned(),
            name: name.to_owned(),
            like: like.to_owned(),
            model: model.to_owned(),
            seed: seed_of(name),
            group: None,
            of: None,
            created,
            bill: None,
            autotune: None,
            rests_from: None,
            tags: Tags::new(),
            instance: None,
            forced: false,
            initiators: Initiators::OfService,
        }
    }

    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("its keys are texts")
    }
}

impl GroupMetadata {
    pub fn new(name: &str, like: &str, model: &str) -> Self {
        let (format, name, like, model) = (GROUP.to_owned(), name.to_owned(), like.to_owned(), model.to_owned());
        Self { seed: seed_of(&name), format, name, like, model }
    }

    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("its keys are texts")
    }
}

impl StoredMetadata {
    /// Parses metadata; the error is the reason.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| error.to_string();
        let Head { format } = serde_json::from_str(text).map_err(wrong)?;
        match format.as_str() {
            VOLUME => serde_json::from_str(text).map(|volume| Self::Volume(Box::new(volume))).map_err(wrong),
            GROUP => serde_json::from_str(text).map(Self::Group).map_err(wrong),
            other => Err(say!("it is of format {other:?}: use the version of plimsoll that wrote it, or a later one")),
        }
    }
}

/// FNV-1a (Fowler, Noll, Vo 1991).
pub(crate) fn seed_of(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_round_trips() {
        let mut volume = VolumeMetadata::new("data", "oci:50GB", "limit(3000)", "2026-11-21T12:00:00Z".to_owned());
        volume.bill = Some(Bill::new(u64::MAX, "oci:50GB", None));
        volume.seed = u64::MAX;
        assert_eq!(StoredMetadata::read(&volume.text()), Ok(StoredMetadata::Volume(Box::new(volume))));
        let group = GroupMetadata::new("vm", "limit(3000)", "limit(3000)");
        assert_eq!(StoredMetadata::read(&group.text()), Ok(StoredMetadata::Group(group)));
        for wrong in ["", "{}", "data", r#"{"format":"plimsoll.volume/1"}"#, r#"{"format":"plimsoll.volume/9"}"#] {
            assert!(StoredMetadata::read(wrong).is_err(), "{wrong}");
        }
    }
}
