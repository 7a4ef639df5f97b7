//! Operations of the API, with their statuses and bodies.

use std::os::unix::fs::PermissionsExt;

use plimsoll_service::api::{Create, ErrorBody, Volume};
use plimsoll_service::client::{ClientError, volume_path};

use crate::control::serving::{Answer, Serving};

const VOLUME: &str = r#"{"name":"data","like":"limit(3000)","size_bytes":16777216}"#;

#[track_caller]
fn check(answer: &Answer, status: u16, within: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let refused: ErrorBody = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"));
    assert!(refused.error.contains(within) && !refused.error.contains('\n'), "{answer:?}");
}

#[test]
fn volume_is_created_read_changed_and_deleted() {
    let serving = Serving::start();
    let listed = serving.ask("GET", "/v1/volumes", "");
    assert_eq!((listed.status, listed.body.as_str()), (200, "[]"));
    assert!(listed.head.contains("content-type: application/json"), "{}", listed.head);
    let created = serving.ask("POST", "/v1/volumes", VOLUME);
    assert_eq!(created.status, 201, "{created:?}");
    let volume: Volume = serde_json::from_str(&created.body).unwrap();
    assert_eq!((volume.name.as_str(), volume.size_bytes), ("data", 16 << 20));
    let stats = serving.ask("GET", "/v1/volumes/data/stats", "");
    assert!(stats.status == 200 && stats.body.contains("\"in_flight\":0"), "{stats:?}");
    assert!(serving.ask("GET", "/v1/volumes/data/stats?periods=0", "").body.contains("\"periods\":[]"));
    check(&serving.ask("GET", "/v1/volumes/data/stats?periods=x", ""), 400, "not a number");
    assert_eq!(serving.ask("PUT", "/v1/volumes/data/faults", r#"{"seed":1,"errors_ppm":5}"#).status, 200);
    assert!(serving.ask("GET", "/v1/volumes/d%61ta", "").body.contains("\"errors_ppm\":5"));
    assert_eq!(serving.ask("DELETE", "/v1/volumes/data/faults", "").status, 200);
    let metrics = serving.ask("GET", "/metrics", "");
    assert!(metrics.head.contains("content-type: text/plain; version=0.0.4"), "{}", metrics.head);
    assert!(metrics.body.contains("plimsoll_volume_io_now{volume=\"data\"} 0"), "{}", metrics.body);
    let ended = serving.ask("DELETE", "/v1/volumes/data", "");
    assert_eq!((ended.status, ended.body.as_str()), (204, ""));
    check(&serving.ask("DELETE", "/v1/volumes/data", ""), 404, "data");
}

#[test]
fn invalid_request_is_refused_with_status() {
    let serving = Serving::start();
    assert_eq!(serving.ask("POST", "/v1/volumes", VOLUME).status, 201);
    check(&serving.ask("POST", "/v1/volumes", VOLUME), 409, "data");
    check(&serving.ask("POST", "/v1/volumes", "{"), 400, "invalid body for /v1/volumes");
    check(&serving.ask("POST", "/v1/volumes", ""), 400, "invalid body");
    check(&serving.ask("POST", "/v1/volumes/data/resize", r#"{"size_bytes":1,"x":2}"#), 400, "unknown field `x`");
    check(&serving.ask("POST", "/v1/volumes/data/resize", r#"{"size_bytes":1}"#), 400, "");
    check(&serving.ask("GET", "/v1/volumes/dada", ""), 404, "data");
    check(&serving.ask("GET", "/v2", ""), 404, "no such path");
    check(&serving.ask("GET", "/v1/volumes/", ""), 404, "no such path");
    check(&serving.ask("GET", "/v1/volumes/%2e%2e%2fgroups", ""), 404, "");
    check(&serving.ask("GET", "/v1/volumes/%ff", ""), 400, "");
    let wrong = serving.ask("PATCH", "/v1/volumes", "");
    check(&wrong, 405, "not with this method");
    assert!(wrong.head.contains("allow: ") && wrong.head.contains("post"), "{}", wrong.head);
}

#[test]
fn long_body_is_refused_in_any_encoding() {
    let serving = Serving::start();
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(65 << 10));
    check(&serving.ask("POST", "/v1/volumes", &long), 413, "64 KiB");
    let head = "POST /v1/volumes HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunks = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    check(&serving.send((head.to_owned() + &chunks).as_bytes()), 413, "64 KiB");
    let huge = "POST /v1/volumes HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 99999999999\r\n\r\n{";
    check(&serving.send(huge.as_bytes()), 413, "64 KiB");
    assert_eq!(serving.ask("GET", "/v1/volumes", "").status, 200, "it goes on");
}

#[test]
fn client_works_over_both_sockets_and_reports_errors() {
    let mut serving = Serving::start();
    let client = serving.client();
    let create =
        Create { name: "data".into(), like: "limit(3000)".into(), size_bytes: Some(1 << 24), ..Create::default() };
    let created: Volume = client.read(&client.post("/v1/volumes", &create).unwrap()).unwrap();
    assert_eq!(created.name, "data");
    let over_tcp = serving.client_over_tcp(Some(crate::control::serving::TOKEN));
    let read: Volume = over_tcp.read(&over_tcp.get(&volume_path("data", "")).unwrap()).unwrap();
    assert_eq!(read, created);
    let refused = client.get(&volume_path("a/b", "")).unwrap_err();
    assert!(matches!(refused, ClientError::Refused { status: 404, .. }), "{refused}");
    let stranger = serving.client_over_tcp(Some("0123456789abcdef")).get("/v1/volumes").unwrap_err();
    assert!(matches!(stranger, ClientError::Stranger(_)) && stranger.to_string().contains("--token-file"));
    let permissions = serving.socket.metadata().unwrap().permissions();
    assert_eq!(permissions.mode() & 0o777, 0o600, "its owner's alone");
    serving.close_control();
    assert!(!serving.socket.exists() && serving.directory().exists(), "the socket goes, and nothing else");
    let gone = client.get("/v1/volumes").unwrap_err();
    assert!(gone.is_mistake() && gone.to_string().contains("plimsoll serve"), "{gone}");
}
