//! Facts of databases and words of verdicts for tests of recipes.

use plimsoll_database::System;
use plimsoll_record::{DatabaseAbout, Source, Verdict};
use plimsoll_units::Bytes;

use crate::ground::Facts;

/// Facts of a database of this system with a cache of 64 MiB.
pub(super) fn facts(system: System) -> Facts {
    let about = DatabaseAbout { system: system.name().into(), cache: Some(Bytes::mib(64)), ..DatabaseAbout::default() };
    Facts::of_database("a test".into(), Source::Measured { engine: system.name().into() }, system, about)
}

/// Sentences of verdicts.
pub(super) fn words(verdicts: &[Verdict]) -> Vec<String> {
    verdicts.iter().map(plimsoll_report::words::verdict).collect()
}
