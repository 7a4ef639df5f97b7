//! Volumes of EBS and their attachments to instances.

use plimsoll_service::api::{Create, Fork};
use plimsoll_service::{GroupSummary, Initiators};
use serde_json::{Map, Value};

use super::error::Ec2Error;
use super::query::{Filter, Query, selects};
use super::xml::Element;
use super::{Ec2Result, is_repeated, page, retry};
use crate::cloud::{Operation, VolumeEntry, gigabytes, initial};
use crate::identifiers::ec2;
use crate::lifecycle::Transition;
use crate::record::{AttachmentRecord, Ec2Settings, Provider, TAG, VolumeRecord, VolumeSource};

/// Types of volumes; each is a product of the catalogue.
pub(super) const TYPES: [&str; 7] = ["gp3", "gp2", "io2", "io1", "st1", "sc1", "standard"];
/// Type of a volume without one, as EC2 has it.
const DEFAULT_TYPE: &str = "gp2";
/// Volumes of an instance whose shape is not in the catalogue.
const ATTACHMENTS_MAX: usize = 28;

pub(super) fn volume_state(volume: &VolumeEntry, now_ns: u64) -> &str {
    let attachment = find_attachment(volume, now_ns);
    let then = if attachment.is_some() { "in-use" } else { "available" };
    Transition::at(volume.record.transition.as_ref(), now_ns, then)
}

/// The attachment that is not detached yet, with its state.
pub(super) fn find_attachment(volume: &VolumeEntry, now_ns: u64) -> Option<(&AttachmentRecord, &str)> {
    let states = volume.record.attachments.iter().map(|attachment| {
        let then = if attachment.ended_ns.is_some() { "detached" } else { "attached" };
        (attachment, Transition::at(attachment.transition.as_ref(), now_ns, then))
    });
    states.rev().find(|(_, state)| *state != "detached")
}

/// A volume by identifier.
pub(super) fn find(operation: &mut Operation<'_>, id: &str) -> Result<VolumeEntry, Ec2Error> {
    let volume = operation.find(id, Provider::Ec2).filter(|volume| volume.summary.writable);
    volume.ok_or_else(|| Ec2Error::no_volume(id))
}

/// Settings of a volume, from its product.
pub(super) fn read_settings(volume: &VolumeEntry) -> Ec2Settings {
    let product = volume.summary.product.as_deref().unwrap_or_default();
    let volume_type = product.rsplit('/').next().unwrap_or_default().to_owned();
    let size_gib = gigabytes(&volume.summary);
    let number = |name: &str| volume.summary.setting(name).map(|value| value as u64);
    let iops = match volume_type.as_str() {
        // The baseline, which EC2 shows for gp2.
        "gp2" => Some((3 * size_gib).clamp(100, 16_000)),
        _ => number("iops"),
    };
    let throughput = if volume_type == "gp3" { number("throughput") } else { None };
    Ec2Settings { volume_type, size_gib, iops, throughput }
}

/// Configuration of the catalogue for settings.
pub(super) fn configuration(settings: &Ec2Settings) -> String {
    let Ec2Settings { volume_type, size_gib, iops, throughput } = settings;
    let setting = |name: &str, value: &Option<u64>| value.map(|value| format!(",{name}={value}")).unwrap_or_default();
    format!("aws/{volume_type}:{size_gib}GiB{}{}", setting("iops", iops), setting("throughput", throughput))
}

/// Checks a type and which settings it has.
pub(super) fn check_settings(settings: &Ec2Settings) -> Result<(), Ec2Error> {
    let Ec2Settings { volume_type, iops, throughput, .. } = settings;
    if !TYPES.contains(&volume_type.as_str()) {
        let displayed: String = volume_type.chars().take(40).collect();
        let message =
            format!("Value ({displayed}) for parameter volumeType is invalid. Types are {}.", TYPES.join(", "));
        return Err(Ec2Error::new("UnknownVolumeType", message));
    }
    let has_iops = ["gp3", "io1", "io2"].contains(&volume_type.as_str());
    if iops.is_some() && !has_iops {
        let message = format!("The parameter iops is not supported for {volume_type} volumes.");
        return Err(Ec2Error::new("InvalidParameterCombination", message));
    }
    if iops.is_none() && has_iops && volume_type != "gp3" {
        return Err(Ec2Error::missing("iops"));
    }
    if throughput.is_some() && volume_type != "gp3" {
        let message = format!("The parameter throughput is not supported for {volume_type} volumes.");
        return Err(Ec2Error::new("InvalidParameterCombination", message));
    }
    Ok(())
}

/// Refuses attachment to several instances, with the error of EC2 for types that do not have it.
pub(super) fn check_multi_attach(query: &Query, volume_type: &str) -> Result<(), Ec2Error> {
    if !query.is_true("MultiAttachEnabled") {
        return Ok(());
    }
    Err(if ["io1", "io2"].contains(&volume_type) {
        let message = "MultiAttachEnabled: attachment to several instances is not emulated here";
        Ec2Error::new("UnsupportedOperation", message)
    } else {
        let message = format!("The parameter multi-attach-enabled is not supported for {volume_type} volumes.");
        Ec2Error::new("InvalidParameterCombination", message)
    })
}

/// Fields of a volume, as all replies have them.
fn list_fields(operation: &Operation<'_>, volume: &VolumeEntry) -> Vec<Element> {
    let VolumeEntry { record, .. } = volume;
    let settings = read_settings(volume);
    let attachments = find_attachment(volume, operation.now_ns).into_iter();
    let attachments = attachments.map(|(attachment, state)| Element::item(attached(&record.id, attachment, state)));
    let mut fields = vec![
        Element::text("volumeId", &record.id),
        Element::text("size", settings.size_gib),
        Element::text("snapshotId", record.source.as_ref().map_or("", |source| &source.id)),
        Element::text("availabilityZone", &record.availability_domain),
        Element::text("status", volume_state(volume, operation.now_ns)),
        Element::text("createTime", &record.created),
        Element::set("attachmentSet", attachments.collect()),
        Element::set("tagSet", tag_set(&record.freeform_tags)),
        Element::text("volumeType", &settings.volume_type),
    ];
    fields.extend(settings.iops.map(|iops| Element::text("iops", iops)));
    fields.extend(settings.throughput.map(|throughput| Element::text("throughput", throughput)));
    fields.push(Element::text("encrypted", false));
    fields.push(Element::text("multiAttachEnabled", false));
    fields
}

pub(super) fn tag_set(tags: &Map<String, Value>) -> Vec<Element> {
    let item = |(key, value): (&String, &Value)| {
        Element::item(vec![Element::text("key", key), Element::text("value", value.as_str().unwrap_or_default())])
    };
    tags.iter().map(item).collect()
}

/// Fields of an attachment.
fn attached(volume: &str, attachment: &AttachmentRecord, state: &str) -> Vec<Element> {
    vec![
        Element::text("volumeId", volume),
        Element::text("instanceId", &attachment.instance_id),
        Element::text("device", &attachment.device),
        Element::text("status", state),
        Element::text("attachTime", &attachment.created),
        Element::text("deleteOnTermination", false),
    ]
}

/// `CreateVolume`.
pub(super) fn create_volume(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&[
        "AvailabilityZone",
        "Size",
        "SnapshotId",
        "VolumeType",
        "Iops",
        "Throughput",
        "Encrypted",
        "MultiAttachEnabled",
        "ClientToken",
        "TagSpecification.",
    ])?;
    if query.is_true("Encrypted") {
        return Err(Ec2Error::new("UnsupportedOperation", "Encrypted: encryption is not emulated here"));
    }
    let retry = retry(operation, query);
    for volume in operation.volumes(Provider::Ec2) {
        if volume.summary.writable && is_repeated(volume.record.retry.as_ref(), retry.as_ref(), operation.now_ns)? {
            return Ok(list_fields(operation, &volume));
        }
    }
    let zone = read_zone(operation, query)?;
    let snapshot = query.get("SnapshotId").map(|id| super::snapshots::find(operation, id)).transpose()?;
    let size = query.number("Size")?.or_else(|| snapshot.as_ref().map(|volume| gigabytes(&volume.summary)));
    let size_gib = size.ok_or_else(|| Ec2Error::missing("size/snapshot"))?;
    if let Some(volume) = snapshot.as_ref().filter(|volume| gigabytes(&volume.summary) > size_gib) {
        let message = format!("Volume of {size_gib} GiB is smaller than snapshot '{}'", volume.record.id);
        return Err(Ec2Error::value(message));
    }
    let volume_type = query.get("VolumeType").unwrap_or(DEFAULT_TYPE).to_owned();
    let settings =
        Ec2Settings { volume_type, size_gib, iops: query.number("Iops")?, throughput: query.number("Throughput")? };
    check_settings(&settings)?;
    check_multi_attach(query, &settings.volume_type)?;
    let record = VolumeRecord {
        provider: Provider::Ec2,
        id: ec2("vol"),
        availability_domain: zone,
        created: operation.moment(),
        source: snapshot
            .as_ref()
            .map(|volume| VolumeSource { kind: "snapshot".to_owned(), id: volume.record.id.clone() }),
        transition: Some(operation.cloud.durations.transition(operation.now_ns, "creating", "ec2_create")),
        freeform_tags: query.tags("volume"),
        retry,
        ..VolumeRecord::default()
    };
    operation.service().check_configuration(&configuration(&settings))?;
    query.end_dry_run()?;
    make(operation, &record, configuration(&settings), snapshot.as_ref())
}

fn make(operation: &mut Operation<'_>, record: &VolumeRecord, like: String, of: Option<&VolumeEntry>) -> Ec2Result {
    let tagged = record.freeform_tags.get("Name").and_then(Value::as_str).unwrap_or(&record.id);
    let name = operation.free_name(tagged, &record.id);
    match of {
        None => {
            let create = Create { name, like, ..Create::default() };
            operation.service().create_with(&create, initial(record))?;
        }
        Some(of) => {
            let fork = Fork { name, like: Some(like) };
            operation.service().clone_with(&of.summary.name, &fork, initial(record))?;
        }
    }
    let volume = find(operation, &record.id)?;
    Ok(list_fields(operation, &volume))
}

fn read_zone(operation: &Operation<'_>, query: &Query) -> Result<String, Ec2Error> {
    let zone = query.required("AvailabilityZone")?;
    let zones = operation.zones();
    if zones.iter().any(|existing| existing == zone) {
        return Ok(zone.to_owned());
    }
    let displayed: String = zone.chars().take(40).collect();
    let message = format!("The zone '{displayed}' does not exist: there are {}.", zones.join(", "));
    Err(Ec2Error::new("InvalidZone.NotFound", message))
}

/// `DescribeVolumes`.
pub(super) fn describe(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId.", "Filter.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let filters = query.filters();
    let requested = query.list("VolumeId");
    let volumes = match requested.as_slice() {
        [] => operation.volumes(Provider::Ec2).into_iter().filter(|volume| volume.summary.writable).collect(),
        ids => ids.iter().map(|id| find(operation, id)).collect::<Result<Vec<VolumeEntry>, Ec2Error>>()?,
    };
    let mut items = Vec::new();
    for volume in volumes {
        if is_selected(operation, &volume, &filters)? {
            items.push(Element::item(list_fields(operation, &volume)));
        }
    }
    page(query, "volumeSet", items)
}

fn is_selected(operation: &Operation<'_>, volume: &VolumeEntry, filters: &[Filter]) -> Result<bool, Ec2Error> {
    let (record, settings) = (&volume.record, read_settings(volume));
    let attachment = find_attachment(volume, operation.now_ns);
    let of = |text: Option<String>| Some(text.into_iter().collect::<Vec<String>>());
    selects(filters, |name| match name {
        "volume-id" => of(Some(record.id.clone())),
        "status" => of(Some(volume_state(volume, operation.now_ns).to_owned())),
        "size" => of(Some(settings.size_gib.to_string())),
        "volume-type" => of(Some(settings.volume_type.clone())),
        "availability-zone" => of(Some(record.availability_domain.clone())),
        "snapshot-id" => of(record.source.as_ref().map(|source| source.id.clone())),
        "create-time" => of(Some(record.created.clone())),
        "encrypted" | "multi-attach-enabled" => of(Some("false".to_owned())),
        "attachment.device" => of(attachment.map(|(attachment, _)| attachment.device.clone())),
        "attachment.instance-id" => of(attachment.map(|(attachment, _)| attachment.instance_id.clone())),
        "attachment.status" => of(attachment.map(|(_, state)| state.to_owned())),
        "attachment.delete-on-termination" => of(attachment.map(|_| "false".to_owned())),
        name => tag_values(&record.freeform_tags, name),
    })
}

/// Values of the filters `tag-key` and `tag:KEY`.
pub(super) fn tag_values(tags: &Map<String, Value>, filter: &str) -> Option<Vec<String>> {
    if filter == "tag-key" {
        return Some(tags.keys().cloned().collect());
    }
    let key = filter.strip_prefix("tag:")?;
    Some(tags.get(key).and_then(Value::as_str).map(str::to_owned).into_iter().collect())
}

/// `DeleteVolume`.
pub(super) fn delete(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId"])?;
    let volume = find(operation, query.required("VolumeId")?)?;
    let id = &volume.record.id;
    if let Some((attachment, _)) = find_attachment(&volume, operation.now_ns) {
        let message = format!("Volume {id} is currently attached to {}", attachment.instance_id);
        return Err(Ec2Error::new("VolumeInUse", message));
    }
    query.end_dry_run()?;
    operation.service().delete(&volume.summary.name)?;
    Ok(vec![Element::text("return", true)])
}

/// `AttachVolume`.
pub(super) fn attach(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId", "InstanceId", "Device"])?;
    let device = query.required("Device")?.to_owned();
    let instance_id = query.required("InstanceId")?.to_owned();
    let mut volume = find(operation, query.required("VolumeId")?)?;
    let instance = operation.instances(Provider::Ec2).into_iter().find(|(id, _)| *id == instance_id);
    let (_, group) = instance.ok_or_else(|| Ec2Error::no_instance(&instance_id))?;
    let (id, now_ns) = (volume.record.id.clone(), operation.now_ns);
    match volume_state(&volume, now_ns) {
        "available" => {}
        "in-use" => {
            return Err(Ec2Error::new("VolumeInUse", format!("{id} is already attached to an instance")));
        }
        state => {
            return Err(Ec2Error::state(format!("Volume '{id}' is '{state}': it has to be 'available'.")));
        }
    }
    check_device(operation, &group, &device)?;
    query.end_dry_run()?;
    let attachment = AttachmentRecord {
        id: ec2("att"),
        instance: group.name.clone(),
        instance_id,
        kind: "nvme".to_owned(),
        device,
        created: operation.moment(),
        transition: Some(operation.cloud.durations.transition(now_ns, "attaching", "ec2_attach")),
        ..AttachmentRecord::default()
    };
    volume.record.attachments = vec![attachment.clone()];
    let tag = (TAG, volume.record.text());
    operation.service().set_group(&volume.summary.name, Some(&group.name), &Initiators::OfService, tag)?;
    Ok(attached(&id, &attachment, "attaching"))
}

fn check_device(operation: &Operation<'_>, group: &GroupSummary, device: &str) -> Result<(), Ec2Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'/';
    if !device.bytes().all(plain) || device.len() > 32 {
        let displayed: String = device.chars().take(32).collect();
        return Err(Ec2Error::value(format!("Value ({displayed}) for parameter device is invalid.")));
    }
    let volumes = operation.volumes(Provider::Ec2);
    let attachments = volumes.iter().filter_map(|volume| find_attachment(volume, operation.now_ns));
    let used: Vec<&str> = attachments
        .filter(|(attachment, _)| attachment.instance == group.name)
        .map(|(attachment, _)| attachment.device.as_str())
        .collect();
    if used.contains(&device) {
        let message = format!("Invalid value '{device}' for unixDevice. Attachment point {device} is already in use");
        return Err(Ec2Error::value(message));
    }
    let limit =
        group.shape.as_ref().and_then(|shape| shape.volumes).map_or(ATTACHMENTS_MAX, |volumes| volumes as usize);
    if used.len() >= limit {
        let message = format!("Instance {} has {limit} volumes attached, its maximum", group.name);
        return Err(Ec2Error::new("AttachmentLimitExceeded", message));
    }
    Ok(())
}

/// `DetachVolume`.
pub(super) fn detach(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId", "InstanceId", "Device", "Force"])?;
    let mut volume = find(operation, query.required("VolumeId")?)?;
    let (id, now_ns) = (volume.record.id.clone(), operation.now_ns);
    let Some((present, "attached" | "attaching")) = find_attachment(&volume, now_ns) else {
        let state = volume_state(&volume, now_ns);
        return Err(Ec2Error::state(format!("Volume '{id}' is in the '{state}' state.")));
    };
    let named = [("InstanceId", &present.instance_id), ("Device", &present.device)];
    for (name, value) in named {
        if query.get(name).is_some_and(|given| given != value) {
            let message = format!("The volume '{id}' is attached to {} as {}.", present.instance_id, present.device);
            return Err(Ec2Error::new("InvalidAttachment.NotFound", message));
        }
    }
    query.end_dry_run()?;
    let mut attachment = present.clone();
    attachment.transition = Some(operation.cloud.durations.transition(now_ns, "detaching", "ec2_detach"));
    attachment.ended_ns = Some(now_ns);
    volume.record.attachments = vec![attachment.clone()];
    operation.service().set_group(&volume.summary.name, None, &Initiators::None, (TAG, volume.record.text()))?;
    Ok(attached(&id, &attachment, "detaching"))
}
