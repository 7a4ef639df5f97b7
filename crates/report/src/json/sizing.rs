//! A demand, the configurations that carry it, and those that do not.

use std::sync::Arc;

use plimsoll_catalogue::{Cite, Money, Peak};
use plimsoll_choose::diagnosis::DatabaseEffect;
use plimsoll_choose::sizing as sized;
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::Class;
use plimsoll_units::{Bytes, Span};

use super::demand::ClassName;
use super::diagnosis::Effect;
use super::{each, finite, offer, view, what_if};
use crate::words::limits;
use crate::words::sizing as words;

view! {
    /// A demand, the configurations that carry it, and those that do not.
    struct SizingResult from (sizing, what_ifs): (&sized::Sizing, &WhatIfs) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.sizing/1"))]
        format: &'static str = "plimsoll.sizing/1",
        /// The demand.
        wanted: Wanted = (&sizing.required).into(),
        /// Number of configurations whose limits or price were computed.
        looked_at: u64 = sizing.evaluated,
        /// Configurations that carry the demand and meet the objectives: cheapest first, those without a price last.
        choices: Vec<Choice> = each(&sizing.choices),
        /// Priced configurations, cheapest first; each has fewer waiting sessions than every cheaper one.
        frontier: Vec<FrontierPoint> =
            sizing.frontier.iter().map(|choice| (&sizing.required.points[0], choice).into()).collect(),
        /// The same for each provider with priced configurations, by its cheapest.
        providers: Vec<ProviderFrontier> =
            sizing.providers.iter().map(|one| (&sizing.required.points[0], one).into()).collect(),
        /// Layouts that separate redo and temporary data.
        layouts: Vec<Layout> = sizing.layouts.iter().map(|layout| (&sizing.required, layout).into()).collect(),
        /// Configurations that carry the demand and meet the objectives, but are slower than the present storage.
        slower: Vec<Choice> = each(&sizing.slower),
        /// Configurations that carry the demand and miss an objective, as simulated; cheapest first.
        nearly: Vec<Choice> = each(&sizing.nearly),
        /// Products that do not carry the demand in any configuration, the nearest miss first.
        rejected: Vec<RejectedConfiguration> = each(&sizing.rejected),
        /// For Oracle Database: machine for the recommended configuration with fewer processors to license; null if there is
        /// none.
        fewer_processors: Option<Machine> = view(sizing.fewer_processors.as_ref()),
        /// Machine for the recommended configuration with the processors that peaks or whole cores of the present host may need;
        /// null if the recommended one has them.
        more_processors: Option<Machine> = view(sizing.more_processors.as_ref()),
        /// Configuration of the recommended product with less headroom that costs at least a tenth less; null if there is none.
        less_headroom: Option<LessHeadroom> = view(sizing.less_headroom.as_ref()),
        /// Sizing without the limit of the resource manager on processors; null if there is none, or the sizing is without it.
        uncapped: Option<OtherLoad> = view(sizing.uncapped.as_ref()),
        /// Sizing without the peaks that are assumed inside long windows; null if there are none.
        constant_load: Option<OtherLoad> = view(sizing.constant_load.as_ref()),
        /// Wider stripe of the recommended product that costs at least a tenth less; null if there is none.
        wider_stripe: Option<Choice> = view(sizing.wider.as_ref()),
        /// Share of the database's time that is saved if sessions never pause, when they reach the first limit of the
        /// recommended configuration; null if that is not less than for the same work, or unknown.
        saved_without_pauses_share: Option<f64> = sizing.speed_limit().map(|limit| limit.saved),
        /// Load without a few windows of large reads, of a scan or a backup, that determine it; null if there are none.
        without_scans: Option<WithoutScans> = view(sizing.without_scans.as_ref()),
        /// What the recommended configuration assumes of the memory of an array; null if nothing.
        hit_assumption: Option<HitAssumption> = view(sizing.hits.as_ref()),
        /// The cost of today's configuration, and the difference; null if it was not stated.
        today_cost: Option<TodayCost> = sizing.present.as_ref().map(|present| (sizing, present).into()),
        /// Results of the requested what-ifs.
        what_ifs: what_if::WhatIfResults = what_ifs.into(),
    }

    /// A configuration with less headroom.
    struct LessHeadroom from less: &sized::LessHeadroom {
        /// Its headroom above the expected load: 0.19 for 19 %.
        headroom: f64 = less.headroom,
        /// The configuration.
        choice: Choice = (&less.choice).into(),
    }

    /// A sizing of the recommended product for another load.
    struct OtherLoad from other: &sized::OtherLoad {
        /// Expected load: in the windows with the most operations, and with the most bytes if these differ.
        points: Vec<DesignPoint> = each(&other.required.points),
        /// Processors of a machine.
        processors: f64 = other.required.compute.required().0,
        /// Recommended product for it; null if it does not carry the load.
        choice: Option<Choice> = view(other.choice.as_ref()),
    }

    /// The share of reads that the memory of an array answers.
    struct HitAssumption from hits: &sized::HitAssumption {
        /// Assumed share, 0 to 1.
        share: f64 = hits.share,
        /// Mean response time of reads with it; null without reads.
        mean_ns: Option<Span> = hits.mean,
        /// Mean response time of reads without hits; null if the configuration does not carry the load then.
        mean_without_hits_ns: Option<Span> = hits.mean_without(),
        /// True if the configuration is suitable without hits.
        is_suitable_without_hits: bool = hits.is_suitable,
    }

    /// A load without a few windows of large reads.
    struct WithoutScans from without: &sized::WithoutScans {
        /// Number of these windows.
        windows: usize = without.scans.windows,
        /// Bytes per second of the highest of them.
        bytes_per_second: f64 = without.scans.bytes_per_second,
        /// Begin of the highest of them; null if the input has no times.
        begin: Option<String> = without.scans.highest.begin.map(|begin| begin.to_string()),
        /// Bytes per second of the highest of them as a multiple of the median window.
        times_median: f64 = without.scans.times,
        /// Share of large reads in their bytes, 0 to 1.
        large_reads_share: f64 = without.scans.large_reads,
        /// Statement that read the most bytes in them; null if the input names none.
        statement: Option<String> = without.scans.reader.as_ref().map(|(reader, _)| reader.statement.clone()),
        /// Program that ran it; empty if it did not register, null without a statement.
        module: Option<String> = without.scans.reader.as_ref().map(|(reader, _)| reader.module.clone()),
        /// Share of the statement in the bytes of these windows, 0 to 1; null without a statement.
        statement_share: Option<f64> = without.scans.reader.as_ref().map(|(_, share)| *share),
        /// Expected load without them.
        point: DesignPoint = (&without.point).into(),
        /// Cheapest configuration of the recommended product for it; null if there is none.
        choice: Option<Choice> = view(without.choice.as_ref()),
    }

    /// The cost of today's configuration.
    struct TodayCost from (sizing, present): (&sized::Sizing, &sized::PresentCost) {
        /// The configurations.
        configurations: Vec<String> = present.parts.iter().map(|(offer, _)| offer.short().to_string()).collect(),
        /// Cost of a month; null if a price is unknown.
        monthly: Option<Money> = present.monthly(),
        /// True if it includes machines; otherwise storage is compared.
        with_machine: bool = present.has_machine(),
        /// Cost of a month of the recommended configuration, comparable with it; null if a price is unknown.
        recommended_monthly: Option<Money> = sizing.comparable(present),
        /// Today's cost of a month minus that of the recommended configuration; null if unknown.
        saving_monthly: Option<Money> = sizing.saving(),
    }

    /// A demand as a design point.
    struct Wanted from required: &sized::SizingRequirements {
        /// Name of the database or host.
        subject: String = required.subject.clone(),
        /// Measured load, before the steps.
        measured: Measured = (&required.measured).into(),
        /// Whether storage is the bottleneck; null if the input does not state waits.
        answer: Option<Answer> = words::answer(required).zip(required.answer.as_ref()).map(Into::into),
        /// Reason why the measured load is below the demand; null if there is none.
        censored: Option<CensoredLoad> = required.censored.as_ref().map(|censored| (required, censored).into()),
        /// Mean response times of the present storage; empty if unknown.
        today: Vec<ClassMean> = each(&required.today),
        /// True if choices may be slower than the present storage.
        may_be_slower: bool = required.may_be_slower,
        /// Share of the database's time that a choice may add.
        may_add_time_share: f64 = required.tolerance,
        /// Share of operations and bytes that may wait longer than the allowed time, 0 to 1.
        may_wait: f64 = required.allowance.share,
        /// Allowed time in nanoseconds.
        may_wait_longer_than_ns: Span = required.allowance.wait,
        /// Steps from the measured to the expected load, in order.
        steps: Vec<Step> = each(&required.steps),
        /// Expected load: in the windows with the most operations, and with the most bytes if these differ.
        points: Vec<DesignPoint> = each(&required.points),
        /// Required margin of limits above the expected load: 0.2 for 20 %.
        headroom: f64 = required.headroom,
        /// Mean operations per second of all windows, grown.
        mean_iops: f64 = required.mean_iops,
        /// Required bytes of the volumes: data, grown, and free space.
        capacity_bytes: Bytes = required.capacity,
        /// Share of the volumes that stays free, 0 to 1.
        free_share: f64 = required.free,
        /// Objectives of the response time.
        objectives: Vec<ObjectiveText> = each(&required.objectives),
        /// Oracle RAC; null if the input does not show it.
        cluster: Option<Cluster> = view(required.platform.cluster.as_ref()),
        /// Oracle Exadata; null if the input does not show it.
        exadata: Option<Exadata> = view(required.platform.exadata.as_ref()),
        /// Processors (vCPUs) that a machine needs; null if neither the input nor the caller states them.
        machine_vcpus: Option<f64> = required.compute.processors,
        /// Bytes of memory that a machine needs; null if neither the input nor the caller states them.
        machine_memory_bytes: Option<Bytes> = required.compute.memory,
        /// Where the processors and the memory come from, in sentences.
        machine_origin: Vec<String> = words::compute_origin(required),
        /// Release of Oracle Database; null for other databases and if unknown.
        oracle_release: Option<String> = required.platform.oracle_release.clone(),
        /// Assumptions about facts that the input does not state.
        assumptions: Vec<String> = required.assumptions.iter().map(words::assumption).collect(),
    }

    /// Measured load.
    struct Measured from measured: &sized::Measured {
        /// Share of the time in which the load is not exceeded, 0 to 1; null unless a percentile was requested.
        quantile: Option<f64> = measured.quantile,
        /// Number of windows with operations.
        windows: usize = measured.windows,
        /// Length of the longest window in nanoseconds; its mean hides shorter peaks.
        longest_window_ns: Span = measured.longest,
        /// Operations per second at the percentile, or the lowest limit with allowed waits.
        iops: f64 = measured.iops,
        /// The same in bytes per second.
        bytes_per_second: f64 = measured.bytes_per_second,
        /// Operations per second of the window with the most operations.
        highest_iops: f64 = measured.highest_iops,
        /// Bytes per second of the window with the most bytes.
        highest_bytes_per_second: f64 = measured.highest_bytes_per_second,
    }

    /// Whether storage is the bottleneck.
    struct Answer from (text, verdict): (String, &plimsoll_choose::diagnosis::DiagnosisVerdict) {
        /// Identifier; it never changes.
        id: &'static str = verdict.id(),
        /// The answer in a sentence.
        text: String = text,
    }

    /// A stall or a limit that hides a part of the demand.
    struct CensoredLoad from (required, censored): (&sized::SizingRequirements, &plimsoll_choose::diagnosis::Censored) {
        /// Identifier of the reason; it never changes.
        #[schemars(extend("enum" = ["log-behind-locks", "limit-metric", "pinned-rate", "saturated", "closed-load", "closed-reads", "processor-cap"]))]
        id: &'static str = censored.id(),
        /// The reason and the covered range in a sentence.
        text: Option<String> = words::explain_censoring(required),
        /// Estimated highest ratio of the rate without it to the measured rate; null if the input does not determine it.
        up_to_times: Option<f64> = censored.up_to,
        /// True if a limit held the load in all windows: the need is at least the measured rate, and no figure bounds it.
        is_lower_bound: bool = censored.is_lower_bound(),
        /// Owner of the limit that was reached most of the time: a faster volume does not raise the limit of a machine. Null
        /// unless the provider's metrics show the limit.
        #[schemars(extend("enum" = ["volume", "machine", "unknown", null]))]
        limit_owner: Option<&'static str> = censored.limit_owner().map(limits::owner_id),
        /// Operations per second with the measured rate, with peaks and growth.
        least_iops: Option<f64> = words::expected_range(required).map(|[least, _]| least),
        /// The same with the estimated or assumed rate: the expected load.
        most_iops: Option<f64> = words::expected_range(required).map(|[_, max]| max),
    }

    /// Mean response time of a class.
    struct ClassMean from (class, mean): &(Class, Span) {
        /// Class of the operations.
        class: ClassName = (*class).into(),
        /// Mean response time in nanoseconds.
        mean_ns: Span = *mean,
    }

    /// An objective of the response time.
    struct ObjectiveText from one: &sized::ClassObjective {
        /// Objective, such as `redo p99 <= 1 ms`.
        text: String = one.to_string(),
        /// Limit in nanoseconds.
        limit_ns: Span = one.objective.limit,
    }

    /// Oracle RAC.
    struct Cluster from cluster: &sized::Cluster {
        /// Instances in the input; empty if a report covers the whole cluster.
        instances: Vec<String> = cluster.instances.clone(),
        /// Number of instances whose load the input contains.
        covered: u32 = cluster.covered,
        /// Number of instances of the database, each with a machine.
        count: u32 = cluster.count,
        /// Share of the database's time in waits for other instances, 0 to 1.
        waits_share: f64 = cluster.waits,
        /// Part of the operations that each machine carries, 0 to 1: that of the busiest instance.
        machine_operations_share: f64 = cluster.share.parts[0],
        /// The same for bytes.
        machine_bytes_share: f64 = cluster.share.parts[1],
        /// Instance with the largest part of the bytes; null if the input does not name it.
        busiest: Option<String> = match &cluster.share.origin {
            sized::ShareOrigin::Busiest(name) => Some(name.clone()),
            _ => None,
        },
    }

    /// Oracle Exadata.
    struct Exadata from exadata: &sized::Exadata {
        /// Share of the time of reads in smart scans, 0 to 1.
        smart_scans_share: f64 = exadata.smart_scans,
        /// Share of the reads that flash or memory answered, 0 to 1: of all requests by the counter `physical read requests
        /// optimized`, otherwise of single-block reads by the names of their events; null if the reports have neither.
        flash_share: Option<f64> = exadata.flash,
        /// Mean bytes per second of scans that the cells filter; null if the reports do not count them.
        filtered_bytes_per_second: Option<f64> = exadata.filtered_bytes_s,
    }

    /// A step from the measured to the expected load.
    struct Step from step: &sized::GrowthStep {
        /// Description in a few words.
        what: String = words::step_name(step.kind).to_owned(),
        /// Factor of classes of small operations.
        small_operations: f64 = step.small,
        /// Factor of classes of large operations, 64 KiB and more in the mean.
        large_operations: f64 = step.large,
        /// Factor of scans, sorts, archiving and backups.
        scans: f64 = step.scans,
        /// Lowest factor of other measurements; null if it does not come from there.
        measured_from: Option<f64> = step.spread.map(|(low, _)| low),
        /// Highest factor of other measurements; null if it does not come from there.
        measured_to: Option<f64> = step.spread.map(|(_, high)| high),
        /// Reason in a sentence.
        why: String = words::step_source(step.kind),
    }

    /// Expected load in the busiest windows.
    struct DesignPoint from point: &sized::DesignPoint {
        /// Quantity that is highest in these windows.
        #[schemars(extend("enum" = ["operations", "bytes"]))]
        busiest: &'static str = busiest(point.of),
        /// Number of windows that the mix was taken from.
        windows: usize = point.windows,
        /// Operations per second.
        iops: f64 = point.iops(),
        /// Bytes per second.
        bytes_per_second: f64 = point.bytes_per_second(),
        /// Load of each class, the most operations first.
        classes: Vec<ClassLoad> = each(&point.classes),
    }

    /// Load of a class of operations.
    struct ClassLoad from load: &sized::ClassLoad {
        /// Class of the operations.
        class: ClassName = load.class.into(),
        /// Operations per second.
        iops: f64 = load.iops,
        /// Bytes per second.
        bytes_per_second: f64 = load.bytes_per_second,
        /// Share of reads, 0 to 1.
        reads_share: f64 = load.reads,
        /// True for consecutive addresses.
        sequential: bool = load.sequential,
        /// True if writes complete when their data are durable.
        durable: bool = load.durable,
    }

    /// A configuration that carries the demand.
    struct Choice from choice: &sized::Choice {
        #[serde(flatten)]
        offer: offer::OfferView = (&choice.offer).into(),
        /// Command that quotes the configuration.
        command: String = format!("plimsoll quote '{}'", choice.offer.short()),
        /// List price; null if there is none.
        price: Option<offer::PriceView> = view(choice.price.as_ref()),
        /// First limit that the load reaches; null if no limit is known.
        binds: Option<SizingLimit> = view(choice.binds.as_ref()),
        /// Limit that the load reaches next; null if there is none.
        next: Option<SizingLimit> = view(choice.next.as_ref()),
        /// Simulated response time of each class at the expected load; empty without a model.
        simulated_latency: Vec<ClassLatency> = each(&choice.latency),
        /// The same at the mean load of the input, for comparison with the present storage; empty without a model.
        simulated_latency_at_mean_load: Vec<ClassLatency> = each(&choice.usual),
        /// Classes that are slower than on the present storage, by a fifth or more.
        slower: Vec<SlowerClass> = each(&choice.slower),
        /// Saved share of the database's time at the mean load of the input, negative if it takes longer; the least if its
        /// processors filter the scans of storage cells; null if unknown.
        saved_time_share: Option<f64> = choice.effect.as_ref().and_then(DatabaseEffect::least_saved),
        /// The database's time today and with the choice, by class of waits; null if unknown.
        database_time: Option<Effect> = view(choice.effect.as_ref()),
        /// Backlog of the series at its limits; null if a percentile was requested.
        replayed: Option<Backlog> = view(choice.backlog.as_ref()),
        /// Simulated response times of the objectives.
        simulated_objectives: Vec<ReachedObjective> = each(&choice.reached),
        /// Higher rate while credits last, which sizing does not use; null if there is none.
        burst: Option<BurstOfChoice> = view(choice.peak.as_ref()),
        /// Cheapest sufficient machine of the provider; null if none is known, or the configuration has a machine.
        machine: Option<Machine> = view(choice.machine.as_ref()),
        /// Cost of a month with the machine; null if a price is unknown.
        total_monthly: Option<Money> = choice.total(),
        /// Probability of losing the data in a year, 0 to 1; null if the vendor states none.
        yearly_loss_share: Option<f64> = choice.yearly_loss,
        /// Doubts.
        risks: Vec<Risk> = each(&choice.risks),
    }

    /// Simulated response time of a class.
    struct ClassLatency from one: &sized::ClassLatency {
        /// Class of the operations.
        class: ClassName = one.class.into(),
        /// Mean in nanoseconds.
        mean_ns: Span = one.mean,
        /// 99th percentile in nanoseconds; null if too few operations were simulated.
        p99_ns: Option<Span> = one.p99,
    }

    /// A doubt about a choice.
    struct Risk from risk: &sized::Risk {
        /// Subject of the doubt.
        #[schemars(extend("enum" = ["ceiling", "latency", "price", "needs", "safety"]))]
        sort: &'static str = words::risk(risk.kind),
        /// The doubt in a sentence.
        text: String = words::risk_text(&risk.detail),
        /// Source of the figure in question; null if there is none.
        source: Option<Arc<Cite>> = risk.cite.clone(),
    }

    /// A higher rate while credits last.
    struct BurstOfChoice from peak: &Peak {
        /// Operations per second.
        iops: f64 = peak.bound.iops,
        /// Duration in seconds, from full credits.
        lasts_s: f64 = peak.seconds,
    }

    /// Simulated response time of an objective.
    struct ReachedObjective from reached: &sized::Reached {
        /// Objective.
        objective: String = reached.objective.to_string(),
        /// Response time in nanoseconds by its measure.
        ns: Span = reached.time,
        /// True if the objective is met.
        met: bool = reached.is_met(),
    }

    /// A machine for a choice.
    struct Machine from machine: &sized::Attachment {
        /// Name with its options.
        name: Option<String> = machine.offer.short().machine.map(|machine| machine.to_string()),
        /// Number of machines: one for each instance of a cluster.
        count: u32 = machine.count,
        /// Processors (vCPUs) of all machines; null if unknown.
        vcpus: Option<f64> = machine
            .offer
            .machine_shape()
            .and_then(|shape| shape.vcpus)
            .map(|vcpus| vcpus * f64::from(machine.count)),
        /// Cost of a month of all machines; null if unknown.
        monthly: Option<Money> = machine.monthly,
        /// First limit of a machine that the load reaches; null if no limit is known.
        binds: Option<SizingLimit> = view(machine.binds.as_ref()),
        /// Number of attached volumes.
        volumes: u32 = machine.volumes,
        /// Maximum number of attached volumes; null if unknown.
        volumes_max: Option<u32> = machine.volumes_max,
        /// Bandwidth of the network interface in Gbit/s; null if unknown.
        network_gbps: Option<f64> = machine.network_gbps,
        /// Number of machines of the provider with sufficient limits.
        enough: usize = machine.enough,
        /// Those of them without a price.
        unpriced: usize = machine.unpriced,
        /// Number of machines of the provider.
        of: usize = machine.of,
    }

    /// Volumes for data, redo and temporary data.
    struct Layout from (required, layout): (&sized::SizingRequirements, &sized::VolumeLayout) {
        /// Provider.
        provider: String = layout.provider.clone(),
        /// Volumes, data first.
        parts: Vec<LayoutPart> = each(&layout.parts),
        /// Cheapest machine for all volumes; null if none is known.
        machine: Option<Machine> = view(layout.machine.as_ref()),
        /// Cost of a month with the machine; null if a price is unknown.
        total_monthly: Option<Money> = layout.total,
        /// Cost of a month of the cheapest choice with a single volume; null if there is none.
        single_monthly: Option<Money> = layout.single,
        /// Mean number of sessions that wait for storage; null if unknown.
        waiting_sessions: Option<f64> = layout.waiting(),
        /// Saved share of the database's time with all volumes, as of a choice; null if unknown.
        saved_time_share: Option<f64> =
            sized::Best::Layout(layout).effect(required).as_ref().and_then(DatabaseEffect::least_saved),
        /// The database's time today and with all volumes, by class of waits; null if unknown.
        database_time: Option<Effect> = view(sized::Best::Layout(layout).effect(required).as_ref()),
    }

    /// A volume of a layout.
    struct LayoutPart from part: &sized::VolumePart {
        /// Content.
        content: &'static str = part.content.name(),
        /// Required capacity in bytes.
        capacity_bytes: Bytes = part.required.capacity,
        /// Cheapest configuration that carries its load.
        choice: Choice = (&part.choice).into(),
    }

    /// Configurations of a provider.
    struct ProviderFrontier from (point, frontier): (&sized::DesignPoint, &sized::ProviderFrontier) {
        /// Provider.
        provider: String = frontier.provider.clone(),
        /// True if all of them are slower than the present storage.
        slower_than_today: bool = frontier.is_slower,
        /// Configurations, cheapest first; each has fewer waiting sessions than every cheaper one of the provider.
        frontier: Vec<FrontierPoint> = frontier.choices.iter().map(|choice| (point, choice).into()).collect(),
    }

    /// Cost and waiting sessions of a configuration.
    struct FrontierPoint from (point, choice): (&sized::DesignPoint, &sized::Choice) {
        /// Configuration.
        configuration: String = choice.offer.short().to_string(),
        /// List price; null if there is none.
        price: Option<offer::PriceView> = view(choice.price.as_ref()),
        /// Cost of a month with the cheapest machine; null if a price is unknown.
        total_monthly: Option<Money> = choice.total(),
        /// Mean number of sessions that wait for storage; null if unknown.
        waiting_sessions: Option<f64> = choice.waiting(point),
    }

    /// A class that is slower than on the present storage.
    struct SlowerClass from slower: &sized::Slower {
        /// Class of the operations.
        class: ClassName = slower.class.into(),
        /// Mean response time of the present storage in nanoseconds, measured.
        today_mean_ns: Span = slower.today,
        /// Mean response time of the choice in nanoseconds, simulated.
        simulated_mean_ns: Span = slower.then,
    }

    /// Backlog of the series at the limits of a choice.
    struct Backlog from backlog: &sized::Backlog {
        /// Longest wait of an operation in nanoseconds.
        longest_wait_ns: Span = backlog.longest_wait,
        /// Total time with a backlog in nanoseconds.
        behind_ns: Span = backlog.behind,
        /// Share of the operations that wait longer than allowed, 0 to 1.
        operations_share: f64 = backlog.operations,
        /// Share of the bytes that wait longer than allowed, 0 to 1.
        bytes_share: f64 = backlog.bytes,
    }

    /// A limit as it applies to the demand.
    struct SizingLimit from limit: &sized::DesignLimit {
        /// Name of the limit.
        name: Arc<str> = Arc::clone(&limit.name),
        /// Design point that is nearest to the limit.
        #[schemars(extend("enum" = ["operations", "bytes"]))]
        busiest: &'static str = busiest(limit.point),
        /// Declared operations or bytes per second of all volumes; null if the limit counts both, one after the other.
        declared: Option<f64> = limit.declared,
        /// Operations per second of that point's mix.
        iops: f64 = limit.iops,
        /// Bytes per second of that point's mix.
        bytes_per_second: f64 = limit.bytes_per_second,
        /// Ratio of the limit to the design point; 1 if just sufficient.
        over_design_point: f64 = limit.over,
    }

    /// A product that does not carry the demand.
    struct RejectedConfiguration from one: &sized::Rejection {
        /// The product, or its nearest configuration.
        name: String = one.name.clone(),
        /// Reason in a sentence.
        why: String = words::why(&one.reason),
        /// Carried share of the design point, 0 to 1; null if unknown.
        share_of_design_point: Option<f64> = finite(one.reason.share()),
        /// Limit that is too low; null for other reasons.
        limit: Option<SizingLimit> = match &one.reason {
            sized::RejectionReason::Ceiling(ceiling) => Some(ceiling.into()),
            _ => None,
        },
    }
}

const fn busiest(of: sized::Busiest) -> &'static str {
    match of {
        sized::Busiest::Operations => "operations",
        sized::Busiest::Bytes => "bytes",
    }
}
