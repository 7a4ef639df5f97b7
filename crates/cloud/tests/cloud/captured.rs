//! Requests of the real oci CLI, captured on the wire: their form is the one that this crate reads.

use std::path::PathBuf;

use serde_json::Value;

use crate::fixture::{API, Plane};

/// The captured requests, if they are here.
fn captured() -> Option<Vec<Value>> {
    let samples = std::env::var_os("PLIMSOLL_SAMPLES").map(PathBuf::from);
    let path = samples.map(|samples| samples.join("../facts/oci-requests.jsonl")).filter(|path| path.exists());
    let Some(path) = path else {
        eprintln!("skipped: PLIMSOLL_SAMPLES does not lead to captured requests");
        return None;
    };
    let text = std::fs::read_to_string(path).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Replays method, path, query and body of each request with a key of the test: none is malformed here.
#[test]
fn requests_of_the_cli_are_understood() {
    let Some(requests) = captured() else { return };
    let plane = Plane::start();
    let signer = plane.signer();
    for request in &requests {
        let pairs = request["query"].as_object().into_iter().flatten();
        let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        let path = request["path"].as_str().unwrap().strip_prefix(API).unwrap();
        let body = if request["body"].is_null() { String::new() } else { request["body"].to_string() };
        let method = request["method"].as_str().unwrap();
        let reply = plane.ask(&signer, method, &format!("{path}{query}"), &body, &[]);
        // Objects of the capture do not exist here, and `x` is no compartment; everything else is understood.
        let code = reply.body["code"].as_str().unwrap_or_default();
        let is_understood = reply.status < 300 || code == "NotAuthorizedOrNotFound";
        let is_token = query.contains("page=") && code == "InvalidParameter";
        assert!(is_understood || is_token, "{request}: {reply:?}");
    }
    assert_eq!(requests.len(), 47);
}
