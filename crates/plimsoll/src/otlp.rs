//! `--otlp`: metrics to a collector of OpenTelemetry.

use anyhow::Context;
use plimsoll_report::{Exposition, OtlpTimes};
use plimsoll_service::OtlpEndpoint;

/// Sends metrics whose counters began at `start`.
pub fn send_metrics(endpoint: &OtlpEndpoint, metrics: &Exposition, start: jiff::Timestamp) -> anyhow::Result<()> {
    let [start_unix_ns, now_unix_ns] =
        [start, jiff::Timestamp::now()].map(|time| u64::try_from(time.as_nanosecond()).unwrap_or_default());
    let request = metrics.otlp(OtlpTimes { start_unix_ns, now_unix_ns });
    endpoint.send(request).with_context(|| format!("--otlp: {endpoint}"))
}
