//! Start and end of a job, its copies, and its dependencies.

use plimsoll_language::{label, say};
use plimsoll_units::Span;

use crate::fault::{FaultKind, Findings};
use crate::settings::Settings;

/// `exit_what`: jobs ended by `exitall`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWhat {
    /// Jobs of the same group.
    Group,
    /// All running jobs; jobs behind a stonewall still start.
    Stonewall,
    All,
}

/// `continue_on_error`: errors that do not end a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    pub reads: bool,
    pub writes: bool,
    pub verification: bool,
}

/// `ignore_error`: errors that are not counted, by name (`EIO`) or number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorList {
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    pub verification: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyCriterion {
    /// Deviation of IOPS from their mean.
    Iops,
    IopsSlope,
    /// Deviation of bandwidth from its mean.
    Bandwidth,
    BandwidthSlope,
    /// Deviation of latency from its mean.
    Latency,
    LatencySlope,
}

/// `steadystate`: ends the job when it is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    pub criterion: SteadyCriterion,
    /// Limit; in percent of the mean if `is_percent`, else in the unit of the criterion.
    pub limit: f64,
    /// Whether the limit is in percent.
    pub is_percent: bool,
    /// `steadystate_duration`: window. Zero disables the detection, as in fio.
    pub duration: Span,
    /// `steadystate_ramp_time`: delay before the detection starts.
    pub ramp: Span,
    /// `steadystate_check_interval`: interval of the samples.
    pub interval: Span,
}

/// Start, end, copies and dependencies.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in fio")]
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetime {
    /// `runtime`: duration without the ramp.
    pub runtime: Option<Span>,
    /// `time_based`: repeats until the runtime is over.
    pub time_based: bool,
    /// `ramp_time`: warm-up.
    pub ramp: Span,
    /// `startdelay`: delay after the start of its group; a random value up to the second if present.
    pub delay: (Span, Option<Span>),
    /// `loops`: at least 1.
    pub loops: u64,
    /// `numjobs`: copies; at least 1.
    pub copies: u64,
    /// `stonewall`: waits for all earlier jobs; also set for the first job of a later file.
    pub stonewall: bool,
    /// `new_group`: starts a new reporting group.
    pub new_group: bool,
    /// `group_reporting`: aggregates the figures of the group.
    pub group_reporting: bool,
    /// `wait_for`: waits for all copies of this job.
    pub wait_for: Option<String>,
    /// `exitall`: jobs that end with this job.
    pub exit_all: Option<ExitWhat>,
    /// `exitall_on_error`: the same if it ends with an error.
    pub exit_all_on_error: bool,
    /// `continue_on_error`.
    pub continues: Continuation,
    /// `ignore_error`.
    pub ignores: ErrorList,
    /// `steadystate`.
    pub steady_state: Option<SteadyState>,
}

pub(super) fn read(settings: &Settings, findings: &mut Findings) -> Lifetime {
    let time = |name: &str| settings.time(name).unwrap_or(Span::ZERO);
    let copies = settings.count("numjobs");
    if copies == 0 {
        let place = settings.place("numjobs");
        findings.fault(
            place,
            FaultKind::Value,
            label!("numjobs=0: no job at all"),
            label!("write 1 or more, or remove the section"),
        );
    }
    Lifetime {
        runtime: settings.time("runtime").filter(|runtime| !runtime.is_zero()),
        time_based: settings.flag("time_based"),
        ramp: time("ramp_time"),
        delay: settings.time_range("startdelay"),
        loops: settings.count("loops").max(1),
        copies: copies.max(1),
        stonewall: settings.flag("stonewall"),
        new_group: settings.flag("new_group"),
        group_reporting: settings.flag("group_reporting"),
        wait_for: settings.text("wait_for"),
        exit_all: settings.flag("exitall").then(|| match settings.word("exit_what") {
            "all" => ExitWhat::All,
            "stonewall" => ExitWhat::Stonewall,
            _ => ExitWhat::Group,
        }),
        exit_all_on_error: settings.flag("exitall_on_error"),
        continues: continuation(settings.word("continue_on_error")),
        ignores: errors(settings, findings),
        steady_state: steady_state(settings, findings),
    }
}

fn continuation(word: &str) -> Continuation {
    let all = matches!(word, "all" | "1");
    Continuation {
        reads: all || matches!(word, "read" | "io"),
        writes: all || matches!(word, "write" | "io"),
        verification: all || word == "verify",
    }
}

fn errors(settings: &Settings, findings: &mut Findings) -> ErrorList {
    let text = settings.text("ignore_error").unwrap_or_default();
    let mut parts = text.split(',').map(|list| {
        list.split(':').map(|error| error.trim().to_owned()).filter(|error| !error.is_empty()).collect::<Vec<_>>()
    });
    let mut next = || parts.next().unwrap_or_default();
    let list = ErrorList { reads: next(), writes: next(), verification: next() };
    let is_error = |error: &String| {
        error.parse::<u16>().is_ok() || (error.starts_with('E') && error.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    let all = [&list.reads, &list.writes, &list.verification];
    if let Some(other) = all.into_iter().flatten().find(|error| !is_error(error)) {
        let what = say!("ignore_error={text}: {other:?} is not an error");
        let remedy = label!(
            "write names or numbers, with colons between them and commas between reads, writes and verification"
        );
        findings.fault(settings.place("ignore_error"), FaultKind::Value, what, remedy);
    }
    list
}

fn steady_state(settings: &Settings, findings: &mut Findings) -> Option<SteadyState> {
    let (word, after) = settings.choice("steadystate")?;
    let criterion = match word {
        "iops_slope" => SteadyCriterion::IopsSlope,
        "bw" => SteadyCriterion::Bandwidth,
        "bw_slope" => SteadyCriterion::BandwidthSlope,
        "lat" => SteadyCriterion::Latency,
        "lat_slope" => SteadyCriterion::LatencySlope,
        _ => SteadyCriterion::Iops,
    };
    let after = after.unwrap_or_default();
    let (number, is_percent) = after.strip_suffix('%').map_or((after.as_str(), false), |number| (number, true));
    let time = |name: &str| settings.time(name).unwrap_or(Span::ZERO);
    let limit = number.trim().parse::<f64>().ok().filter(|limit| limit.is_finite() && *limit >= 0.0);
    if limit.is_none() {
        let what = say!("steadystate={word}:{after}: no limit");
        let remedy = say!("write one, such as {word}:0.3%");
        findings.fault(settings.place("steadystate"), FaultKind::Value, what, remedy);
    }
    Some(SteadyState {
        criterion,
        limit: limit?,
        is_percent,
        duration: time("steadystate_duration"),
        ramp: time("steadystate_ramp_time"),
        interval: time("steadystate_check_interval"),
    })
}
