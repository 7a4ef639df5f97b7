//! Job files: sections, lines, includes and variables, parsed to options with values.
//!
//! Observed with fio 3.33: a comment begins at any `;` or `#`, even in quotes; names are in lower case; a section whose
//! name begins with `global` applies to all following sections; an include is relative to the directory of the
//! including file and may contain only options; a few options are processed before the others of their section, and
//! file names after them.

mod expand;
mod lines;

use std::rc::Rc;
use std::sync::Arc;

use plimsoll_language::{label, say};

use crate::fault::{FaultKind, Findings, Place};
use crate::number::{Base, Unreadable};
use crate::options::{self, OptionLookup, Spec, Support, ValueForm};
use crate::value::{self, ParsedValue};
use lines::Line;

/// Inputs of a job file from its environment.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Reads a file; the error is the reason. `-` is standard input.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// `$pagesize`, in bytes.
    pub page_bytes: u64,
    /// `$mb_memory`, in MiB.
    pub memory_mib: u64,
    /// `$ncpus`.
    pub processors: u32,
    /// Number of present processors, permitted or not.
    pub processors_present: u32,
}

/// Limits of the length of a text, of the lines of all texts, and of nested includes.
const TEXT_MAX: usize = 4 << 20;
const LINES_MAX: usize = 100_000;
const INCLUDES_MAX: usize = 16;

/// An option with its parsed value.
#[derive(Debug)]
pub(crate) struct Given {
    /// Table entry of the option.
    pub spec: &'static Spec,
    /// Text of the value, after the expansion of variables.
    pub raw: Option<String>,
    pub value: ParsedValue,
    /// Position in the text.
    pub place: Place,
}

/// An option before parsing of its value.
#[derive(Debug)]
pub(crate) struct Written {
    pub name: String,
    pub raw: Option<String>,
    pub place: Place,
}

/// A section of a job file or command line.
#[derive(Debug)]
pub(crate) struct JobSection {
    /// Name in brackets; `None` for `global`.
    pub name: Option<String>,
    pub written: Vec<Written>,
    pub place: Place,
}

/// A parser, which collects its findings.
pub(crate) struct JobParser<'a> {
    pub around: Surroundings<'a>,
    /// Skips unsupported options with a note instead of a fault.
    pub lenient: bool,
    pub findings: Findings,
    lines: usize,
}

impl<'a> JobParser<'a> {
    pub(crate) fn new(around: Surroundings<'a>, lenient: bool) -> Self {
        Self { around, lenient, findings: Findings::default(), lines: 0 }
    }

    /// Sections of a file, in order.
    pub(crate) fn file(&mut self, path: &str, text: &str) -> Vec<JobSection> {
        let mut sections = Vec::new();
        self.text(path, text, &mut sections, &mut vec![path.to_owned()]);
        sections
    }

    fn text(&mut self, path: &str, text: &str, sections: &mut Vec<JobSection>, open: &mut Vec<String>) {
        let file: Arc<str> = path.into();
        if text.len() > TEXT_MAX {
            let place = Place::Line(file, 1);
            let what = say!("the file has {} bytes, and at most {TEXT_MAX} are read", text.len());
            return self.findings.fault(&place, FaultKind::Structure, what, label!("split it"));
        }
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            self.lines += 1;
            let place = Place::Line(file.clone(), index + 1);
            if self.lines > LINES_MAX {
                let what = say!("more than {LINES_MAX} lines");
                return self.findings.fault(&place, FaultKind::Structure, what, label!("include less"));
            }
            let cut = lines::without_comment(line);
            if let Some(what) = lines::cut_short(line, cut) {
                self.findings.note(&place, what);
            }
            self.line(lines::read(cut), place, path, sections, open);
        }
    }

    fn line(&mut self, line: Line, place: Place, path: &str, sections: &mut Vec<JobSection>, open: &mut Vec<String>) {
        let structure = FaultKind::Structure;
        match line {
            Line::Empty => {}
            Line::Section(_) if open.len() > 1 => {
                let what = label!("an included file with a section");
                self.findings.fault(&place, FaultKind::Include, what, label!("leave only options in it"));
            }
            Line::Section(name) => {
                let is_global = name.starts_with("global");
                sections.push(JobSection { name: (!is_global).then(|| name.to_owned()), written: Vec::new(), place });
            }
            Line::Malformed(what, remedy) => self.findings.fault(&place, structure, what, remedy),
            Line::Include(name) => self.include(name, &place, path, sections, open),
            Line::Option(name, raw) => {
                let Some(section) = sections.last_mut() else {
                    let what = say!("option {name} before the first section");
                    let remedy = label!("write [global] or [name of a job] above it");
                    return self.findings.fault(&place, structure, what, remedy);
                };
                section.written.push(Written { name: name.to_owned(), raw: raw.map(str::to_owned), place });
            }
        }
    }

    fn include(&mut self, name: &str, place: &Place, path: &str, into: &mut Vec<JobSection>, open: &mut Vec<String>) {
        let name = self.expanded(name, place);
        let directory = path.rfind('/').map_or("", |end| &path[..=end]);
        let path = if name.starts_with('/') { name } else { format!("{directory}{name}") };
        let include = FaultKind::Include;
        if open.contains(&path) {
            let what = say!("{path} includes itself");
            return self.findings.fault(place, include, what, label!("remove the line"));
        }
        if open.len() >= INCLUDES_MAX {
            let what = say!("{path} is included at a depth of more than {INCLUDES_MAX} files");
            return self.findings.fault(place, include, what, label!("include it higher up"));
        }
        if into.is_empty() {
            let what = say!("{path} is included before the first section");
            return self.findings.fault(place, include, what, label!("write [global] or [name of a job] above it"));
        }
        match (self.around.read)(&path) {
            Ok(text) => {
                open.push(path.clone());
                self.text(&path, &text, into, open);
                open.pop();
            }
            Err(why) => {
                let what = say!("{path} cannot be included: {why}");
                self.findings.fault(place, include, what, label!("correct the name, which is relative to this file"));
            }
        }
    }

    fn expanded(&mut self, text: &str, place: &Place) -> String {
        let (expanded, missing) = expand::variables(text, self.around.variable);
        for name in missing {
            let what = say!("the variable {name} is not set");
            let remedy = say!("set it ({name}=... before the command), or write its value");
            self.findings.fault(place, FaultKind::Variable, what, remedy);
        }
        expanded
    }

    /// Parses the values of a section in fio's order; `base` is `kb_base` of earlier sections, and is updated.
    pub(crate) fn given(&mut self, written: Vec<Written>, sorted: Sorted, base: &mut Base) -> Vec<Rc<Given>> {
        let mut recognized: Vec<(&'static Spec, Written)> = Vec::new();
        for written in written {
            if let Some(spec) = self.spec(&written) {
                recognized.push((spec, written));
            }
        }
        if sorted == Sorted::Yes {
            recognized.sort_by_key(|(spec, _)| spec.rank());
        }
        let mut given = Vec::new();
        for (spec, written) in recognized {
            if let Some(option) = self.option(spec, written, *base) {
                if let ("kb_base", ParsedValue::Choice(word, _)) = (spec.name, &option.value) {
                    *base = if *word == "1000" { Base::Decimal } else { Base::Binary };
                }
                given.push(Rc::new(option));
            }
        }
        given
    }

    fn spec(&mut self, written: &Written) -> Option<&'static Spec> {
        let Written { name, place, .. } = written;
        match options::look_up(name) {
            OptionLookup::Supported(spec) => return Some(spec),
            OptionLookup::Unsupported(owner) => {
                let what = say!("{name} is an option of {owner}");
                self.unsupported(
                    place,
                    FaultKind::Unsupported,
                    what,
                    label!("remove it, or leave it out with --lenient"),
                );
            }
            OptionLookup::Unknown(near) => {
                let meant = near.map_or(label!("remove it").to_owned(), |near| say!("did you mean {near}?"));
                self.unsupported(place, FaultKind::Unknown, say!("fio has no option {name}"), &meant);
            }
        }
        None
    }

    fn unsupported(&mut self, place: &Place, kind: FaultKind, what: String, remedy: &str) {
        if self.lenient {
            self.findings.note(place, say!("{what}: left out"));
        } else {
            self.findings.fault(place, kind, what, remedy);
        }
    }

    fn option(&mut self, spec: &'static Spec, written: Written, base: Base) -> Option<Given> {
        let Written { name, raw, place } = written;
        let faults = self.findings.faults.len();
        let raw = raw.map(|raw| self.expanded(&raw, &place));
        if self.findings.faults.len() > faults {
            return None;
        }
        let raw = raw.map(|raw| expand::keywords(&raw, &self.around, spec.form));
        let displayed = raw.as_ref().map_or(name.clone(), |raw| format!("{name}={raw}"));
        let value = match value::parse_value(spec.form, raw.as_deref(), base) {
            Ok(value) => value,
            Err(Unreadable(words)) => {
                let (what, remedy) = words.split_once("; ").unwrap_or((&words, label!("write another value")));
                self.findings.fault(&place, FaultKind::Value, format!("{displayed}: {what}"), remedy);
                return None;
            }
        };
        self.note_inversion(spec, raw.as_deref(), base, &place);
        if let Some(absent) = value.processors().iter().find(|number| **number >= self.around.processors_present) {
            let last = self.around.processors_present.saturating_sub(1);
            let remedy = say!("write processors from 0 to {last}");
            self.findings.fault(&place, FaultKind::Value, say!("{displayed}: no processor {absent} here"), remedy);
            return None;
        }
        let is_default = || match value::parse_value(spec.form, Some(spec.default), base) {
            Ok(default) => default == value,
            Err(_) => value == ParsedValue::Flag(false),
        };
        match spec.support {
            Support::Accepted(why) if !is_default() => {
                self.findings.note(&place, say!("{displayed} has no effect: {why}"));
            }
            Support::Refused(why) if !is_default() => {
                self.unsupported(&place, FaultKind::Unsupported, say!("{displayed} is not supported"), why.get());
            }
            Support::Runs | Support::Accepted(_) | Support::Refused(_) => {}
        }
        Some(Given { spec, raw, value, place })
    }

    /// Notes a surprise of fio: `KiB` is 1,000 bytes with its default `kb_base`.
    fn note_inversion(&mut self, spec: &Spec, raw: Option<&str>, base: Base, place: &Place) {
        let is_size = matches!(
            spec.form,
            ValueForm::Integer(..)
                | ValueForm::Integers(..)
                | ValueForm::Extent
                | ValueForm::Sizes
                | ValueForm::Ranges
                | ValueForm::Split
        );
        if let Some(raw) = raw.filter(|raw| is_size && crate::number::is_inverted(raw, base)) {
            let what = say!(
                "{}={raw}: at kb_base=1024 fio reads KiB, MiB and GiB as powers of 1,000, and so it is read here; write \
                 k, m or g for powers of 1,024",
                spec.name
            );
            self.findings.note(place, what);
        }
    }
}

/// Whether a section's options are reordered by priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    /// Job files.
    Yes,
    /// Command lines.
    No,
}
