//! Verdicts of suites on blocks and files.

use plimsoll_language::{label, say};
use plimsoll_record::{
    ArticleVerdict, BonnieVerdict, CrystalDiskMarkVerdict, DdVerdict, MissingFeature, ShortPhase, SniaVerdict,
    TiobenchVerdict, VerifyVerdict, WalVerdict,
};

use super::percent;
use crate::number::throughput;

pub(super) fn dd(verdict: &DdVerdict) -> String {
    match verdict {
        DdVerdict::WriteBackCache { cache_bytes, unwritten_bytes, bytes_per_second } => say!(
            "a write-back cache of {cache_bytes} is part of the model: {} is the speed of that memory as much as of the \
             storage, and when the copy ended up to {unwritten_bytes} waited to be written",
            throughput(*bytes_per_second)
        ),
        DdVerdict::NoPageCache => label!(
            "no page cache on this ground, so the buffered copy has the rate of the storage: on a \
                                   host it is higher, because dirty data remain in memory when dd ends"
        )
        .into(),
        DdVerdict::BufferedCopy { size_bytes, bytes_per_second, dirty_bytes, flush, flushed_bytes_per_second } => {
            let left = match dirty_bytes {
                Some(dirty) => say!("at most {} of its {size_bytes} still", dirty.min(size_bytes)),
                None => label!("some of it").into(),
            };
            say!(
                "the buffered copy has {}, partly the speed of memory: when it ended, {left} were not yet written (the \
                 host counts no single file), and their flush took {flush} more; with it the rate is {}",
                throughput(*bytes_per_second),
                throughput(*flushed_bytes_per_second)
            )
        }
        DdVerdict::DurableBlocks { copy, per_second, median, p99 } => say!(
            "with {copy} each block waits until it is durable: {per_second:.0} a second, {median} (median) and {p99} (p99) \
             each"
        ),
        DdVerdict::ReadFromPageCache { bytes_per_second, size_bytes, memory_bytes } => say!(
            "{} is a read of {size_bytes} through the page cache of a host with {memory_bytes} of memory, which may hold \
             them all: read with iflag=direct to see storage",
            throughput(*bytes_per_second)
        ),
        DdVerdict::ZeroesFaster { ratio } => say!(
            "zeroes were written at least {ratio:.1} times as fast as random data: the storage compresses them or does not \
             store them, and copies of zeroes are not representative of other data"
        ),
        DdVerdict::ZeroesNotFaster => label!(
            "zeroes were not written faster than random data in every round: there is no \
                                       evidence that they are not stored"
        )
        .into(),
    }
}

pub(super) fn bonnie(verdict: &BonnieVerdict) -> String {
    match verdict {
        BonnieVerdict::ShortPhases { phases } => {
            let phase = |phase: &ShortPhase| {
                format!("{} {:.0} {} ({:.3} s)", phase.step, phase.rate, phase.unit, phase.span.as_secs_f64())
            };
            let figures: Vec<String> = phases.iter().map(phase).collect();
            say!(
                "+++++ stands for a phase shorter than 0.5 s, whose figure Bonnie++ does not print. Here these are: {}",
                figures.join(label!(", "))
            )
        }
        BonnieVerdict::ByteCalls { step, call, kib_per_second, calls_per_second, kernel_ns } => {
            let each = 1e9 / calls_per_second;
            let kernel = kernel_ns.map_or(String::new(), |ns| say!(", {ns} ns of it the kernel's work"));
            say!(
                "{step}: {kib_per_second:.0} KiB/s are {calls_per_second:.0} calls of {call}(2) per second with one byte \
                 each: {each:.0} ns for a call and the loop around it{kernel}. It is the cost of a system call on this \
                 processor, not a figure of the storage"
            )
        }
        BonnieVerdict::Seeks { per_second, seekers } => say!(
            "Seeks: {per_second:.1} seeks per second, not KB/s, by {seekers} processes at once: reads at depth {seekers}, \
             each tenth followed by a write"
        ),
        BonnieVerdict::BytePhasesSkipped => label!(
            "the single-byte phases were skipped: they measure system calls, and this \
                                             target is accessed without system calls"
        )
        .into(),
        BonnieVerdict::DirectPhases => {
            label!("blocks passed the page cache by; Bonnie++ 2.00 with -D does so only while it writes a new file")
                .into()
        }
        BonnieVerdict::BelowTwiceMemory { size_bytes, memory_bytes } => say!(
            "the file of {size_bytes} is less than twice the memory of {memory_bytes}: up to {} of the seeks may have been \
             answered from the page cache",
            percent(memory_bytes.get() as f64 / size_bytes.get().max(1) as f64)
        ),
        BonnieVerdict::SmallFileRates => label!(
            "rates of small files are files per second; the table of Bonnie++ 2.00 itself \
                                          prints their number in that place, and only its line of commas has the rates"
        )
        .into(),
        BonnieVerdict::NoProcessorTime => label!("in virtual time no processor works: %CP is printed as +++").into(),
    }
}

pub(super) fn tiobench(verdict: &TiobenchVerdict) -> String {
    match verdict {
        TiobenchVerdict::RowOrder => label!("the rows are write, random write, read and random read, in this order: where a \
                                      published table calls its fourth row random write once more, it shows random reads")
            .into(),
        TiobenchVerdict::RandomOperations { total, per_thread } => {
            let share = |(random, threads): &(u64, u32)| say!("{random} for each of {threads}");
            let shares: Vec<String> = per_thread.iter().map(share).collect();
            say!("the {total} random operations are those of all threads together: {}", shares.join(label!(", ")))
        }
        TiobenchVerdict::RandomReadRate { step, per_second, block_bytes, threads, mean, touched_share } => {
            let mean_ms = mean.as_millis_f64();
            let by_mean = if mean_ms > 0.0 { f64::from(*threads) / mean_ms * 1e3 } else { 0.0 };
            say!(
                "{step}: {per_second:.0} operations of {block_bytes} per second at depth {threads}; {threads} divided by \
                 the mean of {mean_ms:.3} ms is {by_mean:.0}, more where threads end early. {} of each file was touched",
                percent(*touched_share)
            )
        }
        TiobenchVerdict::FinalFlush { step, max, share } => say!(
            "{step}: the last fsync took up to {:.3} s, {} of the time. It is in the rate, and in no latency: the writes \
             before it went to memory",
            max.as_secs_f64(),
            percent(*share)
        ),
        TiobenchVerdict::NothingCompared => {
            label!("nothing was compared: the target keeps no data, or nothing was read").into()
        }
    }
}

pub(super) fn crystaldiskmark(verdict: &CrystalDiskMarkVerdict) -> String {
    let units = label!("MB is 1,000,000 bytes, and operations a second are the score over the block");
    match verdict {
        CrystalDiskMarkVerdict::SingleRun => {
            label!("each test was run once: the variation between runs is unknown").into()
        }
        CrystalDiskMarkVerdict::EqualRuns { runs } => say!("all {runs} runs of each test were alike"),
        CrystalDiskMarkVerdict::RunSpread {
            test,
            runs,
            above_mean_share,
            min_bytes_per_second,
            max_bytes_per_second,
        } => say!(
            "the best run is up to {:.1} % above the mean of its {runs} runs, which is most for {test}: {:.1} to {:.1} MB/s",
            100.0 * above_mean_share,
            min_bytes_per_second / 1e6,
            max_bytes_per_second / 1e6
        ),
        CrystalDiskMarkVerdict::BestScores => {
            say!("a score is the best of its runs, and a latency the lowest mean of a run: expect less. {units}")
        }
        CrystalDiskMarkVerdict::MeanScores => say!("a score is the mean of its runs. {units}"),
        CrystalDiskMarkVerdict::FlushedRuns => label!(
            "of version 3: one flush after each run of writes is inside its time, so a \
                                                short run pays more for it"
        )
        .into(),
        CrystalDiskMarkVerdict::UnflushedRuns => label!(
            "of version 8: nothing is flushed: scores of writes are rates of \
                                                  acceptance, not of durable writes"
        )
        .into(),
        CrystalDiskMarkVerdict::DeviceCacheUnknown { size_bytes } => say!(
            "the file is {size_bytes} large; whether the device's own cache holds it is not known. If it does, random \
             figures are the cache's: try a larger file"
        ),
        CrystalDiskMarkVerdict::UnwrittenReads => label!(
            "it was read as it is: places that were never written may be answered \
                                                   without reading anything, and faster"
        )
        .into(),
    }
}

pub(super) fn snia(verdict: &SniaVerdict) -> String {
    match verdict {
        SniaVerdict::TooFewRounds { test, rounds } => {
            say!("{test}: {rounds} rounds are too few to be steady; the figures are of those")
        }
        SniaVerdict::SteadyState { .. } => steady_state(verdict),
        SniaVerdict::SingleRound { test } => say!("{test}: a single round does not show the sustained rate"),
        SniaVerdict::WriteSaturation { test, first_iops, last_iops, second_half_iops: (low, high), written_bytes } => {
            say!(
                "{test}: {first_iops:.0} operations a second in the first round, {last_iops:.0} in the last, which is {} \
                 of it; {low:.0} to {high:.0} over the second half. {:.3} GB were written",
                percent(last_iops / first_iops.max(1e-9)),
                written_bytes.get() as f64 / 1e9
            )
        }
        SniaVerdict::NotPurged => label!(
            "the device was not purged: its earlier contents, and those of other tests, affect the \
                                   figures. They do not comply with SNIA's specification"
        )
        .into(),
        SniaVerdict::FilesTested => {
            label!("files were tested: the filesystem between them and the device is part of the figures").into()
        }
        SniaVerdict::PartWritten { size_bytes } => say!(
            "{size_bytes} were written, not all of the device: the rest serves it as spare space, and writes may be faster \
             than on a full one"
        ),
        SniaVerdict::Preconditioning { passes } => {
            say!("the whole size was written {passes} times before a test, not twice as the method requires")
        }
        SniaVerdict::ShortLoads { span } => {
            say!("a load of a round lasted {span}, not a minute: rounds that look alike may still be on their way")
        }
        SniaVerdict::SizesLeftOut { grid_bytes } => say!(
            "block sizes that are not multiples of {} bytes were left out: direct I/O needs them",
            grid_bytes.get()
        ),
    }
}

fn steady_state(verdict: &SniaVerdict) -> String {
    let SniaVerdict::SteadyState {
        test,
        rounds,
        reached,
        window: (first, last),
        load,
        unit,
        mean,
        interval: (low, high),
        range_share,
        max_range_share,
        excursion_share,
        max_excursion_share,
    } = verdict
    else {
        return String::new();
    };
    let digits = match unit.as_str() {
        "ms" => 3,
        "MB/s" => 1,
        _ => 0,
    };
    let (start, end) = if *reached {
        (label!("steady"), "")
    } else {
        (label!("not steady"), label!(". The figures are of the last five all the same"))
    };
    say!(
        "{test}: {start} after {rounds} rounds: over rounds {first} to {last} the tracked load, {load}, spans {:.1} % of its \
         average of {mean:.digits$} {unit} (95 % interval {low:.digits$} to {high:.digits$}; {} allowed) and moves by {:.1} % \
         ({} allowed){end}",
        100.0 * range_share,
        percent(*max_range_share),
        100.0 * excursion_share.abs(),
        percent(*max_excursion_share)
    )
}

pub(super) fn verify(verdict: &VerifyVerdict) -> String {
    match verdict {
        VerifyVerdict::PartIntact { blocks } => {
            say!("not all was read: {blocks} blocks were compared, and each was as it had been written")
        }
        VerifyVerdict::FailedOperations { wrong, failed, size_bytes } => say!(
            "{wrong} blocks were not as they had been written, and {failed} operations of up to {size_bytes} failed"
        ),
        VerifyVerdict::UnreadBlocks { unread, blocks } => say!("{unread} of {blocks} blocks were not read"),
        VerifyVerdict::PoweredRead => label!(
            "all of it was read while the storage had power: a loss from its caches is detected \
                                       only by a check after a power cut"
        )
        .into(),
        VerifyVerdict::VersionsUnknown => label!(
            "every version of a block is accepted, because the last written versions are \
                                           unknown: lost overwrites are not detected"
        )
        .into(),
    }
}

pub(super) fn wal(verdict: &WalVerdict) -> String {
    let shared = label!("; sessions that commit together share a flush, so that more of them commit more");
    match verdict {
        WalVerdict::CommitsWithoutPageCache { flushed_per_second, method, per_second } => say!(
            "one session commits {flushed_per_second:.0} times a second with a write and a flush, {per_second:.0} times with \
             {method}; without a page cache, this does not determine wal_sync_method{shared}"
        ),
        WalVerdict::DefaultSyncMethod { per_second } => say!(
            "wal_sync_method = fdatasync, the default: {per_second:.0} commits a second of one session, and no method is \
             faster by 5 %{shared}"
        ),
        WalVerdict::SyncMethod { method, per_second, default_per_second } => say!(
            "wal_sync_method = {method} is the fastest: {per_second:.0} commits a second of one session, {:.2} times the \
             default's{shared}",
            per_second / default_per_second
        ),
        WalVerdict::InnodbCommits { per_second, p99, pages_per_second, doublewrites_per_second } => say!(
            "one session commits {per_second:.0} times a second (redo 512B, fsync; {p99} p99); a page costs {:.2} times as \
             much with its doublewrite as alone, where each is flushed by itself",
            pages_per_second / doublewrites_per_second
        ),
        WalVerdict::RedoWrites { smallest, median, p99, fastest, bytes_per_second } => say!(
            "log file parallel write takes {median} (median) and {p99} (p99) for {smallest}; the log writer reaches {:.1} \
             MB/s at most, with {fastest}",
            bytes_per_second / 1e6
        ),
        WalVerdict::EtcdFsync { p99, limit } if p99 < limit => {
            say!("99 % of the fdatasync calls took at most {p99}, below the {limit} required by etcd")
        }
        WalVerdict::EtcdFsync { p99, limit } => say!(
            "99 % of the fdatasync calls took at most {p99}, not below the {limit} required by etcd: leaders will be lost \
             under load"
        ),
        WalVerdict::FlushWithoutEffect { flushed_per_second, plain_per_second } => say!(
            "flushes have no effect: {flushed_per_second:.0} durable writes a second, and {plain_per_second:.0} without a \
             flush; the target is memory, or ignores flushes"
        ),
        WalVerdict::FlushPlausible { median, rotates, write_cache } => {
            let cache = write_cache.as_ref().map_or_else(String::new, |cache| say!(" (its write cache: {cache})"));
            say!(
                "the flush of a commit takes {median} (median), no faster than {} can be{cache}: it is probably effective, \
                 but only a power cut can prove it",
                medium(*rotates)
            )
        }
        WalVerdict::OtherDescriptor { own_per_second, other_per_second, ineffective } => {
            let (own, other) = (1e6 / own_per_second, 1e6 / other_per_second);
            if *ineffective {
                say!(
                    "fsync through another descriptor takes {other:.0} us, and {own:.0} us through the descriptor of the \
                     write: it does not flush writes of another descriptor"
                )
            } else {
                say!(
                    "fsync through another descriptor takes {other:.0} us, as through the descriptor of the write ({own:.0} \
                     us)"
                )
            }
        }
        WalVerdict::CaseUnavailable { case, missing } => {
            let why = match missing {
                MissingFeature::SystemCall => label!("Linux has no such call"),
                MissingFeature::Files => label!("not supported: no files to open again"),
                MissingFeature::SmallBlocks => label!("direct I/O needs larger blocks here"),
                MissingFeature::PageCache => label!("no page cache on this ground"),
            };
            say!("{case}: n/a, {why}")
        }
    }
}

pub(super) fn medium(rotates: bool) -> &'static str {
    if rotates { label!("a disk that rotates") } else { label!("durable media") }
}

pub(super) fn article(verdict: &ArticleVerdict) -> String {
    match verdict {
        ArticleVerdict::NearestColumn { column, ratios: (low, high) } => {
            let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
            let range = if low == high { low } else { say!("{low} to {high}") };
            say!("of the published columns {column} is the nearest: what was got here is {range} times its figures")
        }
        ArticleVerdict::HostRate { bytes_per_second, left_bytes, printed_bytes_per_second } => say!(
            "{:.1} MB/s is storage alone; with {:.2} GB left in memory, dd of the article's host would print {:.1} MB/s",
            bytes_per_second / 1e6,
            left_bytes.get() as f64 / 1e9,
            printed_bytes_per_second / 1e6
        ),
        ArticleVerdict::PageCacheMissing => label!("there is no page cache here, and the article's programs read and write \
                                             through one: on a product give --memory 400MB, the article's host")
            .into(),
        ArticleVerdict::CurvesArePictures => label!("the report's curves are pictures: only what its text says stands in the \
                                              table; SLOB itself asks a database, and belongs to the suites of databases: \
                                              here the blocks are asked for directly")
            .into(),
    }
}
