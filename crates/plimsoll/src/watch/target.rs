//! The target of a watch: a running source, or a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use plimsoll_language::say;
use plimsoll_measure::watch::LoadFeed;
use plimsoll_service::client::{ClientError, fetch_page};
use plimsoll_suite::collect::{Linux, Mysql};

use super::EVERY;
use crate::args::WatchArgs;
use crate::cli_error::CliError;
use crate::collect::connect_postgres;

/// A query of Prometheus, whose range is that of the latest readings.
const RANGE_QUERY: &str = "/api/v1/query_range?";
const RANGE_INTERVALS: f64 = 5.0;

pub(super) enum WatchTarget<'a> {
    /// Sources with the load; of two, the second has the load and the first the sessions.
    Running(Vec<LoadFeed<'a>>),
    /// A file with a load.
    Recorded(PathBuf),
}

/// True for a database by its own counters.
pub(super) fn is_database(target: &str) -> bool {
    target == "mysql" || target.starts_with("postgres://") || target.starts_with("postgresql://")
}

pub(super) fn find(args: &WatchArgs) -> Result<WatchTarget<'_>, CliError> {
    let target = args.target.as_str();
    let device = args.device.as_deref().map(|device| device.trim_start_matches("/dev/").to_owned());
    let host = |device: Option<String>| {
        let source = device.as_deref().map_or_else(Linux::default, Linux::of_device);
        LoadFeed::of_counters(Box::new(source), device)
    };
    let with_device = |database| {
        let mut feeds = vec![database];
        feeds.extend(device.clone().map(|device| host(Some(device))));
        Ok(WatchTarget::Running(feeds))
    };
    if let Some(rest) = target.strip_prefix("http://") {
        let (authority, path) = rest.split_once('/').map_or((rest, "metrics"), |(authority, path)| (authority, path));
        let (authority, path) = (authority.to_owned(), format!("/{path}"));
        let is_range = path.starts_with(RANGE_QUERY);
        let every = args.every.unwrap_or(EVERY).as_secs_f64();
        let read = move || {
            let range = if is_range { latest_range(every) } else { String::new() };
            fetch_page(&authority, &format!("{path}{range}")).map_err(|error| describe(&authority, &error))
        };
        let feed = if is_range { LoadFeed::of_ranges } else { LoadFeed::of_pages };
        return Ok(WatchTarget::Running(vec![feed(Box::new(read), device)]));
    }
    match target.split_once("://") {
        _ if target == "host" => Ok(WatchTarget::Running(vec![host(device)])),
        _ if target == "mysql" => with_device(LoadFeed::of_counters(Box::new(Mysql::new(&args.client)), None)),
        Some(("postgres" | "postgresql", _)) => {
            let postgres = connect_postgres(Some(OsStr::new(target)), &args.client);
            with_device(LoadFeed::of_counters(Box::new(postgres), None))
        }
        Some((scheme, _)) => Err(CliError::usage(say!(
            "{scheme}: not a target of watch: use postgres://..., mysql with options of its client after --, \
             http://HOST:PORT/metrics, host, or a file"
        ))),
        None if target == "-" || Path::new(target).exists() => Ok(WatchTarget::Recorded(target.into())),
        None => Err(CliError::usage(say!(
            "{target}: no such file; other targets are host, mysql, postgres://... and http://HOST:PORT/metrics"
        ))),
    }
}

/// The end of a range query whose last step is now.
fn latest_range(every_s: f64) -> String {
    let now = jiff::Timestamp::now().as_second() as f64;
    format!("&start={}&end={now}&step={every_s}", now - RANGE_INTERVALS * every_s)
}

fn describe(authority: &str, error: &ClientError) -> String {
    match error {
        ClientError::NoService { source, .. } => say!("http://{authority} does not answer ({source})"),
        ClientError::Broken { why, .. } => say!("http://{authority} has no such page ({why})"),
        other => other.to_string(),
    }
}
