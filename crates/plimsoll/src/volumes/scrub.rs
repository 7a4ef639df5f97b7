//! `plimsoll volume scrub`: has a service compare its data with their checksums, and waits for the outcome.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use plimsoll_language::{label, say};
use plimsoll_report::{Headline, Page};
use plimsoll_service::api::{Scrub, ScrubState};
use plimsoll_units::Bytes;

use super::ServiceClient;
use crate::cli_error::CliError;

const PATH: &str = "/v1/scrub";
/// Between two looks at the progress.
const LOOK: Duration = Duration::from_millis(250);
/// The exit code when data are damaged.
const DAMAGED: u8 = 1;

/// Compares the data of a volume, or of all.
pub fn scrub(service: &ServiceClient, volume: Option<&str>, rate: Bytes) -> Result<(), CliError> {
    let body = Scrub { volume: volume.map(str::to_owned), rate_bytes: Some(rate.get()) };
    service.client.post(PATH, &body)?;
    let shows_progress = std::io::stderr().is_terminal();
    let (answer, state) = loop {
        let answer = service.client.get(PATH)?;
        let state: ScrubState = service.client.read(&answer)?;
        if !state.running {
            break (answer, state);
        }
        if shows_progress {
            let _ = write!(std::io::stderr(), "\r{}", progress(&state));
        }
        std::thread::sleep(LOOK);
    };
    if shows_progress {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let title = state.volume.as_ref().map_or_else(|| "Scrub".to_owned(), |volume| format!("Scrub of {volume}"));
    service.write_page(&answer, |state| Page {
        headline: Some(Headline::of(verdict(state))),
        ..Page::of_facts(title.clone(), title, describe_scrub(state))
    })?;
    if let Some(error) = &state.error {
        return Err(CliError::Failed(anyhow::anyhow!(say!("the scrub did not come to its end: {error}"))));
    }
    if state.damaged_blocks == 0 { Ok(()) } else { Err(CliError::Ended(DAMAGED)) }
}

fn progress(state: &ScrubState) -> String {
    let share = state.done_bytes as f64 / state.total_bytes.max(1) as f64 * 100.0;
    let (done, total) = (Bytes::new(state.done_bytes), Bytes::new(state.total_bytes));
    say!("{share:.0} % compared: {done} of {total}, {} damaged blocks", state.damaged_blocks)
}

fn describe_scrub(state: &ScrubState) -> Vec<(&'static str, String)> {
    let (done, total) = (Bytes::new(state.done_bytes), Bytes::new(state.total_bytes));
    let mut facts = vec![("compared", format!("{done} of {total}"))];
    for damaged in &state.damaged {
        facts.push(("damaged", say!("volume {} at byte {}", damaged.volume, damaged.offset)));
    }
    facts
}

fn verdict(state: &ScrubState) -> String {
    match state.damaged_blocks {
        0 => label!("All compared data are what was written").to_owned(),
        blocks => say!(
            "{blocks} damaged blocks of 4 KiB: reads of them fail until they are overwritten or restored from a copy"
        ),
    }
}
