//! Errors of the API of OCI: a status, a code and a message.

use hyper::StatusCode;
use plimsoll_service::{Refusal, RefusalKind};
use serde_json::json;

use crate::web::Reply;

/// A refused request.
#[derive(Debug)]
pub(crate) struct OciError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl OciError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// The request is not signed by a registered key. Gives no detail.
    pub fn not_authenticated() -> Self {
        let message = "The required information to complete authentication was not provided or was incorrect.";
        Self::new(StatusCode::UNAUTHORIZED, "NotAuthenticated", message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "InvalidParameter", message)
    }

    pub fn missing(name: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "MissingParameter", format!("{name} is required"))
    }

    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "LimitExceeded", message)
    }

    /// There is no such object, or the client may not see it.
    pub fn not_found(kind: &str, id: &str) -> Self {
        let id: String = id.chars().take(255).collect();
        let message = format!("Authorization failed or requested resource not found: {kind} {id}");
        Self::new(StatusCode::NOT_FOUND, "NotAuthorizedOrNotFound", message)
    }

    pub fn no_path() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            "there is no such operation: plimsoll guide cloud lists those that there are",
        )
    }

    pub fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", "not with this method")
    }

    /// The object is used in a way that does not permit the operation. Clients do not repeat the request.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    /// The object is in a passing state that does not permit the operation. Clients repeat the request by themselves.
    pub fn state(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "IncorrectState", message)
    }

    pub fn etag() -> Self {
        let message = "the object has changed since this etag: get it again";
        Self::new(StatusCode::PRECONDITION_FAILED, "NoEtagMatch", message)
    }

    pub fn token() -> Self {
        let message = "this opc-retry-token was used with another request: use a new token";
        Self::new(StatusCode::CONFLICT, "InvalidatedRetryToken", message)
    }

    pub fn other(status: StatusCode, message: &str) -> Self {
        let code = match status {
            StatusCode::PAYLOAD_TOO_LARGE => "RequestEntityTooLarge",
            StatusCode::REQUEST_TIMEOUT => "RequestTimeout",
            StatusCode::INTERNAL_SERVER_ERROR => "InternalServerError",
            _ => "CannotParseRequest",
        };
        Self::new(status, code, message)
    }

    pub fn reply(&self) -> Reply {
        Reply::json(self.status, &json!({ "code": self.code, "message": self.message }))
    }
}

impl From<Refusal> for OciError {
    fn from(Refusal { kind, message, .. }: Refusal) -> Self {
        match kind {
            RefusalKind::Bad => Self::invalid(message),
            RefusalKind::NotFound => Self::new(StatusCode::NOT_FOUND, "NotAuthorizedOrNotFound", message),
            RefusalKind::Conflict => Self::conflict(message),
            RefusalKind::NoSpace => Self::limit(message),
            RefusalKind::Unavailable => Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message),
            RefusalKind::Failed => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", message),
        }
    }
}
