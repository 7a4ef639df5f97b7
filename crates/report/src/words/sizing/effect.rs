//! Response times and database time of a choice compared with today.

use plimsoll_catalogue::Money;
use plimsoll_choose::diagnosis::{DatabaseEffect, EffectRule, SCAN_RATES};
use plimsoll_choose::sizing::{Attachment, Choice, HitAssumption, Reached, SizingRequirements, Slower};
use plimsoll_choose::what_if::{EstimateSource, MemoryFirst};
use plimsoll_language::{label, say};

use super::why;
use crate::number;
use crate::words::diagnosis::share;
use crate::words::{clean, offer};

/// Response times of the present storage: `random reads 4 ms, redo 2 ms: choices add at most 2 % to the database's
/// time`.
pub(crate) fn today(required: &SizingRequirements) -> Option<String> {
    let means: Vec<String> = required.today.iter().map(|(class, mean)| format!("{} {mean}", class.label())).collect();
    let rule = if required.may_be_slower {
        label!("choices may be slower").to_owned()
    } else if required.account.is_some() {
        say!("choices add at most {} to the database's time", share(required.tolerance))
    } else {
        say!("the operations of slower classes, one at a time, add at most {} of the time", share(required.tolerance))
    };
    (!means.is_empty()).then(|| say!("{} on average: {rule}", means.join(label!(", "))))
}

/// Change of the database's time: `12.3 % less`; a range if reads without a latency or scans that cells filter today make a
/// difference: `18 % more to 6 % less`.
pub(crate) fn format_time_change(effect: &DatabaseEffect) -> String {
    effect.saved_range().map_or_else(|| uncounted_filtering().to_owned(), |[low, high]| format_range(low, high))
}

/// The same if a limit binds first, from the share that is saved then: `5 % to 12 % less`.
pub(crate) fn saved_to_limit(effect: &DatabaseEffect, bounded: f64) -> String {
    let range = effect.saved_range();
    range.map_or_else(|| uncounted_filtering().to_owned(), |[low, high]| format_range(low.min(bounded), high))
}

/// The parts of a slower database: `; response times 6 % more, filtering without cells 12 % to 48 % more (assumed, at 800 to 200
/// MB/s a processor)`.
pub(crate) fn filtering_added(effect: &DatabaseEffect) -> String {
    let Some(shares) = effect.filtering_shares() else {
        return label!("; filtering without cells, which is not counted, adds time on any storage").to_owned();
    };
    let [low, high] = shares.map(share);
    let [fast, slow] = SCAN_RATES.map(|rate| number::three(rate / 1e6));
    say!(
        "; response times: {}, filtering without cells: {low} to {high} more (assumed: {fast} to {slow} MB/s a processor)",
        saved_share(effect.saved())
    )
}

fn uncounted_filtering() -> &'static str {
    label!("unknown (filtering of cells not counted)")
}

fn format_range(low: f64, high: f64) -> String {
    let [from, to] = [low, high].map(saved_share);
    if from == to {
        to
    } else if low >= 0.0 {
        say!("{} to {to}", share(low))
    } else if high < 0.0 {
        say!("{} to {from}", share(-high))
    } else {
        say!("{from} to {to}")
    }
}

/// Time that may be that of reads, and both ends of its change: the waits of the class User I/O outside of its listed events,
/// or time in no counter.
pub(crate) fn assumed_reads(effect: &DatabaseEffect) -> Option<String> {
    let part = effect.parts.iter().find(|part| part.rule != EffectRule::Latency)?;
    let of = match part.rule {
        EffectRule::UncountedReads => label!("Time in no counter may be reads"),
        EffectRule::LikeReads | EffectRule::Latency => label!("Other User I/O has no latency"),
    };
    let [before, after] = [part.before_s, part.after_s].map(number::three);
    Some(say!(
        "{of}: if it stays at {before} s, storage saves {}; like the other reads it takes {after} s",
        share(effect.saved_by_latency())
    ))
}

/// Change of a time by a saved share: `12.3 % less`.
pub(crate) fn saved_share(part: f64) -> String {
    if part >= 0.0 { say!("{} less", share(part)) } else { say!("{} more", share(-part)) }
}

/// `redo 12 ms instead of 2 ms (6 times); database time 8.1 % more`.
pub(crate) fn slower(choice: &Choice) -> String {
    let time = choice.effect.as_ref().map(|effect| say!("database time {}", format_time_change(effect)));
    let classes = Some(slower_classes(&choice.slower)).filter(|classes| !classes.is_empty());
    classes.into_iter().chain(time).collect::<Vec<_>>().join(label!("; "))
}

/// `redo 12 ms instead of 2 ms (6 times); random reads 13.8 ms instead of 4 ms (3.45 times)`.
pub(crate) fn slower_classes(slower: &[Slower]) -> String {
    let one = |one: &Slower| {
        say!("{} {} instead of {} ({} times)", one.class.label(), one.then, one.today, number::three(one.times()))
    };
    slower.iter().map(one).collect::<Vec<_>>().join(label!("; "))
}

/// Reached response times of objectives: `redo p99 0.8 ms, read p99 7 ms (missed)`.
pub(crate) fn reached(reached: &[Reached]) -> String {
    let one = |one: &Reached| {
        let missed = if one.is_met() { "" } else { label!(" (missed)") };
        format!("{} {}{missed}", one.objective.bounded(), one.time)
    };
    reached.iter().map(one).collect::<Vec<_>>().join(label!(", "))
}

/// The option that accepts a slower choice: ` (--slower 3%)`.
pub(crate) fn accepted_by(required: &SizingRequirements, choice: &Choice) -> String {
    let percent = required.tolerance_for(choice).map(|share| (share * 100.0 * 1.001).ceil());
    let Some(percent) = percent else { return label!("--may-be-slower accepts it").to_owned() };
    let total = choice.effect.as_ref().map_or(0.0, |effect| effect.added_s() / effect.before_s * 100.0);
    let by_class = if percent > total.ceil() + 0.5 { label!(": each class is bounded by itself, too") } else { "" };
    say!("--slower {percent}% accepts it{by_class}")
}

/// What the response times of the recommended configuration assume of the memory of an array.
pub(crate) fn hit_assumption(hits: &HitAssumption) -> String {
    let HitAssumption { share, product, .. } = hits;
    let share = number::percent(*share);
    let with = hits.mean.map_or_else(String::new, |mean| say!(": {mean} for a read"));
    let without = match (&hits.without, hits.mean_without()) {
        (Err(reason), _) => say!("without hits it does not carry the load: {}", why(reason)),
        (Ok(_), mean) => {
            let mean = mean.map_or_else(String::new, |mean| say!(" {mean}, with which"));
            let is_suitable =
                if hits.is_suitable { label!("it is suitable as well") } else { label!("it would not be suitable") };
            say!("without hits{mean} {is_suitable}")
        }
    };
    say!(
        "Assumed: {share} of the reads hit the memory of the controllers{with}; {without}. --provider {product}:hits=0.5 \
         states the share"
    )
}

/// More memory instead of faster storage.
pub(crate) fn memory_first(first: &MemoryFirst) -> String {
    let gib = |bytes: f64| number::three(bytes / f64::from(1 << 30));
    let [before, after] = first.waiting;
    let saved =
        first.saved.map_or_else(String::new, |saved| say!(" and saves {} of the database's time", share(saved)));
    let by = match first.by {
        EstimateSource::Database => label!("the database's own estimate"),
        EstimateSource::Trace => label!("computed from the trace"),
        EstimateSource::AllData => label!("all data in memory"),
    };
    let machine = first.choice.machine.as_ref().and_then(Attachment::name).map(|machine| clean(&machine));
    if first.is_paid {
        return say!(
            "{} GiB instead of {} GiB fit in the memory of {}; {} of the reads remain ({by}), which saves a further {} of the \
             database's time",
            gib(first.bytes),
            gib(first.bytes - first.more_bytes),
            machine.unwrap_or_else(|| label!("the machine").to_owned()),
            number::percent(first.reads),
            share(first.saved.unwrap_or_default()),
        );
    }
    let more = first.total.millionths - first.present.millionths;
    let money = Money { millionths: more.abs(), ..first.total };
    let sign = if more < 0 { label!("less") } else { label!("more") };
    let storage = first.storage.as_ref().map_or_else(
        || label!("no storage of the provider leaves as few sessions waiting").to_owned(),
        |(choice, total)| {
            say!("storage with as few waiting sessions, {}, costs {total}", offer::configuration(&choice.offer))
        },
    );
    let machine = machine.map_or_else(String::new, |machine| say!(" on {machine}"));
    say!(
        "a cache of {} GiB, {} GiB more, leaves {} of the reads ({by}), reduces waiting sessions from {} to \
         {}{saved}: {}{machine} for {} a month with the machine, {money} {sign} than the cheapest choice with the \
         present cache; {storage}",
        gib(first.bytes),
        gib(first.more_bytes),
        number::percent(first.reads),
        number::three(before),
        number::three(after),
        offer::configuration(&first.choice.offer),
        first.total,
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_choose::diagnosis::FilterWork;

    use super::*;

    #[test]
    fn change_of_database_time_is_a_range_with_filtering() {
        let effect =
            |filter| DatabaseEffect { before_s: 1e3, after_s: 9e2, parts: Vec::new(), retained: Vec::new(), filter };
        let text = |filter| format_time_change(&effect(filter));
        assert_eq!(text(FilterWork::None), "10 % less");
        assert_eq!(text(FilterWork::Seconds([20.0, 80.0])), "2 % to 8 % less");
        assert_eq!(text(FilterWork::Seconds([80.0, 320.0])), "22 % more to 2 % less");
        assert_eq!(text(FilterWork::Seconds([200.0, 800.0])), "10 % to 70 % more");
        assert_eq!(text(FilterWork::Unknown), "unknown (filtering of cells not counted)");
        // A limit that binds at 5 % lowers only the least.
        assert_eq!(saved_to_limit(&effect(FilterWork::None), 0.05), "5 % to 10 % less");
        assert_eq!(saved_to_limit(&effect(FilterWork::Seconds([20.0, 30.0])), 0.05), "5 % to 8 % less");
    }
}
