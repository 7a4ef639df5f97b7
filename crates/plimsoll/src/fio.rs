//! `plimsoll fio`: jobs in fio's language, run by plimsoll's engine and told as fio tells them.

mod around;
mod help;

use std::io::Write;

use plimsoll_fio::{Command, Question, command, engine_help, option_help, print};

use crate::args::FioArgs;
use crate::output;
use crate::trouble::Trouble;

/// Reads the jobs, runs them, and prints what became of them.
pub fn run(args: &FioArgs) -> Result<(), Trouble> {
    let read = around::within(|around| command(&args.arguments, around));
    let Command { flags, warnings, shown, .. } = read.map_err(|faults| refused(&faults))?;
    for note in &warnings {
        say(note);
    }
    match &flags.question {
        None => {}
        Some(Question::Version) => return output::print((version() + "\n").as_bytes()),
        Some(Question::Help) => return output::print(help::HELP.as_bytes()),
        Some(Question::Option(name)) => return output::print(option_help(name.as_deref()).as_bytes()),
        Some(Question::Engine(name)) => return output::print(engine_help(name.as_deref()).as_bytes()),
    }
    if flags.show_command {
        return output::print(shown.as_bytes());
    }
    Ok(())
}

/// What stands in the place of fio's version.
fn version() -> String {
    print::version(env!("CARGO_PKG_VERSION"))
}

/// Says each of them; fio ends with 1 then.
fn refused(said: &[impl std::fmt::Display]) -> Trouble {
    said.iter().for_each(say);
    Trouble::Ended(1)
}

/// Says a line on standard error.
fn say(what: impl std::fmt::Display) {
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "plimsoll: {what}");
}
