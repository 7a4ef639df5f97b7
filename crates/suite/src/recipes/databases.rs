//! Facts of databases that are not there, for tests of recipes.

use plimsoll_database::System;
use plimsoll_record::{DatabaseAbout, Source, Subject};
use plimsoll_units::Bytes;

use crate::ground::{Facts, Nature};

/// What is known of a database of this system, with a cache of 64 MiB.
pub(super) fn facts(system: System) -> Facts {
    let about = DatabaseAbout { system: system.name().into(), cache: Some(Bytes::mib(64)), ..DatabaseAbout::default() };
    Facts {
        source: Source::Measured { engine: system.name().into() },
        subject: Subject { name: "a test".into(), kind: "database".into(), size: Bytes::default(), device: None },
        host: None,
        space: Bytes::default(),
        grid: 1,
        nature: Nature::Database,
        read_only: false,
        stages: Vec::new(),
        page_cache: None,
        database: Some((system, about)),
    }
}
