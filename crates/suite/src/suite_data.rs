//! The data of a suite in an existing database: loading, recognition by marker, use, and removal.

use std::path::Path;

use clap::ValueEnum;
use plimsoll_database::{DataMarker, Database, DatabaseAddress, Failure, NoAddress, connect};
use plimsoll_device::check_writable;
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::{Facts, Phases, Recipe, Step, StepResult, SuiteOptions};

/// Maximum number of object names in a message.
const SHOWN: usize = 3;

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataPhase {
    /// Load the data and keep them for runs with the same options
    Prepare,
    /// Measure on loaded data and keep them
    Run,
    /// Drop the data that plimsoll loaded, of any suite
    Cleanup,
}

/// A database for the data of a suite.
#[derive(Clone, Copy, Debug)]
pub struct DataRequest<'a> {
    /// Its URL.
    pub url: &'a str,
    /// A single phase; `None` for all.
    pub phase: Option<DataPhase>,
    /// Name of the database whose contents are dropped first.
    pub destroy: Option<&'a str>,
}

impl DataRequest<'_> {
    /// Fails for a database of the server, and for flags about data with a statement on the user's tables.
    ///
    /// # Errors
    /// As stated, or the address is invalid.
    pub fn check(&self, options: &dyn SuiteOptions) -> Result<(), DataError> {
        if !options.uses_own_tables() {
            self.refuse_flags()?;
        }
        if options.writes() { check_not_system(self.url) } else { Ok(()) }
    }

    fn refuse_flags(&self) -> Result<(), DataError> {
        let flag = match (self.destroy, self.phase) {
            (Some(name), _) => format!("--destroy {name}"),
            (None, Some(_)) => "--phase".into(),
            (None, None) => return Ok(()),
        };
        Err(DataError::TableFlag(flag))
    }
}

/// The data of a suite could not be prepared or dropped.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Invalid request: a message with the remedy.
    #[error("{0}")]
    Refused(String),
    #[error("{0}: it may be of an earlier run: add --check to check its data, or remove it, or use another name")]
    EarlierRun(String),
    #[error("{0}: --sql uses existing tables and loads or drops no data: omit it")]
    TableFlag(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Failure),
}

/// The data of a suite in an existing database.
pub struct SuiteData {
    address: DatabaseAddress,
    /// A separate connection.
    database: Box<dyn Database>,
    marker: DataMarker,
    phase: Option<DataPhase>,
    /// True if they were loaded by an earlier run.
    were_there: bool,
    /// The first error of marking them.
    unmarked: Option<Failure>,
}

impl SuiteData {
    /// Finds the data of this recipe, or makes space for them: drops data that an earlier run loaded with other
    /// options, and everything if the user named the database in `--destroy`. `loader` is the program with its version, and
    /// the present time.
    ///
    /// # Errors
    /// The database is a system database, contains objects of others, or lacks space for the data.
    pub fn claim(
        request: DataRequest<'_>,
        recipe: &dyn Recipe,
        facts: &Facts,
        loader: (&str, String),
        say: &mut dyn FnMut(&str),
    ) -> Result<Self, DataError> {
        check_phase(request, recipe)?;
        let (address, database) = connect_user_database(request.url)?;
        // Loading requires a database without data: present data are dropped or refused.
        let room = || check_room(recipe, facts, database.size()?);
        if request.destroy.is_some() {
            room()?;
            destroy(request.destroy, &address, &*database)?;
        }
        let (found, others) = DataMarker::read(&*database)?;
        let own = DataMarker {
            suite: recipe.name().into(),
            options: recipe.data_key().unwrap_or_default(),
            version: loader.0.into(),
            time: loader.1,
            ..DataMarker::default()
        };
        let reusable = |marker: &DataMarker| {
            marker.complete
                && recipe.data_key().is_some()
                && (&marker.suite, &marker.options, &marker.version) == (&own.suite, &own.options, &own.version)
        };
        let were_there = found.as_ref().is_some_and(reusable);
        let phase = request.phase;
        if phase == Some(DataPhase::Run) && !were_there {
            return Err(not_prepared(&address, &own, found.as_ref()));
        }
        if !were_there {
            refuse_others(&address, found.is_some(), &others)?;
            room()?;
        }
        let mut data = Self { address, database, marker: own, phase, were_there, unmarked: None };
        match found {
            Some(marker) if were_there => {
                let end = if phase.is_none() {
                    label!(", and dropping them at the end (--phase run keeps them)")
                } else {
                    ""
                };
                let (suite, time) = (&marker.suite, &marker.time);
                say(&say!("{}: using the data that {suite} loaded at {time}{end}", data.address));
                data.marker = marker;
            }
            Some(marker) => {
                say(&dropping(&data.address, &marker));
                marker.drop_data(&*data.database)?;
                data.marker.create(&*data.database)?;
            }
            None => data.marker.create(&*data.database)?,
        }
        Ok(data)
    }

    /// Drops the data of any suite. Returns a message about objects that remain, if any.
    ///
    /// # Errors
    /// The database is unreachable, or a system database.
    pub fn clean_up(request: DataRequest<'_>, tell: &mut dyn FnMut(&str)) -> Result<Option<String>, DataError> {
        let (address, database) = connect_user_database(request.url)?;
        if request.destroy.is_some() {
            return destroy(request.destroy, &address, &*database).map(|()| None);
        }
        match DataMarker::read(&*database)? {
            (None, _) => {
                tell(&say!("{address}: no data of plimsoll"));
                Ok(None)
            }
            (Some(marker), others) => {
                tell(&dropping(&address, &marker));
                marker.drop_data(&*database)?;
                Ok(describe_remaining(&address, &others))
            }
        }
    }

    /// The steps of the recipe to run.
    pub fn phases(&self) -> Phases {
        match (self.phase, self.were_there) {
            (Some(DataPhase::Prepare), _) => Phases::Load,
            (_, true) => Phases::Measure,
            (_, false) => Phases::All,
        }
    }

    /// True if all required data exist.
    pub fn is_prepared(&self) -> bool {
        self.phase == Some(DataPhase::Prepare) && self.were_there
    }

    /// A step begins; all data exist before steps that count.
    pub fn begins(&mut self, step: &Step) {
        if step.counts && !self.marker.complete {
            self.try_to(DataMarker::complete);
        }
    }

    /// A step ended and may have created objects.
    pub fn ended(&mut self, result: &StepResult) {
        if let StepResult::Statements(result) = result
            && !result.changes.is_empty()
        {
            self.try_to(|marker, database| marker.record(database, &result.changes));
        }
    }

    /// Drops the data, unless they are kept for other runs. Returns a message about objects that remain, if any.
    ///
    /// # Errors
    /// They could not be marked or dropped, and still exist.
    pub fn finish(mut self, is_complete: bool) -> Result<Option<String>, DataError> {
        if is_complete && self.phase == Some(DataPhase::Prepare) && !self.marker.complete {
            self.try_to(DataMarker::complete);
        }
        if let Some(failure) = self.unmarked {
            return Err(failure.during(&say!("{}: marking the data", self.address)).into());
        }
        let stay = match self.phase {
            Some(DataPhase::Prepare) => is_complete,
            Some(DataPhase::Run) => true,
            _ => false,
        };
        if stay {
            return Ok(None);
        }
        let dropped = self.marker.drop_data(&*self.database).and_then(|()| self.database.contents());
        let others = dropped.map_err(|failure| {
            failure.during(&say!(
                "{}: dropping the data (plimsoll suite {} URL --phase cleanup drops them)",
                self.address,
                self.marker.suite
            ))
        })?;
        Ok(describe_remaining(&self.address, &others))
    }

    fn try_to(&mut self, attempt: impl FnOnce(&mut DataMarker, &dyn Database) -> Result<(), Failure>) {
        if self.unmarked.is_none() {
            self.unmarked = attempt(&mut self.marker, &*self.database).err();
        }
    }
}

/// Fails for phases that the recipe lacks or that contradict other flags.
fn check_phase(request: DataRequest<'_>, recipe: &dyn Recipe) -> Result<(), DataError> {
    if recipe.data_key().is_none() && request.phase.is_some() {
        let name = recipe.name();
        return Err(DataError::Refused(say!(
            "--phase: {name} creates its tables during the measurement: omit --phase, or drop leftovers with --phase cleanup"
        )));
    }
    match request.destroy {
        Some(name) if request.phase == Some(DataPhase::Run) => {
            Err(DataError::Refused(say!("--destroy {name}: --phase run needs the loaded data: omit one of the flags")))
        }
        _ => Ok(()),
    }
}

/// Fails if the data exceed the known free space, including space of data that are dropped first.
///
/// # Errors
/// The data exceed the space.
pub fn check_room(recipe: &dyn Recipe, facts: &Facts, dropped: Bytes) -> Result<(), DataError> {
    let (loads, space) = (recipe.data_size(), Bytes::new(facts.space.get().saturating_add(dropped.get())));
    if facts.database.is_none() || facts.space.get() == 0 || loads <= space {
        return Ok(());
    }
    Err(DataError::Refused(say!(
        "{}: about {loads} are to be loaded, but only {space} are free: use a smaller --scale or --table, or another --path",
        facts.subject.name
    )))
}

/// Fails if a run would overwrite data, or their state, that an earlier run kept for a check.
///
/// # Errors
/// A file of the recipe or the state exists, or the state cannot be written.
pub fn check_retained(folder: &Path, state: Option<&Path>, recipe: &dyn Recipe) -> Result<(), DataError> {
    let files = recipe.files();
    let mut written = files.iter().filter(|file| file.writes).peekable();
    let state = state.filter(|_| written.peek().is_some());
    let retained = written.filter_map(|file| Some(folder.join(file.path.as_ref()?)));
    let exists = retained.chain(state.map(Path::to_path_buf)).find(|path| path.is_file());
    if let Some(path) = exists {
        return Err(DataError::EarlierRun(path.display().to_string()));
    }
    let check = |path| check_writable(path).map_err(|error| DataError::Refused(error.to_string()));
    state.map_or(Ok(()), check)
}

/// Drops everything if the user named the database.
fn destroy(given: Option<&str>, address: &DatabaseAddress, database: &dyn Database) -> Result<(), DataError> {
    let (Some(given), name) = (given, database.name().or(address.name())) else { return Ok(()) };
    if Some(given) != name {
        let name = name.unwrap_or("unknown");
        return Err(DataError::Refused(say!("--destroy {given}: the name of the database is {name}")));
    }
    Ok(database.destroy_contents(None)?)
}

fn refuse_others(address: &DatabaseAddress, is_marked: bool, others: &[String]) -> Result<(), DataError> {
    let Some(names) = list_first(others) else { return Ok(()) };
    let name = address.name().unwrap_or("NAME");
    let prefix = if is_marked {
        label!("in addition to data of plimsoll, it contains")
    } else {
        label!("it is not empty: it contains")
    };
    Err(DataError::Refused(say!(
        "{address}: {prefix} {names}, not created by plimsoll: use an empty database, or add --destroy {name} to allow \
         dropping everything"
    )))
}

/// The objects that remain in a database after dropping the data.
fn describe_remaining(address: &DatabaseAddress, others: &[String]) -> Option<String> {
    let names = list_first(others)?;
    Some(say!("{address}: kept objects that are not recorded as created by plimsoll: {names}"))
}

/// An existing database, which is not one of the server itself.
fn connect_user_database(url: &str) -> Result<(DatabaseAddress, Box<dyn Database>), DataError> {
    let address: DatabaseAddress = url.parse().map_err(|error: NoAddress| DataError::Refused(error.to_string()))?;
    let database = connect(&address)?;
    database.check_not_system().map_err(|failure| failure.during(&address.to_string()))?;
    Ok((address, database))
}

/// Refuses the databases of the server itself.
///
/// # Errors
/// The database is unreachable, or a system database.
fn check_not_system(url: &str) -> Result<(), DataError> {
    connect_user_database(url).map(drop)
}

/// The first objects and the number of others.
fn list_first(objects: &[String]) -> Option<String> {
    let first = objects.get(..SHOWN.min(objects.len())).filter(|first| !first.is_empty())?.join(", ");
    let more = objects.len().saturating_sub(SHOWN);
    Some(if more == 0 { first } else { say!("{first} and {more} more") })
}

fn not_prepared(address: &DatabaseAddress, own: &DataMarker, found: Option<&DataMarker>) -> DataError {
    let why = match found {
        None => label!("no data of plimsoll").to_owned(),
        Some(marker) if !marker.complete => say!("loading the data of {} is incomplete", marker.suite),
        Some(marker) => say!(
            "it contains data of {} ({}; {}), but this run needs {} ({}; {})",
            marker.suite,
            marker.options,
            marker.version,
            own.suite,
            own.options,
            own.version
        ),
    };
    DataError::Refused(say!("{address}: {why}: load them with --phase prepare and the same options"))
}

fn dropping(address: &DatabaseAddress, marker: &DataMarker) -> String {
    let state = if marker.complete { "" } else { label!(", incompletely loaded") };
    let objects = marker.objects.len();
    say!("{address}: dropping {objects} objects created by {} at {}{state}", marker.suite, marker.time)
}
