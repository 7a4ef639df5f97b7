//! Backup policies that Oracle defines, and their assignments. Assignments are recorded; no backup is taken by a schedule.

use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::OciError;
use super::page::{Compartment, page};
use super::volumes::any_volume;
use super::{OciResult, etag_of, found, parse};
use crate::cloud::{Operation, new_ocid};
use crate::identifiers::{hex, kind};
use crate::record::{Assignment, Provider};
use crate::web::{Reply, Request};

/// Policies with the periods of their schedules and the retention in seconds (OCI, Policy-Based Backups; recalled).
const POLICIES: [(&str, &[(&str, u64)]); 3] = [
    ("gold", &[("ONE_DAY", 604_800), ("ONE_WEEK", 2_419_200), ("ONE_MONTH", 31_557_600), ("ONE_YEAR", 157_788_000)]),
    ("silver", &[("ONE_WEEK", 2_419_200), ("ONE_MONTH", 31_557_600), ("ONE_YEAR", 157_788_000)]),
    ("bronze", &[("ONE_MONTH", 31_557_600), ("ONE_YEAR", 157_788_000)]),
];
const CREATED: &str = "2017-12-05T00:00:00.000Z";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AssignDetails {
    asset_id: String,
    policy_id: String,
}

/// Operations of `/volumeBackupPolicies` and `/volumeBackupPolicyAssignments`.
pub(super) fn route(operation: &mut Operation<'_>, request: &Request, collection: &str, rest: &[&str]) -> OciResult {
    match (collection, &request.method, rest) {
        ("volumeBackupPolicies", &Method::GET, []) => {
            page(request, POLICIES.iter().map(policy_view).collect(), Compartment::Optional)
        }
        ("volumeBackupPolicies", &Method::GET, [id]) => {
            let policy = POLICIES.iter().find(|(name, _)| format_policy_id(name) == *id);
            let policy = policy.ok_or_else(|| OciError::not_found("volumeBackupPolicy", id))?;
            Ok(found(&policy_view(policy), etag_of(id)))
        }
        ("volumeBackupPolicyAssignments", &Method::GET, []) => {
            let asset = request.parameter("assetId").ok_or_else(|| OciError::missing("assetId"))?;
            let views = assignments(operation).into_iter().filter(|view| view["assetId"] == asset).collect();
            page(request, views, Compartment::Optional)
        }
        ("volumeBackupPolicyAssignments", &Method::GET, [id]) => {
            let view = assignments(operation).into_iter().find(|view| view["id"] == *id);
            Ok(found(&view.ok_or_else(|| OciError::not_found("volumeBackupPolicyAssignment", id))?, etag_of(id)))
        }
        ("volumeBackupPolicyAssignments", &Method::POST, []) => assign(operation, request),
        ("volumeBackupPolicyAssignments", &Method::DELETE, [id]) => remove(operation, id),
        (_, _, [] | [_]) => Err(OciError::method()),
        _ => Err(OciError::no_path()),
    }
}

fn format_policy_id(name: &str) -> String {
    let unique = hex(name.as_bytes());
    format!("ocid1.volumebackuppolicy.oc1..a{unique}")
}

fn policy_view((name, schedules): &(&str, &[(&str, u64)])) -> Value {
    let schedule = |(period, retention): &(&str, u64)| json!({ "backupType": "INCREMENTAL", "period": period, "retentionSeconds": retention, "timeZone": "UTC" });
    json!({
        "id": format_policy_id(name),
        "displayName": name,
        "schedules": schedules.iter().map(schedule).collect::<Vec<Value>>(),
        "timeCreated": CREATED,
        "freeformTags": {},
        "definedTags": {},
    })
}

/// A new assignment of a known policy.
pub(super) fn new_assignment(operation: &Operation<'_>, policy: &str) -> Result<Assignment, OciError> {
    if !POLICIES.iter().any(|(name, _)| format_policy_id(name) == policy) {
        return Err(OciError::not_found("volumeBackupPolicy", policy));
    }
    let (id, created) = (new_ocid(operation, kind::ASSIGNMENT), operation.moment());
    Ok(Assignment { id, policy: policy.to_owned(), created })
}

fn assignments(operation: &Operation<'_>) -> Vec<Value> {
    let view = |asset: &str, Assignment { id, policy, created }: &Assignment| json!({ "id": id, "assetId": asset, "policyId": policy, "timeCreated": created });
    let volumes = operation.volumes(Provider::Oci).into_iter();
    let of_volumes = volumes
        .filter_map(|volume| Some(view(&volume.record.id, volume.record.policy.as_ref()?)))
        .collect::<Vec<Value>>();
    let groups = operation.state.objects.groups.values();
    let of_groups = groups.filter_map(|group| Some(view(&group.id, group.policy.as_ref()?)));
    of_groups.chain(of_volumes).collect()
}

fn assign(operation: &mut Operation<'_>, request: &Request) -> OciResult {
    let AssignDetails { asset_id, policy_id } = parse(request)?;
    let assignment = new_assignment(operation, &policy_id)?;
    let view = json!({
        "id": assignment.id, "assetId": asset_id, "policyId": policy_id, "timeCreated": assignment.created,
    });
    let etag = etag_of(&assignment.id);
    if let Some(group) = operation.state.objects.groups.get_mut(&asset_id) {
        group.policy = Some(assignment);
        operation.commit()?;
    } else {
        let mut volume = any_volume(operation, &asset_id)?;
        volume.record.policy = Some(assignment);
        operation.store(&volume)?;
    }
    Ok(found(&view, etag))
}

fn remove(operation: &mut Operation<'_>, id: &str) -> OciResult {
    let is_it = |assignment: &Option<Assignment>| assignment.as_ref().is_some_and(|assignment| assignment.id == id);
    let of_group = operation.state.objects.groups.values_mut().find(|group| is_it(&group.policy));
    if let Some(group) = of_group {
        group.policy = None;
        operation.commit()?;
        return Ok(Reply::empty(StatusCode::NO_CONTENT));
    }
    let volume = operation.volumes(Provider::Oci).into_iter().find(|volume| is_it(&volume.record.policy));
    let mut volume = volume.ok_or_else(|| OciError::not_found("volumeBackupPolicyAssignment", id))?;
    volume.record.policy = None;
    operation.store(&volume)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
