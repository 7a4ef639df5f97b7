//! The generated documents are up to date with the flags and types.

use std::path::PathBuf;
use std::process::Command;

use crate::folder::PROGRAM;

/// `UPDATE_GENERATED=1 cargo test -p plimsoll --test plimsoll generated` writes them.
#[track_caller]
fn check(what: &[&str], file: &str) {
    let output = Command::new(PROGRAM).arg("generate").args(what).output().expect("it runs");
    assert!(output.status.success());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("the folder can be made");
        std::fs::write(&path, &output.stdout).expect("the file can be written");
    }
    let stored = std::fs::read(&path).unwrap_or_default();
    assert!(
        stored == output.stdout,
        "docs/reference/{file} is stale: run UPDATE_GENERATED=1 cargo test -p plimsoll --test plimsoll generated"
    );
}

#[test]
fn the_reference_is_fresh() {
    check(&["reference"], "commands.md");
}

#[test]
fn the_man_page_is_fresh() {
    check(&["man"], "plimsoll.1");
}

#[test]
fn the_schema_of_each_result_is_fresh() {
    check(&["schema"], "run.schema.json");
    for name in plimsoll_report::schema_names().chain(plimsoll_service::SCHEMAS.map(|(name, _)| name)) {
        check(&["schema", name], &format!("{name}.schema.json"));
    }
}

#[test]
fn the_document_of_the_api_is_fresh() {
    check(&["openapi"], "openapi.json");
}
