//! Flags of the command line that do not belong to a job.

use plimsoll_language::{StaticText, label, say, static_text};
use plimsoll_units::Span;

use crate::fault::{FaultKind, Findings, Place};
use crate::number::{self, Bare, Base, NumberScale, Unreadable};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Normal,
    /// Terse output: fields separated by semicolons.
    Terse,
    Json,
    JsonPlus,
}

/// `--eta`: when a progress line is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eta {
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A request for information instead of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// `--version`.
    Version,
    /// `--help`.
    Help,
    /// `--cmdhelp`: of one option, or of all.
    Option(Option<String>),
    /// `--enghelp`: of one engine, or their names.
    Engine(Option<String>),
}

/// `--idle-prof`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProfile {
    /// Of all processors together.
    System,
    PerProcessor,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in fio")]
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    /// `--output`: results go to this file.
    pub output: Option<String>,
    /// `--output-format`, `--minimal`, `--append-terse`: one or more, in the order given.
    pub formats: Vec<Format>,
    /// `--terse-version`: 2 to 5.
    pub terse_version: u8,
    /// `--eta`.
    pub eta: Eta,
    /// `--eta-newline`: interval of new progress lines.
    pub eta_newline: Option<Span>,
    /// `--eta-interval`: interval of progress.
    pub eta_interval: Span,
    /// `--status-interval`: interval of intermediate results.
    pub status_interval: Option<Span>,
    /// `--readonly`: refuse jobs that write.
    pub read_only: bool,
    /// `--section`: only jobs of these names; empty for all.
    pub sections: Vec<String>,
    /// `--parse-only`: parse without running.
    pub parse_only: bool,
    /// `--showcmd`: print the job file as a command line without running.
    pub show_command: bool,
    /// `--max-jobs`.
    pub jobs_max: Option<u64>,
    /// `--idle-prof`.
    pub idle_profile: Option<IdleProfile>,
    /// `--warnings-fatal`.
    pub warnings_are_fatal: bool,
    /// `--version`, `--help`, `--cmdhelp`, `--enghelp`.
    pub question: Option<Question>,
    /// `--lenient`: ignore unsupported options with a note instead of refusing them.
    pub lenient: bool,
    /// `--destroy`: exact paths of existing files that may be overwritten.
    pub destroy: Vec<String>,
    /// `--on`: simulate on this configuration instead of measuring; several as `PATH=CONFIG`.
    pub on: Vec<String>,
    /// `--machine`: the machine whose limits the configurations share.
    pub machine: Option<String>,
    /// `--seed`: seed of all random numbers.
    pub seed: Option<u64>,
    /// `--notes`: file for notes; `-` is standard error.
    pub notes: Option<String>,
    /// `--html`: file for a page of the results; `-` is standard output, here and below.
    pub html: Option<String>,
    /// `--markdown`: file for the same as Markdown.
    pub markdown: Option<String>,
    /// `--csv`: file for its tables as CSV.
    pub csv: Option<String>,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            output: None,
            formats: vec![Format::Normal],
            terse_version: 3,
            eta: Eta::Auto,
            eta_newline: None,
            eta_interval: Span::from_secs(1),
            status_interval: None,
            read_only: false,
            sections: Vec::new(),
            parse_only: false,
            show_command: false,
            jobs_max: None,
            idle_profile: None,
            warnings_are_fatal: false,
            question: None,
            lenient: false,
            destroy: Vec::new(),
            on: Vec::new(),
            machine: None,
            seed: None,
            notes: None,
            html: None,
            markdown: None,
            csv: None,
        }
    }
}

impl Flags {
    /// Whether a section of this name is selected.
    pub fn takes_section(&self, name: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|section| section == name)
    }
}

/// Value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    Perhaps,
}

pub(super) struct Flag {
    pub name: &'static str,
    pub takes: Takes,
    act: Act,
}

/// Action of a flag.
enum Act {
    Set(fn(&mut Flags)),
    Read(fn(&mut Flags, &str) -> Result<(), String>),
    Ask(fn(Option<String>) -> Question),
    /// Accepted without an effect, with the reason.
    Without(StaticText),
    Refuse(StaticText),
}

use Act::{Ask, Read, Refuse, Set, Without};
use Takes::{Nothing, Perhaps, Value};

const fn flag(name: &'static str, takes: Takes, act: Act) -> Flag {
    Flag { name, takes, act }
}

const REMOTE: StaticText = static_text!("plimsoll speaks to no other fio; run it on that host");
const TRIGGER: StaticText = static_text!("plimsoll starts no command while it runs");

pub(super) const FLAGS: &[Flag] = &[
    flag("output", Value, Read(|flags, text| some(&mut flags.output, text))),
    flag("output-format", Value, Read(output_format)),
    flag("minimal", Nothing, Set(|flags| flags.formats = vec![Format::Terse])),
    flag("append-terse", Nothing, Set(|flags| add(&mut flags.formats, Format::Terse))),
    flag("terse-version", Value, Read(terse_version)),
    flag("eta", Value, Read(eta)),
    flag(
        "eta-newline",
        Value,
        Read(|flags, text| span(text, Bare::Seconds).map(|span| flags.eta_newline = Some(span))),
    ),
    flag("eta-interval", Value, Read(|flags, text| millis(text).map(|span| flags.eta_interval = span))),
    flag(
        "status-interval",
        Value,
        Read(|flags, text| span(text, Bare::Seconds).map(|span| flags.status_interval = Some(span))),
    ),
    flag("readonly", Nothing, Set(|flags| flags.read_only = true)),
    flag("section", Value, Read(|flags, text| more(&mut flags.sections, text))),
    flag("parse-only", Nothing, Set(|flags| flags.parse_only = true)),
    flag("showcmd", Nothing, Set(|flags| flags.show_command = true)),
    flag("max-jobs", Value, Read(|flags, text| number(text, 1).map(|jobs| flags.jobs_max = Some(jobs)))),
    flag("idle-prof", Value, Read(idle_profile)),
    flag("bandwidth-log", Nothing, Refuse(static_text!("write write_bw_log in the jobs"))),
    flag("aux-path", Value, Without(static_text!("no file is made up that would lie there"))),
    flag("warnings-fatal", Nothing, Set(|flags| flags.warnings_are_fatal = true)),
    flag("version", Nothing, Ask(|_| Question::Version)),
    flag("v", Nothing, Ask(|_| Question::Version)),
    flag("help", Nothing, Ask(|_| Question::Help)),
    flag("h", Nothing, Ask(|_| Question::Help)),
    flag("cmdhelp", Perhaps, Ask(Question::Option)),
    flag("enghelp", Perhaps, Ask(Question::Engine)),
    flag("lenient", Nothing, Set(|flags| flags.lenient = true)),
    flag("destroy", Value, Read(|flags, text| more(&mut flags.destroy, text))),
    flag("on", Value, Read(|flags, text| more(&mut flags.on, text))),
    flag("machine", Value, Read(|flags, text| some(&mut flags.machine, text))),
    flag("seed", Value, Read(|flags, text| number(text, 0).map(|seed| flags.seed = Some(seed)))),
    flag("notes", Value, Read(|flags, text| some(&mut flags.notes, text))),
    flag("html", Value, Read(|flags, text| some(&mut flags.html, text))),
    flag("markdown", Value, Read(|flags, text| some(&mut flags.markdown, text))),
    flag("csv", Value, Read(|flags, text| some(&mut flags.csv, text))),
    flag(
        "debug",
        Value,
        Without(static_text!("internals of a run are not printed; --parse-only and --showcmd show the parsed jobs")),
    ),
    flag("alloc-size", Value, Without(static_text!("memory is taken from the system as it is needed"))),
    flag("client", Value, Refuse(REMOTE)),
    flag("server", Perhaps, Refuse(REMOTE)),
    flag("daemonize", Value, Refuse(REMOTE)),
    flag("remote-config", Value, Refuse(REMOTE)),
    flag("trigger", Value, Refuse(TRIGGER)),
    flag("trigger-file", Value, Refuse(TRIGGER)),
    flag("trigger-remote", Value, Refuse(TRIGGER)),
    flag("trigger-timeout", Value, Refuse(TRIGGER)),
    flag("inflate-log", Value, Refuse(static_text!("logs are text from the start"))),
    flag("merge-blktrace-only", Nothing, Refuse(static_text!("traces are not merged"))),
    flag("latency-log", Nothing, Refuse(static_text!("removed from fio; write write_lat_log in a job"))),
    flag("cpuclock-test", Nothing, Refuse(static_text!("time is read from the monotonic clock"))),
    flag("crctest", Perhaps, Refuse(static_text!("checksums are not measured"))),
    flag("memcpytest", Perhaps, Refuse(static_text!("memory is not measured"))),
];

/// Executes the action of a flag.
pub(super) fn set(flags: &mut Flags, flag: &Flag, value: Option<String>, place: &Place, findings: &mut Findings) {
    let name = flag.name;
    match flag.act {
        Set(act) => act(flags),
        Ask(question) => flags.question = Some(question(value.filter(|text| !text.is_empty()))),
        Without(why) => findings.note(place, say!("--{name} has no effect: {why}")),
        Refuse(why) => findings.fault(place, FaultKind::Unsupported, say!("--{name} is not supported"), why.get()),
        Read(act) => {
            let text = value.unwrap_or_default();
            if let Err(words) = act(flags, &text) {
                let (what, remedy) = words.split_once("; ").unwrap_or((&words, label!("write another value")));
                findings.fault(place, FaultKind::Value, format!("--{name}={text}: {what}"), remedy);
            }
        }
    }
}

fn some(place: &mut Option<String>, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err(label!("empty; write a value behind =").to_owned());
    }
    *place = Some(text.to_owned());
    Ok(())
}

fn more(list: &mut Vec<String>, text: &str) -> Result<(), String> {
    let mut one = None;
    some(&mut one, text)?;
    list.extend(one);
    Ok(())
}

fn add(formats: &mut Vec<Format>, format: Format) {
    if !formats.contains(&format) {
        formats.push(format);
    }
}

fn output_format(flags: &mut Flags, text: &str) -> Result<(), String> {
    let mut formats = Vec::new();
    for word in text.split(',') {
        let format = match word.trim() {
            "normal" => Format::Normal,
            "terse" | "minimal" => Format::Terse,
            "json" => Format::Json,
            "json+" => Format::JsonPlus,
            other => return Err(say!("{other:?} is not a format; write some of normal,terse,json,json+")),
        };
        add(&mut formats, format);
    }
    flags.formats = formats;
    Ok(())
}

fn terse_version(flags: &mut Flags, text: &str) -> Result<(), String> {
    match text.parse::<u8>() {
        Ok(version @ 2..=5) => {
            flags.terse_version = version;
            Ok(())
        }
        _ => Err(label!("no version of the terse form; write 2, 3, 4 or 5").to_owned()),
    }
}

fn eta(flags: &mut Flags, text: &str) -> Result<(), String> {
    flags.eta = match text {
        "auto" => Eta::Auto,
        "always" => Eta::Always,
        "never" => Eta::Never,
        _ => return Err(label!("none of its words; write auto, always or never").to_owned()),
    };
    Ok(())
}

fn idle_profile(flags: &mut Flags, text: &str) -> Result<(), String> {
    flags.idle_profile = Some(match text {
        "system" => IdleProfile::System,
        "percpu" => IdleProfile::PerProcessor,
        "calibrate" => return Err(label!("nothing is calibrated; write system or percpu").to_owned()),
        _ => return Err(label!("none of its words; write system or percpu").to_owned()),
    });
    Ok(())
}

fn span(text: &str, bare: Bare) -> Result<Span, String> {
    number::span(text, bare).map_err(|Unreadable(words)| words)
}

/// A time; without a unit in milliseconds, as for `--eta-interval`.
fn millis(text: &str) -> Result<Span, String> {
    let micros = number::integer(text, NumberScale::Time(1_000)).map_err(|Unreadable(words)| words)?;
    u64::try_from(micros)
        .map(Span::from_micros)
        .map_err(|_| label!("no time; write milliseconds, such as 500").to_owned())
}

fn number(text: &str, min: u64) -> Result<u64, String> {
    let value = number::integer(text, NumberScale::Counts(Base::Binary)).map_err(|Unreadable(words)| words)?;
    let value = u64::try_from(value).ok().filter(|value| *value >= min);
    value.ok_or_else(|| say!("no number that it takes; write one of at least {min}"))
}
