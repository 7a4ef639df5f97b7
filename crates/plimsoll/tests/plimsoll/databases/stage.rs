//! Emulated volumes of temporary servers: creation, loading, changes under load, and complete removal. Needs root,
//! /dev/fuse, loop devices and mkfs.ext4, and runs only with `PLIMSOLL_ROOT_TESTS=1`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use plimsoll_record::{Source, StepWork};
use rustix::process::{Pid, Signal, kill_process};

use crate::databases::place::{Place, loop_devices, processes};
use crate::folder::stderr;

/// Statements of a session on a volume that every host can emulate.
const STATEMENTS: [&str; 13] = [
    "suite",
    "sql-bench",
    "--make",
    "sqlite",
    "--path",
    "storage",
    "--like",
    "limit(100)",
    "--tests",
    "connect",
    "--size",
    "0.01",
    "--scale",
];
const FEW: &str = "0.0005";
/// Upper limit of waits.
const MANY: &str = "1";

/// The same, and a session of this duration.
const CROWD: [&str; 13] = [
    "suite",
    "ladder",
    "--make",
    "sqlite",
    "--path",
    "storage",
    "--like",
    "limit(100)",
    "--table",
    "2MiB",
    "--concurrency",
    "1",
    "--measure",
];

/// Timeout of a step on a busy host.
const DEADLINE: Duration = Duration::from_secs(300);

fn can_run() -> bool {
    if std::env::var_os("PLIMSOLL_ROOT_TESTS").is_none_or(|value| value != "1") {
        eprintln!("skipped: needs root, and runs only with PLIMSOLL_ROOT_TESTS=1");
        return false;
    }
    let has_mkfs = Command::new("mkfs.ext4").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !has_mkfs || !Path::new("/dev/fuse").exists() {
        eprintln!("skipped: /dev/fuse or mkfs.ext4 is missing");
        return false;
    }
    true
}

#[test]
fn a_server_is_made_on_an_emulated_volume_that_is_gone_afterwards() {
    if !can_run() {
        return;
    }
    let place = Place::new("stage");
    let output = place.run(&[&STATEMENTS[..], &[FEW, "--json", "suite.json"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("creating an emulated volume like limit(100)"), "{}", stderr(&output));
    assert!(stderr(&output).contains("mounted after"), "{}", stderr(&output));

    let suite = place.suite("suite.json");
    assert!(matches!(&suite.source, Source::Emulated { model } if model.contains("limit(100)")), "{:?}", suite.source);
    assert!(suite.subject.name.ends_with(" on limit(100)"), "{}", suite.subject.name);
    let storage = suite.steps.iter().find_map(|step| match &step.work {
        StepWork::Statements(statements) => Some(&statements.storage),
        _ => None,
    });
    let disk = storage.and_then(|storage| storage.disk.as_ref()).expect("the device below is looked at");
    assert!(disk.device.starts_with("loop"), "{disk:?}");
    place.assert_clean();
}

#[test]
fn the_level_of_a_volume_changes_under_load() {
    if !can_run() {
        return;
    }
    let place = Place::new("stage-level");
    let changes = ["4s", "--change", "1s=limit(90)", "--change", "2s=nothing(1)", "--json", "suite.json"];
    let output = place.run(&[&CROWD[..], &changes].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let suite = place.suite("suite.json");
    let sessions = suite.steps.iter().filter_map(|step| match &step.work {
        StepWork::Sessions(sessions) => Some(sessions),
        _ => None,
    });
    let marks: Vec<&str> = sessions.flat_map(|sessions| &sessions.marks).map(|(_, what)| what.as_str()).collect();
    assert!(matches!(marks[..], ["limit(90)", refused] if refused.starts_with("nothing(1) refused: ")), "{marks:?}");
    place.assert_clean();
}

#[test]
fn failure_on_an_emulated_volume_removes_it() {
    if !can_run() {
        return;
    }
    let place = Place::new("stage-fails");
    // SQLite has no memory limit.
    let output = place.run(&[&STATEMENTS[..], &[FEW, "--memory", "64MiB"]].concat());
    assert!(!output.status.success() && stderr(&output).contains("mounted after"), "{}", stderr(&output));
    place.assert_clean();

    // The volume fails under the server.
    let mut running = Begun::new(&place);
    let service = processes(&place.storage());
    assert_eq!(service.len(), 1, "the service alone names its data");
    kill_process(service[0], Signal::KILL).expect("it runs");
    assert!(!running.end().success());
    place.assert_clean();
}

#[test]
fn a_user_who_has_enough_gets_the_host_back() {
    if !can_run() {
        return;
    }
    let place = Place::new("stage-ends");
    let mut running = Begun::new(&place);
    assert_eq!(loop_devices(&place.join("storage")).len(), 1);
    kill_process(Pid::from_child(&running.0), Signal::INT).expect("it runs");
    assert_eq!(running.end().code(), Some(130));
    place.assert_clean();
}

#[test]
fn the_service_of_a_volume_ends_with_its_program_and_the_next_one_clears() {
    if !can_run() {
        return;
    }
    if Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: setpriv is not installed");
        return;
    }
    let place = Place::new("stage-killed");
    let mut running = Begun::new(&place);
    running.0.kill().expect("it can be killed");
    running.end();
    let begun = Instant::now();
    while !processes(&place.storage()).is_empty() {
        assert!(begun.elapsed() < DEADLINE, "the service outlives its program");
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = place.run(&[&STATEMENTS[..], &[FEW]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    place.assert_clean();
}

#[test]
fn invalid_product_is_refused_before_the_volume_is_created() {
    let place = Place::new("stage-refused");
    let make = ["suite", "sql-bench", "--make", "sqlite", "--path", "storage", "--like"];
    let refuses = |like: &str, expected: &str| place.refuses(&[&make[..], &[like]].concat(), expected);
    refuses("oci:50GB@7000vpu", "--like oci:50GB@7000vpu: ");
    refuses("no-such-product:1TB", "no-such-product");
    refuses("limit(", "--like limit(: ");
    let output = place.run(&["suite", "sql-bench", "--make", "sqlite", "--change", "30s=10vpu"]);
    assert!(!output.status.success() && stderr(&output).contains("--like"), "{}", stderr(&output));
    place.assert_clean();
}

/// A suite that runs on a volume, killed on drop.
struct Begun(Child);

impl Begun {
    fn new(place: &Place) -> Self {
        let mut command = place.command(&[&STATEMENTS[..], &[MANY]].concat());
        let running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut begun = Self(running);
        let lines = BufReader::new(begun.0.stderr.take().expect("it is piped")).lines();
        let (mounted, ready) = std::sync::mpsc::channel();
        // Its later output is read as well, so that it does not block.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if line.contains("mounted after") {
                    let _ = mounted.send(());
                }
            }
        });
        ready.recv_timeout(DEADLINE).expect("it is mounted");
        begun
    }

    fn end(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(begun.elapsed() < DEADLINE, "it does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
