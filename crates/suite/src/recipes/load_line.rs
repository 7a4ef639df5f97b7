//! Load lines of sessions as text.

use plimsoll_record::{Estimate, LoadLine, NoLine};
use plimsoll_units::Span;

/// The kept objective, without a full stop: `p99 <= 20 ms is kept up to 812 transactions a second (700 to 850)`.
pub(super) fn keeping(line: &LoadLine, counted: &str) -> String {
    let objective = line.objective();
    match line {
        LoadLine::At { iops, .. } => format!("{objective} is kept up to {}", rate(iops, counted)),
        LoadLine::Beyond { iops, .. } => format!("{objective} was kept at every load, up to {}", rate(iops, counted)),
        LoadLine::Never { least, .. } => format!("{objective} was kept at no load: it was {least} at the least"),
        LoadLine::Refused { why: NoLine::Scatter { low, high, seconds }, .. } => {
            let needed = Span::from_secs((seconds / 10.0).ceil() as u64 * 10);
            format!(
                "{objective} is kept up to somewhere between {low:.0} and {high:.0} {counted} a second: response times scatter \
                 too much for a number, and about {needed} of measuring would do"
            )
        }
        LoadLine::Refused {
            why: NoLine::Generator { lateness_p99 } | NoLine::HostTaken { lateness_p99, .. }, ..
        } => {
            format!("{objective} cannot be judged: arrivals were late by {lateness_p99} themselves (p99)")
        }
        LoadLine::Refused { why: NoLine::NotLasting { below }, .. } => {
            format!("{objective} was kept to the end by no load that was held, down to {below:.0} {counted} a second")
        }
    }
}

fn rate(iops: &Estimate, counted: &str) -> String {
    let interval = iops.interval.map_or_else(String::new, |(low, high)| format!(" ({low:.0} to {high:.0})"));
    format!("{:.0} {counted} a second{interval}", iops.value)
}
