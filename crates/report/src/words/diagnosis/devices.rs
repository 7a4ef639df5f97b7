//! How storage answers, and its limits.

use plimsoll_catalogue::Counts;
use plimsoll_choose::diagnosis::Verdict;
use plimsoll_ingest::{Class, Measure};

use super::{Told, duration, event, seconds, share};
use crate::number;
use crate::words::clean;

pub(super) fn told(verdict: &Verdict) -> Option<Told> {
    let told = |word, (text, remedy): (String, &str)| Told { word, text, remedy: remedy.to_owned() };
    speed(verdict).map(|said| told("storage", said)).or_else(|| limits(verdict).map(|said| told("limit", said)))
}

/// Operations of a class as the subject of a sentence.
fn operations(class: Class) -> &'static str {
    match class {
        Class::All => "Operations",
        Class::Read => "Reads",
        Class::RandomRead => "Random reads",
        Class::SequentialRead => "Sequential reads",
        Class::Write => "Writes",
        Class::RedoWrite => "Log writes",
        class => class.name(),
    }
}

fn iops(rate: f64) -> String {
    format!("{} IOPS", number::three(rate))
}

fn speed(verdict: &Verdict) -> Option<(String, &'static str)> {
    Some(match verdict {
        Verdict::Slow { class, latency_s, iops: rate, in_flight } => (
            format!(
                "{} take {} at {}, with {} in flight on average: the storage is slow, not overloaded.",
                operations(*class),
                seconds(*latency_s),
                iops(*rate),
                number::three(*in_flight)
            ),
            "More IOPS of the same kind change nothing: a medium or a path that answers sooner does.",
        ),
        Verdict::AtItsLimit { class, quiet_s, loaded_s, knee_iops, highest_iops } => {
            let knee =
                knee_iops.map_or(String::new(), |knee| format!(" They take twice as long from {} on.", iops(knee)));
            (
                format!(
                    "{} take {} in quiet windows and {} in the busiest (up to {}): the storage, or its path, is at its \
                     limit there.{knee}",
                    operations(*class),
                    seconds(*quiet_s),
                    seconds(*loaded_s),
                    iops(*highest_iops)
                ),
                "Raise that limit (IOPS, throughput, the machine's own), or spread the load over time.",
            )
        }
        Verdict::SlowOrLoaded { class, latency_s, iops: rate, in_flight } => (
            format!(
                "{} take {} at {}, with {} in flight on average: slow storage, or too much asked of it.",
                operations(*class),
                seconds(*latency_s),
                iops(*rate),
                number::three(*in_flight)
            ),
            "Give several windows, quiet and busy ones: how latency goes with the rate tells the two apart.",
        ),
        Verdict::Many { class, latency_s, iops: rate } => (
            format!(
                "{} are answered in {} already: sessions wait long for them because there are many ({}).",
                operations(*class),
                seconds(*latency_s),
                iops(*rate)
            ),
            "Fewer reads (memory, indexes, statements) give more than storage that is quicker still.",
        ),
        Verdict::Quick { class, latency_s, iops: rate } => (
            format!(
                "{} are answered in {} at {}: that is quick.",
                operations(*class),
                seconds(*latency_s),
                iops(*rate)
            ),
            "",
        ),
        Verdict::Tail { event: name, mean_s, within_s, .. } => {
            let within = within_s
                .map_or("longer than its histogram goes".to_owned(), |within| format!("up to {}", seconds(within)));
            (
                format!(
                    "One in a hundred waits for \"{}\" takes {within}, {} in the mean.",
                    event(name),
                    seconds(*mean_s)
                ),
                "Look for what stalls the storage for moments: caps, backups, neighbours, failing paths.",
            )
        }
        _ => return None,
    })
}

fn limits(verdict: &Verdict) -> Option<(String, &'static str)> {
    Some(match verdict {
        Verdict::Pinned { class, measure, value, windows, of } => {
            let (rate, what) = match measure {
                Measure::Throughput => (number::throughput(*value), "The throughput"),
                _ => (iops(*value), "The rate"),
            };
            let whose = if *class == Class::All { String::new() } else { format!(" of {}", class.name()) };
            (
                format!(
                    "{what}{whose} stays at {rate} in {windows} of {of} windows, and never passes it by much: a limit."
                ),
                "Find the cap (volume, level, machine, path) that has this value; --on CONFIG compares with a product's.",
            )
        }
        Verdict::AtCeiling { name, counts, allows, asked, near, windows } => {
            let rate = |value: f64| match counts {
                Counts::Operations => iops(value),
                Counts::Bytes => number::throughput(value),
            };
            (
                format!(
                    "\"{}\" allows {} of this mix, and up to {} are asked: {near} of {windows} windows at or above 95 % \
                     of it.",
                    clean(name),
                    rate(*allows),
                    rate(*asked)
                ),
                "Lift it: plimsoll quote CONFIG says how, and what that costs.",
            )
        }
        Verdict::BelowCeilings { name, highest, longest_s } => {
            let hidden = if *longest_s > 60.0 {
                format!(" In windows of {} shorter peaks may reach it.", duration(*longest_s))
            } else {
                String::new()
            };
            (
                format!(
                    "No ceiling of the configuration is reached: at most {} of \"{}\".{hidden}",
                    share(*highest),
                    clean(name)
                ),
                "",
            )
        }
        Verdict::Unequal { said, follows } => (
            format!(
                "Rates and latencies make {} operations in flight, the input says {}: something is counted twice or left \
                 out.",
                number::three(*follows),
                number::three(*said)
            ),
            "Check that devices are not given beside their partitions or members.",
        ),
        _ => return None,
    })
}
