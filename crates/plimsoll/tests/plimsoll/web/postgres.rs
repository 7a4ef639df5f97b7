//! The level slider while pgbench runs on the volume: the curve of the page follows.
//!
//! Needs root, FUSE, loop devices, mkfs.ext4, PostgreSQL and Chromium, and runs only with `PLIMSOLL_ROOT_TESTS=1`.

use std::path::Path;

use serde_json::json;

use crate::home::Running;
use crate::postgres::{Postgres, find_programs};
use crate::web::axe::PICTURES;
use crate::web::browser::{self, Browser};
use crate::web::console::WebServer;

const SLIDER: &str = "[data-slider=level] input";
const VOLUME: &str = "oci:50GB@10vpu";
/// IOPS of 50 GB at level 0.
const LIMIT: u32 = 100;

/// Attaches the volume with the form of its page.
fn attach(browser: &Browser, mount: &Path) {
    browser.set("form[data-action=attach] [name=mkfs]", "ext4");
    browser.set("form[data-action=attach] [name=mountpoint]", mount.to_str().unwrap());
    browser.click("form[data-action=attach] button");
    browser.wait("document.querySelector('form[data-action=detach]') !== null && document.readyState === 'complete'");
}

/// True in the page once the last four seconds of the curve of IOPS are between two values.
fn last_seconds(least: u32, max: u32) -> String {
    format!(
        "(() => {{ const last = [...charts][0].data[1].slice(-4);
           return last.length === 4 && Math.min(...last) > {least} && Math.max(...last) < {max}; }})()"
    )
}

#[test]
fn curve_follows_slider_while_pgbench_runs() {
    let Some(programs) = find_programs().filter(|_| browser::is_installed()) else { return };
    let server = WebServer::start("postgres");
    let browser = Browser::start("postgres");
    browser.look(1280, 900, "light");
    browser.open(&server.url);
    browser.eval(&format!("request('POST', '/api/control/v1/volumes', {{ name: 'db', like: '{VOLUME}' }})"));
    browser.open(&server.page("/volumes/db"));
    let mount = server.folder.join("mnt");
    std::fs::create_dir_all(&mount).unwrap();
    attach(&browser, &mount);
    let postgres = Postgres::start(programs, &mount);
    browser.eval("request('POST', '/api/control/v1/volumes/db/level', { to: '0' })");
    browser.wait(&format!("document.querySelector('{SLIDER}').value === '0'"));
    let load = postgres.command("pgbench").args(["--client", "16", "--time", "300", "--no-vacuum", "postgres"]).spawn();
    let load = Running(load.unwrap());
    // A second may hold operations of its neighbour.
    browser.wait(&last_seconds(LIMIT / 2, LIMIT * 3 / 2));

    let high = browser.eval(&format!("Number(document.querySelector('{SLIDER}').max)")).as_f64().unwrap();
    browser.drag(SLIDER, 0.0, 20.0 / high, 8, || {});
    browser.wait("document.querySelector('#like').textContent === 'oci/block-volume:50GB,vpu=20'");
    browser.wait(&last_seconds(LIMIT * 3, 1_000_000));
    browser.drag(SLIDER, 20.0 / high, 10.0 / high, 8, || {});
    browser.wait("document.querySelector('#like').textContent === 'oci/block-volume:50GB'");
    browser.wait(&last_seconds(LIMIT * 3, 1_000_000));
    if let Ok(folder) = std::env::var(PICTURES) {
        std::fs::write(format!("{folder}/pgbench.b64"), browser.picture()).unwrap();
    }
    browser.drag(SLIDER, 10.0 / high, 0.0, 8, || {});
    browser.wait(&last_seconds(LIMIT / 2, LIMIT * 3 / 2));
    // Both changes are marked, also in a page that is opened later.
    let marks = "new Promise((done) => { const events = new EventSource('/events/volumes/db');
        events.addEventListener('history', ({ data }) => { events.close(); done(JSON.parse(data).marks.map(({ to }) => to)); }); })";
    assert_eq!(browser.eval(marks), json!(["0", "20", "10", "0"]));

    drop(load);
    drop(postgres);
    browser.click("form[data-action=detach] button");
    browser.wait("document.querySelector('form[data-action=attach]') !== null && document.readyState === 'complete'");
    assert_eq!(browser.errors(), Vec::<String>::new());
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(mount.to_str().unwrap()), "still mounted: {mounts}");
    assert_eq!(json!(0), browser.eval("request('GET', '/api/control/v1/volumes/db').then(({ clients }) => clients)"));
}
