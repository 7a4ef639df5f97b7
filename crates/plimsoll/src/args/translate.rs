//! Help texts in Japanese. The flag table is English, and `help.ja.po` has the translations of its texts, and of errors of
//! values and descriptions of presets, whose crates have no language.

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, Command};
use plimsoll_language::Language;
use plimsoll_report::{pad_end, wrap};

use super::help::format_screen;

/// Translations by the English text, in its order.
static JAPANESE: &[(&str, &str)] = plimsoll_language::translations!("src/args/help.ja.po");

/// Columns of a line of the help of an argument, which clap indents.
const ARGUMENT_COLUMNS: usize = 64;
/// Columns of a line of the description of a command.
const COMMAND_COLUMNS: usize = 96;

/// Texts of clap. A text stands before those that it contains.
const LAYOUT: [&str; 13] = [
    "Usage:",
    "Commands:",
    "Arguments:",
    "Options:",
    "Possible values:",
    "[possible values: ",
    "[default: ",
    "[env: ",
    "Print help (see a summary with '-h')",
    "Print help (see more with '--help')",
    "Print help",
    "Print this message or the help of the given subcommand(s)",
    "Print version",
];

/// A text of the flag table, or an error of a value, in the language of the reader.
pub fn translate_text(english: &str) -> &str {
    match Language::current() {
        Language::English => english,
        Language::Japanese => find(english).unwrap_or(english),
    }
}

/// The parser with help texts in the language of the reader; it must not have been built.
pub fn translate(command: Command) -> Command {
    match Language::current() {
        Language::English => command,
        Language::Japanese => translate_command(command).help_template(format_screen()),
    }
}

/// A help or usage that clap has rendered, with its own texts in Japanese.
pub fn translate_layout(rendered: &StyledStr) -> String {
    let mut text = rendered.ansi().to_string();
    for english in LAYOUT {
        text = text.replace(english, translate_text(english));
    }
    text
}

fn find(english: &str) -> Option<&'static str> {
    let index = JAPANESE.binary_search_by_key(&english, |(text, _)| text).ok()?;
    Some(JAPANESE[index].1)
}

fn find_wrapped(english: Option<&StyledStr>, columns: usize) -> Option<String> {
    let lines = find(&english?.to_string())?.lines();
    Some(lines.flat_map(|line| wrap(line, columns)).collect::<Vec<_>>().join("\n"))
}

fn translate_command(mut command: Command) -> Command {
    if let Some(about) = find_wrapped(command.get_about(), COMMAND_COLUMNS) {
        command = command.about(about);
    }
    if let Some(about) = find_wrapped(command.get_long_about(), COMMAND_COLUMNS) {
        command = command.long_about(about);
    }
    if let Some(examples) = command.get_after_help().and_then(|examples| find(&examples.to_string())) {
        command = command.after_help(examples);
    }
    command.mut_args(translate_argument).mut_subcommands(translate_command)
}

fn translate_argument(mut argument: Arg) -> Arg {
    if let Some(help) = find_wrapped(argument.get_help(), ARGUMENT_COLUMNS) {
        argument = argument.help(help);
    }
    if let Some(help) = find_wrapped(argument.get_long_help(), ARGUMENT_COLUMNS) {
        argument = argument.long_help(help);
    }
    // The parser of the values has their English texts.
    if let Some((names, lines)) = list_values(&argument) {
        let short = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let long = argument.get_long_help().map_or_else(|| short.clone(), ToString::to_string);
        argument = argument
            .hide_possible_values(true)
            .help(format!("{short}\n{}{names}]", translate_text("[possible values: ")));
        argument = argument.long_help(format!("{long}\n\n{}\n{lines}", translate_text("Possible values:")));
    }
    match argument.get_help_heading().and_then(find) {
        Some(heading) => argument.help_heading(heading),
        None => argument,
    }
}

/// The names of possible values, and a line with the help of each, `- en: English`; `None` if they have none.
fn list_values(argument: &Arg) -> Option<(String, String)> {
    let values: Vec<PossibleValue> =
        argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    let columns =
        values.iter().filter(|value| value.get_help().is_some()).map(|value| value.get_name().len()).max()? + 4;
    let line = |value: &PossibleValue| {
        let help = find_wrapped(value.get_help(), ARGUMENT_COLUMNS - columns).unwrap_or_default();
        let help = help.replace('\n', &format!("\n{}", " ".repeat(columns)));
        format!("{}{help}", pad_end(&format!("- {}: ", value.get_name()), columns))
    };
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    Some((names.join(", "), values.iter().map(line).collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plimsoll_measure::{BUILT_IN, Preset};
    use plimsoll_units::{Malformed, Quantity};

    use super::super::help::{build_command, list_texts};
    use super::*;

    fn collect(command: &Command, texts: &mut BTreeSet<String>) {
        let own = [command.get_about(), command.get_long_about(), command.get_after_help()];
        texts.extend(own.into_iter().flatten().map(ToString::to_string));
        for argument in command.get_arguments() {
            let own = [argument.get_help(), argument.get_long_help()];
            texts.extend(own.into_iter().flatten().map(ToString::to_string));
            texts.extend(argument.get_help_heading().map(str::to_owned));
            texts.extend(argument.get_possible_values().iter().filter_map(|value| Some(value.get_help()?.to_string())));
        }
        for subcommand in command.get_subcommands() {
            collect(subcommand, texts);
        }
    }

    /// Renders the help of a command and those below it, and collects lines with two words of English.
    fn collect_english(command: &mut Command, found: &mut Vec<String>) {
        let is_word = |word: &&str| word.len() > 1 && word.chars().all(|letter| letter.is_ascii_lowercase());
        let is_english = |line: &str| {
            let words: Vec<&str> = line.split([' ', ',']).collect();
            let is_listed = line.trim_end().ends_with([',', ']'])
                || ["plimsoll ", "kubectl "].iter().any(|program| line.contains(program));
            line.is_ascii() && !is_listed && words.windows(2).any(|words| words.iter().all(is_word))
        };
        let help = translate_layout(&command.render_long_help());
        found
            .extend(help.lines().filter(|line| is_english(line)).map(|line| format!("{}: {line}", command.get_name())));
        command.get_subcommands_mut().for_each(|subcommand| collect_english(subcommand, found));
    }

    #[test]
    fn rendered_help_has_no_english() {
        let found = Language::Japanese.scope(|| {
            let (mut command, mut found) = (translate(build_command()), Vec::new());
            command.build();
            collect_english(&mut command, &mut found);
            found
        });
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn every_help_text_has_a_translation() {
        let mut texts: BTreeSet<String> = LAYOUT.into_iter().chain(list_texts()).map(str::to_owned).collect();
        let quantities = [Quantity::Span, Quantity::Bytes, Quantity::BareBytes, Quantity::Iops];
        texts.extend(quantities.map(|expected| Malformed { expected }.to_string()));
        texts.extend(BUILT_IN.map(|(name, _)| Preset::find(name).expect("it is built in").about));
        collect(&build_command(), &mut texts);
        let is_missing = |text: &&String| find(text).is_none();
        let missing: Vec<String> = texts.iter().filter(is_missing).map(|text| format!("msgid {text:?}")).collect();
        let unused: Vec<&str> = JAPANESE.iter().map(|(text, _)| *text).filter(|text| !texts.contains(*text)).collect();
        assert!(missing.is_empty(), "write translations into help.ja.po:\n{}", missing.join("\n"));
        assert!(unused.is_empty(), "remove from help.ja.po: {unused:#?}");
    }
}
