//! The instance's side of OCI: metadata over HTTP, as its agent polls them to log in to the targets of attached volumes.
//!
//! The real service recognises an instance by its address; here each instance has a listener of its own. The agent reports its
//! login states here too, where the real agent calls the API with the identity of the instance.

use axum::Router;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use crate::cloud::{Cloud, Operation};
use crate::oci::{attachment_views, instance_view, update_attachment};
use crate::record::Provider;
use crate::web::{Plane, Reply, Request};

/// Header that version 2 of the service requires.
const AUTHORIZATION: &str = "Bearer Oracle";

#[derive(Clone, Debug)]
struct InstanceMetadata {
    cloud: Cloud,
    instance: String,
}

/// Router of the metadata of an instance, by name.
pub fn instance_metadata(cloud: &Cloud, instance: &str) -> Router {
    crate::web::router(InstanceMetadata { cloud: cloud.clone(), instance: instance.to_owned() })
}

impl Plane for InstanceMetadata {
    const NAME: &str = "oci-metadata";

    fn reply(&self, request: &Request) -> Reply {
        if request.header("authorization") != Some(AUTHORIZATION) {
            return error(StatusCode::FORBIDDEN, "the header authorization: Bearer Oracle is required");
        }
        let mut operation = self.cloud.operation();
        let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        match (&request.method, segments.as_slice()) {
            (&Method::GET, _) => {}
            (&Method::PUT, ["opc", "v2", "volumeAttachments", id]) => {
                let is_own = self.attachments(&operation).iter().any(|view| view["id"] == *id);
                return if is_own {
                    update_attachment(&mut operation, request, id).unwrap_or_else(|error| error.reply())
                } else {
                    error(StatusCode::NOT_FOUND, "the instance has no such attachment")
                };
            }
            _ => return error(StatusCode::METHOD_NOT_ALLOWED, "metadata are read with GET; PUT is for login states"),
        }
        let found = match segments.as_slice() {
            ["opc", "v2", "volumeAttachments"] => Some(Value::Array(self.attachments(&operation))),
            ["opc", "v2", "instance"] => self.instance(&operation),
            ["opc", "v2", "instance", key] => self.instance(&operation).and_then(|view| view.get(*key).cloned()),
            _ => None,
        };
        match found {
            Some(Value::String(text)) => {
                Reply { content_type: "text/plain", body: text.into_bytes(), ..Reply::empty(StatusCode::OK) }
            }
            Some(value) => Reply::json(StatusCode::OK, &value),
            None => error(StatusCode::NOT_FOUND, "no such metadata"),
        }
    }

    fn unreadable(&self, status: StatusCode, why: &str) -> Reply {
        error(status, why)
    }
}

impl InstanceMetadata {
    /// Attachments in use or in progress.
    fn attachments(&self, operation: &Operation<'_>) -> Vec<Value> {
        let Some(id) = self.identifier(operation) else { return Vec::new() };
        let is_present = |view: &Value| matches!(view["lifecycleState"].as_str(), Some("ATTACHING" | "ATTACHED"));
        attachment_views(operation).into_iter().filter(|view| view["instanceId"] == id && is_present(view)).collect()
    }

    fn identifier(&self, operation: &Operation<'_>) -> Option<String> {
        let instances = operation.instances(Provider::Oci).into_iter();
        instances.filter(|(_, group)| group.name == self.instance).map(|(id, _)| id).next()
    }

    fn instance(&self, operation: &Operation<'_>) -> Option<Value> {
        let instances = operation.instances(Provider::Oci);
        let (id, group) = instances.iter().find(|(_, group)| group.name == self.instance)?;
        let mut view = instance_view(operation, id, group);
        view["canonicalRegionName"] = operation.region().into();
        view["state"] = "Running".into();
        Some(view)
    }
}

fn error(status: StatusCode, message: &str) -> Reply {
    Reply::json(status, &json!({ "code": status.as_u16(), "message": message }))
}
