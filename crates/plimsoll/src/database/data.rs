//! The data of a suite in a database that is there: loaded once, recognised by their marker, measured on, and dropped.

use plimsoll_database::{Address, DataMarker, Database, Failure};
use plimsoll_suite::{Facts, Phases, Recipe, Step, StepResult};
use plimsoll_units::Bytes;

use super::{connected, trouble};
use crate::args::{DatabaseArgs, PhaseWord};
use crate::console::Console;
use crate::trouble::Trouble;

/// How many names of objects are told of a refusal.
const SHOWN: usize = 3;

/// The data of a suite in a database that it was pointed to.
pub struct Data {
    address: Address,
    /// A connection of its own.
    database: Box<dyn Database>,
    marker: DataMarker,
    phase: Option<PhaseWord>,
    /// They were loaded by an earlier run.
    were_there: bool,
    /// Why they could not be marked, the first time.
    unmarked: Option<Failure>,
}

impl Data {
    /// Finds the data of this recipe, or makes room for them: what an earlier run of plimsoll loaded is dropped where its options
    /// were others, and everything where the user named the database with `--destroy`.
    ///
    /// # Errors
    /// The database is a system database, holds something that plimsoll did not make, or has no room for data that are not loaded
    /// yet.
    pub fn claim(
        args: &DatabaseArgs,
        url: &str,
        recipe: &dyn Recipe,
        facts: &Facts,
        console: &mut Console,
    ) -> Result<Self, Trouble> {
        check_phase(args, recipe)?;
        let (address, database) = connected(url)?;
        database.check_not_system().map_err(|failure| trouble(failure.during(&address.to_string())))?;
        // Loading begins with a database that holds no data: what it holds now is dropped first, or refused.
        let room = || check_room(recipe, facts, database.size().map_err(trouble)?);
        if args.destroy.is_some() {
            room()?;
            destroy(args, &address, &*database)?;
        }
        let (found, others) = DataMarker::read(&*database).map_err(trouble)?;
        let wanted = DataMarker {
            suite: recipe.name().into(),
            options: recipe.data_key().unwrap_or_default(),
            version: crate::MADE_BY.into(),
            time: jiff::Timestamp::now().to_string(),
            ..DataMarker::default()
        };
        let reusable = |marker: &DataMarker| {
            marker.complete
                && recipe.data_key().is_some()
                && (&marker.suite, &marker.options, &marker.version)
                    == (&wanted.suite, &wanted.options, &wanted.version)
        };
        let were_there = found.as_ref().is_some_and(reusable);
        let phase = args.phase;
        if phase == Some(PhaseWord::Run) && !were_there {
            return Err(not_prepared(&address, &wanted, found.as_ref()));
        }
        if !were_there {
            refuse_others(&address, found.is_some(), &others)?;
            room()?;
        }
        let mut data = Self { address, database, marker: wanted, phase, were_there, unmarked: None };
        match found {
            Some(marker) if were_there => {
                let end = if phase.is_none() { ", and dropping them at the end (--phase run keeps them)" } else { "" };
                let (suite, time) = (&marker.suite, &marker.time);
                console.say(&format!("{}: using the data that {suite} loaded at {time}{end}", data.address));
                data.marker = marker;
            }
            Some(marker) => {
                console.say(&dropping(&data.address, &marker));
                marker.drop_data(&*data.database).map_err(trouble)?;
                data.marker.create(&*data.database).map_err(trouble)?;
            }
            None => data.marker.create(&*data.database).map_err(trouble)?,
        }
        Ok(data)
    }

    /// Drops the data of any suite.
    ///
    /// # Errors
    /// The database is not reached, or is a system database.
    pub fn clean_up(args: &DatabaseArgs, url: &str, console: &mut Console) -> Result<(), Trouble> {
        let (address, database) = connected(url)?;
        database.check_not_system().map_err(|failure| trouble(failure.during(&address.to_string())))?;
        if args.destroy.is_some() {
            return destroy(args, &address, &*database);
        }
        match DataMarker::read(&*database).map_err(trouble)? {
            (None, _) => console.tell(&format!("{address}: no data of plimsoll are there")),
            (Some(marker), others) => {
                console.tell(&dropping(&address, &marker));
                marker.drop_data(&*database).map_err(trouble)?;
                tell_left(&address, &others, console);
            }
        }
        Ok(())
    }

    /// Which steps of the recipe are made.
    pub fn phases(&self) -> Phases {
        match (self.phase, self.were_there) {
            (Some(PhaseWord::Prepare), _) => Phases::Load,
            (_, true) => Phases::Measure,
            (_, false) => Phases::All,
        }
    }

    /// Everything that was wanted is there already.
    pub fn is_prepared(&self) -> bool {
        self.phase == Some(PhaseWord::Prepare) && self.were_there
    }

    /// A step begins: when it counts, all data are there.
    pub fn begins(&mut self, step: &Step) {
        if step.counts && !self.marker.complete {
            self.try_to(DataMarker::complete);
        }
    }

    /// A step ended, which may have created objects.
    pub fn ended(&mut self, seen: &StepResult) {
        if let StepResult::Statements(seen) = seen
            && !seen.changes.is_empty()
        {
            self.try_to(|marker, database| marker.record(database, &seen.changes));
        }
    }

    /// Drops the data, unless they are to stay for other runs.
    ///
    /// # Errors
    /// They could not be marked, or cannot be dropped: they are still there then.
    pub fn finish(mut self, whole: bool, console: &mut Console) -> Result<(), Trouble> {
        if whole && self.phase == Some(PhaseWord::Prepare) && !self.marker.complete {
            self.try_to(DataMarker::complete);
        }
        if let Some(failure) = self.unmarked {
            return Err(trouble(failure.during(&format!("{}: marking the data", self.address))));
        }
        let stay = match self.phase {
            Some(PhaseWord::Prepare) => whole,
            Some(PhaseWord::Run) => true,
            _ => false,
        };
        if stay {
            return Ok(());
        }
        let dropped = self.marker.drop_data(&*self.database).and_then(|()| self.database.contents());
        let others = dropped.map_err(|failure| {
            trouble(failure.during(&format!(
                "{}: dropping the data (plimsoll suite {} URL --phase cleanup drops them)",
                self.address, self.marker.suite
            )))
        })?;
        tell_left(&self.address, &others, console);
        Ok(())
    }

    fn try_to(&mut self, attempt: impl FnOnce(&mut DataMarker, &dyn Database) -> Result<(), Failure>) {
        if self.unmarked.is_none() {
            self.unmarked = attempt(&mut self.marker, &*self.database).err();
        }
    }
}

/// Refuses phases that a recipe does not have, and those that contradict other flags.
fn check_phase(args: &DatabaseArgs, recipe: &dyn Recipe) -> Result<(), Trouble> {
    if recipe.data_key().is_none() && args.phase.is_some() {
        let name = recipe.name();
        return Err(Trouble::usage(format!(
            "--phase: {name} makes its tables while it measures: leave --phase out, or drop what a run left with --phase cleanup"
        )));
    }
    match &args.destroy {
        Some(name) if args.phase == Some(PhaseWord::Run) => Err(Trouble::usage(format!(
            "--destroy {name}: --phase run measures on loaded data, which that would drop: leave one of them out"
        ))),
        _ => Ok(()),
    }
}

/// Refuses data that do not fit in the free space of the database and in those that are dropped first, where that is known.
///
/// # Errors
/// They are larger.
pub fn check_room(recipe: &dyn Recipe, facts: &Facts, dropped: Bytes) -> Result<(), Trouble> {
    let (loads, space) = (recipe.data_size(), Bytes::new(facts.space.get().saturating_add(dropped.get())));
    if facts.database.is_none() || facts.space.get() == 0 || loads <= space {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "{}: about {loads} are to be loaded, and {space} are free there: give a smaller --scale or --table, or another --path",
        facts.subject.name
    )))
}

/// Drops everything, where the user named the database.
fn destroy(args: &DatabaseArgs, address: &Address, database: &dyn Database) -> Result<(), Trouble> {
    let (Some(given), name) = (&args.destroy, database.name().or(address.name())) else { return Ok(()) };
    if Some(given.as_str()) != name {
        let name = name.unwrap_or("unknown");
        return Err(Trouble::usage(format!("--destroy {given}: that is not the database's name, which is {name}")));
    }
    database.destroy_contents(None).map_err(trouble)
}

fn refuse_others(address: &Address, is_marked: bool, others: &[String]) -> Result<(), Trouble> {
    let Some(shown) = shown(others) else { return Ok(()) };
    let name = address.name().unwrap_or("NAME");
    let what = if is_marked { "besides data of plimsoll it has" } else { "it is not empty: it has" };
    Err(Trouble::usage(format!(
        "{address}: {what} {shown}, which plimsoll did not make: name an empty database, or add --destroy {name} if all of \
         it may be lost"
    )))
}

/// Names what is left in a database whose data were dropped.
fn tell_left(address: &Address, others: &[String], console: &mut Console) {
    if let Some(shown) = shown(others) {
        console.say(&format!("{address}: left as they are, not being recorded as made by plimsoll: {shown}"));
    }
}

/// The first of some objects, and the number of the others.
fn shown(objects: &[String]) -> Option<String> {
    let first = objects.get(..SHOWN.min(objects.len())).filter(|first| !first.is_empty())?.join(", ");
    let more = objects.len().saturating_sub(SHOWN);
    Some(if more == 0 { first } else { format!("{first} and {more} more") })
}

fn not_prepared(address: &Address, wanted: &DataMarker, found: Option<&DataMarker>) -> Trouble {
    let why = match found {
        None => "no data of plimsoll are there".to_owned(),
        Some(marker) if !marker.complete => format!("loading the data of {} did not come to its end", marker.suite),
        Some(marker) => format!(
            "it holds data of {} ({}; {}), and this run needs {} ({}; {})",
            marker.suite, marker.options, marker.version, wanted.suite, wanted.options, wanted.version
        ),
    };
    Trouble::usage(format!("{address}: {why}: load them with --phase prepare and the same options"))
}

fn dropping(address: &Address, marker: &DataMarker) -> String {
    let state = if marker.complete { "" } else { ", which were not loaded to their end" };
    let objects = marker.objects.len();
    format!("{address}: dropping {objects} objects that {} made at {}{state}", marker.suite, marker.time)
}
