//! Pages of the checks of data: of a data directory without a service, and of checksums by a service.

use plimsoll_api::{Check, ScrubState};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::page::{Headline, Page};

pub fn checked_directory(check: &Check, directory: &str) -> Page {
    let heading = say!("Data directory {directory}");
    let facts = Page::of_facts(label!("Check of a data directory"), heading, describe_check(check));
    Page { headline: Some(Headline::of(judge_directory(check, directory))), ..facts }
}

pub fn scrub(state: &ScrubState) -> Page {
    let title = state.volume.as_ref().map_or_else(|| "Scrub".to_owned(), |volume| format!("Scrub of {volume}"));
    Page {
        headline: Some(Headline::of(judge_scrub(state))),
        ..Page::of_facts(title.clone(), title, describe_scrub(state))
    }
}

pub fn scrub_progress(state: &ScrubState) -> String {
    let share = state.done_bytes as f64 / state.total_bytes.max(1) as f64 * 100.0;
    let (done, total) = (Bytes::new(state.done_bytes), Bytes::new(state.total_bytes));
    say!("{share:.0} % compared: {done} of {total}, {} damaged blocks", state.damaged_blocks)
}

fn describe_scrub(state: &ScrubState) -> Vec<(&'static str, String)> {
    let (done, total) = (Bytes::new(state.done_bytes), Bytes::new(state.total_bytes));
    let mut facts = vec![(label!("compared"), say!("{done} of {total}"))];
    for damaged in &state.damaged {
        facts.push((label!("damaged"), say!("volume {} at byte {}", damaged.volume, damaged.offset)));
    }
    facts
}

fn judge_scrub(state: &ScrubState) -> String {
    match state.damaged_blocks {
        0 => label!("All compared data are what was written").to_owned(),
        blocks => say!(
            "{blocks} damaged blocks of 4 KiB: reads of them fail until they are overwritten or restored from a copy"
        ),
    }
}

fn describe_check(check: &Check) -> Vec<(&'static str, String)> {
    let bytes = |bytes: u64| Bytes::new(bytes).to_string();
    let mut facts = vec![
        ("id", check.id.clone()),
        (label!("log"), say!("{} commits, {}", check.commits, bytes(check.log_bytes))),
        (label!("data"), say!("{}, {} unreferenced", bytes(check.data_bytes), bytes(check.unreferenced_bytes))),
    ];
    if check.has_checksums {
        let damaged = check.damaged.len();
        facts.push((
            label!("compared"),
            say!("{} with their checksums, {damaged} damaged blocks", bytes(check.verified_bytes)),
        ));
        if check.uncertain_bytes > 0 {
            let uncertain = bytes(check.uncertain_bytes);
            facts.push((
                label!("unsure"),
                say!("{uncertain} were being written when the service was killed: the next start computes their checksums again"),
            ));
        }
    }
    for volume in &check.volumes {
        let (size, used) = (bytes(volume.size_bytes), bytes(volume.used_bytes));
        facts.push((label!("volume"), say!("{}: {size}, {used} used", volume.name)));
    }
    facts.extend(check.repaired.iter().map(|repaired| (label!("repaired"), repaired.clone())));
    facts.extend(check.problems.iter().map(|problem| (label!("problem"), problem.clone())));
    facts
}

/// The state of the directory, and what to do.
fn judge_directory(check: &Check, directory: &str) -> String {
    let repair = format!("plimsoll volume fsck {directory} --repair");
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
