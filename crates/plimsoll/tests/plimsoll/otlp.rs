//! `--otlp` against a receiver: the requests have the fields of the protocol, and failures are reported after the result.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::folder::{Folder, stderr, stdout};

const MEASURE: [&str; 9] = ["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "1s", "--otlp"];
/// Fields of the messages of opentelemetry-proto 1.x that requests may contain: `metrics.proto`, `common.proto` and
/// `resource.proto`.
const FIELDS: [&str; 21] = [
    "aggregationTemporality",
    "asDouble",
    "attributes",
    "dataPoints",
    "description",
    "gauge",
    "isMonotonic",
    "key",
    "metrics",
    "name",
    "resource",
    "resourceMetrics",
    "scope",
    "scopeMetrics",
    "startTimeUnixNano",
    "stringValue",
    "sum",
    "timeUnixNano",
    "unit",
    "value",
    "version",
];
/// Parses standard input by the definitions of the protocol, which reject unknown fields and wrong types.
const PARSE: &str = "
import sys
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
request = json_format.Parse(sys.stdin.read(), ExportMetricsServiceRequest())
print(sum(len(scope.metrics) for of in request.resource_metrics for scope in of.scope_metrics))
";

/// A request: its head in lower case, and its body.
type Request = (String, Value);

/// Answers requests until [`stop`].
struct Receiver {
    authority: String,
    thread: JoinHandle<Vec<Request>>,
}

impl Receiver {
    fn new(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        Self { authority, thread: std::thread::spawn(move || receive(&listener, answer)) }
    }

    fn url(&self) -> String {
        format!("http://{}", self.authority)
    }

    /// Ends it by a connection without a request; returns the requests.
    fn stop(self) -> Vec<Request> {
        drop(TcpStream::connect(&self.authority).unwrap());
        self.thread.join().unwrap()
    }
}

fn receive(listener: &TcpListener, answer: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for client in listener.incoming() {
        let mut client = BufReader::new(client.unwrap());
        let mut head = String::new();
        while client.read_line(&mut head).unwrap() > 2 {}
        if head.is_empty() {
            break;
        }
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let mut body = vec![0; length.trim().parse().unwrap()];
        client.read_exact(&mut body).unwrap();
        requests.push((head, serde_json::from_slice(&body).expect("it is JSON")));
        let length = answer.len();
        write!(client.get_mut(), "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}")
            .unwrap();
    }
    requests
}

fn fields<'a>(value: &'a Value, names: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            names.insert(name);
            fields(member, names);
        }),
        Value::Array(items) => items.iter().for_each(|item| fields(item, names)),
        _ => {}
    }
}

/// The metrics of a request, after a check of its fields, and by the definitions of the protocol where they are installed.
#[track_caller]
fn check((head, request): &(String, Value)) -> Vec<Value> {
    assert!(
        head.starts_with("post /v1/metrics http/1.1\r\n") && head.contains("content-type: application/json"),
        "{head}"
    );
    let mut names = BTreeSet::new();
    fields(request, &mut names);
    assert!(names.iter().all(|name| FIELDS.contains(name)), "{names:?}");
    let metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
    let parser = Command::new("python3")
        .args(["-c", PARSE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut parser) = parser else {
        eprintln!("skipped: python3 is not installed");
        return metrics;
    };
    parser.stdin.take().unwrap().write_all(request.to_string().as_bytes()).expect("python3 reads its input");
    let output = parser.wait_with_output().unwrap();
    let reported = stderr(&output);
    if reported.contains("ModuleNotFoundError") {
        eprintln!("skipped: the definitions of the protocol are not installed (pip install opentelemetry-proto)");
    } else {
        assert!(output.status.success(), "{reported}");
        assert_eq!(stdout(&output).trim(), metrics.len().to_string());
    }
    metrics
}

fn find<'a>(metrics: &'a [Value], name: &str) -> &'a Value {
    metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("{name} is in {metrics:?}"))
}

#[test]
fn measurement_is_sent_as_metrics() {
    let folder = Folder::new("otlp");
    let receiver = Receiver::new("{}");
    folder.text(&[&MEASURE[..], &[&receiver.url()]].concat());
    let metrics = check(&receiver.stop()[0]);
    let maximum = find(&metrics, "plimsoll_run_max_iops");
    assert_eq!(maximum["unit"], "{operation}/s");
    let point = &maximum["gauge"]["dataPoints"][0];
    assert!(point["asDouble"].as_f64().unwrap() > 0.0, "{point}");
    assert_eq!(point["attributes"][0]["key"], "target");
    assert!(point["timeUnixNano"].as_str().unwrap().parse::<u64>().unwrap() > 1_700_000_000_000_000_000, "{point}");
}

#[test]
fn watch_sends_each_reading() {
    let folder = Folder::new("otlp-watch");
    let receiver = Receiver::new("");
    let watch = ["watch", "host", "--on", "aws/gp2:500GiB", "--every", "1s", "--for", "2s", "--json", "--otlp"];
    folder.run(&[&watch[..], &[&receiver.url()]].concat());
    let requests = receiver.stop();
    let metrics = check(requests.last().expect("there is a reading"));
    let target = &find(&metrics, "plimsoll_watch_info")["gauge"]["dataPoints"][0]["attributes"][0];
    assert_eq!(target["value"]["stringValue"], "host");
}

#[test]
fn failure_is_reported_after_the_result() {
    let folder = Folder::new("otlp-failure");
    let receiver = Receiver::new(r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too many series"}}"#);
    let address = receiver.url();
    let rejected = folder.run(&[&MEASURE[..], &[&address]].concat());
    receiver.stop();
    assert_eq!(rejected.status.code(), Some(1), "{}", stderr(&rejected));
    assert!(stderr(&rejected).contains("the receiver rejected 3 values: too many series"), "{}", stderr(&rejected));
    // The port is free again.
    let unsent = folder.run(&[&MEASURE[..], &[&address]].concat());
    assert_eq!(unsent.status.code(), Some(1), "{}", stderr(&unsent));
    assert!(stderr(&unsent).contains("/v1/metrics: no receiver answers (Connection refused"), "{}", stderr(&unsent));
    assert!(stdout(&unsent).contains("Kept as "), "{}", stdout(&unsent));
    folder.refuses_usage(&[&MEASURE[..], &["https://collector:4318"]].concat(), "write http://HOST:PORT");
    folder.write("load.txt", "");
    folder.refuses(&["watch", "load.txt", "--otlp", "http://127.0.0.1:1"], "--otlp sends a running watch");
}
