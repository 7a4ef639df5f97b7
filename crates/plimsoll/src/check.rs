//! `plimsoll check`: whether storage meets the requirement that a product publishes.

use std::borrow::Cow;
use std::path::Path;

use plimsoll_catalogue::{Requirement, RequirementVerdict, built_in_requirements, parse_requirement};
use plimsoll_language::{label, say};
use plimsoll_measure::{open_disk, read_product_text, refuse_file};
use plimsoll_record::Finding;
use plimsoll_report::pages::{self, CheckedRequirement};
use plimsoll_report::{requirement_json, requirements_json, words};
use plimsoll_suite::Facts;
use plimsoll_suite::fio::{PlannedJobs, RequirementPlace, RequirementRuns, requirement_command, with_surroundings};

use crate::args::CheckArgs;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::fio::results::Results;
use crate::fio::{JobTarget, format_version, perform, prepare, read_variable};
use crate::output::{self, Forms};
use crate::volumes::home::find_volume;

const NOT_MET: u8 = 1;
const UNDECIDED: u8 = 3;

/// Lists the requirements, prints one, or checks it on storage.
pub fn run(args: &CheckArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let Some(name) = &args.requirement else {
        let all = built_in_requirements().map(|(name, text)| parse(name, text)).collect::<Result<Vec<_>, _>>()?;
        return forms.write(&pages::requirements(&all), || requirements_json(&all));
    };
    let text = find_text(name)?;
    let requirement = parse(name, &text)?;
    let Some(place) = &args.target else {
        if forms.has_json() {
            return Err(CliError::usage(label!("--json has the result of a check: name a PATH, too")));
        }
        return output::print(text.as_bytes());
    };
    match check(&requirement, place, &args.destroy, &forms)? {
        RequirementVerdict::Met => Ok(()),
        RequirementVerdict::Failed => Err(CliError::Ended(NOT_MET)),
        RequirementVerdict::Undecided(_) => Err(CliError::Ended(UNDECIDED)),
    }
}

/// The text of a built-in requirement, or of a file.
fn find_text(name: &str) -> Result<Cow<'static, str>, CliError> {
    match Requirement::built_in_text(name) {
        Ok(text) => Ok(text.into()),
        Err(_) if name.contains('/') || Path::new(name).is_file() => Ok(read_product_text(Path::new(name))?.into()),
        Err(unknown) => Err(CliError::usage(unknown.to_string())),
    }
}

fn parse(name: &str, text: &str) -> Result<Requirement, CliError> {
    parse_requirement(name, text).map_err(|complaints| refuse_file(&complaints).into())
}

/// Runs the jobs, again if their figures are near a bound, and prints the result.
fn check(
    requirement: &Requirement,
    place: &str,
    destroy: &[String],
    forms: &Forms,
) -> Result<RequirementVerdict, CliError> {
    let path = Path::new(place);
    if path.exists() && !path.is_dir() {
        return Err(CliError::usage(say!("{place}: not a directory: name the directory of a mounted file system")));
    }
    let prefix = format!(".plimsoll-check-{}", std::process::id());
    let jobs_place = if path.is_dir() {
        RequirementPlace::Directory { path: place, prefix: &prefix }
    } else {
        RequirementPlace::Configuration(place)
    };
    let command =
        with_surroundings(&read_variable, |surroundings| requirement_command(requirement, jobs_place, surroundings));
    let mut command = command.map_err(|faults| CliError::usage(faults.join("\nplimsoll: ")))?;
    command.flags.destroy = destroy.to_vec();
    let (mut target, plan) = prepare(&command)?;
    let (facts, findings) = describe_storage(path, &target)?;
    let mut results = Results::new(&command.flags)?;
    let mut console = Console::new(false)?;
    let (version, mut runs) = (format_version(), RequirementRuns::new(requirement, &facts, findings));
    while runs.need_another() {
        let jobs = PlannedJobs::new(&command, &plan, target.meaning, &version);
        let (outcome, remaining) = perform(&jobs, &mut target, &mut results, &mut console)?;
        for note in &remaining {
            console.print_line(&words::job_note(note));
        }
        if outcome.interrupted {
            return Err(CliError::Interrupted);
        }
        runs.add(outcome);
    }
    let findings = runs.findings.iter().map(words::finding);
    let checked = CheckedRequirement {
        requirement,
        target: place,
        storage: words::subject(&facts.subject),
        origin: words::source_word(&facts.source),
        runs: runs.count(),
        conditions: &runs.judge(),
        cautions: plan.notes.iter().map(words::job_note).chain(findings).collect(),
        failures: &runs.failures,
    };
    forms.write(&pages::checked_requirement(&checked), || requirement_json(&checked))?;
    Ok(checked.verdict())
}

/// Facts about the storage of the jobs, and doubts about its figures.
fn describe_storage(path: &Path, target: &JobTarget) -> Result<(Facts, Vec<Finding>), CliError> {
    if !path.is_dir() {
        return Ok((target.ground.facts().clone(), target.ground.findings()));
    }
    let disk = open_disk(path, &[], &find_volume)?;
    Ok((disk.facts().clone(), disk.findings()))
}
