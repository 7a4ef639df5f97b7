//! Instances, which are groups of the service with the limits of a machine.

use plimsoll_service::GroupSummary;
use serde_json::{Map, Value};

use super::error::Ec2Error;
use super::query::{Query, selects};
use super::snapshots::OWNER;
use super::volumes::{find_attachment, tag_set, tag_values};
use super::xml::Element;
use super::{Ec2Result, page};
use crate::cloud::{Operation, VolumeEntry};
use crate::record::Provider;

/// Moment of creation of instances, which the service does not record.
const LAUNCHED: &str = "2026-01-01T00:00:00.000Z";

const ROOT_DEVICE: &str = "/dev/xvda";

/// `DescribeInstances`.
pub(super) fn describe(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["InstanceId.", "Filter.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let (requested, filters) = (query.list("InstanceId"), query.filters());
    let instances = operation.instances(Provider::Ec2);
    if let Some(id) = requested.iter().find(|id| !instances.iter().any(|(existing, _)| existing == *id)) {
        return Err(Ec2Error::no_instance(id));
    }
    let volumes = operation.volumes(Provider::Ec2);
    let mut items = Vec::new();
    for (id, group) in &instances {
        let is_wanted = requested.is_empty() || requested.contains(&id.as_str());
        let is_selected = selects(&filters, |name| match name {
            "instance-id" => Some(vec![id.clone()]),
            "instance-state-name" => Some(vec!["running".to_owned()]),
            "instance-state-code" => Some(vec!["16".to_owned()]),
            "instance-type" => Some(vec![instance_type(group).to_owned()]),
            "availability-zone" => operation.zones().first().map(|zone| vec![zone.clone()]),
            name => tag_values(&instance_tags(group), name),
        })?;
        if is_wanted && is_selected {
            let instance = Element::item(fields(operation, id, group, &volumes));
            items.push(Element::item(vec![
                Element::text("reservationId", id.replacen("i-", "r-", 1)),
                Element::text("ownerId", OWNER),
                Element::set("groupSet", Vec::new()),
                Element::set("instancesSet", vec![instance]),
            ]));
        }
    }
    page(query, "reservationSet", items)
}

fn instance_type(group: &GroupSummary) -> &str {
    let name = group.shape.as_ref().map_or(group.like.as_str(), |shape| &shape.name);
    name.trim_start_matches("aws/")
}

fn instance_tags(group: &GroupSummary) -> Map<String, Value> {
    Map::from_iter([("Name".to_owned(), group.name.clone().into())])
}

/// Volumes of an instance, as items.
fn block_devices(operation: &Operation<'_>, group: &GroupSummary, volumes: &[VolumeEntry]) -> Vec<Element> {
    let attachments = volumes.iter().filter_map(|volume| {
        let (attachment, state) = find_attachment(volume, operation.now_ns)?;
        let ebs = vec![
            Element::text("volumeId", &volume.record.id),
            Element::text("status", state),
            Element::text("attachTime", &attachment.created),
            Element::text("deleteOnTermination", false),
        ];
        let device = vec![Element::text("deviceName", &attachment.device), Element::new("ebs", ebs)];
        (attachment.instance == group.name).then(|| Element::item(device))
    });
    attachments.collect()
}

fn fields(operation: &Operation<'_>, id: &str, group: &GroupSummary, volumes: &[VolumeEntry]) -> Vec<Element> {
    let zone = operation.zones().into_iter().next().unwrap_or_default();
    vec![
        Element::text("instanceId", id),
        Element::text("imageId", "ami-00000000000000000"),
        Element::new("instanceState", vec![Element::text("code", 16), Element::text("name", "running")]),
        Element::text("instanceType", instance_type(group)),
        Element::text("launchTime", LAUNCHED),
        Element::new("placement", vec![Element::text("availabilityZone", zone), Element::text("tenancy", "default")]),
        Element::text("architecture", "x86_64"),
        Element::text("rootDeviceType", "ebs"),
        Element::text("rootDeviceName", ROOT_DEVICE),
        Element::set("blockDeviceMapping", block_devices(operation, group, volumes)),
        Element::text("virtualizationType", "hvm"),
        Element::set("tagSet", tag_set(&instance_tags(group))),
        Element::text("hypervisor", "nitro"),
        Element::text("ebsOptimized", true),
    ]
}

/// `DescribeInstanceStatus`: instances run as long as the service.
pub(super) fn statuses(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["InstanceId.", "Filter.", "IncludeAllInstances", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let (requested, filters) = (query.list("InstanceId"), query.filters());
    let instances = operation.instances(Provider::Ec2);
    if let Some(id) = requested.iter().find(|id| !instances.iter().any(|(existing, _)| existing == *id)) {
        return Err(Ec2Error::no_instance(id));
    }
    let zone = operation.zones().into_iter().next().unwrap_or_default();
    let mut items = Vec::new();
    for (id, _) in instances.iter().filter(|(id, _)| requested.is_empty() || requested.contains(&id.as_str())) {
        let is_selected = selects(&filters, |name| match name {
            "availability-zone" => Some(vec![zone.clone()]),
            "instance-state-name" => Some(vec!["running".to_owned()]),
            "instance-state-code" => Some(vec!["16".to_owned()]),
            "instance-status.status" | "system-status.status" => Some(vec!["ok".to_owned()]),
            _ => None,
        })?;
        if is_selected {
            let check = || {
                let reachable = vec![Element::text("name", "reachability"), Element::text("status", "passed")];
                vec![Element::text("status", "ok"), Element::set("details", vec![Element::item(reachable)])]
            };
            items.push(Element::item(vec![
                Element::text("instanceId", id),
                Element::text("availabilityZone", &zone),
                Element::new("instanceState", vec![Element::text("code", 16), Element::text("name", "running")]),
                Element::new("systemStatus", check()),
                Element::new("instanceStatus", check()),
            ]));
        }
    }
    page(query, "instanceStatusSet", items)
}

/// `DescribeInstanceAttribute`. Attributes of the network of an instance are refused: it has none here.
pub(super) fn describe_attribute(operation: &Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["InstanceId", "Attribute"])?;
    let id = query.required("InstanceId")?;
    let instance = operation.instances(Provider::Ec2).into_iter().find(|(existing, _)| existing == id);
    let (id, group) = instance.ok_or_else(|| Ec2Error::no_instance(id))?;
    let value = |name: &'static str, value: &str| Element::new(name, vec![Element::text("value", value)]);
    let attribute = match query.required("Attribute")? {
        "instanceType" => value("instanceType", instance_type(&group)),
        "rootDeviceName" => value("rootDeviceName", ROOT_DEVICE),
        "instanceInitiatedShutdownBehavior" => value("instanceInitiatedShutdownBehavior", "stop"),
        "ebsOptimized" => value("ebsOptimized", "true"),
        "disableApiTermination" => value("disableApiTermination", "false"),
        "disableApiStop" => value("disableApiStop", "false"),
        "enclaveOptions" => Element::new("enclaveOptions", vec![Element::text("enabled", false)]),
        "blockDeviceMapping" => {
            let volumes = operation.volumes(Provider::Ec2);
            Element::set("blockDeviceMapping", block_devices(operation, &group, &volumes))
        }
        // Instances have no user data, kernel of their own or product.
        "userData" => Element::new("userData", Vec::new()),
        "kernel" => Element::new("kernel", Vec::new()),
        "ramdisk" => Element::new("ramdisk", Vec::new()),
        "productCodes" => Element::set("productCodes", Vec::new()),
        "groupSet" | "sourceDestCheck" | "sriovNetSupport" | "enaSupport" => {
            return Err(Ec2Error::new("UnsupportedOperation", "the network of instances is not emulated here"));
        }
        other => {
            let displayed: String = other.chars().take(100).collect();
            return Err(Ec2Error::value(format!("Value ({displayed}) for parameter attribute is invalid.")));
        }
    };
    query.end_dry_run()?;
    Ok(vec![Element::text("instanceId", id), attribute])
}
