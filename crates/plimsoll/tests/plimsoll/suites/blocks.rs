//! Suites on an export of `plimsoll nbd`, with permission to write; labelled as emulated with a model.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use plimsoll_record::{EndReason, Source, StepWork};

use crate::folder::{PROGRAM, stderr};
use crate::suites::{SMALL, directory, run_suite};

/// A server in memory, stopped on drop.
struct Server(Child, String);

impl Server {
    fn start(name: &str, more: &[&str]) -> Self {
        // Short, as socket paths are limited.
        let socket = std::env::temp_dir().join(format!("plimsoll-suites-{name}-{}", std::process::id()));
        let place = format!("unix:{}", socket.display());
        let mut command = Command::new(PROGRAM);
        command.args(["nbd", "--size", "64MiB", "--listen", &place]).args(more);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
        let reported = [(), ()].map(|()| lines.next().expect("a line comes").expect("it is a text"));
        Self(child, reported[1].trim().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(self.1.split_once("socket=").map_or("", |(_, path)| path));
    }
}

/// Mean milliseconds of a step's operations.
fn mean_ms(work: &StepWork) -> f64 {
    let StepWork::Io { jobs, .. } = work else { panic!("blocks only") };
    let times = jobs[0].total.service();
    times.sum_ns as f64 / times.count as f64 / 1e6
}

#[test]
fn an_export_is_written_by_name_only_and_every_suite_runs_on_it() {
    let server = Server::start("all", &[]);
    let uri = server.1.as_str();
    let folder = directory("export");
    let refused = folder.run(&["suite", "dd", uri, "--bs", "64KiB", "--count", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--destroy"), "{}", stderr(&refused));
    for (name, flags) in SMALL {
        let suite = run_suite(&folder, name, uri, &[flags, &["--destroy", uri]].concat());
        assert_eq!(suite.ended, EndReason::Complete, "{name}");
        assert_eq!(suite.subject.kind, "NBD export", "{name}");
        assert!(suite.steps.iter().any(|step| matches!(step.work, StepWork::Io { .. })), "{name} made no operation");
    }
}

#[test]
fn an_emulated_export_is_called_so_and_takes_the_time_of_its_model() {
    let server = Server::start("like", &["--like", "link(5ms)"]);
    let uri = server.1.as_str();
    let flags = ["--bs", "64KiB", "--count", "8", "--kinds", "direct,read-direct", "--destroy", uri];
    let suite = run_suite(&directory("like"), "dd", uri, &flags);
    assert!(matches!(&suite.source, Source::Emulated { model } if model.contains("5ms")), "{:?}", suite.source);
    for step in suite.steps.iter().filter(|step| step.counts) {
        assert!(mean_ms(&step.work) >= 5.0, "{} took {} ms", step.name, mean_ms(&step.work));
    }
}
