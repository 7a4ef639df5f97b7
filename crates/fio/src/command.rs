//! fio's command line with its job files, resolved to jobs.
//!
//! Pure: arguments in; jobs, flags and warnings out. Behaviour observed with fio 3.33: `--name` begins a job; options
//! before the first `--name` are global; jobs of the command line precede those of files, regardless of position;
//! global options of the command line apply only to the first file; the first job of each later file waits for all jobs
//! before it.

mod arguments;
mod flags;

use std::collections::BTreeSet;
use std::rc::Rc;

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::fault::{Fault, FaultKind, Findings, Note, Place};
use crate::groups;
use crate::job::{self, Draft, FioJob, RawOption};
use crate::number::Base;
use crate::parse::{Given, JobParser, JobSection, Sorted, Surroundings};
use crate::showcmd::Transcript;
pub use flags::{Eta, Flags, Format, IdleProfile, Question};

/// Maximum number of jobs of a command or file, and of all their copies.
const JOBS_MAX: u64 = 4_096;

/// A parsed command line.
#[derive(Clone, Debug, PartialEq)]
pub struct FioCommand {
    /// Jobs in fio's order, without expanding copies.
    pub jobs: Vec<FioJob>,
    /// fio's `global options`, beginning with those of the command line.
    pub globals: Vec<RawOption>,
    /// Flags, which do not belong to jobs.
    pub flags: Flags,
    /// Differences between the text and its execution.
    pub warnings: Vec<Note>,
    /// Output of `--showcmd`: a line per job file.
    pub showcmd: String,
}

impl FioCommand {
    /// The smallest and the largest block size of each used direction of the jobs.
    pub fn block_sizes(&self) -> BTreeSet<Bytes> {
        let each = self.jobs.iter().flat_map(|job| {
            let (direction, blocks) = (&job.access.direction, &job.access.blocks);
            let used = [(direction.reads, &blocks.read), (direction.writes, &blocks.write)];
            used.into_iter().filter(|(is_used, _)| *is_used).flat_map(|(_, sizes)| [sizes.smallest(), sizes.largest()])
        });
        each.collect()
    }
}

/// Parses the arguments after the program's name, and the job files among them.
///
/// # Errors
/// All faults, in order of position.
pub fn command(arguments: &[String], around: &Surroundings<'_>) -> Result<FioCommand, Vec<Fault>> {
    let lenient = arguments.iter().any(|argument| matches!(argument.as_str(), "--lenient" | "-lenient"));
    let mut reader = JobParser::new(*around, lenient);
    let read = arguments::parse_arguments(arguments, &mut reader.findings);
    let mut plan =
        CommandPlan { reader, flags: read.flags, drafts: Vec::new(), globals: Vec::new(), showcmd: String::new() };
    plan.own(read.sections);
    for (index, (path, place)) in read.files.iter().enumerate() {
        match (plan.reader.around.read)(path) {
            Ok(text) => plan.file(path, &text, index),
            Err(why) => {
                let what = say!("{path} cannot be read: {why}");
                let remedy = label!("name a job file that exists; options begin with --");
                plan.reader.findings.fault(place, FaultKind::Structure, what, remedy);
            }
        }
    }
    plan.command()
}

/// Parses a single job file, as `command` would with only its path.
///
/// # Errors
/// All faults, in order of position.
pub fn job_file(path: &str, text: &str, flags: Flags, around: &Surroundings<'_>) -> Result<FioCommand, Vec<Fault>> {
    let reader = JobParser::new(*around, flags.lenient);
    let mut plan = CommandPlan { reader, flags, drafts: Vec::new(), globals: Vec::new(), showcmd: String::new() };
    plan.file(path, text, 0);
    plan.command()
}

struct CommandPlan<'a> {
    reader: JobParser<'a>,
    flags: Flags,
    drafts: Vec<Draft>,
    /// Global options so far.
    globals: Vec<Rc<Given>>,
    showcmd: String,
}

impl CommandPlan<'_> {
    /// Adds the jobs of the command line.
    fn own(&mut self, sections: Vec<JobSection>) {
        let mut base = Base::default();
        for section in sections {
            let JobSection { name, written, place } = section;
            match name {
                None => self.globals = self.reader.given(written, Sorted::No, &mut base),
                Some(name) => {
                    let own = self.reader.given(written, Sorted::No, &mut base.clone());
                    let globals = self.globals.clone();
                    self.drafts.push(Draft { name, globals, own, place, begins_later_file: false });
                }
            }
        }
    }

    /// Adds the jobs of the file with this index.
    fn file(&mut self, path: &str, text: &str, index: usize) {
        let mut globals = if index == 0 { self.globals.clone() } else { Vec::new() };
        let mut base = base_of(&globals);
        let mut transcript = Transcript::default();
        let mut begins = index > 0;
        let mut found = false;
        for section in self.reader.file(path, text) {
            let JobSection { name, written, place } = section;
            let Some(name) = name else {
                let more = self.reader.given(written, Sorted::Yes, &mut base);
                self.globals.extend(more.iter().cloned());
                globals.extend(more);
                transcript.global(&globals);
                continue;
            };
            found = true;
            if !self.flags.takes_section(&name) {
                continue;
            }
            let own = self.reader.given(written, Sorted::Yes, &mut base.clone());
            transcript.job(&name, &own);
            let globals = globals.clone();
            self.drafts.push(Draft { name, globals, own, place, begins_later_file: std::mem::take(&mut begins) });
        }
        if !found && self.reader.findings.faults.is_empty() {
            let place = Place::Line(path.into(), 1);
            let remedy = label!("write [name] and the options of the job");
            self.reader.findings.fault(&place, FaultKind::Structure, label!("no job in the file"), remedy);
        }
        self.showcmd.push_str(&transcript.line());
    }

    fn command(mut self) -> Result<FioCommand, Vec<Fault>> {
        let findings = &mut self.reader.findings;
        let jobs: Vec<FioJob> = self.drafts.iter().filter_map(|draft| job::build(draft, findings)).collect();
        if jobs.len() == self.drafts.len() {
            groups::check(&jobs, findings);
        }
        check(&jobs, &self.flags, findings);
        let Findings { mut faults, mut notes } = self.reader.findings;
        faults.sort_by(|a, b| a.place.cmp(&b.place));
        notes.sort_by(|a, b| a.place.cmp(&b.place));
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(FioCommand {
            jobs,
            globals: job::raw(&self.globals),
            flags: self.flags,
            warnings: notes,
            showcmd: self.showcmd,
        })
    }
}

/// `kb_base` of the given options.
fn base_of(given: &[Rc<Given>]) -> Base {
    let last = given.iter().rfind(|given| given.spec.name == "kb_base").and_then(|given| given.raw.as_deref());
    if last == Some("1000") { Base::Decimal } else { Base::Binary }
}

fn check(jobs: &[FioJob], flags: &Flags, findings: &mut Findings) {
    let limit = flags.jobs_max.unwrap_or(JOBS_MAX);
    let copies: u64 = jobs.iter().fold(0, |sum, job| sum.saturating_add(job.life.copies));
    if let Some(job) = jobs.last().filter(|_| copies > limit) {
        let what = say!("{copies} jobs with their copies, and at most {limit} run");
        findings.fault(
            &job.place,
            FaultKind::Combination,
            what,
            label!("write a lower numjobs, or a higher --max-jobs"),
        );
    }
    for job in jobs.iter().filter(|job| flags.read_only && job.writes()) {
        let what = say!("the job {} writes (rw={}), and --readonly was given", job.name, job.access.rw);
        findings.fault(&job.place, FaultKind::Combination, what, label!("remove one of them"));
    }
    if flags.warnings_are_fatal {
        for Note { place, what } in std::mem::take(&mut findings.notes) {
            findings.fault(&place, FaultKind::Combination, what, label!("it is fatal because of --warnings-fatal"));
        }
    }
    if jobs.is_empty() && findings.faults.is_empty() && flags.question.is_none() {
        let remedy = label!("give a job file, or write --name=job and its options");
        findings.fault(&Place::Argument(1), FaultKind::Structure, label!("no job at all"), remedy);
    }
}
