//! JSON Schemas of the service's answers, and of checks of its data directory, as commands print them.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::api::{Check, Group, IscsiTarget, Recorded, ScrubState, Stats, Volume};

/// A function that makes a schema.
pub type MakeAnswerSchema = fn() -> Schema;

/// The schema of each answer by its name.
pub const SCHEMAS: [(&str, MakeAnswerSchema); 10] = [
    ("check", schema::<Check>),
    ("volume", schema::<Volume>),
    ("volumes", schema::<Vec<Volume>>),
    ("volume-stats", schema::<Stats>),
    ("volume-top", schema::<BTreeMap<String, Stats>>),
    ("volume-recording", schema::<Recorded>),
    ("volume-iscsi", schema::<IscsiTarget>),
    ("volume-scrub", schema::<ScrubState>),
    ("group", schema::<Group>),
    ("groups", schema::<Vec<Group>>),
];

fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}
