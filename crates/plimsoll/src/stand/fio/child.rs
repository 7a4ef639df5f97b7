//! fio as a child process: started, listened to while it runs, and ended. Knows nothing about what it is told.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use plimsoll_drive::{Fault, Onward};
use rustix::process::{Pid, Signal, kill_process};

use super::fault;

/// The observer is asked at least as often as this.
const LOOK: Duration = Duration::from_millis(100);
/// How long fio may take to end when it was asked to.
const FAREWELL: Duration = Duration::from_secs(10);
/// Lines of text that are kept to say why it failed.
const MOST_LINES: usize = 50;
/// One line of fio's, or one of its documents, is not longer than this.
const LONGEST: usize = 64 << 20;

/// What came of fio.
#[derive(Debug)]
pub(super) enum Told {
    /// A JSON document, complete.
    Document(String),
    /// Nothing new.
    Nothing,
}

/// Runs fio until it ends, `on` wants an end, or `patience` is over. What it says is handed to `on`.
pub(super) fn watch(mut command: Command, patience: Duration, on: &mut dyn FnMut(Told) -> Onward) -> Result<(), Fault> {
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
        let told = match receive.recv_timeout(LOOK) {
            Ok(Said::Document(text)) => Told::Document(text),
            Ok(Said::Line(line)) => {
                if lines.len() < MOST_LINES {
                    lines.push(line);
                }
                Told::Nothing
            }
            Err(RecvTimeoutError::Timeout) => Told::Nothing,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if on(told).is_break() {
            ending.want();
        }
        ending.look();
    }
    // A key that interrupts plimsoll interrupts fio, too, and it may be the first to end.
    if on(Told::Nothing).is_break() {
        ending.is_wanted |= ending.asked.is_none();
    }
    let status = ending.child.wait().map_err(|source| fault("waiting for fio", source))?;
    ending.judge(status, &lines)
}

/// How fio comes to its end.
struct Ending {
    child: Child,
    began: Instant,
    patience: Duration,
    asked: Option<Instant>,
    /// The end came because it was wanted, not because patience was over.
    is_wanted: bool,
}

impl Ending {
    fn want(&mut self) {
        if self.asked.is_none() {
            self.is_wanted = true;
            self.ask();
        }
    }

    /// fio tells what it counted when it is interrupted, and ends.
    fn ask(&mut self) {
        self.asked = Some(Instant::now());
        // It may have ended at this moment.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
    }

    fn look(&mut self) {
        match self.asked {
            None if self.began.elapsed() > self.patience => self.ask(),
            Some(moment) if moment.elapsed() > FAREWELL => {
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
            let what = format!("it had not ended after {waited} s: is the storage answering?");
            return Err(fault("waiting for fio", Error::new(ErrorKind::TimedOut, what)));
        }
        Err(fault(format!("fio ended with {status}"), Error::other(reason(lines))))
    }
}

impl Drop for Ending {
    /// None is left behind, whatever happened.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The line that says most: the first that speaks of an error, else the last one.
pub(super) fn reason(lines: &[String]) -> String {
    let errs = |line: &&String| {
        let line = line.to_lowercase();
        ["error", "err=", "fail", "refus", "invalid", "need", "unable", "cannot", "can't", "disallowed"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = lines.iter().find(errs).or(lines.last());
    line.map_or_else(|| "it did not say why: run it yourself".to_owned(), |line| line.trim().to_owned())
}

/// What one of fio's outputs says.
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

/// Parts documents from the text around them: fio begins and ends each of them with a brace on a line of its own.
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
    fn documents_are_parted_from_text() {
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
    fn the_line_that_says_why_is_found() {
        let check = |lines: &[&str], expected: &str| {
            let lines: Vec<String> = lines.iter().map(|&line| line.into()).collect();
            assert!(reason(&lines).contains(expected), "{lines:?}: {}", reason(&lines));
        };
        check(&["Starting 1 thread", "fio: failed to load engine", "s0.0: done"], "failed to load");
        check(&["Starting 1 thread", "last"], "last");
        check(&[], "did not say");
    }
}
