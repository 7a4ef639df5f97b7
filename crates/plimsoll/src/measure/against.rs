//! `plimsoll measure PATH --against PATH_B`, or `--ab COMMAND_A COMMAND_B`: two targets, or two settings of a target,
//! measured in alternating passes and compared.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plimsoll_analyse::compare_turns;
use plimsoll_device::nbd::ExportAddress;
use plimsoll_device::{ActivityDelta, classify};
use plimsoll_drive::Fault;
use plimsoll_load::StreamSpec;
use plimsoll_measure::{MeasurePlan, Storage, SweepResult, sweep};
use plimsoll_record::{Curve, EndReason};
use plimsoll_units::Bytes;

use super::export::MeasuredExport;
use super::work::MeasuredLoad;
use super::{Begun, Site, forget, no_path, only_this};
use crate::args::{EngineWord, MeasureCommand};
use crate::cli_error::CliError;
use crate::comparing::{self, Side};
use crate::console::Console;
use crate::output::{Outputs, ended, judge};
use crate::store;

/// Measures both sides, keeps both runs, and shows the comparison.
pub(super) fn run(args: &MeasureCommand, path: &Path, outputs: &Outputs) -> Result<(), CliError> {
    if args.target.engine == EngineWord::Fio {
        return Err(CliError::usage("fio cannot alternate between passes: omit --engine fio or --against"));
    }
    let sides = sides(args, path)?;
    let [mut a, mut b] = [PreparedTarget::prepare(&sides[0], outputs)?, PreparedTarget::prepare(&sides[1], outputs)?];
    let size = a.size().min(b.size());
    (*a.size_mut(), *b.size_mut()) = (size, size);
    let streams = a.place(&sides[0], size)?;
    let name = a.name();
    let remembered = a.work().remember_objective(&name, &streams);
    let plan = shared_plan(&mut a, &mut b)?;
    let mut console = Console::new(args.output.quiet).map_err(|error| CliError::Failed(error.into()))?;
    let mut begun = [a.begin(&sides[0], &mut console)?, b.begin(&sides[1], &mut console)?];
    // Filling may have ended early.
    let size = a.size().min(b.size());
    for (begun, (place, args)) in begun.iter_mut().zip([(&mut a, &sides[0]), (&mut b, &sides[1])]) {
        *place.size_mut() = size;
        begun.streams = place.place(args, size)?;
    }
    let streams = [&begun[0].streams[..], &begun[1].streams[..]];
    let prepare = |side: usize| args.ab.get(side).map_or(Ok(()), |command| shell(command));
    let result = sweep::run_interleaved(&plan, streams, &mut [a.storage(), b.storage()], &prepare, &mut console);
    let fault = result.iter().find_map(|result| result.fault.as_ref());
    let fault = fault.map(|fault| format!("{fault}: {}", fault.source));
    let ([begun_a, begun_b], [result_a, result_b]) = (begun, result);
    let mut curves = [a.end(begun_a, result_a)?, b.end(begun_b, result_b)?];
    // The second side uses the objective of the first.
    let mut shared = remembered;
    for curve in &mut curves {
        forget(curve, remembered);
        judge(curve, shared);
        shared = shared.or_else(|| curve.load_line.map(|line| line.objective()));
    }
    finish(curves, &args.ab, fault, outputs)
}

/// The arguments of each side; `--destroy` applies to the side that it names.
fn sides(args: &MeasureCommand, path: &Path) -> Result<[MeasureCommand; 2], CliError> {
    if let Some(other) = args.target.destroy.iter().find(|named| **named != args.path && *named != path) {
        return Err(CliError::usage(format!(
            "--destroy {}: only {} and {} are measured: repeat their paths exactly, or omit --destroy",
            other.display(),
            args.path.display(),
            path.display()
        )));
    }
    let side = |path: PathBuf| {
        let mut side = MeasureCommand { path: path.clone(), ..args.clone() };
        side.target.destroy.retain(|named| *named == path);
        side
    };
    Ok([side(args.path.clone()), side(path.to_owned())])
}

/// The common plan; fails if only one side would be written, or if loads are named.
fn shared_plan(a: &mut PreparedTarget, b: &mut PreparedTarget) -> Result<MeasurePlan, CliError> {
    let (MeasuredLoad::Generated(plan), MeasuredLoad::Generated(other)) = (a.work(), b.work()) else {
        return Err(CliError::usage("--against measures generated loads: omit --replay"));
    };
    if plan.templates != other.templates {
        return Err(CliError::usage("only one target may be written: use --reads 100, or --destroy for both"));
    }
    if plan.sweep.depths.is_some() {
        return Err(CliError::usage("this preset has fixed depths and no load line: use another --preset"));
    }
    Ok(plan.in_turns())
}

/// Maximum length of quoted command output.
const MAX_QUOTE: usize = 500;

/// Runs a command of the user through the shell; on failure the end of its output is quoted.
fn shell(command: &str) -> Result<(), Fault> {
    let failed = |source| Fault { attempt: format!("running {command:?} before a pass"), source };
    let output = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).output().map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let printed = [output.stderr, output.stdout].concat();
    let printed = String::from_utf8_lossy(&printed);
    let quoted: Vec<char> = printed.trim().chars().collect();
    let quoted: String = quoted[quoted.len().saturating_sub(MAX_QUOTE)..].iter().collect();
    Err(failed(io::Error::other(format!("{}: {quoted}", output.status))))
}

/// Keeps both runs, and prints and writes the comparison.
fn finish(curves: [Curve; 2], commands: &[String], fault: Option<String>, outputs: &Outputs) -> Result<(), CliError> {
    let ends = [curves[0].ended, curves[1].ended];
    let mut names = Vec::new();
    for (side, curve) in curves.iter().enumerate() {
        let name = match store::keep(curve) {
            Ok(path) => store::stem(&path),
            Err(error) => {
                crate::output::warn_not_kept(&error);
                curve.subject.name.clone()
            }
        };
        names.push(commands.get(side).map_or(name.clone(), |command| format!("{name} after {command}")));
    }
    if let Some(fault) = fault {
        return Err(CliError::Failed(anyhow::anyhow!("{fault} (the runs until then were kept)")));
    }
    if ends != [EndReason::Complete; 2] {
        return ends.into_iter().try_for_each(ended);
    }
    let Some(objective) = curves[0].load_line.map(|line| line.objective()) else {
        return Err(CliError::Failed(anyhow::anyhow!(
            "the first target has no load line: use --objective, or a longer --duration"
        )));
    };
    let comparison = compare_turns(&curves[0], &curves[1], objective);
    let [first, second] = curves;
    let mut names = names.into_iter();
    let sides = [first, second].map(|curve| Side { names: names.by_ref().take(1).collect(), curves: vec![curve] });
    comparing::show(sides, &comparison, outputs)
}

/// A prepared target.
enum PreparedTarget {
    Site(Box<Site>),
    Export(Box<MeasuredExport>),
}

impl PreparedTarget {
    fn prepare(args: &MeasureCommand, outputs: &Outputs) -> Result<Self, CliError> {
        let work = MeasuredLoad::new(args)?;
        if let Some(uri) = args.path.to_str().filter(|text| ExportAddress::is_meant(text)) {
            return Ok(Self::Export(MeasuredExport::named(args, work, uri)?.into()));
        }
        let subject = classify(&args.path).map_err(|unusable| no_path(&args.path, &unusable))?;
        outputs.spare(&args.path)?;
        only_this(args)?;
        Ok(Self::Site(Site::prepare(args, work, subject)?.into()))
    }

    fn work(&mut self) -> &mut MeasuredLoad {
        match self {
            Self::Site(site) => &mut site.work,
            Self::Export(export) => &mut export.work,
        }
    }

    fn storage(&mut self) -> &mut Storage {
        match self {
            Self::Site(site) => &mut site.storage,
            Self::Export(export) => &mut export.storage,
        }
    }

    fn size(&self) -> Bytes {
        match self {
            Self::Site(site) => site.size,
            Self::Export(export) => export.size,
        }
    }

    fn size_mut(&mut self) -> &mut Bytes {
        match self {
            Self::Site(site) => &mut site.size,
            Self::Export(export) => &mut export.size,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Site(site) => site.kept_subject().name,
            Self::Export(export) => export.subject().name,
        }
    }

    fn place(&self, args: &MeasureCommand, length: Bytes) -> Result<Vec<StreamSpec>, CliError> {
        match self {
            Self::Site(site) => site.work.place(args, length, site.grid()),
            Self::Export(export) => export.work.place(args, length, export.grid),
        }
    }

    fn begin(&mut self, args: &MeasureCommand, console: &mut Console) -> Result<Begun, CliError> {
        match self {
            Self::Site(site) => site.begin(args, console),
            Self::Export(export) => export.begin(args),
        }
    }

    fn end(&mut self, begun: Begun, result: SweepResult) -> Result<Curve, CliError> {
        // On a common disk, operations of the other side would count as those of a neighbour.
        let activity = ActivityDelta { disk: None, ..begun.activity() };
        match self {
            Self::Site(site) => site.end(begun, result, activity),
            Self::Export(export) => export.end(begun, result, activity),
        }
    }
}
