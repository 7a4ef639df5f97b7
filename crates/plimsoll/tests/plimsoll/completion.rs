//! Completion by the shells themselves: values of arguments, files, and the files of packages.

use std::process::Command;

use crate::collect::is_installed;
use crate::folder::{Folder, PROGRAM, stderr, stdout};
use crate::home::{Home, SLOWLY};

/// Completes the last word in bash, by the function that the registration defines.
const BASH: &str = r#"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9
_clap_complete_plimsoll plimsoll "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;
/// The same in zsh, with a `_describe` that prints the values.
const ZSH: &str = r#"
_describe() { print -rl -- "${(@P)3}" }
words=("$@") CURRENT=$#
_clap_dynamic_completer_plimsoll
"#;
/// The same in fish, which has a command for it.
const FISH: &str = "complete -C \"$argv\"\n";

/// Values without their descriptions, of a command line up to its last word.
fn complete(folder: &Folder, shell: &str, line: &[&str]) -> Vec<String> {
    let (options, load, script): (&[&str], _, _) = match shell {
        "bash" => (&["--norc", "--noprofile", "-c"], "source <(COMPLETE=bash \"$PROGRAM\")", BASH),
        "zsh" => (&["-f", "-c"], "compdef() { }; source <(COMPLETE=zsh \"$PROGRAM\")", ZSH),
        _ => (&["--no-config", "-c"], "COMPLETE=fish $PROGRAM | source", FISH),
    };
    let script = format!("{load}\n{script}");
    // The first argument after the script is its name, except in fish.
    let name = if shell == "fish" { None } else { Some("plimsoll") };
    let environment = folder.command(&[]);
    let mut command = Command::new(shell);
    command.args(options).arg(script).args(name).args(line).current_dir(folder.path()).env("PROGRAM", PROGRAM);
    command.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("HOME", folder.path());
    let output = command.output().expect("the shell starts");
    assert!(output.status.success(), "{shell}: {}", stderr(&output));
    let value = |line: &str| line.split([':', '\t']).next().unwrap_or_default().trim_end().replace("./", "");
    stdout(&output).lines().map(value).filter(|value| !value.is_empty()).collect()
}

/// Checks the values of a command line in each shell that is installed.
#[track_caller]
fn check(folder: &Folder, line: &[&str], expected: &[&str]) {
    for shell in ["bash", "zsh", "fish"] {
        if is_installed(shell) {
            let values = complete(folder, shell, line);
            let missing: Vec<_> = expected.iter().filter(|value| !values.contains(&(**value).to_owned())).collect();
            assert!(missing.is_empty(), "{shell}: {line:?}: {missing:?} in {values:?}");
            let last = line.last().copied().unwrap_or_default();
            assert!(values.iter().all(|value| value.starts_with(last)), "{shell}: {line:?}: {values:?}");
        } else {
            eprintln!("skipped: {shell} is not installed");
        }
    }
}

#[test]
fn shells_complete_values() {
    let folder = Folder::new("completion");
    folder.make("runs");
    folder.write("runs/20260101000000-disk.json", "");
    folder.write("mine.toml", "");
    check(&folder, &["plimsoll", "qu"], &["quote"]);
    check(&folder, &["plimsoll", "suite", "crystal"], &["crystaldiskmark"]);
    check(&folder, &["plimsoll", "quote", "aws/gp"], &["aws/gp2", "aws/gp3"]);
    check(&folder, &["plimsoll", "simulate", "azure/premium-ssd"], &["azure/premium-ssd", "azure/premium-ssd-v2"]);
    check(&folder, &["plimsoll", "catalogue", "show", "oci/block"], &["oci/block-volume"]);
    check(&folder, &["plimsoll", "size", "--machine", "aws/m5.larg"], &["aws/m5.large"]);
    check(&folder, &["plimsoll", "measure", ".", "--preset", "red"], &["redo"]);
    check(&folder, &["plimsoll", "measure", ".", "--preset", "mi"], &["mine.toml"]);
    check(&folder, &["plimsoll", "presets", "ol"], &["oltp"]);
    check(&folder, &["plimsoll", "report", "2026"], &["20260101000000-disk"]);
    check(&folder, &["plimsoll", "compare", "la"], &["last"]);
    check(&folder, &["plimsoll", "check", "etcd"], &["etcd", "etcd-heavy"]);
    check(&folder, &["plimsoll", "measure", ".", "--fail-if", "p"], &["p50@", "p99@", "p99.9@", "price"]);
}

#[test]
fn shells_complete_volumes_of_the_service() {
    let home = Home::serving("completed", SLOWLY);
    home.text(&["volume", "create", "data", "--like", "oci:50GB@0vpu"]);
    check(&home, &["plimsoll", "volume", "delete", "da"], &["data"]);
}

/// The files of packages are those of `plimsoll generate`.
#[test]
fn generated_registration_is_valid_in_each_shell() {
    let folder = Folder::new("registration");
    for (shell, file) in [("bash", "plimsoll"), ("zsh", "_plimsoll"), ("fish", "plimsoll.fish")] {
        folder.write(file, folder.text(&["generate", shell]));
        if is_installed(shell) {
            let output = Command::new(shell).args(["-n", &folder.file(file)]).output().expect("the shell starts");
            assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {}", stderr(&output));
        } else {
            eprintln!("skipped: {shell} is not installed");
        }
    }
}
