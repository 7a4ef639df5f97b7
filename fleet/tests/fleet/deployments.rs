//! Examples of deployments: their options are those of the program, and their files are valid where the tools that check
//! them are present.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{TestFolder, arg, succeed};

fn files_of(name: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    paths.sort();
    paths
}

/// Whether a tool runs here; prints a notice otherwise.
fn has_tool(name: &str) -> bool {
    let runs = Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    if !runs {
        println!("skipped: {name} is not installed");
    }
    runs
}

/// The names of options in a text.
fn options_in(text: &str) -> BTreeSet<String> {
    let is_option = |word: &&str| word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
    let words = text.split_whitespace().filter(is_option);
    words.map(|word| word.split('=').next().unwrap_or(word).to_owned()).collect()
}

/// Commands of the program in a text, each with its options.
fn commands_in(text: &str) -> Vec<(&'static str, BTreeSet<String>)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let begins = |command: &&str| {
            line.trim() == format!("- {command}") || line.contains(&format!("plimsoll-fleet {command} "))
        };
        match (["scheduler", "executor", "rightsize"].into_iter().find(begins), found.last_mut()) {
            (Some(command), _) => found.push((command, line.to_owned())),
            (None, Some((_, options))) => options.push_str(&format!(" {line}")),
            (None, None) => {}
        }
    }
    found.into_iter().map(|(command, text)| (command, options_in(&text))).collect()
}

#[test]
fn options_of_deployments_exist() {
    let mut count = 0;
    for path in [files_of("systemd", "service"), files_of("kubernetes", "yaml")].concat() {
        let commands = commands_in(&fs::read_to_string(&path).unwrap());
        assert!(!commands.is_empty(), "{}", path.display());
        for (command, options) in commands {
            let existing = options_in(&succeed(&[command, "--help"]).replace(['<', ','], " "));
            let unknown: Vec<_> = options.difference(&existing).collect();
            assert!(unknown.is_empty(), "{}: {command} has no {unknown:?}", path.display());
            assert!(options.contains("--tls-ca"), "{}: {options:?}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 5);
}

#[test]
fn units_of_systemd_are_valid() {
    if !has_tool("systemd-analyze") {
        return;
    }
    let folder = TestFolder::new("units");
    for path in files_of("systemd", "service") {
        // The program is not installed here.
        let text = fs::read_to_string(&path).unwrap();
        let text =
            text.replace("/usr/local/bin/plimsoll-fleet ", &format!("{} ", env!("CARGO_BIN_EXE_plimsoll-fleet")));
        let unit = folder.write(&path.file_name().unwrap().to_string_lossy(), &text);
        let output = Command::new("systemd-analyze").args(["verify", "--man=no", arg(&unit)]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let own: Vec<_> = errors.lines().filter(|line| line.contains("plimsoll-fleet")).collect();
        assert!(output.status.success() && own.is_empty(), "{own:?}");
    }
}

#[test]
fn manifests_of_kubernetes_are_valid() {
    if !has_tool("kubernetes-validate") {
        return;
    }
    let paths = files_of("kubernetes", "yaml");
    let output = Command::new("kubernetes-validate").arg("--strict").args(&paths).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.matches(" passed for resource ").count() == 7, "{text}");
}
