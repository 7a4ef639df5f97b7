//! Real-time priority for threads that reply at scheduled times.
//!
//! Such a thread preempts all others without real-time priority, so it must sleep in the kernel when idle. The ring
//! loops of targets and servers spin for a few microseconds at most. The kernel reserves 5 % of each second for other
//! threads (`kernel.sched_rt_runtime_us`).
#![allow(unsafe_code)]

use std::io;

use crate::usage::sharpen_timers;

/// Real-time priority was refused.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error(
    "real-time priority is not allowed here: run it as root or with CAP_SYS_NICE, or raise `ulimit -r` to 1 \
     (LimitRTPRIO=1 in a systemd unit)"
)]
pub struct NoRealtime(#[source] io::Error);

/// Gives the calling thread, and threads started by it later, the lowest real-time priority (`SCHED_FIFO` 1) and timers
/// without slack.
///
/// # Errors
/// Permission denied.
pub fn realtime() -> Result<(), NoRealtime> {
    // SAFETY: all-zero is a valid sched_param.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = 1;
    // SAFETY: points to a live sched_param, which the call only reads; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param) } != 0 {
        return Err(NoRealtime(io::Error::last_os_error()));
    }
    sharpen_timers();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_applies_to_one_thread_or_is_refused_with_a_remedy() {
        let policy = || {
            // SAFETY: the call takes an integer and accesses no memory.
            unsafe { libc::sched_getscheduler(0) }
        };
        let other = std::thread::spawn(move || match realtime() {
            Ok(()) => assert_eq!(policy(), libc::SCHED_FIFO),
            Err(error) => assert!(error.to_string().contains("ulimit -r"), "{error}"),
        });
        other.join().unwrap();
        assert_ne!(policy(), libc::SCHED_FIFO, "other threads are unchanged");
    }
}
