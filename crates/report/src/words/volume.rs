//! Properties, counters and costs of emulated volumes.

use plimsoll_api::{
    Attachment, Autotune, Bin, Cost, DurabilityTerms, Faults, Floor, HostCeiling, IscsiTarget, Stats, Volume,
};
use plimsoll_catalogue::{Currency, Money};
use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Iops, Span};

use super::{name_kind, product_text};

/// The moment at which writes become durable.
pub fn durability(terms: &DurabilityTerms) -> String {
    if terms.at_acknowledgement {
        return label!("each write at its acknowledgement, as with volumes of OCI and AWS").to_owned();
    }
    let within = terms.within_ns.map(|ns| say!(", and otherwise {} after a write at the latest", Span::from_nanos(ns)));
    say!(
        "at a flush{}; not at the acknowledgement, as volumes of OCI and AWS are: for that, plimsoll serve --durable-writes",
        within.unwrap_or_default()
    )
}

/// The latency floor of a service; empty if it was not measured.
pub fn floor(floor: &Floor) -> String {
    if floor.iops == 0 {
        return String::new();
    }
    let span = |ns| Span::from_nanos(ns).to_string();
    say!(
        "{} at depth 32 without a model; a 4 KiB read takes {} (p99 {}), a timer is {} late (p99 {})",
        Iops::per_second(floor.iops),
        span(floor.round_trip_p50_ns),
        span(floor.round_trip_p99_ns),
        span(floor.timer_p50_ns),
        span(floor.timer_p99_ns),
    )
}

/// The meaning of the figures of a service that is slowed down; empty without.
pub(crate) fn time(slow: u32) -> String {
    if slow > 1 {
        say!("{slow} times slower than the clock: every figure is in the model's time")
    } else {
        String::new()
    }
}

/// A verdict of the service on the replies of a second.
pub(crate) fn name_fidelity(verdict: &str) -> &str {
    match verdict {
        "faithful" => label!("faithful"),
        "median late" => label!("median late"),
        "tail late" => label!("tail late"),
        "flow differs" => label!("flow differs"),
        "offered less" => label!("offered less"),
        other => other,
    }
}

/// The three limits that held most replies, with their shares; empty without replies.
pub(crate) fn binds(stats: &Stats) -> String {
    let total: u64 = stats.bound_by.iter().map(|bound| bound.count).sum();
    let mut bounds: Vec<_> = stats.bound_by.iter().filter(|bound| bound.count > 0).collect();
    bounds.sort_by_key(|bound| std::cmp::Reverse(bound.count));
    let share = |count: u64| (count as f64 * 1000.0 / total as f64).round() / 10.0;
    let displayed =
        bounds.iter().take(3).map(|bound| say!("{} ({} %)", product_text(&bound.limit), share(bound.count)));
    displayed.collect::<Vec<_>>().join(label!(", "))
}

/// Seconds in which the replies met the model, and the lateness of replies.
pub(crate) fn faithful(stats: &Stats) -> String {
    let seconds = stats.faithful + stats.unfaithful;
    if seconds == 0 {
        let any = stats.counts.iter().any(|kind| kind.ops + kind.errors > 0);
        return if any { label!("no second is complete yet") } else { label!("nothing was asked yet") }.into();
    }
    let late = |share| quantile(&stats.lateness, share).map_or("?".into(), |late| late.to_string());
    say!("{} of {seconds} seconds; answers {} late (p50), {} (p99)", stats.faithful, late(0.5), late(0.99))
}

/// Blocks that differ from their checksums; `None` without any.
pub(crate) fn damaged(stats: &Stats) -> Option<String> {
    let (first, blocks) = (stats.damaged.first()?, stats.damaged.len());
    let blocks = if blocks == 1 { label!("1 block").to_owned() } else { say!("{blocks} blocks") };
    let reads = stats.damaged_reads;
    Some(say!("{blocks} of 4 KiB, the first at byte {first}; read {reads} times"))
}

pub(crate) fn size(volume: &Volume) -> String {
    let access = if volume.writable { "" } else { label!(", read-only") };
    format!("{}{access}", Bytes::new(volume.size_bytes))
}

/// The level; empty without.
pub(crate) fn level(volume: &Volume) -> String {
    volume.level.map(|level| level.to_string()).unwrap_or_default()
}

/// The limit of the host, and response times below its timers.
pub(crate) fn host(volume: &Volume) -> String {
    let ceiling = volume.host.map(|HostCeiling { host_iops, product_iops }| {
        let [carried, possible] = [host_iops, product_iops].map(Iops::per_second);
        say!("this host carries about {carried} of the product's {possible}")
    });
    let forced = volume.forced.then(|| label!("made by force: responses are later than the model has them").to_owned());
    ceiling.into_iter().chain(forced).collect::<Vec<_>>().join(label!("; "))
}

/// Name and portals of a target.
pub(crate) fn iscsi(target: &IscsiTarget) -> String {
    say!("{} at {}", target.iqn, target.portals.join(label!(", ")))
}

/// The place of an attached volume on a line.
pub fn format_device(attachment: &Attachment) -> String {
    let device = attachment.device.as_deref().or(attachment.file.as_deref()).unwrap_or(label!("attached"));
    let mounted = attachment.mountpoint.as_ref().map(|mountpoint| say!(" on {mountpoint}")).unwrap_or_default();
    let dead = if attachment.dead { label!(" (dead: detach it)") } else { "" };
    format!("{device}{mounted}{dead}")
}

/// Rules of a level that follows the load.
pub(crate) fn autotune(autotune: &Autotune) -> String {
    let mut parts = Vec::new();
    if let (Some(default), Some(max)) = (autotune.default, autotune.max) {
        parts.push(say!("follows the load between {default} and {max}"));
    }
    if let Some(after) = autotune.detached_after_ns {
        parts.push(say!("rests at the lowest level after {} without a client", long(after)));
    }
    parts.join(label!("; "))
}

pub(crate) fn faults(faults: &Faults) -> String {
    let share = |ppm: u32| format!("{} %", f64::from(ppm) / 1e4);
    let parts = [
        (faults.errors_ppm > 0).then(|| say!("{} fail", share(faults.errors_ppm))),
        (faults.spikes_ppm > 0)
            .then(|| say!("{} take {} longer", share(faults.spikes_ppm), Span::from_nanos(faults.spike_ns))),
        (faults.tears_ppm > 0).then(|| say!("{} tear their connection", share(faults.tears_ppm))),
        (faults.stall_ns > 0).then(|| say!("nothing was answered for {}", Span::from_nanos(faults.stall_ns))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let of = faults
        .only
        .as_ref()
        .map_or(label!("all requests").into(), |kind| say!("requests to {kind}", kind = name_kind(kind)));
    say!("of {of} {} (seed {})", parts.join(label!(", ")), faults.seed)
}

/// Cost of a month.
pub(crate) fn monthly(cost: &Cost) -> String {
    say!("{} a month of 730 hours, at list prices", format_money(&cost.monthly, &cost.currency))
}

/// Cost so far and of a month.
pub(crate) fn cost(cost: &Cost) -> String {
    say!("{} so far; {}", format_money(&cost.so_far, &cost.currency), monthly(cost))
}

/// An exact amount in the digits of its currency; a text that is no amount as it is.
fn format_money(exact: &str, currency: &str) -> String {
    parse_money(exact, currency).map_or_else(|| format!("{exact} {currency}"), |money| money.to_string())
}

/// An amount of the API.
pub(crate) fn parse_money(exact: &str, currency: &str) -> Option<Money> {
    let (amount, currency): (f64, Currency) = exact.parse().ok().zip(currency.parse().ok())?;
    Some(Money { millionths: (amount * 1e6).round() as i128, currency })
}

/// A span that people set: `14 days`, `6 h`.
fn long(ns: u64) -> String {
    let units = [(86_400_000_000_000, label!("days")), (3_600_000_000_000, "h"), (60_000_000_000, "min")];
    let unit = units.iter().find(|(unit, _)| ns >= 2 * unit && ns.is_multiple_of(*unit));
    unit.map_or_else(|| Span::from_nanos(ns).to_string(), |(unit, name)| format!("{} {name}", ns / unit))
}

/// The upper bound of the bin that a share of the counts does not exceed.
fn quantile(bins: &[Bin], share: f64) -> Option<Span> {
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let rank = ((share * total as f64).ceil() as u64).max(1);
    let mut observed = 0;
    let holds = |bin: &&Bin| {
        observed += bin.count;
        observed >= rank
    };
    bins.iter().find(holds).map(|bin| Span::from_nanos(bin.upto_ns))
}

#[cfg(test)]
mod tests {
    use plimsoll_api::{BoundCount, Period};

    use super::*;

    #[test]
    fn limits_have_shares_the_largest_first() {
        let bound = |limit: &str, count| BoundCount { limit: limit.into(), count };
        let bound_by = vec![bound("disk", 1), bound("IOPS", 998), bound("link", 1), bound("fault", 0)];
        let stats = Stats { bound_by, ..Stats::default() };
        assert_eq!(binds(&stats), "IOPS (99.8 %), disk (0.1 %), link (0.1 %)");
        assert_eq!(binds(&Stats::default()), "");
    }

    #[test]
    fn lateness_has_quantiles() {
        let bin = |upto_ns, count| Bin { upto_ns, count };
        let stats = Stats {
            lateness: vec![bin(1_000, 90), bin(50_000, 10)],
            faithful: 9,
            unfaithful: 1,
            last: Some(Period::default()),
            ..Stats::default()
        };
        assert_eq!(faithful(&stats), "9 of 10 seconds; answers 1 us late (p50), 50 us (p99)");
        assert_eq!(faithful(&Stats::default()), "nothing was asked yet");
    }

    #[test]
    fn costs_have_the_digits_of_their_currency() {
        let cases =
            [("1.275000", "1.28 USD"), ("0.000000", "0.00 USD"), ("0.004250", "0.00425 USD"), ("7", "7.00 USD")];
        for (exact, displayed) in cases {
            assert_eq!(format_money(exact, "USD"), displayed);
        }
        assert_eq!(format_money("unknown", "USD"), "unknown USD");
    }

    #[test]
    fn long_spans_have_their_units() {
        let hours = |h: u64| h * 3_600_000_000_000;
        assert_eq!([long(hours(336)), long(hours(6)), long(90_000_000_000)], ["14 days", "6 h", "90 s"]);
    }

    #[test]
    fn faults_have_their_shares() {
        let spikes = Faults {
            seed: 7,
            only: Some("write".into()),
            spikes_ppm: 1_000,
            spike_ns: 50_000_000,
            ..Faults::default()
        };
        assert_eq!(faults(&spikes), "of requests to write 0.1 % take 50 ms longer (seed 7)");
    }
}
