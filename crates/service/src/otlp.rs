//! Client of OTLP/HTTP receivers: sends metrics to a collector of OpenTelemetry.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::Deserialize;

use crate::client::{ClientError, post_metrics};

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

/// Metrics were not delivered.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// Nothing listens at the address.
    #[error("no receiver answers ({0})")]
    NoReceiver(io::Error),
    /// The response is not a success.
    #[error("the metrics were not accepted ({0})")]
    Refused(String),
    /// The receiver rejected a part of the values, with its message.
    #[error("the receiver rejected {count} values: {message}")]
    Rejected {
        /// Number of values.
        count: u64,
        /// Reason of the receiver.
        message: String,
    },
    /// Another failure of the request.
    #[error(transparent)]
    Client(ClientError),
}

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

impl fmt::Display for OtlpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

impl OtlpEndpoint {
    /// Sends an `ExportMetricsServiceRequest` in JSON.
    ///
    /// # Errors
    /// The receiver does not answer within ten seconds, or rejects the metrics or a part of them.
    pub fn send(&self, request: Vec<u8>) -> Result<(), OtlpError> {
        let response = post_metrics(&self.authority, &self.path, request).map_err(|error| match error {
            ClientError::NoService { source, .. } => OtlpError::NoReceiver(source),
            ClientError::Broken { why, .. } => OtlpError::Refused(why),
            other => OtlpError::Client(other),
        })?;
        // An empty response is one without fields.
        let response: ExportResponse = serde_json::from_slice(&response).unwrap_or_default();
        let PartialSuccess { rejected_data_points, error_message } = response.partial_success;
        let rejected =
            rejected_data_points.as_str().map_or_else(|| rejected_data_points.as_u64(), |text| text.parse().ok());
        match rejected.unwrap_or_default() {
            0 => Ok(()),
            count => Err(OtlpError::Rejected { count, message: error_message }),
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
