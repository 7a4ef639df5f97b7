//! Layout of help texts: commands grouped by purpose, examples before flags.

use std::fmt::Write;

use clap::CommandFactory;
use plimsoll_language::Language;
use plimsoll_report::pad_end;

use super::Cli;
use super::translate::{translate, translate_text};

/// The commands by purpose.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["measure", "k8s", "suite", "fio", "check", "report", "compare", "history", "runs"]),
    ("Model", &["catalogue", "prices", "quote", "simulate", "explain", "fit"]),
    ("Emulate", &["serve", "web", "volume", "instance", "nbd", "nbd-check", "iscsi"]),
    ("Clouds", &["oci-config", "oci-key", "oci-agent", "ec2-key"]),
    ("Choose", &["match", "collect", "demand", "diagnose", "size", "watch"]),
    ("Tools", &["try", "doctor", "config", "guide", "presets", "generate", "help"]),
];

/// The screen of `plimsoll --help` around the names of the commands.
const SCREEN: [&str; 2] = [
    "Finds the load line of storage: the highest load within a latency objective

{usage-heading} {usage}

",
    "
Examples:
  plimsoll try                              samples of all of it, about 15 s
  plimsoll measure /var/lib/postgresql      latency curve, load line, its limit
  plimsoll diagnose awr.html                whether storage is the bottleneck
  plimsoll size awr.html --capacity 500GiB  configurations for a load, by price
  plimsoll simulate aws/gp3:500GiB          the same load on a modelled product

Options:
      --lang <LANGUAGE>  language of results: en or ja; default: of the locale
  -h, --help             this screen; plimsoll COMMAND --help: a command
  -V, --version          print the version

Every command with a description: plimsoll help
",
];

/// The parser with the layout of its help. Its arguments can be changed, as it is not built.
pub fn build_command() -> clap::Command {
    Cli::command().help_template(format_screen()).mut_subcommands(|command| match command.get_after_help() {
        Some(_) => command.help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}\n\n{all-args}"),
        None => command,
    })
}

/// The template of `plimsoll --help`, in the language of the reader.
pub fn format_screen() -> String {
    let [head, tail] = SCREEN.map(translate_text);
    format!("{head}{}{tail}", list_names())
}

/// The parser with a help that describes every command, more than a screen.
pub fn describe_commands(command: clap::Command) -> clap::Command {
    let mut built = translate(Cli::command());
    built.build();
    let groups = format_groups(&built);
    command.help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}"))
}

fn list_names() -> String {
    let columns = match Language::current() {
        Language::English => 9,
        Language::Japanese => 12,
    };
    let line = |(heading, names): &(&'static str, &[&str])| {
        let heading = format!("{}:", translate_text(heading));
        format!("{}{}\n", pad_end(&heading, columns), names.join(", "))
    };
    GROUPS.iter().map(line).collect()
}

fn format_groups(cli: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        writeln!(text, "{}:", translate_text(heading)).expect("writing to a string does not fail");
        for name in names {
            let command = cli.find_subcommand(name).expect("each name in the table is a command");
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            // Japanese descriptions have lines.
            let about = about.replace('\n', "\n             ");
            writeln!(text, "  {name:<10} {about}").expect("writing to a string does not fail");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
pub fn list_texts() -> impl Iterator<Item = &'static str> {
    SCREEN.into_iter().chain(GROUPS.iter().map(|(heading, _)| *heading))
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn help_fits_a_screen_and_has_every_option() {
        let mut cli = build_command();
        let help = cli.render_long_help().to_string();
        assert!(help.lines().count() <= 24, "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        cli.build();
        for option in cli.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let long = option.get_long().expect("options have names");
            assert!(help.contains(&format!("--{long} ")), "--{long}");
        }
        let described = describe_commands(build_command()).render_long_help().to_string();
        assert!(described.contains("\n  measure    Measure storage"), "{described}");
    }

    #[test]
    fn japanese_help_fits_a_screen() {
        let help = Language::Japanese.scope(|| translate(build_command()).render_long_help().to_string());
        assert!(help.contains("ストレージ") && help.lines().count() <= 24, "{help}");
        assert!(help.lines().all(|line| UnicodeWidthStr::width(line) <= 80), "{help}");
    }

    #[test]
    fn every_command_is_in_a_group() {
        let mut cli = build_command();
        cli.build();
        let mut commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(commands, grouped);
    }

    /// Commands without a result: servers, guides, and commands that print or write files in a format of their own; `fio`
    /// has the options of fio, and --html, --markdown and --csv among them.
    const WITHOUT_RESULT: [&str; 15] = [
        "fio",
        "k8s job",
        "serve",
        "web",
        "nbd",
        "iscsi",
        "oci-config",
        "oci-agent",
        "collect",
        "try",
        "config",
        "guide",
        "presets",
        "generate",
        "help",
    ];

    /// The commands without subcommands: `catalogue show`.
    fn list_leaves(command: &clap::Command, path: &str, leaves: &mut Vec<(String, clap::Command)>) {
        let subcommands = || command.get_subcommands().filter(|sub| sub.get_name() != "help");
        for sub in subcommands() {
            list_leaves(sub, format!("{path} {}", sub.get_name()).trim(), leaves);
        }
        if subcommands().next().is_none() {
            leaves.push((path.to_owned(), command.clone()));
        }
    }

    #[test]
    fn every_result_has_every_form() {
        let mut cli = build_command();
        cli.build();
        let mut leaves = Vec::new();
        list_leaves(&cli, "", &mut leaves);
        let missing = |(path, command): &(String, clap::Command)| {
            let has = |form: &&str| command.get_arguments().any(|arg| arg.get_long() == Some(form));
            let missing: Vec<&str> =
                ["json", "html", "markdown", "csv"].into_iter().filter(|form| !has(form)).collect();
            (!missing.is_empty()).then(|| format!("{path}: {}", missing.join(", ")))
        };
        let is_of = |path: &str, name: &str| path == name || path.split(' ').next() == Some(name);
        let is_result = |path: &str| WITHOUT_RESULT.iter().all(|name| !is_of(path, name));
        let missing: Vec<String> = leaves.iter().filter(|(path, _)| is_result(path)).filter_map(missing).collect();
        assert!(leaves.len() > 60 && missing.is_empty(), "{} commands; missing: {missing:#?}", leaves.len());
    }
}
