//! Errors of the API of EC2: a status, a code and a message, as XML.

use hyper::StatusCode;
use plimsoll_service::{Refusal, RefusalKind};

use super::xml::Element;
use crate::web::Reply;

/// A refused request.
#[derive(Debug)]
pub(super) struct Ec2Error {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Ec2Error {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, message: message.into() }
    }

    /// The request is not signed with a registered access key. Gives no detail.
    pub fn not_authenticated() -> Self {
        let message = "AWS was not able to validate the provided access credentials";
        Self { status: StatusCode::UNAUTHORIZED, ..Self::new("AuthFailure", message) }
    }

    pub fn value(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterValue", message)
    }

    pub fn missing(name: &str) -> Self {
        Self::new("MissingParameter", format!("The request must contain the parameter {name}"))
    }

    pub fn no_volume(id: &str) -> Self {
        let id: String = id.chars().take(100).collect();
        Self::new("InvalidVolume.NotFound", format!("The volume '{id}' does not exist."))
    }

    pub fn no_snapshot(id: &str) -> Self {
        let id: String = id.chars().take(100).collect();
        Self::new("InvalidSnapshot.NotFound", format!("The snapshot '{id}' does not exist."))
    }

    pub fn no_instance(id: &str) -> Self {
        let id: String = id.chars().take(100).collect();
        Self::new("InvalidInstanceID.NotFound", format!("The instance ID '{id}' does not exist"))
    }

    pub fn state(message: impl Into<String>) -> Self {
        Self::new("IncorrectState", message)
    }

    pub fn other(status: StatusCode, message: &str) -> Self {
        let code = if status.is_server_error() { "InternalError" } else { "MalformedQueryString" };
        Self { status, ..Self::new(code, message) }
    }

    pub fn reply(&self, request_id: &str) -> Reply {
        let error = vec![Element::text("Code", self.code), Element::text("Message", &self.message)];
        let errors = Element::new("Errors", vec![Element::new("Error", error)]);
        let response = Element::new("Response", vec![errors, Element::text("RequestID", request_id)]);
        response.reply(self.status)
    }
}

impl From<Refusal> for Ec2Error {
    fn from(Refusal { kind, message, .. }: Refusal) -> Self {
        match kind {
            RefusalKind::Bad => Self::value(message),
            RefusalKind::NotFound => Self::new("InvalidParameterValue", message),
            RefusalKind::Conflict => Self::state(message),
            RefusalKind::NoSpace => Self::new("VolumeLimitExceeded", message),
            RefusalKind::Unavailable => {
                Self { status: StatusCode::SERVICE_UNAVAILABLE, ..Self::new("Unavailable", message) }
            }
            RefusalKind::Failed => {
                Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..Self::new("InternalError", message) }
            }
        }
    }
}
