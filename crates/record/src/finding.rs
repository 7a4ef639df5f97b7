//! What makes a figure questionable, each with its remedy. Doubt is data: findings are kept with the run.

use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

/// How much a finding takes from the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Weight {
    /// Good to know.
    Note,
    /// The figures may mislead.
    Caution,
    /// The figures do not describe the storage.
    Void,
}

/// Something that was found out about how the figures came to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "finding")]
pub enum Finding {
    /// The kernel's page cache answered reads.
    PageCacheAnswered {
        /// Share of the bytes read that never reached the device, 0 to 1.
        share: f64,
    },
    /// Buffered I/O was asked for: writes end in memory.
    Buffered,
    /// A page cache was simulated before the model.
    PageCacheSimulated {
        /// Memory that it had for pages.
        memory: Bytes,
        /// Share of the bytes read through it that were in memory, 0 to 1; absent where nothing was read through it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share: Option<f64>,
        /// Bytes that were read ahead and never asked for.
        unused: Bytes,
        /// Operations that wrote back what was dirty.
        write_backs: u64,
        /// Their mean size.
        write_back_mean: Bytes,
        /// How long writers waited because too much was dirty, all of them together, in nanoseconds.
        #[serde(rename = "held_ns")]
        held: Span,
    },
    /// Buffered I/O was asked of a model that has no page cache before it.
    NoPageCache,
    /// The generator, not the storage, set the pace.
    GeneratorBound {
        /// Highest operations per second measured.
        achieved: f64,
        /// Operations per second of the same loop on a target that does nothing.
        ceiling: f64,
    },
    /// The generator overslept arrivals of an open load: they came later and closer together than they should have.
    GeneratorLate {
        /// 99th percentile of its lateness, in nanoseconds.
        #[serde(rename = "p99_ns")]
        p99: Span,
        /// 99th percentile of the response times, in nanoseconds.
        #[serde(rename = "response_p99_ns")]
        response_p99: Span,
    },
    /// The processors were busy: latencies include waiting for one.
    ProcessorBound {
        /// Share of the generator's processors in use, 0 to 1.
        busy: f64,
    },
    /// The data fit in a cache on the way.
    SmallData {
        /// Bytes that the load touched.
        data: Bytes,
        /// Bytes of the host's memory, when that is the cache; absent for a device's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory: Option<Bytes>,
    },
    /// Compressible or repeated data went faster than incompressible data.
    CompressionSuspected {
        /// Throughput with zeroes over throughput with incompressible data.
        ratio: f64,
    },
    /// A flush came back faster than durable media can be.
    FlushNotHonoured {
        /// Median time of `write` and `fdatasync`, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
    },
    /// A run was still changing when it ended.
    NoSteadyState {
        /// Which measure drifted, such as `p99`.
        measure: String,
        /// Last third over first third, minus 1.
        drift: f64,
    },
    /// A limit or a burst credit ran out during the run.
    RateDropped {
        /// Seconds into the measurement.
        at_seconds: f64,
        /// Operations per second before.
        before: f64,
        /// Operations per second after.
        after: f64,
    },
    /// The hypervisor gave processor time to others.
    StolenTime {
        /// Share of processor time stolen, 0 to 1.
        share: f64,
    },
    /// The same load was answered differently at different times, by more than either run's interval.
    Unrepeatable {
        /// The lowest 99th percentile of that load, in nanoseconds.
        #[serde(rename = "low_p99_ns")]
        low_p99: Span,
        /// The highest, in nanoseconds.
        #[serde(rename = "high_p99_ns")]
        high_p99: Span,
    },
    /// Others used the device at the same time.
    OtherLoad {
        /// Operations per second of others on the device.
        iops: f64,
    },
    /// The filesystem or the device refused `O_DIRECT`, so I/O was buffered.
    DirectRefused,
    /// Reads of a virtual disk came back faster than any medium behind it could be: the host's cache answered.
    HostCacheSuspected {
        /// Median read at depth 1, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
    },
    /// A part of the file was never written.
    Holes {
        /// Bytes that the filesystem holds.
        allocated: Bytes,
        /// Bytes that the file claims to have.
        size: Bytes,
    },
    /// Direct reads that the device never saw.
    DeviceNotReached {
        /// Share of the bytes read, 0 to 1.
        share: f64,
    },
    /// The target failed as a whole, and ended the measurement.
    Fault {
        /// What failed, and what the system said.
        what: String,
    },
    /// The data are in memory: there is no storage below.
    InMemory {
        /// What keeps them there, such as `tmpfs`.
        what: String,
    },
    /// Something between the path and the storage was measured with it: a network, another filesystem.
    #[serde(alias = "beyond")]
    NotStorageAlone {
        /// What lies between, in a sentence.
        note: String,
    },
    /// What a server on this host adds to its answers, measured without a model.
    Floor {
        /// Median round trip of a 4 KiB read over NBD that is answered at once, in nanoseconds.
        #[serde(rename = "round_trip_ns")]
        round_trip: Span,
        /// How long answers wait at the server in the case below, in nanoseconds: about as long as the lightest load's.
        #[serde(rename = "wait_ns")]
        wait: Span,
        /// How much longer than that they take for the client, in nanoseconds.
        #[serde(rename = "beyond_ns")]
        beyond: Span,
    },
    /// The emulated volume's time runs slower than the clock that it was measured with.
    TimeDilated {
        /// How many times slower.
        slow: u32,
    },
    /// What the model stands on is not all published, or not certain.
    ModelDoubted {
        /// Which part, in a sentence.
        what: String,
    },
    /// The clock source changed during the run.
    ClockChanged {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// Processors changed their frequency by more than a tenth.
    FrequencyChanged {
        /// Lowest over highest.
        ratio: f64,
    },
    /// `io_uring` could not be used, so threads with `pread` and `pwrite` were.
    RingRefused {
        /// What the kernel said.
        reason: String,
    },
    /// Another generator than plimsoll's own offered the load, and could not do so in the same way.
    OfferedOtherwise {
        /// Which generator, such as `fio 3.33`.
        generator: String,
        /// What was different, in sentences.
        how: String,
    },
    /// The block device, file or export was not named to `--destroy`, so writes of the load became reads.
    ReadOnly,
    /// Operations failed.
    Errors {
        /// How many.
        count: u64,
        /// The most frequent `errno`.
        errno: i32,
    },
    /// The sweep stopped before the storage was saturated.
    NotSaturated {
        /// The deepest queue that was tried.
        depth: u32,
    },
    /// The recorder could not keep all that the recorded volume was asked.
    TraceIncomplete {
        /// Operations that are missing.
        dropped: u64,
        /// Operations that are there.
        kept: u64,
    },
    /// The recorded trace does not say everything that a replay needs, or says it in its own way.
    TraceDoubted {
        /// What, in a sentence.
        what: String,
    },
    /// A replay did not offer all that was recorded.
    NotReplayed {
        /// Operations that were left out.
        count: u64,
        /// Which, with the count of each sort.
        what: String,
    },
    /// Time ran out before the intervals were as tight as asked.
    BudgetSpent {
        /// Widest relative half-width of the objective's interval.
        half_width: f64,
    },
}

impl Finding {
    /// How much it takes from the figures.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::PageCacheAnswered { .. }
            | Self::GeneratorBound { .. }
            | Self::InMemory { .. }
            | Self::Holes { .. }
            | Self::DeviceNotReached { .. }
            | Self::Fault { .. }
            | Self::ClockChanged { .. } => Weight::Void,
            Self::BudgetSpent { .. }
            | Self::Floor { .. }
            | Self::ReadOnly
            | Self::RingRefused { .. }
            | Self::NotSaturated { .. }
            | Self::PageCacheSimulated { .. } => Weight::Note,
            _ => Weight::Caution,
        }
    }

    /// What was found, in a sentence.
    pub fn text(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::PageCacheAnswered { share } => format!("the page cache answered {} of the reads", percent(*share)),
            Self::Buffered => "buffered I/O: reads may come from memory, and writes end there".into(),
            Self::PageCacheSimulated { .. } => self.page_cache_text(),
            Self::NoPageCache => {
                "buffered I/O met no page cache: the model answered each operation as if it were direct".into()
            }
            Self::GeneratorBound { achieved, ceiling } => {
                format!("the generator set the pace: {achieved:.0} IOPS, and its loop alone reaches {ceiling:.0}")
            }
            Self::GeneratorLate { p99, response_p99 } => format!(
                "the generator overslept arrivals by {p99} (p99), with a response time of {response_p99} (p99): they \
                 came in bursts, as if the load were rougher"
            ),
            Self::ProcessorBound { busy } => {
                format!("the processors were {} busy: latencies include waiting for one", percent(*busy))
            }
            Self::SmallData { data, memory: Some(memory) } => {
                format!("only {data} were touched, on a host with {memory} of memory: its page cache may hold them all")
            }
            Self::SmallData { data, memory: None } => {
                format!("only {data} were touched: the device's or controller's own cache may hold them all")
            }
            Self::CompressionSuspected { ratio } => {
                format!("zeroes were written {ratio:.1} times as fast as incompressible data: the storage compresses")
            }
            Self::FlushNotHonoured { median } => {
                format!("a write with fdatasync took {median}, faster than durable media: flushes may not be honoured")
            }
            _ => self.course_text(),
        }
    }

    fn page_cache_text(&self) -> String {
        let Self::PageCacheSimulated { memory, share, unused, write_backs, write_back_mean, held } = self else {
            return String::new();
        };
        let mut text = format!("the page cache of a host with {memory} for it was simulated");
        if let Some(share) = share {
            text += &format!("; it answered {:.0} % of the bytes read", share * 100.0);
        }
        if *unused > Bytes::ZERO {
            text += &format!("; {unused} were read ahead and not asked for");
        }
        if *write_backs > 0 {
            text += &format!("; it wrote back in {write_backs} operations of {write_back_mean} on average");
        }
        if !held.is_zero() {
            text += &format!("; writers waited {held}, all together, until less was dirty");
        }
        text
    }

    /// The sentences about the course, the surroundings and the place, rather than about who answered.
    fn course_text(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::NoSteadyState { measure, drift } => {
                format!("no steady state: {measure} changed by {:+.0} % within the run", drift * 100.0)
            }
            Self::RateDropped { at_seconds, before, after } => format!(
                "the rate fell from {before:.0} to {after:.0} IOPS after {at_seconds:.0} s: a burst allowance or a \
                 write cache may have run out"
            ),
            Self::StolenTime { share } => format!("the hypervisor took {} of the processor time", percent(*share)),
            Self::Unrepeatable { low_p99, high_p99 } => format!(
                "the same load was answered with a p99 of {low_p99} once and {high_p99} another time: the storage or its \
                 neighbours vary by more than the intervals say"
            ),
            Self::OtherLoad { iops } => format!("others used the device: {iops:.0} IOPS that plimsoll did not ask for"),
            Self::DirectRefused => "O_DIRECT was refused here, so I/O went through the page cache".into(),
            Self::HostCacheSuspected { median } => {
                format!("a virtual disk answered reads in {median} (median): a cache on its host is likely")
            }
            Self::Holes { allocated, size } => {
                format!("only {allocated} of the file's {size} were ever written: reading the rest reaches no device")
            }
            Self::DeviceNotReached { share } => {
                format!(
                    "{} of the bytes read never came from the device: a cache, or space never written",
                    percent(*share)
                )
            }
            Self::Fault { what } => format!("the target failed: {what}"),
            Self::InMemory { what } => {
                format!("{what} keeps its data in memory: the figures describe that, not storage")
            }
            Self::NotStorageAlone { note } => format!("this is not the storage alone: {note}"),
            Self::Floor { round_trip, wait, beyond } => format!(
                "a server on this host adds {round_trip} to what it answers at once, and {beyond} to an answer that waits \
                 {wait} (medians without a model)"
            ),
            Self::TimeDilated { slow } => format!(
                "the volume's time runs {slow} times slower than the clock: times are {slow} times too long, and rates \
                 {slow} times too low"
            ),
            Self::ModelDoubted { what } => format!("the model: {what}"),
            Self::ClockChanged { from, to } => format!("the clock source changed from {from} to {to}"),
            Self::FrequencyChanged { ratio } => {
                format!("processor frequency fell to {} of its highest", percent(*ratio))
            }
            Self::RingRefused { reason } => {
                format!("io_uring was refused ({reason}): threads with pread and pwrite were used")
            }
            Self::OfferedOtherwise { generator, how } => format!("{generator} offers this load in its own way: {how}"),
            Self::ReadOnly => "read-only: every write of the load was made a read".into(),
            Self::Errors { count, errno } => format!("{count} operations failed, most with errno {errno}"),
            Self::NotSaturated { depth } => format!("not saturated: more was still answered at depth {depth}"),
            Self::BudgetSpent { half_width } => {
                format!("the time was spent while the objective was known to ±{} only", percent(*half_width))
            }
            Self::TraceIncomplete { dropped, kept } => format!(
                "the recording lacks {dropped} operations beside the {kept} that it has: the volume was asked for more \
                 than this"
            ),
            Self::TraceDoubted { what } => format!("the trace: {what}"),
            Self::NotReplayed { count, what } => {
                format!("{count} operations of the recording were left out: {what}")
            }
            // The others have their sentence in `text`.
            _ => String::new(),
        }
    }

    /// What to do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::PageCacheAnswered { .. } | Self::Buffered => "use direct I/O: leave out --buffered",
            Self::PageCacheSimulated { .. } => "give --memory what the host has for its page cache",
            Self::NoPageCache => "add --memory SIZE to simulate a host's page cache before the product",
            Self::GeneratorBound { .. } => "give it --threads, or a faster processor",
            Self::GeneratorLate { .. } => "measure while the machine has a processor to spare for the generator",
            Self::ProcessorBound { .. } => "leave more of the machine idle, or lower --max-depth",
            Self::SmallData { .. } => "give --size several times the cache, if the space is there",
            Self::CompressionSuspected { .. } => {
                "set --compressible to what your data have; zeroes flatter this storage"
            }
            Self::FlushNotHonoured { .. } => {
                "check the write cache's power-loss protection, and the host's cache mode, before trusting commits"
            }
            Self::NoSteadyState { .. } => "measure longer (--thorough, or --duration), or precondition the device",
            Self::RateDropped { .. } => {
                "measure for longer than the burst lasts (--thorough), and plan with the lower rate"
            }
            Self::StolenTime { .. } => "measure at a quieter hour, or on dedicated processors",
            Self::Unrepeatable { .. } => "measure at several times of the day, and plan with the worst",
            Self::OtherLoad { .. } => "stop the other load, or count it in",
            Self::DirectRefused => "use a filesystem with direct I/O, such as ext4 or XFS, or a block device",
            Self::HostCacheSuspected { .. } => "give --size more than the host can cache, or set the disk's cache=none",
            Self::Holes { .. } => "fill the file first, or measure the directory that it is in",
            Self::DeviceNotReached { .. } => "measure a directory (its file is filled first), or fill what is measured",
            Self::Fault { .. } => "check the device or the server that was measured, and the kernel log (dmesg)",
            Self::InMemory { .. } => "give a path on storage",
            Self::NotStorageAlone { .. } => "compare only with runs made the same way, or measure where the storage is",
            Self::Floor { .. } => "subtract it before you compare with a model or with the storage itself",
            Self::TimeDilated { .. } => "work with the ratios, or serve it where it needs no --slow",
            Self::ModelDoubted { .. } => "take the curve's shape from it, and measure before you buy",
            Self::ClockChanged { .. } => "repeat the run, and find out why the kernel distrusts its clock",
            Self::FrequencyChanged { .. } => "set the performance governor, and check the cooling",
            Self::RingRefused { .. } => {
                "allow io_uring (container seccomp profile, kernel.io_uring_disabled=0) for lower overhead"
            }
            Self::OfferedOtherwise { .. } => "compare with a run of plimsoll's own engines: leave out --engine",
            Self::ReadOnly => "to write, name it once more: --destroy PATH or URI (its data are lost)",
            Self::Errors { .. } => "read the kernel log (dmesg), and the errors by kind in the JSON output",
            Self::NotSaturated { .. } => "raise --max-depth or --threads",
            Self::TraceIncomplete { .. } => "record again, to a file on a disk that keeps up",
            Self::TraceDoubted { .. } => "check that it is so; plimsoll's own recordings leave nothing open",
            Self::NotReplayed { .. } => {
                "compare only with replays that leave out the same: storage is asked to read, write and flush, no more"
            }
            Self::BudgetSpent { .. } => "use --thorough, or a longer --duration",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each, as a file would have them.
    const ALL: &str = r#"[
        {"finding":"page-cache-answered","share":0.5}, {"finding":"buffered"},
        {"finding":"page-cache-simulated","memory":4096,"share":0.5,"unused":4096,"write_backs":2,"write_back_mean":3,"held_ns":4},
        {"finding":"page-cache-simulated","memory":4096,"unused":0,"write_backs":0,"write_back_mean":0,"held_ns":0},
        {"finding":"no-page-cache"}, {"finding":"generator-bound","achieved":2.0,"ceiling":3.0},
        {"finding":"generator-late","p99_ns":1,"response_p99_ns":2}, {"finding":"processor-bound","busy":1.0},
        {"finding":"small-data","data":1,"memory":2}, {"finding":"small-data","data":1},
        {"finding":"compression-suspected","ratio":2.0}, {"finding":"flush-not-honoured","median_ns":1},
        {"finding":"no-steady-state","measure":"p99","drift":0.5},
        {"finding":"rate-dropped","at_seconds":1.0,"before":2.0,"after":1.0}, {"finding":"stolen-time","share":0.1},
        {"finding":"unrepeatable","low_p99_ns":1,"high_p99_ns":2}, {"finding":"other-load","iops":1.0},
        {"finding":"direct-refused"}, {"finding":"host-cache-suspected","median_ns":1},
        {"finding":"holes","allocated":1,"size":2}, {"finding":"device-not-reached","share":0.5},
        {"finding":"fault","what":"x"}, {"finding":"in-memory","what":"tmpfs"}, {"finding":"not-storage-alone","note":"nfs"},
        {"finding":"time-dilated","slow":10}, {"finding":"model-doubted","what":"x"}, {"finding":"floor","round_trip_ns":1,"wait_ns":3,"beyond_ns":2},
        {"finding":"clock-changed","from":"tsc","to":"hpet"}, {"finding":"frequency-changed","ratio":0.5},
        {"finding":"ring-refused","reason":"x"}, {"finding":"offered-otherwise","generator":"fio","how":"x"}, {"finding":"read-only"}, {"finding":"errors","count":1,"errno":5},
        {"finding":"not-saturated","depth":8}, {"finding":"budget-spent","half_width":0.2},
        {"finding":"trace-incomplete","dropped":1,"kept":2}, {"finding":"trace-doubted","what":"x"},
        {"finding":"not-replayed","count":1,"what":"1 trims"}
    ]"#;

    #[test]
    fn every_finding_says_what_and_what_to_do() {
        let all: Vec<Finding> = serde_json::from_str(ALL).unwrap();
        for finding in &all {
            assert!(!finding.text().is_empty() && !finding.remedy().is_empty(), "{finding:?}");
        }
        let old: Finding = serde_json::from_str(r#"{"finding":"beyond","note":"nfs"}"#).unwrap();
        assert_eq!(old, Finding::NotStorageAlone { note: "nfs".into() }, "files keep their meaning");
        let kinds: std::collections::BTreeSet<String> = all
            .iter()
            .map(|finding| format!("{finding:?}").chars().take_while(|c| c.is_alphabetic()).collect())
            .collect();
        let source = include_str!("finding.rs");
        let declared = source.split("pub enum Finding {").nth(1).unwrap().split("\n}\n").next().unwrap();
        let variants = declared
            .lines()
            .filter(|line| line.starts_with("    ") && line.trim_start().starts_with(char::is_uppercase));
        assert_eq!(kinds.len(), variants.count(), "a finding is missing from the list above");
    }
}
