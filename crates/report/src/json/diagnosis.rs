//! Diagnoses of databases and hosts.

use std::sync::Arc;

use plimsoll_catalogue::Counts;
use plimsoll_choose::diagnosis as found;
use plimsoll_ingest::{Cap, EventTime, Outcome, Slot};
use plimsoll_units::Span;

use super::demand::{ClassName, InputSummary};
use super::{each, finite, view};
use crate::pages::measure_name;
use crate::words::diagnosis::{VerdictText, part, quantity, verdict_text};
use crate::words::limits;

fn begin(slot: &Slot) -> Option<String> {
    slot.begin.map(|begin| begin.to_string())
}

view! {
    /// Diagnoses of databases and hosts.
    struct Diagnoses from (outcomes, diagnoses): (&[Outcome], &[found::Diagnosis]) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.diagnosis/1"))]
        format: &'static str = "plimsoll.diagnosis/1",
        /// Inputs in the order of the arguments.
        inputs: Vec<InputSummary> = each(outcomes),
        /// Diagnosis of each database or host.
        subjects: Vec<Diagnosis> = each(diagnoses),
    }

    /// Diagnosis of a database or host.
    struct Diagnosis from diagnosis: &found::Diagnosis {
        /// Name; empty if unknown.
        name: String = diagnosis.name.clone(),
        /// Windows of the inputs.
        windows: Windows = (&diagnosis.windows).into(),
        /// Conclusions, the answer first.
        verdicts: Vec<Conclusion> = diagnosis.verdicts.iter().map(|verdict| (verdict, verdict_text(verdict)).into()).collect(),
        /// Reason why the measured rates are below the demand; null if there is none.
        censored: Option<CensoredRate> = view(diagnosis.censored.as_ref()),
        /// Limits of volumes and machines by their provider's metrics, whether reached or not.
        provider_limits: Vec<ProviderLimit> = each(&diagnosis.caps),
        /// Time of sessions by part; null if unknown.
        database_time: Option<DatabaseTime> = view(diagnosis.split.as_ref()),
        /// Waits for commits; null if there were none, or they are unknown.
        commits: Option<CommitWaits> = view(diagnosis.commits.as_ref()),
        /// Effect of storage that responds ten times as fast; null if unknown.
        storage_ten_times_as_fast: Option<Effect> = view(diagnosis.ten_times.as_ref()),
        /// Effect of storage without response time, the upper bound of any gain; null if unknown.
        storage_at_once: Option<Effect> = view(diagnosis.at_most.as_ref()),
        /// Effect of other sizes of the buffer cache, by size.
        buffer_cache: Vec<CacheStep> = each(&diagnosis.cache),
        /// Response of the storage to each class.
        answers: Vec<Response> = each(&diagnosis.responses),
        /// Load of the hosts' processors and devices; null if unknown.
        host: Option<HostLoad> = view(diagnosis.host.as_ref()),
        /// Rates that stay at a value in many windows.
        pinned: Vec<PinnedRate> = each(&diagnosis.pinned),
        /// Busiest hours, if they differ from the mean; otherwise null.
        busy_hours: Option<BusyHours> = view(diagnosis.busy.as_ref()),
        /// Windows over time; null unless several state the time of the database.
        history: Option<History> = view(diagnosis.history.as_ref()),
        /// Demand under the limits of the given configuration; null if none was given.
        on: Option<OnConfiguration> = view(diagnosis.on.as_ref()),
    }

    /// Load of the hosts' processors and devices: means over time.
    struct HostLoad from host: &found::HostEvidence {
        /// Busy share of the processors, 0 to 1.
        busy_share: f64 = host.busy,
        /// Number of processors; null if unknown.
        processors: Option<f64> = host.processors,
        /// Share of the processors' time that they were idle with I/O in flight, 0 to 1; null if unknown.
        io_wait_share: Option<f64> = host.io_wait,
        /// Share of time with I/O in flight on the busiest device, 0 to 1; null if unknown.
        devices_busy_share: Option<f64> = host.devices_busy,
        /// Operations in flight over all devices; null if unknown.
        in_flight: Option<f64> = host.in_flight,
    }

    /// A stall or a limit that hides a part of the demand.
    struct CensoredRate from censored: &found::Censored {
        /// Identifier of the reason; it never changes.
        #[schemars(extend("enum" = ["log-behind-locks", "limit-metric", "pinned-rate", "saturated", "closed-load", "closed-reads", "processor-cap"]))]
        id: &'static str = censored.id(),
        /// Estimated highest ratio of the rate without it to the measured rate; null if the input does not determine it.
        up_to_times: Option<f64> = censored.up_to,
        /// Owner of the limit that was reached most of the time: a faster volume does not raise the limit of a machine. Null
        /// unless the provider's metrics show the limit.
        #[schemars(extend("enum" = ["volume", "machine", "unknown", null]))]
        limit_owner: Option<&'static str> = censored.limit_owner().map(limits::owner_id),
    }

    /// A limit of a volume or machine by its provider's metric.
    struct ProviderLimit from cap: &Cap {
        /// Service that measures it, such as `EBS`.
        provider: &'static str = cap.limit.provider,
        /// Name of the metric in the input.
        metric: String = cap.metric.clone(),
        /// Volume or machine; empty if the input does not name it.
        part: String = cap.part.clone(),
        /// Owner of the limit.
        #[schemars(extend("enum" = ["volume", "machine", "unknown"]))]
        owner: &'static str = limits::owner_id(cap.limit.owner),
        /// Limited quantity.
        #[schemars(extend("enum" = ["iops", "throughput", "unknown"]))]
        quantity: &'static str = limits::kind_id(cap.limit.kind),
        /// How the limit is reported: demand above it, share in use, used-up burst credits, or operations that do not
        /// complete.
        #[schemars(extend("enum" = ["exceeded", "share", "credits", "stalled"]))]
        basis: &'static str = limits::basis_id(cap.limit.basis),
        /// Windows in which it was reached.
        windows_at_limit: usize = cap.points,
        /// Number of all windows of the metric.
        windows: usize = cap.of,
        /// Seconds of each window; null if they differ or are unknown.
        window_seconds: Option<f64> = cap.each.map(Span::as_secs_f64),
        /// Seconds above the limit; null unless the provider counts time.
        seconds_at_limit: Option<f64> = cap.time.map(|[above, _]| above.as_secs_f64()),
        /// Seconds of all windows; null unless the provider counts time.
        seconds: Option<f64> = cap.time.map(|[_, all]| all.as_secs_f64()),
        /// The same as a sentence.
        text: String = limits::sentence(cap),
    }

    /// Windows of the inputs.
    struct Windows from windows: &found::Windows {
        /// Number of windows.
        count: usize = windows.count,
        /// Seconds of all windows.
        seconds: f64 = windows.seconds,
        /// Seconds of the longest window; its mean hides shorter peaks.
        longest_seconds: f64 = windows.longest_s,
        /// Begin of the first window; null if unknown.
        begin: Option<String> = windows.first.as_ref().and_then(begin),
    }

    /// The busiest hours.
    struct BusyHours from busy: &found::BusyHours {
        /// `ADDM` for a period inside a window, by the database's own analysis; `windows` for the busiest windows.
        #[schemars(extend("enum" = ["ADDM", "windows"]))]
        source: &'static str = match busy.basis {
            found::BusyBasis::Analysis { .. } => "ADDM",
            found::BusyBasis::Windows { .. } => "windows",
        },
        /// Mean active sessions over all windows.
        mean_active_sessions: f64 = busy.mean,
        /// Active sessions in the busiest window or period.
        highest_active_sessions: f64 = busy.highest,
        /// The finding of ADDM with most of these sessions; null if unknown.
        finding: Option<String> = busy.finding.as_ref().map(|(name, _)| name.to_string()),
        /// Its share of them, which may exceed 1; null if unknown.
        finding_share: Option<f64> = busy.finding.as_ref().map(|(_, share)| *share),
        /// Its begin; null if unknown.
        begin: Option<String> = busy.begin.map(|begin| begin.to_string()),
        /// Its length in seconds.
        seconds: f64 = busy.length_s,
    }

    /// A conclusion.
    struct Conclusion from (verdict, text): (&found::DiagnosisVerdict, VerdictText) {
        /// Identifier; it never changes.
        verdict: &'static str = verdict.id(),
        /// Kind.
        #[schemars(extend("enum" = ["answer", "cause", "storage", "limit", "memory", "note"]))]
        kind: &'static str = text.kind,
        /// A sentence or two with the evidence.
        text: String = text.text,
        /// Remedy; empty if there is none.
        r#do: String = text.remedy,
    }

    /// Windows over time.
    struct History from history: &found::History {
        /// Windows in order of time.
        windows: Vec<WindowTime> = each(&history.windows),
        /// Quantities far above their median in a window: sessions first, the most of them before others.
        unusual: Vec<Unusual> = each(&history.unusual),
        /// Correlation of waits with the load, strongest first.
        waits_with_load: Vec<WaitWithLoad> = each(&history.with_load),
        /// Later windows compared with earlier windows; null if there are too few.
        change: Option<Change> = view(history.change.as_ref()),
    }

    /// A window of the database's time.
    struct WindowTime from window: &found::WindowTime {
        /// Begin; null if unknown.
        begin: Option<String> = begin(&window.slot),
        /// Length in seconds.
        seconds: f64 = window.slot.length.as_secs_f64(),
        /// Mean number of active sessions.
        active_sessions: f64 = window.active,
        /// Share of the time spent on storage, 0 to 1.
        storage_share: f64 = window.storage,
        /// Part with the largest share.
        longest_part: &'static str = part(window.main),
        /// Share of that part, 0 to 1.
        longest_part_share: f64 = window.main_share,
        /// Event with the longest waits; null if unknown.
        longest_wait: Option<Arc<str>> = window.event.clone(),
    }

    /// An unusual value.
    struct Unusual from unusual: &found::Unusual {
        /// Begin of the window; null if unknown.
        begin: Option<String> = begin(&unusual.slot),
        /// Quantity with its unit.
        quantity: String = quantity(&unusual.quantity),
        /// Value in the window.
        value: f64 = unusual.value,
        /// Median of all windows.
        median: f64 = unusual.median,
        /// Distance from the median in scaled median absolute deviations.
        modified_z_score: Option<f64> = finite(unusual.score),
    }

    /// Correlation of a wait with the load.
    struct WaitWithLoad from wait: &found::LoadCorrelation {
        /// Event.
        event: Arc<str> = Arc::clone(&wait.event),
        /// Share of the database's time, 0 to 1.
        share: f64 = wait.share,
        /// Load: commits, or the rate of all operations.
        load: String = quantity(&wait.load),
        /// Rank correlation of waiting sessions and load, -1 to 1.
        rank_correlation: f64 = wait.correlation,
    }

    /// Later windows compared with earlier windows.
    struct Change from change: &found::PeriodChange {
        /// Begin of the later period; null if unknown.
        from: Option<String> = begin(&change.from),
        /// Number of windows of the earlier period.
        windows_before: usize = change.windows[0],
        /// Number of windows of the later period.
        windows_after: usize = change.windows[1],
        /// Means of quantities in both periods: active sessions first, then by the size of the change.
        quantities: Vec<ChangedQuantity> = each(&change.quantities),
    }

    /// Means of a quantity in both periods.
    struct ChangedQuantity from changed: &found::Changed {
        /// Quantity with its unit.
        quantity: String = quantity(&changed.quantity),
        /// Mean of the earlier period.
        before: f64 = changed.before,
        /// Mean of the later period.
        after: f64 = changed.after,
    }

    /// Place of a number.
    struct Origin from place: &plimsoll_ingest::InputPosition {
        /// Name of the input.
        input: Arc<str> = Arc::clone(&place.input),
        /// Place in the input.
        place: String = place.origin.to_string(),
    }

    /// Time of a database's sessions by part.
    struct DatabaseTime from split: &found::Split {
        /// Seconds of sessions, working or waiting.
        database_seconds: f64 = split.database_s,
        /// Mean number of active sessions.
        active_sessions: f64 = split.active,
        /// Processors of the hosts; null if unknown.
        processors: Option<f64> = split.processors,
        /// Busy share of the processors, 0 to 1; null if unknown.
        host_busy_share: Option<f64> = split.host_busy,
        /// Share of the processors' time that they were idle with I/O in flight, 0 to 1; null if unknown.
        host_io_wait_share: Option<f64> = split.host.io_wait,
        /// Mean number of runnable processes that waited for a processor; null if unknown.
        host_waiting_processes: Option<f64> = split.host.processes,
        /// Bytes per second that a host paged in for virtual memory; null if unknown.
        host_paged_in_bytes_per_second: Option<f64> = split.host.paged_bytes_s.map(|[paged_in, _]| paged_in),
        /// Bytes per second that a host paged out for virtual memory; null if unknown.
        host_paged_out_bytes_per_second: Option<f64> = split.host.paged_bytes_s.map(|[_, paged_out]| paged_out),
        /// Place of the hosts' processor time; null if unknown.
        host_from: Option<Origin> = view(split.host.place.as_ref()),
        /// Share of the time in hard parses with their waits, 0 to 1, which is a part of other parts; null if unknown.
        hard_parses_share: Option<f64> = split.hard_parses.map(|(share, _)| share),
        /// Hard parses per second; null if unknown.
        hard_parses_per_second: Option<f64> = split.hard_parses.and_then(|(_, rate)| rate),
        /// Place of the database's time.
        from: Origin = (&split.place).into(),
        /// Parts, largest first.
        parts: Vec<Slice> = each(&split.slices),
    }

    /// A part of the database's time.
    struct Slice from slice: &found::Slice {
        /// Part.
        part: &'static str = part(slice.part),
        /// True if it is spent on storage.
        storage: bool = slice.part.is_storage(),
        /// Seconds.
        seconds: f64 = slice.seconds,
        /// Share of the database's time, 0 to 1.
        share: f64 = slice.share,
        /// Events of the part, longest first.
        events: Vec<EventWaits> = each(&slice.events),
    }

    /// Waits for an event.
    struct EventWaits from event: &EventTime {
        /// Name in the database.
        event: Arc<str> = Arc::clone(&event.event),
        /// Number of waits.
        waits: f64 = event.count,
        /// Seconds of all waits.
        seconds: f64 = event.total_s,
        /// Mean seconds of a wait; null without waits.
        mean_seconds: Option<f64> = event.mean_s().and_then(finite),
        /// Number of waits by duration; empty if unknown.
        histogram: Vec<Bucket> = each(&event.histogram),
        /// Place of the number.
        from: Origin = (&event.place).into(),
    }

    /// Waits of similar duration.
    struct Bucket from (bound, waits): &(f64, f64) {
        /// Upper bound in seconds; null if unbounded.
        up_to_seconds: Option<f64> = finite(*bound),
        /// Number of waits.
        waits: f64 = *waits,
    }

    /// Waits for commits.
    struct CommitWaits from commits: &found::Commits {
        /// Seconds of all waits for commits.
        seconds: f64 = commits.total_s,
        /// Mean seconds of a wait.
        mean_seconds: f64 = commits.sync_s,
        /// Mean seconds of a write of the log; null if unknown.
        log_write_mean_seconds: Option<f64> = commits.write_s,
        /// Share of the wait that is the write of the log, 0 to 1.
        log_write_share: f64 = commits.write_share,
        /// Commits per second; null if unknown.
        commits_per_second: Option<f64> = commits.a_second,
    }

    /// Effect of other storage on the database's time.
    struct Effect from effect: &found::DatabaseEffect {
        /// Seconds of the database's time at present.
        seconds_before: f64 = effect.before_s,
        /// Seconds afterwards.
        seconds_after: f64 = effect.after_s,
        /// Saved share of the time, 0 to 1.
        saved_share: Option<f64> = finite(effect.saved()),
        /// Parts that change.
        parts: Vec<EffectOnClass> = each(&effect.parts),
        /// Classes that are assumed not to change.
        unchanged: Vec<ClassName> = effect.retained.iter().map(|(class, _)| (*class).into()).collect(),
        /// Seconds of each of these classes.
        unchanged_seconds: Vec<f64> = effect.retained.iter().map(|(_, seconds)| *seconds).collect(),
        /// Seconds of all other time, which does not change. With the parts and the classes that do not change, it is the
        /// database's time.
        other_seconds: f64 = effect.other_s(),
        /// Filtering of scans by the present storage, which the processors of the database do with other storage.
        #[schemars(extend("enum" = ["none", "uncounted", "counted"]))]
        filtering: &'static str = match effect.filter {
            found::FilterWork::None => "none",
            found::FilterWork::Unknown => "uncounted",
            found::FilterWork::Seconds(_) => "counted",
        },
        /// Seconds that it adds to `seconds_after`, the least and the most; null unless it is counted.
        filtering_seconds: Option<[f64; 2]> = match effect.filter {
            found::FilterWork::Seconds(seconds) => Some(seconds),
            found::FilterWork::None | found::FilterWork::Unknown => None,
        },
    }

    /// Effect on a class of operations.
    struct EffectOnClass from effect: &found::PartEffect {
        /// Class of the operations.
        class: ClassName = effect.class.into(),
        /// Seconds at present.
        seconds_before: f64 = effect.before_s,
        /// Seconds afterwards.
        seconds_after: f64 = effect.after_s,
        /// Mean seconds of an operation at present; null if unknown.
        operation_seconds: Option<f64> = effect.operation_s,
        /// Mean seconds of an operation at present and afterwards, of which the change is the ratio; null for another rule,
        /// and if the latency afterwards is not simulated.
        latency_seconds: Option<[f64; 2]> = effect.latencies_s,
        /// Derivation of the change: by the latency of the class, or like the reads with a known latency.
        #[schemars(extend("enum" = ["latency", "like-reads", "uncounted-reads"]))]
        rule: &'static str = match effect.rule {
            found::EffectRule::Latency => "latency",
            found::EffectRule::LikeReads => "like-reads",
            found::EffectRule::UncountedReads => "uncounted-reads",
        },
    }

    /// Effect of another size of the buffer cache.
    struct CacheStep from step: &found::CacheStep {
        /// Size relative to the present size.
        factor: f64 = step.factor,
        /// Size in bytes of all instances together.
        bytes: f64 = step.bytes,
        /// Reads relative to the present reads.
        reads_share: f64 = step.reads,
        /// Saved seconds of waits; negative if there are more.
        saved_seconds: f64 = step.saved_s,
        /// Saved share of the database's time.
        saved_share: f64 = step.saved,
    }

    /// Response of the storage to a class of operations.
    struct Response from response: &found::Response {
        /// Class of the operations.
        class: ClassName = response.class.into(),
        /// Mean operations per second.
        iops: f64 = response.iops,
        /// Mean latency in seconds.
        latency_seconds: f64 = response.latency_s,
        /// Mean operations in flight.
        in_flight: f64 = response.in_flight,
        /// Share of time with operations in flight, 0 to 1; null if unknown.
        busy_share: Option<f64> = response.busy,
        /// Mean bytes of an operation; null if unknown.
        bytes: Option<f64> = response.bytes,
        /// Latency in seconds in the half of the time with the lowest rates; null with fewer than six windows.
        quiet_seconds: Option<f64> = response.quiet_s,
        /// Latency in seconds in the tenth of the windows with the highest rates; null with fewer than six windows.
        busiest_seconds: Option<f64> = response.loaded_s,
        /// Rank correlation of latency and rate, -1 to 1; null with fewer than eight windows.
        rank_correlation: Option<f64> = response.correlation,
        /// Operations per second from which latency is at least twice the quiet latency; null if there is no such rate.
        knee_iops: Option<f64> = response.knee_iops,
        /// Operations per second and latency in seconds of each window.
        iops_and_latency_seconds: Vec<(f64, f64)> =
            response.points.iter().map(|point| (point.iops, point.latency_s)).collect(),
    }

    /// A rate that stays at a value in many windows.
    struct PinnedRate from pinned: &found::Pinned {
        /// Class of the operations.
        class: ClassName = pinned.class.into(),
        /// Quantity: `iops` or `throughput`.
        measure: &'static str = measure_name(pinned.measure),
        /// Value in operations or bytes per second.
        value: f64 = pinned.value,
        /// Number of windows within 3 % below the value.
        windows: usize = pinned.windows,
        /// Number of all windows.
        of_windows: usize = pinned.of,
    }

    /// Demand under the limits of a configuration.
    struct OnConfiguration from on: &found::OfferUse {
        /// Configuration.
        configuration: String = on.config.clone(),
        /// Number of windows.
        windows: usize = on.windows,
        /// Limits, the most used first.
        ceilings: Vec<CeilingUse> = each(&on.ceilings),
    }

    /// Use of a limit.
    struct CeilingUse from ceiling: &found::CeilingUse {
        /// Name of the limit.
        name: Arc<str> = Arc::clone(&ceiling.name),
        /// Unit of the limit and its demand.
        #[schemars(extend("enum" = ["iops", "bytes_per_second"]))]
        unit: &'static str = if ceiling.counts == Counts::Bytes { "bytes_per_second" } else { "iops" },
        /// Allowed rate.
        allows: f64 = ceiling.allows,
        /// Rate of the busiest window.
        asked: f64 = ceiling.demand,
        /// Used share of the limit in the busiest window; 1 at the limit.
        highest_share: f64 = ceiling.highest,
        /// Mean used share of the limit.
        mean_share: f64 = ceiling.mean,
        /// Number of windows at or above 95 % of the limit.
        windows_at_it: usize = ceiling.near,
        /// Begin of the busiest window; null if unknown.
        busiest_begins: Option<String> = begin(&ceiling.slot),
    }
}
