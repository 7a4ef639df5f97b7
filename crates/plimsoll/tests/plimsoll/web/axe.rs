//! Every page of the console and of results in both languages and colour schemes and at two widths: axe-core, width, errors,
//! and pictures if a folder is named.

use std::fs;

use serde_json::json;

use crate::folder::stderr;
use crate::forms::{SUITE, write_measured_run};
use crate::web::browser::{self, Browser};
use crate::web::console::WebServer;

const AWR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");
/// Folder for pictures of all pages.
pub const PICTURES: &str = "PLIMSOLL_WEB_PICTURES";
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
/// Widths and colour schemes of each language.
const LOOKS: [(&str, &[(u32, &str)]); 2] = [
    ("en", &[(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]),
    ("ja", &[(1280, "light"), (390, "dark")]),
];

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

/// Checks pages in a browser, and takes their pictures.
struct Audit {
    browser: Browser,
    axe: Option<String>,
    pictures: Option<String>,
    found: Vec<String>,
}

impl Audit {
    fn start(name: &str) -> Self {
        let pictures = std::env::var(PICTURES).ok();
        Self { browser: Browser::start(name), axe: read_axe(), pictures, found: Vec::new() }
    }

    /// Checks the current page.
    fn check(&mut self, name: &str) {
        if let Some(folder) = &self.pictures {
            fs::write(format!("{folder}/{name}.b64"), self.browser.picture()).unwrap();
        }
        let wide = self.browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        self.found.extend((wide != 0).then(|| format!("{name}: {wide} pixels too wide")));
        self.found.extend(self.browser.errors().into_iter().map(|error| format!("{name}: {error}")));
        let violated = self.axe.as_ref().map(|axe| violations(&self.browser, axe)).unwrap_or_default();
        self.found.extend(violated.into_iter().map(|one| format!("{name}: {one}")));
    }

    #[track_caller]
    fn finish(self) {
        assert!(self.found.is_empty(), "{}", self.found.join("\n"));
    }
}

/// Violations of the current page, including opened parts.
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
    let server = WebServer::start("axe");
    let mut audit = Audit::start("axe");
    let browser = &audit.browser;
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
    let run_name = run.trim_start_matches("/runs/");
    let (compared, overlaid) = (format!("/compare/{run_name}/{run_name}"), format!("/overlay/{run_name},{run_name}"));
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
    for (language, looks) in LOOKS {
        audit.browser.eval(&format!("void (document.cookie = 'lang={language}; path=/; samesite=strict')"));
        for (width, scheme) in looks {
            audit.browser.look(*width, 900, scheme);
            for (name, path, ready) in &pages {
                audit.browser.open(&server.page(path));
                audit.browser.wait(ready);
                audit.check(&format!("{name}-{language}-{width}-{scheme}"));
            }
        }
    }
    audit.browser.click("#language");
    audit.browser.wait("document.documentElement.lang === 'en' && document.readyState === 'complete'");
    assert_eq!(audit.browser.errors(), Vec::<String>::new());
    audit.finish();
}

#[test]
fn every_result_is_accessible_and_fits_its_width() {
    if !browser::is_installed() {
        return;
    }
    let folder = write_measured_run("results");
    folder.text(&["simulate", "aws/gp3:100GiB", "--quick", "--json", "gp3.json"]);
    let report = format!("{SAMPLES}/awr.html");
    let commands: [(&str, &[&str]); 17] = [
        ("simulate", &["simulate", "link(1ms)", "--depth", "1,4", "--duration", "1s"]),
        ("report", &["report", "run.json"]),
        ("overlay", &["report", "run.json", "gp3.json"]),
        ("quote", &["quote", "aws/gp3:500GiB,iops=12000", "azure/premium-ssd:P30"]),
        ("match", &["match", "run.json"]),
        ("compare", &["compare", "run.json", "gp3.json"]),
        ("history", &["history", "run.json", "run.json", "run.json"]),
        ("explain", &["explain", "run.json", "--as", "aws/gp3:100GiB"]),
        ("fit", &["fit", "run.json"]),
        ("demand", &["demand", SAMPLES]),
        ("diagnose", &["diagnose", SAMPLES]),
        ("size", &["size", &report, "--capacity", "500GiB"]),
        ("suite", &SUITE),
        ("catalogue", &["catalogue"]),
        ("product", &["catalogue", "show", "aws/gp3"]),
        ("runs", &["runs"]),
        ("doctor", &["doctor", "."]),
    ];
    let mut audit = Audit::start("results");
    for (language, looks) in LOOKS {
        for (name, command) in commands {
            let output = folder.run(&[command, &["--lang", language, "--html", "page.html"]].concat());
            // Of `doctor`, 1 is a finding.
            assert!(output.status.code().is_some_and(|code| code <= 1), "{name}: {}", stderr(&output));
            for (width, scheme) in looks {
                audit.browser.look(*width, 900, scheme);
                audit.browser.open(&format!("file://{}", folder.file("page.html")));
                audit.check(&format!("{name}-{language}-{width}-{scheme}"));
            }
        }
    }
    audit.finish();
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
