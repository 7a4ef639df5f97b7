//! fio as a child process: start, output and end.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use plimsoll_drive::{Fault, Onward};
use plimsoll_language::{label, say};
use rustix::process::{Pid, Signal, kill_process};

use super::new_fault;
use crate::error::LoadFailure;

/// Maximum interval between calls of the observer.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time for fio to end after an interrupt.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of text lines kept for error messages.
const MAX_LINES: usize = 50;
/// Maximum bytes of a line or document.
const MAX_BYTES: usize = 64 << 20;

#[derive(Debug)]
pub(super) enum FioOutput {
    /// A complete JSON document.
    Document(String),
    /// No new output.
    None,
}

/// Runs fio until it ends, `observe` breaks, or `timeout` expires. `observe` receives its output.
pub(super) fn watch(
    mut command: Command,
    timeout: Duration,
    observe: &mut dyn FnMut(FioOutput) -> Onward,
) -> Result<(), Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| new_fault(label!("starting fio"), source))?;
    let (send, receive) = channel();
    let outputs: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|out| Box::new(out) as _), child.stderr.take().map(|err| Box::new(err) as _)];
    for output in outputs.into_iter().flatten() {
        let send = send.clone();
        std::thread::spawn(move || read_messages(output, &send));
    }
    drop(send);
    let mut process =
        FioProcess { child, started: Instant::now(), interrupted: None, timeout, is_end_requested: false };
    let mut lines: Vec<String> = Vec::new();
    loop {
        let output = match receive.recv_timeout(POLL_INTERVAL) {
            Ok(FioMessage::Document(text)) => FioOutput::Document(text),
            Ok(FioMessage::Line(line)) => {
                if lines.len() < MAX_LINES {
                    lines.push(line);
                }
                FioOutput::None
            }
            Err(RecvTimeoutError::Timeout) => FioOutput::None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if observe(output).is_break() {
            process.request_end();
        }
        process.check();
    }
    // An interrupt from the terminal reaches fio as well, which may end first.
    if observe(FioOutput::None).is_break() {
        process.is_end_requested |= process.interrupted.is_none();
    }
    let status = process.child.wait().map_err(|source| new_fault(label!("waiting for fio"), source))?;
    process.judge(status, &lines)
}

struct FioProcess {
    child: Child,
    started: Instant,
    timeout: Duration,
    interrupted: Option<Instant>,
    /// True if `observe` ended fio, false after a timeout.
    is_end_requested: bool,
}

impl FioProcess {
    fn request_end(&mut self) {
        if self.interrupted.is_none() {
            self.is_end_requested = true;
            self.interrupt();
        }
    }

    /// On interrupt fio reports its counts and ends.
    fn interrupt(&mut self) {
        self.interrupted = Some(Instant::now());
        // It may have ended.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
    }

    fn check(&mut self) {
        match self.interrupted {
            None if self.started.elapsed() > self.timeout => self.interrupt(),
            Some(at) if at.elapsed() > EXIT_TIMEOUT => {
                self.is_end_requested = false;
                let _ = self.child.kill();
            }
            _ => {}
        }
    }

    fn judge(&self, status: ExitStatus, lines: &[String]) -> Result<(), Fault> {
        if status.success() || self.is_end_requested {
            return Ok(());
        }
        if self.interrupted.is_some() {
            let waited = self.started.elapsed().as_secs();
            let source = Error::new(ErrorKind::TimedOut, LoadFailure::StillRunning(waited));
            return Err(new_fault(label!("waiting for fio"), source));
        }
        Err(new_fault(say!("fio exited with {status}"), Error::other(find_error_line(lines))))
    }
}

impl Drop for FioProcess {
    /// Kills a process that is still running.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The most informative line: the first with an error, otherwise the last.
pub(super) fn find_error_line(lines: &[String]) -> String {
    let is_error = |line: &&String| {
        let line = line.to_lowercase();
        ["error", "err=", "fail", "refus", "invalid", "need", "unable", "cannot", "can't", "disallowed"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = lines.iter().find(is_error).or(lines.last());
    line.map_or_else(|| label!("no error message: run fio manually").to_owned(), |line| line.trim().to_owned())
}

/// A line or document of fio's output.
#[derive(Debug, PartialEq, Eq)]
enum FioMessage {
    Document(String),
    Line(String),
}

fn read_messages(output: impl Read, send: &Sender<FioMessage>) {
    let mut parser = OutputParser::default();
    for line in BufReader::new(output).split(b'\n') {
        let Ok(line) = line else { return };
        if let Some(message) = parser.line(&String::from_utf8_lossy(&line))
            && send.send(message).is_err()
        {
            return;
        }
    }
}

/// Separates documents from text: fio begins and ends each document with a brace on its own line.
#[derive(Debug, Default)]
struct OutputParser {
    document: Option<String>,
}

impl OutputParser {
    fn line(&mut self, line: &str) -> Option<FioMessage> {
        if line == "{" {
            self.document = Some(String::new());
        }
        let Some(document) = &mut self.document else {
            return (!line.trim().is_empty()).then(|| FioMessage::Line(line.to_owned()));
        };
        if document.len() + line.len() > MAX_BYTES {
            self.document = None;
            return None;
        }
        document.push_str(line);
        document.push('\n');
        if line == "}" { self.document.take().map(FioMessage::Document) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_separated_from_text() {
        let text = "\n<h> Starting 1 thread\n{\n  \"a\" : {\n  }\n}\n\nfio: terminating on signal 2\n{\n}\n{\n half";
        let mut parser = OutputParser::default();
        let messages: Vec<FioMessage> = text.lines().filter_map(|line| parser.line(line)).collect();
        let expected = [
            FioMessage::Line("<h> Starting 1 thread".into()),
            FioMessage::Document("{\n  \"a\" : {\n  }\n}\n".into()),
            FioMessage::Line("fio: terminating on signal 2".into()),
            FioMessage::Document("{\n}\n".into()),
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn line_with_the_error_is_found() {
        let check = |lines: &[&str], expected: &str| {
            let lines: Vec<String> = lines.iter().map(|&line| line.into()).collect();
            assert!(find_error_line(&lines).contains(expected), "{lines:?}: {}", find_error_line(&lines));
        };
        check(&["Starting 1 thread", "fio: failed to load engine", "s0.0: done"], "failed to load");
        check(&["Starting 1 thread", "last"], "last");
        check(&[], "no error message");
    }
}
