//! Table of paths. Handlers run on threads for blocking work; uploads and event streams are async.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on, put};
use http_body_util::LengthLimitError;
use hyper::StatusCode;
use hyper::header::{HeaderValue, SET_COOKIE};
use plimsoll_language::{label, say};
use tokio::sync::watch;

use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::events::{EventSender, Streams};
use crate::{
    ConsoleState, assets, case_history, choose, choose_pages, figures, guard, jobs, layout, live, models, pages,
    reports, runs, sources,
};

/// Maximum length of a body, other than of uploads.
const MAX_BODY: usize = 64 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds of history that a new page shows.
const HISTORY_SECONDS: usize = 300;

type Handler = fn(&ConsoleState, &Input) -> WebResult;

/// Pages, and other answers without effect.
const READS: [(&str, Handler); 25] = [
    ("/", pages::volumes),
    ("/volumes/{name}", pages::render_volume),
    ("/api/products", |shared, _| Ok(WebAnswer::json(&figures::products(shared)))),
    ("/measure", |_, input| Ok(runs::measure_page(input))),
    ("/runs/{name}", runs::run_page),
    ("/runs/{name}/json", runs::json),
    ("/runs/{name}/csv", runs::export_csv),
    ("/runs/{name}/html", runs::export_html),
    ("/compare/{before}/{after}", runs::compare),
    ("/overlay/{names}", runs::overlay),
    ("/api/runs", |shared, _| Ok(runs::list(shared))),
    ("/api/runs/{name}/points", runs::points),
    ("/api/jobs", |shared, _| Ok(jobs::list(shared))),
    ("/choose", |_, _| Ok(choose_pages::list_page())),
    ("/choose/{case}", choose_pages::case_page),
    ("/choose/{case}/diagnosis", choose_pages::diagnosis_page),
    ("/choose/{case}/demand", choose_pages::demand_page),
    ("/choose/{case}/files/{name}/{line}", sources::page),
    ("/api/reports", |shared, _| Ok(reports::list(shared))),
    ("/api/reports/{case}/progress", choose::report_progress),
    ("/model", |_, input| Ok(models::render_models(input))),
    ("/model/articles/{name}", models::article_page),
    ("/api/articles/{name}", models::report_article_progress),
    ("/story/{case}/html", case_history::html),
    ("/story/{case}/{run}/html", case_history::html),
];

/// Computations and changes.
const WRITES: [(&str, &str, Handler); 16] = [
    ("post", "/api/links", new_link),
    ("post", "/api/figures", |shared, input| Ok(WebAnswer::json(&figures::figures(shared, &input.read()?)?))),
    ("post", "/api/volumes/{name}/attach", pages::attach),
    ("post", "/api/volumes/{name}/detach", pages::detach),
    ("post", "/api/jobs", jobs::start),
    ("post", "/api/jobs/{id}/stop", jobs::stop),
    ("delete", "/api/jobs/{id}", jobs::remove),
    ("put", "/api/runs/{name}/label", runs::set_label),
    ("delete", "/api/runs/{name}", runs::delete),
    ("post", "/api/reports", reports::create),
    ("delete", "/api/reports/{case}", reports::delete),
    ("post", "/api/reports/{case}/size", choose::size),
    ("post", "/api/reports/{case}/terraform", choose::terraform),
    ("post", "/api/reports/{case}/emulate", case_history::emulate),
    ("post", "/api/simulate", models::simulate),
    ("post", "/api/articles/{name}", models::simulate_article),
];

/// Router of the console, with its access rules.
pub fn build_router(shared: &Arc<ConsoleState>, stopped: &watch::Receiver<bool>) -> Router {
    let mut router = Router::new();
    for (path, act) in READS {
        router = router.route(path, handler(MethodFilter::GET, shared, act));
    }
    for (verb, path, act) in WRITES {
        let filter = match verb {
            "post" => MethodFilter::POST,
            "put" => MethodFilter::PUT,
            _ => MethodFilter::DELETE,
        };
        router = router.route(path, handler(filter, shared, act));
    }
    let streams = Streams::default();
    let upload = Arc::clone(shared);
    router
        .merge(entrance(shared))
        .merge(event_routes(shared, &streams, stopped))
        .route(
            "/api/reports/{case}",
            put(move |parameters: RawPathParams, request: Request| {
                let (shared, case) = (Arc::clone(&upload), first_parameter(&parameters));
                async move { reports::upload(shared, case, request).await }
            }),
        )
        .route(
            "/assets/{name}",
            get(|parameters: RawPathParams| async move { assets::asset(&first_parameter(&parameters)) }),
        )
        .route("/favicon.ico", get(|| async { assets::asset("icon.svg") }))
        .nest("/api/control", plimsoll_service::http::create_router(&shared.service))
        .fallback(|request: Request| async move {
            let language = guard::read_language(request.headers());
            let refused = WebRefusal::not_found(label!("no such page: choose one from the menu"));
            layout::refuse(&refused, request.headers(), language)
        })
        .layer(middleware::from_fn_with_state(Arc::clone(shared), guard::guard))
}

/// The page that a printed URL opens, and the exchange of its token for a session.
fn entrance(shared: &Arc<ConsoleState>) -> Router {
    let page = |request: Request| async move {
        WebAnswer::Html(guard::read_language(request.headers()).scope(layout::entrance)).response()
    };
    let exchange = Arc::clone(shared);
    let enter = move |request: Request| {
        let shared = Arc::clone(&exchange);
        async move {
            let (headers, language) = (request.headers().clone(), guard::read_language(request.headers()));
            match read_body(request.into_body()).await.and_then(|body| start_session(&shared, &body)) {
                Ok(response) => response,
                Err(refused) => layout::refuse(&refused, &headers, language),
            }
        }
    };
    Router::new().route("/enter", get(page)).route("/api/enter", on(MethodFilter::POST, enter))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryToken {
    token: String,
}

fn start_session(shared: &ConsoleState, body: &[u8]) -> Result<Response, WebRefusal> {
    let input = Input { body: body.to_vec(), ..Input::default() };
    let EntryToken { token } = input.read()?;
    let failed = |error: std::io::Error| WebRefusal::failed(say!("the session cannot be kept: {error}"));
    let session = shared.sessions.enter(&token).map_err(failed)?.ok_or_else(|| {
        WebRefusal::new(
            StatusCode::UNAUTHORIZED,
            label!("this URL is unknown, replaced or was used before: plimsoll web --url prints a new one, as does an open page"),
        )
    })?;
    let (name, secure) = (shared.origin.cookie_name(), if shared.origin.is_tls() { "; Secure" } else { "" });
    let cookie = format!("{name}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}");
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    Ok(response)
}

/// Another URL that opens the console once.
fn new_link(shared: &ConsoleState, _: &Input) -> WebResult {
    let link = shared.link().map_err(|error| WebRefusal::failed(say!("no random bytes: {error}")))?;
    Ok(WebAnswer::json(&serde_json::json!({ "url": link })))
}

/// A handler that runs on a thread for blocking work.
fn handler(filter: MethodFilter, shared: &Arc<ConsoleState>, act: Handler) -> axum::routing::MethodRouter {
    let shared = Arc::clone(shared);
    on(filter, move |parameters: RawPathParams, request: Request| {
        let shared = Arc::clone(&shared);
        async move {
            let (headers, language) = (request.headers().clone(), guard::read_language(request.headers()));
            let path = parameters.iter().map(|(_, value)| value.to_owned()).collect();
            let outcome = match read_body(request.into_body()).await {
                Err(refused) => Err(refused),
                Ok(body) => {
                    let cancelled = Arc::new(AtomicBool::new(false));
                    // Dropped with this future when the client is gone.
                    let _gone = SetOnDrop(Arc::clone(&cancelled));
                    let input = Input { path, body, cancelled };
                    let done = tokio::task::spawn_blocking(move || language.scope(|| act(&shared, &input))).await;
                    done.unwrap_or_else(|_| {
                        Err(WebRefusal::failed(label!("the request failed: see the output of the program")))
                    })
                }
            };
            outcome.map_or_else(|refused| layout::refuse(&refused, &headers, language), WebAnswer::response)
        }
    })
}

/// Sets a flag when it is dropped.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn read_body(body: Body) -> Result<Vec<u8>, WebRefusal> {
    let read = tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, MAX_BODY)).await;
    let read =
        read.map_err(|_| WebRefusal::new(StatusCode::REQUEST_TIMEOUT, label!("the body did not arrive in time")))?;
    read.map(|bytes| bytes.to_vec()).map_err(|error| {
        let is_long = std::error::Error::source(&error).is_some_and(<dyn std::error::Error>::is::<LengthLimitError>);
        if is_long {
            WebRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, label!("the request is longer than 64 KiB"))
        } else {
            WebRefusal::bad(label!("the request broke off"))
        }
    })
}

fn first_parameter(parameters: &RawPathParams) -> String {
    parameters.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default()
}

/// Event streams: all volumes, a volume, a measurement.
fn event_routes(shared: &Arc<ConsoleState>, streams: &Streams, stopped: &watch::Receiver<bool>) -> Router {
    let stream = |feed: Feed| {
        let (shared, streams, stopped) = (Arc::clone(shared), streams.clone(), stopped.clone());
        get(move |parameters: RawPathParams, request: Request| {
            let name = first_parameter(&parameters);
            let (headers, language) = (request.headers().clone(), guard::read_language(request.headers()));
            let opened = streams.open();
            async move {
                let (response, sender) = match opened {
                    Ok(opened) => opened,
                    Err(refused) => return layout::refuse(&refused, &headers, language),
                };
                tokio::spawn(follow(shared, feed, name, sender, stopped));
                response
            }
        })
    };
    Router::new()
        .route("/events/volumes", stream(Feed::Volumes))
        .route("/events/volumes/{name}", stream(Feed::Volume))
        .route("/events/jobs/{id}", stream(Feed::Job))
}

/// Content of an event stream.
#[derive(Clone, Copy)]
enum Feed {
    Volumes,
    Volume,
    Job,
}

/// Sends the events of a stream until the client, the object or the server is gone.
async fn follow(
    shared: Arc<ConsoleState>,
    feed: Feed,
    name: String,
    sender: EventSender,
    mut stopped: watch::Receiver<bool>,
) {
    let events = async {
        match feed {
            Feed::Job => jobs::follow(&shared, &name, &sender).await,
            Feed::Volumes | Feed::Volume => follow_volumes(&shared, feed, &name, &sender).await,
        }
    };
    tokio::select! {
        () = events => {}
        () = sender.closed() => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
}

async fn follow_volumes(shared: &Arc<ConsoleState>, feed: Feed, name: &str, sender: &EventSender) {
    let mut samples = shared.live.subscribe();
    if matches!(feed, Feed::Volume) {
        let (reader, volume) = (Arc::clone(shared), name.to_owned());
        let history =
            tokio::task::spawn_blocking(move || pages::serialise_history(&reader, &volume, HISTORY_SECONDS)).await;
        if let Ok(Some(history)) = history {
            sender.send("history", &history).await;
        }
    }
    while samples.changed().await.is_ok() {
        let sample = Arc::clone(&samples.borrow_and_update());
        if let Some(error) = &sample.error {
            sender.send("trouble", &serde_json::json!({ "error": error }).to_string()).await;
            continue;
        }
        let json = if matches!(feed, Feed::Volume) {
            let Some(json) = sample.json_of(name) else {
                sender.send("gone", "{}").await;
                return;
            };
            json
        } else {
            sample.json()
        };
        if !sender.offer("volumes", &json) {
            return;
        }
    }
}

/// Starts the sampler.
pub fn run_sampler(shared: &Arc<ConsoleState>) -> impl Future<Output = ()> + Send + 'static {
    live::run(Arc::clone(shared))
}
