//! Metrics of a watch, and alert rules for them.

use plimsoll_catalogue::Counts;
use plimsoll_choose::watch::LimitUse;
use plimsoll_units::Span;

use super::{Exposition, LabelledValue};
use crate::pages::WatchReport;
use crate::words::watch::{alert_kind, scope_name};

/// Alert rules for the metrics of [`watch_metrics`].
pub const WATCH_RULES: &str = include_str!("rules.yaml");

/// A figure of the use of a limit.
type ValueOfUse<'a> = &'a dyn Fn(&LimitUse) -> Option<f64>;

/// Metrics of a watch. Unknown figures have no sample.
pub fn watch_metrics(report: &WatchReport<'_>) -> Exposition {
    let mut page = Exposition::default();
    let on = report.watcher.offer().map(|offer| offer.short().to_string()).unwrap_or_default();
    let help = "Watched target and its configuration; always 1.";
    let info = vec![("target", report.target), ("on", on.as_str())];
    page.labelled(("plimsoll_watch_info", "gauge", help), &[(info, Some(1.0))]);
    let up = report.state.is_some() && report.trouble.is_none();
    page.single("plimsoll_watch_up", "1 if the source gives figures, 0 if not.", Some(f64::from(u8::from(up))));
    page.single("plimsoll_watch_counters_ratio", "Share of time that reading the counters takes.", report.cost);
    // Figures of the past must not be taken for those of the present.
    if up {
        page.load(report);
        page.limits(report);
        page.credits(report);
        page.forecast(report);
    }
    page
}

impl Exposition {
    fn load(&mut self, report: &WatchReport<'_>) {
        let Some(latest) = report.state.map(|state| &state.latest) else { return };
        let of =
            |[reads, writes]: [Option<f64>; 2]| [(vec![("kind", "read")], reads), (vec![("kind", "write")], writes)];
        let bytes = latest.bytes_per_second().map_or([None, None], |bytes| bytes.map(Some));
        self.labelled(("plimsoll_watch_iops", "gauge", "Operations per second."), &of(latest.iops().map(Some)));
        self.labelled(("plimsoll_watch_bytes_per_second", "gauge", "Bytes per second."), &of(bytes));
        self.labelled(("plimsoll_watch_latency_seconds", "gauge", "Mean time of an operation."), &of(latest.latency_s));
        let sessions = latest.sessions;
        let active = sessions.map(|sessions| sessions.active);
        self.single("plimsoll_watch_active_sessions", "Mean active sessions of the database.", active);
        let storage = sessions.map(|sessions| sessions.storage);
        self.single(
            "plimsoll_watch_storage_ratio",
            "Share of the database's time in waits for storage that it times: a lower bound.",
            storage,
        );
        let connections = latest.connections.map(|[used, maximum]| used / maximum);
        self.single("plimsoll_watch_connections_ratio", "Used share of the database's connections.", connections);
    }

    fn limits(&mut self, report: &WatchReport<'_>) {
        let Some(state) = report.state else { return };
        let labels = |index: usize| {
            let burst = report.watcher.limits()[index].burst;
            let mut labels = label_limit(report, index);
            labels.push(("kind", if burst.is_some() { "credits" } else { "lasting" }));
            labels
        };
        let mut put = |name, kind, help, value: ValueOfUse<'_>| {
            let samples: Vec<LabelledValue<'_>> = state.limits.iter().map(|of| (labels(of.limit), value(of))).collect();
            self.labelled((name, kind, help), &samples);
        };
        let help = "Operations or bytes per second that the limit allows.";
        put("plimsoll_watch_limit", "gauge", help, &|of| report.watcher.limits()[of.limit].rate);
        let help = "Use of the limit in the latest interval; 1 is the limit.";
        put("plimsoll_watch_limit_used_ratio", "gauge", help, &|of| Some(of.now));
        let help = "Mean use of the limit in the last five minutes.";
        put("plimsoll_watch_limit_used_5m_ratio", "gauge", help, &|of| Some(of.mean));
        let help = "Time at the limit; with credits, above its rate.";
        put("plimsoll_watch_limit_seconds_total", "counter", help, &|of| Some(of.above.as_secs_f64()));
    }

    fn credits(&mut self, report: &WatchReport<'_>) {
        let Some(state) = report.state else { return };
        let labels = |index: usize, label: (&'static str, &'static str)| {
            let mut labels = label_limit(report, index);
            labels.push(label);
            labels
        };
        let mut left = Vec::new();
        for of in &state.credits {
            for (bound, share) in ["least", "most"].into_iter().zip(of.shares) {
                left.push((labels(of.limit, ("bound", bound)), Some(share)));
            }
        }
        let help = "Share of the burst credits that is left, at least and at most.";
        self.labelled(("plimsoll_watch_credits_ratio", "gauge", help), &left);
        let ends = state.credits.iter();
        let ends = ends.map(|of| (label_limit(report, of.limit), of.ends_in.map(Span::as_secs_f64)));
        let help = "Time until the credits end at the present load; absent if they last for a day.";
        self.labelled(("plimsoll_watch_credits_end_seconds", "gauge", help), &ends.collect::<Vec<_>>());
        let firing = state.firing.iter();
        let firing = firing.map(|of| (labels(of.limit, ("alert", alert_kind(of.kind))), Some(1.0)));
        let help = "1 while an alert fires; absent otherwise.";
        self.labelled(("plimsoll_watch_alert", "gauge", help), &firing.collect::<Vec<_>>());
    }

    fn forecast(&mut self, report: &WatchReport<'_>) {
        let day = report.state.and_then(|state| state.day);
        let peak = day.and_then(|day| day.peak).map(|(_, used, _)| used);
        let help = "Highest use of a limit in the next 24 hours, by former days.";
        self.single("plimsoll_watch_day_peak_ratio", help, peak);
    }
}

fn label_limit<'a>(report: &WatchReport<'a>, index: usize) -> Vec<(&'static str, &'a str)> {
    let limit = &report.watcher.limits()[index];
    let ceiling = report.watcher.offer().map(|offer| &offer.ceilings[limit.ceiling]);
    let (name, place) = ceiling.map_or(("", ""), |ceiling| (&*ceiling.name, scope_name(ceiling.scope)));
    let unit = match limit.counts {
        Counts::Operations => "operations",
        Counts::Bytes => "bytes",
    };
    vec![("limit", name), ("scope", place), ("unit", unit)]
}
