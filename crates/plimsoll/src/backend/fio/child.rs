//! fio as a child process: start, output and end.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use plimsoll_drive::{Fault, Onward};
use rustix::process::{Pid, Signal, kill_process};

use super::fault;

/// Maximum interval between calls of the observer.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time for fio to end after an interrupt.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of text lines kept for error messages.
const MOST_LINES: usize = 50;
/// Maximum bytes of a line or document.
const LONGEST: usize = 64 << 20;

/// Output of fio.
#[derive(Debug)]
pub(super) enum FioOutput {
    /// A complete JSON document.
    Document(String),
    /// No new output.
    None,
}

/// Runs fio until it ends, `on` breaks, or `patience` is over. `on` receives its output.
pub(super) fn watch(
    mut command: Command,
    patience: Duration,
    on: &mut dyn FnMut(FioOutput) -> Onward,
) -> Result<(), Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| fault("starting fio", source))?;
    let (send, receive) = channel();
    let outputs: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|out| Box::new(out) as _), child.stderr.take().map(|err| Box::new(err) as _)];
    for output in outputs.into_iter().flatten() {
        let send = send.clone();
        std::thread::spawn(move || listen(output, &send));
    }
    drop(send);
    let mut ending = Ending { child, began: Instant::now(), asked: None, patience, is_wanted: false };
    let mut lines: Vec<String> = Vec::new();
    loop {
        let told = match receive.recv_timeout(POLL_INTERVAL) {
            Ok(Said::Document(text)) => FioOutput::Document(text),
            Ok(Said::Line(line)) => {
                if lines.len() < MOST_LINES {
                    lines.push(line);
                }
                FioOutput::None
            }
            Err(RecvTimeoutError::Timeout) => FioOutput::None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if on(told).is_break() {
            ending.want();
        }
        ending.look();
    }
    // An interrupt from the terminal reaches fio as well, which may end first.
    if on(FioOutput::None).is_break() {
        ending.is_wanted |= ending.asked.is_none();
    }
    let status = ending.child.wait().map_err(|source| fault("waiting for fio", source))?;
    ending.judge(status, &lines)
}

/// The end of fio.
struct Ending {
    child: Child,
    began: Instant,
    patience: Duration,
    asked: Option<Instant>,
    /// True if it was requested, false after a timeout.
    is_wanted: bool,
}

impl Ending {
    fn want(&mut self) {
        if self.asked.is_none() {
            self.is_wanted = true;
            self.ask();
        }
    }

    /// On interrupt fio reports its counts and ends.
    fn ask(&mut self) {
        self.asked = Some(Instant::now());
        // It may have ended.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
    }

    fn look(&mut self) {
        match self.asked {
            None if self.began.elapsed() > self.patience => self.ask(),
            Some(moment) if moment.elapsed() > EXIT_TIMEOUT => {
                self.is_wanted = false;
                let _ = self.child.kill();
            }
            _ => {}
        }
    }

    fn judge(&self, status: ExitStatus, lines: &[String]) -> Result<(), Fault> {
        if status.success() || self.is_wanted {
            return Ok(());
        }
        if self.asked.is_some() {
            let waited = self.began.elapsed().as_secs();
            let why = format!("still running after {waited} s: check whether the storage responds");
            return Err(fault("waiting for fio", Error::new(ErrorKind::TimedOut, why)));
        }
        Err(fault(format!("fio exited with {status}"), Error::other(reason(lines))))
    }
}

impl Drop for Ending {
    /// Kills a remaining process.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The most informative line: the first with an error, otherwise the last.
pub(super) fn reason(lines: &[String]) -> String {
    let errs = |line: &&String| {
        let line = line.to_lowercase();
        ["error", "err=", "fail", "refus", "invalid", "need", "unable", "cannot", "can't", "disallowed"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = lines.iter().find(errs).or(lines.last());
    line.map_or_else(|| "no error message: run fio manually".to_owned(), |line| line.trim().to_owned())
}

/// A line or document of fio's output.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Document(String),
    Line(String),
}

fn listen(output: impl Read, send: &Sender<Said>) {
    let mut parting = Parting::default();
    for line in BufReader::new(output).split(b'\n') {
        let Ok(line) = line else { return };
        if let Some(said) = parting.line(&String::from_utf8_lossy(&line))
            && send.send(said).is_err()
        {
            return;
        }
    }
}

/// Separates documents from text: fio begins and ends each document with a brace on its own line.
#[derive(Debug, Default)]
struct Parting {
    document: Option<String>,
}

impl Parting {
    fn line(&mut self, line: &str) -> Option<Said> {
        if line == "{" {
            self.document = Some(String::new());
        }
        let Some(document) = &mut self.document else {
            return (!line.trim().is_empty()).then(|| Said::Line(line.to_owned()));
        };
        if document.len() + line.len() > LONGEST {
            self.document = None;
            return None;
        }
        document.push_str(line);
        document.push('\n');
        if line == "}" { self.document.take().map(Said::Document) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_separated_from_text() {
        let text = "\n<h> Starting 1 thread\n{\n  \"a\" : {\n  }\n}\n\nfio: terminating on signal 2\n{\n}\n{\n half";
        let mut parting = Parting::default();
        let said: Vec<Said> = text.lines().filter_map(|line| parting.line(line)).collect();
        let expected = [
            Said::Line("<h> Starting 1 thread".into()),
            Said::Document("{\n  \"a\" : {\n  }\n}\n".into()),
            Said::Line("fio: terminating on signal 2".into()),
            Said::Document("{\n}\n".into()),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn line_with_the_error_is_found() {
        let check = |lines: &[&str], expected: &str| {
            let lines: Vec<String> = lines.iter().map(|&line| line.into()).collect();
            assert!(reason(&lines).contains(expected), "{lines:?}: {}", reason(&lines));
        };
        check(&["Starting 1 thread", "fio: failed to load engine", "s0.0: done"], "failed to load");
        check(&["Starting 1 thread", "last"], "last");
        check(&[], "no error message");
    }
}
