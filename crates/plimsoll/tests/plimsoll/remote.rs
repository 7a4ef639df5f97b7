//! Measurement of exports over NBD: read-only by default, writes with `--destroy`, emulations labelled as such, and
//! partial results if the server disconnects.

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::{Child, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plimsoll_device::Clock;
use plimsoll_device::nbd::Emulation;
use plimsoll_front::{Blocks, DataFiles, Handle, Limits, Offer, Server};
use plimsoll_units::Span;
use plimsoll_volume::{Export, VolumeAccess, Volumes};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::folder::{Folder, stderr, stdout};

const SIZE: u64 = 64 << 20;

/// A server on a separate thread, in a temporary directory.
struct Serving {
    folder: Folder,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Serves an export that delays replies by `wait`.
    fn start(name: &str, wait: Span, offer: impl FnOnce(Offer) -> Offer + Send + 'static) -> Self {
        let folder = Folder::short(name);
        let listener = UnixListener::bind(folder.join("socket")).expect("a socket can be made");
        let (sender, handle) = channel();
        let thread = std::thread::spawn(move || {
            let volumes = Volumes::plain([SIZE], wait);
            let mut server = Server::new(volumes, DataFiles::memory(), Limits::default(), Clock::start())
                .expect("a server can be made");
            server.offer(offer(Offer::new(Export(0), "data", SIZE)));
            server.listen(listener).expect("it listens");
            sender.send(server.handle()).expect("the test waits");
            server.run().expect("it serves");
        });
        Self { folder, handle: handle.recv().expect("the server has started"), thread: Some(thread) }
    }

    fn uri(&self) -> String {
        format!("nbd+unix:///data?socket={}", self.folder.file("socket"))
    }

    /// Measures for a second at depth 4; the output, and the run file if written.
    fn measure(&self, more: &[&str]) -> (Output, Option<Value>) {
        let uri = self.uri();
        let arguments = ["measure", &uri, "--depth", "4", "--duration", "1s", "--html", "page.html"];
        let output = self.folder.run(&[&arguments[..], more].concat());
        (output, self.last_run())
    }

    /// The last kept run.
    fn last_run(&self) -> Option<Value> {
        let runs = fs::read_dir(self.folder.join("runs")).ok()?;
        let last = runs.flatten().map(|entry| entry.path()).max()?;
        Some(serde_json::from_slice(&fs::read(last).expect("it can be read")).expect("it is JSON"))
    }

    fn refuses(&self, more: &[&str], expected: &str) {
        let (output, run) = self.measure(more);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {message}");
        assert!(message.contains(expected) && message.lines().count() == 1, "{more:?}: {message}");
        assert!(run.is_none(), "{more:?} was measured");
    }

    fn count(&self) -> plimsoll_front::Count {
        self.handle.call(|server| server.take_count(Export(0))).expect("the server lives")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.handle.send(Server::stop);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server has panicked");
    }
}

fn list_findings(run: &Value) -> Vec<&str> {
    let findings = run["findings"].as_array().expect("it has findings");
    findings.iter().map(|finding| finding["finding"].as_str().expect("it has a name")).collect()
}

#[test]
fn an_export_is_read_without_a_word_and_written_by_name_only() {
    let serving = Serving::start("by-name", Span::ZERO, |offer| offer);
    let (read, run) = serving.measure(&["--threads", "2"]);
    assert!(read.status.success(), "{}", stderr(&read));
    assert!(stdout(&read).contains("measured with NBD"), "{}", stdout(&read));
    let run = run.expect("the run was kept");
    assert_eq!((&run["source"]["kind"], &run["subject"]["kind"]), (&"measured".into(), &"NBD export".into()));
    assert_eq!((&run["subject"]["size"], &run["conditions"]["threads"]), (&SIZE.into(), &2.into()));
    assert!(
        list_findings(&run).contains(&"read-only") && list_findings(&run).contains(&"floor"),
        "{:?}",
        list_findings(&run)
    );
    let count = serving.count();
    assert!(count.reads > 0 && count.writes == 0 && count.errors == 0, "{count:?}");
    assert!(serving.folder.read("page.html").contains("nbd+unix"));

    let uri = serving.uri();
    let (written, _) = serving.measure(&["--destroy", &uri]);
    assert!(written.status.success(), "{}", stderr(&written));
    assert!(serving.count().writes > 0, "it was named, and the load writes");
}

#[test]
fn slots_on_an_export_give_a_load_line() {
    // The load line exceeds the capacity of 16 MiB in flight or of this host, which may also be busy: only the presence of all
    // parts is checked.
    let serving = Serving::start("slots", Span::from_millis(1), |offer| offer);
    let uri = serving.uri();
    let output = serving.folder.run(&["measure", &uri, "--duration", "8s", "--objective", "p99<=50ms"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let run = serving.last_run().expect("the run was kept");
    let slots = run["slots"].as_array().expect("it has slots");
    let has_role = |role: &str| slots.iter().any(|slot| slot["role"] == role);
    for role in ["most", "scout", "pass"] {
        assert!(has_role(role), "no {role} in {} slots", slots.len());
    }
    // A busy host may leave no line to hold.
    let lasting = &run["basis"]["lasting"]["lasting"];
    assert!(has_role("hold") || lasting == "not-held", "{lasting}");
    let has_operations = |slot: &Value| slot["span_ns"].as_u64() > Some(0) && slot["iops"].as_f64() > Some(0.0);
    assert!(slots.iter().all(has_operations), "every slot has operations");
    // A busy host takes the processor away in some slots, or in most: then the closed loads answer.
    let slots_of = |key: &str| run["basis"][key].as_u64().unwrap_or(0);
    let is_judged = slots_of("slots") + slots_of("left_out") > 10 || run["closed_line"].is_object();
    assert!(run["load_line"].is_object() && is_judged, "{} {}", run["load_line"], run["basis"]);
    assert_eq!(serving.count().errors, 0);
}

#[test]
fn unmeasurable_exports_are_refused_in_one_line() {
    let serving = Serving::start("refused", Span::ZERO, |mut offer| {
        offer.access = VolumeAccess::ReadOnly;
        offer.blocks = Blocks { minimum: 4096, payload: 1 << 20, ..offer.blocks };
        offer
    });
    let uri = serving.uri();
    serving.refuses(&["--destroy", "nbd://localhost/data"], "is measured: repeat that path exactly");
    serving.refuses(&["--destroy", &uri], "the export is read-only");
    serving.refuses(&["--reads", "50"], "add --destroy nbd+unix");
    serving.refuses(&["--buffered"], "for files and devices");
    serving.refuses(&["--engine", "threads"], "for files and devices");
    serving.refuses(&["--block-size", "6kb"], "which the export requires: use 8KiB");
    serving.refuses(&["--block-size", "2MiB"], "its maximum request is 1 MiB");
    serving.refuses(&["--size", "1GiB"], "smaller --size");
    let elsewhere = |uri: &str, expected: &str| {
        serving.folder.refuses(&["measure", uri], expected);
    };
    elsewhere(&uri.replace("///data", "///other"), "use the name of an export");
    elsewhere("nbd+unix:///?socket=/nowhere/at.all", "start the server, or correct the address");
    elsewhere("nbd+unix:///", "?socket=PATH is missing");
    assert_eq!(serving.count().writes, 0);
}

#[test]
fn emulated_exports_are_labelled() {
    let emulation = Emulation { like: Some("a/product:1GiB".into()), model: "link(5ms)".into(), slow: 2 };
    let serving = Serving::start("emulated", Span::from_millis(10), move |offer| offer.emulated(&emulation));
    let (output, run) = serving.measure(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("emulated by the catalogue's model") && text.contains("2 times slower"), "{text}");
    let run = run.expect("the run was kept");
    assert_eq!((&run["source"]["kind"], &run["source"]["model"]), (&"emulated".into(), &"link(5ms)".into()));
    assert_eq!(run["subject"]["name"], "a/product:1GiB, 2 times slower");
    let p50 = run["runs"][0]["figures"]["p50_ns"]["value"].as_f64().expect("there is a median");
    assert!(p50 >= 9.9e6, "no answer comes before its moment: {p50}");
    let fitted = serving.folder.run(&["fit"]);
    assert!(stderr(&fitted).contains("no evidence"), "a model does not confirm itself: {}", stderr(&fitted));
}

/// A long measurement while the server runs.
struct Long(Child);

impl Long {
    fn start(serving: &Serving) -> Self {
        let uri = serving.uri();
        let arguments = ["measure", &uri, "--depth", "2,8", "--duration", "60s", "--quiet"];
        let child = serving.folder.command(&arguments).stderr(Stdio::piped()).spawn().expect("the command starts");
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut answered = 0;
        while answered < 300 {
            assert!(Instant::now() < deadline, "it has not begun");
            std::thread::sleep(Duration::from_millis(20));
            answered += serving.count().reads;
        }
        Self(child)
    }

    fn ended(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.0.try_wait().expect("it is a child").is_none() {
            if Instant::now() > deadline {
                let _ = self.0.kill();
                panic!("it goes on although the server is gone");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = self.0.wait_with_output().expect("it has ended");
        (output.status.code(), stderr(&output))
    }
}

#[test]
fn disconnect_ends_the_run_and_keeps_its_results() {
    let serving = Serving::start("torn", Span::from_millis(1), |offer| offer);
    let long = Long::start(&serving);
    serving.handle.call(|server| server.retract(Export(0))).expect("the server lives");
    let (code, message) = long.ended();
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("incomplete (see the findings)"), "{message}");
    let run = serving.last_run().expect("the partial run is kept");
    assert_eq!(run["ended"], "failed");
    let fault = run["findings"].as_array().expect("findings").iter().find(|finding| finding["finding"] == "fault");
    let what = fault.expect("the fault is found")["what"].as_str().expect("it says what");
    assert!(what.contains("NBD server"), "{what}");
    let reads: u64 = run["runs"][0]["total"][0]["response"]["count"].as_u64().unwrap_or_default();
    assert!(reads > 0, "{}", run["runs"][0]["total"]);
}

#[test]
fn stopped_replay_keeps_its_results() {
    let serving = Serving::start("stopped", Span::ZERO, |offer| offer);
    let line = |n: u64| format!("{},read,{},4096\n", n * 10_000_000, n % 1000 * 4096);
    let lines: String = (0..100_000).map(line).collect();
    let trace = format!("#plimsoll.trace/1\ntime_ns,kind,offset,length\n{lines}");
    serving.folder.write("load.trace", trace);
    let uri = serving.uri();
    let mut command = serving.folder.command(&["measure", &uri, "--replay", "load.trace"]);
    let child = command.stdout(Stdio::piped()).spawn().expect("the command starts");
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut answered = 0;
    while answered < 100 {
        assert!(Instant::now() < deadline, "it has not begun");
        std::thread::sleep(Duration::from_millis(20));
        answered += serving.count().reads;
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("ended early") && !text.contains("carried"), "{text}");
    let run = serving.last_run().expect("the partial run is kept");
    let count = run["runs"][0]["total"][0]["response"]["count"].as_u64().expect("a count");
    assert!(run["ended"] == "interrupted" && (100..100_000).contains(&count), "{}: {count}", run["ended"]);
}

#[test]
fn unresponsive_server_times_out() {
    let serving = Serving::start("silent", Span::from_secs(3600), |offer| offer);
    let (output, run) = serving.measure(&[]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("waiting for completions: no completion within") && run.is_none(), "{message}");
}
