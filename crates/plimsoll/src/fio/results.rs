//! Output of results in the requested forms.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use plimsoll_fio::print::{self, Detail, FioReport, OutputForm, TerseVersion};
use plimsoll_fio::{Flags, Format};
use plimsoll_suite::fio::PlannedJobs;

use crate::cli_error::CliError;
use crate::output;

#[derive(Debug)]
pub struct Results {
    file: Option<(String, File)>,
    forms: Vec<OutputForm>,
}

impl Results {
    /// Opens the requested file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(flags: &Flags) -> Result<Self, CliError> {
        let open = |path: &String| {
            let opened = File::create(Path::new(path));
            opened
                .map(|file| (path.clone(), file))
                .map_err(|error| CliError::usage(format!("--output={path}: {error}")))
        };
        let version = match flags.terse_version {
            2 => TerseVersion::V2,
            4 => TerseVersion::V4,
            5 => TerseVersion::V5,
            _ => TerseVersion::V3,
        };
        let form = |format: &Format| match format {
            Format::Normal => OutputForm::Normal,
            Format::Terse => OutputForm::Terse(version),
            Format::Json => OutputForm::Json(Detail::Percentiles),
            Format::JsonPlus => OutputForm::Json(Detail::Buckets),
        };
        Ok(Self { file: flags.output.as_ref().map(open).transpose()?, forms: flags.formats.iter().map(form).collect() })
    }

    fn write(&mut self, text: &str) -> Result<(), CliError> {
        match &mut self.file {
            None => output::print(text.as_bytes()),
            Some((path, file)) => file
                .write_all(text.as_bytes())
                .map_err(|error| CliError::Failed(anyhow::anyhow!("writing {path}: {error}"))),
        }
    }

    /// Heading before a run.
    pub fn heading(&mut self, jobs: &PlannedJobs<'_>) -> Result<(), CliError> {
        if !self.forms.contains(&OutputForm::Normal) {
            return Ok(());
        }
        self.write(&print::heading(&jobs.headings(), jobs.version))
    }

    /// The report in all forms.
    pub fn report(&mut self, report: &FioReport) -> Result<(), CliError> {
        self.write(&print::format_report(report, &self.forms))
    }
}
