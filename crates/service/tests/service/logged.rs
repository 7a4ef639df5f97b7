//! The log of all services of this process.

use std::io::Write;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use crate::home::TIMEOUT;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Keeps the log from now on.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing_subscriber::fmt().with_writer(|| Sink).init());
}

/// True if a line has all of `parts`.
pub fn has(parts: &[&str]) -> bool {
    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    log.lines().any(|line| parts.iter().all(|part| line.contains(part)))
}

/// Waits until a line has all of `parts`.
pub fn until(parts: &[&str]) {
    let end = Instant::now() + TIMEOUT;
    while !has(parts) {
        assert!(Instant::now() < end, "{parts:?} in {}", String::from_utf8_lossy(&LOG.lock().unwrap()));
        std::thread::sleep(Duration::from_millis(20));
    }
}
