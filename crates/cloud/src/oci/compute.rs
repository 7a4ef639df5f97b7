//! Instances, their devices, availability domains and work requests.

use hyper::{Method, StatusCode};
use plimsoll_service::GroupSummary;
use serde_json::{Value, json};

use super::error::OciError;
use super::page::{Compartment, page};
use super::{OciResult, attachments, etag_of, found};
use crate::cloud::{Operation, moment};
use crate::keys::TENANCY;
use crate::record::{Provider, WorkRequest};
use crate::web::{Reply, Request};

/// Moment of creation of instances, which the service does not record.
const CREATED: &str = "2026-01-01T00:00:00.000Z";

/// Operations of all other collections.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, collection: &str, rest: &[&str]) -> OciResult {
    match (collection, &request.method, rest) {
        ("instances", &Method::GET, []) => {
            let instances = operation.instances(Provider::Oci);
            let views = instances.iter().map(|(id, group)| build_view(operation, id, group)).collect();
            page(request, views, Compartment::Required)
        }
        ("instances", &Method::GET, [id]) => {
            let group = find_instance(operation, id)?;
            Ok(found(&build_view(operation, id, &group), etag_of(id)))
        }
        ("instances", &Method::GET, [id, "devices"]) => devices(operation, request, id),
        ("instances", &Method::POST, []) => Err(OciError::invalid(
            "instances are created with plimsoll instance create NAME --shape VM.Standard.E4.Flex:16ocpu",
        )),
        ("instances", &Method::POST, [id]) => {
            find_instance(operation, id)?;
            let action: String = request.parameter("action").unwrap_or_default().chars().take(40).collect();
            Err(OciError::conflict(format!(
                "action {action}: an instance is the limits that its volumes share, without an operating system, and runs as \
                 long as the service"
            )))
        }
        ("instances", &Method::DELETE, [id]) => {
            let group = find_instance(operation, id)?;
            operation.service().delete_group(&group.name)?;
            Ok(Reply::empty(StatusCode::NO_CONTENT))
        }
        ("availabilityDomains", &Method::GET, []) => {
            let compartment = request.parameter("compartmentId").ok_or_else(|| OciError::missing("compartmentId"))?;
            super::page::known_compartment(compartment)?;
            let domain = |name: String| json!({ "name": name, "compartmentId": compartment, "id": format!("ocid1.availabilitydomain.oc1..{}", name.replace(':', "-")) });
            let views: Vec<Value> = operation.availability_domains().into_iter().map(domain).collect();
            Ok(Reply::json(StatusCode::OK, &Value::Array(views)))
        }
        ("bootVolumeAttachments", &Method::GET, []) => {
            page(request, attachments::boot_views(operation), Compartment::Required)
        }
        ("bootVolumeAttachments", &Method::GET, [id]) => {
            let view = attachments::boot_views(operation).into_iter().find(|view| view["id"] == *id);
            Ok(found(&view.ok_or_else(|| OciError::not_found("bootVolumeAttachment", id))?, etag_of(id)))
        }
        ("bootVolumeAttachments", &Method::POST, []) => attachments::attach(operation, request),
        ("bootVolumeAttachments", &Method::DELETE, [id]) => attachments::route(operation, request, &[id]),
        ("workRequests", &Method::GET, []) => {
            let requests = operation.state.objects.work_requests.iter();
            let views = requests.map(|(id, work)| work_view(operation, id, work)).collect();
            page(request, views, Compartment::Required)
        }
        ("workRequests", &Method::GET, [id]) => {
            let work = operation.state.objects.work_requests.get(*id);
            let work = work.ok_or_else(|| OciError::not_found("workRequest", id))?;
            Ok(found(&work_view(operation, id, work), etag_of(id)))
        }
        ("workRequests", &Method::GET, [_, "errors" | "logs"]) => Ok(Reply::json(StatusCode::OK, &json!([]))),
        ("instances" | "availabilityDomains" | "bootVolumeAttachments" | "workRequests", _, [] | [_]) => {
            Err(OciError::method())
        }
        _ => Err(OciError::no_path()),
    }
}

fn find_instance(operation: &Operation<'_>, id: &str) -> Result<GroupSummary, OciError> {
    let instance = operation.instances(Provider::Oci).into_iter().find(|(existing, _)| existing == id);
    instance.map(|(_, group)| group).ok_or_else(|| OciError::not_found("instance", id))
}

/// An instance as clients see it.
pub(crate) fn build_view(operation: &Operation<'_>, id: &str, group: &GroupSummary) -> Value {
    let shape = group.shape.as_ref();
    let name = shape.map_or(group.like.as_str(), |shape| &shape.name).trim_start_matches("oci/");
    let ocpus = group.settings.iter().find(|(name, _)| name == "ocpu").map(|(_, value)| *value);
    json!({
        "id": id,
        "availabilityDomain": operation.availability_domains().first(),
        "compartmentId": TENANCY,
        "displayName": group.name,
        "lifecycleState": "RUNNING",
        "region": operation.region(),
        "shape": name,
        "shapeConfig": {
            "ocpus": ocpus,
            "vcpus": shape.and_then(|shape| shape.vcpus),
            "memoryInGBs": shape.and_then(|shape| shape.memory).map(|memory| memory.get() >> 30),
            "networkingBandwidthInGbps":
                shape.and_then(|shape| shape.network_bits_per_second).map(|rate| rate / 1e9),
        },
        "timeCreated": CREATED,
        "freeformTags": {},
        "definedTags": {},
    })
}

fn devices(operation: &Operation<'_>, request: &Request, id: &str) -> OciResult {
    let group = find_instance(operation, id)?;
    let used = attachments::devices_in_use(operation, &group.name);
    let device = |name: String| json!({ "name": name, "isAvailable": !used.contains(&name) });
    let mut views: Vec<Value> = attachments::devices().into_iter().map(device).collect();
    if let Some(required) = request.parameter("isAvailable") {
        views.retain(|view| view["isAvailable"].as_bool() == Some(required == "true"));
    }
    if let Some(required) = request.parameter("name") {
        views.retain(|view| view["name"] == required);
    }
    Ok(Reply::json(StatusCode::OK, &Value::Array(views)))
}

fn work_view(operation: &Operation<'_>, id: &str, work: &WorkRequest) -> Value {
    let is_done = operation.now_ns >= work.until_ns;
    let total = work.until_ns.saturating_sub(work.accepted_ns).max(1);
    let done = operation.now_ns.saturating_sub(work.accepted_ns).min(total);
    let percent = if is_done { 100.0 } else { (done * 100 / total) as f64 };
    json!({
        "id": id,
        "operationType": work.operation,
        "status": if is_done { "SUCCEEDED" } else { "IN_PROGRESS" },
        "compartmentId": work.compartment,
        "percentComplete": percent,
        "resources": [{
            "actionType": "RELATED",
            "entityType": work.entity,
            "identifier": work.resource,
            "entityUri": format!("/20160918/volumeAttachments/{}", work.resource),
        }],
        "timeAccepted": work.accepted,
        "timeStarted": work.accepted,
        "timeFinished": is_done.then(|| moment(work.until_ns)),
    })
}
