//! The JSON of every command against its schema, with a validator of another project. Schemas are closed, and describe
//! each key.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use boon::{Compiler, Schemas};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::folder::{Folder, PROGRAM, stderr, words};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");

/// Serves volumes from a data directory, calls `work`, and ends the service.
fn serve(folder: &Folder, directory: &str, work: impl FnOnce()) {
    let service = folder.command(&["serve", directory, "--checksums"]).stdout(Stdio::piped()).spawn();
    let mut service = service.expect("the service starts");
    let mut lines = BufReader::new(service.stdout.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.expect("the service prints text").contains("plimsoll volume")), "it serves");
    let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    kill_process(Pid::from_child(&service), Signal::TERM).expect("the service runs");
    assert!(service.wait().expect("the service ends").success());
    worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// Checks that the JSON of a command is valid under the schema of `name`, and that a key that is added to any object
/// makes it invalid.
#[track_caller]
fn check(folder: &Folder, name: &str, arguments: &[&str]) -> Value {
    let output = folder.run(&[arguments, &["--json=-"]].concat());
    let result = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{arguments:?}: {error}: {}", stderr(&output));
    });
    check_value(name, &result);
    result
}

#[track_caller]
fn check_value(name: &str, result: &Value) {
    let validator = Validator::new(name);
    validator.validate(result).unwrap_or_else(|error| panic!("{name}: {error}"));
    for place in objects(result) {
        let mut faulty = result.clone();
        let object = faulty.pointer_mut(&place).and_then(Value::as_object_mut).expect("its place is known");
        object.insert("undocumented".to_owned(), json!([]));
        assert!(validator.validate(&faulty).is_err(), "{name}: {place} accepts an undocumented key");
    }
    let mut faulty = result.clone();
    // Answers of the service have no format.
    let Some(object) = faulty.as_object_mut() else { return };
    object.insert("format".to_owned(), json!("plimsoll.other/1"));
    assert!(validator.validate(&faulty).is_err(), "{name}: another format is accepted");
}
/// A schema as `plimsoll generate schema` prints it.
fn schema(name: &str) -> Value {
    let output = Command::new(PROGRAM).args(["generate", "schema", name]).output().expect("it runs");
    serde_json::from_slice(&output.stdout).expect("a schema is JSON")
}

struct Validator {
    schemas: Schemas,
    index: boon::SchemaIndex,
}

impl Validator {
    fn new(name: &str) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", schema(name)).expect("a schema is accepted");
        let index = compiler.compile("schema.json", &mut schemas).expect("the schema is valid");
        Self { schemas, index }
    }

    fn validate(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.index).map_err(|error| format!("{error:#}"))
    }
}

/// Places of the objects in a value as JSON pointers: one of each kind, which differ in more than the index of an array.
fn objects(value: &Value) -> Vec<String> {
    let (mut kinds, mut places) = (BTreeSet::new(), Vec::new());
    collect(value, String::new(), String::new(), &mut |place, kind| {
        if kinds.insert(kind) {
            places.push(place);
        }
    });
    places
}

fn collect(value: &Value, place: String, kind: String, found: &mut impl FnMut(String, String)) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{place}/{key}"), format!("{kind}/{key}"), found);
            }
            found(place, kind);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{place}/{index}"), format!("{kind}/*"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_fault_in_a_result_is_found() {
    let folder = Folder::new("fault");
    let result = check(&folder, "quote", &["quote", "aws/gp3:500GiB"]);
    let validator = Validator::new("quote");
    let refuses = |place: &str, value: Value| {
        let mut faulty = result.clone();
        *faulty.pointer_mut(place).expect("the quote has it") = value;
        assert!(validator.validate(&faulty).is_err(), "{place} is accepted");
    };
    refuses("/quotes/0/capacity_bytes", json!("500 GiB"));
    refuses("/quotes/0/sustained_iops", json!("3000"));
    refuses("/quotes/0/limits/0/source/status", json!("rumour"));
    refuses("/quotes/0/price/monthly/amount", json!(40.0));
    refuses("/quotes/0/lifts/0", json!({}));
    let mut faulty = result.clone();
    faulty["quotes"][0].as_object_mut().expect("a quote is an object").remove("doubts");
    assert!(validator.validate(&faulty).is_err(), "a missing key is accepted");
}

#[test]
fn products_and_quotes_are_valid() {
    let folder = Folder::new("products");
    check(&folder, "catalogue", &["catalogue"]);
    for product in ["aws/gp3", "oci/block-volume", "azure/premium-ssd", "gcp/hyperdisk-ml", "netapp/aff-a800"] {
        check(&folder, "product", &["catalogue", "show", product]);
    }
    let gp3 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalogue/aws/gp3.toml");
    check(&folder, "product-check", &["catalogue", "check", gp3]);
    check(&folder, "prices", &["prices"]);
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../catalogue/tests/catalogue/lists/azure.json");
    check(&folder, "prices", &["prices", "import", list]);
    check(&folder, "quote", &["quote", "oci:256GB@20vpu on oci/VM.Standard.E4.Flex:2ocpu", "aws/gp2:100GiB"]);
    check(&folder, "quote", &["quote", "stripe(2,64KiB) of azure/premium-ssd:1TiB", "netapp/aff-a800"]);
}

#[test]
fn runs_and_their_results_are_valid() {
    let folder = Folder::new("runs");
    check(&folder, "runs", &["runs"]);
    let load = ["--depth", "1,2,4", "--duration", "2s", "--size", "16MiB"];
    folder.text(&[&["measure", "."], &load[..], &["--json", "a.json"]].concat());
    folder.text(&[&["measure", "."], &load[..], &["--json", "b.json"]].concat());
    let run: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    Validator::new("run").validate(&run).unwrap();
    check(&folder, "runs", &["runs"]);
    check(&folder, "comparison", &["compare", "a.json", "b.json"]);
    // Runs that were not steady leave two depths or fewer.
    check(&folder, "fit", &["fit", "a.json", "b.json", "--like", "oci:2000GB@120vpu"]);
    check(&folder, "explanation", &["explain", "a.json", "--as", "aws/gp3:100GiB"]);
    let need = ["--iops", "1000", "--objective", "p99<=20ms", "--capacity", "100GiB"];
    folder.text(&["simulate", "oci:256GB@20vpu", "--quick", "--json", "s.json"]);
    check(&folder, "match", &[&["match", "s.json", "--all"], &need[..]].concat());
    check(&folder, "history", &["history", "s.json", "s.json"]);
    check(&folder, "explanation", &["explain", "s.json", "--as", "oci:256GB@50vpu"]);
    let suite = check(&folder, "suite", &["suite", "dd", "station(1, 1ms)", "--bs", "1MiB", "--count", "8"]);
    assert_eq!(suite["format"], "plimsoll.suite/2");
}

#[test]
fn presets_configuration_and_changes_are_valid() {
    let folder = Folder::new("program");
    check(&folder, "presets", &["presets"]);
    check(&folder, "presets", &["presets", "etcd"]);
    check(&folder, "config", &["config"]);
    folder.text(&["measure", ".", "--depth", "1", "--duration", "1s", "--size", "16MiB"]);
    check(&folder, "changes", &["runs", "label", "last", "day"]);
    check(&folder, "changes", &["runs", "prune", "--keep", "0"]);
    let trial = check(&folder, "trial", &["try"]);
    // Of all providers, as in the command that it names.
    let report = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");
    let sized = words(&folder.text(&["size", report, "--capacity", "500GiB"]));
    assert!(sized.contains(trial["monthly"].as_str().expect("a price")), "{sized}");
}

#[test]
fn a_check_of_a_data_directory_is_valid() {
    let folder = Folder::new("check");
    serve(&folder, "data", || ());
    check(&folder, "check", &["volume", "fsck", "data"]);
}

#[test]
fn answers_of_a_service_are_valid() {
    let folder = Folder::short("answers");
    serve(&folder, "data", || {
        let volume = |name: &str, arguments: &[&str]| {
            check(&folder, name, &[&["volume", "--service", "data"], arguments].concat());
        };
        volume("group", &["group", "create", "machine", "--like", "oci/VM.Standard.E4.Flex:2ocpu"]);
        volume("groups", &["group", "list"]);
        let like = ["--like", "oci:50GB@0vpu", "--group", "machine", "--force"];
        volume("volume", &[&["create", "data"], &like[..]].concat());
        volume("volumes", &["list"]);
        volume("volume", &["show", "data"]);
        volume("volume-stats", &["stats", "data"]);
        volume("volume-top", &["top", "--once"]);
        volume("volume-scrub", &["scrub"]);
        volume("volume", &["record", "data", "data.trace"]);
        volume("volume-recording", &["record", "data", "--stop"]);
        check(&folder, "oci-keys", &["oci-key", "--service", "data", "list"]);
        let endpoint = ["--endpoint", "http://127.0.0.1:1"];
        check(&folder, "oci-config", &[&["oci-config", "cli", "--service", "data"], &endpoint[..]].concat());
        check(&folder, "ec2-key", &["ec2-key", "--service", "data", "--endpoint", "http://127.0.0.1:1"]);
    });
}

#[test]
fn a_check_of_this_host_is_valid() {
    let folder = Folder::new("doctor");
    let checked = check(&folder, "doctor", &["doctor"]);
    assert!(checked["checks"].as_array().is_some_and(|checks| checks.len() > 15), "{checked}");
    let unready = check(&folder, "doctor", &["doctor", "nowhere"]);
    assert_eq!(unready["ready"], false);
    assert_eq!(unready["checks"][0]["status"], "failed", "{unready}");
}

#[test]
fn a_check_of_an_nbd_server_is_valid() {
    let folder = Folder::new("nbd-check");
    let command = format!("'{PROGRAM}' nbd-check \"$uri\" --json={}", folder.file("check.json"));
    folder.text(&["nbd", "--size", "8MiB", "--listen", "tcp:127.0.0.1:0", "--run", &command]);
    let checked: Value = serde_json::from_str(&folder.read("check.json")).expect("it is JSON");
    check_value("nbd-check", &checked);
    let features = checked["features"].as_array().expect("it has features");
    let not_tried = features.iter().filter(|feature| feature["verdict"] == "not tried");
    assert!(not_tried.clone().count() > 0, "nothing may be written");
    assert!(not_tried.clone().all(|feature| feature["request"].is_null()), "{features:?}");
}

#[test]
fn a_checked_requirement_is_valid() {
    let folder = Folder::new("requirement-check");
    let checked = check(&folder, "requirement-check", &["check", "vault", "station(1, 1ms)"]);
    assert_eq!(checked["conditions"][0]["verdict"], json!("not met"));
    assert_eq!(checked["conditions"][1]["figures"].as_array().map(Vec::len), Some(1));
}

#[test]
fn reports_and_their_results_are_valid() {
    let folder = Folder::new("reports");
    let sample = |name: &str| format!("{SAMPLES}/{name}");
    for name in ["awr.html", "awr.txt", "statspack.txt", "iostat.txt", "iostat.json", "pg_stat_io.txt", "fio.json"] {
        check(&folder, "demand", &["demand", &sample(name)]);
    }
    folder.write("none.txt", "no report\n");
    check(&folder, "demand", &["demand", "none.txt", &sample("sar.txt")]);
    for name in ["awr.html", "statspack.txt", "iostat.txt"] {
        check(&folder, "diagnosis", &["diagnose", &sample(name), "--on", "aws/gp3:500GiB"]);
        check(&folder, "watch", &["watch", &sample(name), "--on", "aws/gp2:500GiB on aws/m5.large"]);
    }
    let size = |more: &[&str]| {
        let always = ["--capacity", "500GiB", "--provider", "oci", "--stripe", "1", "--may-be-slower"];
        check(&folder, "sizing", &[&["size"], more, &always[..]].concat())
    };
    let what_ifs = ["--what-if", "levels,cache,growth", "--ram-price", "5 USD", "--growth", "30%/year"];
    let result = size(&[&[sample("awr.html").as_str()], &what_ifs[..]].concat());
    assert!(result["choices"][0]["price"]["monthly"]["amount"].is_string(), "no choice has a price");
    size(&[&sample("iostat.txt"), "--objective", "p99<=5ms", "--what-if", "tiers"]);
}

#[test]
fn every_key_is_described() {
    for name in plimsoll_report::schema_names().chain(plimsoll_service::SCHEMAS.map(|(name, _)| name)) {
        described(name, &schema(name), false);
    }
}

/// Checks the keys of a schema and of all schemas below it. The description of an alternative is that of its keys.
fn described(place: &str, schema: &Value, is_alternative: bool) {
    let members = match schema {
        Value::Object(members) => members.iter().collect::<Vec<_>>(),
        Value::Array(items) => return items.iter().for_each(|item| described(place, item, is_alternative)),
        _ => return,
    };
    let has_description = schema.get("description").is_some();
    for (key, value) in members {
        if let ("properties", Value::Object(keys)) = (key.as_str(), value) {
            for (key, schema) in keys {
                let is_described = schema.get("description").is_some() || is_alternative && has_description;
                assert!(is_described, "{place}: {key} has no description");
            }
        }
        described(&format!("{place}/{key}"), value, key == "oneOf");
    }
}
