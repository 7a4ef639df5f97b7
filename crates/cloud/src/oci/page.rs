//! Lists of objects: filters, order and pages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::error::OciError;
use crate::identifiers::is_ocid;
use crate::web::{Reply, Request};

/// Objects of a page without `limit`, and at most.
const LIMIT: (usize, usize) = (100, 1_000);

/// Query parameters that select objects, with the key of the view that they compare.
const FILTERS: [(&str, &str); 10] = [
    ("compartmentId", "compartmentId"),
    ("availabilityDomain", "availabilityDomain"),
    ("displayName", "displayName"),
    ("lifecycleState", "lifecycleState"),
    ("instanceId", "instanceId"),
    ("volumeId", "volumeId"),
    ("bootVolumeId", "bootVolumeId"),
    ("volumeGroupId", "volumeGroupId"),
    ("sourceVolumeId", "volumeId"),
    ("shape", "shape"),
];
/// Query parameters that have a meaning but select no objects.
const OTHERS: [&str; 6] = ["limit", "page", "sortBy", "sortOrder", "assetId", "isAvailable"];

/// Whether a list needs the parameter `compartmentId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compartment {
    Required,
    Optional,
}

/// The page of `views` that the request selects.
pub(super) fn page(request: &Request, views: Vec<Value>, compartment: Compartment) -> Result<Reply, OciError> {
    for (name, _) in &request.query {
        let known = FILTERS.iter().any(|(filter, _)| filter == name) || OTHERS.contains(&name.as_str());
        if !known {
            return Err(OciError::invalid(format!("unknown query parameter {name}")));
        }
    }
    match request.parameter("compartmentId") {
        Some(id) => known_compartment(id)?,
        None if compartment == Compartment::Required => return Err(OciError::missing("compartmentId")),
        None => {}
    }
    let mut selected: Vec<Value> = views.into_iter().filter(|view| is_selected(request, view)).collect();
    selected.sort_by_cached_key(|view| order_key(request, view));
    let is_ascending = match (request.parameter("sortOrder"), request.parameter("sortBy")) {
        (Some("ASC"), _) | (None, Some("DISPLAYNAME")) => true,
        (None | Some("DESC"), _) => false,
        (Some(_), _) => return Err(OciError::invalid("sortOrder is ASC or DESC")),
    };
    if !is_ascending {
        selected.reverse();
    }
    let limit = match request.parameter("limit") {
        None => LIMIT.0,
        Some(text) => match text.parse() {
            Ok(limit) if (1..=LIMIT.1).contains(&limit) => limit,
            _ => return Err(OciError::invalid(format!("limit is a number from 1 to {}", LIMIT.1))),
        },
    };
    let begin = match request.parameter("page") {
        None => 0,
        Some(token) => after(request, &selected, token, is_ascending)?,
    };
    let more = selected.len() > begin.saturating_add(limit);
    let shown: Vec<Value> = selected.into_iter().skip(begin).take(limit).collect();
    let next = shown.last().filter(|_| more).map(|last| URL_SAFE_NO_PAD.encode(order_key(request, last)));
    let reply = Reply::json(hyper::StatusCode::OK, &Value::Array(shown));
    Ok(match next {
        Some(token) => reply.with("opc-next-page", token),
        None => reply,
    })
}

/// Checks that an identifier can be that of a compartment.
pub(super) fn known_compartment(id: &str) -> Result<(), OciError> {
    if is_ocid(id, &["compartment", "tenancy"]) { Ok(()) } else { Err(OciError::not_found("compartment", id)) }
}

fn is_selected(request: &Request, view: &Value) -> bool {
    FILTERS.iter().all(|(parameter, key)| match request.parameter(parameter) {
        // Views without the key, such as those of backup policies, are of all compartments.
        Some(wanted) => view.get(*key).is_none_or(|value| value.as_str() == Some(wanted)),
        None => true,
    })
}

fn order_key(request: &Request, view: &Value) -> String {
    let text = |key: &str| view[key].as_str().unwrap_or_default().to_owned();
    let first = if request.parameter("sortBy") == Some("DISPLAYNAME") { "displayName" } else { "timeCreated" };
    format!("{}\n{}", text(first), text("id"))
}

/// Index after the object that a token names, which may no longer exist.
fn after(request: &Request, views: &[Value], token: &str, is_ascending: bool) -> Result<usize, OciError> {
    let key = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let key = key.ok_or_else(|| OciError::invalid("page is no token of a previous answer"))?;
    let is_before = |view: &Value| {
        let own = order_key(request, view);
        if is_ascending { own <= key } else { own >= key }
    };
    Ok(views.partition_point(is_before))
}
