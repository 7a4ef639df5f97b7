//! All commands about volumes, and refusals.

use std::time::Duration;

use plimsoll_device::nbd::wire::{Style, command};
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk, WireRequest};
use plimsoll_ingest::EbsStatistics;
use serde_json::Value;

use crate::folder::{stderr, stdout};
use crate::home::{Home, SLOWLY};

/// Timeout of a step on a busy host.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn a_volume_is_made_changed_watched_and_ended() {
    let home = Home::serving("commands", SLOWLY);
    let volume = |arguments: &[&str]| home.does(&[&["volume"], arguments].concat());
    assert!(volume(&["list"]).starts_with("no volumes yet: plimsoll volume create"));
    let created = volume(&["create", "data", "--like", "oci:50GB@0vpu"]);
    for part in
        ["data: emulated, like oci/block-volume:50GB", "limit(", "1.28 USD a month", "nbdinfo 'nbd+unix:///data?"]
    {
        assert!(created.contains(part), "no {part:?} in {created}");
    }
    let durable = "at a flush, and otherwise 5 s after a write at the latest";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&created).contains(durable), "{created}");
    let listed = volume(&["list"]);
    assert!(listed.contains("data  50 GiB") && listed.contains("every volume is emulated"), "{listed}");
    let raised = volume(&["level", "data", "20"]);
    assert!(raised.contains("level    20") && raised.contains("USD so far"), "{raised}");
    let larger = volume(&["resize", "data", "56GB"]);
    assert!(larger.contains("size     56 GiB") && words(&larger).contains("counts is 56 GiB, not"), "{larger}");
    assert!(!volume(&["resize", "data", "57GiB"]).contains("counts is"), "binary units are no doubt");
    let small = volume(&["create", "small", "--like", "oci:50GB@0vpu", "--size", "10GB"]);
    assert!(small.contains("size     10 GiB") && words(&small).contains("counts is 10 GiB, not"), "{small}");
    let decimal = volume(&["create", "decimal", "--like", "limit(500)", "--size", "2GB"]);
    assert!(decimal.contains("1.86 GiB") && !decimal.contains("counts is"), "stages have no vendor: {decimal}");
    volume(&["delete", "small", "decimal", "--yes"]);
    assert!(volume(&["resize", "data", "60GiB"]).contains("size     60 GiB"));
    assert!(volume(&["snapshot", "data", "before"]).contains("before: a snapshot, emulated like"));
    assert!(volume(&["clone", "data", "test", "--like", "aws/gp3:60GiB"]).contains("like aws/gp3:60GiB"));
    assert!(volume(&["restore", "data", "before"]).contains("data: emulated"));
    let suffering = volume(&["faults", "data", "--spikes", "0.1%", "--spike", "50ms", "--seed", "7"]);
    assert!(suffering.contains("0.1 % take 50 ms longer (seed 7)"), "{suffering}");
    assert!(!volume(&["faults", "data", "--off"]).contains("longer"));
    let tuned = volume(&["autotune", "data", "--default", "0", "--most", "50", "--detached-after", "336h"]);
    assert!(tuned.contains("follows the load between 0 and 50"), "{tuned}");
    assert!(!volume(&["autotune", "data", "--off"]).contains("follows"));
    let details = volume(&["show", "test"]);
    for part in ["the content of data", "cost ", "faithful nothing was asked yet", "doubts", "0 clients"] {
        assert!(details.contains(part), "no {part:?} in {details}");
    }
    assert!(volume(&["stats", "data"]).contains("flush"));
    let watched = volume(&["top", "data", "test"]);
    assert!(watched.contains("in flight") && watched.contains("emulated") && !watched.contains("before"), "{watched}");
    assert_eq!(volume(&["delete", "test", "before", "--yes"]), "volume test deleted\nvolume before deleted\n");
    let left: Value = serde_json::from_str(&volume(&["list", "--json"])).expect("it is JSON");
    assert_eq!((left[0]["name"].as_str(), left[1].is_null()), (Some("data"), true), "{left}");
}

#[test]
fn counters_are_a_page_of_ebs() {
    let home = Home::serving("ebs-page", SLOWLY);
    home.does(&["volume", "create", "vol-1", "--like", "limit(500) then link(100us)", "--size", "1GiB"]);
    let host = NbdHost::Unix(home.data().join("nbd.sock"));
    let address = ExportAddress { host, export: "vol-1".into(), tls: None };
    let mut client = Talk::begin(&address, DEADLINE).expect("it is served");
    client.choose("vol-1", true).expect("it is there");
    let file = home.path().join("page").display().to_string();
    let mut pages = Vec::new();
    for _ in 0..2 {
        // All are sent before the first is answered: the others wait for the limit.
        for cookie in 0..8 {
            let request = WireRequest { flags: 0, command: command::READ, cookie, offset: 0, length: 8192 };
            client.request(Style::Simple, &request, &[]).expect("it is connected");
        }
        for _ in 0..8 {
            assert_eq!(client.chunk(8192).expect("it is answered").errno(), 0);
        }
        assert_eq!(home.does(&["volume", "stats", "vol-1", "--ebs", &file]), "");
        pages.push(std::fs::read(&file).expect("it was written"));
    }
    let statistics = |page: &[u8]| Value::Object(EbsStatistics::of_page(page).expect("a page").to_json());
    let [first, second] = [statistics(&pages[0]), statistics(&pages[1])];
    let figure = |page: &Value, name: &str| page[name].as_u64().unwrap_or_else(|| panic!("{name}"));
    for (name, counts) in
        [("total_read_ops", [8, 16]), ("total_read_bytes", [65_536, 131_072]), ("total_write_ops", [0, 0])]
    {
        assert_eq!([figure(&first, name), figure(&second, name)], counts, "{name}");
    }
    assert_eq!(first["read_io_latency_histogram"]["num_bins"], 22);
    // At least one of the requests came less than 2 ms of the model after another.
    let exceeded = "ebs_volume_performance_exceeded_iops";
    assert!(
        figure(&second, exceeded) > 0 && figure(&second, exceeded) <= figure(&second, "total_read_time"),
        "{second}"
    );
    assert_eq!(figure(&second, "ec2_instance_performance_exceeded_tp"), 0);
}

#[test]
fn results_have_every_form() {
    let home = Home::serving("forms", SLOWLY);
    home.does(&["volume", "create", "data", "--like", "oci:50GB@0vpu"]);
    home.does(&["instance", "create", "vm", "--shape", "m6i.4xlarge"]);
    let commands: [(&[&str], &str); 5] = [
        (&["volume", "list"], "data"),
        (&["volume", "show", "data"], "data: emulated"),
        (&["volume", "stats", "data"], "flush"),
        (&["volume", "top", "--once"], "data"),
        (&["instance", "list"], "vm"),
    ];
    for (command, text) in commands {
        let form = |flag: &str| home.does(&[command, &[flag, "-"]].concat());
        let (html, markdown, csv) = (form("--html"), form("--markdown"), form("--csv"));
        assert!(html.starts_with("<!DOCTYPE html>") && html.contains(text), "{command:?}: {html}");
        assert!(markdown.starts_with("# ") && markdown.contains(text), "{command:?}: {markdown}");
        assert!(csv.ends_with("\r\n"), "{command:?}: {csv}");
        let json = home.does(&[command, &["--json"]].concat());
        serde_json::from_str::<Value>(&json).unwrap_or_else(|error| panic!("{command:?}: {error}: {json}"));
    }
    let csv = home.does(&["volume", "list", "--csv", "-"]);
    assert!(csv.contains("data,53687091200,") && csv.contains(",1.275,USD,"), "exact figures: {csv}");
    let listed = home.run(&["volume", "list", "--html", "list.html"]);
    assert_eq!(stderr(&listed), "plimsoll: wrote list.html\n");
    assert!(stdout(&listed).contains("every volume is emulated"));
    assert!(home.read("list.html").contains("prices are list prices"));
}

#[test]
fn volumes_of_a_group_are_listed_with_it() {
    let home = Home::serving("groups", SLOWLY);
    let group = |arguments: &[&str]| home.does(&[&["volume", "group"], arguments].concat());
    assert!(group(&["list"]).starts_with("none yet: plimsoll instance create"));
    assert!(group(&["create", "vm", "--like", "limit(1000)"]).contains("--group vm"));
    home.does(&["volume", "create", "data", "--like", "limit(3000)", "--size", "64MiB", "--group", "vm"]);
    assert!(group(&["list"]).contains("vm     limit(1000)  data"));
    home.refuses(&["volume", "group", "delete", "vm"], "data");
    home.refuses(&["volume", "delete", "data"], "plimsoll volume delete data --yes");
    home.does(&["volume", "delete", "data", "--yes"]);
    assert_eq!(group(&["delete", "vm"]), "group vm is ended\n");
}

#[test]
fn invalid_volume_commands_fail_with_one_line() {
    let home = Home::serving("refused", SLOWLY);
    let volume = |arguments: &[&str], expected: &str| home.refuses(&[&["volume"], arguments].concat(), expected);
    home.does(&["volume", "create", "data", "--like", "oci:50GB@20vpu"]);
    volume(&["show", "dada"], "data");
    volume(&["delete", "../data", "--yes"], "no volume");
    volume(&["create", "data", "--like", "limit(3000)", "--size", "1GiB"], "there is a volume data already");
    volume(&["create", "a b", "--like", "limit(3000)", "--size", "1GiB"], "letters");
    volume(&["create", "other", "--like", "limit(3000)"], "size");
    volume(&["create", "other", "--like", "ocy:50GB"], "oci");
    volume(&["create", "other", "--like", "drum(3)", "--size", "1GiB"], "is not a stage");
    volume(&["create", "other", "--like", "oci:50GB", "--group", "vm"], "vm");
    volume(&["resize", "data", "10GiB"], "50 GiB");
    volume(&["level", "data", "7"], "vpu");
    volume(&["snapshot", "data", "data"], "there is a volume data already");
    volume(&["restore", "data", "nothing"], "nothing");
    home.does(&["volume", "create", "empty", "--like", "limit(10)", "--size", "1MiB"]);
    volume(&["restore", "data", "empty"], "restore data empty --yes replaces the data of data");
    home.does(&["volume", "restore", "data", "empty", "--yes"]);
    volume(&["faults", "data"], "no fault was named");
    volume(&["autotune", "data", "--default", "20", "--most", "50", "--step", "7"], "steps of 10");
    volume(&["faults", "data", "--only", "erase", "--errors", "1%"], "erase");
    volume(&["autotune", "data"], "--default and --most");
    volume(&["list", "--service", "nowhere"], "plimsoll serve");
    volume(&["list", "--service", "http://127.0.0.1:1"], "plimsoll serve");
    let output = home.run(&["volume", "faults", "data", "--errors", "3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("write 0.1% or 1000ppm"));
    let output = home.run(&["volume", "faults", "data", "--spike", "5ms"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--spikes <SHARE>"), "a delay of no requests");
}

#[test]
fn every_answer_states_slow_motion() {
    let mut home = Home::new("slow");
    let greeted = home.serve(&["--slow", "10"]);
    assert!(greeted.contains("10 times slower than the clock"), "{greeted}");
    let created = home.does(&["volume", "create", "data", "--like", "limit(3000)", "--size", "64MiB"]);
    let others = ["list", "show data", "stats data", "top", "level data limit(4000)"].map(|command| {
        let words: Vec<&str> = std::iter::once("volume").chain(command.split(' ')).collect();
        home.does(&words)
    });
    for reported in others.iter().chain([&created]) {
        assert!(reported.contains("10 times slower than the clock"), "{reported}");
    }
}
