//! Block volumes and boot volumes.

use hyper::{Method, StatusCode};
use plimsoll_service::Initial;
use plimsoll_service::api::{Create, Fork, Level, Resize};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::autotune::{self, AutotunePolicy, Policies};
use super::error::OciError;
use super::page::{Compartment, known_compartment};
use super::{
    OciResult, availability_domain, check_etag, compute_etag, created_before, deleted_before, display_name, find,
    found, get, list, only, parse, retry,
};
use crate::cloud::{Operation, VolumeEntry, VolumeKind, gigabytes, initial, is_boot, new_ocid};
use crate::lifecycle::Transition;
use crate::record::{Provider, VolumeRecord, VolumeSource};
use crate::web::{Reply, Request};

/// Level from which a volume is Ultra High Performance.
pub(super) const UHP_VPUS: u32 = 30;
/// Default level: Balanced.
const DEFAULT_VPUS: u32 = 10;
/// Default size of a new volume.
const DEFAULT_GB: u64 = 1_024;
/// Largest size; the catalogue has the bounds of the product.
const SIZE_MAX_GB: u64 = 1 << 20;
const AVAILABLE: &str = "AVAILABLE";
const PROVISIONING: &str = "PROVISIONING";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateDetails {
    compartment_id: Option<String>,
    availability_domain: Option<String>,
    display_name: Option<String>,
    #[serde(rename = "vpusPerGB")]
    vpus_per_gb: Option<u32>,
    #[serde(rename = "sizeInGBs")]
    size_in_gbs: Option<u64>,
    #[serde(rename = "sizeInMBs")]
    size_in_mbs: Option<u64>,
    source_details: Option<SourceDetails>,
    volume_backup_id: Option<String>,
    backup_policy_id: Option<String>,
    autotune_policies: Option<Vec<AutotunePolicy>>,
    is_auto_tune_enabled: Option<bool>,
    kms_key_id: Option<String>,
    freeform_tags: Option<Map<String, Value>>,
    defined_tags: Option<Map<String, Value>>,
    #[serde(alias = "bootVolumeReplicas")]
    block_volume_replicas: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VolumeUpdate {
    display_name: Option<String>,
    #[serde(rename = "vpusPerGB")]
    vpus_per_gb: Option<u32>,
    #[serde(rename = "sizeInGBs")]
    size_in_gbs: Option<u64>,
    autotune_policies: Option<Vec<AutotunePolicy>>,
    is_auto_tune_enabled: Option<bool>,
    freeform_tags: Option<Map<String, Value>>,
    defined_tags: Option<Map<String, Value>>,
    #[serde(alias = "bootVolumeReplicas")]
    block_volume_replicas: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceDetails {
    #[serde(rename = "type")]
    kind: String,
    id: String,
}

/// Operations of `/volumes` and `/bootVolumes`.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, rest: &[&str]) -> OciResult {
    let [collection, _] = kind.collections();
    match (&request.method, rest) {
        (&Method::GET, []) => {
            let all = operation.volumes(Provider::Oci);
            let volumes = all.iter().filter(|steady| is_volume(steady, kind));
            let views = volumes.map(|steady| volume_view(operation, steady)).collect();
            list(operation, request, collection, views, Compartment::Optional)
        }
        (&Method::POST, []) => create(operation, request, kind),
        (&Method::GET, [id]) => {
            let present =
                volume(operation, kind, id).map(|steady| (volume_view(operation, &steady), compute_etag(&steady)));
            get(operation, collection, id, present)
        }
        (&Method::PUT, [id]) => update(operation, request, kind, id),
        (&Method::DELETE, [id]) => delete(operation, request, kind, id),
        (&Method::GET, [id, "kmsKey"]) => {
            let steady = volume(operation, kind, id)?;
            Ok(found(&json!({ "kmsKeyId": steady.record.kms_key }), compute_etag(&steady)))
        }
        (&Method::PUT | &Method::DELETE, [id, "kmsKey"]) => set_kms_key(operation, request, kind, id),
        (&Method::POST, [id, "actions", "changeCompartment"]) => {
            let compartment = compartment_in(request)?;
            let steady = volume(operation, kind, id)?;
            move_to(operation, steady, compartment)
        }
        (_, [] | [_] | [_, "kmsKey"]) => Err(OciError::method()),
        _ => Err(only(request, &[Method::GET, Method::POST, Method::PUT, Method::DELETE])),
    }
}

/// A volume of a collection by identifier.
pub(super) fn volume(operation: &mut Operation<'_>, kind: VolumeKind, id: &str) -> Result<VolumeEntry, OciError> {
    let steady = find(operation, id).filter(|steady| is_volume(steady, kind));
    steady.ok_or_else(|| OciError::not_found("volume", id))
}

fn is_volume(steady: &VolumeEntry, kind: VolumeKind) -> bool {
    steady.summary.writable && VolumeKind::of(&steady.summary) == kind
}

/// A block volume or boot volume that exists.
pub(super) fn any_volume(operation: &mut Operation<'_>, id: &str) -> Result<VolumeEntry, OciError> {
    let steady = find(operation, id).filter(|steady| steady.summary.writable);
    steady.ok_or_else(|| OciError::not_found("volume", id))
}

pub(super) fn volume_state(steady: &VolumeEntry, now_ns: u64) -> &str {
    Transition::at(steady.record.transition.as_ref(), now_ns, AVAILABLE)
}

/// Refused unless a volume is available.
pub(super) fn available(steady: &VolumeEntry, now_ns: u64) -> Result<(), OciError> {
    let state = volume_state(steady, now_ns);
    let refusal = || OciError::state(format!("volume {} is {state}: wait until it is AVAILABLE", steady.record.id));
    if state == AVAILABLE { Ok(()) } else { Err(refusal()) }
}

/// The level that the client has chosen; autotune may have changed the present level.
pub(super) fn chosen_level(steady: &VolumeEntry) -> u32 {
    let autotune = steady.summary.autotune.as_ref().and_then(|autotune| autotune.default);
    autotune.or(steady.summary.rests_from).or(steady.summary.level).unwrap_or(DEFAULT_VPUS)
}

/// A volume as clients see it.
pub(super) fn volume_view(operation: &Operation<'_>, steady: &VolumeEntry) -> Value {
    let VolumeEntry { summary, record } = steady;
    let size = gigabytes(summary);
    let volume_group = operation.state.objects.groups.values().find(|group| group.volumes.contains(&record.id));
    let source = record.source.as_ref().map(|source| json!({ "type": source.kind, "id": source.id }));
    let mut view = json!({
        "id": record.id,
        "compartmentId": record.compartment,
        "availabilityDomain": record.availability_domain,
        "displayName": record.display_name,
        "lifecycleState": volume_state(steady, operation.now_ns),
        "sizeInGBs": size,
        "sizeInMBs": size * 1_024,
        "vpusPerGB": chosen_level(steady),
        "autoTunedVpusPerGB": summary.level,
        "isAutoTuneEnabled": record.autotune.iter().any(|policy| policy["autotuneType"] == "DETACHED_VOLUME"),
        "autotunePolicies": record.autotune,
        "isHydrated": operation.now_ns >= record.hydrated_ns,
        "kmsKeyId": record.kms_key,
        "sourceDetails": source,
        "volumeGroupId": volume_group.map(|group| &group.id),
        "timeCreated": record.created,
        "freeformTags": record.freeform_tags,
        "definedTags": record.defined_tags,
        "systemTags": {},
    });
    if is_boot(summary) {
        view["imageId"] = Value::Null;
        view["bootVolumeReplicas"] = Value::Null;
    } else {
        view["blockVolumeReplicas"] = Value::Null;
        view["isReservationsEnabled"] = false.into();
    }
    view
}

/// Source of a new volume, and the values that it inherits.
struct Origin {
    source: Option<VolumeSource>,
    /// Name of the volume or snapshot in the service.
    of: Option<String>,
    compartment: Option<String>,
    size_gb: u64,
    level: u32,
}

fn create(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind) -> OciResult {
    let details: CreateDetails = parse(request)?;
    check_replicas(details.block_volume_replicas.as_deref())?;
    let retry = retry(operation, request);
    if let Some(steady) = created_before(operation, retry.as_ref(), |steady| steady.summary.writable)? {
        return Ok(found(&volume_view(operation, &steady), compute_etag(&steady)));
    }
    let origin = read_origin(operation, &details)?;
    if kind == VolumeKind::Boot && origin.source.is_none() {
        return Err(OciError::invalid("a boot volume is created from a boot volume or a backup: give sourceDetails"));
    }
    let compartment =
        details.compartment_id.or(origin.compartment).ok_or_else(|| OciError::missing("compartmentId"))?;
    known_compartment(&compartment)?;
    let level = details.vpus_per_gb.unwrap_or(origin.level);
    let size = read_size(details.size_in_gbs, details.size_in_mbs)?.unwrap_or(origin.size_gb);
    if size < origin.size_gb && origin.of.is_some() {
        return Err(OciError::invalid(format!("sizeInGBs is {size}, and its source has {} GB", origin.size_gb)));
    }
    let policies = Policies::new(details.autotune_policies, &[], details.is_auto_tune_enabled);
    let usual = if kind == VolumeKind::Boot { "bootvolume" } else { "volume" };
    let name = display_name(details.display_name, usual, operation)?;
    let domain = availability_domain(details.availability_domain, operation)?;
    let record = VolumeRecord {
        autotune: policies.views(),
        freeform_tags: details.freeform_tags.unwrap_or_default(),
        defined_tags: details.defined_tags.unwrap_or_default(),
        retry,
        kms_key: details.kms_key_id,
        policy: details.backup_policy_id.map(|id| super::policies::new_assignment(operation, &id)).transpose()?,
        ..new_record(operation, kind, (name, compartment, domain), origin.source)
    };
    let initial = Initial { autotune: policies.automation(operation, level)?, ..initial(&record) };
    make(operation, &record, origin.of.as_deref(), format!("{}:{size}GB,vpu={level}", kind.product()), initial)?;
    let steady = find(operation, &record.id).ok_or_else(|| OciError::not_found("volume", &record.id))?;
    Ok(found(&volume_view(operation, &steady), compute_etag(&steady)))
}

/// Refuses replicas of a volume or group.
pub(super) fn check_replicas(replicas: Option<&[Value]>) -> Result<(), OciError> {
    match replicas {
        None | Some([]) => Ok(()),
        Some(_) => Err(OciError::invalid(
            "replicas are in another region or availability domain and are not emulated: give none, or an empty list",
        )),
    }
}

/// Record of a new volume with this display name, compartment and availability domain.
pub(super) fn new_record(
    operation: &Operation<'_>,
    kind: VolumeKind,
    (display_name, compartment, availability_domain): (String, String, String),
    source: Option<VolumeSource>,
) -> VolumeRecord {
    let (durations, now_ns) = (&operation.cloud.durations, operation.now_ns);
    let is_clone = source.as_ref().is_some_and(|source| !source.kind.ends_with("Backup"));
    VolumeRecord {
        provider: Provider::Oci,
        id: new_ocid(operation, kind.identifiers()[0]),
        display_name,
        compartment,
        availability_domain,
        created: operation.moment(),
        source,
        transition: Some(durations.transition(now_ns, PROVISIONING, "oci_volume_provisioning")),
        hydrated_ns: if is_clone { now_ns.saturating_add(durations.nanos("oci_hydration")) } else { now_ns },
        ..VolumeRecord::default()
    }
}

/// Creates the volume of a record, empty or with the content of `of`; its name in the service.
pub(super) fn make(
    operation: &Operation<'_>,
    record: &VolumeRecord,
    of: Option<&str>,
    like: String,
    initial: Initial,
) -> Result<String, OciError> {
    let name = operation.free_name(&record.display_name, "volume");
    match of {
        None => operation.service().create_with(&Create { name: name.clone(), like, ..Create::default() }, initial)?,
        Some(of) => operation.service().clone_with(of, &Fork { name: name.clone(), like: Some(like) }, initial)?,
    };
    Ok(name)
}

fn read_origin(operation: &mut Operation<'_>, details: &CreateDetails) -> Result<Origin, OciError> {
    let source = match (&details.source_details, &details.volume_backup_id) {
        (Some(SourceDetails { kind, id }), None) => Some((kind.clone(), id.clone())),
        (None, Some(id)) => Some(("volumeBackup".to_owned(), id.clone())),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(OciError::invalid("give sourceDetails or volumeBackupId, not both")),
    };
    let Some((kind, id)) = source else {
        return Ok(Origin { source: None, of: None, compartment: None, size_gb: DEFAULT_GB, level: DEFAULT_VPUS });
    };
    let is_backup = match kind.as_str() {
        "volume" | "bootVolume" => false,
        "volumeBackup" | "bootVolumeBackup" => true,
        _ => return Err(OciError::invalid(format!("sourceDetails.type {kind}: write volume or volumeBackup"))),
    };
    let steady = find(operation, &id).filter(|steady| steady.summary.writable != is_backup);
    let steady = steady.ok_or_else(|| OciError::not_found("source", &id))?;
    let available_since = if is_backup {
        super::backups::state(&steady, operation.now_ns)
    } else {
        volume_state(&steady, operation.now_ns)
    };
    if available_since != AVAILABLE {
        return Err(OciError::state(format!("{id} is {available_since}: wait until it is AVAILABLE")));
    }
    Ok(Origin {
        source: Some(VolumeSource { kind, id }),
        compartment: Some(steady.record.compartment.clone()),
        size_gb: gigabytes(&steady.summary),
        level: chosen_level(&steady),
        of: Some(steady.summary.name),
    })
}

fn read_size(gbs: Option<u64>, mbs: Option<u64>) -> Result<Option<u64>, OciError> {
    match (gbs, mbs) {
        (Some(_), Some(_)) => Err(OciError::invalid("give sizeInGBs or sizeInMBs, not both")),
        (None, Some(mbs)) if mbs % 1_024 != 0 => Err(OciError::invalid("sizeInMBs is a multiple of 1,024")),
        (gbs, mbs) => match gbs.or(mbs.map(|mbs| mbs / 1_024)) {
            Some(size) if size > SIZE_MAX_GB => {
                Err(OciError::invalid(format!("sizeInGBs is {size}: at most {SIZE_MAX_GB}")))
            }
            size => Ok(size),
        },
    }
}

fn update(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, id: &str) -> OciResult {
    let mut steady = volume(operation, kind, id)?;
    check_etag(request, &compute_etag(&steady))?;
    let details: VolumeUpdate = parse(request)?;
    check_replicas(details.block_volume_replicas.as_deref())?;
    // Everything is checked before anything is changed.
    let (now_ns, present) = (operation.now_ns, gigabytes(&steady.summary));
    let before = chosen_level(&steady);
    let level = details.vpus_per_gb.unwrap_or(before);
    let size = read_size(details.size_in_gbs, None)?.filter(|size| *size != present);
    if let Some(size) = size.filter(|size| *size < present) {
        return Err(OciError::invalid(format!("sizeInGBs is {size}: a volume of {present} GB only grows")));
    }
    let changes_policies = details.autotune_policies.is_some() || details.is_auto_tune_enabled.is_some();
    let changes_volume = level != before || size.is_some() || changes_policies;
    if changes_volume {
        available(&steady, now_ns)?;
    }
    if let Some(name) = details.display_name {
        steady.record.display_name = display_name(Some(name), "volume", operation)?;
    }
    steady.record.freeform_tags = details.freeform_tags.unwrap_or(steady.record.freeform_tags);
    steady.record.defined_tags = details.defined_tags.unwrap_or(steady.record.defined_tags);
    let policies = Policies::new(details.autotune_policies, &steady.record.autotune, details.is_auto_tune_enabled);
    steady.record.autotune = policies.views();
    let automation = policies.automation(operation, level)?;
    if level != before {
        change_level(operation, &steady, level)?;
        steady.record.transition = Some(operation.cloud.durations.transition(now_ns, PROVISIONING, "oci_level_change"));
    }
    if changes_policies || level != before {
        autotune::set(operation, &steady, automation)?;
    }
    if let Some(size) = size {
        operation.service().resize(&steady.summary.name, &Resize::to_bytes(size << 30))?;
        steady.record.transition = Some(operation.cloud.durations.transition(now_ns, PROVISIONING, "oci_resize"));
    }
    operation.store(&steady)?;
    let steady = operation.again(&steady).unwrap_or(steady);
    Ok(found(&volume_view(operation, &steady), compute_etag(&steady)))
}

/// Changes the level; the service has the vendor's rule for attached volumes.
fn change_level(operation: &Operation<'_>, steady: &VolumeEntry, level: u32) -> Result<(), OciError> {
    let level = Level { to: format!("vpu={level}"), force_detach: false };
    operation.service().level(&steady.summary.name, &level)?;
    Ok(())
}

fn delete(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, id: &str) -> OciResult {
    let [collection, _] = kind.collections();
    let steady = match volume(operation, kind, id) {
        Ok(steady) => steady,
        Err(error) => return deleted_before(operation, collection, id, error),
    };
    check_etag(request, &compute_etag(&steady))?;
    if volume_state(&steady, operation.now_ns) == PROVISIONING {
        return Err(OciError::state(format!("volume {id} is {PROVISIONING}: delete it once it is AVAILABLE")));
    }
    if let Some(attachment) = steady.record.attachment() {
        return Err(OciError::conflict(format!(
            "volume {id} is attached to {}: detach it first",
            attachment.instance_id
        )));
    }
    let view = volume_view(operation, &steady);
    operation.service().delete(&steady.summary.name)?;
    for group in operation.state.objects.groups.values_mut() {
        group.volumes.retain(|volume| volume != id);
    }
    operation.end(collection, id, view)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

fn set_kms_key(operation: &mut Operation<'_>, request: &Request, kind: VolumeKind, id: &str) -> OciResult {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct KeyDetails {
        kms_key_id: Option<String>,
    }
    let mut steady = volume(operation, kind, id)?;
    check_etag(request, &compute_etag(&steady))?;
    steady.record.kms_key =
        if request.method == Method::DELETE { None } else { parse::<KeyDetails>(request)?.kms_key_id };
    operation.store(&steady)?;
    if request.method == Method::DELETE {
        return Ok(Reply::empty(StatusCode::NO_CONTENT));
    }
    Ok(found(&json!({ "kmsKeyId": steady.record.kms_key }), compute_etag(&steady)))
}

/// Moves a volume or backup to another compartment.
pub(super) fn move_to(operation: &mut Operation<'_>, mut steady: VolumeEntry, compartment: String) -> OciResult {
    steady.record.compartment = compartment;
    operation.store(&steady)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// The compartment of a request to move an object.
pub(super) fn compartment_in(request: &Request) -> Result<String, OciError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct CompartmentDetails {
        compartment_id: String,
    }
    let CompartmentDetails { compartment_id } = parse(request)?;
    known_compartment(&compartment_id)?;
    Ok(compartment_id)
}
