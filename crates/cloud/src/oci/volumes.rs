//! Block volumes and boot volumes.

use hyper::{Method, StatusCode};
use plimsoll_service::Initial;
use plimsoll_service::api::{Autotune, Create, Fork, Level, Resize};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::OciError;
use super::page::{Compartment, known_compartment, page};
use super::{
    OciResult, all_ended, availability_domain, check_etag, display_name, ended, etag, find, found, is_repeated, only,
    parse, retry, tag_map,
};
use crate::cloud::{Held, Operation, UhpChange, gigabytes, initial, is_boot};
use crate::identifiers::kind;
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
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceDetails {
    #[serde(rename = "type")]
    kind: String,
    id: String,
}

/// A policy of automatic level changes.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
#[serde(tag = "autotuneType", deny_unknown_fields)]
enum AutotunePolicy {
    #[serde(rename = "PERFORMANCE_BASED")]
    Performance {
        #[serde(rename = "maxVpusPerGB")]
        max_vpus_per_gb: u32,
    },
    #[serde(rename = "DETACHED_VOLUME")]
    Detached {},
}

/// Operations of `/volumes` and `/bootVolumes`.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, collection: &str, rest: &[&str]) -> OciResult {
    match (&request.method, rest) {
        (&Method::GET, []) => list(operation, request, collection),
        (&Method::POST, []) => create(operation, request, collection),
        (&Method::GET, [id]) => get(operation, collection, id),
        (&Method::PUT, [id]) => update(operation, request, collection, id),
        (&Method::DELETE, [id]) => delete(operation, request, collection, id),
        (&Method::GET, [id, "kmsKey"]) => kms_key(operation, collection, id),
        (&Method::PUT | &Method::DELETE, [id, "kmsKey"]) => set_kms_key(operation, request, collection, id),
        (&Method::POST, [id, "actions", "changeCompartment"]) => change_compartment(operation, request, collection, id),
        (_, [] | [_] | [_, "kmsKey"]) => Err(OciError::method()),
        _ => Err(only(request, &[Method::GET, Method::POST, Method::PUT, Method::DELETE])),
    }
}

const fn boot(collection: &str) -> bool {
    matches!(collection.as_bytes(), b"bootVolumes")
}

/// A volume of a collection by identifier.
pub(super) fn volume(operation: &mut Operation<'_>, collection: &str, id: &str) -> Result<Held, OciError> {
    let held = find(operation, id).filter(|held| held.glance.writable && is_boot(&held.glance) == boot(collection));
    held.ok_or_else(|| OciError::not_found("volume", id))
}

/// A block volume or boot volume that exists.
pub(super) fn any_volume(operation: &mut Operation<'_>, id: &str) -> Result<Held, OciError> {
    let held = find(operation, id).filter(|held| held.glance.writable);
    held.ok_or_else(|| OciError::not_found("volume", id))
}

/// State of a volume.
pub(super) fn state(held: &Held, now_ns: u64) -> &str {
    Transition::at(held.record.transition.as_ref(), now_ns, AVAILABLE)
}

/// Refused unless a volume is available.
pub(super) fn available(held: &Held, now_ns: u64) -> Result<(), OciError> {
    let state = state(held, now_ns);
    let refusal = || OciError::state(format!("volume {} is {state}: wait until it is AVAILABLE", held.record.id));
    if state == AVAILABLE { Ok(()) } else { Err(refusal()) }
}

/// The level that the client has chosen; autotune may have changed the present level.
pub(super) fn chosen_level(held: &Held) -> u32 {
    let autotune = held.glance.autotune.as_ref().and_then(|autotune| autotune.default);
    autotune.or(held.glance.rests_from).or(held.glance.level).unwrap_or(DEFAULT_VPUS)
}

/// A volume as clients see it.
pub(super) fn view(operation: &Operation<'_>, held: &Held) -> Value {
    let Held { glance, record } = held;
    let size = gigabytes(glance);
    let volume_group = operation.state.objects.groups.values().find(|group| group.volumes.contains(&record.id));
    let source = record.source.as_ref().map(|source| json!({ "type": source.kind, "id": source.id }));
    let mut view = json!({
        "id": record.id,
        "compartmentId": record.compartment,
        "availabilityDomain": record.availability_domain,
        "displayName": record.display_name,
        "lifecycleState": state(held, operation.now_ns),
        "sizeInGBs": size,
        "sizeInMBs": size * 1_024,
        "vpusPerGB": chosen_level(held),
        "autoTunedVpusPerGB": glance.level,
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
    if is_boot(glance) {
        view["imageId"] = Value::Null;
        view["bootVolumeReplicas"] = Value::Null;
    } else {
        view["blockVolumeReplicas"] = Value::Null;
        view["isReservationsEnabled"] = false.into();
    }
    view
}

fn list(operation: &mut Operation<'_>, request: &Request, collection: &str) -> OciResult {
    let all = operation.volumes(Provider::Oci);
    let volumes = all.iter().filter(|held| held.glance.writable && is_boot(&held.glance) == boot(collection));
    let mut views: Vec<Value> = volumes.map(|held| view(operation, held)).collect();
    views.extend(all_ended(operation, collection));
    page(request, views, Compartment::Optional)
}

fn get(operation: &mut Operation<'_>, collection: &str, id: &str) -> OciResult {
    match volume(operation, collection, id) {
        Ok(held) => Ok(found(&view(operation, &held), etag(&held))),
        Err(error) => match ended(operation, collection, id) {
            Some(view) => Ok(found(&view, super::etag_of(id))),
            None => Err(error),
        },
    }
}

/// What a new volume is made of.
struct Origin {
    source: Option<VolumeSource>,
    /// Name of the volume or snapshot in the service.
    of: Option<String>,
    compartment: Option<String>,
    size_gb: u64,
    level: u32,
    /// The copy is complete at once.
    is_whole: bool,
}

fn create(operation: &mut Operation<'_>, request: &Request, collection: &str) -> OciResult {
    let details: CreateDetails = parse(request)?;
    let retry = retry(operation, request);
    for held in operation.volumes(Provider::Oci) {
        if held.glance.writable && is_repeated(held.record.retry.as_ref(), retry.as_ref(), operation.now_ns)? {
            return Ok(found(&view(operation, &held), etag(&held)));
        }
    }
    let origin = origin(operation, &details)?;
    if boot(collection) && origin.source.is_none() {
        return Err(OciError::invalid("a boot volume is created from a boot volume or a backup: give sourceDetails"));
    }
    let compartment =
        details.compartment_id.or(origin.compartment).ok_or_else(|| OciError::missing("compartmentId"))?;
    known_compartment(&compartment)?;
    let level = details.vpus_per_gb.unwrap_or(origin.level);
    let size = size(details.size_in_gbs, details.size_in_mbs)?.unwrap_or(origin.size_gb);
    if size < origin.size_gb && origin.of.is_some() {
        return Err(OciError::invalid(format!("sizeInGBs is {size}, and its source has {} GB", origin.size_gb)));
    }
    let policies = policies(details.autotune_policies, details.is_auto_tune_enabled);
    let (product, id_kind) =
        if boot(collection) { ("oci/boot-volume", kind::BOOT_VOLUME) } else { ("oci/block-volume", kind::VOLUME) };
    let now_ns = operation.now_ns;
    let hydration = if origin.is_whole { 0 } else { operation.cloud.durations.nanos("oci_hydration") };
    let usual = if boot(collection) { "bootvolume" } else { "volume" };
    let record = VolumeRecord {
        provider: Provider::Oci,
        id: crate::cloud::new_ocid(operation, id_kind),
        display_name: display_name(details.display_name, usual, operation)?,
        compartment,
        availability_domain: availability_domain(details.availability_domain, operation)?,
        created: operation.moment(),
        source: origin.source,
        transition: Some(operation.cloud.durations.transition(now_ns, PROVISIONING, "oci_volume_provisioning")),
        hydrated_ns: now_ns.saturating_add(hydration),
        autotune: policies.iter().map(|policy| serde_json::to_value(policy).unwrap_or_default()).collect(),
        freeform_tags: tag_map(details.freeform_tags),
        defined_tags: tag_map(details.defined_tags),
        retry,
        kms_key: details.kms_key_id,
        policy: details.backup_policy_id.map(|id| super::policies::assignment(operation, &id)).transpose()?,
        ..VolumeRecord::default()
    };
    let like = format!("{product}:{size}GB,vpu={level}");
    make(operation, &record, like, origin.of.as_deref(), (&policies, level))
}

/// Creates the volume of a record, with its policies.
fn make(
    operation: &mut Operation<'_>,
    record: &VolumeRecord,
    like: String,
    of: Option<&str>,
    (policies, level): (&[AutotunePolicy], u32),
) -> OciResult {
    let autotune = autotune(operation, policies, level)?;
    let name = operation.free_name(&record.display_name, "volume");
    let initial = Initial { autotune, ..initial(record) };
    match of {
        None => operation.service().create_with(&Create { name, like, ..Create::default() }, initial)?,
        Some(of) => operation.service().clone_with(of, &Fork { name, like: Some(like) }, initial)?,
    };
    let held = find(operation, &record.id).ok_or_else(|| OciError::not_found("volume", &record.id))?;
    Ok(found(&view(operation, &held), etag(&held)))
}

fn origin(operation: &mut Operation<'_>, details: &CreateDetails) -> Result<Origin, OciError> {
    let source = match (&details.source_details, &details.volume_backup_id) {
        (Some(SourceDetails { kind, id }), None) => Some((kind.clone(), id.clone())),
        (None, Some(id)) => Some(("volumeBackup".to_owned(), id.clone())),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(OciError::invalid("give sourceDetails or volumeBackupId, not both")),
    };
    let Some((kind, id)) = source else {
        return Ok(Origin {
            source: None,
            of: None,
            compartment: None,
            size_gb: DEFAULT_GB,
            level: DEFAULT_VPUS,
            is_whole: true,
        });
    };
    let is_backup = match kind.as_str() {
        "volume" | "bootVolume" => false,
        "volumeBackup" | "bootVolumeBackup" => true,
        _ => return Err(OciError::invalid(format!("sourceDetails.type {kind}: write volume or volumeBackup"))),
    };
    let held = find(operation, &id).filter(|held| held.glance.writable != is_backup);
    let held = held.ok_or_else(|| OciError::not_found("source", &id))?;
    let available_since =
        if is_backup { super::backups::state(&held, operation.now_ns) } else { state(&held, operation.now_ns) };
    if available_since != AVAILABLE {
        return Err(OciError::state(format!("{id} is {available_since}: wait until it is AVAILABLE")));
    }
    Ok(Origin {
        source: Some(VolumeSource { kind, id }),
        compartment: Some(held.record.compartment.clone()),
        size_gb: gigabytes(&held.glance),
        level: chosen_level(&held),
        of: Some(held.glance.name),
        is_whole: is_backup,
    })
}

fn size(gbs: Option<u64>, mbs: Option<u64>) -> Result<Option<u64>, OciError> {
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

/// Policies of a request; the deprecated flag stands for the policy of detached volumes.
fn policies(given: Option<Vec<AutotunePolicy>>, is_auto_tune_enabled: Option<bool>) -> Vec<AutotunePolicy> {
    let mut policies = given.unwrap_or_default();
    let has_detached = policies.iter().any(|policy| matches!(policy, AutotunePolicy::Detached {}));
    if is_auto_tune_enabled == Some(true) && !has_detached {
        policies.push(AutotunePolicy::Detached {});
    }
    policies
}

/// Automation of the service for policies; `None` without policies.
fn autotune(operation: &Operation<'_>, policies: &[AutotunePolicy], level: u32) -> Result<Option<Autotune>, OciError> {
    let mut autotune = Autotune::default();
    for policy in policies {
        match policy {
            AutotunePolicy::Performance { max_vpus_per_gb } if *max_vpus_per_gb <= level => {
                let message = format!("maxVpusPerGB is {max_vpus_per_gb}: it has to be above vpusPerGB, {level}");
                return Err(OciError::invalid(message));
            }
            AutotunePolicy::Performance { max_vpus_per_gb } => {
                (autotune.default, autotune.most) = (Some(level), Some(*max_vpus_per_gb));
            }
            AutotunePolicy::Detached {} => {
                autotune.detached_after_ns = Some(operation.cloud.durations.nanos("detached_autotune"));
            }
        }
    }
    Ok((!policies.is_empty()).then_some(autotune))
}

fn update(operation: &mut Operation<'_>, request: &Request, collection: &str, id: &str) -> OciResult {
    let mut held = volume(operation, collection, id)?;
    check_etag(request, &etag(&held))?;
    let details: VolumeUpdate = parse(request)?;
    // Everything is checked before anything is changed.
    let (now_ns, present) = (operation.now_ns, gigabytes(&held.glance));
    let before = chosen_level(&held);
    let level = details.vpus_per_gb.unwrap_or(before);
    let size = size(details.size_in_gbs, None)?.filter(|size| *size != present);
    if let Some(size) = size.filter(|size| *size < present) {
        return Err(OciError::invalid(format!("sizeInGBs is {size}: a volume of {present} GB only grows")));
    }
    let changes_policies = details.autotune_policies.is_some() || details.is_auto_tune_enabled.is_some();
    let changes_volume = level != before || size.is_some() || changes_policies;
    if changes_volume {
        available(&held, now_ns)?;
    }
    if let Some(name) = details.display_name {
        held.record.display_name = display_name(Some(name), "volume", operation)?;
    }
    held.record.freeform_tags = details.freeform_tags.unwrap_or(held.record.freeform_tags);
    held.record.defined_tags = details.defined_tags.unwrap_or(held.record.defined_tags);
    let policies = new_policies(&held.record, details.autotune_policies, details.is_auto_tune_enabled);
    held.record.autotune = policies.iter().map(|policy| serde_json::to_value(policy).unwrap_or_default()).collect();
    let autotune = autotune(operation, &policies, level)?;
    if level != before {
        change_level(operation, &held, before, level)?;
        held.record.transition = Some(operation.cloud.durations.transition(now_ns, PROVISIONING, "oci_level_change"));
    }
    if changes_policies || level != before {
        set_autotune(operation, &held, autotune)?;
    }
    if let Some(size) = size {
        operation.service().resize(&held.glance.name, Resize { size_bytes: size << 30 })?;
        held.record.transition = Some(operation.cloud.durations.transition(now_ns, PROVISIONING, "oci_resize"));
    }
    operation.store(&held)?;
    let held = operation.again(&held).unwrap_or(held);
    Ok(found(&view(operation, &held), etag(&held)))
}

/// Policies after an update: those of the request, or else those of the record.
fn new_policies(
    record: &VolumeRecord,
    given: Option<Vec<AutotunePolicy>>,
    is_auto_tune_enabled: Option<bool>,
) -> Vec<AutotunePolicy> {
    let stored = || record.autotune.iter().filter_map(|policy| serde_json::from_value(policy.clone()).ok()).collect();
    let mut policies = policies(Some(given.unwrap_or_else(stored)), is_auto_tune_enabled);
    if is_auto_tune_enabled == Some(false) {
        policies.retain(|policy| !matches!(policy, AutotunePolicy::Detached {}));
    }
    policies
}

fn set_autotune(operation: &Operation<'_>, held: &Held, autotune: Option<Autotune>) -> Result<(), OciError> {
    let name = &held.glance.name;
    match autotune {
        Some(autotune) => drop(operation.service().set_autotune(name, &autotune)?),
        None if held.glance.autotune.is_some() => drop(operation.service().clear_autotune(name)?),
        None => {}
    }
    Ok(())
}

/// Changes the level, with the vendor's rule for attached volumes.
fn change_level(operation: &Operation<'_>, held: &Held, before: u32, level: u32) -> Result<(), OciError> {
    let crosses = before.max(level) >= UHP_VPUS;
    let online = operation.cloud.options.uhp_change == UhpChange::Online;
    if crosses && held.record.attachment().is_some() && !online {
        return Err(OciError::conflict(format!(
            "volume {} is attached: a change from or to {UHP_VPUS} VPUs per GB and more needs a detached volume (OCI, Ultra \
             High Performance, 2026-09-05). Detach it first; plimsoll serve --online-uhp permits the change online, as a \
             published test of fio on an attached volume has it",
            held.record.id
        )));
    }
    let level = Level { to: format!("vpu={level}"), force_detach: false, online };
    operation.service().level(&held.glance.name, &level)?;
    Ok(())
}

fn delete(operation: &mut Operation<'_>, request: &Request, collection: &str, id: &str) -> OciResult {
    let held = match volume(operation, collection, id) {
        Ok(held) => held,
        // A repeated request: the volume is being deleted.
        Err(_) if ended(operation, collection, id).is_some() => return Ok(Reply::empty(StatusCode::NO_CONTENT)),
        Err(error) => return Err(error),
    };
    check_etag(request, &etag(&held))?;
    if let Some(attachment) = held.record.attachment() {
        return Err(OciError::conflict(format!(
            "volume {id} is attached to {}: detach it first",
            attachment.instance_id
        )));
    }
    let view = view(operation, &held);
    operation.service().delete(&held.glance.name)?;
    for group in operation.state.objects.groups.values_mut() {
        group.volumes.retain(|volume| volume != id);
    }
    operation.end(collection, id, view)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

fn kms_key(operation: &mut Operation<'_>, collection: &str, id: &str) -> OciResult {
    let held = volume(operation, collection, id)?;
    Ok(found(&json!({ "kmsKeyId": held.record.kms_key }), etag(&held)))
}

fn set_kms_key(operation: &mut Operation<'_>, request: &Request, collection: &str, id: &str) -> OciResult {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct KeyDetails {
        kms_key_id: Option<String>,
    }
    let mut held = volume(operation, collection, id)?;
    check_etag(request, &etag(&held))?;
    held.record.kms_key =
        if request.method == Method::DELETE { None } else { parse::<KeyDetails>(request)?.kms_key_id };
    operation.store(&held)?;
    if request.method == Method::DELETE {
        return Ok(Reply::empty(StatusCode::NO_CONTENT));
    }
    Ok(found(&json!({ "kmsKeyId": held.record.kms_key }), etag(&held)))
}

fn change_compartment(operation: &mut Operation<'_>, request: &Request, collection: &str, id: &str) -> OciResult {
    let compartment = compartment_in(request)?;
    let mut held = volume(operation, collection, id)?;
    held.record.compartment = compartment;
    operation.store(&held)?;
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
