//! `plimsoll volume fsck`: checks a data directory while no service has it.

use std::path::Path;

use plimsoll_front::DirectoryError;
use plimsoll_report::pages::volumes::checked_directory;
use plimsoll_report::to_json;
use plimsoll_service::{AddChecksums, Repair};

use super::home;
use crate::args::VolumeArgs;
use crate::cli_error::CliError;
use crate::output::Forms;

/// Exit code for a damaged directory.
const DAMAGED: u8 = 1;

/// Checks a directory, by default that of the service, and repairs it if requested.
pub fn fsck(args: &VolumeArgs, directory: Option<&Path>, repair: bool, add_checksums: bool) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory =
        directory.map_or_else(|| home::data_directory(&args.reach), |directory| Ok(directory.to_owned()))?;
    let repair = if repair { Repair::Requested } else { Repair::Never };
    let checksums = if add_checksums { AddChecksums::Requested } else { AddChecksums::Never };
    let check = plimsoll_service::fsck(&directory, repair, checksums).map_err(refused)?;
    let page = checked_directory(&check, &directory.display().to_string());
    forms.write(&page, || to_json(&check))?;
    if check.problems.is_empty() { Ok(()) } else { Err(CliError::Ended(DAMAGED)) }
}

fn refused(error: DirectoryError) -> CliError {
    match error {
        DirectoryError::Io { ref source, .. } if source.kind() != std::io::ErrorKind::NotFound => {
            CliError::Failed(error.into())
        }
        error => CliError::usage(format!("{:#}", anyhow::Error::new(error))),
    }
}
