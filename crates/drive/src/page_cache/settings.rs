//! How a host's page cache is set.
//!
//! Defaults are those of the Linux kernel, where it has them; what is assumed says so.

use plimsoll_units::{Bytes, Span};

use super::Elevator;

/// How a host's page cache is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCache {
    /// Memory that may hold pages: all of the host's but what the kernel and programs need.
    pub memory: Bytes,
    /// Per cent of it that is dirty when writing back begins: `vm.dirty_background_ratio`
    /// (Documentation/admin-guide/sysctl/vm.rst), 10.
    pub background_percent: u8,
    /// Per cent of it that is dirty or on its way when writers have to wait: `vm.dirty_ratio`, 20.
    pub dirty_percent: u8,
    /// How long a page may be dirty before it is written back: `vm.dirty_expire_centisecs`, 30 s.
    pub expires: Span,
    /// How often that is looked at: `vm.dirty_writeback_centisecs`, 5 s; zero for never.
    pub looks: Span,
    /// The longest window that is read ahead: `queue/read_ahead_kb` (Documentation/ABI/stable/sysfs-block), 128 KiB.
    pub read_ahead: Bytes,
    /// The largest operation that is offered to storage: `queue/max_sectors_kb` (`BLK_DEF_MAX_SECTORS`), 1280 KiB.
    pub largest: Bytes,
    /// Operations of writing back in flight at once: `queue/nr_requests` of a disk with a queue of 32 behind a scheduler
    /// (twice its queue, `block/blk-mq-sched.c`), 64.
    pub depth: u32,
    /// The order of reads of several streams: `queue/scheduler`, none.
    pub elevator: Elevator,
    /// What a call costs whatever it moves: 1 us. Assumed, for reads and writes alike.
    pub call: Span,
    /// Bytes per second that a processor copies between a program and the cache: 8 GB/s. Assumed: with the call above a
    /// read of 4 KiB takes 1.5 us, and processors do not wait for each other.
    pub copied_per_second: Bytes,
}

impl PageCache {
    /// The kernel's defaults on a host with so much memory for pages.
    pub const fn new(memory: Bytes) -> Self {
        Self {
            memory,
            background_percent: 10,
            dirty_percent: 20,
            expires: Span::from_secs(30),
            looks: Span::from_secs(5),
            read_ahead: Bytes::kib(128),
            largest: Bytes::kib(1280),
            depth: 64,
            elevator: Elevator::None,
            call: Span::from_micros(1),
            copied_per_second: Bytes::new(8_000_000_000),
        }
    }

    /// How long a call that moves `bytes` takes when memory has them.
    pub fn copy(&self, bytes: u32) -> Span {
        let ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.copied_per_second.get().max(1));
        self.call + Span::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Dirty pages at which writers have to wait, and those at which writing back begins: below the former by half where
    /// it is not set lower, as in Linux (`domain_dirty_limits`).
    pub(super) fn limits(&self, page: u64) -> (u64, u64) {
        let of = |percent: u8| (u128::from(self.memory.get() / page) * u128::from(percent) / 100) as u64;
        let (limit, background) = (of(self.dirty_percent), of(self.background_percent));
        (limit, if background >= limit { limit / 2 } else { background })
    }
}

/// Streams by their index, 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams([u64; 4]);

impl Streams {
    /// All of them.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// Whether this one is among them.
    pub const fn contains(&self, stream: u8) -> bool {
        self.0[stream as usize / 64] >> (stream % 64) & 1 == 1
    }
}

impl FromIterator<u8> for Streams {
    fn from_iter<I: IntoIterator<Item = u8>>(streams: I) -> Self {
        let mut of = Self::default();
        streams.into_iter().for_each(|stream| of.0[usize::from(stream) / 64] |= 1 << (stream % 64));
        of
    }
}

/// What a page cache did until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSeen {
    /// Bytes that were asked of it by reads.
    pub read: Bytes,
    /// Those of them that were in memory when they were asked for.
    pub from_memory: Bytes,
    /// Bytes that were read ahead of readers.
    pub read_ahead: Bytes,
    /// Those of them that nobody has asked for yet.
    pub unused: Bytes,
    /// Bytes that were written back.
    pub written_back: Bytes,
    /// Operations that wrote them.
    pub write_backs: u64,
    /// How long writers were held because too much was dirty, all of them together.
    pub held: Span,
}
