//! `OpenAPI` document of the control API, generated from the route table and its types.

use std::sync::OnceLock;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::routes::{ResponseContent, Route, list_routes};
use crate::api::ErrorBody;

const DESCRIPTION: &str = "Volumes that behave like storage products, by name. Over the service's Unix socket no \
                           token is needed; over TCP every request needs the token of the service. Sizes are bytes, \
                           spans nanoseconds, moments RFC 3339 in UTC; unknown values are absent. Every figure is \
                           emulated, and in the model's time: with a time dilation (`slow` above 1) that runs slower \
                           than the clock.";

/// The document (`OpenAPI` 3.1), deterministic.
pub fn build_document() -> Vec<u8> {
    let mut generator =
        SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into()).into_generator();
    let mut paths: Map<String, Value> = Map::new();
    let refused = generator.subschema_for::<ErrorBody>();
    for route in list_routes() {
        let described = build_operation(&route, &mut generator);
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.verb.name()] = described;
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "plimsoll volume service",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "http://localhost" }],
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "Over TCP only" },
            },
            "responses": {
                "Refused": {
                    "description": "Refused, and nothing was changed: one line says what is wrong and what to do. 400: \
                        the request contradicts itself, the catalogue or what the volume can do; 404: there is no such \
                        volume or group; 405: not with this method; 408: it came too slowly; 409: the name is taken, or \
                        the volume is in use; 413: it is longer than 64 KiB; 500: the service failed; 507: no space is \
                        left",
                    "content": { "application/json": { "schema": refused } },
                },
                "Stranger": { "description": "Over TCP: missing or wrong token" },
            },
        },
    });
    let mut text = serde_json::to_vec_pretty(&document).expect("a document is a JSON value");
    text.push(b'\n');
    text
}

/// The document, generated once.
pub(super) fn cached_document() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(build_document)
}

fn build_operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({ "operationId": route.id, "summary": route.summary });
    let mut parameters = Vec::new();
    if route.path.contains("{name}") {
        parameters.push(json!({ "name": "name", "in": "path", "required": true, "schema": { "type": "string" } }));
    }
    if let Some((name, what)) = route.number {
        let schema = json!({ "type": "integer", "minimum": 0 });
        parameters.push(json!({ "name": name, "in": "query", "description": what, "schema": schema }));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = route.body {
        let schema = body(generator);
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    let mut success = json!({ "description": "Done" });
    match route.content {
        ResponseContent::Json(schema) => {
            success["content"] = json!({ "application/json": { "schema": schema(generator) } });
        }
        ResponseContent::Document => {
            success["content"] = json!({ "application/json": { "schema": { "type": "object" } } });
        }
        ResponseContent::Text(media) => success["content"] = json!({ media: { "schema": { "type": "string" } } }),
        ResponseContent::Nothing => {}
    }
    operation["responses"] = json!({
        route.status.as_str(): success,
        "401": { "$ref": "#/components/responses/Stranger" },
        "default": { "$ref": "#/components/responses/Refused" },
    });
    operation
}
