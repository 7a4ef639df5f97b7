//! Flags of `plimsoll watch`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use plimsoll_front::sockets::ListenAddress;
use plimsoll_measure::Percent;
use plimsoll_units::Span;

use super::forms::FormArgs;
use super::offers::TermsArgs;
use plimsoll_service::OtlpEndpoint;

pub(super) const WATCH_EXAMPLES: &str = "\
Examples:
  plimsoll watch --on aws/gp3:500GiB,iops=12000      this host, on a volume that was bought
  plimsoll watch postgres://db1/shop --on 'aws/gp2:500GiB on aws/m5.large' --history /var/lib/plimsoll/shop
  plimsoll watch postgres:///shop --device nvme1n1 --on aws/gp2:500GiB   load of the device, time of the database
  plimsoll watch http://db1:9100/metrics --device sda --on oci:500GB@10vpu --listen 127.0.0.1:9464
  plimsoll watch iostat.txt --on aws/gp2:500GiB      what it would have reported for a recorded load
  plimsoll watch --rules > rules.yaml                alert rules for the metrics of --listen";

/// `plimsoll watch`
#[derive(Debug, Args)]
#[command(mut_arg("html", |arg| arg.visible_alias("report")))]
pub struct WatchArgs {
    /// What to watch: `host`; `postgres://...`; `mysql`, with options of its client after `--`; `http://HOST:PORT/PATH`, a
    /// page of an exporter or a range query of Prometheus; or a file that `plimsoll demand` reads, which is replayed
    #[arg(value_name = "TARGET", default_value = "host")]
    pub target: String,
    /// Configuration of the storage, whose limits are watched, optionally on a machine
    #[arg(long, value_name = "CONFIG")]
    pub on: Option<String>,
    /// Take the load of this device only; of a database on this host, instead of its own counters
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Interval of readings, 10s by default; of a file, for formats that lack it
    #[arg(long, value_name = "TIME")]
    pub every: Option<Span>,
    /// End after this time; by default at Ctrl-C or q
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<Span>,
    /// Serve metrics for Prometheus at http://HOST:PORT/metrics
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_listen)]
    pub listen: Option<ListenAddress>,
    /// Send the same metrics at each reading to a collector of OpenTelemetry, such as `http://127.0.0.1:4318` (OTLP/HTTP,
    /// JSON)
    #[arg(long, value_name = "URL")]
    pub otlp: Option<OtlpEndpoint>,
    /// Directory for the load of four weeks, at most 16 MiB a day (about 1 MiB at 10s); forecasts of the day need it
    #[arg(long, value_name = "FOLDER")]
    pub history: Option<PathBuf>,
    /// Raise an alert this long before burst credits end
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub warn_before: Span,
    /// Share of the burst credits at the start, such as 40%; unknown by default, and full credits are then assumed
    #[arg(long, value_name = "PERCENT")]
    pub credits: Option<Percent>,
    /// Print alert rules for the metrics, in YAML, and end
    #[arg(long)]
    pub rules: bool,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    /// Options for psql or the client of MySQL
    #[arg(last = true, value_name = "OPTION")]
    pub client: Vec<OsString>,
}

fn parse_listen(text: &str) -> Result<ListenAddress, String> {
    let address = text.strip_prefix("tcp:").unwrap_or(text);
    format!("tcp:{address}").parse().map_err(|_| "write an address and a port, such as 127.0.0.1:9464".to_owned())
}
