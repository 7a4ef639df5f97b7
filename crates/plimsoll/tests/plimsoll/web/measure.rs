//! Measurements in a browser: started, followed, stopped and kept.

use crate::web::browser::{self, Browser};
use crate::web::console::WebServer;

#[test]
fn measurement_is_followed_stopped_and_kept() {
    if !browser::is_installed() {
        return;
    }
    let server = WebServer::start("measure");
    let browser = Browser::start("measure");
    browser.open(&server.url);
    browser.open(&server.page("/measure"));
    let path = server.folder.join("measured");
    browser.set("#start [name=path]", path.to_str().unwrap());
    browser.set("#start [name=size]", "64MiB");
    browser.set("#start [name=duration]", "600s");
    browser.set("#start [name=objective]", "p99<=50ms");
    browser.click("#start button");
    browser.wait("Number(document.querySelector('#count').textContent) >= 2");
    browser.wait("document.querySelector('#line').textContent.startsWith('Load line so far: ')");
    // Another one is refused meanwhile.
    let second =
        browser.eval("request('POST', '/api/jobs', { path: '/tmp' }).then(() => '', (error) => error.message)");
    assert!(second.as_str().unwrap().contains("in progress"), "{second}");
    browser.call("Page.reload", serde_json::json!({}));
    browser.wait("document.readyState === 'complete' && Number(document.querySelector('#count')?.textContent) >= 2");
    browser.click("#stop");
    browser.wait("document.querySelector('#open').hidden === false");
    assert!(browser.text("#ending").starts_with("Stopped. Kept as "), "{}", browser.text("#ending"));
    browser.wait("document.querySelectorAll('#runs tbody tr').length === 1");
    // The verdict of the run replaces that of the points so far.
    browser
        .wait("document.querySelector('#line').textContent === document.querySelector('#runs tbody td').textContent");
    let run_count = std::fs::read_dir(server.folder.join("runs")).unwrap().count();
    assert_eq!(run_count, 1);
    browser.set("#runs tbody input:not([type])", "before the change");
    browser.wait("document.querySelector('#status') !== null");
    browser.click("#open");
    browser.wait("location.pathname.startsWith('/runs/') && document.querySelector('.report h1') !== null");
    assert!(browser.text(".report").contains("Interrupted: no verdict"), "{}", browser.text(".report"));
    let overlay = "fetch('/overlay/' + [1, 2].map(() => location.pathname.split('/')[2]).join(',')).then((answer) => answer.text())";
    let overlay = browser.eval(overlay);
    assert!(overlay.as_str().unwrap().contains("Load lines of 2 curves"), "{overlay}");
    let unexpected: Vec<String> = browser.errors().into_iter().filter(|error| !error.contains("409")).collect();
    assert_eq!(unexpected, Vec::<String>::new());
}

#[test]
fn measurement_that_a_restart_ended_is_reported() {
    if !browser::is_installed() {
        return;
    }
    let server = WebServer::start("measure-restart");
    let browser = Browser::start("measure-restart");
    browser.open(&server.url);
    let path = server.folder.join("measured");
    let measured = serde_json::json!({ "path": path, "size": "64MiB", "duration": "600s" }).to_string();
    browser.eval(&format!("request('POST', '/api/jobs', {measured})"));
    browser.open(&server.page("/measure"));
    browser.wait("document.querySelector('#job')?.hidden === false");
    let server = server.restart();
    browser.wait("document.querySelector('#ending').textContent.includes('restarted')");
    assert_eq!(browser.eval("document.querySelector('#stop').hidden"), true);
    drop(server);
}

#[test]
fn refusals_of_command_arrive_in_its_words() {
    let server = WebServer::start("measure-refused");
    let cookie = server.session();
    let path = server.folder.join("measured/used");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let body = serde_json::json!({ "path": path, "preset": "redo" }).to_string();
    let id = server.post("/api/jobs", &cookie, &body).json()["id"].as_u64().unwrap();
    let stream = server.get(&format!("/events/jobs/{id}"), &cookie);
    assert!(stream.body.contains("event: end"), "{stream:?}");
    assert!(stream.body.contains("this load would destroy its data"), "{stream:?}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![1; 1 << 20], "nothing was written");
}
