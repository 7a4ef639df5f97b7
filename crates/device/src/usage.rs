//! Resource usage of this process and its threads.
#![allow(unsafe_code)]

use std::ops::Sub;

use plimsoll_record::CpuTime;
use plimsoll_units::Span;

/// Resource usage of a thread, in total or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Processor time.
    pub cpu: CpuTime,
    /// Context switches caused by waiting.
    pub voluntary: u64,
    /// Context switches caused by preemption.
    pub involuntary: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults served with I/O.
    pub major_faults: u64,
}

impl Sub for ThreadUsage {
    type Output = Self;

    /// Usage since `before`.
    fn sub(self, before: Self) -> Self {
        Self {
            cpu: self.cpu - before.cpu,
            voluntary: self.voluntary - before.voluntary,
            involuntary: self.involuntary - before.involuntary,
            minor_faults: self.minor_faults - before.minor_faults,
            major_faults: self.major_faults - before.major_faults,
        }
    }
}

/// Usage of this thread so far.
pub fn thread_usage() -> ThreadUsage {
    let usage = rusage(libc::RUSAGE_THREAD);
    ThreadUsage {
        cpu: cpu_of(&usage),
        voluntary: usage.ru_nvcsw.unsigned_abs(),
        involuntary: usage.ru_nivcsw.unsigned_abs(),
        minor_faults: usage.ru_minflt.unsigned_abs(),
        major_faults: usage.ru_majflt.unsigned_abs(),
    }
}

/// Processor time of this process so far.
pub fn cpu_time() -> CpuTime {
    cpu_of(&rusage(libc::RUSAGE_SELF))
}

/// Processor time of this thread so far.
pub fn thread_cpu_time() -> CpuTime {
    cpu_of(&rusage(libc::RUSAGE_THREAD))
}

fn rusage(who: libc::c_int) -> libc::rusage {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage; the call cannot fail with one of the known values.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

fn cpu_of(usage: &libc::rusage) -> CpuTime {
    let span = |time: libc::timeval| {
        Span::from_secs(time.tv_sec.unsigned_abs()) + Span::from_micros(time.tv_usec.unsigned_abs())
    };
    CpuTime { user: span(usage.ru_utime), system: span(usage.ru_stime) }
}

/// Minimises the timer slack of this thread: the default of 50 us is comparable to the latency of a fast device. Best
/// effort.
pub fn sharpen_timers() {
    // SAFETY: this prctl takes an integer and accesses no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_usage_counts_waits_and_page_faults() {
        let before = thread_usage();
        // Large enough to be mapped newly instead of reused by the allocator.
        let pages = vec![1_u8; 48 << 20];
        std::thread::sleep(std::time::Duration::from_millis(1));
        let used = thread_usage() - before;
        assert!(used.voluntary >= 1 && used.minor_faults >= 1, "{used:?}, {} bytes", pages.len());
    }
}
