//! CrystalDiskMark, as its versions 3.0 and 8.0 measure: passes over one file, of which the best run is the score.
//!
//! Version 3 goes on until its timer is looked at, after a whole pass or a batch, and flushes what it wrote inside the
//! time. Version 8 leaves the work to `DiskSpd`: so many operations in flight from so many threads for a fixed time, and
//! no flush. Knows nothing about where it runs.

mod plan;
mod print;
mod score;

use std::str::FromStr;

use clap::{ArgAction, ValueEnum};
use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Span};

use crate::ground::{Facts, Nature};
use crate::options::{SuiteOptions, Surroundings, defaults, percent, spelled, switch};
use crate::recipe::{Done, Recipe};
use crate::step::{FileSpec, Step};

pub use plan::Test;
use plan::{Goal, Planned};

/// The version whose semantics and layout are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.0: sequential, 512 KB and 4 KB at depths of 1 and 32; 1 MiB and less by synchronous calls.
    Three,
    /// 8.0: tests of a profile, by queues and threads.
    Eight,
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "3" => Ok(Self::Three),
            "8" => Ok(Self::Eight),
            _ => Err(format!("version {text} is not known: write --version 3 or --version 8")),
        }
    }
}

/// Which tests version 8 makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// 1 MiB at Q8T1 and Q1T1, 4 KiB at Q32T1 and Q1T1
    #[default]
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

/// How the runs of a test become its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The best of its runs; of latencies, the lowest mean.
    Best,
    /// The mean of its runs.
    Mean,
}

/// Directions of transfer that are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    /// Reads, then writes.
    Both,
    /// Reads only. A device is then never written to.
    Reads,
}

/// Contents of the file and of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Random data, which do not compress.
    Random,
    /// Zeroes, which some devices never store.
    Zeroes,
}

/// Options of CrystalDiskMark.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct CrystalDiskMarkOptions {
    /// Whose semantics and layout: 3 or 8
    #[arg(id = "semantics", long = "version", value_name = "3|8", default_value = "8")]
    pub version: Version,
    /// Which tests version 8 makes
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    pub profile: Profile,
    /// Version 8: each test once more, mixed, with this share of reads
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub mix: Option<f64>,
    /// Size of the test file; 1000 MiB for version 3, 1 GiB for version 8
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Runs of each test that count
    #[arg(long, value_name = "RUNS", default_value_t = 5)]
    pub runs: u32,
    /// The mean of the runs as score, instead of the best
    #[arg(long = "mean", action = ArgAction::SetTrue, value_parser = switch(Score::Best, Score::Mean))]
    pub score: Score,
    /// Reads only: an existing file or device is never written to
    #[arg(
        long = "reads-only",
        action = ArgAction::SetTrue,
        value_parser = switch(Directions::Both, Directions::Reads)
    )]
    pub directions: Directions,
    /// How long a run is
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// How long it rests between two tests
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Span>,
    /// Write zeroes instead of random data
    #[arg(long = "zeroes", action = ArgAction::SetTrue, value_parser = switch(Data::Random, Data::Zeroes))]
    pub data: Data,
    /// Version 8: tests in place of the profile's; empty for those of the profile.
    #[arg(skip)]
    pub tests: Vec<Test>,
    /// Seed of random places.
    #[arg(skip = 1_u64)]
    pub seed: u64,
    /// The listing's line of the date; empty for no such line.
    #[arg(skip)]
    pub date: String,
}

impl CrystalDiskMarkOptions {
    /// The defaults of a version with a profile.
    pub fn of(version: Version, profile: Profile) -> Self {
        Self { version, profile, ..Self::default() }
    }

    /// Bytes of the file.
    fn size(&self) -> Bytes {
        self.size.unwrap_or(match self.version {
            Version::Three => Bytes::mib(1000),
            Version::Eight => Bytes::gib(1),
        })
    }

    /// Length of a run.
    fn measure(&self) -> Span {
        self.measure.unwrap_or(Span::from_secs(if self.profile == Profile::Flash { 1 } else { 5 }))
    }

    /// Rest between two tests.
    fn interval(&self) -> Span {
        self.interval.unwrap_or(match (self.version, self.profile) {
            (Version::Three, _) => Span::ZERO,
            (Version::Eight, Profile::Flash) => Span::from_secs(30),
            (Version::Eight, _) => Span::from_secs(5),
        })
    }

    fn checked(&self, facts: &Facts) -> Result<(), String> {
        let (mib, size) = (1 << 20, self.size());
        if self.version == Version::Three && (self.profile, self.mix) != (Profile::Default, None) {
            return Err("version 3 has one list of tests: leave the profile and the mix out, or take version 8".into());
        }
        if self.version == Version::Three && !self.tests.is_empty() {
            return Err("version 3 has one list of tests: take version 8 for others".into());
        }
        if self.mix.is_some_and(|reads| !(reads > 0.0 && reads < 1.0)) {
            return Err("a mix is a share of reads between 0 and 100 %, such as 70: write --mix 70".into());
        }
        if size.get() < mib || !size.get().is_multiple_of(mib) {
            return Err(format!("the file is measured in whole MiB, and {size} is not: write --size 1GiB"));
        }
        if !(1..=99).contains(&self.runs) {
            return Err(format!("{} runs are not between 1 and 99: write --runs 5", self.runs));
        }
        if self.measure().is_zero() {
            return Err("a run needs time: write --measure 5s".into());
        }
        if size > facts.space {
            let (name, space) = (&facts.subject.name, facts.space);
            return Err(format!("{name}: {size} are needed, and {space} are there: give --size less"));
        }
        if facts.read_only && self.directions != Directions::Reads {
            return Err(format!(
                "{}: it would be written to: name it with --destroy too, or give --reads-only",
                facts.subject.name
            ));
        }
        plan::tests(self).iter().try_for_each(|test| test.checked(size, facts.grid))
    }
}

impl Default for CrystalDiskMarkOptions {
    fn default() -> Self {
        defaults()
    }
}

impl SuiteOptions for CrystalDiskMarkOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let options = Self { date: surroundings.date.clone(), ..self.clone() };
        Ok(Box::new(CrystalDiskMark::new(options, facts)?))
    }
}

/// The recipe.
#[derive(Debug)]
pub struct CrystalDiskMark {
    options: CrystalDiskMarkOptions,
    tests: Vec<Test>,
    fills: bool,
    plan: Vec<Planned>,
}

impl CrystalDiskMark {
    /// The recipe for a ground.
    ///
    /// # Errors
    /// What is wrong with an option or the ground, and what to write instead, in one line.
    pub fn new(options: CrystalDiskMarkOptions, facts: &Facts) -> Result<Self, String> {
        options.checked(facts)?;
        // A device that is only read is read as it is; a file has to be filled.
        let fills = options.directions != Directions::Reads || facts.nature == Nature::Directory;
        let (tests, plan) = (plan::tests(&options), plan::planned(&options, fills));
        Ok(Self { options, tests, fills, plan })
    }
}

impl Recipe for CrystalDiskMark {
    fn name(&self) -> &'static str {
        "crystaldiskmark"
    }

    fn follows(&self) -> String {
        let version = match self.options.version {
            Version::Three => "3.0",
            Version::Eight => "8.0",
        };
        format!("CrystalDiskMark {version}")
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let mut settings = vec![
            ("size".to_owned(), options.size().to_string()),
            ("runs".to_owned(), options.runs.to_string()),
            ("score".to_owned(), format!("{:?}", options.score).to_lowercase()),
            ("measure".to_owned(), options.measure().to_string()),
            ("interval".to_owned(), options.interval().to_string()),
            ("data".to_owned(), format!("{:?}", options.data).to_lowercase()),
            ("directions".to_owned(), format!("{:?}", options.directions).to_lowercase()),
        ];
        if options.version == Version::Eight {
            settings.insert(0, ("profile".to_owned(), spelled(&options.profile)));
            let mix = options.mix.map(|reads| ("mix".to_owned(), format!("{:.0} % reads", reads * 100.0)));
            settings.extend(mix);
        }
        settings
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { writes: self.fills, ..FileSpec::reserved(self.options.size()) }]
    }

    fn expected(&self) -> usize {
        self.plan.len()
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        self.plan.get(done.len()).map(|planned| planned.step.clone())
    }

    fn listings(&self, done: &[Done], facts: &Facts) -> Vec<Listing> {
        let cells = self.cells(done);
        vec![
            Listing {
                title: format!("text of {}", self.follows()),
                text: match self.options.version {
                    Version::Three => print::three(&self.options, &cells, facts),
                    Version::Eight => print::eight(&self.options, &self.tests, &cells, facts),
                },
            },
            Listing { title: "every run".into(), text: score::table(&cells) },
        ]
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        score::verdicts(&self.options, &self.cells(done), facts)
    }
}

impl CrystalDiskMark {
    /// What was seen of each test in each direction, in the order of their lines.
    fn cells(&self, done: &[Done]) -> Vec<score::Cell> {
        let mut cells: Vec<score::Cell> = Vec::new();
        for (planned, done) in self.plan.iter().zip(done) {
            let (Goal::Run(line), Some(seen)) = (planned.goal, done.seen.io()) else { continue };
            if cells.last().is_none_or(|cell| cell.line != line) {
                cells.push(score::Cell { line, name: done.step.name.clone(), runs: Vec::new() });
            }
            let cell = cells.last_mut().expect("one was just added where there was none");
            cell.runs.extend(score::Seen::of(seen));
        }
        cells
    }
}
