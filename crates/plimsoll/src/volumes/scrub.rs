//! `plimsoll volume scrub`: has a service compare its data with their checksums, and waits for the outcome.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use plimsoll_language::say;
use plimsoll_report::pages::volumes;
use plimsoll_service::api::{Scrub, ScrubState};
use plimsoll_units::Bytes;

use super::ServiceClient;
use crate::cli_error::CliError;

const PATH: &str = "/v1/scrub";
/// Interval of requests for the progress.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Exit code for damaged data.
const DAMAGED: u8 = 1;

/// Compares the data of a volume, or of all.
pub fn scrub(service: &ServiceClient, volume: Option<&str>, rate: Bytes) -> Result<(), CliError> {
    let body = Scrub { volume: volume.map(str::to_owned), rate_bytes: Some(rate.get()) };
    service.client.post(PATH, &body)?;
    let shows_progress = std::io::stderr().is_terminal();
    let (response, state) = loop {
        let response = service.client.get(PATH)?;
        let state: ScrubState = service.client.read(&response)?;
        if !state.running {
            break (response, state);
        }
        if shows_progress {
            let _ = write!(std::io::stderr(), "\r{}", volumes::scrub_progress(&state));
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    if shows_progress {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    service.write_page(&response, volumes::scrub)?;
    if let Some(error) = &state.error {
        return Err(CliError::Failed(anyhow::anyhow!(say!("the scrub did not come to its end: {error}"))));
    }
    if state.damaged_blocks == 0 { Ok(()) } else { Err(CliError::Ended(DAMAGED)) }
}
