//! Snapshots of volumes, and tags of volumes and snapshots.

use plimsoll_service::Snapshot;
use serde_json::{Map, Value};

use super::error::Ec2Error;
use super::query::{Query, selects};
use super::volumes::{tag_set, tag_values};
use super::xml::Element;
use super::{Ec2Result, page};
use crate::cloud::{Operation, VolumeEntry, gigabytes, tags};
use crate::identifiers::ec2;
use crate::lifecycle::Transition;
use crate::record::{BackupRecord, Provider, VolumeRecord};

/// Account that owns all objects.
pub(super) const OWNER: &str = "000000000000";

/// A completed or pending snapshot by identifier.
pub(super) fn find(operation: &mut Operation<'_>, id: &str) -> Result<VolumeEntry, Ec2Error> {
    let volume = operation.find(id, Provider::Ec2).filter(|volume| !volume.summary.writable);
    volume.ok_or_else(|| Ec2Error::no_snapshot(id))
}

fn snapshot_state(volume: &VolumeEntry, now_ns: u64) -> &str {
    Transition::at(volume.record.transition.as_ref(), now_ns, "completed")
}

/// Fields of a snapshot. `state_name` is the element of its state: `status`, but `state` in the reply to `CreateSnapshots`.
fn fields(operation: &Operation<'_>, volume: &VolumeEntry, state_name: &'static str) -> Vec<Element> {
    let backup = volume.record.backup.clone().unwrap_or_default();
    let state = snapshot_state(volume, operation.now_ns);
    vec![
        Element::text("snapshotId", &volume.record.id),
        Element::text("volumeId", &backup.of),
        Element::text(state_name, state),
        Element::text("startTime", &volume.record.created),
        Element::text("progress", if state == "completed" { "100%" } else { "0%" }),
        Element::text("ownerId", OWNER),
        Element::text("volumeSize", gigabytes(&volume.summary)),
        Element::text("description", &backup.description),
        Element::text("encrypted", false),
        Element::text("storageTier", "standard"),
        Element::set("tagSet", tag_set(&volume.record.freeform_tags)),
    ]
}

/// `CreateSnapshot`.
pub(super) fn create(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId", "Description", "TagSpecification."])?;
    let of = super::volumes::find(operation, query.required("VolumeId")?)?;
    query.end_dry_run()?;
    let record = new_record(operation, query, &of);
    let taken = take(operation, &[(of, record)])?;
    Ok(taken.iter().flat_map(|volume| fields(operation, volume, "status")).collect())
}

/// `CreateSnapshots`: of all volumes of an instance, at the same moment.
pub(super) fn create_several(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["InstanceSpecification.", "Description", "TagSpecification.", "CopyTagsFromSource"])?;
    let instance = query.required("InstanceSpecification.InstanceId")?;
    if !operation.instances(Provider::Ec2).iter().any(|(id, _)| id == instance) {
        return Err(Ec2Error::no_instance(instance));
    }
    let excluded = query.list("InstanceSpecification.ExcludeDataVolumeId");
    let copies_tags = match query.get("CopyTagsFromSource") {
        None => false,
        Some("volume") => true,
        Some(_) => return Err(Ec2Error::value("CopyTagsFromSource is volume.")),
    };
    let is_attached = |volume: &VolumeEntry| {
        let attached = super::volumes::find_attachment(volume, operation.now_ns);
        attached.is_some_and(|(attachment, _)| attachment.instance_id == instance)
    };
    let mut volumes = operation.volumes(Provider::Ec2);
    volumes.retain(|volume| is_attached(volume) && !excluded.contains(&volume.record.id.as_str()));
    if volumes.is_empty() {
        return Err(Ec2Error::state(format!("The instance {instance} has no volumes to take snapshots of.")));
    }
    query.end_dry_run()?;
    let with_record = |of: VolumeEntry| {
        let mut record = new_record(operation, query, &of);
        if copies_tags {
            let own = std::mem::replace(&mut record.freeform_tags, of.record.freeform_tags.clone());
            record.freeform_tags.extend(own);
        }
        (of, record)
    };
    let sources: Vec<(VolumeEntry, VolumeRecord)> = volumes.into_iter().map(with_record).collect();
    let taken = take(operation, &sources)?;
    let items = taken.iter().map(|volume| Element::item(fields(operation, volume, "state")));
    Ok(vec![Element::set("snapshotSet", items.collect())])
}

/// `CopySnapshot`, within the region of the service.
pub(super) fn copy(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&[
        "SourceRegion",
        "SourceSnapshotId",
        "Description",
        "DestinationRegion",
        "PresignedUrl",
        "Encrypted",
        "TagSpecification.",
    ])?;
    let region = &operation.cloud.options.ec2_region;
    for name in ["SourceRegion", "DestinationRegion"] {
        if let Some(other) = query.get(name).filter(|other| other != region) {
            let displayed: String = other.chars().take(100).collect();
            return Err(Ec2Error::value(format!("{name} {displayed}: the service has {region} only.")));
        }
    }
    if query.is_true("Encrypted") {
        return Err(Ec2Error::new("UnsupportedOperation", "Encrypted: encryption is not emulated here"));
    }
    let of = find(operation, query.required("SourceSnapshotId")?)?;
    query.end_dry_run()?;
    let mut record = new_record(operation, query, &of);
    if let (Some(backup), Some(source)) = (&mut record.backup, &of.record.backup) {
        backup.of.clone_from(&source.of);
    }
    let id = record.id.clone();
    take(operation, &[(of, record)])?;
    Ok(vec![Element::text("snapshotId", id)])
}

fn new_record(operation: &Operation<'_>, query: &Query, of: &VolumeEntry) -> VolumeRecord {
    VolumeRecord {
        provider: Provider::Ec2,
        id: ec2("snap"),
        availability_domain: of.record.availability_domain.clone(),
        created: operation.moment(),
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "pending", "ec2_snapshot")),
        freeform_tags: query.tags("snapshot"),
        backup: Some(BackupRecord {
            of: of.record.id.clone(),
            size_gb: gigabytes(&of.summary),
            description: query.get("Description").unwrap_or_default().chars().take(255).collect(),
            ..BackupRecord::default()
        }),
        ..VolumeRecord::default()
    }
}

/// Takes snapshots at the same moment.
fn take(operation: &mut Operation<'_>, sources: &[(VolumeEntry, VolumeRecord)]) -> Result<Vec<VolumeEntry>, Ec2Error> {
    let snapshot = |(of, record): &(VolumeEntry, VolumeRecord)| Snapshot {
        of: of.summary.name.clone(),
        name: operation.free_name(&record.id, "snapshot"),
        tags: tags(record),
    };
    let snapshots: Vec<Snapshot> = sources.iter().map(snapshot).collect();
    operation.service().snapshot_all(&snapshots)?;
    sources.iter().map(|(_, record)| find(operation, &record.id)).collect()
}

/// `DescribeSnapshots`.
pub(super) fn describe(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["SnapshotId.", "Filter.", "Owner.", "RestorableBy.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let (requested, filters) = (query.list("SnapshotId"), query.filters());
    if query.list("Owner").iter().any(|owner| !["self", OWNER].contains(owner)) {
        return page(query, "snapshotSet", Vec::new());
    }
    let snapshots = match requested.as_slice() {
        [] => operation.volumes(Provider::Ec2).into_iter().filter(|volume| !volume.summary.writable).collect(),
        ids => ids.iter().map(|id| find(operation, id)).collect::<Result<Vec<VolumeEntry>, Ec2Error>>()?,
    };
    let mut items = Vec::new();
    for volume in &snapshots {
        let backup = volume.record.backup.clone().unwrap_or_default();
        let is_selected = selects(&filters, |name| match name {
            "snapshot-id" => Some(vec![volume.record.id.clone()]),
            "volume-id" => Some(vec![backup.of.clone()]),
            "status" => Some(vec![snapshot_state(volume, operation.now_ns).to_owned()]),
            "volume-size" => Some(vec![gigabytes(&volume.summary).to_string()]),
            "owner-id" => Some(vec![OWNER.to_owned()]),
            "description" => Some(vec![backup.description.clone()]),
            name => tag_values(&volume.record.freeform_tags, name),
        })?;
        if is_selected {
            items.push(Element::item(fields(operation, volume, "status")));
        }
    }
    page(query, "snapshotSet", items)
}

/// `DeleteSnapshot`.
pub(super) fn delete(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["SnapshotId"])?;
    let volume = find(operation, query.required("SnapshotId")?)?;
    query.end_dry_run()?;
    operation.service().delete(&volume.summary.name)?;
    Ok(vec![Element::text("return", true)])
}

/// `CreateTags`.
pub(super) fn set_tags(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    let new = query.plain_tags("Tag");
    change_tags(operation, query, |tags| tags.extend(new.clone()))
}

/// `DeleteTags`: those of a key, or of a key and a value; without keys all but those of AWS.
pub(super) fn remove_tags(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    let selectors = query.tag_selectors("Tag");
    let is_selected = |key: &str, value: &Value| match selectors.as_slice() {
        [] => !key.starts_with("aws:"),
        all => all.iter().any(|(name, expected)| *name == key && expected.is_none_or(|expected| value == expected)),
    };
    change_tags(operation, query, |tags| tags.retain(|key, value| !is_selected(key, value)))
}

fn change_tags(operation: &mut Operation<'_>, query: &Query, change: impl Fn(&mut Map<String, Value>)) -> Ec2Result {
    query.only(&["ResourceId.", "Tag."])?;
    query.required("ResourceId.1")?;
    let found = |id: &str| {
        let found = operation.find(id, Provider::Ec2);
        found.ok_or_else(|| Ec2Error::new("InvalidID", format!("The ID '{id}' is not valid")))
    };
    let found: Vec<VolumeEntry> = query.list("ResourceId").into_iter().map(found).collect::<Result<_, _>>()?;
    query.end_dry_run()?;
    for mut volume in found {
        change(&mut volume.record.freeform_tags);
        operation.store(&volume)?;
    }
    Ok(vec![Element::text("return", true)])
}
