//! Documents generated from the flag table and the types.

use std::fmt::Write;

use clap::{Arg, Command};

use plimsoll_language::say;

use crate::args::{self, Generated};
use crate::cli_error::CliError;
use crate::completion::registration;

/// The text of a document; `name` selects the result of a schema.
pub fn generate_document(document: Generated, name: Option<&str>) -> Result<Vec<u8>, CliError> {
    if let Some(name) = name
        && document != Generated::Schema
    {
        return Err(CliError::usage(say!("{name}: only `generate schema` takes a name: omit it")));
    }
    Ok(match document {
        Generated::Bash => registration("bash"),
        Generated::Zsh => registration("zsh"),
        Generated::Fish => registration("fish"),
        Generated::Man => generate_manual(),
        Generated::Reference => generate_reference().into_bytes(),
        Generated::Schema => generate_schema(name.unwrap_or("run")),
        Generated::Openapi => plimsoll_service::http::openapi(),
    })
}

/// The man page: the main command, then each subcommand.
fn generate_manual() -> Vec<u8> {
    let mut command = args::build_command();
    command.build();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text).expect("writing to memory does not fail");
    for sub in list_subcommands(&command) {
        let page = clap_mangen::Man::new(sub.clone());
        let heading = format!("\n.SH \"{}\"\n", full_name(sub).to_uppercase());
        text.extend_from_slice(heading.as_bytes());
        page.render_description_section(&mut text).expect("writing to memory does not fail");
        page.render_options_section(&mut text).expect("writing to memory does not fail");
    }
    text
}

/// All subcommands, parents before children.
fn list_subcommands(command: &Command) -> Vec<&Command> {
    let subs = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    subs.flat_map(|sub| std::iter::once(sub).chain(list_subcommands(sub))).collect()
}

/// The full name: `plimsoll volume create`.
fn full_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).to_owned()
}

fn generate_schema(name: &str) -> Vec<u8> {
    let answer = plimsoll_service::SCHEMAS.iter().find(|(answer, _)| *answer == name);
    let schema = answer.map(|(_, schema)| plimsoll_report::close_schema(schema()));
    schema.or_else(|| plimsoll_report::find_schema(name)).expect("the parser accepts names of schemas only")
}

fn generate_reference() -> String {
    let mut command = args::build_command();
    command.build();
    let mut text = String::from(
        "# Reference\n\nEvery command and flag. Generated: `plimsoll generate reference`.\n\nExit codes: 0 success; 1 failure; 2 usage error, nothing was written; 3 undetermined (`--fail-if`, `--exit-code`), or a required run was not kept; 130 stopped by SIGINT (Ctrl-C) and 143 by SIGTERM, measured data are kept.\n\nEnvironment: `PLIMSOLL_RUNS` is the directory of kept runs, `PLIMSOLL_PRODUCTS` that of additional product files, `PLIMSOLL_SERVICE` the service for `plimsoll volume`; `NO_COLOR` disables colours.\n",
    );
    let commands = list_subcommands(&command);
    for &sub in &commands {
        let parent = commands.iter().find(|parent| parent.get_subcommands().any(|child| std::ptr::eq(child, sub)));
        write_section(&mut text, sub, parent.copied());
    }
    text
}

fn write_section(text: &mut String, command: &Command, parent: Option<&Command>) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let name = full_name(command);
    append(text, format_args!("\n## {name}\n\n{about}.\n\n```text\n{usage}\n```\n"));
    let is_own = |argument: &&Arg| {
        let is_inherited = |parent: &Command| parent.get_arguments().any(|other| other.get_id() == argument.get_id());
        !argument.is_global_set() || !parent.is_some_and(is_inherited)
    };
    let mut headings: Vec<&str> = Vec::new();
    for argument in command.get_arguments().filter(is_own) {
        let heading = argument.get_help_heading().unwrap_or("");
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let arguments: Vec<&Arg> = command
            .get_arguments()
            .filter(is_own)
            .filter(|argument| argument.get_help_heading().unwrap_or("") == heading)
            .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
            .collect();
        if arguments.is_empty() {
            continue;
        }
        if !heading.is_empty() {
            append(text, format_args!("\n### {heading}: {name}\n"));
        }
        append(text, format_args!("\n| argument | meaning |\n|---|---|\n"));
        for argument in arguments {
            write_row(text, argument);
        }
    }
    if let Some(examples) = command.get_after_help() {
        append(text, format_args!("\n```text\n{examples}\n```\n"));
    }
}

fn write_row(text: &mut String, argument: &Arg) {
    let short = argument.get_short().map(|letter| format!("-{letter}, ")).unwrap_or_default();
    let written = format!("{short}{argument}").replace('|', "\\|");
    let mut meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values = argument.get_possible_values();
    if !values.is_empty() && argument.get_action().takes_values() {
        let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        append(&mut meaning, format_args!(": {}", names.join(", ")));
    }
    if let [default] = argument.get_default_values()
        && argument.get_action().takes_values()
    {
        append(&mut meaning, format_args!(" (default: `{}`)", default.to_string_lossy()));
    }
    append(text, format_args!("| `{written}` | {} |\n", meaning.replace('|', "\\|")));
}

fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string does not fail");
}
