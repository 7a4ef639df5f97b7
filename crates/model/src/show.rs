//! A model in the notation of `parse`; parsing the text gives the same model.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use plimsoll_units::{Bytes, Span, Throughput};

use crate::spec::{ChainSpec, Demand, DiskSpec, Duplex, Flushing, Layout, Named, Rate, Service, StageSpec};

impl fmt::Display for ChainSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.stages().iter().enumerate() {
            if index > 0 {
                f.write_str(" then ")?;
            }
            write!(f, "{stage}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stage)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " \"{name}\""))
    }
}

impl StageSpec {
    /// Default name: its notation without nested chains.
    pub fn label(&self) -> String {
        match self {
            Self::Window { slots, paths, .. } => alloc::format!("window({slots}{})", OnPaths(*paths)),
            Self::Pieces { size, .. } => alloc::format!("pieces({})", Compact(*size)),
            Self::Split { .. } => "split".into(),
            Self::Concat { size, .. } => alloc::format!("concat({})", Compact(*size)),
            Self::Cache { hits, .. } => alloc::format!("cache({}%)", hits * 100.0),
            Self::Clock { capacity, .. } => alloc::format!("clock({})", Compact(*capacity)),
            Self::Array { layout, members, .. } => alloc::format!("{}({members})", layout.word()),
            Self::WriteBack { capacity, .. } => alloc::format!("writeback({})", Compact(*capacity)),
            Self::Prefetch { window, .. } => alloc::format!("prefetch({})", Compact(*window)),
            Self::Curve { points } => alloc::format!("curve({} points)", points.len()),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for StageSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit { rate, burst, unit } => {
                write!(f, "limit({}", CompactRate(*rate))?;
                unit.map_or(Ok(()), |unit| write!(f, " per {}", Compact(unit)))?;
                match rate {
                    Rate::Operations(_) if *burst == 1 => f.write_str(")"),
                    Rate::Operations(_) => write!(f, ", burst {burst})"),
                    Rate::Bytes(_) => write!(f, ", burst {})", Compact(Bytes::new(*burst))),
                }
            }
            Self::Station { servers, demand } => write!(f, "station({servers}, {demand})"),
            Self::Bank { queues, grain, demand } => write!(f, "bank({queues} of {}, {demand})", Compact(*grain)),
            Self::Disk(disk) => write!(f, "{disk}"),
            Self::Link { latency, bandwidth, duplex, paths } => {
                write!(f, "link({}", CompactSpan(*latency))?;
                bandwidth.map_or(Ok(()), |rate| write!(f, ", {}", CompactRate(Rate::Bytes(rate))))?;
                f.write_str(if *duplex == Duplex::Full { ", full duplex" } else { "" })?;
                write!(f, "{})", OnPaths(*paths))
            }
            Self::Curve { points } => {
                let pairs: Vec<String> =
                    points.iter().map(|(n, iops)| alloc::format!("{n}: {}", iops.as_f64())).collect();
                write!(f, "curve({})", pairs.join(", "))
            }
            Self::Prefetch { window, unit, streams, inside } => {
                write!(f, "prefetch({} of {}, streams {streams}: {inside})", Compact(*window), Compact(*unit))
            }
            Self::Stall { every, length } => write!(f, "stall({}, {})", CompactSpan(*every), CompactSpan(*length)),
            Self::Pressure { rate, burst, delay } => {
                write!(f, "pressure({}, burst ", CompactRate(*rate))?;
                match rate {
                    Rate::Operations(_) => write!(f, "{burst}")?,
                    Rate::Bytes(_) => write!(f, "{}", Compact(Bytes::new(*burst)))?,
                }
                write!(f, ", delay {})", CompactSpan(*delay))
            }
            Self::Cold { rest, extra, grain, share } => {
                let (rest, extra) = (CompactSpan(*rest), CompactSpan(*extra));
                write!(f, "cold(rest {rest}, extra {extra}, grain {}, share {}%)", Compact(*grain), share * 100.0)
            }
            Self::Buffer { capacity, drain, flushing } => {
                let drain = CompactRate(Rate::Bytes(*drain));
                write!(f, "buffer({}, drain {drain}, flush {})", Compact(*capacity), flushing.word())
            }
            Self::Window { slots, paths, inside } => write!(f, "window({slots}{}: {inside})", OnPaths(*paths)),
            Self::Pieces { size, inside } => write!(f, "pieces({}: {inside})", Compact(*size)),
            Self::Split { read, write, flush } => write!(f, "split(read: {read}; write: {write}; flush: {flush})"),
            Self::Concat { size, first, rest } => {
                write!(f, "concat({}, first: {first}; rest: {rest})", Compact(*size))
            }
            Self::Cache { hits, hit, miss } => write!(f, "cache({}%, hit: {hit}; miss: {miss})", hits * 100.0),
            Self::Clock { capacity, grain, hit, miss } => {
                write!(f, "clock({} of {}, hit: {hit}; miss: {miss})", Compact(*capacity), Compact(*grain))
            }
            Self::Array { layout: Layout::Mirror, members, member, .. } => write!(f, "mirror({members}: {member})"),
            Self::Array { layout, members, interleave, member } => {
                write!(f, "{}({members}, {}: {member})", layout.word(), Compact(*interleave))
            }
            Self::WriteBack { capacity, halves, depth, flushing, reads, inside } => {
                write!(f, "writeback({}", Compact(*capacity))?;
                halves.map_or(Ok(()), |every| write!(f, ", halves {}", CompactSpan(every)))?;
                write!(f, ", depth {depth}, flush {}", flushing.word())?;
                if *reads > 0.0 {
                    write!(f, ", reads {}%", reads * 100.0)?;
                }
                write!(f, ": {inside})")
            }
        }
    }
}

impl Flushing {
    /// The word of the notation.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Honoured => "honoured",
            Self::Immediate => "immediate",
        }
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", CompactSpan(self.mean))?;
        self.write.map_or(Ok(()), |time| write!(f, ", write {}", CompactSpan(time)))?;
        self.flush.map_or(Ok(()), |time| write!(f, ", flush {}", CompactSpan(time)))?;
        self.rate.map_or(Ok(()), |rate| write!(f, ", {}", CompactRate(Rate::Bytes(rate))))?;
        self.write_rate.map_or(Ok(()), |rate| write!(f, ", write {}", CompactRate(Rate::Bytes(rate))))?;
        match self.spread {
            Service::Constant => Ok(()),
            Service::Exponential => f.write_str(", exponential"),
            Service::LogNormal(scv) => write!(f, ", lognormal {scv}"),
        }
    }
}

impl fmt::Display for DiskSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rpm = 60e9 / self.turn.as_nanos() as f64;
        let (settle, seek) = (CompactSpan(self.settle), CompactSpan(self.seek));
        let rate = |rate: Throughput| CompactRate(Rate::Bytes(rate));
        let (outer, inner) = (rate(self.outer), rate(self.inner));
        let capacity = Compact(self.capacity);
        write!(f, "disk({capacity}, {}rpm, seek {settle} to {seek}, {outer} to {inner}", libm::round(rpm))?;
        write!(f, ", queue {} gain {}", self.queue, self.gain)?;
        if self.reorders_from > 1.0 {
            write!(f, " from {}", self.reorders_from)?;
        }
        self.idle.map_or(Ok(()), |idle| write!(f, ", idle {}", CompactSpan(idle)))?;
        f.write_str(")")
    }
}

/// The number of paths, unless 1.
struct OnPaths(u8);

impl fmt::Display for OnPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " on {} paths", self.0) }
    }
}

/// A rate without spaces or commas.
struct CompactRate(Rate);

impl fmt::Display for CompactRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rate::Operations(rate) => write!(f, "{}", rate.as_f64()),
            Rate::Bytes(rate) => write!(f, "{}MB/s", rate.get() as f64 / 1e6),
        }
    }
}

/// An exact span in the largest unit that divides it.
struct CompactSpan(Span);

impl fmt::Display for CompactSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
            if ns > 0 && ns.is_multiple_of(unit) {
                return write!(f, "{}{name}", ns / unit);
            }
        }
        write!(f, "{ns}ns")
    }
}

/// An exact size, without a space, in the largest unit that divides it.
struct Compact(Bytes);

impl fmt::Display for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 8] = [
            (1 << 40, "TiB"),
            (1_000_000_000_000, "TB"),
            (1 << 30, "GiB"),
            (1_000_000_000, "GB"),
            (1 << 20, "MiB"),
            (1_000_000, "MB"),
            (1 << 10, "KiB"),
            (1_000, "kB"),
        ];
        let bytes = self.0.get();
        match UNITS.iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", bytes / unit),
            None => write!(f, "{bytes}B"),
        }
    }
}
