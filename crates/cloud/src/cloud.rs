//! State of the control planes: records of volumes, read from their tags, and all other objects.
//!
//! A lock serialises operations, so that a record and its volume change together. The service is the only source of sizes,
//! levels and groups: a volume that was changed or deleted elsewhere is shown as it is.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use plimsoll_service::{GroupSummary, Initial, Refusal, Service, Tags, VolumeSummary};

use crate::durable;
use crate::identifiers::{self, derived_ec2, derived_ocid, hex, kind, random};
use crate::keys::{Keys, TENANCY};
use crate::lifecycle::Durations;
use crate::record::{
    AttachmentRecord, BackupRecord, DeletedObject, Objects, Provider, TAG, VolumeRecord, VolumeSource,
};

const FILE: &str = "objects.json";

/// Options of the control planes.
#[derive(Clone)]
pub struct Options {
    /// The service whose volumes are controlled.
    pub service: Service,
    /// Directory of keys and objects: see [`state_directory`](crate::state_directory).
    pub directory: PathBuf,
    /// Divisor of all durations of states.
    pub speed_up: u32,
    /// Region in identifiers and views of OCI.
    pub region: String,
    /// Region in identifiers and views of EC2.
    pub ec2_region: String,
}

/// Control planes cannot start.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    /// The state cannot be read or written.
    #[error("the state of the control planes in {}", path.display())]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The state is unreadable.
    #[error(
        "the state of the control planes in {} is unreadable ({why}): move the file away; volumes and their records are kept",
        path.display()
    )]
    Content { path: PathBuf, why: String },
}

/// Control planes of a service. Cheap to clone.
#[derive(Clone)]
pub struct Cloud {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub options: Options,
    pub durations: Durations,
    pub keys: Keys,
    path: PathBuf,
    state: Mutex<CloudState>,
}

#[derive(Debug)]
pub(crate) struct CloudState {
    pub objects: Objects,
    /// Names of volumes by identifier; rebuilt when an identifier is missing.
    index: BTreeMap<String, String>,
}

/// A volume or snapshot with its record.
#[derive(Clone, Debug)]
pub(crate) struct VolumeEntry {
    pub summary: VolumeSummary,
    pub record: VolumeRecord,
}

/// An operation on the state, at a moment.
pub(crate) struct Operation<'c> {
    pub cloud: &'c Inner,
    pub state: MutexGuard<'c, CloudState>,
    /// Nanoseconds since 1970.
    pub now_ns: u64,
}

impl Cloud {
    /// Opens the state, or creates it.
    pub fn open(options: Options) -> Result<Self, CloudError> {
        let directory = options.directory.clone();
        let failed = |path: &PathBuf, source| CloudError::Io { path: path.clone(), source };
        durable::directory(&directory).map_err(|source| failed(&directory, source))?;
        let path = directory.join(FILE);
        let stored = durable::read(&path).map_err(|source| failed(&path, source))?;
        let objects = if let Some(bytes) = stored {
            Objects::read(&bytes).map_err(|why| CloudError::Content { path: path.clone(), why })?
        } else {
            let objects = Objects::new(hex(&random::<16>()));
            durable::replace(&path, &objects.text()).map_err(|source| failed(&path, source))?;
            objects
        };
        let durations = Durations::new(options.speed_up);
        let keys = Keys::new(&directory);
        let state = Mutex::new(CloudState { objects, index: BTreeMap::new() });
        Ok(Self { inner: Arc::new(Inner { options, durations, keys, path, state }) })
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// Begins an operation at the present time.
    pub(crate) fn operation(&self) -> Operation<'_> {
        let state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        Operation { cloud: &self.inner, state, now_ns: unix_time_ns() }
    }
}

impl std::fmt::Debug for Cloud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cloud").field("directory", &self.inner.options.directory).finish_non_exhaustive()
    }
}

/// Nanoseconds since 1970.
pub(crate) fn unix_time_ns() -> u64 {
    u64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(0)
}

/// A moment, RFC 3339 with milliseconds.
pub(crate) fn moment(ns: u64) -> String {
    Timestamp::from_nanosecond(i128::from(ns)).map_or_else(|_| String::new(), |moment| format!("{moment:.3}"))
}

impl Operation<'_> {
    pub fn service(&self) -> &Service {
        &self.cloud.options.service
    }

    pub fn region(&self) -> &str {
        &self.cloud.options.region
    }

    /// The present moment, RFC 3339.
    pub fn moment(&self) -> String {
        moment(self.now_ns)
    }

    /// Makes the objects durable. Drops those that have ended long ago.
    pub fn commit(&mut self) -> Result<(), Refusal> {
        let retention_ns = self.cloud.durations.nanos("ended_objects_are_listed");
        let now_ns = self.now_ns;
        let objects = &mut self.state.objects;
        objects.ended.retain(|_, ended| now_ns < ended.until_ns.saturating_add(retention_ns));
        objects.work_requests.retain(|_, request| now_ns < request.until_ns.saturating_add(retention_ns));
        durable::replace(&self.cloud.path, &objects.text()).map_err(|error| Refusal {
            kind: plimsoll_service::RefusalKind::Failed,
            message: format!("writing {}: {error}", self.cloud.path.display()),
            too_fast: None,
        })
    }

    /// All volumes and snapshots of a provider.
    pub fn volumes(&self, provider: Provider) -> Vec<VolumeEntry> {
        self.service().list_summaries().into_iter().filter_map(|summary| self.build_entry(summary, provider)).collect()
    }

    /// A volume or snapshot by identifier.
    pub fn find(&mut self, id: &str, provider: Provider) -> Option<VolumeEntry> {
        let indexed = self.state.index.get(id).and_then(|name| self.service().find_summary(name));
        if let Some(volume) =
            indexed.and_then(|summary| self.build_entry(summary, provider)).filter(|volume| volume.record.id == id)
        {
            return Some(volume);
        }
        let all = self.volumes(provider);
        let names = all.iter().map(|volume| (volume.record.id.clone(), volume.summary.name.clone()));
        let index: BTreeMap<String, String> = names.collect();
        self.state.index.extend(index);
        let found = all.into_iter().find(|volume| volume.record.id == id);
        if found.is_none() {
            self.state.index.remove(id);
        }
        found
    }

    fn build_entry(&self, summary: VolumeSummary, provider: Provider) -> Option<VolumeEntry> {
        let product = summary.product.as_deref()?;
        let of_product = match product.split('/').next()? {
            "oci" => Provider::Oci,
            "aws" => Provider::Ec2,
            _ => return None,
        };
        if of_product != provider {
            return None;
        }
        let stored = summary.tags.get(TAG).and_then(|text| VolumeRecord::read(text));
        let mut record =
            stored.filter(|record| record.provider == provider).unwrap_or_else(|| self.derived(&summary, provider));
        self.follow_group(&summary, &mut record, provider);
        Some(VolumeEntry { summary, record })
    }

    /// Record of a volume that was created without a control plane.
    fn derived(&self, summary: &VolumeSummary, provider: Provider) -> VolumeRecord {
        let identity = self.state.objects.identity.as_str();
        let [of_volume, of_backup] = match provider {
            Provider::Ec2 => ["vol", "snap"],
            Provider::Oci => VolumeKind::of(summary).identifiers(),
        };
        let kind = if summary.writable { of_volume } else { of_backup };
        let id = match provider {
            Provider::Ec2 => derived_ec2(kind, identity, summary.id),
            Provider::Oci => derived_ocid(kind, self.region(), identity, summary.id),
        };
        let origin = summary.of.as_deref().and_then(|of| self.service().find_summary(of));
        let origin = origin.and_then(|origin| self.build_entry(origin, provider)).map(|volume| volume.record.id);
        let backup = (!summary.writable).then(|| BackupRecord {
            kind: "FULL".to_owned(),
            of: origin.clone().unwrap_or_default(),
            size_gb: gigabytes(summary),
            ..BackupRecord::default()
        });
        let source = origin.filter(|_| summary.writable).map(|id| VolumeSource { kind: "volume".to_owned(), id });
        let mut domains = match provider {
            Provider::Oci => self.availability_domains(),
            Provider::Ec2 => self.zones(),
        };
        VolumeRecord {
            provider,
            id,
            display_name: summary.name.clone(),
            compartment: TENANCY.to_owned(),
            availability_domain: domains.swap_remove(0),
            created: summary.created.clone(),
            source,
            backup,
            ..VolumeRecord::default()
        }
    }

    /// Makes the attachments of a record those that the volume has: a group that it was created in is its instance.
    fn follow_group(&self, summary: &VolumeSummary, record: &mut VolumeRecord, provider: Provider) {
        let present = record.attachment().map(|attachment| attachment.instance.clone());
        if present.as_deref() == summary.group.as_deref() {
            return;
        }
        record.attachments.retain(|attachment| attachment.ended_ns.is_some());
        let Some(group) = summary.group.as_deref() else { return };
        let groups = self.service().list_group_summaries();
        let Some(group) = groups.iter().find(|existing| existing.name == group) else { return };
        let identity = self.state.objects.identity.as_str();
        let (id, kind) = match provider {
            Provider::Oci => (derived_ocid(kind::ATTACHMENT, self.region(), identity, summary.id), "iscsi"),
            Provider::Ec2 => (derived_ec2("att", identity, summary.id), "nvme"),
        };
        record.attachments.push(AttachmentRecord {
            id,
            instance: group.name.clone(),
            instance_id: self.instance_id(group, provider),
            kind: kind.to_owned(),
            display_name: record.display_name.clone(),
            created: record.created.clone(),
            ..AttachmentRecord::default()
        });
    }

    pub fn instance_id(&self, group: &GroupSummary, provider: Provider) -> String {
        let identity = self.state.objects.identity.as_str();
        match provider {
            Provider::Oci => derived_ocid(kind::INSTANCE, self.region(), identity, group.id),
            Provider::Ec2 => derived_ec2("i", identity, group.id),
        }
    }

    /// Instances: groups that are machines of the provider, with their identifiers.
    pub fn instances(&self, provider: Provider) -> Vec<(String, GroupSummary)> {
        let prefix = match provider {
            Provider::Oci => "oci/",
            Provider::Ec2 => "aws/",
        };
        let groups = self.service().list_group_summaries().into_iter().filter(|group| group.like.starts_with(prefix));
        groups.map(|group| (self.instance_id(&group, provider), group)).collect()
    }

    pub fn availability_domains(&self) -> Vec<String> {
        let region = self.region().to_ascii_uppercase();
        (1..=3).map(|number| format!("Plms:{region}-AD-{number}")).collect()
    }

    /// Availability zones of the region of EC2.
    pub fn zones(&self) -> Vec<String> {
        ["a", "b", "c"].map(|zone| format!("{}{zone}", self.cloud.options.ec2_region)).to_vec()
    }

    /// Makes the record of a volume durable.
    pub fn store(&mut self, volume: &VolumeEntry) -> Result<(), Refusal> {
        self.service().set_tag(&volume.summary.name, TAG, volume.record.text())?;
        self.state.index.insert(volume.record.id.clone(), volume.summary.name.clone());
        Ok(())
    }

    /// The held volume as it is now.
    pub fn again(&self, volume: &VolumeEntry) -> Option<VolumeEntry> {
        self.build_entry(self.service().find_summary(&volume.summary.name)?, volume.record.provider)
    }

    /// A free name of the service that resembles a display name.
    pub fn free_name(&self, display_name: &str, usual: &str) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let letters: String = display_name.chars().filter(|letter| plain(*letter)).take(48).collect();
        let name = letters.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let name = if name.is_empty() { usual } else { name };
        let is_free = |name: &str| self.service().find_summary(name).is_none();
        if is_free(name) { name.to_owned() } else { format!("{name}-{}", hex(&random::<4>())) }
    }

    /// Records that an object has ended, before it does.
    pub fn end(&mut self, collection: &str, id: &str, view: serde_json::Value) -> Result<(), Refusal> {
        let until_ns = self.now_ns.saturating_add(self.cloud.durations.nanos("oci_terminating"));
        self.state
            .objects
            .ended
            .insert(id.to_owned(), DeletedObject { collection: collection.to_owned(), view, until_ns });
        self.commit()
    }
}

/// Tags of a new volume or snapshot.
pub(crate) fn tags(record: &VolumeRecord) -> Tags {
    Tags::from([(TAG.to_owned(), record.text())])
}

/// Properties of a new volume.
pub(crate) fn initial(record: &VolumeRecord) -> Initial {
    Initial { tags: tags(record), autotune: None }
}

/// True for boot volumes and their backups.
pub(crate) fn is_boot(summary: &VolumeSummary) -> bool {
    VolumeKind::of(summary) == VolumeKind::Boot
}

/// The two kinds of volumes of OCI, which have collections of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VolumeKind {
    Block,
    Boot,
}

impl VolumeKind {
    /// Kind of a volume or backup.
    pub fn of(summary: &VolumeSummary) -> Self {
        if summary.product.as_deref() == Some(Self::Boot.product()) { Self::Boot } else { Self::Block }
    }

    pub const fn product(self) -> &'static str {
        match self {
            Self::Block => "oci/block-volume",
            Self::Boot => "oci/boot-volume",
        }
    }

    /// Path segments of its volumes and of their backups.
    pub const fn collections(self) -> [&'static str; 2] {
        match self {
            Self::Block => ["volumes", "volumeBackups"],
            Self::Boot => ["bootVolumes", "bootVolumeBackups"],
        }
    }

    /// Kinds of the identifiers of its volumes and of their backups.
    pub const fn identifiers(self) -> [&'static str; 2] {
        match self {
            Self::Block => [kind::VOLUME, kind::BACKUP],
            Self::Boot => [kind::BOOT_VOLUME, kind::BOOT_BACKUP],
        }
    }
}

/// Size in GiB, which the vendors call GB.
pub(crate) fn gigabytes(summary: &VolumeSummary) -> u64 {
    summary.size_bytes.div_ceil(1 << 30)
}

pub(crate) fn new_ocid(operation: &Operation<'_>, kind: &str) -> String {
    identifiers::ocid(kind, operation.region())
}
