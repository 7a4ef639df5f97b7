//! Access rules, checked before any handler: host, origin, session and type of the body.
//!
//! The host rule defeats DNS rebinding, the origin rule requests of other sites, the session requests of other users of
//! the machine. Answers forbid inline scripts and styles, other sources, and embedding in frames.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Method, StatusCode};
use plimsoll_language::{Language, label, say};

use crate::ConsoleState;
use crate::answer::WebRefusal;
use crate::layout;

/// Sources that a page may use: this server only; icons may be data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// Paths that need no session.
const PUBLIC: [&str; 3] = ["/enter", "/api/enter", "/favicon.ico"];
/// Static files, public as well.
const ASSETS: &str = "/assets/";
/// Path of uploads, whose bodies are raw bytes.
const UPLOADS: &str = "/api/reports/";
/// Type of raw bodies.
const RAW: &str = "application/octet-stream";
/// Type of all other bodies.
const JSON: &str = "application/json";

/// Refuses requests that break a rule, and adds the headers of every answer.
pub async fn guard(State(shared): State<Arc<ConsoleState>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let language = read_language(headers);
    let is_asset = request.uri().path().starts_with(ASSETS);
    let mut response = match language.scope(|| check(&shared, &request)) {
        Ok(()) => {
            let mut answer = pin!(next.run(request));
            poll_fn(|context| language.scope(|| answer.as_mut().poll(context))).await
        }
        Err(refused) => layout::refuse(&refused, headers, language),
    };
    let headers = response.headers_mut();
    let mut set = |name: hyper::header::HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "no-referrer");
    set(hyper::header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    set(hyper::header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    if !is_asset {
        set(CACHE_CONTROL, "no-store");
    }
    response
}

fn check(shared: &ConsoleState, request: &Request) -> Result<(), WebRefusal> {
    let (headers, path) = (request.headers(), request.uri().path());
    let host = find_host(headers).filter(|host| shared.origin.has_host(host)).ok_or_else(|| {
        WebRefusal::new(StatusCode::MISDIRECTED_REQUEST, say!("open the console as {}", shared.origin.url()))
    })?;
    check_same_site(headers)?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        check_same_origin(headers, &shared.origin.of_host(host))?;
        check_body_type(headers, path, request.method())?;
    }
    if PUBLIC.contains(&path) || path.starts_with(ASSETS) {
        return Ok(());
    }
    let session = cookie(headers, &shared.origin.cookie_name());
    if session.is_some_and(|session| shared.sessions.admits(session)) {
        return Ok(());
    }
    Err(WebRefusal::new(
        StatusCode::UNAUTHORIZED,
        label!(
            "no session: open the URL that plimsoll printed; each URL works once, and a page of the console makes another"
        ),
    ))
}

pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

pub fn read_language(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Language::of(cookie(headers, "lang"), accepted)
}

/// The only `Host` header of a request.
fn find_host(headers: &HeaderMap) -> Option<&str> {
    let mut hosts = headers.get_all(HOST).into_iter();
    let host = hosts.next()?.to_str().ok();
    host.filter(|_| hosts.next().is_none())
}

/// Refuses requests that a page of another site starts, other than links to a page.
fn check_same_site(headers: &HeaderMap) -> Result<(), WebRefusal> {
    let value = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let is_foreign = value("sec-fetch-site").is_some_and(|site| site != b"same-origin" && site != b"none");
    let is_link = value("sec-fetch-mode") == Some(b"navigate") && value("sec-fetch-dest") == Some(b"document");
    if is_foreign && !is_link {
        return Err(WebRefusal::new(StatusCode::FORBIDDEN, label!("requests of other sites are refused")));
    }
    Ok(())
}

fn check_same_origin(headers: &HeaderMap, own: &str) -> Result<(), WebRefusal> {
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    if origin == Some(own) {
        return Ok(());
    }
    Err(WebRefusal::new(StatusCode::FORBIDDEN, label!("a change needs the Origin of the console itself")))
}

fn check_body_type(headers: &HeaderMap, path: &str, method: &Method) -> Result<(), WebRefusal> {
    if *method == Method::DELETE {
        return Ok(());
    }
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    let is_upload = *method == Method::PUT && path.starts_with(UPLOADS);
    let required = if is_upload { RAW } else { JSON };
    if media == required {
        return Ok(());
    }
    Err(WebRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, say!("the body has to be {required}")))
}
