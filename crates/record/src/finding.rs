//! What makes a figure questionable, each with its remedy. Doubt is data: findings are kept with the run.

mod remedy;
mod sentence;

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
    /// Slots carried a load that did not last: burst allowances paid for it.
    CarriedInBursts {
        /// Operations per second that slots carried.
        burst: f64,
        /// Operations per second that lasted.
        lasting: f64,
    },
    /// Slots kept the objective at a load that missed it when held, although the load was completed.
    MissedWhenHeld {
        /// Operations per second that slots carried.
        slots: f64,
        /// Operations per second that kept the objective when held.
        held: f64,
    },
    /// The load line of the second half of the measurement lies below that of the first.
    LineFell {
        /// Operations per second of the first half.
        before: f64,
        /// Operations per second of the second half.
        after: f64,
    },
    /// Slots in which the generator itself was late do not count.
    SlotsLeftOut {
        /// How many.
        left_out: u32,
        /// Of how many.
        of: u32,
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
    /// A control group limits this process's I/O on the disk.
    Throttled {
        /// The file that sets the limit, such as `/sys/fs/cgroup/db/io.max`.
        file: String,
        /// Kernel name of the disk.
        disk: String,
        /// The limited quantity: `read IOPS`, `write IOPS`, `read bytes/s` or `write bytes/s`.
        quantity: String,
        /// The limit, per second.
        per_second: u64,
    },
    /// A loop device's file is cached by the host: direct I/O of the device ends in memory.
    LoopCached {
        /// Kernel name of the loop device.
        device: String,
        /// Its file.
        file: String,
    },
    /// A setting of the host keeps flushes from reaching the storage.
    FlushesDisabled {
        /// The setting, such as `mount option nobarrier`.
        setting: String,
    },
    /// A preloaded library drops flushes that programs make through the C library.
    FlushLibrary {
        /// Its name, such as `libeatmydata`.
        library: String,
    },
    /// Time ran out before the intervals were as tight as asked.
    BudgetSpent {
        /// Widest relative half-width of the objective's interval.
        half_width: f64,
    },
    /// The host's page cache answered reads of a database.
    PageCacheBelowDatabase {
        /// Share of the blocks that the database asked the operating system for and that never came from storage, 0 to 1.
        share: f64,
    },
    /// The sessions' own program took processor time on the database's host.
    ClientBound {
        /// Its share of the host's processor time, 0 to 1.
        share: f64,
    },
    /// Others than the database and its sessions were at work on the host.
    OtherWork {
        /// Their share of the host's processor time, 0 to 1.
        share: f64,
    },
    /// The database answers commits before they are on the storage.
    NotDurable {
        /// What makes it so, such as `synchronous_commit off`; empty where that is not known.
        setting: String,
    },
    /// Transactions brought other rows than the same ones did before.
    RowsDiffered {
        /// How many.
        count: u64,
    },
    /// The database undid transactions because of others: deadlocks, serialization failures.
    Conflicts {
        /// How many.
        count: u64,
        /// Their share of all transactions, 0 to 1.
        share: f64,
    },
    /// Something of the database or its storage could not be observed.
    Unobserved {
        /// What, such as `where sessions wait`.
        what: String,
        /// Why, in a few words.
        why: String,
    },
}

impl Finding {
    /// How much it takes from the figures.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::PageCacheBelowDatabase { share } => below_database(*share),
            Self::PageCacheAnswered { .. }
            | Self::GeneratorBound { .. }
            | Self::InMemory { .. }
            | Self::Holes { .. }
            | Self::LoopCached { .. }
            | Self::DeviceNotReached { .. }
            | Self::Fault { .. }
            | Self::RowsDiffered { .. }
            | Self::ClockChanged { .. } => Weight::Void,
            Self::BudgetSpent { .. }
            | Self::SlotsLeftOut { .. }
            | Self::Floor { .. }
            | Self::ReadOnly
            | Self::RingRefused { .. }
            | Self::NotSaturated { .. }
            | Self::PageCacheSimulated { .. }
            | Self::Unobserved { .. } => Weight::Note,
            _ => Weight::Caution,
        }
    }
}

/// A database that goes through the page cache always has some reads answered there: how many of them take which weight.
const fn below_database(share: f64) -> Weight {
    const MISLEADS: f64 = 0.1;
    const HIDES: f64 = 0.9;
    if share > HIDES {
        Weight::Void
    } else if share > MISLEADS {
        Weight::Caution
    } else {
        Weight::Note
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
        {"finding":"carried-in-bursts","burst":2.0,"lasting":1.0}, {"finding":"line-fell","before":2.0,"after":1.0},
        {"finding":"slots-left-out","left_out":1,"of":30},
        {"finding":"unrepeatable","low_p99_ns":1,"high_p99_ns":2}, {"finding":"other-load","iops":1.0},
        {"finding":"direct-refused"}, {"finding":"host-cache-suspected","median_ns":1},
        {"finding":"holes","allocated":1,"size":2}, {"finding":"device-not-reached","share":0.5},
        {"finding":"fault","what":"x"}, {"finding":"in-memory","what":"tmpfs"}, {"finding":"not-storage-alone","note":"nfs"},
        {"finding":"time-dilated","slow":10}, {"finding":"model-doubted","what":"x"}, {"finding":"floor","round_trip_ns":1,"wait_ns":3,"beyond_ns":2},
        {"finding":"clock-changed","from":"tsc","to":"hpet"}, {"finding":"frequency-changed","ratio":0.5},
        {"finding":"ring-refused","reason":"x"}, {"finding":"offered-otherwise","generator":"fio","how":"x"}, {"finding":"read-only"}, {"finding":"errors","count":1,"errno":5},
        {"finding":"not-saturated","depth":8}, {"finding":"budget-spent","half_width":0.2},
        {"finding":"trace-incomplete","dropped":1,"kept":2}, {"finding":"trace-doubted","what":"x"},
        {"finding":"not-replayed","count":1,"what":"1 trims"},
        {"finding":"throttled","file":"x","disk":"vda","quantity":"read IOPS","per_second":1000},
        {"finding":"loop-cached","device":"loop0","file":"x"}, {"finding":"flushes-disabled","setting":"x"},
        {"finding":"flush-library","library":"x"},
        {"finding":"page-cache-below-database","share":0.5}, {"finding":"client-bound","share":0.2},
        {"finding":"other-work","share":0.2}, {"finding":"not-durable","setting":"fsync off"},
        {"finding":"not-durable","setting":""}, {"finding":"rows-differed","count":1},
        {"finding":"conflicts","count":3,"share":0.02}, {"finding":"unobserved","what":"x","why":"y"}
    ]"#;

    #[test]
    fn every_finding_says_what_and_what_to_do() {
        let all: Vec<Finding> = serde_json::from_str(ALL).unwrap();
        for finding in &all {
            assert!(!finding.text().is_empty() && !finding.remedy().is_empty(), "{finding:?}");
        }
        let measured = crate::Source::Measured { engine: "ring".into() };
        let simulated = crate::Source::Simulated { model: "x".into() };
        for (finding, source) in all.iter().flat_map(|finding| [(finding, &measured), (finding, &simulated)]) {
            let remedy = finding.remedy_in_suite(source);
            assert!(
                !remedy.contains("--thorough") && !remedy.contains("--duration"),
                "suites have no such option: {remedy}"
            );
        }
        let old: Finding = serde_json::from_str(r#"{"finding":"beyond","note":"nfs"}"#).unwrap();
        assert_eq!(old, Finding::NotStorageAlone { note: "nfs".into() }, "files keep their meaning");
        for (share, weight) in [(0.05, Weight::Note), (0.5, Weight::Caution), (0.95, Weight::Void)] {
            assert_eq!(Finding::PageCacheBelowDatabase { share }.weight(), weight);
        }
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
