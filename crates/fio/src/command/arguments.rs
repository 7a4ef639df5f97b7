//! fio's argument syntax: one or two dashes, `--name=value` or `--name value`, unambiguous prefixes of names, files
//! among options, and only files after `--`.
//!
//! Observed with fio 3.33, which uses `getopt_long_only`. A lone `-` is a job file on standard input.

use plimsoll_language::{label, say};

use super::flags::{self, FLAGS, Flag, Flags, Takes};
use crate::fault::{FaultKind, Findings, Place};
use crate::near;
use crate::options::{self, OptionLookup};
use crate::parse::{JobSection, Written};

/// Classified arguments.
pub(super) struct Read {
    pub flags: Flags,
    /// Sections, global options first.
    pub sections: Vec<JobSection>,
    pub files: Vec<(String, Place)>,
}

pub(super) fn parse_arguments(arguments: &[String], findings: &mut Findings) -> Read {
    let first = JobSection { name: None, written: Vec::new(), place: Place::Argument(1) };
    let mut read = Read { flags: Flags::default(), sections: vec![first], files: Vec::new() };
    let mut rest = arguments.iter().enumerate();
    while let Some((index, argument)) = rest.next() {
        let place = Place::Argument(index + 1);
        if argument == "--" {
            read.files.extend(rest.by_ref().map(|(index, file)| (file.clone(), Place::Argument(index + 1))));
            break;
        }
        let Some(word) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')).filter(|w| !w.is_empty())
        else {
            read.files.push((argument.clone(), place));
            continue;
        };
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
        let mut next = || rest.next().map(|(_, argument)| argument.clone());
        match find(name, &place, findings) {
            Some(Argument::Flag(flag)) => {
                if let Some(value) = flag_value(flag, value, &mut next, &place, findings) {
                    flags::set(&mut read.flags, flag, value, &place, findings);
                }
            }
            Some(Argument::Option(name)) => read.option(name, value, &mut next, place),
            None => {}
        }
    }
    read
}

impl Read {
    fn option(&mut self, name: String, value: Option<String>, next: &mut dyn FnMut() -> Option<String>, place: Place) {
        let is_bare = matches!(options::look_up(&name), OptionLookup::Supported(spec) if spec.is_bare());
        let raw = value.or_else(|| if is_bare { None } else { next() });
        if let ("name", Some(job)) = (name.as_str(), &raw) {
            self.sections.push(JobSection { name: Some(job.clone()), written: Vec::new(), place: place.clone() });
        }
        if let Some(section) = self.sections.last_mut() {
            section.written.push(Written { name, raw, place });
        }
    }
}

enum Argument {
    Flag(&'static Flag),
    Option(String),
}

/// Looks up flags and options by exact name, then by unambiguous prefix.
fn find(name: &str, place: &Place, findings: &mut Findings) -> Option<Argument> {
    let flag = |name: &str| FLAGS.iter().find(|flag| flag.name == name);
    if let Some(flag) = flag(name) {
        return Some(Argument::Flag(flag));
    }
    if !matches!(options::look_up(name), OptionLookup::Unknown(_)) {
        return Some(Argument::Option(name.to_owned()));
    }
    let all = || FLAGS.iter().map(|flag| flag.name).chain(options::names());
    let begun: Vec<&str> = all().filter(|existing| existing.starts_with(name)).collect();
    match begun[..] {
        [only] => return Some(flag(only).map_or_else(|| Argument::Option(only.to_owned()), Argument::Flag)),
        [] => {
            let near = near::nearest(name, all());
            let remedy = near.map_or(label!("see --cmdhelp").to_owned(), |near| say!("did you mean --{near}?"));
            findings.fault(place, FaultKind::Unknown, say!("fio has no option --{name}"), remedy);
        }
        _ => {
            let what = say!("--{name} may be any of --{}", begun.join(", --"));
            findings.fault(place, FaultKind::Unknown, what, label!("write more of it"));
        }
    }
    None
}

/// The value of a flag; `None` after a fault.
#[expect(clippy::option_option, reason = "no value is not the same as a flag that is wrong")]
fn flag_value(
    flag: &Flag,
    value: Option<String>,
    next: &mut dyn FnMut() -> Option<String>,
    place: &Place,
    findings: &mut Findings,
) -> Option<Option<String>> {
    match (flag.takes, value) {
        (Takes::Nothing, Some(_)) => {
            let what = say!("--{} takes no value", flag.name);
            findings.fault(place, FaultKind::Value, what, say!("write --{}", flag.name));
            None
        }
        (Takes::Value, None) => {
            let value = next();
            if value.is_none() {
                let what = say!("--{} without a value", flag.name);
                findings.fault(place, FaultKind::Value, what, say!("write --{}=VALUE", flag.name));
            }
            value.map(Some)
        }
        (_, value) => Some(value),
    }
}
