//! Verdict, storage, display and output files of results.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_analyse::Comparison;
use plimsoll_device::{check_writable, write_atomically};
use plimsoll_language::{Language, label, say};
use plimsoll_measure::MeasureError;
use plimsoll_record::{Curve, EndReason, SuiteRun};
use plimsoll_report::pages::{self, CompletedChange, Sheet};
use plimsoll_report::{Charset, Color, Page, TextStyle, changes_json};
use plimsoll_suite::snapshots::Snapshots;

use crate::args::{FormArgs, KeepWord, MeasureCommand, OutputArgs};
use crate::cli_error::CliError;
use crate::store;

/// Output files of a result, checked before any work.
#[derive(Debug)]
pub struct Forms {
    json: Option<PathBuf>,
    /// HTML, Markdown, CSV.
    pages: [Option<PathBuf>; 3],
    /// Forms of a single command, which writes them: SVG of curves, Terraform and Kubernetes objects of sizes.
    own: Vec<PathBuf>,
    is_quiet: bool,
    states_files: bool,
    /// Text in full instead of the summary.
    is_detailed: bool,
    style: TextStyle,
}

impl Forms {
    /// Checks that all files are writable. JSON replaces the text.
    pub fn new(args: &FormArgs) -> Result<Self, CliError> {
        Self::with_own(args, [])
    }

    /// The same with forms that the command writes.
    pub fn with_own<'a>(args: &FormArgs, own: impl IntoIterator<Item = &'a PathBuf>) -> Result<Self, CliError> {
        let forms = Self { is_quiet: args.json.is_some(), ..Self::of(args, own) }.checked()?;
        forms.set_language();
        Ok(forms)
    }

    fn of<'a>(args: &FormArgs, own: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        let FormArgs { json, html, markdown, csv, details, no_color } = args;
        Self {
            json: json.clone(),
            pages: [html, markdown, csv].map(Clone::clone),
            own: own.into_iter().cloned().collect(),
            is_quiet: false,
            states_files: true,
            is_detailed: *details,
            style: style(*no_color),
        }
    }

    /// JSON and CSV are interfaces for programs. A result is built once for all forms: with a page or text, sentences in
    /// JSON are in the language of the reader. CSV is made from a page.
    fn set_language(&self) {
        let [html, markdown, csv] = &self.pages;
        let is_text = !self.is_quiet && !self.files().any(|path| is_standard_output(path));
        let has_page = html.is_some() || markdown.is_some() || is_text;
        if csv.is_some() || (self.json.is_some() && !has_page) {
            Language::English.set_default();
        }
    }

    /// The same for a command that prints the text of its result, and no notes.
    pub fn without_text(self) -> Self {
        Self { is_quiet: true, states_files: false, ..self }
    }

    pub fn has_json(&self) -> bool {
        self.json.is_some()
    }

    /// True if the result has a form other than text.
    pub fn is_written(&self) -> bool {
        self.files().next().is_some()
    }

    pub const fn style(&self) -> &TextStyle {
        &self.style
    }

    fn checked(self) -> Result<Self, CliError> {
        if self.files().filter(|path| is_standard_output(path)).count() > 1 {
            return Err(CliError::usage(label!(
                "only one form can be written to standard output (-): use files for the others"
            )));
        }
        for path in self.files().filter(|path| !is_standard_output(path)) {
            check_writable(path)?;
        }
        Ok(self)
    }

    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.json.iter().chain(self.pages.iter().flatten()).chain(&self.own)
    }

    /// Prints a result as text, unless quiet or a form uses standard output, and writes its other forms.
    pub fn write(&self, page: &Page, json: impl FnOnce() -> Vec<u8>) -> Result<(), CliError> {
        self.write_with(page, label!("--details; charts: --html FILE"), &self.style, json)
    }

    /// Prints and writes changes, the only result of a command.
    pub fn write_changes(&self, changes: &[CompletedChange]) -> Result<(), CliError> {
        self.write(&pages::changes(changes), || changes_json(changes))
    }

    /// The same with a hint how to show the text in full.
    fn write_with(
        &self,
        page: &Page,
        rest: &str,
        style: &TextStyle,
        json: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), CliError> {
        self.print(&if self.is_detailed {
            plimsoll_report::page_text(page, style)
        } else {
            plimsoll_report::page_summary(page, rest, style)
        })?;
        let forms = [plimsoll_report::page_html, plimsoll_report::page_markdown, plimsoll_report::page_csv];
        for (path, form) in self.pages.iter().zip(forms).filter_map(|(path, form)| path.as_ref().zip(Some(form))) {
            self.put(path, form(page).as_bytes())?;
        }
        self.json.as_ref().map_or(Ok(()), |path| self.put(path, &Language::English.scope(json)))
    }

    /// Writes a form, and states its file on standard error.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), CliError> {
        put(path, bytes)?;
        if self.states_files && !is_standard_output(path) {
            let _ = writeln!(std::io::stderr(), "{}", say!("plimsoll: wrote {}", path.display()));
        }
        Ok(())
    }

    /// Prints a message, unless quiet or a form uses standard output.
    pub fn print(&self, text: &str) -> Result<(), CliError> {
        let uses_standard_output = self.files().any(|path| is_standard_output(path));
        if self.is_quiet || uses_standard_output { Ok(()) } else { print(text.as_bytes()) }
    }
}

/// Output of a measurement or simulation.
#[derive(Debug)]
pub struct Outputs {
    forms: Forms,
    svg: Option<PathBuf>,
    prometheus: Option<PathBuf>,
    keep: KeepWord,
}

/// Exit code if a run that has to be kept was not.
const UNSAVED: u8 = 3;

impl Outputs {
    /// Checks that all files are writable.
    pub fn new(args: &OutputArgs) -> Result<Self, CliError> {
        Self::with_files(args, None, KeepWord::Yes)
    }

    /// The same for a measurement; if its run is required, the directory of runs is checked, too.
    pub fn of_measurement(args: &MeasureCommand) -> Result<Self, CliError> {
        if args.label.is_some() && args.keep == KeepWord::No {
            return Err(CliError::usage(label!("--label names a run that is kept: omit --keep no, or omit --label")));
        }
        let outputs = Self::with_files(&args.output, args.prometheus.as_ref(), args.keep)?;
        if outputs.keep == KeepWord::Required {
            store::runs().check_writable().map_err(|error| outputs.report_unsaved(error))?;
        }
        Ok(outputs)
    }

    fn with_files(args: &OutputArgs, prometheus: Option<&PathBuf>, keep: KeepWord) -> Result<Self, CliError> {
        let forms = Forms::of(&args.forms, args.svg.iter().chain(prometheus));
        let forms = Forms { is_quiet: args.quiet, states_files: !args.quiet, ..forms }.checked()?;
        forms.set_language();
        Ok(Self { forms, svg: args.svg.clone(), prometheus: prometheus.cloned(), keep })
    }

    /// Keeps a run, unless none is kept.
    pub fn keep(&self, keep: impl FnOnce() -> Result<PathBuf, MeasureError>) -> Option<Result<PathBuf, MeasureError>> {
        (self.keep != KeepWord::No).then(keep)
    }

    /// Warns that a run could not be kept, and returns the exit status.
    pub fn report_unsaved(&self, error: MeasureError) -> CliError {
        let error = anyhow::Error::new(error);
        let _ = writeln!(
            std::io::stderr(),
            "{}",
            say!("plimsoll: the run was not kept: {error:#}: set PLIMSOLL_RUNS to a directory for runs")
        );
        CliError::Ended(if self.keep == KeepWord::Required { UNSAVED } else { 1 })
    }

    /// Fails if a result would overwrite the measured target.
    pub fn check_overwrite(&self, measured: &Path) -> Result<(), CliError> {
        let measured = measured.canonicalize().ok();
        let same = |path: &&PathBuf| path.canonicalize().ok().is_some_and(|path| Some(path) == measured);
        match self.forms.files().find(same) {
            Some(path) => {
                Err(CliError::usage(say!("{}: this is the measured target: use another file", path.display())))
            }
            None => Ok(()),
        }
    }

    /// Fails if there are several runs for a form of a single run.
    pub fn check_run_count(&self, runs: usize) -> Result<(), CliError> {
        if runs > 1 && self.forms.json.is_some() {
            return Err(CliError::usage(label!(
                "--json supports a single run: use --html, --markdown or --csv for several"
            )));
        }
        Ok(())
    }

    /// Prints a page that completes a detailed text.
    pub fn print_detail(&self, page: impl FnOnce() -> Option<Page>) -> Result<(), CliError> {
        match self.forms.is_detailed.then(page).flatten() {
            Some(page) => self.forms.print(&format!("\n{}", plimsoll_report::page_text(&page, &self.forms.style))),
            None => Ok(()),
        }
    }

    /// Prints and writes curves. JSON supports a single curve.
    pub fn write_curves(&self, curves: &[Curve]) -> Result<(), CliError> {
        self.write_sheets(curves, &Sheet::all(curves))
    }

    /// Prints and writes curves with their load lines and prices.
    pub fn write_sheets(&self, curves: &[Curve], sheets: &[Sheet<'_>]) -> Result<(), CliError> {
        let json = || curves.first().map(Curve::to_json).unwrap_or_default();
        self.write_run(&pages::curves(sheets), curves.iter().any(|curve| curve.started.is_some()), json)?;
        if let Some((path, curve)) = self.prometheus.as_ref().zip(curves.first()) {
            put(path, plimsoll_report::run_metrics(curve).text().as_bytes())?;
        }
        self.write_svg(curves)
    }

    /// Prints and writes the page of a run. A real one is kept, so that it is not repeated for its details.
    fn write_run(&self, page: &Page, is_real: bool, json: impl FnOnce() -> Vec<u8>) -> Result<(), CliError> {
        if is_real && self.keep != KeepWord::No {
            // A line for the path of the run follows.
            let shorter = TextStyle { lines: self.forms.style.lines - 1, ..self.forms.style };
            let rest = label!("plimsoll report --details; charts: plimsoll report --html FILE");
            self.forms.write_with(page, rest, &shorter, json)
        } else {
            self.forms.write(page, json)
        }
    }

    /// Prints and writes a comparison, with its runs in one chart.
    pub fn write_comparison(
        &self,
        names: [&[String]; 2],
        comparison: &Comparison,
        curves: &[Curve],
    ) -> Result<(), CliError> {
        let json = || plimsoll_report::comparison_json(names, comparison, curves);
        self.forms.write(&pages::comparison(names, comparison, &Sheet::all(curves)), json)?;
        self.write_svg(curves)
    }

    fn write_svg(&self, curves: &[Curve]) -> Result<(), CliError> {
        let Some(path) = &self.svg else { return Ok(()) };
        let curves: Vec<&Curve> = curves.iter().collect();
        self.forms.put(path, plimsoll_report::svg(&curves).as_bytes())
    }

    /// Prints and writes suites. JSON supports a single suite.
    pub fn write_suites(&self, suites: &[SuiteRun]) -> Result<(), CliError> {
        let json = || suites.first().map(plimsoll_report::suite_json).unwrap_or_default();
        self.write_run(&pages::suites(suites), suites.iter().any(|suite| suite.started.is_some()), json)
    }
}

/// Completes a suite: storage and output.
pub fn finish_suite(suite: &mut SuiteRun, snapshots: Option<Snapshots>, outputs: &Outputs) -> Result<(), CliError> {
    let is_real = suite.started.is_some();
    let stored = is_real.then(|| store::runs().keep_suite(suite, snapshots));
    outputs.write_suites(std::slice::from_ref(suite))?;
    let saved = print_run_file(stored, outputs);
    check_end(suite.ended)?;
    saved
}

/// Prints where a result was kept, or why it was not, which is an error after all output.
pub fn print_run_file(stored: Option<Result<PathBuf, MeasureError>>, outputs: &Outputs) -> Result<(), CliError> {
    match stored {
        None => Ok(()),
        Some(Ok(path)) => outputs.forms.print(&say!("Kept as {}\n", path.display())),
        Some(Err(error)) => Err(outputs.report_unsaved(error)),
    }
}

/// Exit status of a command with this end of its measurement.
pub fn check_end(end: EndReason) -> Result<(), CliError> {
    match end {
        EndReason::Complete => Ok(()),
        EndReason::Interrupted => Err(CliError::Interrupted),
        EndReason::Failed => Err(CliError::Failed(anyhow::anyhow!(say!(
            "incomplete (see the findings): the figures cover the time until then"
        )))),
    }
}

fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a file atomically, or to standard output.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    if is_standard_output(path) { print(bytes) } else { Ok(write_atomically(path, bytes).map_err(anyhow::Error::new)?) }
}

/// Writes to standard output; a closed pipe is not an error.
pub fn print(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.context(label!("writing to standard output"))?),
    }
}

/// Style of text on standard output.
pub fn style(no_color: bool) -> TextStyle {
    let terminal = std::io::stdout().is_terminal();
    let is_disabled = no_color
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let utf8 = locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"));
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let window = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let columns = columns.or_else(window).filter(|columns| *columns > 0);
    TextStyle {
        lines: TextStyle::default().lines,
        color: if terminal && !is_disabled { Color::Ansi } else { Color::Plain },
        width: columns.unwrap_or(100).clamp(40, 240),
        unicode: if utf8 || Language::current() == Language::Japanese { Charset::Unicode } else { Charset::Ascii },
    }
}
