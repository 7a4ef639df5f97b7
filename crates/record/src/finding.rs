//! Findings: doubts about figures, each with a remedy. They are stored with the run.

mod imported;
mod remedy;
mod sentence;

use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Weight {
    /// Information.
    Note,
    /// The figures may mislead.
    Caution,
    /// The figures do not describe the storage.
    Void,
}

/// A fact about the measurement that affects its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "finding")]
pub enum Finding {
    /// Reads were served from the kernel's page cache.
    PageCacheAnswered {
        /// Share of the bytes read that did not reach the device, 0 to 1.
        share: f64,
    },
    /// Buffered I/O was requested: writes end in memory.
    Buffered,
    /// A page cache in front of the model was simulated.
    PageCacheSimulated {
        /// Memory available for pages.
        memory: Bytes,
        /// Share of the bytes read that were in memory, 0 to 1; absent without buffered reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share: Option<f64>,
        /// Bytes that were read ahead and not used.
        unused: Bytes,
        /// Number of write-back operations.
        write_backs: u64,
        /// Mean size of write-backs.
        write_back_mean: Bytes,
        /// Total time that writers were throttled because of dirty pages, in nanoseconds.
        #[serde(rename = "held_ns")]
        throttled: Span,
    },
    /// Buffered I/O was requested of a model without a page cache.
    NoPageCache,
    /// The generator limited the rate, not the storage.
    GeneratorBound {
        /// Highest measured operations per second.
        achieved: f64,
        /// Operations per second of the same loop without I/O.
        ceiling: f64,
    },
    /// The generator overslept arrivals of an open load, so that these were late and bunched.
    GeneratorLate {
        /// 99th percentile of its lateness, in nanoseconds.
        #[serde(rename = "p99_ns")]
        p99: Span,
        /// 99th percentile of the response times, in nanoseconds.
        #[serde(rename = "response_p99_ns")]
        response_p99: Span,
    },
    /// The processors were busy: latencies include waiting for a processor.
    ProcessorBound {
        /// Share of the generator's processors in use, 0 to 1.
        busy: f64,
    },
    /// The data fit into a cache.
    SmallData {
        /// Bytes accessed by the load.
        data: Bytes,
        /// Memory of the host in bytes, if that is the cache; absent for the device's cache.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory: Option<Bytes>,
    },
    /// Compressible or repeated data were faster than incompressible data.
    CompressionSuspected {
        /// Throughput with zeros divided by throughput with incompressible data.
        ratio: f64,
    },
    /// A flush was faster than possible for durable media.
    FlushNotHonoured {
        /// Median time of `write` and `fdatasync`, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
    },
    /// The run was not steady at its end.
    NoSteadyState {
        /// The drifting measure, such as `p99`.
        measure: String,
        /// Ratio of the last third to the first third, minus 1.
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
    /// Slots carried a load that did not last, because of burst allowances.
    CarriedInBursts {
        /// Operations per second in slots.
        burst: f64,
        /// Lasting operations per second.
        lasting: f64,
    },
    /// The product carries the load with burst credits only, which last longer than the simulation.
    BurstCredits {
        /// Operations per second while credits last.
        burst: f64,
        /// Seconds from full credits until they are used up.
        seconds: f64,
        /// Lasting operations per second.
        lasting: f64,
    },
    /// Burst credits raise the load line, which is given without them.
    LineOnCredits {
        /// Load line while credits last, in operations per second.
        burst: f64,
        /// Seconds from full credits until that load has used them up; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// Load line without credits; absent if no load meets the objective then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lasting: Option<f64>,
    },
    /// The product began with full burst credits, which the load spends.
    FullCredits {
        /// Name of the product.
        product: String,
    },
    /// Slots kept the objective at a load that missed it when held, although the load was completed.
    MissedWhenHeld {
        /// Operations per second that slots carried.
        slots: f64,
        /// Operations per second that kept the objective when held.
        #[serde(rename = "held")]
        sustained: f64,
    },
    /// The load line of the second half of the measurement lies below that of the first.
    LineFell {
        /// Operations per second of the first half.
        before: f64,
        /// Operations per second of the second half.
        after: f64,
    },
    /// Slots in which the host withheld the processor from the generator were excluded.
    SlotsLeftOut {
        /// Number of excluded slots.
        left_out: u32,
        /// Number of all slots.
        of: u32,
    },
    /// The hypervisor gave processor time to other guests.
    StolenTime {
        /// Stolen share of processor time, 0 to 1.
        share: f64,
    },
    /// The same load had different latencies at different times, by more than the intervals of the runs.
    Unrepeatable {
        /// Lowest 99th percentile of that load, in nanoseconds.
        #[serde(rename = "low_p99_ns")]
        low_p99: Span,
        /// Highest, in nanoseconds.
        #[serde(rename = "high_p99_ns")]
        high_p99: Span,
    },
    /// Other load on the device.
    OtherLoad {
        /// Operations per second of the other load.
        iops: f64,
    },
    /// The filesystem or device does not support `O_DIRECT`, so I/O was buffered.
    DirectRefused,
    /// Reads of a virtual disk were faster than possible for its media: served from the host's cache.
    HostCacheSuspected {
        /// Median read at depth 1, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
    },
    /// Parts of the file were never written.
    Holes {
        /// Allocated bytes.
        allocated: Bytes,
        /// Length of the file in bytes.
        size: Bytes,
    },
    /// Direct reads that did not reach the device.
    DeviceNotReached {
        /// Share of the bytes read, 0 to 1.
        share: f64,
    },
    /// The target failed and ended the measurement.
    Fault {
        /// Failed operation and system error.
        what: String,
    },
    /// The data are in memory instead of storage.
    InMemory {
        /// Location of the data, such as `tmpfs`.
        #[serde(alias = "what")]
        target: String,
    },
    /// The measurement includes another layer above the storage: a network, or another filesystem.
    #[serde(alias = "beyond")]
    NotStorageAlone {
        /// The layer, in a sentence.
        note: String,
    },
    /// Latency added by a server on this host, measured without a model.
    Floor {
        /// Median round trip of a 4 KiB read over NBD with an immediate reply, in nanoseconds.
        #[serde(rename = "round_trip_ns")]
        round_trip: Span,
        /// Delay of replies at the server in the case below, in nanoseconds: similar to the response time of the
        /// lightest load.
        #[serde(rename = "wait_ns")]
        wait: Span,
        /// Additional latency of the client in that case, in nanoseconds.
        #[serde(rename = "beyond_ns")]
        beyond: Span,
    },
    /// The emulated volume's time is slower than the clock of the measurement.
    TimeDilated {
        /// Time dilation factor.
        slow: u32,
    },
    /// Parts of the model are unpublished or uncertain.
    ModelDoubted {
        /// The part, in a sentence.
        what: String,
    },
    /// Figures of the product have no verified source.
    FiguresUnverified {
        /// Their number.
        count: u32,
        /// Name of the product.
        product: String,
    },
    /// The clock source changed during the run.
    ClockChanged {
        /// Clock source before.
        from: String,
        /// Clock source after.
        to: String,
    },
    /// Processor frequencies changed by more than 10 %.
    FrequencyChanged {
        /// Lowest frequency divided by the highest.
        ratio: f64,
    },
    /// `io_uring` was not available, so threads with `pread` and `pwrite` were used.
    RingRefused {
        /// System error.
        reason: String,
    },
    /// The load was issued by another generator than plimsoll, with differences.
    OfferedOtherwise {
        /// Generator, such as `fio 3.33`.
        generator: String,
        /// Differences, in sentences.
        how: String,
    },
    /// The block device, file or export was not given to `--destroy`, so writes of the load became reads.
    ReadOnly,
    /// Operations failed.
    Errors {
        /// Number of errors.
        count: u64,
        /// The most frequent `errno`.
        errno: i32,
    },
    /// The sweep stopped before the storage was saturated.
    NotSaturated {
        /// Largest queue depth.
        depth: u32,
    },
    /// The recorder dropped operations of the recorded volume.
    TraceIncomplete {
        /// Number of dropped operations.
        dropped: u64,
        /// Number of recorded operations.
        #[serde(rename = "kept")]
        retained: u64,
    },
    /// The trace lacks information that a replay needs, or its meaning is uncertain.
    TraceDoubted {
        /// The uncertainty, in a sentence.
        what: String,
    },
    /// A replay omitted recorded operations.
    NotReplayed {
        /// Number of omitted operations.
        count: u64,
        /// Kinds of omitted operations with their counts.
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
    /// A control group limits the processor time of this process.
    ProcessorLimited {
        /// The file that sets the limit, such as `/sys/fs/cgroup/db/cpu.max`.
        file: String,
        /// Number of processors, such as 0.6.
        processors: f64,
        /// Share of the measuring time for which the limit stopped the process, 0 to 1; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped: Option<f64>,
    },
    /// The file of a loop device is cached by the host: direct I/O of the device ends in memory.
    LoopCached {
        /// Kernel name of the loop device.
        device: String,
        /// File of the loop device.
        file: String,
    },
    /// A setting of the host disables flushes.
    FlushesDisabled {
        /// The setting, such as `mount option nobarrier`.
        setting: String,
    },
    /// A preloaded library disables flushes that programs make through the C library.
    FlushLibrary {
        /// Library name, such as `libeatmydata`.
        library: String,
    },
    /// Time ended before the intervals were as narrow as requested.
    BudgetSpent {
        /// Widest relative half-width of the objective's interval.
        half_width: f64,
    },
    /// Reads of a database were served from the host's page cache.
    PageCacheBelowDatabase {
        /// Share of the blocks read by the database that did not come from storage, 0 to 1.
        share: f64,
    },
    /// plimsoll used processor time on the database's host.
    ClientBound {
        /// Share of the host's processor time, 0 to 1.
        share: f64,
    },
    /// Other processes than the database and plimsoll used processor time on the host.
    OtherWork {
        /// Share of the host's processor time, 0 to 1.
        share: f64,
    },
    /// The database acknowledges commits before they are durable.
    NotDurable {
        /// The responsible setting, such as `synchronous_commit off`; empty if unknown.
        setting: String,
    },
    /// Transactions returned other rows than earlier identical transactions.
    RowsDiffered {
        /// Number of such transactions.
        count: u64,
    },
    /// The database rolled back transactions because of conflicts: deadlocks, serialization failures.
    Conflicts {
        /// Number of rolled back transactions.
        count: u64,
        /// Share of all transactions, 0 to 1.
        share: f64,
    },
    /// Written bytes that had not reached the device at the end of another program's test.
    WritesInMemory {
        /// Their share, 0 to 1.
        share: f64,
    },
    /// An asynchronous engine of another program was used through the page cache, which makes it wait.
    BufferedEngine {
        /// The engine, such as `libaio`.
        engine: String,
        /// The queue depth that it was given, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    },
    /// The results of another program do not state a value that the figures depend on.
    Assumed {
        /// The quantity, such as `the size of operations`.
        what: String,
        /// The value that is taken for it.
        value: String,
    },
    /// The test of another program was too short.
    TooShort {
        /// Its length.
        seconds: f64,
    },
    /// The device was idle during most of another program's test.
    DeviceIdle {
        /// Share of the time with operations in flight at the device, 0 to 1.
        busy: f64,
    },
    /// Another program's test had more operations than its depth and mean response time allow.
    RateAboveDepth {
        /// Operations per second.
        achieved: f64,
        /// Depth over mean response time: operations per second that these allow (Little 1961).
        allowed: f64,
    },
    /// The engine or target of another program's test transfers no data of storage.
    NoStorage {
        /// The engine or device, such as `ioengine=null`.
        #[serde(alias = "what")]
        target: String,
    },
    /// Jobs of another program paused between operations, which limited their rate.
    Paused {
        /// Mean number of operations in flight (Little 1961).
        in_flight: f64,
        /// Their queue depth.
        depth: f64,
    },
    /// Operations of another program's test were cut short or dropped.
    CutShort {
        /// Operations that transferred fewer bytes than requested.
        short: u64,
        /// Operations that were not issued.
        dropped: u64,
    },
    /// A part of the database or its storage could not be observed.
    Unobserved {
        /// The unobserved part, such as `where sessions wait`.
        what: String,
        /// Reason.
        why: String,
    },
}

impl Finding {
    /// Severity.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::PageCacheBelowDatabase { share } => below_database(*share),
            Self::WritesInMemory { share } if *share > 0.5 => Weight::Void,
            // A limit that stopped nothing changed no figure.
            Self::ProcessorLimited { stopped: Some(stopped), .. } if *stopped < LEAST_STOPPED => Weight::Note,
            Self::PageCacheAnswered { .. }
            | Self::GeneratorBound { .. }
            | Self::InMemory { .. }
            | Self::NoStorage { .. }
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
            | Self::Assumed { .. }
            | Self::Unobserved { .. } => Weight::Note,
            _ => Weight::Caution,
        }
    }
}

/// Minimum share of the time for which a processor limit has to stop the process to affect figures.
const LEAST_STOPPED: f64 = 0.005;

/// Severity by share: with buffered I/O, some reads of a database are always served by the page cache.
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

    /// An example of each finding, as in a file.
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
        {"finding":"burst-credits","burst":3000,"seconds":2000,"lasting":300},
        {"finding":"line-on-credits","burst":2910,"seconds":2070,"lasting":299}, {"finding":"line-on-credits","burst":2910},
        {"finding":"full-credits","product":"aws/gp2:100GiB"},
        {"finding":"carried-in-bursts","burst":2.0,"lasting":1.0}, {"finding":"missed-when-held","slots":2.0,"held":1.0}, {"finding":"line-fell","before":2.0,"after":1.0},
        {"finding":"slots-left-out","left_out":1,"of":30},
        {"finding":"unrepeatable","low_p99_ns":1,"high_p99_ns":2}, {"finding":"other-load","iops":1.0},
        {"finding":"direct-refused"}, {"finding":"host-cache-suspected","median_ns":1},
        {"finding":"holes","allocated":1,"size":2}, {"finding":"device-not-reached","share":0.5},
        {"finding":"fault","what":"x"}, {"finding":"in-memory","target":"tmpfs"}, {"finding":"not-storage-alone","note":"nfs"},
        {"finding":"time-dilated","slow":10}, {"finding":"model-doubted","what":"x"},
        {"finding":"figures-unverified","count":3,"product":"aws/gp3"}, {"finding":"floor","round_trip_ns":1,"wait_ns":3,"beyond_ns":2},
        {"finding":"clock-changed","from":"tsc","to":"hpet"}, {"finding":"frequency-changed","ratio":0.5},
        {"finding":"ring-refused","reason":"x"}, {"finding":"offered-otherwise","generator":"fio","how":"x"}, {"finding":"read-only"}, {"finding":"errors","count":1,"errno":5},
        {"finding":"not-saturated","depth":8}, {"finding":"budget-spent","half_width":0.2},
        {"finding":"trace-incomplete","dropped":1,"kept":2}, {"finding":"trace-doubted","what":"x"},
        {"finding":"not-replayed","count":1,"what":"1 trims"},
        {"finding":"throttled","file":"x","disk":"vda","quantity":"read IOPS","per_second":1000},
        {"finding":"processor-limited","file":"x","processors":0.6,"stopped":0.31},
        {"finding":"processor-limited","file":"x","processors":2.0},
        {"finding":"loop-cached","device":"loop0","file":"x"}, {"finding":"flushes-disabled","setting":"x"},
        {"finding":"flush-library","library":"x"},
        {"finding":"page-cache-below-database","share":0.5}, {"finding":"client-bound","share":0.2},
        {"finding":"other-work","share":0.2}, {"finding":"not-durable","setting":"fsync off"},
        {"finding":"not-durable","setting":""}, {"finding":"rows-differed","count":1},
        {"finding":"writes-in-memory","share":0.9}, {"finding":"buffered-engine","engine":"libaio"},
        {"finding":"assumed","what":"x","value":"y"}, {"finding":"too-short","seconds":2.0}, {"finding":"device-idle","busy":0.1},
        {"finding":"rate-above-depth","achieved":9900.0,"allowed":9.9},
        {"finding":"no-storage","target":"ioengine=null"}, {"finding":"paused","in_flight":0.95,"depth":32.0},
        {"finding":"cut-short","short":100,"dropped":7},
        {"finding":"conflicts","count":3,"share":0.02}, {"finding":"unobserved","what":"x","why":"y"}
    ]"#;

    #[test]
    fn thousands_are_separated() {
        let large: Vec<Finding> = serde_json::from_str(
            r#"[
        {"finding":"generator-bound","achieved":53062.4,"ceiling":1234567.0},
        {"finding":"rate-dropped","at_seconds":60.0,"before":16000.0,"after":2510.0},
        {"finding":"line-on-credits","burst":3000.0,"lasting":1150.0},
        {"finding":"missed-when-held","slots":4000.0,"held":3999.5}, {"finding":"line-fell","before":4000.0,"after":3000.0},
        {"finding":"slots-left-out","left_out":1200,"of":2400}, {"finding":"other-load","iops":1000.0},
        {"finding":"errors","count":123456,"errno":5}, {"finding":"trace-incomplete","dropped":1000,"kept":2000000},
        {"finding":"not-replayed","count":1000,"what":"trims"}, {"finding":"rows-differed","count":1000},
        {"finding":"throttled","file":"x","disk":"vda","quantity":"read IOPS","per_second":2510},
        {"finding":"rate-above-depth","achieved":26000.0,"allowed":2285.7},
        {"finding":"cut-short","short":1000,"dropped":2000}, {"finding":"conflicts","count":3000,"share":0.02}
    ]"#,
        )
        .unwrap();
        for finding in &large {
            let text = finding.text();
            let longest = text.split(|letter: char| !letter.is_ascii_digit()).map(str::len).max();
            assert!(text.contains(',') && longest <= Some(3), "{text}");
        }
        let text = Finding::RateDropped { at_seconds: 60.0, before: 16_000.0, after: 2_510.0 }.text();
        assert!(text.starts_with("the rate fell from 16,000 to 2,510 IOPS after 60 s"), "{text}");
        assert!(Finding::OtherLoad { iops: 0.4 }.text().contains("0.4 IOPS"), "less than one is not none");
    }

    #[test]
    fn every_finding_has_text_and_remedy() {
        let all: Vec<Finding> = serde_json::from_str(ALL).unwrap();
        for finding in &all {
            assert!(!finding.text().is_empty() && !finding.remedy().is_empty(), "{finding:?}");
        }
        let measured = crate::Source::Measured { engine: "ring".into() };
        let simulated = crate::Source::Simulated { model: "x".into(), credits: None };
        for (finding, source) in all.iter().flat_map(|finding| [(finding, &measured), (finding, &simulated)]) {
            let remedy = finding.remedy_in_suite(source);
            assert!(
                !remedy.contains("--thorough") && !remedy.contains("--duration"),
                "suites have no such option: {remedy}"
            );
        }
        let old: Finding = serde_json::from_str(r#"{"finding":"beyond","note":"nfs"}"#).unwrap();
        assert_eq!(old, Finding::NotStorageAlone { note: "nfs".into() }, "alias of older files");
        for (kind, new) in [
            ("in-memory", Finding::InMemory { target: "tmpfs".into() }),
            ("no-storage", Finding::NoStorage { target: "tmpfs".into() }),
        ] {
            let old: Finding = serde_json::from_str(&format!(r#"{{"finding":"{kind}","what":"tmpfs"}}"#)).unwrap();
            assert_eq!(old, new, "alias of older files");
            assert!(serde_json::to_string(&new).unwrap().contains(r#""target":"tmpfs""#));
        }
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
