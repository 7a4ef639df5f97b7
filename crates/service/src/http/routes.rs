//! Route table of the control API. The router and the `OpenAPI` document are generated from it.
//!
//! Each entry binds a verb and a path to a method of [`Service`]. The types of bodies and responses are those of the
//! method, so document and implementation cannot diverge.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use hyper::StatusCode;
use hyper::header::{ACCEPT_LANGUAGE, CONTENT_TYPE};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use plimsoll_language::{Language, label, say};

use super::{metrics, openapi, read_body};
use crate::api::{
    About, Attachment, Autotune, Create, ErrorBody, Faults, Fork, Group, Level, Recording, Resize, Restore, Scrub,
    Stats,
};
use crate::{Refusal, RefusalKind, Service};

/// HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }

    const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// Generator of a type's schema, as a reference.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Content of a response.
#[derive(Clone, Copy)]
pub(super) enum ResponseContent {
    Json(SchemaOf),
    /// Any JSON object.
    Document,
    /// Text of this media type.
    Text(&'static str),
    Nothing,
}

/// An operation of the API.
#[derive(Clone)]
pub(super) struct Route {
    pub verb: Verb,
    pub path: &'static str,
    /// `operationId` in the document.
    pub id: &'static str,
    /// A sentence without its full stop.
    pub summary: &'static str,
    /// Optional numeric query parameter: name and description.
    pub number: Option<(&'static str, &'static str)>,
    pub body: Option<SchemaOf>,
    pub status: StatusCode,
    pub content: ResponseContent,
    act: Act,
}

type Act = Arc<dyn Fn(&Service, &RouteInput) -> Result<Vec<u8>, Refusal> + Send + Sync>;

/// Parameters of a request: path, query and body.
#[derive(Default)]
struct RouteInput {
    name: String,
    number: Option<u64>,
    body: Bytes,
}

const VOLUMES: &str = "/v1/volumes";
const VOLUME: &str = "/v1/volumes/{name}";
const SCRUB: &str = "/v1/scrub";
const GROUPS: &str = "/v1/groups";
const FAULTS: &str = "/v1/volumes/{name}/faults";
const AUTOTUNE: &str = "/v1/volumes/{name}/autotune";
const ATTACHMENT: &str = "/v1/volumes/{name}/attachment";
const ISCSI: &str = "/v1/volumes/{name}/iscsi";
const RECORDING: &str = "/v1/volumes/{name}/recording";

/// All routes.
pub(super) fn list_routes() -> Vec<Route> {
    let mut table = vec![
        read(VOLUMES, "listVolumes", "All volumes and snapshots, by name", |s: &Service, _| s.list()),
        write(Verb::Post, VOLUMES, "createVolume", "Create a volume", |s, _, b: &Create| s.create(b)).created(),
        read(VOLUME, "getVolume", "A volume by name", Service::volume),
        remove(VOLUME, "deleteVolume", "Delete an unused volume", Service::delete),
        build_stats_route(),
    ];
    table.extend(changes());
    table.extend(lifecycle());
    table.extend(iscsi());
    table.extend(service_routes());
    table
}

/// Route of the statistics, with a limit on the number of seconds.
fn build_stats_route() -> Route {
    let content = ResponseContent::Json(SchemaGenerator::subschema_for::<Stats>);
    let act = |service: &Service, input: &RouteInput| {
        let mut stats = service.stats(&input.name)?;
        let max = input.number.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
        stats.periods.drain(..stats.periods.len().saturating_sub(max));
        Ok(json(&stats))
    };
    let summary = "Counters, and the fidelity of recent seconds";
    let route = Route::new(Verb::Get, "/v1/volumes/{name}/stats", "getStats", summary, content, act);
    Route { number: Some(("periods", "Maximum number of seconds; default: all that are kept")), ..route }
}

/// Routes that change a volume.
fn changes() -> [Route; 5] {
    let post = Verb::Post;
    [
        write(
            post,
            "/v1/volumes/{name}/level",
            "changeLevel",
            "Change level or product, online if the real product can do so",
            |s: &Service, n: &str, b: &Level| s.level(n, b),
        ),
        write(post, "/v1/volumes/{name}/resize", "resizeVolume", "Enlarge a volume", |s, n, b: &Resize| s.resize(n, b)),
        write(
            post,
            "/v1/volumes/{name}/snapshot",
            "createSnapshot",
            "Create a snapshot: a read-only volume with the present content",
            |s: &Service, n: &str, b: &Fork| s.snapshot(n, b),
        )
        .created(),
        write(
            post,
            "/v1/volumes/{name}/clone",
            "createClone",
            "Create a clone: a writable volume with the present content",
            |s: &Service, n: &str, b: &Fork| s.clone_volume(n, b),
        )
        .created(),
        write(
            post,
            "/v1/volumes/{name}/restore",
            "restoreVolume",
            "Replace the content with that of another volume",
            |s: &Service, n: &str, b: &Restore| s.restore(n, b),
        ),
    ]
}

/// Routes of a volume as an iSCSI target.
fn iscsi() -> [Route; 2] {
    let other = "/v1/volumes/{name}/iscsi/failover";
    [
        read(ISCSI, "getIscsiTarget", "The volume as an iSCSI target", Service::iscsi_target),
        answer(
            Verb::Post,
            other,
            "failOver",
            "Make the other controller the owner of a volume with asymmetric paths",
            Service::fail_over,
        ),
    ]
}

/// Routes for the attachment, automation, faults and recording of a volume.
fn lifecycle() -> [Route; 9] {
    let (put, delete) = (Verb::Put, Verb::Delete);
    [
        write(put, FAULTS, "setFaults", "Inject faults into its requests", |s: &Service, n: &str, b: &Faults| {
            s.set_faults(n, b)
        }),
        answer(delete, FAULTS, "clearFaults", "Clear the injected faults", Service::clear_faults),
        write(put, AUTOTUNE, "setAutotune", "Enable automatic level changes", |s: &Service, n: &str, b: &Autotune| {
            s.set_autotune(n, b)
        }),
        answer(delete, AUTOTUNE, "clearAutotune", "Disable automatic level changes", Service::clear_autotune),
        answer(
            Verb::Post,
            ATTACHMENT,
            "mountVolume",
            "Expose it as a file of the service's host, over FUSE, for use through a loop device",
            Service::mount,
        ),
        write(
            put,
            ATTACHMENT,
            "setAttachment",
            "Record its block device on this host",
            |s: &Service, n: &str, b: &Attachment| s.attach(n, b),
        ),
        answer(delete, ATTACHMENT, "clearAttachment", "Detach the volume from this host", Service::detach),
        write(
            put,
            RECORDING,
            "setRecording",
            "Record its requests as a trace, in a new file",
            |s: &Service, n: &str, b: &Recording| s.record(n, b),
        ),
        answer(delete, RECORDING, "clearRecording", "End the recording", Service::stop_recording),
    ]
}

/// Routes of groups, scrub, service and documents.
fn service_routes() -> [Route; 9] {
    let document = |_: &Service, _: &RouteInput| Ok(openapi::cached_document().into());
    let metrics = |service: &Service, _: &RouteInput| metrics::scraped(service).map(String::into_bytes);
    [
        read(GROUPS, "listGroups", "All groups, by name", |s: &Service, _: &str| s.groups()),
        write(
            Verb::Post,
            GROUPS,
            "createGroup",
            "Create a group: an instance whose limits its volumes share",
            |s: &Service, _: &str, b: &Group| s.create_group(b),
        )
        .created(),
        remove("/v1/groups/{name}", "deleteGroup", "Delete a group without volumes", Service::delete_group),
        read(
            "/v1/service",
            "getService",
            "Version, options and usage of the service",
            |s: &Service, _: &str| -> Result<About, Refusal> { s.about() },
        ),
        read(
            "/v1/health",
            "getHealth",
            "200 if the store accepts changes and makes them durable, else 503",
            |s: &Service, _| s.health(),
        ),
        write(
            Verb::Post,
            SCRUB,
            "beginScrub",
            "Compare data with their checksums",
            |s: &Service, _: &str, b: &Scrub| s.begin_scrub(b),
        ),
        read(SCRUB, "getScrub", "The present or the last scrub", |s: &Service, _: &str| s.scrub_state()),
        Route::new(
            Verb::Get,
            "/metrics",
            "getMetrics",
            "All counters, in Prometheus format",
            ResponseContent::Text(metrics::TYPE),
            metrics,
        ),
        Route::new(Verb::Get, "/openapi.json", "getDocument", "This document", ResponseContent::Document, document),
    ]
}

/// A GET route.
fn read<A, F>(path: &'static str, id: &'static str, summary: &'static str, act: F) -> Route
where
    A: Serialize + JsonSchema,
    F: Fn(&Service, &str) -> Result<A, Refusal> + Send + Sync + 'static,
{
    answer(Verb::Get, path, id, summary, act)
}

/// A route without a body, with a response.
fn answer<A, F>(verb: Verb, path: &'static str, id: &'static str, summary: &'static str, act: F) -> Route
where
    A: Serialize + JsonSchema,
    F: Fn(&Service, &str) -> Result<A, Refusal> + Send + Sync + 'static,
{
    let content = ResponseContent::Json(SchemaGenerator::subschema_for::<A>);
    Route::new(verb, path, id, summary, content, move |service, input| act(service, &input.name).map(|it| json(&it)))
}

/// A route with a body and a response.
fn write<B, A, F>(verb: Verb, path: &'static str, id: &'static str, summary: &'static str, act: F) -> Route
where
    B: DeserializeOwned + JsonSchema,
    A: Serialize + JsonSchema,
    F: Fn(&Service, &str, &B) -> Result<A, Refusal> + Send + Sync + 'static,
{
    let content = ResponseContent::Json(SchemaGenerator::subschema_for::<A>);
    let act = move |service: &Service, input: &RouteInput| {
        let body = serde_json::from_slice(&input.body)
            .map_err(|error| Refusal::bad(say!("invalid body for {path}: {error}; see GET /openapi.json")))?;
        act(service, &input.name, &body).map(|it| json(&it))
    };
    Route { body: Some(SchemaGenerator::subschema_for::<B>), ..Route::new(verb, path, id, summary, content, act) }
}

/// A DELETE route.
fn remove<F>(path: &'static str, id: &'static str, summary: &'static str, act: F) -> Route
where
    F: Fn(&Service, &str) -> Result<(), Refusal> + Send + Sync + 'static,
{
    let act = move |service: &Service, input: &RouteInput| act(service, &input.name).map(|()| Vec::new());
    let route = Route::new(Verb::Delete, path, id, summary, ResponseContent::Nothing, act);
    Route { status: StatusCode::NO_CONTENT, ..route }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    plimsoll_record::to_json_line(value)
}

impl Route {
    fn new(
        verb: Verb,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        content: ResponseContent,
        act: impl Fn(&Service, &RouteInput) -> Result<Vec<u8>, Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self { verb, path, id, summary, number: None, body: None, status: StatusCode::OK, content, act: Arc::new(act) }
    }

    /// Sets status 201.
    fn created(self) -> Self {
        Self { status: StatusCode::CREATED, ..self }
    }

    /// Parses the numeric query parameter of this route.
    fn number_in(&self, query: Option<&str>) -> Result<Option<u64>, std::num::ParseIntError> {
        let Some((name, _)) = self.number else { return Ok(None) };
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, number)| number.parse()).next().transpose()
    }

    /// Reads the body, and runs the action on a blocking thread.
    async fn respond(self, service: Service, name: String, request: Request) -> Response {
        let accepted = request.headers().get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        // Without a preference, the language of the process.
        let language = accepted.map_or_else(Language::current, |accepted| Language::of(None, Some(accepted)));
        let Ok(number) = self.number_in(request.uri().query()) else {
            return refused(
                StatusCode::BAD_REQUEST,
                label!("the query parameter is not a number: see GET /openapi.json"),
            );
        };
        let body = match read_body(request.into_body()).await {
            Ok(body) => body,
            Err((status, why)) => return refused(status, why),
        };
        let Self { act, content, status, id, verb, .. } = self;
        // A refused query is not logged: it may be repeated every second.
        let is_change = verb != Verb::Get;
        let logged_act = move || {
            let _span = tracing::info_span!("request", door = "control", operation = id, object = name).entered();
            let done = language.scope(|| act(&service, &RouteInput { name, number, body }));
            if let (Err(refusal), true) = (&done, is_change) {
                tracing::warn!(reason = refusal.message, "refused");
            }
            done
        };
        let done = tokio::task::spawn_blocking(logged_act).await;
        let media = match content {
            ResponseContent::Json(_) | ResponseContent::Document => "application/json",
            ResponseContent::Text(media) => media,
            ResponseContent::Nothing => "",
        };
        match done {
            Ok(Ok(_)) if media.is_empty() => status.into_response(),
            Ok(Ok(bytes)) => (status, [(CONTENT_TYPE, media)], bytes).into_response(),
            Ok(Err(Refusal { kind, message: error, too_fast })) => {
                format_error(status_of(kind), &ErrorBody { error, too_fast })
            }
            Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "the service failed: see its output"),
        }
    }
}

const fn status_of(kind: RefusalKind) -> StatusCode {
    match kind {
        RefusalKind::Bad => StatusCode::BAD_REQUEST,
        RefusalKind::NotFound => StatusCode::NOT_FOUND,
        RefusalKind::Conflict => StatusCode::CONFLICT,
        RefusalKind::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
        RefusalKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        RefusalKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn refused(status: StatusCode, error: &str) -> Response {
    format_error(status, &ErrorBody { error: error.to_owned(), ..ErrorBody::default() })
}

fn format_error(status: StatusCode, body: &ErrorBody) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], json(body)).into_response()
}

/// Refuses and logs a request that no route takes: a client of another version may send it.
fn unroutable(request: &Request, status: StatusCode, error: &str) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    tracing::warn!(%method, path, status = status.as_u16(), "refused");
    refused(status, error)
}

pub(super) fn busy() -> Response {
    refused(StatusCode::SERVICE_UNAVAILABLE, "the service is busy with other requests: try again later")
}

/// Router of the table.
pub(super) fn build_router(service: &Service) -> Router {
    let mut router = Router::new();
    for route in list_routes() {
        let (path, filter) = (route.path, route.verb.filter());
        let service = service.clone();
        let respond = move |parameters: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
            let (route, service) = (route.clone(), service.clone());
            async move {
                let Ok(parameters) = parameters else {
                    return refused(
                        StatusCode::BAD_REQUEST,
                        "names are UTF-8, percent-encoded except for letters and digits",
                    );
                };
                let name = parameters.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default();
                route.respond(service, name, request).await
            }
        };
        router = router.route(path, on(filter, respond));
    }
    let nothing = |request: Request| async move {
        unroutable(&request, StatusCode::NOT_FOUND, "no such path: GET /openapi.json lists all")
    };
    let not_so = |request: Request| async move {
        unroutable(&request, StatusCode::METHOD_NOT_ALLOWED, "not with this method: GET /openapi.json lists all")
    };
    router.fallback(nothing).method_not_allowed_fallback(not_so)
}
