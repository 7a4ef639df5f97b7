//! Choosing in a browser: a report dropped, choices ranked, a slider moved, and the whole story in three clicks.

use plimsoll_testkit::Workload;

use crate::web::browser::{self, Browser};
use crate::web::console::WebServer;

const AWR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");

#[test]
fn uploaded_report_becomes_choice_volume_measurement_and_file() {
    if !browser::is_installed() {
        return;
    }
    let server = WebServer::start("choose");
    let browser = Browser::start("choose");
    browser.open(&server.url);
    browser.open(&server.page("/choose"));
    browser.choose_file("#upload input[type=file]", AWR);
    browser.wait(
        "/^\\/choose\\/.+/.test(location.pathname) && document.querySelector('#headline').textContent.includes('2TiB')",
    );
    browser.set("#wanted [name=capacity]", "500GiB");
    browser.wait("document.querySelectorAll('#choices tbody tr').length > 2");
    let first = browser.text("#choices tbody tr th");
    browser.wait("document.querySelector('#report h1') !== null");
    // A slider: much growth needs more.
    let price = browser.text("#choices tbody tr td");
    browser.set("#wanted [name=growth]", "100");
    browser
        .wait(&format!("document.querySelector('#choices tbody tr td').textContent !== {}", serde_json::json!(price)));
    browser.set("#wanted [name=growth]", "0");
    browser
        .wait(&format!("document.querySelector('#choices tbody tr th')?.textContent === {}", serde_json::json!(first)));
    number_leads_to_its_line(&server, &browser);
    // The story: emulate a choice that this host can emulate, measure it, one file.
    let case = browser.eval("location.pathname.split('/')[2]").as_str().unwrap().to_owned();
    let emulate = format!(
        "request('POST', '/api/reports/{case}/emulate', {{ like: 'oci:500GB@0vpu', wanted: {{ capacity: '500GiB' }} }})"
    );
    let volume = browser.eval(&emulate)["volume"].as_str().unwrap().to_owned();
    browser.open(&server.page(&format!("/volumes/{volume}")));
    browser.wait("typeof request === 'function' && document.querySelector('#measure button') !== null");
    browser.click("#measure button");
    browser.wait("location.pathname === '/measure' && Number(document.querySelector('#count').textContent) >= 1");
    browser.click("#stop");
    browser.wait("document.querySelector('#open').hidden === false");
    let file = browser.eval(&format!("fetch('/story/{case}/html').then((answer) => answer.text())"));
    let file = file.as_str().unwrap();
    for part in ["Diagnosis of", "Storage for", "Load line of"] {
        assert!(file.contains(part), "{part}");
    }
    assert!(!file.contains("src=\"http") && !file.contains("href=\"http://127"), "it needs no network");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// From the ranking over the origins of the diagnosis to the line of the report.
fn number_leads_to_its_line(server: &WebServer, browser: &Browser) {
    let ranking = browser.eval("location.pathname").as_str().unwrap().to_owned();
    browser.click("a[href$='#d0-origins']");
    browser.wait("location.pathname.endsWith('/diagnosis') && document.readyState === 'complete'");
    let row = "[...document.querySelectorAll('#d0-origins tr')].find((row) => row.querySelector('a[href*=\"/files/awr.html/\"]'))";
    browser.wait(&format!("{row} !== undefined"));
    let line = browser.eval(&format!("{row}.querySelector('a[href*=\"/files/\"]').textContent.trim()"));
    let line: usize = line.as_str().unwrap().parse().unwrap();
    browser.eval(&format!("void setTimeout(() => {row}.querySelector('a[href*=\"/files/\"]').click())"));
    browser.wait("location.pathname.includes('/files/') && document.querySelector('#line') !== null");
    let report = std::fs::read_to_string(AWR).unwrap();
    let source_line = browser.text("#line");
    assert_eq!(
        source_line.split_once(' ').unwrap(),
        (line.to_string().as_str(), report.lines().nth(line - 1).unwrap().trim_end())
    );
    browser.open(&server.page(&ranking));
    browser.wait("document.querySelector('#report h1') !== null");
}

/// Uploads files as a case; returns it.
fn upload(server: &WebServer, cookie: &str, files: &[(&str, &[u8])]) -> String {
    let case = server.post("/api/reports", cookie, "{}").json()["id"].as_str().unwrap().to_owned();
    let (host, own) = (server.host(), server.origin());
    for (name, bytes) in files {
        let headers = [
            ("host", host.as_str()),
            ("cookie", cookie),
            ("origin", &own),
            ("content-type", "application/octet-stream"),
            ("x-file-name", name),
        ];
        assert_eq!(server.send("PUT", &format!("/api/reports/{case}"), &headers, bytes).status, 200);
    }
    case
}

#[test]
fn one_of_several_databases_is_named_by_its_ranking() {
    let server = WebServer::start("several");
    let cookie = server.session();
    let report = |database: &str| Workload { database: database.into(), ..Workload::small_shop(9) }.awr_html();
    let (sales, stock) = (report("SALES"), report("STOCK"));
    let case = upload(&server, &cookie, &[("a.html", sales.as_bytes()), ("b.html", stock.as_bytes())]);
    let rank = |subject: &str| {
        let body = format!(r#"{{"capacity":"500GiB","providers":["oci"],"subject":"{subject}"}}"#);
        server.post(&format!("/api/reports/{case}/size"), &cookie, &body)
    };
    for (subject, expected) in [("", "SALES: "), ("STOCK", "STOCK: ")] {
        let ranked = rank(subject);
        assert!(ranked.json()["headline"].as_str().unwrap().starts_with(expected), "{ranked:?}");
    }
    let refused = rank("STORE");
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.json()["error"].as_str().unwrap().contains("choose one of SALES, STOCK"), "{refused:?}");
}

#[test]
fn useless_report_is_refused_with_reason() {
    let server = WebServer::start("useless");
    let cookie = server.session();
    let case = upload(&server, &cookie, &[("letter.txt", b"Dear all,\n")]);
    let ranked = server.post(&format!("/api/reports/{case}/size"), &cookie, "{}");
    assert_eq!(ranked.status, 400, "{ranked:?}");
    assert!(ranked.json()["error"].as_str().unwrap().contains("letter.txt"), "{ranked:?}");
}
