//! Flags of `plimsoll suite slob`.

use clap::{Args, ValueEnum};
use plimsoll_record::Objective;
use plimsoll_suite::recipes::slob::{Hotspot, RedoStress, Scale, Slob, SlobOptions, ThinkTime};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Span;

use super::{DatabaseArgs, Place, Suite};

/// `plimsoll suite slob`
#[derive(Debug, Args)]
pub struct SlobArgs {
    #[command(flatten)]
    pub place: DatabaseArgs,
    /// Schemas, all of them active at every point: a table and its index each
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub schemas: u32,
    /// What a schema holds: blocks as a bare number, or bytes; 64 MiB, or what makes the whole four times the database's cache
    #[arg(long, value_name = "BLOCKS|SIZE")]
    pub scale: Option<Scale>,
    /// Blocks of a unit of work; one less is visited, as in SLOB
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    pub work_unit: u64,
    /// Units of work in a hundred that update, 0 to 50 or 100: a curve for each
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_value = "0,25")]
    pub update_pct: Vec<u32>,
    /// How many columns an update changes
    #[arg(long, value_enum, value_name = "STRESS", default_value_t = RedoWord::Lite)]
    pub redo_stress: RedoWord,
    /// A part of each schema that is visited more often: its size, where it begins, and which unit of work in so many is in it
    #[arg(long, value_name = "SIZE,OFFSET,FREQUENCY", value_parser = hotspot)]
    pub hotspot: Option<Hotspot>,
    /// Time that sessions do nothing: after one unit of work in so many, the shortest and the longest
    #[arg(long, value_name = "FREQUENCY,MIN,MAX", value_parser = think_time)]
    pub think_time: Option<ThinkTime>,
    /// Threads of each schema, in turn; otherwise they rise until more bring no more
    #[arg(long, value_name = "THREADS", value_delimiter = ',')]
    pub threads: Option<Vec<u32>>,
    /// Measuring time of all curves together; loading is not in it
    #[arg(long, value_name = "TIME", default_value = "3min")]
    pub duration: Span,
    /// What units of work have to meet, such as 'p99<=50ms' or 'read mean<=10ms'
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// Sessions at most
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    pub max_sessions: u32,
    /// Load text that storage can compress, as SLOB does without `OBFUSCATE_COLUMNS`; otherwise bytes that nothing compresses
    #[arg(long)]
    pub compressible: bool,
    /// What determines the places of rows, and the ranges that are visited
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

/// How many columns an update changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RedoWord {
    /// Two
    Lite,
    /// All nineteen
    Heavy,
}

fn three(text: &str) -> Option<[&str; 3]> {
    text.split(',').map(str::trim).collect::<Vec<_>>().try_into().ok()
}

fn hotspot(text: &str) -> Result<Hotspot, String> {
    let read = || {
        let [size, offset, frequency] = three(text)?;
        Some(Hotspot { size: size.parse().ok()?, offset: offset.parse().ok()?, frequency: frequency.parse().ok()? })
    };
    read().ok_or_else(|| format!("{text:?}: write a size, where it begins and a number, such as 8MiB,16MiB,3"))
}

fn think_time(text: &str) -> Result<ThinkTime, String> {
    let read = || {
        let [frequency, least, most] = three(text)?;
        Some(ThinkTime { frequency: frequency.parse().ok()?, least: least.parse().ok()?, most: most.parse().ok()? })
    };
    read().ok_or_else(|| format!("{text:?}: write a number and two times, such as 5,100ms,500ms"))
}

impl Suite for SlobArgs {
    fn place(&self) -> Place<'_> {
        Place::Database(&self.place)
    }

    fn sessions(&self) -> u32 {
        self.max_sessions
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let options = SlobOptions {
            schemas: self.schemas,
            scale: self.scale,
            work_unit: self.work_unit,
            update_pcts: self.update_pct.clone(),
            redo_stress: match self.redo_stress {
                RedoWord::Lite => RedoStress::Lite,
                RedoWord::Heavy => RedoStress::Heavy,
            },
            hotspot: self.hotspot,
            think_time: self.think_time,
            threads: self.threads.clone(),
            budget: self.duration,
            objective: self.objective,
            max_sessions: self.max_sessions,
            compressible: self.compressible,
            seed: self.seed,
        };
        Ok(Box::new(Slob::new(options, facts)?))
    }
}
