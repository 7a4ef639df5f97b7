//! Which database is which: by name, and by number where two have one name.

use std::collections::{BTreeMap, BTreeSet};

use crate::figure::Scope;
use crate::reading::Reading;

/// The numbers that databases of each name have.
pub(super) struct Names<'a> {
    numbers: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(readings: &[&'a Reading]) -> Self {
        let mut numbers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for scope in readings.iter().flat_map(|reading| &reading.scopes).filter(|scope| !scope.database_id.is_empty()) {
            numbers.entry(&scope.database).or_default().insert(&scope.database_id);
        }
        Self { numbers }
    }

    /// What a subject is called. Inputs that do not say the number are of the one database of that name, if it is one.
    pub(super) fn subject(&self, scope: &Scope) -> String {
        match (scope.database.as_str(), scope.database_id.as_str()) {
            ("", _) => scope.host.clone(),
            (name, id) if self.is_shared(name) && !id.is_empty() => format!("{name} (DBID {id})"),
            (name, _) => name.to_owned(),
        }
    }

    /// What to say of a subject whose name several databases have.
    pub(super) fn doubt(&self, subject: &str) -> Option<String> {
        let name = subject.split(" (DBID ").next().unwrap_or_default();
        let count = self.numbers.get(name).filter(|_| self.is_shared(name))?.len();
        let calls = format!("{count} databases are called {name}");
        Some(if subject == name {
            format!("{calls}, and an input does not say which it is of: give them apart")
        } else {
            format!("{calls}: they are told apart by their numbers")
        })
    }

    fn is_shared(&self, name: &str) -> bool {
        self.numbers.get(name).is_some_and(|numbers| numbers.len() > 1)
    }
}
