//! Layout of help texts: commands grouped by purpose, examples before flags.

use std::fmt::Write;

use clap::CommandFactory;

use super::Cli;

/// The commands of `plimsoll --help`, by purpose.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["measure", "k8s-job", "suite", "fio", "check", "report", "compare", "history", "runs"]),
    ("Model", &["catalogue", "prices", "quote", "simulate", "explain", "fit"]),
    ("Emulate", &["serve", "web", "volume", "instance", "nbd", "nbd-check", "iscsi"]),
    ("Clouds", &["oci-config", "oci-key", "oci-agent", "ec2-key"]),
    ("Choose", &["match", "collect", "demand", "diagnose", "size", "watch"]),
    ("Tools", &["try", "doctor", "config", "guide", "presets", "generate", "help"]),
];

/// The parser with the layout of its help. Its arguments can be changed, as it is not built.
pub fn build_command() -> clap::Command {
    let mut built = Cli::command();
    built.build();
    let groups = grouped(&built);
    Cli::command()
        .help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}"))
        .mut_subcommands(|command| match command.get_after_help() {
            Some(_) => command.help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}\n\n{all-args}"),
            None => command,
        })
}

fn grouped(cli: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        writeln!(text, "{heading}:").expect("writing to a string does not fail");
        for name in names {
            let command = cli.find_subcommand(name).expect("each name in the table is a command");
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(text, "  {name:<10} {about}").expect("writing to a string does not fail");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_a_group() {
        let mut cli = build_command();
        cli.build();
        let mut existing: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        existing.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(existing, grouped);
    }
}
