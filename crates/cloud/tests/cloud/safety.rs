//! Requests that are not signed, or signed wrongly, or malformed.

use serde_json::json;

use crate::fixture::{API, Ask, COMPARTMENT, Plane, Signer, date};

#[test]
fn only_recent_requests_of_registered_keys_are_answered() {
    let plane = Plane::start();
    let signer = plane.signer();
    let target = format!("{API}/volumes?compartmentId={COMPARTMENT}");
    let ask = Ask { method: "GET", target: &target, body: "", headers: &[] };
    let text = |date: &str| String::from_utf8(signer.signed(&ask, plane.port, date)).unwrap();
    let right = text(&date(0));
    assert_eq!(plane.send(right.as_bytes()).status, 200);
    assert_eq!(plane.send(text(&date(-280)).as_bytes()).status, 200);
    let unsigned = format!("GET {target} HTTP/1.1\r\nhost: 127.0.0.1\r\ndate: {}\r\n\r\n", date(0));
    let (stranger, _) = Signer::unknown();
    let other_key = right.replace(&signer.id, &stranger.id);
    let signature = right.split("signature=\"").nth(1).unwrap().split('"').next().unwrap();
    let refused = [
        ("no signature", unsigned),
        ("old date", text(&date(-400))),
        ("future date", text(&date(400))),
        ("another path", right.replace("/volumes?", "/volumeGroups?")),
        ("another query", right.replace(COMPARTMENT, "ocid1.compartment.oc1..d")),
        ("another host", right.replace("host: 127.0.0.1", "host: 127.0.0.2")),
        ("unknown key", other_key),
        (
            "key of another",
            String::from_utf8(stranger.signed(&ask, plane.port, &date(0))).unwrap().replace(&stranger.id, &signer.id),
        ),
        ("no target", right.replace("date (request-target) host", "date host")),
        ("another algorithm", right.replace("rsa-sha256", "hmac-sha256")),
        ("a header twice", right.replace("version=\"1\"", "version=\"1\",version=\"1\"")),
        ("truncated", right.replace(signature, &signature[..40])),
        ("no base64", right.replace(signature, "!")),
    ];
    for (what, request) in refused {
        let reply = plane.send(request.as_bytes());
        assert_eq!(reply.error(), (401, "NotAuthenticated"), "{what}: {reply:?}");
        let message = reply.body["message"].as_str().unwrap();
        assert!(message.starts_with("The required information"), "{what}: no detail: {message}");
    }
}

#[test]
fn body_has_to_match_its_digest_and_its_limit() {
    let plane = Plane::start();
    let signer = plane.signer();
    let body = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50 }).to_string();
    let ask = Ask { method: "POST", target: &format!("{API}/volumes"), body: &body, headers: &[] };
    let right = String::from_utf8(signer.signed(&ask, plane.port, &date(0))).unwrap();
    let changed = plane.send(right.replace("\"sizeInGBs\":50", "\"sizeInGBs\":90").as_bytes());
    assert_eq!(changed.error(), (401, "NotAuthenticated"));
    let long = json!({ "compartmentId": COMPARTMENT, "displayName": "x".repeat(70_000) }).to_string();
    assert_eq!(plane.ask(&signer, "POST", "/volumes", &long, &[]).error(), (413, "RequestEntityTooLarge"));
    assert!(plane.home.service.list().unwrap().is_empty(), "nothing was made");
    assert_eq!(plane.send(right.as_bytes()).status, 200);
}

#[test]
fn malformed_requests_are_refused() {
    let plane = Plane::start();
    let signer = plane.signer();
    let post = |path: &str, body: &str| plane.ask(&signer, "POST", path, body, &[]);
    assert_eq!(post("/volumes", "{").error(), (400, "InvalidParameter"));
    assert_eq!(post("/volumes", "[]").error(), (400, "InvalidParameter"));
    let unknown = post("/volumes", &json!({ "compartmentId": COMPARTMENT, "colour": "red" }).to_string());
    assert_eq!(unknown.error(), (400, "InvalidParameter"));
    assert!(unknown.body["message"].as_str().unwrap().contains("colour"));
    for path in ["../../etc", "..", "ocid1.compartment.oc1..a%2Fb", "ocid1.volume.oc1..c", "x"] {
        let listed = plane.get(&signer, &format!("/volumes?compartmentId={path}"));
        assert_eq!(listed.error(), (404, "NotAuthorizedOrNotFound"), "{path}");
        let created = post("/volumes", &json!({ "compartmentId": path, "sizeInGBs": 50 }).to_string());
        assert_eq!(created.error(), (404, "NotAuthorizedOrNotFound"), "{path}");
    }
    let id = plane.volume(&signer, "data", 50, 10);
    let foreign = plane.get(&signer, "/volumes?compartmentId=ocid1.compartment.oc1..other");
    assert_eq!((foreign.status, foreign.body), (200, json!([])));
    for path in ["/volumes/..", "/volumes/%2E%2E%2Fobjects.json", "/bootVolumes/x", &format!("/volumeBackups/{id}")] {
        assert_eq!(plane.get(&signer, path).status, 404, "{path}");
    }
    assert_eq!(plane.get(&signer, "/volumes/%FF").status, 400);
    assert_eq!(plane.delete(&signer, "/volumes").error(), (405, "MethodNotAllowed"));
    assert_eq!(plane.get(&signer, "/nothing").error(), (404, "NotFound"));
    let name = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50, "displayName": "../../x\u{0}/é" });
    assert_eq!(post("/volumes", &name.to_string()).status, 200, "display names are free, names of volumes are not");
    assert!(plane.home.service.list().unwrap().iter().all(|volume| !volume.name.contains('/')));
}

#[test]
fn key_that_is_removed_is_refused() {
    let plane = Plane::start();
    let signer = plane.signer();
    assert_eq!(plane.get(&signer, "/volumes").status, 200);
    let fingerprint = signer.id.rsplit('/').next().unwrap();
    assert_eq!(plimsoll_cloud::remove_oci_key(&plane.home.directory, fingerprint).unwrap(), 1);
    assert_eq!(plane.get(&signer, "/volumes").status, 401);
}
