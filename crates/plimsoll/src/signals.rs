//! Termination signals and their exit codes.

use std::ffi::c_int;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The first received signal; 0 if none.
static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Returns a flag that the first of these signals sets. The second ends the process with its exit code.
///
/// # Errors
/// A handler cannot be installed.
pub fn watch(signals: &[c_int]) -> io::Result<Arc<AtomicBool>> {
    let requested = Arc::new(AtomicBool::new(false));
    let received = RECEIVED.get_or_init(Arc::default);
    for &signal in signals {
        flag::register_conditional_shutdown(signal, exit_code_of(signal).into(), Arc::clone(&requested))?;
        flag::register_usize(signal, Arc::clone(received), signal.unsigned_abs() as usize)?;
        flag::register(signal, Arc::clone(&requested))?;
    }
    Ok(requested)
}

/// Waits for a signal, or until a [`StopWaiting`] is dropped.
pub struct SignalWait {
    received: UnixStream,
    wake: UnixStream,
}

impl SignalWait {
    /// Watches these signals.
    ///
    /// # Errors
    /// A handler cannot be installed.
    pub fn new(signals: &[c_int]) -> io::Result<Self> {
        let (received, wake) = UnixStream::pair()?;
        watch(signals)?;
        for &signal in signals {
            signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        Ok(Self { received, wake })
    }

    /// Ends [`wait`](Self::wait) when dropped.
    ///
    /// # Errors
    /// Too many open files.
    pub fn stop_on_drop(&self) -> io::Result<StopWaiting> {
        self.wake.try_clone().map(StopWaiting)
    }

    pub fn wait(&self) {
        let mut received = &self.received;
        while received.read(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
    }
}

/// Ends a wait for signals when dropped.
pub struct StopWaiting(UnixStream);

impl Drop for StopWaiting {
    fn drop(&mut self) {
        let _ = self.0.write_all(&[0]);
    }
}

/// Exit code after a signal: 128 plus its number, as in shells.
pub fn exit_code() -> u8 {
    match RECEIVED.get().map_or(0, |received| received.load(Ordering::Relaxed)) {
        0 => exit_code_of(SIGINT),
        signal => exit_code_of(c_int::try_from(signal).unwrap_or(SIGINT)),
    }
}

fn exit_code_of(signal: c_int) -> u8 {
    128 + u8::try_from(signal).unwrap_or_default().min(64)
}
