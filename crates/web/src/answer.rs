//! Answers to requests, and refusals.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use maud::Markup;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Parameters of a request.
#[derive(Debug, Default)]
pub struct Input {
    /// Variable parts of the path, decoded.
    pub path: Vec<String>,
    pub body: Vec<u8>,
    /// Becomes true when the client is gone.
    pub cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
pub enum WebAnswer {
    Html(Markup),
    Json(Vec<u8>),
    /// A file to save: name, media type, content.
    File(String, &'static str, Vec<u8>),
    /// Done, without content.
    Done,
}

/// A refusal: status, and cause with remedy.
#[derive(Debug)]
pub struct WebRefusal {
    pub status: StatusCode,
    /// Cause and remedy in one line.
    pub message: String,
}

pub type WebResult = Result<WebAnswer, WebRefusal>;

impl Input {
    /// A variable part of the path.
    pub fn part(&self, index: usize) -> &str {
        self.path.get(index).map_or("", String::as_str)
    }

    /// The body in its type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, WebRefusal> {
        serde_json::from_slice(&self.body).map_err(|error| WebRefusal::bad(format!("invalid request: {error}")))
    }
}

impl WebAnswer {
    pub fn json(value: &impl Serialize) -> Self {
        Self::Json(plimsoll_record::to_json_line(value))
    }
}

impl WebRefusal {
    /// A refusal of this status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Invalid request.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Unknown object.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Internal failure.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl From<plimsoll_service::Refusal> for WebRefusal {
    fn from(refusal: plimsoll_service::Refusal) -> Self {
        use plimsoll_service::RefusalKind;
        let status = match refusal.kind {
            RefusalKind::Bad => StatusCode::BAD_REQUEST,
            RefusalKind::NotFound => StatusCode::NOT_FOUND,
            RefusalKind::Conflict => StatusCode::CONFLICT,
            RefusalKind::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
            RefusalKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            RefusalKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, refusal.message)
    }
}

impl WebAnswer {
    pub fn response(self) -> Response {
        match self {
            Self::Html(page) => ([(CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response(),
            Self::Json(bytes) => ([(CONTENT_TYPE, "application/json")], bytes).into_response(),
            Self::File(name, media, bytes) => {
                let disposition = format!("attachment; filename=\"{}\"", plain_name(&name));
                ([(CONTENT_TYPE, media.to_owned()), (CONTENT_DISPOSITION, disposition)], bytes).into_response()
            }
            Self::Done => StatusCode::NO_CONTENT.into_response(),
        }
    }
}

/// A name without characters that headers and file systems treat specially.
pub fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
    let name: String = name.chars().map(plain).take(100).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "file".to_owned() } else { name.to_owned() }
}
