//! Volume groups and their backups: snapshots of several volumes with the content of the same moment.

use hyper::{Method, StatusCode};
use plimsoll_service::Snapshot;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::OciError;
use super::page::{Compartment, known_compartment};
use super::volumes::{any_volume, available, check_replicas, chosen_level, compartment_in, make, new_record};
use super::{
    OciResult, availability_domain, backups, check_etag, display_name, etag_of, find, found, get, is_repeated, list,
    parse, retry,
};
use crate::cloud::{Operation, VolumeEntry, VolumeKind, gigabytes, initial, new_ocid};
use crate::identifiers::kind;
use crate::lifecycle::Transition;
use crate::record::{GroupBackupRecord, VolumeGroupRecord, VolumeSource};
use crate::web::{Reply, Request};

/// Maximum number of volumes of a group, and their size in GB (OCI, Volume Groups, 2026-09-05).
const VOLUMES_MAX: usize = 32;
const GB_MAX: u64 = 128 << 10;
const GROUPS: &str = "volumeGroups";
const BACKUPS: &str = "volumeGroupBackups";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateDetails {
    availability_domain: Option<String>,
    compartment_id: String,
    display_name: Option<String>,
    source_details: GroupSource,
    backup_policy_id: Option<String>,
    freeform_tags: Option<Map<String, Value>>,
    defined_tags: Option<Map<String, Value>>,
    volume_group_replicas: Option<Vec<Value>>,
}

#[derive(Clone, Debug, Deserialize, serde::Serialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum GroupSource {
    #[serde(rename = "volumeIds")]
    Volumes {
        #[serde(rename = "volumeIds")]
        volume_ids: Vec<String>,
    },
    #[serde(rename = "volumeGroupId")]
    Group {
        #[serde(rename = "volumeGroupId")]
        volume_group_id: String,
    },
    #[serde(rename = "volumeGroupBackupId")]
    Backup {
        #[serde(rename = "volumeGroupBackupId")]
        volume_group_backup_id: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GroupUpdate {
    display_name: Option<String>,
    volume_ids: Option<Vec<String>>,
    freeform_tags: Option<Map<String, Value>>,
    defined_tags: Option<Map<String, Value>>,
    volume_group_replicas: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BackupDetails {
    volume_group_id: String,
    compartment_id: Option<String>,
    display_name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "freeformTags")]
    _freeform_tags: Option<Map<String, Value>>,
    #[serde(rename = "definedTags")]
    _defined_tags: Option<Map<String, Value>>,
}

/// Operations of `/volumeGroups`.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, rest: &[&str]) -> OciResult {
    match (&request.method, rest) {
        (&Method::GET, []) => {
            let groups: Vec<VolumeGroupRecord> = operation.state.objects.groups.values().cloned().collect();
            let views = groups.iter().map(|group| group_view(operation, group)).collect();
            list(operation, request, GROUPS, views, Compartment::Required)
        }
        (&Method::POST, []) => create(operation, request),
        (&Method::GET, [id]) => {
            let present = find_group(operation, id).map(|group| (group_view(operation, &group), etag(&group)));
            get(operation, GROUPS, id, present)
        }
        (&Method::PUT, [id]) => update(operation, request, id),
        (&Method::DELETE, [id]) => {
            let group = find_group(operation, id)?;
            check_etag(request, &etag(&group))?;
            let view = group_view(operation, &group);
            operation.state.objects.groups.remove(*id);
            operation.end(GROUPS, id, view)?;
            Ok(Reply::empty(StatusCode::NO_CONTENT))
        }
        (&Method::POST, [id, "actions", "changeCompartment"]) => {
            let compartment = compartment_in(request)?;
            let mut group = find_group(operation, id)?;
            group.compartment = compartment;
            store(operation, group)?;
            Ok(Reply::empty(StatusCode::NO_CONTENT))
        }
        (_, [] | [_]) => Err(OciError::method()),
        _ => Err(OciError::no_path()),
    }
}

fn find_group(operation: &Operation<'_>, id: &str) -> Result<VolumeGroupRecord, OciError> {
    let group = operation.state.objects.groups.get(id).cloned();
    group.ok_or_else(|| OciError::not_found("volumeGroup", id))
}

fn etag(group: &VolumeGroupRecord) -> String {
    etag_of(&serde_json::to_string(group).unwrap_or_default())
}

fn store(operation: &mut Operation<'_>, group: VolumeGroupRecord) -> Result<(), OciError> {
    operation.state.objects.groups.insert(group.id.clone(), group);
    Ok(operation.commit()?)
}

fn group_view(operation: &mut Operation<'_>, group: &VolumeGroupRecord) -> Value {
    // A volume that was deleted elsewhere is no member any more.
    let members: Vec<VolumeEntry> = group.volumes.iter().filter_map(|id| find(operation, id)).collect();
    let size: u64 = members.iter().map(|volume| gigabytes(&volume.summary)).sum();
    let ids: Vec<&String> = members.iter().map(|volume| &volume.record.id).collect();
    json!({
        "id": group.id,
        "availabilityDomain": group.availability_domain,
        "compartmentId": group.compartment,
        "displayName": group.display_name,
        "lifecycleState": Transition::at(group.transition.as_ref(), operation.now_ns, "AVAILABLE"),
        "sizeInGBs": size,
        "sizeInMBs": size * 1_024,
        "sourceDetails": group.source,
        "timeCreated": group.created,
        "volumeIds": ids,
        "isHydrated": members.iter().all(|volume| operation.now_ns >= volume.record.hydrated_ns),
        "volumeGroupReplicas": null,
        "freeformTags": group.freeform_tags,
        "definedTags": group.defined_tags,
    })
}

fn create(operation: &mut Operation<'_>, request: &Request) -> OciResult {
    let details: CreateDetails = parse(request)?;
    check_replicas(details.volume_group_replicas.as_deref())?;
    let retry = retry(operation, request);
    let groups: Vec<VolumeGroupRecord> = operation.state.objects.groups.values().cloned().collect();
    for group in &groups {
        if is_repeated(group.retry.as_ref(), retry.as_ref(), operation.now_ns)? {
            return Ok(found(&group_view(operation, group), etag(group)));
        }
    }
    known_compartment(&details.compartment_id)?;
    let source = serde_json::to_value(&details.source_details).unwrap_or_default();
    let domain = availability_domain(details.availability_domain, operation)?;
    let volumes = match details.source_details {
        GroupSource::Volumes { volume_ids } => {
            check_members(operation, &volume_ids, None)?;
            volume_ids
        }
        GroupSource::Group { volume_group_id } => {
            let of = find_group(operation, &volume_group_id)?.volumes;
            copies(operation, &of, &details.compartment_id, &domain)?
        }
        GroupSource::Backup { volume_group_backup_id } => {
            let of = operation.state.objects.group_backups.get(&volume_group_backup_id).cloned();
            let of = of.ok_or_else(|| OciError::not_found("volumeGroupBackup", &volume_group_backup_id))?;
            copies(operation, &of.backups, &details.compartment_id, &domain)?
        }
    };
    let group = VolumeGroupRecord {
        id: new_ocid(operation, kind::GROUP),
        display_name: display_name(details.display_name, "volumegroup", operation)?,
        compartment: details.compartment_id,
        availability_domain: domain,
        created: operation.moment(),
        source,
        volumes,
        freeform_tags: details.freeform_tags.unwrap_or_default(),
        defined_tags: details.defined_tags.unwrap_or_default(),
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "PROVISIONING", "oci_group_change")),
        retry,
        policy: details.backup_policy_id.map(|id| super::policies::new_assignment(operation, &id)).transpose()?,
    };
    store(operation, group.clone())?;
    Ok(found(&group_view(operation, &group), etag(&group)))
}

/// Checks that volumes can form the group `own`, or a new one.
fn check_members(operation: &mut Operation<'_>, ids: &[String], own: Option<&str>) -> Result<(), OciError> {
    if ids.is_empty() || ids.len() > VOLUMES_MAX {
        return Err(OciError::limit(format!("a volume group has 1 to {VOLUMES_MAX} volumes, not {}", ids.len())));
    }
    let mut size = 0;
    for (at, id) in ids.iter().enumerate() {
        let volume = any_volume(operation, id)?;
        available(&volume, operation.now_ns)?;
        size += gigabytes(&volume.summary);
        let other = operation.state.objects.groups.values().find(|group| group.volumes.contains(id));
        if let Some(other) = other.filter(|group| Some(group.id.as_str()) != own) {
            return Err(OciError::conflict(format!(
                "volume {id} is in the volume group {}: remove it there first",
                other.id
            )));
        }
        if ids[..at].contains(id) {
            return Err(OciError::invalid(format!("volume {id} is named twice")));
        }
    }
    let too_large = || OciError::limit(format!("a volume group has at most {GB_MAX} GB, not {size}"));
    if size > GB_MAX { Err(too_large()) } else { Ok(()) }
}

/// Creates a volume of each source; the new identifiers. Deletes them again if one fails.
fn copies(
    operation: &mut Operation<'_>,
    sources: &[String],
    compartment: &str,
    domain: &str,
) -> Result<Vec<String>, OciError> {
    let mut created: Vec<(String, String)> = Vec::new();
    for id in sources {
        match copy(operation, id, compartment, domain) {
            Ok(copy) => created.push(copy),
            Err(error) => {
                for (_, name) in created {
                    operation.service().delete(&name)?;
                }
                return Err(error);
            }
        }
    }
    Ok(created.into_iter().map(|(id, _)| id).collect())
}

/// Creates a volume with the content of a volume or backup; its identifier and its name in the service.
fn copy(
    operation: &mut Operation<'_>,
    id: &str,
    compartment: &str,
    domain: &str,
) -> Result<(String, String), OciError> {
    let of = find(operation, id).ok_or_else(|| OciError::not_found("source", id))?;
    let kind = VolumeKind::of(&of.summary);
    let source = if of.summary.writable { "volume" } else { "volumeBackup" };
    let source = VolumeSource { kind: source.to_owned(), id: id.to_owned() };
    let names = (of.record.display_name.clone(), compartment.to_owned(), domain.to_owned());
    let record = new_record(operation, kind, names, Some(source));
    let like = format!("{}:{}GB,vpu={}", kind.product(), gigabytes(&of.summary), chosen_level(&of));
    let name = make(operation, &record, Some(&of.summary.name), like, initial(&record))?;
    Ok((record.id, name))
}

fn update(operation: &mut Operation<'_>, request: &Request, id: &str) -> OciResult {
    let mut group = find_group(operation, id)?;
    check_etag(request, &etag(&group))?;
    let details: GroupUpdate = parse(request)?;
    check_replicas(details.volume_group_replicas.as_deref())?;
    if let Some(volumes) = details.volume_ids {
        check_members(operation, &volumes, Some(id))?;
        group.volumes = volumes;
        let transition = operation.cloud.durations.transition(operation.now_ns, "UPDATE_PENDING", "oci_group_change");
        group.transition = Some(transition);
    }
    if let Some(name) = details.display_name {
        group.display_name = display_name(Some(name), "volumegroup", operation)?;
    }
    group.freeform_tags = details.freeform_tags.unwrap_or(group.freeform_tags);
    group.defined_tags = details.defined_tags.unwrap_or(group.defined_tags);
    store(operation, group.clone())?;
    Ok(found(&group_view(operation, &group), etag(&group)))
}

/// Operations of `/volumeGroupBackups`.
pub(super) fn route_backups(operation: &mut Operation<'_>, request: &Request, rest: &[&str]) -> OciResult {
    match (&request.method, rest) {
        (&Method::GET, []) => {
            let backups = operation.state.objects.group_backups.values();
            let views = backups.map(|backup| backup_view(operation, backup)).collect();
            list(operation, request, BACKUPS, views, Compartment::Required)
        }
        (&Method::POST, []) => create_backup(operation, request),
        (&Method::GET, [id]) => {
            let present = operation.state.objects.group_backups.get(*id);
            let present = present.map(|backup| (backup_view(operation, backup), etag_of(id)));
            get(operation, BACKUPS, id, present.ok_or_else(|| OciError::not_found("volumeGroupBackup", id)))
        }
        (&Method::DELETE, [id]) => delete_backup(operation, id),
        (_, [] | [_]) => Err(OciError::method()),
        _ => Err(OciError::no_path()),
    }
}

fn backup_view(operation: &Operation<'_>, backup: &GroupBackupRecord) -> Value {
    json!({
        "id": backup.id,
        "compartmentId": backup.compartment,
        "displayName": backup.display_name,
        "lifecycleState": Transition::at(backup.transition.as_ref(), operation.now_ns, "AVAILABLE"),
        "type": backup.kind,
        "sourceType": "MANUAL",
        "sizeInGBs": backup.size_gb,
        "sizeInMBs": backup.size_gb * 1_024,
        "timeCreated": backup.created,
        "timeRequestReceived": backup.created,
        "volumeGroupId": backup.group,
        "volumeBackupIds": backup.backups,
        "expirationTime": null,
        "freeformTags": {},
        "definedTags": {},
    })
}

fn create_backup(operation: &mut Operation<'_>, request: &Request) -> OciResult {
    let details: BackupDetails = parse(request)?;
    let retry = retry(operation, request);
    for backup in operation.state.objects.group_backups.values() {
        if is_repeated(backup.retry.as_ref(), retry.as_ref(), operation.now_ns)? {
            return Ok(found(&backup_view(operation, backup), etag_of(&backup.id)));
        }
    }
    let group = find_group(operation, &details.volume_group_id)?;
    let kind = backups::backup_kind(details.kind)?;
    if let Some(compartment) = &details.compartment_id {
        known_compartment(compartment)?;
    }
    let id = new_ocid(operation, kind::GROUP_BACKUP);
    let display_name = display_name(details.display_name, "volumegroupbackup", operation)?;
    let (mut snapshots, mut ids, mut size_gb): (Vec<Snapshot>, Vec<String>, u64) = (Vec::new(), Vec::new(), 0);
    for volume in &group.volumes {
        let Some(of) = find(operation, volume) else { continue };
        let name = format!("{display_name}-{}", of.record.display_name);
        let mut record = backups::new_record(operation, &of, kind.clone(), &name);
        if let Some(backup) = &mut record.backup {
            backup.group_backup = Some(id.clone());
        }
        let mut snapshot = backups::new_snapshot(operation, &of, &record);
        if snapshots.iter().any(|other| other.name == snapshot.name) {
            snapshot.name = format!("backup-{}", crate::identifiers::hex(&crate::identifiers::random::<6>()));
        }
        size_gb += gigabytes(&of.summary);
        ids.push(record.id);
        snapshots.push(snapshot);
    }
    operation.service().snapshot_all(&snapshots)?;
    let backup = GroupBackupRecord {
        id: id.clone(),
        group: group.id,
        display_name,
        compartment: details.compartment_id.unwrap_or(group.compartment),
        created: operation.moment(),
        kind,
        backups: ids,
        size_gb,
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "CREATING", "oci_backup")),
        retry,
    };
    let view = backup_view(operation, &backup);
    operation.state.objects.group_backups.insert(id.clone(), backup);
    operation.commit()?;
    Ok(found(&view, etag_of(&id)))
}

fn delete_backup(operation: &mut Operation<'_>, id: &str) -> OciResult {
    let backup = operation.state.objects.group_backups.get(id).cloned();
    let backup = backup.ok_or_else(|| OciError::not_found("volumeGroupBackup", id))?;
    for member in &backup.backups {
        if let Some(volume) = find(operation, member) {
            operation.service().delete(&volume.summary.name)?;
        }
    }
    let view = backup_view(operation, &backup);
    operation.state.objects.group_backups.remove(id);
    operation.end(BACKUPS, id, view)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
