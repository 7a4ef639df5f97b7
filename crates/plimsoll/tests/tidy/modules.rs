//! Dead files: every Rust file is reached from a target by `mod` declarations.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Module, Source, sources};
use super::workspace;

fn check(sources: &[Source], roots: &BTreeSet<String>) -> Vec<Complaint> {
    let (mut reached, mut to_read) = (BTreeSet::new(), roots.iter().cloned().collect::<Vec<_>>());
    while let Some(path) = to_read.pop() {
        let source = sources.iter().find(|source| source.path == path);
        if let Some(source) = source.filter(|_| reached.insert(path)) {
            to_read.extend(declared(source, roots));
        }
    }
    let dead = sources.iter().filter(|source| !reached.contains(&source.path));
    let complaint = |source: &Source| Complaint {
        place: source.path.clone(),
        found: "no `mod` declaration leads here: it is never compiled".to_owned(),
        allowed: "files that a target of their crate reaches".to_owned(),
        remedy: "declare it in its parent module, or delete it".to_owned(),
    };
    dead.map(complaint).collect()
}

/// Possible paths of a file's modules.
fn declared(source: &Source, roots: &BTreeSet<String>) -> Vec<String> {
    let path = Path::new(&source.path);
    let parent = path.parent().unwrap_or(Path::new(""));
    let owns_directory = roots.contains(&source.path) || path.file_name().is_some_and(|name| name == "mod.rs");
    let children = if owns_directory { parent.to_path_buf() } else { path.with_extension("") };
    let places = |module: &Module| {
        let within = module.within.iter().fold(children.clone(), |directory, name| directory.join(name));
        match &module.path {
            Some(named) if module.within.is_empty() => vec![parent.join(named)],
            Some(named) => vec![within.join(named)],
            None => vec![within.join(format!("{}.rs", module.name)), within.join(&module.name).join("mod.rs")],
        }
    };
    let included = source.included.iter().map(|named| parent.join(named));
    source.modules.iter().flat_map(places).chain(included).map(|path| normal(&path)).collect()
}

/// Without `.` and `..`, as text.
fn normal(path: &Path) -> String {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain.to_string_lossy().into_owned()
}

#[test]
fn no_file_is_dead() {
    let mut roots: BTreeSet<String> =
        workspace::list_packages().iter().flat_map(|package| package.roots.clone()).collect();
    // Packages outside of the workspace; each fuzz target is a program.
    roots.extend(sources().iter().map(|source| source.path.clone()).filter(|path| path.contains("fuzz_targets/")));
    let outside = ["fleet/engine/src/lib.rs", "fleet/src/lib.rs", "fleet/src/main.rs", "fleet/tests/fleet/main.rs"];
    roots.extend(outside.map(str::to_owned));
    roots.insert("oracle/src/main.rs".to_owned());
    assert_none(&check(sources(), &roots));
}

#[test]
fn a_planted_dead_file_is_found() {
    let source = |path: &str, text: &str| Source::parse(path, text.to_owned());
    let files = [
        source("a/src/lib.rs", "mod used; mod folder; mod inline { mod deep; } #[path = \"odd/name.rs\"] mod named;"),
        source("a/src/used.rs", "mod child;"),
        source("a/src/used/child.rs", ""),
        source("a/src/folder/mod.rs", "mod leaf;"),
        source("a/src/folder/leaf.rs", "include!(\"../given.rs\");"),
        source("a/src/given.rs", ""),
        source("a/src/inline/deep.rs", ""),
        source("a/src/odd/name.rs", ""),
        source("a/src/child.rs", ""),
    ];
    assert_found(&check(&files, &BTreeSet::from(["a/src/lib.rs".to_owned()])), &["a/src/child.rs: no `mod`"]);
}
