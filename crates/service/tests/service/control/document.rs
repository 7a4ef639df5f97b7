//! The `OpenAPI` document is complete, and matches the routes.

use serde_json::Value;

use crate::control::serving::Serving;

fn read_document() -> Value {
    serde_json::from_slice(&plimsoll_service::http::openapi()).unwrap()
}

#[test]
fn every_documented_path_is_served() {
    let serving = Serving::start();
    let document = read_document();
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "delete", "patch"] {
            let status = serving.ask(&method.to_uppercase(), &path.replace("{name}", "nothing"), "").status;
            if let Some(operation) = item.get(method) {
                operations += 1;
                let expected = if operation.get("requestBody").is_some() {
                    400
                } else if path.contains("{name}") {
                    404
                } else {
                    200
                };
                assert_eq!(status, expected, "{method} {path}");
            } else {
                assert_eq!(status, 405, "{method} {path} is not in the document");
            }
        }
    }
    assert!(operations > 20, "{operations}");
    let served: Value = serde_json::from_str(&serving.ask("GET", "/openapi.json", "").body).unwrap();
    assert_eq!(served, document);
}

/// Structural rules of `OpenAPI` 3.1.
#[test]
fn document_follows_openapi_rules() {
    let document = read_document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name} twice");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
            let has_name = operation["parameters"][0]["name"] == "name";
            assert_eq!(path.contains("{name}"), has_name, "{path}");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with('2')), "{name}");
        }
    }
    let mut pointers = Vec::new();
    references(&document, &mut pointers);
    assert!(pointers.len() > 40);
    for pointer in pointers {
        let found = document.pointer(pointer.strip_prefix('#').unwrap());
        assert!(found.is_some(), "{pointer} leads nowhere");
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(schema["description"].is_string(), "{name} is not described");
        for (field, schema) in schema["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}.{field} is not described");
        }
    }
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
