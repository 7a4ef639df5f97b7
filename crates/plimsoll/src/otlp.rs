//! `--otlp`: metrics to a collector of OpenTelemetry.

use std::str::FromStr;

use anyhow::{Context, anyhow, bail};
use plimsoll_report::{Exposition, OtlpTimes};
use plimsoll_service::client::{ClientError, post_metrics};
use serde::Deserialize;

/// Path of metrics at a collector, unless the URL has another.
const METRICS_PATH: &str = "/v1/metrics";

/// Address of an OTLP/HTTP receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpEndpoint {
    /// `host:port`.
    authority: String,
    path: String,
}

/// Remedy for a text that is not the address of a receiver.
const NO_ENDPOINT: &str = "write http://HOST:PORT, such as http://127.0.0.1:4318, optionally with a path; for TLS send to a \
                           collector on this host that forwards it";

/// `ExportMetricsServiceResponse`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExportResponse {
    partial_success: PartialSuccess,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    /// An integer of 64 bits: text in JSON, which many receivers write as a number.
    rejected_data_points: serde_json::Value,
    error_message: String,
}

impl FromStr for OtlpEndpoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let rest = text.strip_prefix("http://").ok_or(NO_ENDPOINT)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let port = authority.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
        let is_plain = rest.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || port.is_none_or(|port| port.parse::<u16>().is_err()) {
            return Err(NO_ENDPOINT);
        }
        let path = if path.len() > 1 { path } else { METRICS_PATH };
        Ok(Self { authority: authority.to_owned(), path: path.to_owned() })
    }
}

impl OtlpEndpoint {
    /// Sends the metrics; counters began at `start`. A receiver that rejects a part of them is an error.
    pub fn send(&self, metrics: &Exposition, start: jiff::Timestamp) -> anyhow::Result<()> {
        self.export(metrics, start).with_context(|| format!("--otlp: http://{}{}", self.authority, self.path))
    }

    fn export(&self, metrics: &Exposition, start: jiff::Timestamp) -> anyhow::Result<()> {
        let [start_unix_ns, now_unix_ns] =
            [start, jiff::Timestamp::now()].map(|time| u64::try_from(time.as_nanosecond()).unwrap_or_default());
        let body = metrics.otlp(OtlpTimes { start_unix_ns, now_unix_ns });
        let response = post_metrics(&self.authority, &self.path, body).map_err(|error| match error {
            ClientError::NoService { source, .. } => anyhow!("no receiver answers ({source})"),
            ClientError::Broken { why, .. } => anyhow!("the metrics were not accepted ({why})"),
            other => other.into(),
        })?;
        // An empty response is one without fields.
        let response: ExportResponse = serde_json::from_slice(&response).unwrap_or_default();
        let PartialSuccess { rejected_data_points, error_message } = response.partial_success;
        let rejected =
            rejected_data_points.as_str().map_or_else(|| rejected_data_points.as_u64(), |text| text.parse().ok());
        match rejected.unwrap_or_default() {
            0 => Ok(()),
            rejected => bail!("the receiver rejected {rejected} values: {error_message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_have_a_port_and_the_standard_path() {
        let parse = |text: &str| text.parse().map(|endpoint: OtlpEndpoint| (endpoint.authority, endpoint.path));
        let standard = Ok(("[::1]:4318".to_owned(), "/v1/metrics".to_owned()));
        assert_eq!(parse("http://[::1]:4318"), standard);
        assert_eq!(parse("http://[::1]:4318/"), standard);
        assert_eq!(parse("http://otel:80/api/v1/otlp/v1/metrics").unwrap().1, "/api/v1/otlp/v1/metrics");
        for text in ["https://otel:4318", "otel:4318", "http://otel", "http://:4318", "http://otel:4318/a b"] {
            assert_eq!(parse(text), Err(NO_ENDPOINT), "{text}");
        }
    }
}
