//! Flags of inputs: those that every command takes that reads them, and of what makes them for `plimsoll demand`,
//! written out of a workload, or real ones without their names.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::civil::DateTime;
use plimsoll_ingest::Writing;
use plimsoll_units::Span;

pub(super) const DEMO_EXAMPLES: &str = "\
Examples:
  plimsoll demo awr-html > awr.html               one report, of the busiest hour of a working day
  plimsoll demo statspack --windows 24 --out day  a day of them, in a folder of its own
  plimsoll demo awr-text --instances 2 --windows 168 --out week && plimsoll demand week";

pub(super) const ANONYMIZE_EXAMPLES: &str = "\
Examples:
  plimsoll anonymize awrrpt_1_100_101.html > awr.html   one report without names, to look at before it is given away
  plimsoll anonymize reports/*.html --out given         several: a name has the same stand-in in all of them";

/// What is read, and what the reader knows of it that it does not say.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Reports: files, packed ones too (gz, zip), folders with all that is below them, or - for standard input
    #[arg(required = true, value_name = "FILE|FOLDER|-")]
    pub files: Vec<PathBuf>,
    /// When inputs begin that do not say so, such as 2026-03-02T08:00:00
    #[arg(long, value_name = "TIME")]
    pub begin: Option<DateTime>,
    /// How far apart samples are in inputs that do not say so, such as 10s
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub interval: Option<Span>,
    /// Only this device, file or tablespace: without what is said of all of them together
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,
}

fn interval(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|malformed: plimsoll_units::Malformed| malformed.to_string())?;
    if span == Span::ZERO { Err("samples are some time apart: write such as 10s".to_owned()) } else { Ok(span) }
}

/// `plimsoll demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// What to write
    #[arg(value_parser = PossibleValuesParser::new(Writing::ALL.map(|(name, _)| name)))]
    pub form: String,
    /// How many windows follow each other, from midnight on; one alone is that before noon
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=9_000))]
    pub windows: u32,
    /// Minutes of each
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_440))]
    pub minutes: u32,
    /// Instances of the database that share the work
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub instances: u32,
    /// Make this folder, and write into it: needed for more than one file
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// `plimsoll anonymize`
#[derive(Debug, Args)]
pub struct AnonymizeArgs {
    /// Reports, lists and logs as text or HTML; gz is unpacked
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Make this folder, and write into it under names without meaning: needed for more than one file
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}
