//! Settings of a host's page cache.
//!
//! Defaults are those of the Linux kernel where it has them; others are marked as assumed.

use plimsoll_units::{Bytes, Span};

use super::Elevator;

/// Settings of a host's page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCache {
    /// Memory for pages: the host's without the kernel's and the programs' share.
    pub memory: Bytes,
    /// Dirty percentage of memory above which background write-back starts: `vm.dirty_background_ratio`
    /// (Documentation/admin-guide/sysctl/vm.rst), 10.
    pub background_percent: u8,
    /// Percentage of memory, dirty or in write-back, above which writers are throttled: `vm.dirty_ratio`, 20.
    pub dirty_percent: u8,
    /// Age at which a dirty page is written back: `vm.dirty_expire_centisecs`, 30 s.
    pub expires: Span,
    /// Interval between scans for expired pages: `vm.dirty_writeback_centisecs`, 5 s; zero for never.
    pub scan_interval: Span,
    /// Largest read-ahead window: `queue/read_ahead_kb` (Documentation/ABI/stable/sysfs-block), 128 KiB.
    pub read_ahead: Bytes,
    /// Largest operation sent to storage: `queue/max_sectors_kb` (`BLK_DEF_MAX_SECTORS`), 1280 KiB.
    pub largest: Bytes,
    /// Maximum write-back operations in flight: `queue/nr_requests` of a disk with a queue of 32 behind a scheduler
    /// (twice its queue, `block/blk-mq-sched.c`), 64.
    pub depth: u32,
    /// Order of the reads of several streams: `queue/scheduler`, none.
    pub elevator: Elevator,
    /// Fixed CPU time of a read or write call: 1 us. Assumed.
    pub call: Span,
    /// Copy rate between a program and the cache: 8 GB/s. Assumed: a read of 4 KiB takes 1.5 us in total; CPU
    /// contention is not modelled.
    pub copied_per_second: Bytes,
}

impl PageCache {
    /// The kernel's defaults, with `memory` for pages.
    pub const fn new(memory: Bytes) -> Self {
        Self {
            memory,
            background_percent: 10,
            dirty_percent: 20,
            expires: Span::from_secs(30),
            scan_interval: Span::from_secs(5),
            read_ahead: Bytes::kib(128),
            largest: Bytes::kib(1280),
            depth: 64,
            elevator: Elevator::None,
            call: Span::from_micros(1),
            copied_per_second: Bytes::new(8_000_000_000),
        }
    }

    /// CPU time of a call that copies `bytes` from or to memory.
    pub fn copy(&self, bytes: u32) -> Span {
        let ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.copied_per_second.get().max(1));
        self.call + Span::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Throttling limit and background threshold in pages. A threshold at or above the limit becomes half the limit, as
    /// in Linux (`domain_dirty_limits`).
    pub(super) fn limits(&self, page: u64) -> (u64, u64) {
        let of = |percent: u8| (u128::from(self.memory.get() / page) * u128::from(percent) / 100) as u64;
        let (limit, background) = (of(self.dirty_percent), of(self.background_percent));
        (limit, if background >= limit { limit / 2 } else { background })
    }
}

/// A set of streams, by index 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamSet([u64; 4]);

impl StreamSet {
    /// All streams.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// Whether a stream is in the set.
    pub const fn contains(&self, stream: u8) -> bool {
        self.0[stream as usize / 64] >> (stream % 64) & 1 == 1
    }
}

impl FromIterator<u8> for StreamSet {
    fn from_iter<I: IntoIterator<Item = u8>>(streams: I) -> Self {
        let mut of = Self::default();
        streams.into_iter().for_each(|stream| of.0[usize::from(stream) / 64] |= 1 << (stream % 64));
        of
    }
}

/// Counters of a page cache since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters {
    /// Bytes requested by reads.
    pub read: Bytes,
    /// Bytes of them found in memory.
    pub from_memory: Bytes,
    /// Bytes read ahead.
    pub read_ahead: Bytes,
    /// Bytes of them not requested so far.
    pub unused: Bytes,
    /// Bytes written back.
    pub written_back: Bytes,
    /// Write-back operations.
    pub write_backs: u64,
    /// Total time for which writers were throttled.
    pub throttled: Span,
}
