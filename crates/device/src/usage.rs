//! What the process itself used.
#![allow(unsafe_code)]

use plimsoll_record::CpuTime;
use plimsoll_units::Span;

/// Processor time of this process so far.
pub fn cpu_time() -> CpuTime {
    usage_of(libc::RUSAGE_SELF)
}

/// Processor time of this thread so far.
pub fn thread_cpu_time() -> CpuTime {
    usage_of(libc::RUSAGE_THREAD)
}

fn usage_of(who: libc::c_int) -> CpuTime {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage; the call cannot fail with one of the known values.
    unsafe { libc::getrusage(who, &raw mut usage) };
    let span = |time: libc::timeval| {
        Span::from_secs(time.tv_sec.unsigned_abs()) + Span::from_micros(time.tv_usec.unsigned_abs())
    };
    CpuTime { user: span(usage.ru_utime), system: span(usage.ru_stime) }
}

/// Lets this thread's timers fire on time: the kernel's default slack of 50 us would be late by as much as a fast
/// device takes. Best effort.
pub fn sharpen_timers() {
    // SAFETY: this prctl takes an integer and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
