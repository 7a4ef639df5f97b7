//! Every page in both colour schemes and at two widths: axe-core, width, errors, and pictures if a folder is named.

use std::fs;

use serde_json::json;

use crate::web::browser::{self, Browser};
use crate::web::console::WebServer;

const AWR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");
/// Folder for pictures of all pages.
pub const PICTURES: &str = "PLIMSOLL_WEB_PICTURES";

/// axe-core, or the reason why its checks are left out.
fn read_axe() -> Option<String> {
    let path = std::env::var("PLIMSOLL_AXE")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../node_modules/axe-core/axe.min.js").to_owned());
    let script = fs::read_to_string(&path).ok();
    if script.is_none() {
        eprintln!("skipped: no axe-core at {path}: run `npm install --no-save axe-core`, or set PLIMSOLL_AXE");
    }
    script
}

/// Violations of the present page, opened parts included.
fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    browser.eval(axe);
    let found = browser.eval(
        "(async () => { for (const part of document.querySelectorAll('details')) part.open = true;
         const found = await axe.run(document, { resultTypes: ['violations'] });
         const node = (node) => node.target.join(' ') + ': ' + node.failureSummary;
         return found.violations.map((one) => one.id + ': ' + one.nodes.slice(0, 3).map(node).join('; ')); })()",
    );
    found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_page_is_accessible_and_fits_its_width() {
    if !browser::is_installed() {
        return;
    }
    let axe = read_axe();
    let server = WebServer::start("axe");
    let browser = Browser::start("axe");
    browser.open(&server.url);
    for (name, like) in [("data", "oci:50GB@20vpu"), ("redo", "aws/gp3:100GiB"), ("archive", "oci:200GB@0vpu")] {
        browser.eval(&format!("request('POST', '/api/control/v1/volumes', {{ name: '{name}', like: '{like}' }})"));
    }
    let measured = server.folder.join("a_folder_whose_name_has_no_place_to_break");
    fs::create_dir(&measured).unwrap();
    let measured = json!({ "path": measured, "size": "64MiB", "quick": true }).to_string();
    browser.eval(&format!("request('POST', '/api/jobs', {measured})"));
    browser.open(&server.page("/choose"));
    browser.choose_file("#upload input[type=file]", AWR);
    browser.wait("/^\\/choose\\/.+/.test(location.pathname) && document.querySelector('#headline').textContent !== ''");
    browser.set("#wanted [name=capacity]", "500GiB");
    browser.wait("document.querySelector('#report h1') !== null");
    let case = browser.eval("location.pathname").as_str().unwrap().to_owned();
    browser.open(&server.page("/measure"));
    browser.wait("document.querySelector('#runs tbody tr a') !== null");
    let run =
        browser.eval("document.querySelector('#runs tbody tr a').getAttribute('href')").as_str().unwrap().to_owned();
    let ready_choices = "document.querySelector('#report h1') !== null";
    let [diagnosis, demand, source] = ["diagnosis", "demand", "files/awr.html/40"].map(|part| format!("{case}/{part}"));
    let retained = run.trim_start_matches("/runs/");
    let (compared, overlaid) = (format!("/compare/{retained}/{retained}"), format!("/overlay/{retained},{retained}"));
    let pages = [
        ("volumes", "/", "document.querySelectorAll('#volumes tbody tr').length === 3"),
        ("volume", "/volumes/data", "document.querySelector('[data-figure=iops]').textContent !== '–'"),
        ("measure", "/measure", "document.querySelectorAll('#runs tbody tr').length === 1"),
        ("run", &run, "document.querySelector('.report h1') !== null"),
        ("compare", &compared, "document.querySelector('.report h1') !== null"),
        ("overlay", &overlaid, "document.querySelector('.report h1') !== null"),
        ("uploads", "/choose", "document.querySelectorAll('#cases li').length === 1"),
        ("choose", &case, ready_choices),
        ("diagnosis", &diagnosis, "document.querySelector('.report h1') !== null"),
        ("demand", &demand, "document.querySelector('.report h1') !== null"),
        ("source", &source, "document.querySelector('#line') !== null"),
        ("article", "/model/articles/oci-levels", "document.querySelector('.report h1') !== null"),
        ("model", "/model", "document.querySelectorAll('#lines li').length === 2"),
    ];
    let pictures = std::env::var(PICTURES).ok();
    let mut found = Vec::new();
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
        browser.look(width, 900, scheme);
        for (name, path, ready) in &pages {
            browser.open(&server.page(path));
            browser.wait(ready);
            if let Some(folder) = &pictures {
                fs::write(format!("{folder}/{name}-{width}-{scheme}.b64"), browser.picture()).unwrap();
            }
            let wide = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            found.extend((wide != 0).then(|| format!("{name}, {width}: {wide} pixels too wide")));
            found.extend(browser.errors().into_iter().map(|error| format!("{name}, {width}, {scheme}: {error}")));
            let violated = axe.as_ref().map(|axe| violations(&browser, axe)).unwrap_or_default();
            found.extend(violated.into_iter().map(|one| format!("{name}, {width}, {scheme}: {one}")));
        }
    }
    browser.click("#language");
    browser.wait("document.documentElement.lang === 'ja' && document.readyState === 'complete'");
    found.extend(browser.errors());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn first_page_is_small_and_fast() {
    let server = WebServer::start("small");
    let cookie = server.session();
    let begun = std::time::Instant::now();
    let page = server.get("/", &cookie);
    let spent = begun.elapsed();
    assert!(spent.as_millis() < 100, "{spent:?}");
    let mut bytes = page.body.len();
    for part in page.body.split(['"']).filter(|part| part.starts_with("/assets/")) {
        bytes += server.get(part, &cookie).body.len();
    }
    assert!(bytes < 300 << 10, "{bytes} bytes");
    let lines: usize = ["console", "volume", "volumes", "measure", "choose", "model", "enter"]
        .iter()
        .map(|name| server.get(&format!("/assets/{name}.js"), &cookie).body.lines().count())
        .sum();
    assert!(lines < 1_500, "{lines} lines of JavaScript");
}

/// Processor time of a process in hundredths of a second.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn fifty_volumes_at_five_updates_a_second_cost_little() {
    use std::io::{Read, Write};
    let server = WebServer::start("fifty");
    let (cookie, host) = (server.session(), server.host());
    for number in 0..50 {
        let body = format!(r#"{{"name":"v{number:02}","like":"oci:50GB@10vpu"}}"#);
        assert_eq!(server.post("/api/control/v1/volumes", &cookie, &body).status, 201);
    }
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    write!(stream, "GET /events/volumes HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n\r\n").unwrap();
    let (begun, before) = (std::time::Instant::now(), ticks(server.pid()));
    let (mut text, mut piece) = (String::new(), vec![0; 1 << 20]);
    while begun.elapsed().as_secs() < 5 {
        let length = stream.read(&mut piece).unwrap();
        text += &String::from_utf8_lossy(&piece[..length]);
    }
    let share = (ticks(server.pid()) - before) as f64 / 100.0 / begun.elapsed().as_secs_f64();
    let events = text.matches("event: volumes").count();
    assert!((20..=27).contains(&events), "{events} events in 5 s");
    assert!(text.contains("\"name\":\"v00\"") && text.contains("\"name\":\"v49\""));
    assert!(share < 0.03, "{:.1} % of a core", share * 100.0);
}
