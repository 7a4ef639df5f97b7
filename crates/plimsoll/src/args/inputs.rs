//! Flags of commands that read inputs.

use std::path::PathBuf;

use clap::Args;
use jiff::tz::TimeZone;
use plimsoll_measure::{InputFiles, parse_begin, parse_interval, parse_zone};
use plimsoll_units::Span;

/// The inputs, and properties that they lack.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Reports: files (also gz and zip), directories (recursive), or - for standard input
    #[arg(required = true, value_name = "FILE|FOLDER|-")]
    pub files: Vec<PathBuf>,
    /// Start time of inputs without timestamps, such as 2026-03-02T08:00:00 or 2026-03-02T17:00:00+09:00
    #[arg(long, value_name = "TIME", value_parser = parse_begin)]
    pub begin: Option<String>,
    /// Time zone of timestamps without an offset, such as +09:00 or Asia/Tokyo; UTC by default
    #[arg(long, value_name = "ZONE", value_parser = parse_zone, allow_hyphen_values = true)]
    pub time_zone: Option<TimeZone>,
    /// Sampling interval of inputs that lack it, such as 10s
    #[arg(long, value_name = "TIME", value_parser = parse_interval)]
    pub interval: Option<Span>,
    /// Only this device, file or tablespace, without totals
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,
}

impl InputArgs {
    /// The inputs to read.
    pub fn files(&self) -> InputFiles {
        let Self { files, begin, time_zone, interval, only } = self;
        let (files, begin, time_zone) = (files.clone(), begin.clone(), time_zone.clone());
        InputFiles { files, begin, time_zone, interval: *interval, only: only.clone() }
    }
}
