//! The log of a service: a line for each event on standard error.

use std::fmt;

use jiff::Timestamp;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::args::LogFormat;

/// Sends the events of all crates to standard error from now on.
pub fn install(format: LogFormat) {
    let subscriber =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_timer(UtcMilliseconds).with_target(false);
    let installed = match format {
        LogFormat::Text => subscriber.try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).with_span_list(false).try_init(),
    };
    installed.expect("a process installs its log once");
}

/// RFC 3339 in UTC, in milliseconds.
struct UtcMilliseconds;

impl FormatTime for UtcMilliseconds {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}
