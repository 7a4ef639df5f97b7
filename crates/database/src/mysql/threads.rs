//! Present system call of a server's thread on this host, from `/proc`.
//!
//! A sample costs this program some microseconds and the server nothing.

use std::fs;

use libc::c_long;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thread {
    /// On a processor, or runnable.
    Runs,
    Reads,
    Writes,
    Flushes,
    /// Waits for its client.
    Listens,
    /// Waits for another thread, or sleeps.
    Waits,
}

const READS: [c_long; 4] = [libc::SYS_pread64, libc::SYS_preadv, libc::SYS_preadv2, libc::SYS_read];
const WRITES: [c_long; 4] = [libc::SYS_pwrite64, libc::SYS_pwritev, libc::SYS_pwritev2, libc::SYS_write];
const FLUSHES: [c_long; 3] = [libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range];
const LISTENS: [c_long; 4] = [libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_ppoll, libc::SYS_sendto];
const WAITS: [c_long; 3] = [libc::SYS_futex, libc::SYS_clock_nanosleep, libc::SYS_nanosleep];
/// Older than `ppoll`; missing on some architectures.
#[cfg(target_arch = "x86_64")]
const POLL: c_long = libc::SYS_poll;
#[cfg(not(target_arch = "x86_64"))]
const POLL: c_long = libc::SYS_ppoll;

/// Samples a thread of a process. `None` if it does not exist, or without permission.
pub(super) fn sample(process: u32, thread: u32) -> Option<Thread> {
    meaning(&fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall")).ok()?)
}

/// The first word is the number of the system call, or `running`.
fn meaning(text: &str) -> Option<Thread> {
    let first = text.split_whitespace().next()?;
    if first == "running" {
        return Some(Thread::Runs);
    }
    let call: c_long = first.parse().ok()?;
    let meanings: [(&[c_long], Thread); 6] = [
        (&READS, Thread::Reads),
        (&WRITES, Thread::Writes),
        (&FLUSHES, Thread::Flushes),
        (&LISTENS, Thread::Listens),
        (&[POLL], Thread::Listens),
        (&WAITS, Thread::Waits),
    ];
    let found = meanings.iter().find(|(calls, _)| calls.contains(&call));
    // Blocked outside of system calls (-1: page fault), or in a call without a known wait.
    Some(found.map_or(Thread::Runs, |(_, thread)| *thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_are_classified() {
        let line = |call: c_long| format!("{call} 0x3 0x0 0x7ffe4ee33f88 0x7fa6021a12ad\n");
        assert_eq!(meaning("running\n"), Some(Thread::Runs));
        assert_eq!(meaning("-1 0x7ffe4ee33f88 0x7fa6021a12ad\n"), Some(Thread::Runs));
        assert_eq!(meaning(&line(libc::SYS_pread64)), Some(Thread::Reads));
        assert_eq!(meaning(&line(libc::SYS_fdatasync)), Some(Thread::Flushes));
        assert_eq!(meaning(&line(POLL)), Some(Thread::Listens));
        assert_eq!(meaning(&line(libc::SYS_futex)), Some(Thread::Waits));
        assert_eq!(meaning(""), None);
    }

    #[test]
    fn waiting_thread_is_detected() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            sender.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
            stopped.recv().unwrap_err();
        });
        let thread = receiver.recv().unwrap();
        if fs::read_to_string("/proc/self/syscall").is_err() {
            eprintln!("skipped: this kernel does not show system calls");
        } else {
            while sample(std::process::id(), thread) != Some(Thread::Waits) {
                std::thread::yield_now();
            }
        }
        drop(stop);
        waiting.join().unwrap();
        assert_eq!(sample(std::process::id(), u32::MAX >> 1), None);
    }
}
