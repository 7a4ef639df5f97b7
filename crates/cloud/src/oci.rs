//! The API of OCI Block Volume and Compute (version 20160918), as far as volumes need it.

mod attachments;
mod autotune;
mod backups;
mod compute;
mod descriptions;
mod error;
mod groups;
mod metrics;
mod page;
mod policies;
mod signature;
mod volumes;

pub(crate) use self::attachments::{attachment_views, update as update_attachment};
pub(crate) use self::compute::build_view as instance_view;

use axum::Router;
use hyper::{Method, StatusCode};
use ring::digest::{SHA256, digest};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::error::OciError;
use self::page::{Compartment, page};
use crate::cloud::{Cloud, Operation, VolumeEntry, VolumeKind};
use crate::identifiers::hex;
use crate::record::{Provider, Retry};
use crate::web::{Plane, Reply, Request};

/// Version of the API, first segment of all paths.
const VERSION: &str = "20160918";
/// Maximum length of a display name.
const DISPLAY_NAME_MAX: usize = 255;

pub(crate) type OciResult = Result<Reply, OciError>;

#[derive(Clone, Debug)]
struct Oci(Cloud);

/// Router of the API of OCI over all volumes of a service.
pub fn oci(cloud: &Cloud) -> Router {
    crate::web::router(Oci(cloud.clone()))
}

impl Plane for Oci {
    const NAME: &str = "oci";

    fn reply(&self, request: &Request) -> Reply {
        let done = self.signed(request);
        let reply = done.unwrap_or_else(|error| error.reply());
        let id = request.header("opc-request-id").filter(|id| id.len() <= 255).map(str::to_owned);
        reply
            .with("opc-request-id", id.unwrap_or_else(|| hex(&crate::identifiers::random::<16>()).to_ascii_uppercase()))
    }

    fn unreadable(&self, status: StatusCode, why: &str) -> Reply {
        OciError::other(status, why).reply()
    }
}

impl Oci {
    fn signed(&self, request: &Request) -> OciResult {
        let keys = self.0.inner().keys.get();
        let signer = signature::signer(request, &keys, crate::cloud::unix_time_ns());
        signer.ok_or_else(OciError::not_authenticated)?;
        let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        let mut operation = self.0.operation();
        match segments.as_slice() {
            [VERSION, collection, rest @ ..] => route(&mut operation, request, collection, rest),
            [metrics::VERSION, "metrics", "actions", "summarizeMetricsData"] if request.method == Method::POST => {
                metrics::summarize(&operation, request)
            }
            [metrics::VERSION, "metrics", "actions", "listMetrics"] if request.method == Method::POST => {
                metrics::list(&operation, request)
            }
            _ => Err(OciError::no_path()),
        }
    }
}

/// Calls the operation of a path.
fn route(operation: &mut Operation<'_>, request: &Request, collection: &str, rest: &[&str]) -> OciResult {
    match collection {
        "volumes" => volumes::route(operation, request, VolumeKind::Block, rest),
        "bootVolumes" => volumes::route(operation, request, VolumeKind::Boot, rest),
        "volumeBackups" => backups::route(operation, request, VolumeKind::Block, rest),
        "bootVolumeBackups" => backups::route(operation, request, VolumeKind::Boot, rest),
        "volumeGroups" => groups::route(operation, request, rest),
        "volumeGroupBackups" => groups::route_backups(operation, request, rest),
        "volumeAttachments" => attachments::route(operation, request, rest),
        "volumeBackupPolicies" | "volumeBackupPolicyAssignments" => {
            policies::route(operation, request, collection, rest)
        }
        _ => descriptions::route(operation, request, collection, rest)
            .unwrap_or_else(|| compute::route(operation, request, collection, rest)),
    }
}

/// Parses a body; unknown fields are refused.
fn parse<T: DeserializeOwned>(request: &Request) -> Result<T, OciError> {
    serde_json::from_slice(&request.body)
        .map_err(|error| OciError::invalid(format!("the body of the request: {error}")))
}

/// Checks `if-match` against the present etag.
fn check_etag(request: &Request, etag: &str) -> Result<(), OciError> {
    match request.header("if-match") {
        Some(required) if required != etag && required != "*" => Err(OciError::etag()),
        _ => Ok(()),
    }
}

/// Etag of a value that identifies a version of an object.
fn etag_of(version: &str) -> String {
    hex(&digest(&SHA256, version.as_bytes()).as_ref()[..16])
}

fn compute_etag(volume: &VolumeEntry) -> String {
    let summary = &volume.summary;
    etag_of(&format!("{}\n{}\n{:?}\n{}", volume.record.text(), summary.size_bytes, summary.level, summary.like))
}

/// A found object with its etag.
fn found(view: &Value, etag: String) -> Reply {
    Reply::json(StatusCode::OK, view).with("etag", etag)
}

/// The retry token of a request for a new object.
fn retry(operation: &Operation<'_>, request: &Request) -> Option<Retry> {
    let token = request.header("opc-retry-token").filter(|token| !token.is_empty() && token.len() <= 64)?;
    Some(Retry {
        token: token.to_owned(),
        digest: hex(digest(&SHA256, &request.body).as_ref()),
        until_ns: operation.now_ns.saturating_add(operation.cloud.durations.nanos("retry_token")),
    })
}

/// True if `existing` is the same request as `new`; refused if the token was used with another body.
fn is_repeated(existing: Option<&Retry>, new: Option<&Retry>, now_ns: u64) -> Result<bool, OciError> {
    match (existing, new) {
        (Some(existing), Some(new)) if existing.token == new.token && now_ns < existing.until_ns => {
            if existing.digest == new.digest { Ok(true) } else { Err(OciError::token()) }
        }
        _ => Ok(false),
    }
}

/// Display name of a new object.
fn display_name(given: Option<String>, usual: &str, operation: &Operation<'_>) -> Result<String, OciError> {
    match given {
        Some(name) if name.is_empty() || name.chars().count() > DISPLAY_NAME_MAX => {
            Err(OciError::invalid(format!("displayName has 1 to {DISPLAY_NAME_MAX} characters")))
        }
        Some(name) => Ok(name),
        None => {
            let digits: String = operation.moment().chars().filter(char::is_ascii_digit).take(14).collect();
            Ok(format!("{usual}{digits}"))
        }
    }
}

/// Availability domain of a new object.
fn availability_domain(given: Option<String>, operation: &Operation<'_>) -> Result<String, OciError> {
    let existing = operation.availability_domains();
    match given {
        None => Ok(existing.into_iter().next().unwrap_or_default()),
        Some(given) => {
            // The prefix of a real name is that of a tenancy: only the domain's own part is compared.
            let own = |name: &str| name.rsplit(':').next().unwrap_or_default().to_ascii_uppercase();
            let is_known = existing.iter().any(|existing| own(existing) == own(&given));
            let names = existing.join(", ");
            if is_known {
                Ok(given)
            } else {
                Err(OciError::invalid(format!("availabilityDomain {given}: there are {names}")))
            }
        }
    }
}

/// An object that has ended and is still shown.
fn find_ended(operation: &Operation<'_>, collection: &str, id: &str) -> Option<Value> {
    let ended = operation.state.objects.ended.get(id).filter(|ended| ended.collection == collection)?;
    let retention_ns = operation.cloud.durations.nanos("ended_objects_are_listed");
    if operation.now_ns >= ended.until_ns.saturating_add(retention_ns) {
        return None;
    }
    let state = if operation.now_ns < ended.until_ns { "TERMINATING" } else { "TERMINATED" };
    let mut view = ended.view.clone();
    view["lifecycleState"] = state.into();
    Some(view)
}

/// A page of the present objects of a collection, and of those that have ended and are still shown.
fn list(
    operation: &Operation<'_>,
    request: &Request,
    collection: &str,
    mut views: Vec<Value>,
    compartment: Compartment,
) -> OciResult {
    views.extend(operation.state.objects.ended.keys().filter_map(|id| find_ended(operation, collection, id)));
    page(request, views, compartment)
}

/// An object and its etag, or an object that has ended and is still shown, or else the error.
fn get(operation: &Operation<'_>, collection: &str, id: &str, present: Result<(Value, String), OciError>) -> OciResult {
    let (view, etag) =
        present.or_else(|error| find_ended(operation, collection, id).map(|view| (view, etag_of(id))).ok_or(error))?;
    Ok(found(&view, etag))
}

/// Reply to a deletion without an object: a repeated request succeeds.
fn deleted_before(operation: &Operation<'_>, collection: &str, id: &str, error: OciError) -> OciResult {
    find_ended(operation, collection, id).map(|_| Reply::empty(StatusCode::NO_CONTENT)).ok_or(error)
}

/// The volume or backup that a repeated request has created.
fn created_before(
    operation: &Operation<'_>,
    retry: Option<&Retry>,
    is_wanted: impl Fn(&VolumeEntry) -> bool,
) -> Result<Option<VolumeEntry>, OciError> {
    for volume in operation.volumes(Provider::Oci).into_iter().filter(is_wanted) {
        if is_repeated(volume.record.retry.as_ref(), retry, operation.now_ns)? {
            return Ok(Some(volume));
        }
    }
    Ok(None)
}

/// A volume or backup by identifier.
fn find(operation: &mut Operation<'_>, id: &str) -> Option<VolumeEntry> {
    operation.find(id, Provider::Oci)
}

/// Only the method of an operation is left to be wrong.
fn only(request: &Request, methods: &[Method]) -> OciError {
    if methods.contains(&request.method) { OciError::no_path() } else { OciError::method() }
}
