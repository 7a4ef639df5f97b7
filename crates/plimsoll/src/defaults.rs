//! Defaults of options from the user's configuration file.
//!
//! Keys at the top of the file are options of every command that has them; a table has those of one command.

use std::path::{Path, PathBuf};

use clap::Command;
use plimsoll_catalogue::{nearest, one_of};
use plimsoll_language::{Language, label, say};
use plimsoll_report::pages::{self, Settings};
use plimsoll_report::settings_json;
use toml::{Table, Value};

use crate::args::{FormArgs, LanguageWord};
use crate::cli_error::CliError;
use crate::locale;
use crate::output::Forms;
use crate::store::config_folder;

/// Environment variable with the path of the file.
const CONFIG_VARIABLE: &str = "PLIMSOLL_CONFIG";

/// The file of all users, which is read if a user has none.
const SYSTEM_CONFIG: &str = "/etc/plimsoll/config.toml";

/// The path of the file, which need not exist.
fn config_path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(CONFIG_VARIABLE) {
        return Some(PathBuf::from(path));
    }
    let user_file = config_folder().map(|folder| folder.join("config.toml"));
    let system = Path::new(SYSTEM_CONFIG);
    let has_own = user_file.as_ref().is_some_and(|path| path.exists());
    if !has_own && system.exists() { Some(system.to_owned()) } else { user_file }
}

/// The file and its text; `None` without a file, or if its directory is that of another user, as after `setpriv`.
fn read() -> Result<Option<(PathBuf, String)>, CliError> {
    let is_named = std::env::var_os(CONFIG_VARIABLE).is_some_and(|path| !path.is_empty());
    let Some(path) = config_path().filter(|path| is_named || path.exists()) else { return Ok(None) };
    if is_named && !path.exists() {
        return Err(CliError::usage(say!("{CONFIG_VARIABLE} names no file ({}): correct or unset it", path.display())));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| CliError::reading(&path, error))?;
    Ok(Some((path, text)))
}

/// The command with the defaults of the file; it must not have been built, which fixes the order of its arguments.
pub fn apply(command: Command) -> Result<Command, CliError> {
    let Some((path, text)) = read()? else { return Ok(command) };
    let refused = |reason: &dyn std::fmt::Display| CliError::usage(format!("{}: {reason}", path.display()));
    let table: Table = text.parse().map_err(|error: toml::de::Error| refused(&error))?;
    set_defaults(command, &table).map_err(|reason| refused(&reason))
}

/// `plimsoll config`: the file, and the language with its origin.
pub fn show(forms: &FormArgs, chosen: Option<LanguageWord>) -> Result<(), CliError> {
    // Before JSON makes it English.
    let language = Language::current().tag();
    let (forms, language_origin) = (Forms::new(forms)?, locale::describe_origin(chosen));
    let file = read()?.map(|(_, text)| text);
    let path = config_path().map(|path| path.display().to_string());
    let settings = Settings { path, file, language, language_origin };
    forms.write(&pages::settings(&settings), || settings_json(&settings))
}

fn set_defaults(mut command: Command, table: &Table) -> Result<Command, String> {
    for (key, value) in table {
        command = match value {
            Value::Table(options) => {
                if command.find_subcommand(key).is_none() {
                    let names = command.get_subcommands().map(Command::get_name);
                    return Err(unknown_key(key, label!("a command"), names));
                }
                let mut outcome = Ok(());
                let changed = command.mut_subcommand(key, |sub| {
                    set_defaults(sub.clone(), options).unwrap_or_else(|reason| {
                        outcome = Err(reason);
                        sub
                    })
                });
                outcome.map(|()| changed)?
            }
            value => {
                let values =
                    list_texts(value).ok_or_else(|| say!("{key}: use a text, a number, true, or a list of them"))?;
                let mut count = 0;
                let changed = set_default(command.clone(), key, &values, &mut count);
                if count == 0 {
                    let names = list_options(&command);
                    return Err(unknown_key(key, label!("an option"), names.iter().map(String::as_str)));
                }
                changed
            }
        };
    }
    Ok(command)
}

/// Sets the default of an option in a command and its subcommands; counts them.
fn set_default(command: Command, key: &str, values: &[String], count: &mut usize) -> Command {
    let own = command.get_arguments().find(|arg| arg.get_long() == Some(key)).map(|arg| arg.get_id().clone());
    let command = match own {
        Some(id) => {
            *count += 1;
            command.mut_arg(id, |arg| arg.default_values(values.iter().cloned()))
        }
        None => command,
    };
    command.mut_subcommands(|sub| set_default(sub, key, values, count))
}

/// The options of a command and its subcommands.
fn list_options(command: &Command) -> Vec<String> {
    let own = command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned));
    own.chain(command.get_subcommands().flat_map(list_options)).collect()
}

fn list_texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Float(number) => Some(vec![number.to_string()]),
        Value::Boolean(is_set) => Some(vec![is_set.to_string()]),
        Value::Array(values) => values.iter().map(list_texts).collect::<Option<Vec<_>>>().map(|all| all.concat()),
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

fn unknown_key<'n>(key: &str, kind: &str, names: impl Iterator<Item = &'n str>) -> String {
    let near = nearest(key, names);
    let suggestion = if near.is_empty() { String::new() } else { say!(": did you mean {}?", one_of(&near)) };
    say!("{key} is not {kind}{suggestion}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(config: &str, arguments: &[&str]) -> Result<clap::ArgMatches, String> {
        let command = set_defaults(crate::args::build_command(), &config.parse().expect("it is TOML"))?;
        command.try_get_matches_from(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn options_have_the_defaults_of_the_file_unless_they_are_given() {
        let config = "currency = \"JPY\"\ndetails = true\n[size]\nprovider = [\"oci\", \"aws\"]\n";
        let size = |arguments: &[&str]| {
            let all = [&["plimsoll", "size", "awr.html"], arguments].concat();
            parse(config, &all).expect("it is valid").subcommand_matches("size").expect("the command").clone()
        };
        let by_file = size(&[]);
        let providers: Vec<&String> = by_file.get_many("provider").expect("providers").collect();
        assert_eq!(providers, ["oci", "aws"]);
        assert!(by_file.get_flag("details"));
        let given: Vec<String> = size(&["--provider", "gcp"]).get_many("provider").expect("one").cloned().collect();
        assert_eq!(given, ["gcp"]);
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let refused = |config: &str| parse(config, &["plimsoll", "runs"]).expect_err("it is refused");
        assert_eq!(refused("curency = \"JPY\""), "curency is not an option: did you mean currency?");
        assert!(refused("[sise]\nprovider = \"oci\"").starts_with("sise is not a command: did you mean size"));
        assert!(refused("currency = 2024-01-01").contains("use a text"));
    }
}
