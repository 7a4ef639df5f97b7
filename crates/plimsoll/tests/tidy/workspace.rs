//! The crates of the workspace from `cargo metadata`.

use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::tree;

#[derive(Clone, Debug, Default)]
pub struct Package {
    /// Name without the prefix `plimsoll-`.
    pub name: String,
    /// Directory from the workspace root.
    pub directory: String,
    /// Root files of targets: `src/lib.rs`, `tests/laws.rs`, ...
    pub roots: Vec<String>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug)]
pub struct Dependency {
    /// Name; without the prefix `plimsoll-` for a crate of the workspace.
    pub name: String,
    /// True for a crate of the workspace.
    pub inside: bool,
    /// True for a development dependency.
    pub dev: bool,
}

impl Package {
    /// Path of its manifest from the workspace root.
    pub fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.directory)
    }

    /// `file:line` of a dependency in the manifest, or the file if the line is not found.
    pub fn place_of(&self, dependency: &Dependency) -> String {
        let manifest = self.manifest();
        let package = if dependency.inside { long_name(&dependency.name) } else { dependency.name.clone() };
        let text = tree::read_text(&manifest).unwrap_or_default();
        let names_it = |line: &str| {
            let rest = line.trim_start().strip_prefix(package.as_str());
            rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
        };
        let sections = if dependency.dev { "[dev-dependencies" } else { "[dependencies" };
        let start = text.lines().position(|line| line.starts_with(sections)).unwrap_or(0);
        match text.lines().skip(start).position(names_it) {
            Some(line) => format!("{manifest}:{}", start + line + 1),
            None => manifest,
        }
    }
}

/// All crates by name.
pub fn list_packages() -> &'static [Package] {
    static PACKAGES: OnceLock<Vec<Package>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(tree::root()).args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
        let output = cargo.output().expect("cargo runs: it is running this test");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo metadata failed: {reported}");
        parse(&serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON"))
    })
}

fn parse(metadata: &Value) -> Vec<Package> {
    let top = metadata["workspace_root"].as_str().expect("metadata has a root");
    let listed = metadata["packages"].as_array().expect("metadata lists packages");
    let inside = |name: &str| listed.iter().any(|package| package["name"] == name);
    let below = |path: &Value| {
        let path = path.as_str().expect("metadata has paths");
        path.strip_prefix(top).unwrap_or(path).trim_start_matches('/').to_owned()
    };
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let dependency = |value: Value| {
        let name = value["name"].as_str().expect("dependencies have names");
        Dependency { name: short_name(name).to_owned(), inside: inside(name), dev: value["kind"] == "dev" }
    };
    let package = |value: &Value| Package {
        name: short_name(value["name"].as_str().expect("packages have names")).to_owned(),
        directory: below(&value["manifest_path"]).trim_end_matches("/Cargo.toml").to_owned(),
        roots: array(&value["targets"]).iter().map(|target| below(&target["src_path"])).collect(),
        dependencies: array(&value["dependencies"]).into_iter().map(dependency).collect(),
    };
    let mut packages: Vec<Package> = listed.iter().map(package).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages
}

fn short_name(package: &str) -> &str {
    package.strip_prefix("plimsoll-").unwrap_or(package)
}

fn long_name(short: &str) -> String {
    if short == "plimsoll" { short.to_owned() } else { format!("plimsoll-{short}") }
}
