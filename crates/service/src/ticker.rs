//! The thread that runs the automation.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Thread that runs the automation.
#[derive(Debug, Default)]
pub(crate) struct Ticker(Arc<(Mutex<bool>, Condvar)>);

impl Ticker {
    /// Starts the thread, which calls `tick` once in each interval. It ends with `stop`, or when `tick` returns false.
    pub fn start(&self, interval: Duration, tick: impl Fn() -> bool + Send + 'static) -> std::io::Result<()> {
        let stopped = Arc::clone(&self.0);
        let beat = move || while !wait(&stopped, interval) && tick() {};
        std::thread::Builder::new().name("automation".into()).spawn(beat).map(drop)
    }

    /// Waits for `span`; true if stopped.
    pub fn wait(&self, span: Duration) -> bool {
        wait(&self.0, span)
    }

    /// Stops after the tick in progress.
    pub fn stop(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Waits for `span`; true if stopped.
fn wait((stopped, changed): &(Mutex<bool>, Condvar), span: Duration) -> bool {
    let stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = changed.wait_timeout_while(stopped, span, |stopped| !*stopped);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
