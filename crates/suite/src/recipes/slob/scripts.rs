//! SLOB as files for `sqlplus`, the client of Oracle, with the statements of the suite. A shell script starts the sessions
//! and writes a report of AWR for each point, which `plimsoll demand` and `plimsoll diagnose` read.
//!
//! Not run against a server: none was available.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use plimsoll_database::System;
use plimsoll_language::label;
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use super::SlobOptions;
use super::layout::{COLUMNS, SchemaLayout};
use crate::options::OptionsError;
use crate::sql::{fill_template, named};

/// Files without the statements of the schemas, by name.
const TEMPLATES: &str = include_str!("sqlplus.txt");
/// Length of lines that are wrapped: `sqlplus` ignores lines of more than 2,499 characters.
const MAX_LINE: usize = 120;
/// Minimum duration of a point, of which the start of its sessions is a small part.
const MIN_SECONDS: f64 = 60.0;
/// Block size of Oracle by default.
const BLOCK: Bytes = Bytes::kib(8);

impl SlobOptions {
    /// Writes the files into a directory, and returns their names. `run.sh` starts the load.
    ///
    /// # Errors
    /// The options do not suit Oracle; a file exists or cannot be written.
    pub fn write_scripts(&self, directory: &Path) -> Result<Vec<&'static str>, OptionsError> {
        let about = DatabaseAbout { system: "Oracle".into(), block: BLOCK, ..DatabaseAbout::default() };
        let layout = self.layout(System::Oracle, &about)?;
        let files = [
            ("load.sql", load(&layout)),
            ("run.sh", self.run(&layout)),
            ("ready.sql", template("ready.sql", &[])),
            ("session.sql", template("session.sql", &[])),
            ("snapshot.sql", template("snapshot.sql", &[])),
            ("report.sql", template("report.sql", &[])),
            ("drop.sql", template("drop.sql", &[("statements", drop(&layout))])),
        ];
        fs::create_dir_all(directory).map_err(|error| at(directory, &error))?;
        for (name, text) in &files {
            let path = directory.join(name);
            File::create_new(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| at(&path, &error))?;
        }
        Ok(files.map(|(name, _)| name).into())
    }

    /// The shell script. The numbers of threads double up to the maximum, because the script does not see saturation.
    fn run(&self, layout: &SchemaLayout) -> String {
        let doubling = || std::iter::successors(Some(1), |threads| Some(threads * 2));
        let threads =
            self.threads.clone().unwrap_or_else(|| doubling().take_while(|n| *n <= self.max_threads()).collect());
        let points = (self.update_pcts.len() * threads.len()) as u64;
        let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let values = [
            ("data", describe(layout)),
            ("schemas", self.schemas.to_string()),
            ("pcts", list(&self.update_pcts)),
            ("threads", list(&threads)),
            ("seconds", (self.budget / points).as_secs_f64().ceil().max(MIN_SECONDS).to_string()),
            ("seed", self.seed.to_string()),
        ];
        template("run.sh", &values)
    }
}

/// Size of the data.
fn describe(layout: &SchemaLayout) -> String {
    let size = Bytes::new(layout.rows * layout.block * u64::from(layout.schemas));
    let values = [("schemas", layout.schemas.into()), ("rows", layout.rows), ("block", layout.block)];
    let values = values.map(|(name, value): (&str, u64)| (name, value.to_string()));
    template("size", &[&values[..], &[("size", size.to_string())]].concat()).trim_end().to_owned()
}

/// Tables, rows, indexes and procedures of all schemas.
fn load(layout: &SchemaLayout) -> String {
    let mut statements = Vec::new();
    for schema in 1..=layout.schemas {
        statements.extend(layout.create(schema));
        statements.push(fill(layout, schema));
        statements.extend(layout.finish(schema));
    }
    statements.push(layout.count());
    // A slash on a line of its own runs a statement of SQL as well as a block.
    let statements: Vec<String> = statements.iter().map(|statement| format!("{}\n/\n", wrap(statement))).collect();
    let estimate = if layout.compressible { String::new() } else { time_random_text(layout) };
    template("load.sql", &[("data", describe(layout)), ("estimate", estimate), ("statements", statements.concat())])
}

/// A block that times the random text of a sample, which takes most of the time of a load, and prints the time of all rows.
fn time_random_text(layout: &SchemaLayout) -> String {
    /// Columns of the sample: a fraction of a second.
    const SAMPLES: u64 = 2_000;
    let values = [("rows", layout.rows * u64::from(layout.schemas)), ("columns", COLUMNS), ("samples", SAMPLES)];
    let values = values.map(|(name, value)| (name, value.to_string()));
    let value = ("value", format!("DBMS_RANDOM.STRING('p', {})", layout.column));
    template("estimate", &[&values[..], &[value]].concat())
}

/// A block that fills the places of a table in steps, with a commit after each.
fn fill(layout: &SchemaLayout, schema: u32) -> String {
    let places = layout.scatter(schema).places();
    let step = super::places_at_once(System::Oracle).min(places);
    let insert = layout.fill_range(schema, &format!("step * {step}"), &format!("(step + 1) * {step}"));
    template("fill", &[("insert", insert), ("last", (places / step - 1).to_string())])
}

fn drop(layout: &SchemaLayout) -> String {
    let of_schema = |schema| format!("DROP PROCEDURE slob_work_{schema};\nDROP TABLE slob_{schema} PURGE;\n");
    (1..=layout.schemas).map(of_schema).collect()
}

/// A line break after the commas of long lines. No literal of the statements contains a comma and a blank.
fn wrap(statement: &str) -> String {
    let mut text = String::new();
    for line in statement.lines() {
        let line = if line.len() > MAX_LINE { line.replace(", ", ",\n  ") } else { line.to_owned() };
        text = text + &line + "\n";
    }
    text.truncate(text.trim_end().len());
    text
}

fn template(name: &str, values: &[(&str, String)]) -> String {
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fill_template(named(TEMPLATES, name), &values) + "\n"
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    let remedy = if error.kind() == io::ErrorKind::AlreadyExists { label!(": give a new directory") } else { "" };
    io::Error::new(error.kind(), format!("{}: {error}{remedy}", path.display()))
}
