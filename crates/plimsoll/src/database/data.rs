//! The data of a suite in an existing database: loading, recognition by marker, use, and removal.

use plimsoll_database::{DataMarker, Database, DatabaseAddress, Failure};
use plimsoll_suite::{Facts, Phases, Recipe, Step, StepResult};
use plimsoll_units::Bytes;

use super::{connected, trouble};
use crate::args::{DatabaseArgs, PhaseWord};
use crate::cli_error::CliError;
use crate::console::Console;

/// Maximum number of object names in a message.
const SHOWN: usize = 3;

/// The data of a suite in an existing database.
pub struct Data {
    address: DatabaseAddress,
    /// A separate connection.
    database: Box<dyn Database>,
    marker: DataMarker,
    phase: Option<PhaseWord>,
    /// True if they were loaded by an earlier run.
    were_there: bool,
    /// The first error of marking them.
    unmarked: Option<Failure>,
}

impl Data {
    /// Finds the data of this recipe, or makes space for them: drops data that an earlier run loaded with other
    /// options, and everything if the user named the database in `--destroy`.
    ///
    /// # Errors
    /// The database is a system database, contains objects of others, or lacks space for the data.
    pub fn claim(
        args: &DatabaseArgs,
        url: &str,
        recipe: &dyn Recipe,
        facts: &Facts,
        console: &mut Console,
    ) -> Result<Self, CliError> {
        check_phase(args, recipe)?;
        let (address, database) = connected(url)?;
        database.check_not_system().map_err(|failure| trouble(failure.during(&address.to_string())))?;
        // Loading requires a database without data: present data are dropped or refused.
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
    /// The database is unreachable, or a system database.
    pub fn clean_up(args: &DatabaseArgs, url: &str, console: &mut Console) -> Result<(), CliError> {
        let (address, database) = connected(url)?;
        database.check_not_system().map_err(|failure| trouble(failure.during(&address.to_string())))?;
        if args.destroy.is_some() {
            return destroy(args, &address, &*database);
        }
        match DataMarker::read(&*database).map_err(trouble)? {
            (None, _) => console.tell(&format!("{address}: no data of plimsoll")),
            (Some(marker), others) => {
                console.tell(&dropping(&address, &marker));
                marker.drop_data(&*database).map_err(trouble)?;
                tell_left(&address, &others, console);
            }
        }
        Ok(())
    }

    /// The steps of the recipe to run.
    pub fn phases(&self) -> Phases {
        match (self.phase, self.were_there) {
            (Some(PhaseWord::Prepare), _) => Phases::Load,
            (_, true) => Phases::Measure,
            (_, false) => Phases::All,
        }
    }

    /// True if all required data exist.
    pub fn is_prepared(&self) -> bool {
        self.phase == Some(PhaseWord::Prepare) && self.were_there
    }

    /// A step begins; all data exist before steps that count.
    pub fn begins(&mut self, step: &Step) {
        if step.counts && !self.marker.complete {
            self.try_to(DataMarker::complete);
        }
    }

    /// A step ended and may have created objects.
    pub fn ended(&mut self, seen: &StepResult) {
        if let StepResult::Statements(seen) = seen
            && !seen.changes.is_empty()
        {
            self.try_to(|marker, database| marker.record(database, &seen.changes));
        }
    }

    /// Drops the data, unless they are kept for other runs.
    ///
    /// # Errors
    /// They could not be marked or dropped, and still exist.
    pub fn finish(mut self, whole: bool, console: &mut Console) -> Result<(), CliError> {
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

/// Fails for phases that the recipe lacks or that contradict other flags.
fn check_phase(args: &DatabaseArgs, recipe: &dyn Recipe) -> Result<(), CliError> {
    if recipe.data_key().is_none() && args.phase.is_some() {
        let name = recipe.name();
        return Err(CliError::usage(format!(
            "--phase: {name} creates its tables during the measurement: omit --phase, or drop leftovers with --phase cleanup"
        )));
    }
    match &args.destroy {
        Some(name) if args.phase == Some(PhaseWord::Run) => {
            Err(CliError::usage(format!("--destroy {name}: --phase run needs the loaded data: omit one of the flags")))
        }
        _ => Ok(()),
    }
}

/// Fails if the data exceed the known free space, including space of data that are dropped first.
///
/// # Errors
/// The data exceed the space.
pub fn check_room(recipe: &dyn Recipe, facts: &Facts, dropped: Bytes) -> Result<(), CliError> {
    let (loads, space) = (recipe.data_size(), Bytes::new(facts.space.get().saturating_add(dropped.get())));
    if facts.database.is_none() || facts.space.get() == 0 || loads <= space {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{}: about {loads} are to be loaded, but only {space} are free: use a smaller --scale or --table, or another --path",
        facts.subject.name
    )))
}

/// Drops everything if the user named the database.
fn destroy(args: &DatabaseArgs, address: &DatabaseAddress, database: &dyn Database) -> Result<(), CliError> {
    let (Some(given), name) = (&args.destroy, database.name().or(address.name())) else { return Ok(()) };
    if Some(given.as_str()) != name {
        let name = name.unwrap_or("unknown");
        return Err(CliError::usage(format!("--destroy {given}: the name of the database is {name}")));
    }
    database.destroy_contents(None).map_err(trouble)
}

fn refuse_others(address: &DatabaseAddress, is_marked: bool, others: &[String]) -> Result<(), CliError> {
    let Some(shown) = shown(others) else { return Ok(()) };
    let name = address.name().unwrap_or("NAME");
    let prefix =
        if is_marked { "in addition to data of plimsoll, it contains" } else { "it is not empty: it contains" };
    Err(CliError::usage(format!(
        "{address}: {prefix} {shown}, not created by plimsoll: use an empty database, or add --destroy {name} to allow \
         dropping everything"
    )))
}

/// Prints the objects that remain in a database after dropping the data.
fn tell_left(address: &DatabaseAddress, others: &[String], console: &mut Console) {
    if let Some(shown) = shown(others) {
        console.say(&format!("{address}: kept objects that are not recorded as created by plimsoll: {shown}"));
    }
}

/// The first objects and the number of others.
fn shown(objects: &[String]) -> Option<String> {
    let first = objects.get(..SHOWN.min(objects.len())).filter(|first| !first.is_empty())?.join(", ");
    let more = objects.len().saturating_sub(SHOWN);
    Some(if more == 0 { first } else { format!("{first} and {more} more") })
}

fn not_prepared(address: &DatabaseAddress, wanted: &DataMarker, found: Option<&DataMarker>) -> CliError {
    let why = match found {
        None => "no data of plimsoll".to_owned(),
        Some(marker) if !marker.complete => format!("loading the data of {} is incomplete", marker.suite),
        Some(marker) => format!(
            "it contains data of {} ({}; {}), but this run needs {} ({}; {})",
            marker.suite, marker.options, marker.version, wanted.suite, wanted.options, wanted.version
        ),
    };
    CliError::usage(format!("{address}: {why}: load them with --phase prepare and the same options"))
}

fn dropping(address: &DatabaseAddress, marker: &DataMarker) -> String {
    let state = if marker.complete { "" } else { ", incompletely loaded" };
    let objects = marker.objects.len();
    format!("{address}: dropping {objects} objects created by {} at {}{state}", marker.suite, marker.time)
}
