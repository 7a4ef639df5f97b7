//! What-ifs of a sizing: levels, another size of the cache, growth, tiers.

use plimsoll_catalogue::{Money, Price};
use plimsoll_choose::hours::{LevelReplay, Rule};
use plimsoll_choose::sizing::Choice;
use plimsoll_choose::what_if as found;
use plimsoll_units::{Bytes, Span};

use super::{each, elapsed, view};
use crate::words::sizing as words;

view! {
    /// Results of what-ifs; those that were not requested are null.
    struct WhatIfResults from what_ifs: &found::WhatIfs {
        /// Memory that saves as much as faster storage, for less; null if there is none. Always evaluated.
        memory: Option<MemoryFirst> = view(what_ifs.memory.as_ref()),
        /// Performance levels of the best choices that have any.
        levels: Option<Vec<LevelsOfChoice>> = what_ifs.levels.as_ref().map(each),
        /// Elapsed times of jobs.
        jobs: Option<elapsed::ElapsedTimes> = view(what_ifs.jobs.as_ref()),
        /// Other sizes of the cache.
        cache: Option<CacheWhatIf> = view(what_ifs.cache.as_ref()),
        /// Time until the first choice does not suffice.
        growth: Option<Growth> = view(what_ifs.growth.as_ref()),
        /// Busy parts on one storage, the rest on another.
        tiers: Option<TiersWhatIf> = view(what_ifs.tiers.as_ref()),
    }

    /// A larger cache with the storage and the machine that it needs.
    struct MemoryFirst from first: &found::MemoryFirst {
        /// Origin of the remaining reads.
        #[schemars(extend("enum" = ["database", "trace", "all data"]))]
        estimated_by: &'static str = source(first.by),
        /// Size of the cache in bytes.
        cache_bytes: f64 = first.bytes,
        /// Bytes above the present size.
        more_bytes: f64 = first.more_bytes,
        /// Remaining reads relative to the present reads.
        reads_left_share: f64 = first.reads,
        /// Saved share of the database's time, 0 to 1; null if unknown.
        saved_share: Option<f64> = first.saved,
        /// Storage for the remaining load.
        choice: ChoiceSummary = (&first.choice).into(),
        /// Machine with the memory; null if unknown.
        machine: Option<String> =
            first.choice.machine.as_ref().and_then(|machine| machine.offer.short().machine).map(|part| part.to_string()),
        /// Cost of a month of storage and machine.
        total_monthly: Money = first.total,
        /// The same for the first choice with the present cache.
        present_monthly: Money = first.present,
        /// Whether the machine of the first choice has the memory, so that the cache costs nothing.
        is_paid: bool = first.is_paid,
        /// Mean number of waiting sessions with the first choice.
        present_waiting_sessions: f64 = first.waiting[0],
        /// Mean number of waiting sessions with the larger cache.
        waiting_sessions: f64 = first.waiting[1],
        /// Storage of the provider with as few waiting sessions and the present cache; null if there is none.
        storage: Option<ChoiceSummary> = first.storage.as_ref().map(|(choice, _)| choice.into()),
        /// Cost of a month of that storage with its machine; null if there is none.
        storage_total_monthly: Option<Money> = first.storage.as_ref().map(|(_, total)| *total),
    }

    /// Busy parts on one storage, the rest on another.
    struct TiersWhatIf from tiers: &found::Tiers {
        /// Number of parts; the capacity is divided evenly between them.
        parts: usize = tiers.parts,
        /// Splits that carry the demand: cheapest first, those without a price last.
        splits: Vec<TierSplit> = each(&tiers.splits),
    }

    /// Storage of busy parts and of the rest.
    struct TierSplit from split: &found::TierSplit {
        /// Parts on the fast storage, the most operations first.
        hot_parts: Vec<String> = split.hot_parts.clone(),
        /// Configuration of the fast storage.
        hot: String = split.hot.1.offer.short().to_string(),
        /// Configuration of the rest.
        cold: String = split.cold.1.offer.short().to_string(),
        /// Cost of a month of both; null if a price is unknown.
        sum_monthly: Option<Money> = split.sum,
    }

    /// Performance levels of a choice.
    struct LevelsOfChoice from choice: &found::LevelsOfChoice {
        /// Configuration, at the level that it was sized to.
        choice: String = choice.offer.short().to_string(),
        /// Option that sets the level.
        option: String = choice.option.clone(),
        /// Rules: fixed levels, lowest first, then the rule of the provider, then a level for each hour.
        rules: Vec<LevelRule> = each(&choice.replays),
    }

    /// Effect of a rule that sets the level.
    struct LevelRule from replay: &LevelReplay {
        /// Kind of rule: a fixed level, the rule of the provider, or a level for each hour of the day.
        #[schemars(extend("enum" = ["fixed", "autotune", "daily"]))]
        rule: &'static str = match replay.rule {
            Rule::Fixed(_) => "fixed",
            Rule::Autotune(_) => "autotune",
            Rule::Daily(_) => "daily",
        },
        /// Level of a fixed rule; null for others.
        level: Option<u32> = if let Rule::Fixed(level) = replay.rule { Some(level) } else { None },
        /// 24 levels of a daily rule; null for others.
        levels_by_hour: Option<[u32; 24]> = if let Rule::Daily(plan) = replay.rule { Some(plan.levels) } else { None },
        /// Hours of the day with a demand, of a daily rule: the others have the highest of its levels; null for others.
        hours_covered: Option<u32> = if let Rule::Daily(plan) = replay.rule { Some(plan.covered) } else { None },
        /// Lowest and highest level of the provider's rule; null for others.
        autotune_between: Option<[u32; 2]> =
            if let Rule::Autotune(policy) = &replay.rule { Some([policy.default, policy.max]) } else { None },
        /// Cost of a month of 730 hours.
        monthly: Money = replay.monthly,
        /// Cost of the replayed time.
        cost: Money = replay.cost,
        /// Replayed time in nanoseconds.
        span_ns: Span = replay.span,
        /// Share of the time with more load than the level allows, 0 to 1.
        throttled_share: f64 = replay.throttled,
        /// Share of the operations that wait for the level, 0 to 1.
        delayed_share: f64 = replay.delayed,
        /// Longest wait for the level in nanoseconds.
        longest_wait_ns: Span = replay.longest_wait,
        /// Mean latency with the waits for the level in nanoseconds, modelled.
        modelled_mean_ns: Span = replay.mean,
        /// Number of changes of the level.
        changes: u32 = replay.changes,
    }

    /// Other sizes of the cache.
    struct CacheWhatIf from what_if: &found::CacheWhatIf {
        /// Origin of the miss ratios: estimates of the database, or operations of a trace.
        #[schemars(extend("enum" = ["database", "trace"]))]
        said_by: &'static str = source(what_if.by),
        /// Cost of a month of the first choice; null if unknown.
        present_monthly: Option<Money> = what_if.present,
        /// Mean number of sessions that wait with it; null if unknown.
        present_waiting_sessions: Option<f64> = what_if.present_waiting,
        /// Sizes, ascending.
        sizes: Vec<CacheSize> = each(&what_if.sizes),
        /// Size in bytes that is cheaper than the present one; null if there is none.
        better_bytes: Option<f64> = what_if.better().map(|size| size.bytes),
        /// Smallest larger size with most of the possible saving of database time; null if that is not notable.
        faster_bytes: Option<f64> = what_if.faster().map(|size| size.bytes),
    }

    /// A size of the cache.
    struct CacheSize from size: &found::CacheSize {
        /// Size in bytes.
        cache_bytes: f64 = size.bytes,
        /// Bytes above the present size; negative below it.
        more_bytes: f64 = size.more_bytes,
        /// Remaining reads relative to the present reads.
        reads_left_share: f64 = size.reads,
        /// Operations per second of the remaining load; null if there is none.
        iops: Option<f64> = size.required.points.first().map(plimsoll_choose::sizing::DesignPoint::iops),
        /// Cheapest storage for the remaining load; null if there is none.
        choice: Option<ChoiceSummary> = view(size.choice.as_ref()),
        /// Additional cost of memory in a month; null without a price of memory.
        memory_monthly: Option<Money> = size.memory,
        /// Cost of a month of memory and storage; null if a price is unknown.
        sum_monthly: Option<Money> = size.sum,
        /// Saved share of the database's time, compared with the first choice and the present cache, 0 to 1; negative
        /// if it takes longer; null if unknown.
        saved_share: Option<f64> = size.saved,
        /// Mean number of sessions that wait for reads and log writes in peaks; null if unknown.
        waiting_sessions: Option<f64> = size.waiting,
    }

    /// A configuration with its price.
    struct ChoiceSummary from choice: &Choice {
        /// Command that quotes the configuration.
        command: String = format!("plimsoll quote '{}'", choice.offer.short()),
        /// Configuration.
        name: String = choice.offer.short().to_string(),
        /// Cost of a month; null if unknown, or if a part has no price.
        monthly: Option<Money> = choice.price.as_ref().and_then(Price::total),
    }

    /// Time until a choice does not suffice.
    struct Growth from outgrown: &found::Outgrown {
        /// Configuration.
        choice: String = outgrown.offer.short().to_string(),
        /// Growth of load and capacity in a year: 0.3 for 30 %.
        yearly: f64 = outgrown.yearly,
        /// First month in which it does not suffice; null if it suffices for the whole horizon.
        first_month_that_fails: Option<u32> = outgrown.ends.as_ref().map(|(month, _)| *month),
        /// Reason; null if it suffices.
        why: Option<String> = outgrown.ends.as_ref().map(|(_, reason)| match reason {
            found::OutgrownBy::Limits(rejection) => words::why(&rejection.reason),
            found::OutgrownBy::Objective => "its response times miss the objective, as simulated".to_owned(),
        }),
        /// Configurations for later months.
        later: Vec<LaterChoice> = each(&outgrown.later),
    }

    /// A configuration for a later month.
    struct LaterChoice from later: &found::Later {
        /// Months from now.
        months: u32 = later.months,
        /// Operations per second of the design point; null if there is none.
        iops: Option<f64> = later.required.points.first().map(plimsoll_choose::sizing::DesignPoint::iops),
        /// Required capacity in bytes.
        capacity_bytes: Bytes = later.required.capacity,
        /// Cheapest configuration; null if there is none.
        choice: Option<ChoiceSummary> = view(later.choice.as_ref()),
    }
}

const fn source(by: found::EstimateSource) -> &'static str {
    match by {
        found::EstimateSource::Database => "database",
        found::EstimateSource::Trace => "trace",
        found::EstimateSource::AllData => "all data",
    }
}
