//! Verdict, storage, display and output files of results.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_analyse::{
    Comparison, accept_drift_beyond, by_load, chosen_objective, closed_line, headline_objective, judged, knee, ladder,
    order,
};
use plimsoll_catalogue::Price;
use plimsoll_record::{
    Curve, EndReason, Estimate, Finding, Lasting, LineBasis, LoadLine, NoLine, Objective, ObjectiveOrigin, SuiteRun,
};
use plimsoll_report::pages::{self, Sheet};
use plimsoll_report::{Charset, Color, Page, TextStyle};
use plimsoll_units::Span;

use crate::args::{FormArgs, OutputArgs};
use crate::cli_error::CliError;
use crate::database::Snapshots;
use crate::matching;
use crate::store;

/// Output files of a result, checked before any work.
#[derive(Debug)]
pub struct Forms {
    json: Option<PathBuf>,
    html: Option<PathBuf>,
    markdown: Option<PathBuf>,
    csv: Option<PathBuf>,
    /// A form of a single command, which writes it: SVG of curves, Terraform of sizes.
    own: Option<PathBuf>,
    is_quiet: bool,
    style: TextStyle,
}

impl Forms {
    /// Checks that all files are writable. JSON replaces the text.
    pub fn new(args: &FormArgs) -> Result<Self, CliError> {
        Self::with_own(args, None)
    }

    /// The same with a form that the command writes.
    pub fn with_own(args: &FormArgs, own: Option<&PathBuf>) -> Result<Self, CliError> {
        let FormArgs { json, html, markdown, csv, no_color } = args;
        let [json, html, markdown, csv] = [json, html, markdown, csv].map(Clone::clone);
        let is_quiet = json.is_some();
        Self { json, html, markdown, csv, own: own.cloned(), is_quiet, style: style(*no_color) }.checked()
    }

    /// The same for a command that prints the text of its result.
    pub fn without_text(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    fn checked(self) -> Result<Self, CliError> {
        if self.files().filter(|path| is_standard_output(path)).count() > 1 {
            return Err(CliError::usage(
                "only one form can be written to standard output (-): use files for the others",
            ));
        }
        self.files().filter(|path| !is_standard_output(path)).try_for_each(|path| store::check_writable(path))?;
        Ok(self)
    }

    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.json, &self.html, &self.markdown, &self.csv, &self.own].into_iter().flatten()
    }

    /// Prints a result as text, unless quiet or a form uses standard output, and writes its other forms.
    pub fn write(&self, page: &Page, json: impl FnOnce() -> Vec<u8>) -> Result<(), CliError> {
        self.print(&plimsoll_report::page_text(page, &self.style))?;
        if let Some(path) = &self.html {
            put(path, plimsoll_report::page_html(page).as_bytes())?;
        }
        if let Some(path) = &self.markdown {
            put(path, plimsoll_report::page_markdown(page).as_bytes())?;
        }
        if let Some(path) = &self.csv {
            put(path, plimsoll_report::page_csv(page).as_bytes())?;
        }
        self.json.as_ref().map_or(Ok(()), |path| put(path, &json()))
    }

    fn print(&self, text: &str) -> Result<(), CliError> {
        let is_taken = self.files().any(|path| is_standard_output(path));
        if self.is_quiet || is_taken { Ok(()) } else { print(text.as_bytes()) }
    }
}

/// Output of a measurement or simulation.
#[derive(Debug)]
pub struct Outputs(Forms);

impl Outputs {
    /// Checks that all files are writable.
    pub fn new(args: &OutputArgs) -> Result<Self, CliError> {
        let OutputArgs { json, html, markdown, csv, svg, quiet, no_color } = args;
        let [json, html, markdown, csv, own] = [json, html, markdown, csv, svg].map(Clone::clone);
        let forms = Forms { json, html, markdown, csv, own, is_quiet: *quiet, style: style(*no_color) };
        forms.checked().map(Self)
    }

    /// Text on standard output, without files.
    pub fn plain(no_color: bool) -> Self {
        let (json, html, markdown, csv, own) = (None, None, None, None, None);
        Self(Forms { json, html, markdown, csv, own, is_quiet: false, style: style(no_color) })
    }

    /// Fails if a result would overwrite the measured target.
    pub fn spare(&self, measured: &Path) -> Result<(), CliError> {
        let measured = measured.canonicalize().ok();
        let same = |path: &&PathBuf| path.canonicalize().ok().is_some_and(|path| Some(path) == measured);
        match self.0.files().find(same) {
            Some(path) => {
                Err(CliError::usage(format!("{}: this is the measured target: use another file", path.display())))
            }
            None => Ok(()),
        }
    }

    /// Fails if there are several runs for a form of a single run.
    pub fn fit(&self, runs: usize) -> Result<(), CliError> {
        if runs > 1 && self.0.json.is_some() {
            return Err(CliError::usage("--json supports a single run: use --html, --markdown or --csv for several"));
        }
        Ok(())
    }

    /// Style of text on the terminal.
    pub const fn style(&self) -> &TextStyle {
        &self.0.style
    }

    /// Prints and writes curves. JSON supports a single curve.
    pub fn write_curves(&self, curves: &[Curve]) -> Result<(), CliError> {
        self.write_sheets(curves, &sheets(curves))
    }

    fn write_sheets(&self, curves: &[Curve], sheets: &[Sheet<'_>]) -> Result<(), CliError> {
        let json = || curves.first().map(Curve::to_json).unwrap_or_default();
        self.0.write(&pages::curves(sheets), json)?;
        self.write_svg(curves)
    }

    /// Prints and writes a comparison, with its runs in one chart.
    pub fn write_comparison(
        &self,
        names: [&[String]; 2],
        comparison: &Comparison,
        curves: &[Curve],
    ) -> Result<(), CliError> {
        let json = || plimsoll_report::comparison_json(names, comparison);
        self.0.write(&pages::comparison(names, comparison, &sheets(curves)), json)?;
        self.write_svg(curves)
    }

    fn write_svg(&self, curves: &[Curve]) -> Result<(), CliError> {
        let Some(path) = &self.0.own else { return Ok(()) };
        let curves: Vec<&Curve> = curves.iter().collect();
        put(path, plimsoll_report::svg(&curves).as_bytes())
    }

    /// Prints and writes suites. JSON supports a single suite.
    pub fn write_suites(&self, suites: &[SuiteRun]) -> Result<(), CliError> {
        let json = || suites.first().map(SuiteRun::to_json).unwrap_or_default();
        self.0.write(&pages::suites(suites), json)
    }

    /// Prints text, unless quiet or standard output is used by a form.
    pub fn print(&self, text: &str) -> Result<(), CliError> {
        self.0.print(text)
    }
}

/// Curves with their load lines at several objectives.
pub fn sheets(curves: &[Curve]) -> Vec<Sheet<'_>> {
    curves.iter().map(|curve| Sheet { curve, ladder: rungs(curve), price: None }).collect()
}

/// Completes a measurement: verdict, storage, output, and products that carry its load.
///
/// `remembered` is the objective chosen by an earlier run of the same subject.
pub fn finish(mut curve: Curve, remembered: Option<Objective>, outputs: &Outputs) -> Result<(), CliError> {
    judge(&mut curve, remembered);
    let kept = store::keep(&curve);
    outputs.write_curves(std::slice::from_ref(&curve))?;
    if let Some(matched) = matching::short(&curve) {
        outputs.print(&format!("\n{}", plimsoll_report::page_text(&matched, outputs.style())))?;
    }
    report_kept(kept.map(Some), outputs)?;
    ended(curve.ended)
}

/// Completes a suite: storage and output.
pub fn finish_suite(suite: &mut SuiteRun, snapshots: Option<Snapshots>, outputs: &Outputs) -> Result<(), CliError> {
    let is_real = suite.started.is_some();
    let kept = is_real.then(|| store::keep_suite(suite, snapshots)).transpose();
    outputs.write_suites(std::slice::from_ref(suite))?;
    report_kept(kept, outputs)?;
    ended(suite.ended)
}

/// Prints where a result was kept, or why it was not.
fn report_kept(kept: anyhow::Result<Option<PathBuf>>, outputs: &Outputs) -> Result<(), CliError> {
    match kept {
        // The result was shown and written in any case.
        Err(error) => {
            warn_not_kept(&error);
            Ok(())
        }
        Ok(None) => Ok(()),
        Ok(Some(path)) => outputs
            .print(&format!("Kept as {}\nPage with charts: plimsoll report --html report.html\n", path.display())),
    }
}

/// Warns that a run could not be kept.
pub fn warn_not_kept(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "plimsoll: the run was not kept: {error:#}");
}

/// Completes simulated curves with the prices of their configurations: verdict and output.
pub fn finish_all(mut curves: Vec<Curve>, prices: &[Option<Price>], outputs: &Outputs) -> Result<(), CliError> {
    for curve in &mut curves {
        judge(curve, None);
    }
    share_an_objective(&mut curves);
    let mut complete = sheets(&curves);
    for (sheet, price) in complete.iter_mut().zip(prices) {
        sheet.price.clone_from(price);
    }
    outputs.write_sheets(&curves, &complete)?;
    curves.iter().try_for_each(|curve| ended(curve.ended))
}

/// Sets a common objective for compared curves: the laxest, unless given.
pub fn share_an_objective(curves: &mut [Curve]) {
    let chosen = curves.iter().filter_map(|curve| curve.load_line).map(|line| line.objective());
    let Some(laxest) = chosen.max_by_key(|objective| objective.limit) else { return };
    for curve in curves.iter_mut().filter(|curve| curve.ended == EndReason::Complete) {
        let own = curve.load_line.map(|line| line.objective());
        let origin = curve.basis.map(|basis| basis.origin).filter(|_| own == Some(laxest));
        draw(curve, laxest, origin.unwrap_or(ObjectiveOrigin::Shared));
    }
}

/// Exit status of a command with this end of its measurement.
pub fn ended(ended: EndReason) -> Result<(), CliError> {
    match ended {
        EndReason::Complete => Ok(()),
        EndReason::Interrupted => Err(CliError::Interrupted),
        EndReason::Failed => Err(CliError::Failed(anyhow::anyhow!(
            "incomplete (see the findings): the figures cover the time until then"
        ))),
    }
}

/// Load lines at several objectives; none for a recorded load.
///
/// An interrupted or failed run has none.
fn rungs(curve: &Curve) -> Vec<LoadLine> {
    if curve.conditions.trace.is_some() || curve.ended != EndReason::Complete { Vec::new() } else { ladder(curve) }
}

/// Joins the slots of each load to a run, orders runs by load, and computes knee and load line.
///
/// An interrupted or failed measurement has neither.
pub fn judge(curve: &mut Curve, remembered: Option<Objective>) {
    if curve.conditions.trace.is_some() {
        curve.runs.sort_by(|a, b| order(a.offered).total_cmp(&order(b.offered)));
        return;
    }
    let objective = objective(curve, remembered);
    if curve.slots.is_empty() {
        curve.runs.sort_by(|a, b| order(a.offered).total_cmp(&order(b.offered)));
    } else {
        curve.runs = by_load(&curve.runs, objective.map(|(objective, _)| objective));
    }
    if curve.ended != EndReason::Complete {
        return;
    }
    curve.knee = knee(&curve.runs);
    if let Some(knee) = &curve.knee {
        accept_drift_beyond(knee, &mut curve.runs);
    }
    if let Some((objective, origin)) = objective {
        draw(curve, objective, origin);
    }
}

/// Computes the load line for an objective, replacing an earlier load line and its findings.
fn draw(curve: &mut Curve, objective: Objective, origin: ObjectiveOrigin) {
    let Some((line, basis)) = judged(curve, objective) else { return };
    curve.load_line = Some(line);
    curve.closed_line = closed_line(&curve.slots, objective);
    curve.basis = basis.map(|basis| LineBasis { origin, ..basis });
    curve.findings.retain(|finding| !is_of_line(finding));
    curve.findings.extend(curve.basis.iter().flat_map(|basis| doubts(basis, &line)).collect::<Vec<_>>());
}

/// True for findings about the load line of an objective.
const fn is_of_line(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::CarriedInBursts { .. }
            | Finding::MissedWhenHeld { .. }
            | Finding::LineFell { .. }
            | Finding::SlotsLeftOut { .. }
    )
}

/// The objective of the load line, and its origin.
fn objective(curve: &Curve, remembered: Option<Objective>) -> Option<(Objective, ObjectiveOrigin)> {
    let given = curve.conditions.objective.map(|objective| (objective, ObjectiveOrigin::Given));
    let remembered = remembered.map(|objective| (objective, ObjectiveOrigin::Kept));
    given.or(remembered).or_else(|| {
        let (objective, light_p99) = headline_objective(&curve.slots)
            .or_else(|| chosen_objective(&curve.runs).map(|objective| (objective, Span::ZERO)))?;
        Some((objective, ObjectiveOrigin::Chosen { light_p99 }))
    })
}

/// Findings about the load line.
fn doubts(basis: &LineBasis, line: &LoadLine) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(Estimate { value, .. }) = line.iops() {
        match basis.lasting {
            Lasting::BurstsOnly { burst_iops: burst } => {
                found.push(Finding::CarriedInBursts { burst, lasting: value });
            }
            Lasting::MissedWhenHeld { slots_iops: slots } => found.push(Finding::MissedWhenHeld { slots, held: value }),
            Lasting::NotHeld | Lasting::Held { .. } => {}
        }
    }
    if let Some((before, after)) = basis.halves.filter(|_| basis.fell) {
        found.push(Finding::LineFell { before, after });
    }
    let is_judged = !matches!(line, LoadLine::Refused { why: NoLine::HostTaken { .. }, .. });
    if basis.left_out > 0 && is_judged {
        found.push(Finding::SlotsLeftOut { left_out: basis.left_out, of: basis.left_out + basis.slots });
    }
    found
}

fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a file atomically, or to standard output.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    if is_standard_output(path) { print(bytes) } else { Ok(store::write_whole(path, bytes)?) }
}

/// Writes to standard output; a closed pipe is not an error.
pub fn print(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.context("writing to standard output")?),
    }
}

fn style(no_color: bool) -> TextStyle {
    let terminal = std::io::stdout().is_terminal();
    let unwanted = no_color
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let utf8 = locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"));
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let window = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let columns = columns.or_else(window).filter(|columns| *columns > 0);
    TextStyle {
        color: if terminal && !unwanted { Color::Ansi } else { Color::Plain },
        width: columns.unwrap_or(100).clamp(40, 240),
        unicode: if utf8 { Charset::Unicode } else { Charset::Ascii },
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::{Arrival, Pace};
    use plimsoll_record::{Bins, LoadSlot, SlotRole};
    use plimsoll_units::{Instant, Iops, Kind};

    use super::*;

    /// A slot of 2,000 operations, of which `slow` take 8 ms, optionally with equal generator lateness, and the others
    /// 1 ms.
    fn slot(rate: f64, slow: u64, is_generators: bool) -> LoadSlot {
        let spans = [(Span::from_millis(1), 2_000 - slow), (Span::from_millis(8), slow)];
        let late = if is_generators { slow } else { 0 };
        LoadSlot {
            offered: Pace::Open { rate: Iops::from_f64(rate), arrival: Arrival::Poisson },
            role: SlotRole::Pass,
            pass: 0,
            start: Instant::ZERO,
            warm_up: Span::ZERO,
            span: Span::from_secs(1),
            iops: rate,
            beside_iops: 0.0,
            response: vec![(Kind::Read, Bins::counted(spans, 2_000_000_000))],
            lateness: Bins::counted([(Span::ZERO, 2_000 - late), (Span::from_millis(8), late)], 0),
            host: None,
        }
    }

    fn curve(slots: Vec<LoadSlot>, limit_ms: u64) -> Curve {
        let json = r#"{"format":"plimsoll.curve/2","made_by":"a test","wall_ns":1,"command":[],"ended":"complete",
            "source":{"kind":"measured","engine":"io_uring"},"subject":{"name":"x","kind":"file","size":1},"host":null,
            "conditions":{"streams":[],"threads":1,"direct":true,"compressible":0.0,"seed":1,"objective":null},
            "runs":[],"knee":null,"load_line":null,"findings":[]}"#;
        let mut curve = Curve { slots, ..Curve::from_json(json.as_bytes()).expect("a curve") };
        let objective = format!("p99<={limit_ms}ms").parse().expect("an objective");
        draw(&mut curve, objective, ObjectiveOrigin::Chosen { light_p99: Span::from_millis(1) });
        curve
    }

    #[test]
    fn findings_follow_the_shared_objective() {
        let loads = [1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0, 6_000.0];
        let mut slots: Vec<LoadSlot> =
            loads.into_iter().map(|rate| slot(rate, if rate > 4_500.0 { 1_000 } else { 0 }, false)).collect();
        slots.push(slot(2_000.0, 100, true));
        let [fast, slow] = [curve(slots.clone(), 5), curve(slots, 50)];
        let left_out = |curve: &Curve| curve.findings.iter().filter(|finding| is_of_line(finding)).count();
        assert_eq!((left_out(&fast), left_out(&slow)), (1, 0), "a lateness of 8 ms disturbs only the limit of 5 ms");
        let mut both = [fast, slow];
        share_an_objective(&mut both);
        assert_eq!(both.each_ref().map(left_out), [0, 0], "{:?}", both[0].findings);
        assert_eq!(both.each_ref().map(|curve| curve.load_line.map(|line| line.objective())), {
            let shared = "p99<=50ms".parse().ok();
            [shared, shared]
        });
        assert_eq!(both[0].basis.map(|basis| basis.origin), Some(ObjectiveOrigin::Shared));
        assert!(matches!(both[1].basis.map(|basis| basis.origin), Some(ObjectiveOrigin::Chosen { .. })));
    }
}
