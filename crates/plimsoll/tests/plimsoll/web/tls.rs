//! A console that other hosts reach: TLS, only the given names, and the same access rules.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::folder::Folder;
use crate::web::browser::{self, Browser};
use crate::web::console::WebServer;

const NAME: &str = "console.test";

/// Certificate and key for the names of these tests; `None` without openssl.
fn create_certificates(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    let names = format!("subjectAltName=DNS:{NAME},DNS:localhost");
    let created = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=console.test", "-addext", &names])
        .args(["-keyout", "server-key.pem", "-out", "server-cert.pem"])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .status();
    let Ok(status) = created else {
        eprintln!("skipped: openssl is not installed (Debian: apt-get install openssl)");
        return None;
    };
    assert!(status.success(), "openssl creates no certificate");
    Some(folder)
}

/// Status and text of the answer that curl gets, which verifies the certificate.
fn run_curl(server: &WebServer, certificates: &Path, url: &str, arguments: &[&str]) -> (u16, String) {
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--include", "--max-time", "30", "--noproxy", "*", "--cacert"])
        .arg(certificates.join("server-cert.pem"))
        .args(["--resolve", &format!("{NAME}:{}:127.0.0.1", server.port)])
        .args(arguments)
        .arg(url)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("{url}: {text} {}", String::from_utf8_lossy(&output.stderr)));
    (status, text.to_ascii_lowercase())
}

#[test]
fn console_on_other_addresses_is_encrypted_and_knows_its_names() {
    let Some(certificates) = create_certificates("curl") else { return };
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: curl is not installed (Debian: apt-get install curl)");
        return;
    }
    certificates.refuses(&["web", "nowhere", "--web", "0.0.0.0:0", "--tls-certificates", "."], "--web-name");
    let server = WebServer::start_encrypted("tls", certificates.path(), &[NAME, "localhost"]);
    let own = format!("https://{NAME}:{}", server.port);
    assert!(server.url.starts_with(&format!("{own}/enter#")), "{}", server.url);
    let curl = |url: &str, arguments: &[&str]| run_curl(&server, certificates.path(), url, arguments);
    assert_eq!(curl(&format!("{own}/"), &[]).0, 401, "no session");
    let token = json!({ "token": server.url.split('#').nth(1).unwrap() }).to_string();
    let json = ["--header", "content-type: application/json", "--data", &token];
    let enter = |origin: &str| {
        curl(&format!("{own}/api/enter"), &[&json[..], &["--header", &format!("origin: {origin}")]].concat())
    };
    assert_eq!(enter(&own.replace("https", "http")).0, 403, "an origin without TLS");
    let (status, answer) = enter(&own);
    assert_eq!(status, 204, "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("; secure") && cookie.contains("; httponly"), "{cookie}");
    let cookie = format!("cookie: {}", cookie.split(';').next().unwrap());
    let with = |url: &str, arguments: &[&str]| curl(url, &[&["--header", &cookie], arguments].concat()).0;
    assert_eq!(with(&format!("{own}/"), &[]), 200);
    assert_eq!(with(&format!("https://localhost:{}/", server.port), &[]), 200, "its other name");
    for host in [format!("127.0.0.1:{}", server.port), format!("evil.example:{}", server.port), NAME.to_owned()] {
        assert_eq!(with(&format!("{own}/"), &["--header", &format!("host: {host}")]), 421, "{host}");
    }
    let plain = Command::new("curl")
        .args(["--silent", "--max-time", "30", "--noproxy", "*"])
        .arg(format!("http://127.0.0.1:{}/", server.port))
        .output()
        .unwrap();
    assert!(!plain.status.success() && plain.stdout.is_empty(), "it answers without TLS: {plain:?}");
}

#[test]
fn pages_and_events_arrive_over_tls() {
    let Some(certificates) = create_certificates("browser").filter(|_| browser::is_installed()) else { return };
    let server = WebServer::start_encrypted("tls-browser", certificates.path(), &["localhost"]);
    let browser = Browser::start("tls");
    browser.call("Security.setIgnoreCertificateErrors", json!({ "ignore": true }));
    browser.open(&server.url);
    browser.eval("request('POST', '/api/control/v1/volumes', { name: 'data', like: 'oci:50GB@0vpu' })");
    browser.wait("document.querySelector('#volumes tbody tr[data-volume=data]') !== null");
    assert_eq!(browser.eval("location.protocol"), json!("https:"));
    assert_eq!(browser.eval("document.cookie"), json!(""), "scripts do not see the session");
    assert_eq!(browser.errors(), Vec::<String>::new());
}
