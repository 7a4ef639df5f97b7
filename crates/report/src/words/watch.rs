//! Sentences about a load against the limits of a configuration.

use plimsoll_catalogue::{Counts, Offer, Scope};
use plimsoll_choose::watch::{AlertKind, CreditBalance, WatchAlert, WatchedLimit};
use plimsoll_language::{label, say};
use plimsoll_units::{Instant, Span};

use super::offer::{product_text, throughput};
use crate::number;

/// Times before 1980 are those since the begin of an input.
const CALENDAR_S: u64 = 10 * 365 * 86_400;

/// A duration of at most two units: `40 s`, `25 min`, `2 h 10 min`.
pub(crate) fn format_duration(span: Span) -> String {
    let seconds = span.as_nanos() / 1_000_000_000;
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// A time: `14:10 UTC`, or `3 h 5 min` after the begin of an input without times.
pub(crate) fn format_time(at: Instant) -> String {
    let seconds = at.as_nanos() / 1_000_000_000;
    if seconds < CALENDAR_S {
        return say!("{} after the begin", format_duration(at.since(Instant::ZERO)));
    }
    format!("{:02}:{:02} UTC", seconds / 3_600 % 24, seconds / 60 % 60)
}

/// Where a limit is: `volume`, `machine`.
pub(crate) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Level => label!("volume"),
        scope => scope.name(),
    }
}

/// Name of a limit without its quotes.
pub(crate) fn limit_name(offer: &Offer, limit: &WatchedLimit) -> String {
    product_text(&offer.ceilings[limit.ceiling].name)
}

/// A rate in the unit of a limit: `3,000 IOPS`, `125 MB/s`.
pub(crate) fn format_limit(limit: &WatchedLimit, rate: f64) -> String {
    match limit.counts {
        Counts::Operations => format!("{} IOPS", number::rate(rate)),
        Counts::Bytes => throughput(rate),
    }
}

/// Credits that are left: `71 %`, or `40 to 71 %` if the balance at the start still matters.
pub(crate) fn describe_balance(balance: &CreditBalance) -> String {
    let [low, high] = balance.shares.map(|share| (share * 100.0).round());
    if high - low < 1.5 { format!("{high} %") } else { say!("{low} to {high} %") }
}

/// True if the credits end at once.
pub(crate) fn is_used_up(balance: &CreditBalance) -> bool {
    balance.ends_in.is_some_and(|span| span < Span::from_secs(1))
}

/// The end of credits: `end in 2 h 10 min at this load`.
pub(crate) fn describe_end(balance: &CreditBalance) -> String {
    match balance.ends_in {
        Some(_) if is_used_up(balance) => label!("are used up").to_owned(),
        Some(span) if balance.trend.is_some() => say!("end in {} at this load and its trend", format_duration(span)),
        Some(span) => say!("end in {} at this load", format_duration(span)),
        None if balance.trend.is_some() => label!("last for more than a day at this load and its trend").to_owned(),
        None if balance.load > 1.0 => label!("last for more than a day at this load").to_owned(),
        None => label!("do not drain at this load").to_owned(),
    }
}

/// A kind of alert in a few words.
pub(crate) fn alert_name(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::CreditsUsedUp => label!("burst credits are used up"),
        AlertKind::CreditsEnd => label!("burst credits end soon"),
        AlertKind::NearLimit => label!("near a limit"),
    }
}

/// An alert with its limit and times.
pub(crate) fn describe_alert(alert: &WatchAlert, limit: &str) -> String {
    let name = alert_name(alert.kind);
    let until = alert.until.map_or_else(String::new, |until| say!(", cleared at {}", format_time(until)));
    say!("{name}: {limit}, since {}{until}", format_time(alert.since))
}

pub(crate) const fn alert_kind(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::CreditsUsedUp => "credits-used-up",
        AlertKind::CreditsEnd => "credits-end",
        AlertKind::NearLimit => "near-limit",
    }
}
