//! Backups of block volumes and boot volumes: snapshots of the service.

use hyper::{Method, StatusCode};
use plimsoll_service::Snapshot;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::OciError;
use super::page::{Compartment, page};
use super::volumes::compartment_in;
use super::{
    OciResult, all_ended, check_etag, display_name, ended, etag, etag_of, find, found, is_repeated, parse, retry,
    tag_map,
};
use crate::cloud::{Held, Operation, gigabytes, is_boot, new_ocid, tags};
use crate::identifiers::kind;
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
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, collection: &str, rest: &[&str]) -> OciResult {
    match (&request.method, rest) {
        (&Method::GET, []) => {
            let all = operation.volumes(Provider::Oci);
            let mut views: Vec<Value> =
                all.iter().filter(|held| is_backup(held, collection)).map(|held| view(operation, held)).collect();
            views.extend(all_ended(operation, collection));
            page(request, views, Compartment::Required)
        }
        (&Method::POST, []) => create(operation, request, collection),
        (&Method::GET, [id]) => match backup(operation, collection, id) {
            Ok(held) => Ok(found(&view(operation, &held), etag(&held))),
            Err(error) => match ended(operation, collection, id) {
                Some(view) => Ok(found(&view, etag_of(id))),
                None => Err(error),
            },
        },
        (&Method::PUT, [id]) => update(operation, request, collection, id),
        (&Method::DELETE, [id]) => delete(operation, request, collection, id),
        (&Method::POST, [id, "actions", "changeCompartment"]) => {
            let compartment = compartment_in(request)?;
            let mut held = backup(operation, collection, id)?;
            held.record.compartment = compartment;
            operation.store(&held)?;
            Ok(Reply::empty(StatusCode::NO_CONTENT))
        }
        (_, [] | [_]) => Err(OciError::method()),
        _ => Err(OciError::no_path()),
    }
}

fn is_backup(held: &Held, collection: &str) -> bool {
    !held.glance.writable && is_boot(&held.glance) == (collection == "bootVolumeBackups")
}

fn backup(operation: &mut Operation<'_>, collection: &str, id: &str) -> Result<Held, OciError> {
    let held = find(operation, id).filter(|held| is_backup(held, collection));
    held.ok_or_else(|| OciError::not_found("volumeBackup", id))
}

/// State of a backup.
pub(super) fn state(held: &Held, now_ns: u64) -> &str {
    Transition::at(held.record.transition.as_ref(), now_ns, "AVAILABLE")
}

fn view(operation: &Operation<'_>, held: &Held) -> Value {
    let Held { glance, record } = held;
    let backup = record.backup.clone().unwrap_or_default();
    let volume = if is_boot(glance) { "bootVolumeId" } else { "volumeId" };
    json!({
        "id": record.id,
        "compartmentId": record.compartment,
        "displayName": record.display_name,
        "lifecycleState": state(held, operation.now_ns),
        "type": backup.kind,
        "sourceType": "MANUAL",
        "sizeInGBs": gigabytes(glance),
        "sizeInMBs": gigabytes(glance) * 1_024,
        "uniqueSizeInGBs": gigabytes(glance),
        "uniqueSizeInMbs": gigabytes(glance) * 1_024,
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

fn create(operation: &mut Operation<'_>, request: &Request, collection: &str) -> OciResult {
    let details: CreateDetails = parse(request)?;
    let retry = retry(operation, request);
    for held in operation.volumes(Provider::Oci) {
        if !held.glance.writable && is_repeated(held.record.retry.as_ref(), retry.as_ref(), operation.now_ns)? {
            return Ok(found(&view(operation, &held), etag(&held)));
        }
    }
    let kind = backup_kind(details.kind)?;
    let volumes = if collection == "bootVolumeBackups" { "bootVolumes" } else { "volumes" };
    let of = super::volumes::volume(operation, volumes, &details.volume_id)?;
    super::volumes::available(&of, operation.now_ns)?;
    let display_name = display_name(details.display_name, "volumebackup", operation)?;
    let mut record = new_record(operation, &of, kind, &display_name);
    record.retry = retry;
    record.kms_key = details.kms_key_id.or(record.kms_key);
    record.freeform_tags = tag_map(details.freeform_tags);
    record.defined_tags = tag_map(details.defined_tags);
    let snapshot = snapshot(operation, &of, &record);
    operation.service().snapshot_all(&[snapshot])?;
    let held = backup(operation, collection, &record.id)?;
    Ok(found(&view(operation, &held), etag(&held)))
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
pub(super) fn new_record(operation: &Operation<'_>, of: &Held, kind: String, display_name: &str) -> VolumeRecord {
    let id_kind = if is_boot(&of.glance) { kind::BOOT_BACKUP } else { kind::BACKUP };
    VolumeRecord {
        provider: Provider::Oci,
        id: new_ocid(operation, id_kind),
        display_name: display_name.to_owned(),
        compartment: of.record.compartment.clone(),
        availability_domain: of.record.availability_domain.clone(),
        created: operation.moment(),
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "CREATING", "oci_backup")),
        kms_key: of.record.kms_key.clone(),
        backup: Some(BackupRecord {
            kind,
            of: of.record.id.clone(),
            size_gb: gigabytes(&of.glance),
            ..BackupRecord::default()
        }),
        ..VolumeRecord::default()
    }
}

/// Snapshot of the service for a backup.
pub(super) fn snapshot(operation: &Operation<'_>, of: &Held, record: &VolumeRecord) -> Snapshot {
    let name = operation.free_name(&record.display_name, "backup");
    Snapshot { of: of.glance.name.clone(), name, tags: tags(record) }
}

fn update(operation: &mut Operation<'_>, request: &Request, collection: &str, id: &str) -> OciResult {
    let mut held = backup(operation, collection, id)?;
    check_etag(request, &etag(&held))?;
    let details: BackupUpdate = parse(request)?;
    if let Some(name) = details.display_name {
        held.record.display_name = display_name(Some(name), "volumebackup", operation)?;
    }
    held.record.freeform_tags = details.freeform_tags.unwrap_or(held.record.freeform_tags);
    held.record.defined_tags = details.defined_tags.unwrap_or(held.record.defined_tags);
    operation.store(&held)?;
    Ok(found(&view(operation, &held), etag(&held)))
}

fn delete(operation: &mut Operation<'_>, request: &Request, collection: &str, id: &str) -> OciResult {
    let held = match backup(operation, collection, id) {
        Ok(held) => held,
        Err(_) if ended(operation, collection, id).is_some() => return Ok(Reply::empty(StatusCode::NO_CONTENT)),
        Err(error) => return Err(error),
    };
    check_etag(request, &etag(&held))?;
    let view = view(operation, &held);
    operation.service().delete(&held.glance.name)?;
    operation.end(collection, id, view)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
