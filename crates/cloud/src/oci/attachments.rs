//! Attachments of volumes to instances: the volume joins the group of the instance and shares its limits.

use hyper::{Method, StatusCode};
use plimsoll_service::api::Level;
use plimsoll_service::{ChapSecret, GroupSummary, Initiators};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::OciError;
use super::page::{Compartment, page};
use super::volumes::{UHP_VPUS, any_volume, available};
use super::{OciResult, check_etag, display_name, etag_of, found, is_repeated, parse, retry};
use crate::cloud::{Operation, VolumeEntry, is_boot, new_ocid};
use crate::identifiers::{hex, kind, random};
use crate::lifecycle::Transition;
use crate::record::{AttachmentPaths, AttachmentRecord, Provider, Retry, TAG, WorkRequest};
use crate::web::{Reply, Request};

/// Letters of device names after `/dev/oracleoci/oraclevd`; `a` is the boot volume.
const DEVICE_LETTERS: &[u8] = b"bcdefghijklmnopqrstuvwxyz";
const DEVICES: u8 = 32;
/// OCPUs from which attachments of a virtual machine are multipath-enabled.
const MULTIPATH_OCPUS: f64 = 16.0;
/// Random bytes of a CHAP secret, which is written in hexadecimal digits.
const SECRET_BYTES: usize = 16;
const LOGIN_STATES: [&str; 7] =
    ["UNKNOWN", "LOGGING_IN", "LOGIN_SUCCEEDED", "LOGIN_FAILED", "LOGGING_OUT", "LOGOUT_SUCCEEDED", "LOGOUT_FAILED"];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AttachDetails {
    #[serde(rename = "type", default)]
    kind: String,
    instance_id: String,
    #[serde(alias = "bootVolumeId")]
    volume_id: String,
    device: Option<String>,
    display_name: Option<String>,
    is_read_only: Option<bool>,
    is_shareable: Option<bool>,
    is_agent_auto_iscsi_login_enabled: Option<bool>,
    use_chap: Option<bool>,
    encryption_in_transit_type: Option<String>,
    is_pv_encryption_in_transit_enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AttachmentUpdate {
    iscsi_login_state: Option<String>,
}

/// Operations of `/volumeAttachments`.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, rest: &[&str]) -> OciResult {
    match (&request.method, rest) {
        (&Method::GET, []) => page(request, attachment_views(operation), Compartment::Required),
        (&Method::POST, []) => attach(operation, request),
        (&Method::GET, [id]) => {
            let (volume, attachment) = find(operation, id)?;
            Ok(found(&attachment_view(operation, &volume, &attachment), etag(&attachment)))
        }
        (&Method::PUT, [id]) => update(operation, request, id),
        (&Method::DELETE, [id]) => detach(operation, request, id),
        (_, [] | [_]) => Err(OciError::method()),
        _ => Err(OciError::no_path()),
    }
}

/// Views of the attachments of boot volumes.
pub(super) fn boot_views(operation: &Operation<'_>) -> Vec<Value> {
    let volumes = operation.volumes(Provider::Oci).into_iter().filter(|volume| is_boot(&volume.summary));
    let views = volumes.flat_map(|volume| {
        let attachments = volume.record.attachments.iter();
        attachments.map(|attachment| boot_view(operation, &volume, attachment)).collect::<Vec<Value>>()
    });
    views.collect()
}

fn boot_view(operation: &Operation<'_>, volume: &VolumeEntry, attachment: &AttachmentRecord) -> Value {
    json!({
        "id": attachment.id,
        "bootVolumeId": volume.record.id,
        "instanceId": attachment.instance_id,
        "availabilityDomain": volume.record.availability_domain,
        "compartmentId": volume.record.compartment,
        "displayName": attachment.display_name,
        "lifecycleState": state(attachment, operation.now_ns),
        "timeCreated": attachment.created,
        "isPvEncryptionInTransitEnabled": false,
    })
}

pub(super) fn state(attachment: &AttachmentRecord, now_ns: u64) -> &str {
    let then = if attachment.ended_ns.is_some() { "DETACHED" } else { "ATTACHED" };
    Transition::at(attachment.transition.as_ref(), now_ns, then)
}

fn etag(attachment: &AttachmentRecord) -> String {
    etag_of(&serde_json::to_string(attachment).unwrap_or_default())
}

/// Views of the attachments of block volumes.
pub(crate) fn attachment_views(operation: &Operation<'_>) -> Vec<Value> {
    let volumes = operation.volumes(Provider::Oci).into_iter();
    let views = volumes.filter(|volume| volume.summary.writable && !is_boot(&volume.summary)).flat_map(|volume| {
        let attachments = volume.record.attachments.iter().filter(|attachment| is_kept(operation, attachment));
        attachments.map(|attachment| attachment_view(operation, &volume, attachment)).collect::<Vec<Value>>()
    });
    views.collect()
}

fn is_kept(operation: &Operation<'_>, attachment: &AttachmentRecord) -> bool {
    let retention_ns = operation.cloud.durations.nanos("ended_objects_are_listed");
    attachment.ended_ns.is_none_or(|ended| operation.now_ns < ended.saturating_add(retention_ns))
}

/// An attachment as clients see it.
fn attachment_view(operation: &Operation<'_>, volume: &VolumeEntry, attachment: &AttachmentRecord) -> Value {
    let mut view = json!({
        "id": attachment.id,
        "attachmentType": attachment.kind,
        "availabilityDomain": volume.record.availability_domain,
        "compartmentId": volume.record.compartment,
        "device": Some(&attachment.device).filter(|device| !device.is_empty()),
        "displayName": attachment.display_name,
        "instanceId": attachment.instance_id,
        "volumeId": volume.record.id,
        "isReadOnly": attachment.read_only,
        "isShareable": attachment.shareable,
        "isPvEncryptionInTransitEnabled": false,
        "isVolumeCreatedDuringLaunch": false,
        "lifecycleState": state(attachment, operation.now_ns),
        "timeCreated": attachment.created,
        "isMultipath": is_multipath(volume, attachment),
        "iscsiLoginState": Some(&attachment.login_state).filter(|state| !state.is_empty()),
    });
    if attachment.kind == "iscsi" {
        add_target(operation, volume, attachment, &mut view);
    }
    view
}

fn is_multipath(volume: &VolumeEntry, attachment: &AttachmentRecord) -> bool {
    attachment.kind == "iscsi"
        && attachment.paths == AttachmentPaths::Level
        && super::volumes::chosen_level(volume) >= UHP_VPUS
}

/// A virtual machine that is too small gets attachments without multipath (OCI, Configuring Attachments to Ultra High
/// Performance Volumes; Block Volume Performance, 2024).
fn paths_of(group: &GroupSummary) -> AttachmentPaths {
    let is_virtual = group.shape.as_ref().is_some_and(|shape| shape.name.starts_with("oci/VM."));
    let ocpus = group.settings.iter().find(|(name, _)| name == "ocpu").map(|(_, value)| *value);
    if is_virtual && ocpus.is_some_and(|ocpus| ocpus < MULTIPATH_OCPUS) {
        AttachmentPaths::Single
    } else {
        AttachmentPaths::Level
    }
}

/// Adds the iSCSI target, if the service has portals: the first to the attachment, all others as multipath devices.
fn add_target(operation: &Operation<'_>, volume: &VolumeEntry, attachment: &AttachmentRecord, view: &mut Value) {
    let target = operation.cloud.options.service.iscsi_target(&volume.summary.name).ok();
    let portals = target.as_ref().map(|target| target.portals.as_slice()).unwrap_or_default();
    let portals: Vec<(&str, Option<u16>)> = portals.iter().filter_map(|portal| address(portal)).collect();
    let iqn = target.as_ref().map(|target| &*target.iqn);
    let device = |(host, port): &(&str, Option<u16>)| json!({ "ipv4": host, "iqn": iqn, "port": port });
    let others =
        if is_multipath(volume, attachment) { portals.iter().skip(1).map(device).collect() } else { Vec::new() };
    view["ipv4"] = portals.first().map(|(host, _)| *host).into();
    view["port"] = portals.first().and_then(|(_, port)| *port).into();
    view["iqn"] = iqn.into();
    view["ipv6"] = Value::Null;
    view["multipathDevices"] = others.into();
    view["chapUsername"] = target.as_ref().and_then(|target| target.chap_user.as_deref()).into();
    view["chapSecret"] = attachment.chap_secret.as_deref().into();
    view["encryptionInTransitType"] = "NONE".into();
    view["isAgentAutoIscsiLoginEnabled"] = attachment.agent_login.into();
}

/// Host and port of a portal.
fn address(portal: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = portal.rsplit_once(':')?;
    Some((host.trim_start_matches('[').trim_end_matches(']'), port.parse().ok()))
}

/// An attachment by identifier, with its volume.
fn find(operation: &Operation<'_>, id: &str) -> Result<(VolumeEntry, AttachmentRecord), OciError> {
    let volumes = operation.volumes(Provider::Oci).into_iter();
    let mut found = volumes.filter_map(|volume| {
        let attachment = volume.record.attachments.iter().find(|attachment| attachment.id == id)?.clone();
        is_kept(operation, &attachment).then_some((volume, attachment))
    });
    found.next().ok_or_else(|| OciError::not_found("volumeAttachment", id))
}

/// Attaches a volume or a boot volume.
pub(super) fn attach(operation: &mut Operation<'_>, request: &Request) -> OciResult {
    let details: AttachDetails = parse(request)?;
    let retry = retry(operation, request);
    for volume in operation.volumes(Provider::Oci) {
        for attachment in &volume.record.attachments {
            if is_repeated(attachment.retry.as_ref(), retry.as_ref(), operation.now_ns)? {
                return Ok(found(&attachment_view(operation, &volume, attachment), etag(attachment)));
            }
        }
    }
    let volume = any_volume(operation, &details.volume_id)?;
    let instances = operation.instances(Provider::Oci);
    let instance = instances.into_iter().find(|(id, _)| *id == details.instance_id);
    let (_, group) = instance.ok_or_else(|| OciError::not_found("instance", &details.instance_id))?;
    available(&volume, operation.now_ns)?;
    if let Some(attachment) = volume.record.attachment() {
        return Err(OciError::conflict(format!(
            "volume {} is attached to {}: a volume shares the limits of a single instance here; detach it first",
            volume.record.id, attachment.instance_id
        )));
    }
    let detaching =
        volume.record.attachments.iter().find(|attachment| state(attachment, operation.now_ns) == "DETACHING");
    if let Some(attachment) = detaching {
        return Err(OciError::state(format!("{} is DETACHING: wait until it is DETACHED", attachment.id)));
    }
    refuse_unsupported(&details)?;
    join(operation, volume, &group, details, retry)
}

fn refuse_unsupported(details: &AttachDetails) -> Result<(), OciError> {
    let refused = [
        (
            details.use_chap == Some(true) && details.kind == "paravirtualized",
            "useChap: an attachment of type paravirtualized has no CHAP",
        ),
        (
            details.encryption_in_transit_type.as_deref().is_some_and(|kind| kind != "NONE")
                || details.is_pv_encryption_in_transit_enabled == Some(true),
            "encryption in transit is not offered here",
        ),
        (details.is_read_only == Some(true), "isReadOnly: attachments are read-write here; attach a clone instead"),
    ];
    match refused.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, why)) => Err(OciError::invalid(why)),
        None => Ok(()),
    }
}

/// Puts a volume into the group of an instance, with the record of its attachment.
fn join(
    operation: &mut Operation<'_>,
    mut volume: VolumeEntry,
    group: &GroupSummary,
    details: AttachDetails,
    retry: Option<Retry>,
) -> OciResult {
    let AttachDetails { kind, device, display_name: name, is_agent_auto_iscsi_login_enabled: login, use_chap, .. } =
        details;
    let is_boot = is_boot(&volume.summary);
    let kind = match kind.as_str() {
        "iscsi" | "paravirtualized" => kind,
        "" | "emulated" | "service_determined" if is_boot => "paravirtualized".to_owned(),
        "service_determined" => "iscsi".to_owned(),
        _ => return Err(OciError::invalid(format!("type {kind}: write iscsi or paravirtualized"))),
    };
    let device = free_device(operation, group, device, is_boot)?;
    let agent_login = login.unwrap_or(false);
    let attachment = AttachmentRecord {
        id: new_ocid(operation, kind::ATTACHMENT),
        instance: group.name.clone(),
        instance_id: details.instance_id,
        display_name: display_name(name, "volumeattachment", operation)?,
        device,
        shareable: details.is_shareable.unwrap_or(false),
        login_state: if agent_login { "UNKNOWN".to_owned() } else { String::new() },
        agent_login,
        paths: paths_of(group),
        chap_secret: (use_chap == Some(true)).then(|| hex(&random::<SECRET_BYTES>())),
        created: operation.moment(),
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "ATTACHING", "oci_attach")),
        retry,
        kind,
        ..AttachmentRecord::default()
    };
    volume.record.attachments.retain(|attachment| is_kept(operation, attachment));
    volume.record.attachments.push(attachment.clone());
    let name = &volume.summary.name;
    set_kind(operation, name, &attachment.kind)?;
    let initiators = match &attachment.chap_secret {
        Some(secret) => Initiators::WithSecret(ChapSecret { user: volume.record.id.clone(), secret: secret.clone() }),
        None => Initiators::OfService,
    };
    let moved = operation.service().set_group(name, Some(&group.name), &initiators, (TAG, volume.record.text()));
    if let Err(refusal) = moved {
        // A volume that is not attached has the usual kind.
        let _ = set_kind(operation, name, if is_boot { "paravirtualized" } else { "iscsi" });
        return Err(refusal.into());
    }
    let volume = operation.again(&volume).unwrap_or(volume);
    let view = if is_boot {
        boot_view(operation, &volume, &attachment)
    } else {
        attachment_view(operation, &volume, &attachment)
    };
    Ok(found(&view, etag(&attachment)))
}

/// Sets the option of the product that the kind of attachment is.
fn set_kind(operation: &Operation<'_>, name: &str, kind: &str) -> Result<(), OciError> {
    let to = format!("attachment={kind}");
    operation.service().level(name, &Level { to, force_detach: false })?;
    Ok(())
}

/// The device of a new attachment: free on the instance, and within its number of volumes.
fn free_device(
    operation: &Operation<'_>,
    group: &GroupSummary,
    requested: Option<String>,
    is_boot: bool,
) -> Result<String, OciError> {
    let used = devices_in_use(operation, &group.name);
    let limit = group.shape.as_ref().and_then(|shape| shape.volumes);
    if let Some(limit) = limit.filter(|limit| used.len() >= *limit as usize) {
        return Err(OciError::limit(format!("instance {} has {limit} volumes attached, its maximum", group.name)));
    }
    if is_boot {
        return Ok("/dev/oracleoci/oraclevda".to_owned());
    }
    match requested {
        None => Ok(String::new()),
        Some(device) if !devices().contains(&device) => {
            let message = format!("device {device}: the list of devices of the instance has the valid names");
            Err(OciError::invalid(message))
        }
        Some(device) if used.contains(&device) => {
            Err(OciError::conflict(format!("device {device} of instance {} is in use: choose another", group.name)))
        }
        Some(device) => Ok(device),
    }
}

/// Names of devices that an instance offers.
pub(super) fn devices() -> Vec<String> {
    let single = DEVICE_LETTERS.iter().map(|letter| format!("/dev/oracleoci/oraclevd{}", char::from(*letter)));
    let double = (b'a'..=b'z').map(|letter| format!("/dev/oracleoci/oraclevda{}", char::from(letter)));
    single.chain(double).take(usize::from(DEVICES)).collect()
}

/// Devices of the volumes of an instance; empty for an attachment without a device name.
pub(super) fn devices_in_use(operation: &Operation<'_>, instance: &str) -> Vec<String> {
    let volumes = operation.volumes(Provider::Oci).into_iter();
    let attachments = volumes.filter_map(|volume| volume.record.attachment().cloned());
    attachments.filter(|attachment| attachment.instance == instance).map(|attachment| attachment.device).collect()
}

/// Updates the login state of an attachment.
pub(crate) fn update(operation: &mut Operation<'_>, request: &Request, id: &str) -> OciResult {
    let (mut volume, mut attachment) = find(operation, id)?;
    check_etag(request, &etag(&attachment))?;
    let details: AttachmentUpdate = parse(request)?;
    if let Some(state) = details.iscsi_login_state {
        if !LOGIN_STATES.contains(&state.as_str()) {
            return Err(OciError::invalid(format!("iscsiLoginState is one of {}", LOGIN_STATES.join(", "))));
        }
        attachment.login_state = state;
    }
    volume.record.attachments.retain(|other| other.id != id);
    volume.record.attachments.push(attachment.clone());
    operation.store(&volume)?;
    Ok(found(&attachment_view(operation, &volume, &attachment), etag(&attachment)))
}

fn detach(operation: &mut Operation<'_>, request: &Request, id: &str) -> OciResult {
    let (mut volume, mut attachment) = find(operation, id)?;
    check_etag(request, &etag(&attachment))?;
    if attachment.ended_ns.is_some() {
        return Ok(Reply::empty(StatusCode::NO_CONTENT));
    }
    let now_ns = operation.now_ns;
    let transition = operation.cloud.durations.transition(now_ns, "DETACHING", "oci_detach");
    let until_ns = transition.until_ns;
    (attachment.transition, attachment.ended_ns) = (Some(transition), Some(now_ns));
    attachment.chap_secret = None;
    volume.record.attachments.retain(|other| other.id != id);
    volume.record.attachments.push(attachment);
    operation.service().set_group(&volume.summary.name, None, &Initiators::None, (TAG, volume.record.text()))?;
    if !is_boot(&volume.summary) {
        set_kind(operation, &volume.summary.name, "iscsi")?;
    }
    let work = WorkRequest {
        operation: "DETACH_VOLUME".to_owned(),
        compartment: volume.record.compartment.clone(),
        resource: id.to_owned(),
        entity: "volumeAttachment".to_owned(),
        accepted: operation.moment(),
        accepted_ns: now_ns,
        until_ns,
    };
    let work_id = new_ocid(operation, kind::WORK_REQUEST);
    operation.state.objects.work_requests.insert(work_id.clone(), work);
    operation.commit()?;
    Ok(Reply::empty(StatusCode::NO_CONTENT).with("opc-work-request-id", work_id))
}
