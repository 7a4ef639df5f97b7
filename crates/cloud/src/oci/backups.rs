//! Backups of block volumes and boot volumes: snapshots of the service.

use hyper::{Method, StatusCode};
use plimsoll_service::Snapshot;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::OciError;
use super::page::Compartment;
use super::volumes::{compartment_in, move_to};
use super::{
    OciResult, check_etag, compute_etag, created_before, deleted_before, display_name, find, found, get, list, parse,
    retry,
};
use crate::cloud::{Operation, VolumeEntry, VolumeKind, gigabytes, is_boot, new_ocid, tags};
use crate::lifecycle::Transition;
use crate::record::{BackupRecord, Provider, VolumeRecord};
use crate::web::{Reply, Request};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateDetails {
    #[serde(alias = "bootVolumeId")]
    volume_id: String,
    display_name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    kms_key_id: Option<String>,
    freeform_tags: Option<Map<String, Value>>,
    defined_tags: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BackupUpdate {
    display_name: Option<String>,
    freeform_tags: Option<Map<String, Value>>,
    defined_tags: Option<Map<String, Value>>,
}

/// Operations of `/volumeBackups` and `/bootVolumeBackups`.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, rest: &[&str]) -> OciResult {
    let [_, collection] = kind.collections();
    match (&request.method, rest) {
        (&Method::GET, []) => {
            let all = operation.volumes(Provider::Oci);
            let backups = all.iter().filter(|volume| is_backup(volume, kind));
            let views = backups.map(|volume| backup_view(operation, volume)).collect();
            list(operation, request, collection, views, Compartment::Required)
        }
        (&Method::POST, []) => create(operation, request, kind),
        (&Method::GET, [id]) => {
            let present =
                find_backup(operation, kind, id).map(|volume| (backup_view(operation, &volume), compute_etag(&volume)));
            get(operation, collection, id, present)
        }
        (&Method::PUT, [id]) => update(operation, request, kind, id),
        (&Method::DELETE, [id]) => delete(operation, request, kind, id),
        (&Method::POST, [id, "actions", "changeCompartment"]) => {
            let compartment = compartment_in(request)?;
            let volume = find_backup(operation, kind, id)?;
            move_to(operation, volume, compartment)
        }
        (_, [] | [_]) => Err(OciError::method()),
        _ => Err(OciError::no_path()),
    }
}

fn is_backup(volume: &VolumeEntry, kind: VolumeKind) -> bool {
    !volume.summary.writable && VolumeKind::of(&volume.summary) == kind
}

fn find_backup(operation: &mut Operation<'_>, kind: VolumeKind, id: &str) -> Result<VolumeEntry, OciError> {
    let volume = find(operation, id).filter(|volume| is_backup(volume, kind));
    volume.ok_or_else(|| OciError::not_found("volumeBackup", id))
}

pub(super) fn state(volume: &VolumeEntry, now_ns: u64) -> &str {
    Transition::at(volume.record.transition.as_ref(), now_ns, "AVAILABLE")
}

fn backup_view(operation: &Operation<'_>, steady: &VolumeEntry) -> Value {
    let VolumeEntry { summary, record } = steady;
    let backup = record.backup.clone().unwrap_or_default();
    let volume = if is_boot(summary) { "bootVolumeId" } else { "volumeId" };
    json!({
        "id": record.id,
        "compartmentId": record.compartment,
        "displayName": record.display_name,
        "lifecycleState": state(steady, operation.now_ns),
        "type": backup.kind,
        "sourceType": "MANUAL",
        "sizeInGBs": gigabytes(summary),
        "sizeInMBs": gigabytes(summary) * 1_024,
        "uniqueSizeInGBs": gigabytes(summary),
        "uniqueSizeInMbs": gigabytes(summary) * 1_024,
        "timeCreated": record.created,
        "timeRequestReceived": record.created,
        "expirationTime": null,
        "sourceVolumeBackupId": null,
        "volumeGroupBackupId": backup.group_backup,
        "kmsKeyId": record.kms_key,
        "freeformTags": record.freeform_tags,
        "definedTags": record.defined_tags,
        "systemTags": {},
        volume: backup.of,
    })
}

fn create(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind) -> OciResult {
    let details: CreateDetails = parse(request)?;
    let retry = retry(operation, request);
    if let Some(volume) = created_before(operation, retry.as_ref(), |volume| !volume.summary.writable)? {
        return Ok(found(&backup_view(operation, &volume), compute_etag(&volume)));
    }
    let backup_type = backup_kind(details.kind)?;
    let of = super::volumes::volume(operation, kind, &details.volume_id)?;
    super::volumes::available(&of, operation.now_ns)?;
    let display_name = display_name(details.display_name, "volumebackup", operation)?;
    let mut record = new_record(operation, &of, backup_type, &display_name);
    record.retry = retry;
    record.kms_key = details.kms_key_id.or(record.kms_key);
    record.freeform_tags = details.freeform_tags.unwrap_or_default();
    record.defined_tags = details.defined_tags.unwrap_or_default();
    let snapshot = new_snapshot(operation, &of, &record);
    operation.service().snapshot_all(&[snapshot])?;
    let volume = find_backup(operation, kind, &record.id)?;
    Ok(found(&backup_view(operation, &volume), compute_etag(&volume)))
}

/// `FULL` or `INCREMENTAL`, the default.
pub(super) fn backup_kind(given: Option<String>) -> Result<String, OciError> {
    match given.as_deref() {
        None => Ok("INCREMENTAL".to_owned()),
        Some("FULL" | "INCREMENTAL") => Ok(given.unwrap_or_default()),
        Some(other) => Err(OciError::invalid(format!("type {other}: write FULL or INCREMENTAL"))),
    }
}

/// Record of a new backup of a volume.
pub(super) fn new_record(
    operation: &Operation<'_>,
    of: &VolumeEntry,
    kind: String,
    display_name: &str,
) -> VolumeRecord {
    VolumeRecord {
        provider: Provider::Oci,
        id: new_ocid(operation, VolumeKind::of(&of.summary).identifiers()[1]),
        display_name: display_name.to_owned(),
        compartment: of.record.compartment.clone(),
        availability_domain: of.record.availability_domain.clone(),
        created: operation.moment(),
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "CREATING", "oci_backup")),
        kms_key: of.record.kms_key.clone(),
        backup: Some(BackupRecord {
            kind,
            of: of.record.id.clone(),
            size_gb: gigabytes(&of.summary),
            ..BackupRecord::default()
        }),
        ..VolumeRecord::default()
    }
}

/// Snapshot of the service for a backup.
pub(super) fn new_snapshot(operation: &Operation<'_>, of: &VolumeEntry, record: &VolumeRecord) -> Snapshot {
    let name = operation.free_name(&record.display_name, "backup");
    Snapshot { of: of.summary.name.clone(), name, tags: tags(record) }
}

fn update(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, id: &str) -> OciResult {
    let mut volume = find_backup(operation, kind, id)?;
    check_etag(request, &compute_etag(&volume))?;
    let details: BackupUpdate = parse(request)?;
    if let Some(name) = details.display_name {
        volume.record.display_name = display_name(Some(name), "volumebackup", operation)?;
    }
    volume.record.freeform_tags = details.freeform_tags.unwrap_or(volume.record.freeform_tags);
    volume.record.defined_tags = details.defined_tags.unwrap_or(volume.record.defined_tags);
    operation.store(&volume)?;
    Ok(found(&backup_view(operation, &volume), compute_etag(&volume)))
}

fn delete(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, id: &str) -> OciResult {
    let [_, collection] = kind.collections();
    let volume = match find_backup(operation, kind, id) {
        Ok(volume) => volume,
        Err(error) => return deleted_before(operation, collection, id, error),
    };
    check_etag(request, &compute_etag(&volume))?;
    let view = backup_view(operation, &volume);
    operation.service().delete(&volume.summary.name)?;
    operation.end(collection, id, view)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
