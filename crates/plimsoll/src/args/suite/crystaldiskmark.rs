//! Flags of `plimsoll suite crystaldiskmark`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::crystaldiskmark::{
    CrystalDiskMark, CrystalDiskMarkOptions, Data, Directions, Profile, Score, Version,
};
use plimsoll_suite::{Facts, Nature, Recipe};
use plimsoll_units::{Bytes, Span};

use super::{Place, PlaceArgs, Suite};
use crate::words::Percent;

/// `plimsoll suite crystaldiskmark`
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
pub struct CrystalDiskMarkArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Whose semantics and layout: 3 or 8
    #[arg(long = "version", value_name = "3|8", default_value_t = 8, value_parser = clap::value_parser!(u8).range(3..=8))]
    pub semantics: u8,
    /// Which tests version 8 makes
    #[arg(long, value_enum)]
    pub profile: Option<ProfileWord>,
    /// Version 8: each test once more, mixed, with this share of reads
    #[arg(long, value_name = "PERCENT")]
    pub mix: Option<Percent>,
    /// Size of the test file; 1000 MiB for version 3, 1 GiB for version 8
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Runs of each test that count
    #[arg(long, value_name = "RUNS", default_value_t = 5)]
    pub runs: u32,
    /// The mean of the runs as score, instead of the best
    #[arg(long)]
    pub mean: bool,
    /// Reads only: an existing file or device is never written to
    #[arg(long)]
    pub reads_only: bool,
    /// How long a run is
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// How long it rests between two tests
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Span>,
    /// Write zeroes instead of random data
    #[arg(long)]
    pub zeroes: bool,
}

/// Which tests version 8 makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileWord {
    /// 1 MiB at Q8T1 and Q1T1, 4 KiB at Q32T1 and Q1T1
    Default,
    /// 1 MiB at Q8T1, 128 KiB at Q32T1, 4 KiB at Q32T16 and Q1T1
    Nvme,
    /// 1 MiB at Q8T1, 4 KiB at Q32T1
    Peak,
    /// 1 MiB and 4 KiB at Q1T1
    Real,
    /// 1 MiB at Q8T1
    Demo,
    /// Those of the default, a second each, with half a minute of rest between them
    Flash,
}

impl Suite for CrystalDiskMarkArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let version = match self.semantics {
            3 => Version::Three,
            8 => Version::Eight,
            other => return Err(format!("version {other} is not known: write --version 3 or --version 8")),
        };
        let profile = match self.profile {
            None | Some(ProfileWord::Default) => Profile::Default,
            Some(ProfileWord::Nvme) => Profile::Nvme,
            Some(ProfileWord::Peak) => Profile::Peak,
            Some(ProfileWord::Real) => Profile::Real,
            Some(ProfileWord::Demo) => Profile::Demo,
            Some(ProfileWord::Flash) => Profile::Flash,
        };
        let usual = CrystalDiskMarkOptions::of(version, profile);
        let options = CrystalDiskMarkOptions {
            mix: self.mix.map(|Percent(reads)| reads),
            size: self.size.unwrap_or(usual.size),
            runs: self.runs,
            score: if self.mean { Score::Mean } else { Score::Best },
            directions: if self.reads_only { Directions::Reads } else { Directions::Both },
            measure: self.measure.unwrap_or(usual.measure),
            interval: self.interval.unwrap_or(usual.interval),
            date: match facts.nature {
                Nature::Model => String::new(),
                _ => jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S").to_string(),
            },
            data: if self.zeroes { Data::Zeroes } else { Data::Random },
            ..usual
        };
        Ok(Box::new(CrystalDiskMark::new(options, facts)?))
    }
}
