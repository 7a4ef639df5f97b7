//! What-ifs of a sizing: levels, another size of the cache, growth, tiers. What was not asked is null.

use plimsoll_choose::hours::{LevelReplay, Rule};
use plimsoll_choose::sizing::Choice;
use plimsoll_choose::what_if::{
    CacheSize, CacheWhatIf, Later, LevelsOfChoice, NoLonger, Outgrown, SaidBy, Split, WhatIfs,
};
use serde_json::{Value, json};

use super::{number, offer};
use crate::words::sizing as words;

pub(super) fn what_ifs(what_ifs: &WhatIfs) -> Value {
    json!({
        "levels": what_ifs.levels.as_ref().map(|choices| choices.iter().map(levels).collect::<Vec<_>>()),
        "cache": what_ifs.cache.as_ref().map(cache),
        "growth": what_ifs.growth.as_ref().map(growth),
        "tiers": what_ifs.tiers.as_ref().map(|tiers| json!({
            "parts": tiers.parts,
            "splits": tiers.splits.iter().map(split).collect::<Vec<_>>(),
        })),
    })
}

fn split(split: &Split) -> Value {
    json!({
        "hot_parts": split.hot_parts,
        "hot": split.hot.1.offer.short().to_string(),
        "cold": split.cold.1.offer.short().to_string(),
        "sum_monthly": split.sum.map(offer::money),
    })
}

fn levels(choice: &LevelsOfChoice) -> Value {
    json!({
        "choice": choice.offer.short().to_string(),
        "option": choice.option,
        "rules": choice.replays.iter().map(replay).collect::<Vec<_>>(),
    })
}

fn replay(replay: &LevelReplay) -> Value {
    let (rule, level, hours) = match &replay.rule {
        Rule::Fixed(level) => ("fixed", Some(*level), None),
        Rule::Autotune(_) => ("autotune", None, None),
        Rule::Daily(hours) => ("daily", None, Some(hours.to_vec())),
    };
    let between = if let Rule::Autotune(policy) = &replay.rule { Some([policy.default, policy.most]) } else { None };
    json!({
        "rule": rule,
        "level": level,
        "levels_by_hour": hours,
        "autotune_between": between,
        "monthly": offer::money(replay.monthly),
        "cost": offer::money(replay.cost),
        "span_ns": replay.span.as_nanos(),
        "throttled_share": number(replay.throttled),
        "delayed_share": number(replay.delayed),
        "longest_wait_ns": replay.longest_wait.as_nanos(),
        "modelled_mean_ns": replay.mean.as_nanos(),
        "changes": replay.changes,
    })
}

fn cache(what_if: &CacheWhatIf) -> Value {
    json!({
        "said_by": match what_if.by {
            SaidBy::Database => "database",
            SaidBy::Trace => "trace",
        },
        "present_monthly": what_if.present.map(offer::money),
        "sizes": what_if.sizes.iter().map(size).collect::<Vec<_>>(),
        "better_bytes": what_if.better().map(|size| number(size.bytes)),
    })
}

fn size(size: &CacheSize) -> Value {
    json!({
        "cache_bytes": number(size.bytes),
        "more_bytes": number(size.more_bytes),
        "reads_left_share": number(size.reads),
        "iops": size.wanted.points.first().map(|point| number(point.iops())),
        "choice": size.choice.as_ref().map(choice),
        "memory_monthly": size.memory.map(offer::money),
        "sum_monthly": size.sum.map(offer::money),
    })
}

fn choice(choice: &Choice) -> Value {
    json!({
        "command": format!("plimsoll quote '{}'", choice.offer.short()),
        "name": choice.offer.short().to_string(),
        "monthly": choice.price.as_ref().map(|price| offer::money(price.monthly)),
    })
}

fn growth(outgrown: &Outgrown) -> Value {
    let why = |why: &NoLonger| match why {
        NoLonger::Carries(rejection) => words::why(&rejection.why),
        NoLonger::Meets => "its response times miss the objective, as simulated".to_owned(),
    };
    json!({
        "choice": outgrown.offer.short().to_string(),
        "yearly": number(outgrown.yearly),
        "first_month_that_fails": outgrown.ends.as_ref().map(|(month, _)| month),
        "why": outgrown.ends.as_ref().map(|(_, reason)| why(reason)),
        "later": outgrown.later.iter().map(later).collect::<Vec<_>>(),
    })
}

fn later(later: &Later) -> Value {
    json!({
        "months": later.months,
        "iops": later.wanted.points.first().map(|point| number(point.iops())),
        "capacity_bytes": later.wanted.capacity.get(),
        "choice": later.choice.as_ref().map(choice),
    })
}
