//! Lists of objects: filters, order and pages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::error::OciError;
use crate::identifiers::is_ocid;
use crate::web::{Reply, Request};

/// Objects of a page without `limit`, and at most.
const LIMIT: (usize, usize) = (100, 1_000);

/// Query parameters that select objects, with the path of the value that they compare.
const FILTERS: [(&str, &str); 20] = [
    ("compartmentId", "/compartmentId"),
    ("availabilityDomain", "/availabilityDomain"),
    ("displayName", "/displayName"),
    ("name", "/name"),
    ("lifecycleState", "/lifecycleState"),
    ("instanceId", "/instanceId"),
    ("volumeId", "/volumeId"),
    ("bootVolumeId", "/bootVolumeId"),
    ("volumeGroupId", "/volumeGroupId"),
    ("sourceVolumeBackupId", "/sourceVolumeBackupId"),
    ("sourceBootVolumeBackupId", "/sourceBootVolumeBackupId"),
    ("shape", "/shape"),
    ("resourceId", "/resources/0/identifier"),
    // Of objects that are not emulated, and of properties that no object has.
    ("operatingSystem", "/operatingSystem"),
    ("operatingSystemVersion", "/operatingSystemVersion"),
    ("vcnId", "/vcnId"),
    ("volumeGroupReplicaId", "/volumeGroupReplicaId"),
    ("capacityReservationId", "/capacityReservationId"),
    ("computeClusterId", "/computeClusterId"),
    ("clusterPlacementGroupId", "/clusterPlacementGroupId"),
];
/// Query parameters that have a meaning but select no objects. All shapes are for all images.
const OTHERS: [&str; 6] = ["limit", "page", "sortBy", "sortOrder", "assetId", "imageId"];
/// Query parameters of the list of compartments alone.
const OF_COMPARTMENTS: [&str; 2] = ["accessLevel", "compartmentIdInSubtree"];

/// Whether a list needs the parameter `compartmentId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compartment {
    Required,
    Optional,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortOrder {
    Ascending,
    Descending,
}

/// The page of `views` that the request selects.
pub(super) fn page(request: &Request, views: Vec<Value>, compartment: Compartment) -> Result<Reply, OciError> {
    let is_of_compartments = request.segments.get(1).is_some_and(|collection| collection == "compartments");
    for (name, _) in &request.query {
        let is_defined = FILTERS.iter().any(|(filter, _)| filter == name)
            || OTHERS.contains(&name.as_str())
            || (is_of_compartments && OF_COMPARTMENTS.contains(&name.as_str()));
        if !is_defined {
            return Err(OciError::invalid(format!("unknown query parameter {name}")));
        }
    }
    match request.parameter("compartmentId") {
        Some(id) => known_compartment(id)?,
        None if compartment == Compartment::Required => return Err(OciError::missing("compartmentId")),
        None => {}
    }
    let usual = match request.parameter("sortBy") {
        None | Some("TIMECREATED") => SortOrder::Descending,
        Some("DISPLAYNAME") if !is_of_compartments => SortOrder::Ascending,
        Some("NAME") if is_of_compartments => SortOrder::Ascending,
        Some(_) => {
            let name = if is_of_compartments { "NAME" } else { "DISPLAYNAME" };
            return Err(OciError::invalid(format!("sortBy is TIMECREATED or {name}")));
        }
    };
    let order = SortOrder::read(request.parameter("sortOrder"), usual)?;
    let selected = views.into_iter().filter(|view| is_selected(request, view)).collect();
    sorted_page(request, selected, order, |view| order_key(request, view))
}

/// The page of sorted views that the request names.
pub(super) fn sorted_page(
    request: &Request,
    mut views: Vec<Value>,
    order: SortOrder,
    key: impl Fn(&Value) -> String,
) -> Result<Reply, OciError> {
    views.sort_by_cached_key(&key);
    if order == SortOrder::Descending {
        views.reverse();
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
        Some(token) => after(&views, token, order, &key)?,
    };
    let more = views.len() > begin.saturating_add(limit);
    let page_views: Vec<Value> = views.into_iter().skip(begin).take(limit).collect();
    let next = page_views.last().filter(|_| more).map(|last| URL_SAFE_NO_PAD.encode(key(last)));
    let reply = Reply::json(hyper::StatusCode::OK, &Value::Array(page_views));
    Ok(match next {
        Some(token) => reply.with("opc-next-page", token),
        None => reply,
    })
}

impl SortOrder {
    /// Parses an order of a request, or takes the usual one.
    pub fn read(text: Option<&str>, usual: Self) -> Result<Self, OciError> {
        match text {
            None => Ok(usual),
            Some("ASC") => Ok(Self::Ascending),
            Some("DESC") => Ok(Self::Descending),
            Some(_) => Err(OciError::invalid("sortOrder is ASC or DESC")),
        }
    }
}

/// Checks that an identifier can be that of a compartment.
pub(super) fn known_compartment(id: &str) -> Result<(), OciError> {
    if is_ocid(id, &["compartment", "tenancy"]) { Ok(()) } else { Err(OciError::not_found("compartment", id)) }
}

/// True for the root compartment, which is the tenancy.
pub(super) fn is_root(id: &str) -> bool {
    is_ocid(id, &["tenancy"])
}

/// Whether a request is for a compartment and those below it, which OCI permits for the root.
pub(super) fn in_subtree(request: &Request) -> Result<bool, OciError> {
    match request.parameter("compartmentIdInSubtree") {
        None | Some("false") => Ok(false),
        Some("true") if request.parameter("compartmentId").is_some_and(is_root) => Ok(true),
        Some(_) => Err(OciError::invalid("compartmentIdInSubtree is false, or true for the root compartment")),
    }
}

fn is_selected(request: &Request, view: &Value) -> bool {
    FILTERS.iter().all(|(parameter, path)| match (request.parameter(parameter), view.pointer(path)) {
        (None, _) => true,
        // Views without these, such as those of shapes and backup policies, are of all compartments and domains.
        (Some(_), None) => ["compartmentId", "availabilityDomain"].contains(parameter),
        (Some(expected), Some(value)) => value.as_str() == Some(expected),
    })
}

fn order_key(request: &Request, view: &Value) -> String {
    let text = |key: &str| view[key].as_str().unwrap_or_default().to_owned();
    let first = match request.parameter("sortBy") {
        Some("DISPLAYNAME") => "displayName",
        Some("NAME") => "name",
        _ => "timeCreated",
    };
    format!("{}\n{}", text(first), text("id"))
}

/// Index after the object that a token names, which may no longer exist.
fn after(views: &[Value], token: &str, order: SortOrder, key: &impl Fn(&Value) -> String) -> Result<usize, OciError> {
    let last = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let last = last.ok_or_else(|| OciError::invalid("page is no token of a previous answer"))?;
    Ok(views.partition_point(|view| match order {
        SortOrder::Ascending => key(view) <= last,
        SortOrder::Descending => key(view) >= last,
    }))
}
