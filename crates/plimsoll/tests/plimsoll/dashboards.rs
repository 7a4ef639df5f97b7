//! The Grafana dashboards: their structure, and that each metric in them is one that plimsoll exposes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

use crate::folder::Folder;
use crate::home::Home;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana");
/// Samples of a histogram have names of their own.
const SUFFIXES: [&str; 3] = ["_bucket", "_sum", "_count"];

fn read_dashboards() -> Vec<(String, Value)> {
    let files = fs::read_dir(Path::new(FOLDER)).expect("the folder is there").flatten().map(|entry| entry.path());
    let read = |path: std::path::PathBuf| {
        let json = fs::read(&path).expect("it can be read");
        (path.display().to_string(), serde_json::from_slice(&json).expect("it is JSON"))
    };
    files.filter(|path| path.extension().is_some_and(|end| end == "json")).map(read).collect()
}

/// Names of metrics in a text: runs of letters, digits and underscores that begin with `plimsoll_`.
fn find_metrics(text: &str) -> BTreeSet<String> {
    let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    names.filter(|name| name.starts_with("plimsoll_")).map(str::to_owned).collect()
}

/// Metrics of the service, of a measurement, and of a watch.
fn list_exposed() -> BTreeSet<String> {
    let mut home = Home::new("dashboards");
    home.serve(&[]);
    let mut client = UnixStream::connect(home.data().join("control.sock")).expect("the service listens");
    write!(client, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it is open");
    let mut text = String::new();
    client.read_to_string(&mut text).expect("it answers");
    let folder = Folder::new("textfile");
    let load = ["measure", ".", "--size", "16MiB", "--objective", "p99<=1s", "--depth", "1,4", "--duration", "1s"];
    folder.text(&[&load[..], &["--prometheus", "plimsoll.prom"]].concat());
    text += &folder.read("plimsoll.prom");
    let measured = find_metrics(&text);
    assert!(measured.contains("plimsoll_run_max_iops"), "{text}");
    // Figures that a source lacks are absent from its page.
    let sources = [
        include_str!("../../../report/src/exposition/watch.rs"),
        include_str!("../../../report/src/exposition/run.rs"),
    ];
    measured.into_iter().chain(sources.into_iter().flat_map(find_metrics)).collect()
}

#[test]
fn metrics_of_dashboards_are_exposed() {
    let exposed = list_exposed();
    let dashboards = read_dashboards();
    assert_eq!(dashboards.len(), 2);
    for (name, dashboard) in &dashboards {
        let queries = dashboard["panels"].as_array().unwrap().iter().filter_map(|panel| panel["targets"].as_array());
        let queries = queries.flatten().map(|target| target["expr"].as_str().unwrap());
        let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
        let variables = variables.filter_map(|variable| variable["query"]["query"].as_str());
        let used: BTreeSet<String> = queries.chain(variables).flat_map(find_metrics).collect();
        assert!(used.len() > 10, "{name}: {used:?}");
        for metric in used {
            let family = SUFFIXES.iter().find_map(|suffix| metric.strip_suffix(suffix)).unwrap_or(&metric);
            assert!(exposed.contains(&metric) || exposed.contains(family), "{name}: {metric}");
        }
    }
}

/// The parts that Grafana requires of an imported dashboard.
#[test]
fn dashboards_have_the_structure_of_grafana() {
    for (name, dashboard) in read_dashboards() {
        let text = |value: &Value, key: &str| {
            value[key].as_str().unwrap_or_else(|| panic!("{name}: {key}: {value}")).to_owned()
        };
        assert!(text(&dashboard, "uid").len() <= 40 && !text(&dashboard, "title").is_empty());
        assert!(dashboard["schemaVersion"].as_u64().unwrap() >= 36, "{name}");
        assert!(dashboard.get("id").is_none(), "{name}: an identifier of one server");
        let variables: BTreeSet<String> =
            dashboard["templating"]["list"].as_array().unwrap().iter().map(|variable| text(variable, "name")).collect();
        assert!(variables.contains("datasource"), "{name}");
        let (mut ids, mut cells) = (BTreeSet::new(), BTreeSet::new());
        for panel in dashboard["panels"].as_array().unwrap() {
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{name}: {panel}");
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
            assert!(w > 0 && h > 0 && x + w <= 24, "{name}: {panel}");
            for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
                assert!(cells.insert(cell), "{name}: panels overlap at {cell:?}: {panel}");
            }
            assert!(!text(panel, "title").is_empty());
            match text(panel, "type").as_str() {
                "row" => continue,
                "timeseries" | "stat" => {}
                other => panic!("{name}: panels of type {other} need a plugin"),
            }
            let targets = panel["targets"].as_array().unwrap();
            let references: BTreeSet<String> = targets.iter().map(|target| text(target, "refId")).collect();
            assert!(!targets.is_empty() && references.len() == targets.len(), "{name}: {panel}");
            for source in targets.iter().chain([panel]) {
                assert_eq!(source["datasource"], serde_json::json!({ "type": "prometheus", "uid": "${datasource}" }));
            }
            for query in targets.iter().map(|target| text(target, "expr")) {
                let is_balanced = |open, close| query.matches(open).count() == query.matches(close).count();
                assert!(is_balanced('(', ')') && is_balanced('{', '}') && is_balanced('[', ']'), "{name}: {query}");
                for used in query.split("\"$").skip(1).filter_map(|rest| rest.split('"').next()) {
                    assert!(variables.contains(used), "{name}: {used}: {query}");
                }
            }
        }
    }
}
