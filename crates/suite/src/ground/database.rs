//! A database: statements of one session, and sessions side by side, watched together with the storage below them.

use plimsoll_drive::{Fault, Observe, Torn};
use plimsoll_units::Span;

use super::{Facts, Ground, Unfit};
use crate::seen::IoSeen;
use crate::step::{FileSpec, IoStep};

/// A database of a server, or in a file.
pub struct Database {
    target: Box<dyn plimsoll_database::Database>,
    facts: Facts,
}

impl Database {
    /// A database that is connected to.
    pub fn new(target: Box<dyn plimsoll_database::Database>, facts: Facts) -> Self {
        Self { target, facts }
    }
}

impl Ground for Database {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn lay(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        let _ = &self.target;
        if files.is_empty() { Ok(()) } else { Err(Unfit::Names(self.facts.subject.name.clone())) }
    }

    fn io(&mut self, _: &IoStep, _: Observe<'_>) -> Result<IoSeen, Box<Torn<IoSeen>>> {
        let source = std::io::Error::new(std::io::ErrorKind::Unsupported, "a database has no blocks to ask for");
        Err(Box::new(Torn {
            fault: Fault { attempt: "running a step of blocks".into(), source },
            until: IoSeen::default(),
        }))
    }

    fn idle(&mut self, _: Span, _: Observe<'_>) {}
}
