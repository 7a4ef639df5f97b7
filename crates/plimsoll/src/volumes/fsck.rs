//! `plimsoll volume fsck`: checks a data directory while no service has it.

use std::path::Path;

use plimsoll_front::DirectoryError;
use plimsoll_language::{label, say};
use plimsoll_report::{Headline, Page, to_json};
use plimsoll_service::{AddChecksums, Check, Repair};
use plimsoll_units::Bytes;

use super::home;
use crate::args::VolumeArgs;
use crate::cli_error::CliError;
use crate::output::Forms;

/// The exit code of a directory that is not sound.
const DAMAGED: u8 = 1;

/// Checks a directory, that of the service by default, and repairs it when that is wanted.
pub fn fsck(args: &VolumeArgs, directory: Option<&Path>, repair: bool, add_checksums: bool) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory =
        directory.map_or_else(|| home::data_directory(&args.reach), |directory| Ok(directory.to_owned()))?;
    let repair = if repair { Repair::Required } else { Repair::Never };
    let checksums = if add_checksums { AddChecksums::Required } else { AddChecksums::Never };
    let check = plimsoll_service::fsck(&directory, repair, checksums).map_err(refused)?;
    let heading = format!("Data directory {}", directory.display());
    let facts = Page::of_facts(label!("Check of a data directory"), heading, describe_check(&check));
    let page = Page { headline: Some(Headline::of(verdict(&check, &directory))), ..facts };
    forms.write(&page, || to_json(&check))?;
    if check.problems.is_empty() { Ok(()) } else { Err(CliError::Ended(DAMAGED)) }
}

fn describe_check(check: &Check) -> Vec<(&'static str, String)> {
    let bytes = |bytes: u64| Bytes::new(bytes).to_string();
    let mut facts = vec![
        ("id", check.id.clone()),
        ("log", format!("{} commits, {}", check.commits, bytes(check.log_bytes))),
        ("data", format!("{}, {} unreferenced", bytes(check.data_bytes), bytes(check.unreferenced_bytes))),
    ];
    if check.has_checksums {
        let damaged = check.damaged.len();
        facts
            .push(("compared", say!("{} with their checksums, {damaged} damaged blocks", bytes(check.verified_bytes))));
        if check.uncertain_bytes > 0 {
            let uncertain = bytes(check.uncertain_bytes);
            facts.push((
                "unsure",
                say!("{uncertain} were being written when the service was killed: the next start computes their checksums again"),
            ));
        }
    }
    for volume in &check.volumes {
        let (size, used) = (bytes(volume.size_bytes), bytes(volume.used_bytes));
        facts.push(("volume", format!("{}: {size}, {used} used", volume.name)));
    }
    facts.extend(check.repaired.iter().map(|repaired| ("repaired", repaired.clone())));
    facts.extend(check.problems.iter().map(|problem| ("problem", problem.clone())));
    facts
}

/// The state of the directory, and what to do.
fn verdict(check: &Check, directory: &Path) -> String {
    let repair = format!("plimsoll volume fsck {} --repair", directory.display());
    match (check.problems.is_empty(), check.keeps_unreferenced) {
        (true, false) => label!("The directory is sound").to_owned(),
        (true, true) => say!(
            "The directory is sound; unreferenced clusters are kept, since commits were dropped, until {repair} frees them"
        ),
        (false, _) if check.is_served() => {
            label!("Data are damaged: the service starts, and does not serve the damaged blocks").to_owned()
        }
        (false, _) => say!(
            "Not sound: copy the directory, then run {repair}, which cannot recover lost data; restore them from a \
             backup if possible"
        ),
    }
}

fn refused(error: DirectoryError) -> CliError {
    match error {
        DirectoryError::Io { ref source, .. } if source.kind() != std::io::ErrorKind::NotFound => {
            CliError::Failed(error.into())
        }
        error => CliError::usage(format!("{:#}", anyhow::Error::new(error))),
    }
}
