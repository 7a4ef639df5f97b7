//! Flags of `plimsoll suite ladder`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use plimsoll_suite::recipes::ladder::{Ladder, LadderOptions, LadderStatement, LadderUntil};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::{Bytes, Span};

use super::{DatabaseArgs, Place, Suite};

/// `plimsoll suite ladder`
#[derive(Debug, Args)]
pub struct LadderArgs {
    #[command(flatten)]
    pub place: DatabaseArgs,
    /// The file of the statement or script that is executed, on tables of yours; without it a full scan of a table that is made for it, one for each
    /// session
    #[arg(long, value_name = "FILE")]
    pub sql: Option<PathBuf>,
    /// Let the statement write. YOUR TABLES ARE CHANGED. Otherwise its sessions only read
    #[arg(long, requires = "sql")]
    pub allow_writes: bool,
    /// About how large each of these tables is: larger than all memory that could hold it, so that storage is asked
    #[arg(long, value_name = "SIZE", default_value = "256MiB", conflicts_with = "sql")]
    pub table: Bytes,
    /// Sessions at once, rung by rung: 1..12, or 1,2,4,8, or both
    #[arg(long, value_name = "RUNGS", default_value = "1..6,9,12")]
    pub concurrency: Rungs,
    /// Executions of each session at each rung
    #[arg(long, value_name = "TIMES", default_value_t = 6, conflicts_with = "measure")]
    pub turns: u64,
    /// How long each rung lasts, instead of a number of executions
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// A file of statements that are run once before, as to make and fill tables
    #[arg(long, value_name = "FILE")]
    pub setup: Option<PathBuf>,
    /// A file of statements that are run once after the last rung
    #[arg(long, value_name = "FILE")]
    pub teardown: Option<PathBuf>,
    /// Show the article's table beside: a full scan in Oracle on a disk of Azure, 2014
    #[arg(long)]
    pub beside_article: bool,
}

/// Sessions of each rung, as the user gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rungs(pub Vec<u32>);

/// More rungs than this are a slip of the pen.
const MOST_RUNGS: usize = 100;

impl FromStr for Rungs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?}: write rising numbers of sessions, such as 1..12 or 1,2,4,8");
        let number = |part: &str| part.trim().parse::<u32>().ok().filter(|number| *number > 0);
        let mut rungs = Vec::new();
        for part in text.split(',') {
            let (from, to) = match part.split_once("..") {
                Some((from, to)) => (number(from), number(to)),
                None => (number(part), number(part)),
            };
            let (from, to) = from.zip(to).filter(|(from, to)| from <= to).ok_or_else(wrong)?;
            rungs.extend((from..=to).take(MOST_RUNGS + 1));
            if rungs.len() > MOST_RUNGS {
                return Err(format!("{text:?}: these are more than {MOST_RUNGS} rungs: leave some out"));
            }
        }
        if rungs.is_sorted_by(|a, b| a < b) { Ok(Self(rungs)) } else { Err(wrong()) }
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}: give a file of SQL", path.display()))
}

impl Suite for LadderArgs {
    fn place(&self) -> Place<'_> {
        Place::Database(&self.place)
    }

    fn sessions(&self) -> u32 {
        self.concurrency.0.last().copied().unwrap_or(1)
    }

    fn uses_own_tables(&self) -> bool {
        self.sql.is_none()
    }

    fn writes(&self) -> bool {
        self.uses_own_tables() || self.allow_writes || self.setup.is_some() || self.teardown.is_some()
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let statement = match &self.sql {
            Some(path) => LadderStatement::Script { name: path.display().to_string(), sql: read(path)? },
            None => LadderStatement::Table(self.table),
        };
        let options = LadderOptions {
            statement,
            may_write: self.allow_writes,
            setup: self.setup.as_deref().map(read).transpose()?,
            teardown: self.teardown.as_deref().map(read).transpose()?,
            rungs: self.concurrency.0.clone(),
            until: self.measure.map_or(LadderUntil::Turns(self.turns), LadderUntil::Time),
            beside_article: self.beside_article,
        };
        Ok(Box::new(Ladder::new(options, facts)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_are_ranges_and_lists() {
        let check = |text: &str, expected: &[u32]| assert_eq!(text.parse(), Ok(Rungs(expected.to_vec())), "{text}");
        check("1..4", &[1, 2, 3, 4]);
        check("1,2,4,8", &[1, 2, 4, 8]);
        check("1..3, 6", &[1, 2, 3, 6]);
        for wrong in ["", "0", "4..1", "2,1", "1,1", "1..", "a", "1..1000"] {
            assert!(wrong.parse::<Rungs>().is_err(), "{wrong}");
        }
    }
}
