//! Requests and replies of the control planes, independent of the HTTP library, and the router that serves them.

use std::future::Future;
use std::pin::Pin;

use axum::Router;
use axum::response::{IntoResponse, Response};
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::http::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use plimsoll_language::Language;
use plimsoll_service::http::read_body;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub method: Method,
    /// Path and query as received, for signatures.
    pub target: String,
    /// Decoded segments of the path.
    pub segments: Vec<String>,
    /// Decoded parameters of the query.
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    pub body: Bytes,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub status: StatusCode,
    pub content_type: &'static str,
    pub headers: Vec<(HeaderName, String)>,
    pub body: Vec<u8>,
}

/// Answers a request; called on a thread that may block.
pub(crate) trait Plane: Clone + Send + Sync + 'static {
    const NAME: &str;
    /// The operation that a request names, for the log.
    fn operation(request: &Request) -> String {
        format!("{} {}", request.method, request.path())
    }
    fn reply(&self, request: &Request) -> Reply;
    /// The reply to a request that is too long or incomplete.
    fn unreadable(&self, status: StatusCode, why: &str) -> Reply;
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// First value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Path without the query, as received.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A request from its parts; `None` if a segment is not UTF-8.
    pub fn new(method: Method, target: &str, headers: HeaderMap, body: Bytes) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let segment = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
        let segments = path.split('/').filter(|part| !part.is_empty()).map(segment).collect::<Option<_>>()?;
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Some(Self { method, target: target.to_owned(), segments, query, headers, body })
    }
}

impl Reply {
    /// A reply without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, content_type: "", headers: Vec::new(), body: Vec::new() }
    }

    pub fn json(status: StatusCode, value: &serde_json::Value) -> Self {
        let body = serde_json::to_vec(value).expect("values are JSON");
        Self { content_type: "application/json", body, ..Self::empty(status) }
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((HeaderName::from_static(name), value.into()));
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = Response::new(axum::body::Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if !self.content_type.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        for (name, value) in self.headers {
            // A value that cannot be a header is left out: it comes from the client.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// Maximum characters of a refusal in the log.
const MAX_LOGGED_REASON: usize = 400;

type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Router that passes all requests to a plane.
pub(crate) fn router(plane: impl Plane) -> Router {
    let respond = move |request: axum::extract::Request| -> ResponseFuture {
        let plane = plane.clone();
        Box::pin(async move { dispatch(plane, request).await.into_response() })
    };
    Router::new().fallback(respond)
}

async fn dispatch(plane: impl Plane, request: axum::extract::Request) -> Reply {
    let (head, body) = request.into_parts();
    let body = match read_body(body).await {
        Ok(body) => body,
        Err((status, why)) => return plane.unreadable(status, why),
    };
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let Some(request) = Request::new(head.method, target, head.headers, body) else {
        return plane.unreadable(StatusCode::BAD_REQUEST, "the path is not UTF-8");
    };
    let failed = plane.clone();
    let done = tokio::task::spawn_blocking(move || logged_reply(&plane, &request)).await;
    done.unwrap_or_else(|_| failed.unreadable(StatusCode::INTERNAL_SERVER_ERROR, "the service failed: see its output"))
}

/// Replies, and logs a refusal.
fn logged_reply<P: Plane>(plane: &P, request: &Request) -> Reply {
    let _span = tracing::info_span!("request", door = P::NAME, operation = P::operation(request)).entered();
    // Clients of the clouds read English, whatever the language of this process.
    let reply = Language::English.scope(|| plane.reply(request));
    let is_refused = reply.status.is_client_error() || reply.status.is_server_error();
    // Anybody who reaches the port can send requests without a key.
    if is_refused && reply.status != StatusCode::UNAUTHORIZED {
        let reason = String::from_utf8_lossy(&reply.body);
        let reason: String = reason.chars().take(MAX_LOGGED_REASON).collect();
        tracing::warn!(status = reply.status.as_u16(), reason, "refused");
    }
    reply
}
