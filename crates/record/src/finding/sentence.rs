//! Findings as sentences, independent of layout.

use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Grouped, Span};

use super::Finding;
use super::imported::share_text;

/// Differences of another generator, which runs have in English, in the language of the reader.
fn translate_differences(how: &str) -> String {
    how.split("; ").map(translate_difference).collect::<Vec<_>>().join(label!("; "))
}

fn translate_difference(part: &str) -> &str {
    const OPEN: &str = "response times of open loads are service times";
    match part {
        part if part.starts_with(OPEN) => label!(
            "response times of open loads are service times from the submission, without queueing in fio (coordinated \
             omission), and fio waits for all operations in flight before it sleeps until the next arrival"
        ),
        "it rounds the mean gap between Poisson arrivals down to whole microseconds" => {
            label!("it rounds the mean gap between Poisson arrivals down to whole microseconds")
        }
        "it rounds rates to whole operations per second" => label!("it rounds rates to whole operations per second"),
        "it flushes more often if reads are mixed with the writes" => {
            label!("it flushes more often if reads are mixed with the writes")
        }
        "shares are rounded to whole percent" => label!("shares are rounded to whole percent"),
        "reads and writes of a sequential stream have independent positions" => {
            label!("reads and writes of a sequential stream have independent positions")
        }
        "each stream is a separate job with its own thread" => {
            label!("each stream is a separate job with its own thread")
        }
        "other hosts report counts only at the end, so runs have no time series" => {
            label!("other hosts report counts only at the end, so runs have no time series")
        }
        other => other,
    }
}

/// A duration in its largest unit, such as `34 min`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3_600.0),
    }
}

impl Finding {
    /// The finding as a sentence.
    pub fn text(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::PageCacheAnswered { share } => {
                say!("{} of the reads came from the page cache: not a figure of the storage", share_text(*share))
            }
            Self::Buffered => label!("buffered I/O: reads may come from memory, and writes end there").into(),
            Self::PageCacheSimulated { .. } => self.page_cache_text(),
            Self::NoPageCache => {
                label!("buffered I/O without a simulated page cache: the model served every operation like direct I/O")
                    .into()
            }
            Self::GeneratorBound { achieved, ceiling } => {
                say!(
                    "the generator set the pace: {achieved} IOPS, and its loop alone reaches {ceiling}",
                    achieved = Grouped(*achieved),
                    ceiling = Grouped(*ceiling)
                )
            }
            Self::GeneratorLate { p99, response_p99 } => say!(
                "the generator overslept arrivals by {p99} (p99), with a response time of {response_p99} (p99): they \
                 were bunched"
            ),
            Self::ProcessorBound { busy } => {
                say!("the processors were {} busy: latencies include waiting for one", percent(*busy))
            }
            Self::SmallData { data, memory: Some(memory) } => {
                say!("only {data} were touched, on a host with {memory} of memory: its page cache may hold them all")
            }
            Self::SmallData { data, memory: None } => {
                say!("only {data} were touched: the device's or controller's own cache may hold them all")
            }
            Self::CompressionSuspected { ratio } => {
                say!("zeroes were written {ratio:.1} times as fast as incompressible data: the storage compresses")
            }
            Self::FlushNotHonoured { median } => {
                say!("a write with fdatasync took {median}, faster than durable media: flushes may not be honoured")
            }
            _ => self.course_text(),
        }
    }

    fn page_cache_text(&self) -> String {
        let Self::PageCacheSimulated { memory, share, unused, write_backs, write_back_mean, throttled: sustained } =
            self
        else {
            return String::new();
        };
        let mut text = say!("the page cache of a host with {memory} for it was simulated");
        if let Some(share) = share {
            text += &say!("; it answered {:.0} % of the bytes read", share * 100.0);
        }
        if *unused > Bytes::ZERO {
            text += &say!("; {unused} were read ahead and not used");
        }
        if *write_backs > 0 {
            text += &say!(
                "; it wrote back in {write_backs} operations of {write_back_mean} on average",
                write_backs = Grouped(*write_backs as f64)
            );
        }
        if !sustained.is_zero() {
            text += &say!("; writers waited {sustained}, all together, until less was dirty");
        }
        text
    }

    /// Sentences about lasting loads and the load line.
    fn line_text(&self) -> String {
        match self {
            Self::RateDropped { at_seconds, before, after } => say!(
                "the rate fell from {before} to {after} IOPS after {at_seconds:.0} s: a burst allowance or a \
                 write cache may have run out",
                before = Grouped(*before),
                after = Grouped(*after)
            ),
            Self::CarriedInBursts { burst, lasting } => say!(
                "carried in bursts only: {burst} IOPS for less than a second, {lasting} IOPS when held after burst \
                 allowances were used up",
                burst = Grouped(*burst),
                lasting = Grouped(*lasting)
            ),
            Self::BurstCredits { burst, seconds, lasting } => say!(
                "carried by burst credits: the product allows {burst} IOPS for {} from full credits, then {lasting} IOPS",
                Span::from_nanos((seconds * 1e9) as u64),
                burst = Grouped(*burst),
                lasting = Grouped(*lasting)
            ),
            Self::LineOnCredits { burst, seconds, lasting } => {
                let length = seconds.map(|seconds| say!(", {} from full", duration(seconds))).unwrap_or_default();
                match lasting {
                    Some(lasting) => {
                        say!(
                            "with burst credits {burst} IOPS until these end{length}; then {lasting} IOPS",
                            burst = Grouped(*burst),
                            lasting = Grouped(*lasting)
                        )
                    }
                    None => say!(
                        "with burst credits {burst} IOPS until these end{length}; then no load meets the objective",
                        burst = Grouped(*burst)
                    ),
                }
            }
            Self::FullCredits { product } => say!(
                "{product} began with full burst credits: figures may be higher than those that last, and depend on the duration"
            ),
            Self::MissedWhenHeld { slots, sustained } => say!(
                "single half seconds kept the objective at {slots} IOPS; held for seconds, only {sustained} IOPS did",
                slots = Grouped(*slots),
                sustained = Grouped(*sustained)
            ),
            Self::LineFell { before, after } => {
                say!(
                    "the load line fell from {before} to {after} IOPS during the measurement",
                    before = Grouped(*before),
                    after = Grouped(*after)
                )
            }
            Self::SlotsLeftOut { left_out, of } => say!(
                "the processor was taken away in {:.0} % of the slots ({left_out} of {of}), which do not count; the scatter of \
                 the others is the storage's own",
                100.0 * f64::from(*left_out) / f64::from((*of).max(1)),
                left_out = Grouped(f64::from(*left_out)),
                of = Grouped(f64::from(*of))
            ),
            Self::BudgetSpent { half_width } => {
                say!(
                    "the time was spent while the objective was known to ±{} only",
                    format_args!("{:.0} %", half_width * 100.0)
                )
            }
            _ => self.imported_text(),
        }
    }

    /// Sentences about stability, surroundings and target.
    fn course_text(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::NoSteadyState { measure, drift } => {
                say!("no steady state: {measure} changed by {:+.0} % within the run", drift * 100.0)
            }
            Self::StolenTime { share } => say!("the hypervisor took {} of the processor time", percent(*share)),
            Self::Unrepeatable { low_p99, high_p99 } => say!(
                "the same load was answered with a p99 of {low_p99} once and {high_p99} another time: the storage or its \
                 neighbours vary by more than the intervals"
            ),
            Self::OtherLoad { iops } => {
                say!("others used the device: {iops} IOPS beyond plimsoll's own", iops = Grouped(*iops))
            }
            Self::DirectRefused => label!("O_DIRECT was refused here, so I/O went through the page cache").into(),
            Self::HostCacheSuspected { median } => {
                say!("a virtual disk answered reads in {median} (median): a cache on its host is likely")
            }
            Self::Holes { allocated, size } => {
                say!("only {allocated} of the file's {size} were ever written: reading the rest reaches no device")
            }
            Self::DeviceNotReached { share } => say!(
                "{} of the bytes read never came from the device: served from a cache, or never written",
                share_text(*share)
            ),
            Self::Fault { what } => say!("the target failed: {what}"),
            Self::InMemory { target } => {
                say!("{target} keeps its data in memory: the figures describe that, not storage")
            }
            Self::NotStorageAlone { note } => say!("this is not the storage alone: {note}"),
            Self::Floor { round_trip, wait, beyond } => say!(
                "a server on this host adds {round_trip} to what it answers at once, and {beyond} to an answer that waits \
                 {wait} (medians without a model)"
            ),
            Self::TimeDilated { slow } => say!(
                "the volume's time runs {slow} times slower than the clock: times are {slow} times too long, and rates \
                 {slow} times too low"
            ),
            Self::ModelDoubted { what } => say!("the model: {what}"),
            Self::FiguresUnverified { count, product } => {
                say!("the model: {count} of its figures are unverified (plimsoll catalogue show {product})")
            }
            Self::ClockChanged { from, to } => say!("the clock source changed from {from} to {to}"),
            Self::FrequencyChanged { ratio } => {
                say!("processor frequency fell to {} of its highest", percent(*ratio))
            }
            Self::RingRefused { reason } => {
                say!("io_uring was refused ({reason}): threads with pread and pwrite were used")
            }
            Self::OfferedOtherwise { generator, how } => {
                say!("{generator} offers this load in its own way: {}", translate_differences(how))
            }
            Self::ReadOnly => label!("read-only: every write of the load became a read").into(),
            Self::Errors { count, errno } => {
                say!("{count} operations failed, most with errno {errno}", count = Grouped(*count as f64))
            }
            Self::NotSaturated { depth } => say!("not saturated: more was still answered at depth {depth}"),
            Self::TraceIncomplete { dropped, retained } => say!(
                "the recording lacks {dropped} operations (it has {retained}): the actual load of the volume was higher",
                dropped = Grouped(*dropped as f64),
                retained = Grouped(*retained as f64)
            ),
            Self::TraceDoubted { what } => say!("the trace: {what}"),
            Self::NotReplayed { count, what } => {
                say!("{count} operations of the recording were left out: {what}", count = Grouped(*count as f64))
            }
            _ => self.placement_text(),
        }
    }

    /// Sentences about the location of the target and its host's treatment of I/O.
    fn placement_text(&self) -> String {
        match self {
            Self::Throttled { file, disk, quantity, per_second } => {
                say!(
                    "a control group limits this process to {per_second} {quantity} on {disk} ({file})",
                    per_second = Grouped(*per_second as f64)
                )
            }
            Self::ProcessorLimited { file, processors, stopped } => {
                let unit = if (processors - 1.0).abs() < 1e-9 { "processor" } else { "processors" };
                let stopped = stopped
                    .map(|share| say!(", and stopped it for {:.0} % of the time", share * 100.0))
                    .unwrap_or_default();
                say!("a control group limits this process to {processors:.2} {unit} ({file}){stopped}")
            }
            Self::LoopCached { device, file } => {
                say!("{device} keeps its file {file} in the page cache: its direct I/O is memory's, not storage's")
            }
            Self::FlushLibrary { library } => say!(
                "{library} is preloaded: flushes of programs from this shell do not reach the storage; those measured here \
                 go past it"
            ),
            Self::FlushesDisabled { setting } => {
                say!("flushes do not reach the storage ({setting}): commits survive no power failure")
            }
            _ => self.line_text(),
        }
    }

    /// Sentences about databases.
    pub(super) fn database_text(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::PageCacheBelowDatabase { share } => say!(
                "the host's page cache answered {} of the blocks that the database asked for: to that extent its reads are \
                 not the storage's",
                percent(*share)
            ),
            Self::ClientBound { share } => say!(
                "plimsoll itself took {} of this host's processor time, which was not available to the database",
                percent(*share)
            ),
            Self::OtherWork { share } => say!(
                "other processes used {} of the host's processor time, and the load waited for a processor",
                percent(*share)
            ),
            Self::NotDurable { setting } if setting.is_empty() => {
                label!("commits were answered before they were on the storage, by a setting of the database").into()
            }
            Self::NotDurable { setting } => {
                say!("commits were answered before they were on the storage ({setting})")
            }
            Self::RowsDiffered { count } => say!(
                "{count} transactions brought other rows than those of their kind did before: they are not the same work",
                count = Grouped(*count as f64)
            ),
            Self::Conflicts { share, count } => say!(
                "{count} transactions, {:.1} % of all, were undone by the database because of others (deadlocks or \
                 serialization failures)",
                share * 100.0,
                count = Grouped(*count as f64)
            ),
            Self::Unobserved { what, why } => say!("{what} could not be observed: {why}"),
            // The others have their sentence in `text` and `course_text`.
            _ => String::new(),
        }
    }
}
