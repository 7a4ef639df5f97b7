//! CrystalDiskMark, as its versions 3.0 and 8.0 measure: passes over one file, of which the best run is the score.
//!
//! Version 3 goes on until its timer is looked at, after a whole pass or a batch, and flushes what it wrote inside the
//! time. Version 8 leaves the work to `DiskSpd`: so many operations in flight from so many threads for a fixed time, and
//! no flush. Knows nothing about where it runs.

mod plan;
mod print;
mod score;

use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Span};

use crate::ground::{Facts, Nature};
use crate::recipe::{Done, Recipe};
use crate::step::{FileSpec, Step};

pub use plan::Test;
use plan::{Goal, Planned};

/// Whose semantics are followed, and whose layout is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.0: sequential, 512 KB and 4 KB at depths of 1 and 32; 1 MiB and less by synchronous calls.
    Three,
    /// 8.0: tests of a profile, by queues and threads.
    Eight,
}

/// Which tests version 8 makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// 1 MiB at Q8T1 and Q1T1, 4 KiB at Q32T1 and Q1T1.
    #[default]
    Default,
    /// 1 MiB at Q8T1, 128 KiB at Q32T1, 4 KiB at Q32T16 and Q1T1.
    Nvme,
    /// 1 MiB at Q8T1, 4 KiB at Q32T1.
    Peak,
    /// 1 MiB and 4 KiB at Q1T1.
    Real,
    /// 1 MiB at Q8T1.
    Demo,
    /// Those of the default, one second each, with half a minute of rest between them.
    Flash,
}

/// What becomes the score of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// The best of its runs; of latencies, the lowest mean.
    #[default]
    Best,
    /// The mean of its runs.
    Mean,
}

/// What is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// Reads, then writes.
    #[default]
    Both,
    /// Reads only. A device is then never written to.
    Reads,
    /// Writes only.
    Writes,
}

/// What the file holds and writes write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Data {
    /// Random data, which do not compress.
    #[default]
    Random,
    /// Zeroes, which some devices never store.
    Zeroes,
}

/// What can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct CrystalDiskMarkOptions {
    /// Whose semantics and layout.
    pub version: Version,
    /// Version 8: which tests.
    pub profile: Profile,
    /// Version 8: tests in place of the profile's; empty for those of the profile.
    pub tests: Vec<Test>,
    /// Version 8: a share of reads, between 0 and 1, with which every test is made once more, mixed; none for no such tests.
    pub mix: Option<f64>,
    /// Bytes of the file, whole MiB.
    pub size: Bytes,
    /// Runs that count for each test, 1 to 99. One more comes before them and does not count.
    pub runs: u32,
    /// What becomes the score.
    pub score: Score,
    /// Reads, writes or both.
    pub directions: Directions,
    /// How long a run is.
    pub measure: Span,
    /// How long it rests between two tests.
    pub interval: Span,
    /// What is written.
    pub data: Data,
    /// What determines random places.
    pub seed: u64,
    /// What stands on the listing's line of the date; empty for no such line.
    pub date: String,
}

impl CrystalDiskMarkOptions {
    /// What a version does with a profile if it is told nothing else.
    pub fn of(version: Version, profile: Profile) -> Self {
        let is_flash = profile == Profile::Flash;
        let (size, interval) = match version {
            Version::Three => (Bytes::mib(1000), Span::ZERO),
            Version::Eight => (Bytes::gib(1), Span::from_secs(if is_flash { 30 } else { 5 })),
        };
        Self {
            version,
            profile,
            tests: Vec::new(),
            mix: None,
            size,
            runs: 5,
            score: Score::Best,
            directions: Directions::Both,
            measure: Span::from_secs(if is_flash { 1 } else { 5 }),
            interval,
            data: Data::Random,
            seed: 1,
            date: String::new(),
        }
    }

    fn checked(&self, facts: &Facts) -> Result<(), String> {
        let mib = 1 << 20;
        if self.version == Version::Three && (self.profile, self.mix) != (Profile::Default, None) {
            return Err("version 3 has one list of tests: leave the profile and the mix out, or take version 8".into());
        }
        if self.version == Version::Three && !self.tests.is_empty() {
            return Err("version 3 has one list of tests: take version 8 for others".into());
        }
        if self.mix.is_some_and(|reads| !(reads > 0.0 && reads < 1.0)) {
            return Err("a mix is a share of reads between 0 and 100 %, such as 70: write --mix 70".into());
        }
        if self.size.get() < mib || !self.size.get().is_multiple_of(mib) {
            return Err(format!("the file is measured in whole MiB, and {} is not: write --size 1GiB", self.size));
        }
        if !(1..=99).contains(&self.runs) {
            return Err(format!("{} runs are not between 1 and 99: write --runs 5", self.runs));
        }
        if self.measure.is_zero() {
            return Err("a run needs time: write --measure 5s".into());
        }
        if self.size > facts.space {
            let (name, space) = (&facts.subject.name, facts.space);
            return Err(format!("{name}: {} are needed, and {space} are there: give --size less", self.size));
        }
        if facts.read_only && self.directions != Directions::Reads {
            return Err(format!(
                "{}: it would be written to: name it with --destroy too, or give --reads-only",
                facts.subject.name
            ));
        }
        plan::tests(self).iter().try_for_each(|test| test.checked(self.size, facts.grid))
    }
}

impl Default for CrystalDiskMarkOptions {
    /// Version 8 with its default profile.
    fn default() -> Self {
        Self::of(Version::Eight, Profile::Default)
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
            ("size".to_owned(), options.size.to_string()),
            ("runs".to_owned(), options.runs.to_string()),
            ("score".to_owned(), format!("{:?}", options.score).to_lowercase()),
            ("measure".to_owned(), options.measure.to_string()),
            ("interval".to_owned(), options.interval.to_string()),
            ("data".to_owned(), format!("{:?}", options.data).to_lowercase()),
            ("directions".to_owned(), format!("{:?}", options.directions).to_lowercase()),
        ];
        if options.version == Version::Eight {
            settings.insert(0, ("profile".to_owned(), format!("{:?}", options.profile).to_lowercase()));
            let mix = options.mix.map(|reads| ("mix".to_owned(), format!("{:.0} % reads", reads * 100.0)));
            settings.extend(mix);
        }
        settings
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { writes: self.fills, ..FileSpec::reserved(self.options.size) }]
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
