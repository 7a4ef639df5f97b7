//! Records of objects: those of volumes are tags in the metadata of the volume, all others are in one file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lifecycle::Transition;

/// Key of the tag that holds the record of a volume.
pub(crate) const TAG: &str = "cloud";
const VOLUME: &str = "plimsoll.cloud-volume/1";
const OBJECTS: &str = "plimsoll.cloud/1";

/// Control plane that an object belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Provider {
    #[default]
    Oci,
    Ec2,
}

/// Record of a volume or a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct VolumeRecord {
    pub format: String,
    pub provider: Provider,
    pub id: String,
    pub display_name: String,
    pub compartment: String,
    pub availability_domain: String,
    /// RFC 3339.
    pub created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<VolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// End of the background copy of a clone, in nanoseconds since 1970.
    pub hydrated_ns: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub autotune: Vec<Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub freeform_tags: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub defined_tags: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Assignment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
    /// Of a backup or snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<BackupRecord>,
    /// Last modification of a volume of EC2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modification: Option<Modification>,
    /// Starts of earlier modifications that may count against the rate of EC2, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_modifications_ns: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VolumeSource {
    /// As in `sourceDetails.type`.
    pub kind: String,
    pub id: String,
}

/// Token that makes the creation of an object idempotent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retry {
    pub token: String,
    /// SHA-256 of the request body: the same token with another body is refused.
    pub digest: String,
    pub until_ns: u64,
}

/// Paths that an instance permits for an attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AttachmentPaths {
    /// As many as the level of the volume has.
    #[default]
    Level,
    /// One: the instance is too small for a multipath-enabled attachment.
    Single,
}

/// An attachment of a volume to an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AttachmentRecord {
    pub id: String,
    /// Name of the group of the service.
    pub instance: String,
    pub instance_id: String,
    /// `iscsi` or `paravirtualized`; `nvme` of EC2.
    pub kind: String,
    pub display_name: String,
    pub device: String,
    pub read_only: bool,
    pub shareable: bool,
    pub agent_login: bool,
    pub login_state: String,
    pub paths: AttachmentPaths,
    /// Secret of the initiators, if CHAP was requested; their name is the identifier of the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chap_secret: Option<String>,
    pub created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// Start of the detachment, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BackupRecord {
    /// `FULL` or `INCREMENTAL`.
    pub kind: String,
    /// Identifier of the volume.
    pub of: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_backup: Option<String>,
    pub size_gb: u64,
    pub description: String,
}

/// A modification of a volume of EC2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Modification {
    pub started_ns: u64,
    /// End of `modifying`, and of `optimizing`.
    pub modified_ns: u64,
    pub ended_ns: u64,
    pub from: Ec2Settings,
    pub to: Ec2Settings,
}

/// Settings of a volume of EC2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ec2Settings {
    pub volume_type: String,
    pub size_gib: u64,
    pub iops: Option<u64>,
    pub throughput: Option<u64>,
}

/// Assignment of a backup policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub id: String,
    pub policy: String,
    pub created: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct VolumeGroupRecord {
    pub id: String,
    pub display_name: String,
    pub compartment: String,
    pub availability_domain: String,
    pub created: String,
    pub source: Value,
    pub volumes: Vec<String>,
    pub freeform_tags: Map<String, Value>,
    pub defined_tags: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Assignment>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GroupBackupRecord {
    pub id: String,
    pub group: String,
    pub display_name: String,
    pub compartment: String,
    pub created: String,
    pub kind: String,
    pub backups: Vec<String>,
    pub size_gb: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// An object that was deleted and is still shown: its last view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeletedObject {
    /// Path segment of its collection, such as `volumes`.
    pub collection: String,
    pub view: Value,
    /// End of the state `TERMINATING`.
    pub until_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkRequest {
    pub operation: String,
    pub compartment: String,
    pub resource: String,
    pub entity: String,
    pub accepted: String,
    pub accepted_ns: u64,
    pub until_ns: u64,
}

/// All objects that are no volumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Objects {
    pub format: String,
    /// Random identity, part of derived identifiers.
    pub identity: String,
    #[serde(default)]
    pub groups: BTreeMap<String, VolumeGroupRecord>,
    #[serde(default)]
    pub group_backups: BTreeMap<String, GroupBackupRecord>,
    #[serde(default)]
    pub ended: BTreeMap<String, DeletedObject>,
    #[serde(default)]
    pub work_requests: BTreeMap<String, WorkRequest>,
}

impl VolumeRecord {
    /// Parses the record in a tag; `None` for a tag of another format.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|record| record.format == VOLUME)
    }

    /// The record as a tag.
    pub fn text(&self) -> String {
        let record = Self { format: VOLUME.to_owned(), ..self.clone() };
        serde_json::to_string(&record).expect("records have string keys and finite numbers")
    }

    /// The attachment in progress or in use.
    pub fn attachment(&self) -> Option<&AttachmentRecord> {
        self.attachments.iter().find(|attachment| attachment.ended_ns.is_none())
    }
}

impl Objects {
    pub fn new(identity: String) -> Self {
        Self { format: OBJECTS.to_owned(), identity, ..Self::default() }
    }

    /// Parses the file; the error is the reason.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let objects: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if objects.format == OBJECTS { Ok(objects) } else { Err(format!("it is of format {:?}", objects.format)) }
    }

    pub fn text(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("records have string keys and finite numbers")
    }
}
