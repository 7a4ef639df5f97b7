//! A database's own client as a child process, with queries on standard input.
//!
//! The client stays connected, so that a snapshot costs the server one query.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use plimsoll_language::{label, say};

use super::SourceError;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of lines of an answer.
const MAX_LINES: usize = 10_000;
/// Maximum bytes of error output that are kept.
const STDERR_MAX: u64 = 64 << 10;

pub(super) struct Client {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
    stderr_reader: Option<std::thread::JoinHandle<String>>,
    name: String,
}

impl Client {
    /// Starts it. `missing` is the remedy if it is not installed.
    pub(super) fn start(mut command: Command, missing: &str) -> Result<Self, SourceError> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => SourceError::Failed(say!("{name} is not installed: {missing}")),
            _ => SourceError::Failed(say!("{name} cannot be started: {error}")),
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(stdout), Some(stderr)) = pipes else {
            return Err(SourceError::Failed(say!("{name} has no pipes: try again")));
        };
        let (sender, answers) = sync_channel(1024);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr_reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut stderr = stderr;
            let _ = stderr.by_ref().take(STDERR_MAX).read_to_end(&mut text);
            // Excess output is discarded, so that the client does not block.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self { child, questions, answers, stderr_reader: Some(stderr_reader), name })
    }

    /// Sends a query and returns the lines before `end`, which the query makes the server return.
    pub(super) fn ask(
        &mut self,
        question: &str,
        end: &str,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, SourceError> {
        let sent = self.questions.write_all(question.as_bytes()).and_then(|()| self.questions.flush());
        if sent.is_err() {
            return Err(self.lost());
        }
        let until = Instant::now() + ANSWER_TIMEOUT;
        let mut lines = Vec::new();
        loop {
            match self.answers.recv_timeout(Duration::from_millis(50)) {
                Ok(line) if line.trim() == end => return Ok(lines),
                Ok(line) if lines.len() < MAX_LINES => lines.push(line),
                Ok(_) => return Err(SourceError::Failed(say!("{}: the answer exceeds the limit", self.name))),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(if stop() { SourceError::Stopped } else { self.lost() });
                }
                Err(RecvTimeoutError::Timeout) if stop() => return Err(SourceError::Stopped),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(SourceError::Failed(say!(
                        "{}: no answer from the server within {} s",
                        self.name,
                        ANSWER_TIMEOUT.as_secs()
                    )));
                }
            }
        }
    }

    /// The error output of a client that ended.
    fn lost(&mut self) -> SourceError {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let reported = self.stderr_reader.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let lines: Vec<&str> = reported.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        // The last lines have the reason; earlier lines may be of a working connection.
        let reported = lines[lines.len().saturating_sub(3)..].join(" ");
        let reported = if reported.is_empty() { label!("it ended without a message").to_owned() } else { reported };
        SourceError::Failed(if reported.starts_with(&self.name) {
            reported
        } else {
            format!("{}: {reported}", self.name)
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
