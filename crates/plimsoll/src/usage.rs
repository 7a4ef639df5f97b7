//! Usage errors of clap with additional remedies.

use std::error::Error as _;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use plimsoll_catalogue::nearest;
use plimsoll_language::{Language, label};

use crate::args;

mod japanese;

/// Prints the error, or the help that it is, in the language of the reader, and ends the process with its exit code.
pub fn exit(mut error: clap::Error) -> ! {
    match error.kind() {
        ErrorKind::InvalidSubcommand => suggest_nearest_command(&mut error),
        ErrorKind::UnknownArgument => suggest_no_color(&mut error),
        _ => {}
    }
    match Language::current() {
        Language::English if error.kind() == ErrorKind::ValueValidation => with_form_of_numbers(error).exit(),
        Language::English => error.exit(),
        Language::Japanese => japanese::translate(error).exit(),
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Clap suggests all similar commands, the least similar first.
fn suggest_nearest_command(error: &mut clap::Error) {
    let Some(word) = context(error, ContextKind::InvalidSubcommand) else { return };
    let cli = args::build_command();
    let near = nearest(&word, cli.get_subcommands().map(clap::Command::get_name));
    if let Some(nearest) = near.into_iter().next() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![nearest]));
    }
}

/// `--no-color` is the only flag about colour.
fn suggest_no_color(error: &mut clap::Error) {
    let is_color = context(error, ContextKind::InvalidArg)
        .is_some_and(|flag| ["--color", "--colour", "--no-colour"].iter().any(|spelling| flag.starts_with(spelling)));
    if is_color {
        let tip =
            label!("output is coloured on terminals only; --no-color or the environment variable NO_COLOR prevents it");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// The expected form of a number, which errors of the standard library do not name.
fn describe_number(source: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if source.is::<ParseIntError>() {
        Some(label!("not a whole number: write digits only, such as 16"))
    } else if source.is::<ParseFloatError>() {
        Some(label!("not a number: use a decimal such as 0.5"))
    } else {
        None
    }
}

fn with_form_of_numbers(error: clap::Error) -> clap::Error {
    let Some(form) = error.source().and_then(describe_number) else { return error };
    let (Some(flag), Some(value)) =
        (context(&error, ContextKind::InvalidArg), context(&error, ContextKind::InvalidValue))
    else {
        return error;
    };
    let message = format!("invalid value '{value}' for '{flag}': {form}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(ErrorKind::ValueValidation, message)
}
