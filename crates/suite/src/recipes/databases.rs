//! Facts of databases for tests of recipes.

use plimsoll_database::System;
use plimsoll_record::{DatabaseAbout, Source};
use plimsoll_units::Bytes;

use crate::ground::Facts;

/// Facts of a database of this system with a cache of 64 MiB.
pub(super) fn facts(system: System) -> Facts {
    let about = DatabaseAbout { system: system.name().into(), cache: Some(Bytes::mib(64)), ..DatabaseAbout::default() };
    Facts::of_database("a test".into(), Source::Measured { engine: system.name().into() }, system, about)
}
