//! Access rules of the console: a refusal for each way around them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use crate::folder::Folder;
use crate::web::console::WebServer;

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn foreign_hosts_are_misdirected() {
    let server = WebServer::start("hosts");
    let cookie = server.session();
    let own = server.host();
    let port = server.port;
    let with = |headers: &[(&str, &str)]| server.send("GET", "/", headers, b"").status;
    for host in [own.clone(), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(with(&[("host", &host), ("cookie", &cookie)]), 200, "{host}");
    }
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1", ""] {
        assert_eq!(with(&[("host", host), ("cookie", &cookie)]), 421, "{host:?}");
    }
    assert_eq!(with(&[("cookie", &cookie)]), 421, "no host at all");
    assert_eq!(with(&[("host", &own), ("host", "evil.example"), ("cookie", &cookie)]), 421, "two hosts");
}

#[test]
fn url_opens_once_and_nothing_is_read_without_session() {
    let server = WebServer::start("session");
    for path in [
        "/",
        "/measure",
        "/choose",
        "/model",
        "/api/runs",
        "/api/reports",
        "/events/volumes",
        "/api/control/v1/volumes",
    ] {
        assert_eq!(server.get(path, "").status, 401, "{path}");
        assert_eq!(server.get(path, &format!("plimsoll-{}=00", server.port)).status, 401, "{path}");
    }
    assert_eq!(server.post("/api/enter", "", "{\"token\":\"00\"}").status, 401);
    let cookie = server.session();
    assert_eq!(server.get("/", &cookie).status, 200);
    let token = server.url.split('#').nth(1).unwrap().to_owned();
    assert_eq!(server.post("/api/enter", "", &format!("{{\"token\":\"{token}\"}}")).status, 401, "used before");
    let link = server.post("/api/links", &cookie, "{}").json();
    let link = link["url"].as_str().unwrap().split('#').nth(1).unwrap().to_owned();
    let entered = server.post("/api/enter", "", &format!("{{\"token\":\"{link}\"}}"));
    assert_eq!(entered.status, 204);
    for part in ["httponly", "samesite=strict", "path=/"] {
        assert!(entered.head.contains(part), "{part}: {}", entered.head);
    }
    let mode = |path: &str| std::fs::metadata(server.folder.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data/web"), mode("data/web/sessions")), (0o700, 0o600));
}

#[test]
fn changes_of_other_origins_are_refused() {
    let server = WebServer::start("origins");
    let (cookie, host, own) = (server.session(), server.host(), server.origin());
    let create = br#"{"name":"a","like":"oci:50GB@0vpu"}"#;
    let with = |origin: &[(&str, &str)], path: &str| {
        let headers = [&[("host", host.as_str()), ("cookie", &cookie), JSON], origin].concat();
        server.send("POST", path, &headers, create).status
    };
    for path in ["/api/control/v1/volumes", "/api/jobs", "/api/figures", "/api/links", "/api/enter"] {
        assert_eq!(with(&[], path), 403, "{path}: no origin");
        for origin in ["http://evil.example", "null", "http://127.0.0.1:1", &format!("https://{host}")] {
            assert_eq!(with(&[("origin", origin)], path), 403, "{path}: {origin}");
        }
    }
    assert_eq!(server.get("/api/control/v1/volumes", &cookie).json(), serde_json::json!([]), "nothing was changed");
    assert_eq!(with(&[("origin", &own)], "/api/control/v1/volumes"), 201);
    let foreign =
        [("host", host.as_str()), ("cookie", &cookie), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
    assert_eq!(server.send("GET", "/events/volumes", &foreign, b"").status, 403, "a page of another site");
    let delete = [("host", host.as_str()), ("cookie", &cookie)];
    assert_eq!(server.send("DELETE", "/api/control/v1/volumes/a", &delete, b"").status, 403);
    assert_eq!(server.get("/api/control/v1/volumes/a", &cookie).status, 200);
}

#[test]
fn only_json_bodies_and_raw_uploads_are_read() {
    let server = WebServer::start("bodies");
    let (cookie, host, own) = (server.session(), server.host(), server.origin());
    let with = |method: &str, path: &str, media: &str, body: &[u8]| {
        let headers = [
            ("host", host.as_str()),
            ("cookie", &cookie),
            ("origin", &own),
            ("content-type", media),
            ("x-file-name", "a"),
        ];
        server.send(method, path, &headers, body)
    };
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""] {
        assert_eq!(with("POST", "/api/figures", media, b"{}").status, 415, "{media}");
    }
    assert_eq!(with("POST", "/api/figures", "application/json", b"not json").status, 400);
    assert_eq!(with("POST", "/api/figures", "application/json", &vec![b' '; 65_537]).status, 413);
    let case = server.post("/api/reports", &cookie, "{}").json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/reports/{case}");
    assert_eq!(with("PUT", &path, "application/json", b"{}").status, 415, "an upload is raw");
    assert_eq!(with("PUT", "/api/reports/..%2F..%2Fetc", "application/octet-stream", b"a").status, 404);
    assert_eq!(with("PUT", &path, "application/octet-stream", b"").status, 400, "an empty file");
    let long = [
        ("host", host.as_str()),
        ("cookie", &cookie),
        ("origin", &own),
        ("content-type", "application/octet-stream"),
        ("x-file-name", "a"),
        ("content-length", "268435457"),
    ];
    assert_eq!(server.send("PUT", &path, &long, b"").status, 413, "announced as too long");
    assert_eq!(with("PUT", &path, "application/octet-stream", b"Device r/s").status, 200);
    let file = server.folder.join("data/web/reports").join(&case).join("000-a");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let delete = [("host", host.as_str()), ("cookie", &cookie), ("origin", &own)];
    assert_eq!(server.send("DELETE", &path, &delete, b"").status, 204);
    assert!(!file.exists(), "deleted reports are gone");
}

#[test]
fn answers_forbid_scripts_frames_and_other_origins() {
    let server = WebServer::start("headers");
    let cookie = server.session();
    for path in ["/", "/measure", "/choose", "/model", "/enter", "/assets/console.js", "/nowhere"] {
        let reply = server.get(path, &cookie);
        let policy = "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; frame-ancestors 'none'";
        assert!(reply.head.contains(policy), "{path}: {}", reply.head);
        assert!(reply.head.contains("x-content-type-options: nosniff"), "{path}");
        assert!(!reply.head.contains("access-control-"), "{path}");
        assert!(!reply.body.contains(" style=") && !reply.body.contains("<style"), "{path} has no inline style");
        assert!(!reply.body.contains(" onclick=") && !reply.body.contains("<script>"), "{path} has no inline script");
    }
    let host = server.host();
    let preflight =
        [("host", host.as_str()), ("origin", "http://evil.example"), ("access-control-request-method", "POST")];
    assert!(!server.send("OPTIONS", "/api/figures", &preflight, b"").head.contains("access-control-"));
}

#[test]
fn no_get_changes_anything() {
    let server = WebServer::start("gets");
    let cookie = server.session();
    assert_eq!(server.post("/api/control/v1/volumes", &cookie, r#"{"name":"a","like":"oci:50GB@0vpu"}"#).status, 201);
    let paths = [
        "/api/control/v1/volumes/a/level",
        "/api/control/v1/volumes/a/snapshot",
        "/api/jobs/1/stop",
        "/api/links",
        "/api/figures",
        "/api/volumes/a/attach",
    ];
    for path in paths {
        let status = server.get(path, &cookie).status;
        assert!(status == 405 || status == 404, "{path}: {status}");
    }
}

#[test]
fn addresses_of_other_hosts_are_refused() {
    let folder = Folder::short("web-public");
    let refused = |flags: &[&str], expected: &str| folder.refuses(&[&["web", "data"], flags].concat(), expected);
    refused(&["--web", "0.0.0.0:0"], "ssh -L");
    refused(&["--web", "0.0.0.0:0", "--web-name", "db1.example"], "--tls-certificates");
    refused(&["--web", "127.0.0.1:0", "--web-name", "db1.example"], "no other host reaches");
}

#[test]
fn event_streams_are_limited() {
    let server = WebServer::start("streams");
    let (cookie, host) = (server.session(), server.host());
    let mut streams = Vec::new();
    let mut refused = 0;
    for _ in 0..30 {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let head = format!("GET /events/volumes HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        refused += usize::from(&status == b"HTTP/1.1 503");
        streams.push(stream);
    }
    assert_eq!(refused, 6, "of 30 streams 24 are open");
    assert_eq!(server.get("/", &cookie).status, 200, "pages are served all the same");
}
