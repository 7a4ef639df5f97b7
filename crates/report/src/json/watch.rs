//! Watches.

use plimsoll_catalogue::{Counts, Money, Scope};
use plimsoll_choose::watch::{CreditBalance, DayForecast, LimitUse, WatchAlert};
use plimsoll_units::{Instant, Span};

use super::view;
use crate::pages::WatchReport;
use crate::words::watch::alert_kind;

/// An item of a watch.
type Of<'a, T> = (&'a WatchReport<'a>, &'a T);

view! {
    /// A load against the limits of a configuration.
    #[schemars(rename = "Watch")]
    struct WatchResult from report: &WatchReport<'_> {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.watch/1"))]
        format: &'static str = "plimsoll.watch/1",
        /// The watched database, host or file.
        target: String = report.target.to_owned(),
        /// The configuration of `--on`; null if none was given.
        configuration: Option<String> = report.watcher.offer().map(|offer| offer.config.to_string()),
        /// Reason why the source gives no figures at present; null if it does.
        trouble: Option<String> = report.trouble.map(str::to_owned),
        /// Share of time that reading the counters takes; null for files.
        counters_share: Option<f64> = report.cost,
        /// Damaged lines of the history, which were skipped.
        damaged_lines: usize = report.damaged,
        /// End of the latest interval in nanoseconds since 1970, or since the begin of an input without times; null
        /// before the first interval.
        at_ns: Option<u64> = report.state.map(|state| state.latest.end.as_nanos()),
        /// Time with observations in seconds.
        observed_s: f64 = report.state.map_or(0.0, |state| state.observed.as_secs_f64()),
        /// Reads per second.
        reads_per_second: Option<f64> = report.state.map(|state| state.latest.iops()[0]),
        /// Writes per second.
        writes_per_second: Option<f64> = report.state.map(|state| state.latest.iops()[1]),
        /// Bytes read per second; null if the source lacks them.
        read_bytes_per_second: Option<f64> = report.state.and_then(|state| Some(state.latest.bytes_per_second()?[0])),
        /// Bytes written per second; null if the source lacks them.
        written_bytes_per_second: Option<f64> = report.state.and_then(|state| Some(state.latest.bytes_per_second()?[1])),
        /// Mean seconds of a read; null if the source lacks them.
        read_latency_s: Option<f64> = report.state.and_then(|state| state.latest.latency_s[0]),
        /// Mean seconds of a write; null if the source lacks them.
        write_latency_s: Option<f64> = report.state.and_then(|state| state.latest.latency_s[1]),
        /// Mean active sessions of the database; null if unknown.
        active_sessions: Option<f64> = report.state.and_then(|state| Some(state.latest.sessions?.active)),
        /// Share of their time in the waits for storage that the database times: a lower bound; null if unknown.
        storage_share: Option<f64> = report.state.and_then(|state| Some(state.latest.sessions?.storage)),
        /// Connections to the database; null if unknown.
        connections: Option<f64> = report.state.and_then(|state| Some(state.latest.connections?[0])),
        /// Their maximum; null if unknown.
        max_connections: Option<f64> = report.state.and_then(|state| Some(state.latest.connections?[1])),
        /// Limits, the one that binds first at the top.
        limits: Vec<WatchedLimitView> = report.state.iter().flat_map(|state| &state.limits).map(|of| (report, of).into()).collect(),
        /// Burst credits, those that end first at the top.
        credits: Vec<CreditView> = report.state.iter().flat_map(|state| &state.credits).map(|of| (report, of).into()).collect(),
        /// Forecast of the next 24 hours; null without former days.
        day: Option<DayView> = report.state.and_then(|state| state.day.as_ref()).map(|day| (report, day).into()),
        /// Firing alerts, then those that were cleared.
        alerts: Vec<AlertView> = report.state.iter().flat_map(|state| state.firing.iter().chain(&state.cleared)).map(|of| (report, of).into()).collect(),
        /// The cheapest change of an option that lifts the limit of the headline; null if there is none.
        next_step: Option<NextStep> = view(report.step.and_then(|step| step.lift.as_ref())),
    }

    /// Use of a limit.
    struct WatchedLimitView from (report, of): Of<'_, LimitUse> {
        /// Name of the limit.
        limit: String = limit_name(report, of.limit),
        /// Where it is.
        scope: Option<Scope> = report.watcher.offer().map(|offer| offer.ceilings[report.watcher.limits()[of.limit].ceiling].scope),
        /// Counted quantity.
        counts: Counts = report.watcher.limits()[of.limit].counts,
        /// Operations or bytes per second; null if it counts both.
        rate: Option<f64> = report.watcher.limits()[of.limit].rate,
        /// Use in the latest interval; 1 is the limit.
        used_now: f64 = of.now,
        /// Mean use of the last five minutes.
        used_5min: f64 = of.mean,
        /// Use in the interval with the highest.
        used_highest: f64 = of.highest,
        /// Seconds at 95 % or above; of a limit with credits, above its rate.
        at_limit_s: f64 = of.above.as_secs_f64(),
    }

    /// Burst credits of a limit.
    struct CreditView from (report, of): Of<'_, CreditBalance> {
        /// Name of the limit.
        limit: String = limit_name(report, of.limit),
        /// Share that is left at least: the balance at the start may be unknown.
        left_at_least: f64 = of.shares[0],
        /// Share that is left at most.
        left_at_most: f64 = of.shares[1],
        /// Use of the rate by the present load: credits drain above 1.
        load: f64 = of.load,
        /// Change of this use per hour, which the forecast continues; null without a significant trend.
        trend_per_hour: Option<f64> = of.trend,
        /// Seconds until they end at the present load and its trend, if they were full at the start; null if they last for a day.
        ends_in_s: Option<f64> = of.ends_in.map(Span::as_secs_f64),
    }

    /// Forecast by the load at the same time of former days.
    struct DayView from (report, day): Of<'_, DayForecast> {
        /// Number of former days.
        former_days: usize = day.days,
        /// Highest use of a limit without credits; null if there is no such limit.
        peak_used: Option<f64> = day.peak.map(|(_, used, _)| used),
        /// Name of that limit.
        peak_limit: Option<String> = day.peak.map(|(limit, ..)| limit_name(report, limit)),
        /// Its time in nanoseconds since 1970.
        peak_at_ns: Option<u64> = day.peak.map(|(_, _, at)| at.as_nanos()),
        /// End of the first credits that end, in nanoseconds since 1970; null if none do.
        credits_end_ns: Option<u64> = day.credits_end.map(|(_, at)| at.as_nanos()),
    }

    /// An alert.
    struct AlertView from (report, of): Of<'_, WatchAlert> {
        /// Kind: `credits-used-up`, `credits-end` or `near-limit`.
        kind: &'static str = alert_kind(of.kind),
        /// Name of the limit.
        limit: String = limit_name(report, of.limit),
        /// Time since which it fires, in nanoseconds since 1970.
        since_ns: u64 = of.since.as_nanos(),
        /// Time at which it was cleared; null while it fires.
        until_ns: Option<u64> = of.until.map(Instant::as_nanos),
    }

    /// A change of the configuration.
    struct NextStep from lift: &plimsoll_choose::Lift {
        /// Option that changes.
        option: String = lift.option.clone(),
        /// Present value.
        from: String = lift.change.0.clone(),
        /// New value.
        to: String = lift.change.1.clone(),
        /// Configuration after the change.
        configuration: String = lift.config.to_string(),
        /// Operations per second that its limits allow.
        iops: f64 = lift.iops,
        /// Additional cost of a month; null if a price is unknown.
        costs_monthly: Option<Money> = lift.costs,
    }
}

fn limit_name(report: &WatchReport<'_>, limit: usize) -> String {
    let ceiling = report.watcher.limits()[limit].ceiling;
    report.watcher.offer().map(|offer| offer.ceilings[ceiling].name.to_string()).unwrap_or_default()
}
