//! Descriptions without an object of their own: statuses, attributes, regions, instance types and tags.

use plimsoll_service::{MachineLimit, MachineSummary};

use super::error::Ec2Error;
use super::query::{Query, selects};
use super::volumes;
use super::xml::Element;
use super::{Ec2Result, page};
use crate::cloud::{Operation, VolumeEntry};
use crate::record::Provider;

/// `DescribeVolumeStatus`: impaired while the store does not accept changes.
pub(super) fn volume_status(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId.", "Filter.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let filters = query.filters();
    let (status, check) = match operation.service().health() {
        Ok(_) => ("ok", "passed"),
        Err(_) => ("impaired", "failed"),
    };
    let mut items = Vec::new();
    for volume in wanted_volumes(operation, query)? {
        let is_selected = selects(&filters, |name| match name {
            "availability-zone" => Some(vec![volume.record.availability_domain.clone()]),
            "volume-status.status" => Some(vec![status.to_owned()]),
            _ => None,
        })?;
        if is_selected {
            items.push(Element::item(vec![
                Element::text("volumeId", &volume.record.id),
                Element::text("availabilityZone", &volume.record.availability_domain),
                Element::new(
                    "volumeStatus",
                    vec![
                        Element::text("status", status),
                        Element::set(
                            "details",
                            vec![detail("io-enabled", check), detail("io-performance", "not-applicable")],
                        ),
                    ],
                ),
                Element::set("eventsSet", Vec::new()),
                Element::set("actionsSet", Vec::new()),
            ]));
        }
    }
    page(query, "volumeStatusSet", items)
}

/// The volumes that a request names, or all.
fn wanted_volumes(operation: &mut Operation<'_>, query: &Query) -> Result<Vec<VolumeEntry>, Ec2Error> {
    match query.list("VolumeId").as_slice() {
        [] => Ok(operation.volumes(Provider::Ec2).into_iter().filter(|volume| volume.summary.writable).collect()),
        ids => ids.iter().map(|id| volumes::find(operation, id)).collect(),
    }
}

fn detail(name: &str, status: &str) -> Element {
    Element::item(vec![Element::text("name", name), Element::text("status", status)])
}

/// `DescribeVolumeAttribute`.
pub(super) fn volume_attribute(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId", "Attribute"])?;
    let id = volumes::find(operation, query.required("VolumeId")?)?.record.id;
    let attribute = match query.required("Attribute")? {
        "autoEnableIO" => Element::new("autoEnableIO", vec![Element::text("value", false)]),
        "productCodes" => Element::set("productCodes", Vec::new()),
        _ => return Err(Ec2Error::value("Attribute is autoEnableIO or productCodes.")),
    };
    query.end_dry_run()?;
    Ok(vec![Element::text("volumeId", id), attribute])
}

/// `DescribeRegions`: the region of the service.
pub(super) fn regions(operation: &Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["RegionName.", "Filter.", "AllRegions"])?;
    query.end_dry_run()?;
    let region = &operation.cloud.options.ec2_region;
    if let Some(other) = query.list("RegionName").into_iter().find(|name| name != region) {
        let displayed: String = other.chars().take(100).collect();
        return Err(Ec2Error::value(format!("Invalid region: {displayed}; the service has {region}")));
    }
    let endpoint = format!("ec2.{region}.amazonaws.com");
    let is_selected = selects(&query.filters(), |name| match name {
        "region-name" => Some(vec![region.clone()]),
        "endpoint" => Some(vec![endpoint.clone()]),
        "opt-in-status" => Some(vec!["opt-in-not-required".to_owned()]),
        _ => None,
    })?;
    let item = Element::item(vec![
        Element::text("regionName", region),
        Element::text("regionEndpoint", &endpoint),
        Element::text("optInStatus", "opt-in-not-required"),
    ]);
    Ok(vec![Element::set("regionInfo", if is_selected { vec![item] } else { Vec::new() })])
}

/// `DescribeInstanceTypes`: the machines of the catalogue. Figures that it does not have are left out.
pub(super) fn instance_types(operation: &Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["InstanceType.", "Filter.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let (requested, filters) = (query.list("InstanceType"), query.filters());
    let machines = operation.service().machines("aws");
    let name = |machine: &MachineSummary| machine.shape.name.trim_start_matches("aws/").to_owned();
    if let Some(unknown) =
        requested.iter().find(|requested| !machines.iter().any(|machine| name(machine) == **requested))
    {
        let displayed: String = unknown.chars().take(100).collect();
        let message = format!("The following supplied instance types do not exist: [{displayed}]");
        return Err(Ec2Error::new("InvalidInstanceType", message));
    }
    let mut items = Vec::new();
    for machine in &machines {
        let (name, shape) = (name(machine), &machine.shape);
        let architecture = if shape.arm { "arm64" } else { "x86_64" };
        let is_selected = selects(&filters, |filter| match filter {
            "instance-type" => Some(vec![name.clone()]),
            "processor-info.supported-architecture" => Some(vec![architecture.to_owned()]),
            "vcpu-info.default-vcpus" => Some(shape.vcpus.iter().map(ToString::to_string).collect()),
            _ => None,
        })?;
        if is_selected && (requested.is_empty() || requested.contains(&name.as_str())) {
            items.push(Element::item(type_fields(machine, &name, architecture)));
        }
    }
    page(query, "instanceTypeSet", items)
}

fn type_fields(machine: &MachineSummary, name: &str, architecture: &str) -> Vec<Element> {
    let shape = &machine.shape;
    let architectures = vec![Element::text("item", architecture)];
    let mut fields = vec![
        Element::text("instanceType", name),
        Element::new("processorInfo", vec![Element::set("supportedArchitectures", architectures)]),
        // Unknown here; Terraform treats an instance type without these elements as missing.
        Element::new("networkInfo", Vec::new()),
        Element::new("placementGroupInfo", Vec::new()),
    ];
    fields.extend(shape.vcpus.map(|vcpus| Element::new("vCpuInfo", vec![Element::text("defaultVCpus", vcpus)])));
    fields.extend(
        shape.memory.map(|memory| Element::new("memoryInfo", vec![Element::text("sizeInMiB", memory.get() >> 20)])),
    );
    let mut ebs = Vec::from_iter(shape.volumes.map(|volumes| Element::text("maximumEbsAttachments", volumes)));
    ebs.extend(
        Some(ebs_limits(machine))
            .filter(|limits| !limits.is_empty())
            .map(|limits| Element::new("ebsOptimizedInfo", limits)),
    );
    fields.push(Element::new("ebsInfo", ebs));
    fields
}

/// Limits of all volumes of an instance: the sustained one is the baseline of EC2.
fn ebs_limits(machine: &MachineSummary) -> Vec<Element> {
    let mut fields = Vec::new();
    if let Some(MachineLimit { sustained, burst }) = machine.bytes_per_second {
        // The network of the catalogue is the bandwidth to EBS; the sustained throughput is rounded for some machines.
        let baseline = machine.shape.network_bits_per_second.unwrap_or(sustained * 8.0);
        fields.push(Element::text("baselineBandwidthInMbps", (baseline / 1e6).round()));
        fields.push(Element::text("baselineThroughputInMBps", sustained / 1e6));
        fields.push(Element::text("maximumBandwidthInMbps", (burst * 8.0 / 1e6).round()));
        fields.push(Element::text("maximumThroughputInMBps", burst / 1e6));
    }
    if let Some(MachineLimit { sustained, burst }) = machine.iops {
        fields.extend([Element::text("baselineIops", sustained), Element::text("maximumIops", burst)]);
    }
    fields
}

/// `DescribeTags`: those of volumes and snapshots.
pub(super) fn tags(operation: &Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["Filter.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let filters = query.filters();
    let mut items = Vec::new();
    for volume in operation.volumes(Provider::Ec2) {
        let kind = if volume.summary.writable { "volume" } else { "snapshot" };
        for (key, value) in &volume.record.freeform_tags {
            let value = value.as_str().unwrap_or_default();
            let is_selected = selects(&filters, |name| match name {
                "resource-id" => Some(vec![volume.record.id.clone()]),
                "resource-type" => Some(vec![kind.to_owned()]),
                "key" => Some(vec![key.clone()]),
                "value" => Some(vec![value.to_owned()]),
                name => name.strip_prefix("tag:").map(|tag_key| {
                    let is_key = tag_key == key;
                    is_key.then(|| value.to_owned()).into_iter().collect()
                }),
            })?;
            if is_selected {
                items.push(Element::item(vec![
                    Element::text("resourceId", &volume.record.id),
                    Element::text("resourceType", kind),
                    Element::text("key", key),
                    Element::text("value", value),
                ]));
            }
        }
    }
    page(query, "tagSet", items)
}

/// `GetEbsEncryptionByDefault` and `DisableEbsEncryptionByDefault`: volumes are not encrypted.
pub(super) fn no_encryption(query: &Query) -> Ec2Result {
    query.only(&[])?;
    query.end_dry_run()?;
    Ok(vec![Element::text("ebsEncryptionByDefault", false)])
}

/// `EnableEbsEncryptionByDefault`: refused.
pub(super) fn encryption(query: &Query) -> Ec2Result {
    query.only(&[])?;
    Err(Ec2Error::new("UnsupportedOperation", "encryption is not emulated here"))
}

#[cfg(test)]
mod tests {
    use plimsoll_service::{MachineLimit, MachineShape, MachineSummary};

    use super::type_fields;
    use crate::ec2::xml::Element;

    #[test]
    fn unknown_limits_of_an_instance_type_are_left_out() {
        let shape = MachineShape {
            name: "aws/x".into(),
            vcpus: None,
            sustained_vcpus: None,
            memory: None,
            network_bits_per_second: None,
            volumes: None,
            arm: false,
        };
        let unknown = MachineSummary { shape, iops: None, bytes_per_second: None };
        assert_eq!(type_fields(&unknown, "x", "x86_64").last(), Some(&Element::new("ebsInfo", Vec::new())));
        let iops = Some(MachineLimit { sustained: 250.0, burst: 11_800.0 });
        let limits = vec![Element::text("baselineIops", 250), Element::text("maximumIops", 11_800)];
        let limited = MachineSummary { iops, ..unknown };
        let ebs = Element::new("ebsInfo", vec![Element::new("ebsOptimizedInfo", limits)]);
        assert_eq!(type_fields(&limited, "x", "x86_64").last(), Some(&ebs));
    }
}
