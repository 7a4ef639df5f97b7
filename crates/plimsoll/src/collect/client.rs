//! A database's own client as a process that is asked over its standard input, answer by answer.
//!
//! Knows no SQL. The client stays connected between two questions, so that a snapshot costs the server one query.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::Lost;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines of an answer: more are none.
const MOST_LINES: usize = 10_000;
/// Bytes that are kept of what a client complains about.
const MOST_COMPLAINT: u64 = 64 << 10;

/// A client that runs.
pub(super) struct Client {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
    complaint: Option<std::thread::JoinHandle<String>>,
    name: String,
}

impl Client {
    /// Starts it. `missing` says what to install when it is not there.
    pub(super) fn start(mut command: Command, missing: &str) -> Result<Self, Lost> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Lost::Why(format!("{name} is not there: {missing}")),
            _ => Lost::Why(format!("{name} cannot be started: {error}")),
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(stdout), Some(stderr)) = pipes else {
            return Err(Lost::Why(format!("{name} was started without its pipes: try again")));
        };
        let (sender, answers) = sync_channel(1024);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let complaint = std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut stderr = stderr;
            let _ = stderr.by_ref().take(MOST_COMPLAINT).read_to_end(&mut text);
            // What is more is read and dropped, so that the client does not wait for its reader.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self { child, questions, answers, complaint: Some(complaint), name })
    }

    /// Asks, and gives the lines up to `end`, which the question makes the server say.
    pub(super) fn ask(&mut self, question: &str, end: &str, stop: &dyn Fn() -> bool) -> Result<Vec<String>, Lost> {
        let asked = self.questions.write_all(question.as_bytes()).and_then(|()| self.questions.flush());
        if asked.is_err() {
            return Err(self.lost());
        }
        let until = Instant::now() + PATIENCE;
        let mut lines = Vec::new();
        loop {
            match self.answers.recv_timeout(Duration::from_millis(50)) {
                Ok(line) if line.trim() == end => return Ok(lines),
                Ok(line) if lines.len() < MOST_LINES => lines.push(line),
                Ok(_) => return Err(Lost::Why(format!("{} answers without an end", self.name))),
                Err(RecvTimeoutError::Disconnected) => return Err(if stop() { Lost::Stopped } else { self.lost() }),
                Err(RecvTimeoutError::Timeout) if stop() => return Err(Lost::Stopped),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Lost::Why(format!(
                        "the server gave {} no answer for {} s",
                        self.name,
                        PATIENCE.as_secs()
                    )));
                }
            }
        }
    }

    /// What the client said before it ended.
    fn lost(&mut self) -> Lost {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let said = self.complaint.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        // The last lines say why; those before may be of a connection that worked.
        let said = lines[lines.len().saturating_sub(3)..].join(" ");
        let said = if said.is_empty() { "it ended without a word".to_owned() } else { said };
        Lost::Why(if said.starts_with(&self.name) { said } else { format!("{}: {said}", self.name) })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
