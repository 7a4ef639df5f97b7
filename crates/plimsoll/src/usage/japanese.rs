//! Errors of clap and its help in Japanese, with the styles and the parts of its `RichFormatter`.

use std::error::Error as _;
use std::fmt::Display;

use clap::builder::{StyledStr, Styles};
use clap::error::{ContextKind, ContextValue, Error, ErrorFormatter, ErrorKind};
use plimsoll_language::{label, say};

use super::describe_number;
use crate::args;

/// Formats errors with Japanese texts.
pub struct Japanese;

/// The error with Japanese texts.
pub fn translate(error: clap::Error) -> Error<Japanese> {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if !is_help {
        return error.apply();
    }
    let text = args::translate_layout(&error.render());
    let mut help = clap::Error::new(error.kind()).with_cmd(&args::build_command());
    help.insert(ContextKind::Custom, ContextValue::StyledStr(text.into()));
    help.apply()
}

impl ErrorFormatter for Japanese {
    fn format_error(error: &Error<Self>) -> StyledStr {
        if let Some(ContextValue::StyledStr(help)) = error.get(ContextKind::Custom) {
            return help.clone();
        }
        let styles = Styles::styled();
        let heading = styles.get_error();
        let mut text = format!("{heading}{}{heading:#} {}", label!("error:"), describe(error));
        let tips = list_tips(error);
        if !tips.is_empty() {
            let valid = styles.get_valid();
            text.push('\n');
            text.extend(tips.iter().map(|tip| format!("\n  {valid}{}{valid:#} {tip}", label!("tip:"))));
        }
        if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
            text.push_str("\n\n");
            text.push_str(&args::translate_layout(usage));
        }
        text.push_str("\n\n");
        text.push_str(label!("For more information, try '--help'."));
        text.push('\n');
        text.into()
    }
}

/// The values of a context: one of a text or number, those of a list.
fn list(error: &Error<Japanese>, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        Some(ContextValue::Number(number)) => vec![number.to_string()],
        _ => Vec::new(),
    }
}

fn join(error: &Error<Japanese>, kind: ContextKind) -> String {
    list(error, kind).join(", ")
}

/// A name or value that is refused, in the style of clap.
fn paint_invalid(text: impl Display) -> String {
    let styles = Styles::styled();
    let style = styles.get_invalid();
    format!("{style}{text}{style:#}")
}

/// A name or value that is accepted, in the style of clap.
fn paint_valid(text: impl Display) -> String {
    let styles = Styles::styled();
    let style = styles.get_valid();
    format!("{style}{text}{style:#}")
}

/// The message without tips and usage.
fn describe(error: &Error<Japanese>) -> String {
    let argument = join(error, ContextKind::InvalidArg);
    let value = paint_invalid(join(error, ContextKind::InvalidValue));
    let actual = paint_invalid(join(error, ContextKind::ActualNumValues));
    match error.kind() {
        ErrorKind::ArgumentConflict => describe_conflict(error),
        ErrorKind::NoEquals => say!("equal sign is needed when assigning values to '{argument}'"),
        ErrorKind::InvalidValue => describe_invalid_value(error),
        ErrorKind::InvalidSubcommand => {
            let name = paint_invalid(join(error, ContextKind::InvalidSubcommand));
            say!("unrecognized subcommand '{name}'")
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = list(error, ContextKind::InvalidArg);
            let lines: String = missing.iter().flat_map(|name| ["\n  ".to_owned(), paint_valid(name)]).collect();
            say!("the following required arguments were not provided:{lines}")
        }
        ErrorKind::MissingSubcommand => {
            let name = paint_invalid(join(error, ContextKind::InvalidSubcommand));
            let names = paint_valid(join(error, ContextKind::ValidSubcommand));
            say!("'{name}' requires a subcommand but one was not provided\n  [subcommands: {names}]")
        }
        ErrorKind::TooManyValues => say!("unexpected value '{value}' for '{argument}' found; no more were expected"),
        ErrorKind::TooFewValues => {
            let least = join(error, ContextKind::MinValues);
            say!("{least} values required by '{argument}'; only {actual} were provided")
        }
        ErrorKind::WrongNumberOfValues => {
            let expected = join(error, ContextKind::ExpectedNumValues);
            say!("{expected} values required for '{argument}' but {actual} were provided")
        }
        ErrorKind::ValueValidation => {
            let reason = |source: &(dyn std::error::Error + 'static)| match describe_number(source) {
                Some(form) => format!(": {form}"),
                None => format!(": {}", args::translate_text(&source.to_string())),
            };
            let reason = error.source().map(reason).unwrap_or_default();
            say!("invalid value '{value}' for '{argument}'{reason}")
        }
        ErrorKind::UnknownArgument => {
            let argument = paint_invalid(argument);
            say!("unexpected argument '{argument}' found")
        }
        ErrorKind::InvalidUtf8 => label!("invalid UTF-8 was detected in one or more arguments").to_owned(),
        kind => error.source().map_or_else(|| kind.to_string(), ToString::to_string),
    }
}

fn describe_conflict(error: &Error<Japanese>) -> String {
    let command = list(error, ContextKind::InvalidSubcommand);
    let argument = list(error, ContextKind::InvalidArg).into_iter().chain(command).next().unwrap_or_default();
    let others = list(error, ContextKind::PriorArg);
    let name = paint_invalid(&argument);
    if others == [argument] {
        return say!("the argument '{name}' cannot be used multiple times");
    }
    let lines: String = others.iter().flat_map(|other| ["\n  ".to_owned(), paint_invalid(other)]).collect();
    say!("the argument '{name}' cannot be used with:{lines}")
}

fn describe_invalid_value(error: &Error<Japanese>) -> String {
    let argument = join(error, ContextKind::InvalidArg);
    let value = join(error, ContextKind::InvalidValue);
    let mut text = if value.is_empty() {
        say!("a value is required for '{argument}' but none was supplied")
    } else {
        let (value, reason) = (paint_invalid(value), "");
        say!("invalid value '{value}' for '{argument}'{reason}")
    };
    let values: Vec<String> = list(error, ContextKind::ValidValue).iter().map(paint_valid).collect();
    if !values.is_empty() {
        let values = values.join(", ");
        text.push_str(&say!("\n  [possible values: {values}]"));
    }
    text
}

fn list_tips(error: &Error<Japanese>) -> Vec<String> {
    let quote = |kind| {
        let names: Vec<String> = list(error, kind).iter().map(|name| format!("'{}'", paint_valid(name))).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let commands = quote(ContextKind::SuggestedSubcommand).map(|names| say!("similar subcommands: {names}"));
    let arguments = quote(ContextKind::SuggestedArg).map(|names| say!("similar arguments: {names}"));
    let values = quote(ContextKind::SuggestedValue).map(|names| say!("similar values: {names}"));
    let others = list(error, ContextKind::Suggested).into_iter().map(|tip| translate_tip(&tip).unwrap_or(tip));
    [commands, arguments, values].into_iter().flatten().chain(others).collect()
}

/// A tip that clap has formatted.
fn translate_tip(tip: &str) -> Option<String> {
    if let Some((word, usage)) = tip.strip_prefix("to pass '").and_then(|rest| rest.split_once("' as a value, use '")) {
        let usage = paint_valid(usage.strip_suffix('\'')?);
        return Some(say!("to pass '{word}' as a value, use '{usage}'"));
    }
    if let Some((name, _)) = tip.strip_prefix("subcommand '").and_then(|rest| rest.split_once("' exists; to use it")) {
        let name = paint_valid(name);
        return Some(say!("subcommand '{name}' exists; to use it, remove the '--' before it"));
    }
    let usage = paint_valid(tip.strip_prefix('\'')?.strip_suffix("' exists")?);
    Some(say!("'{usage}' exists"))
}
