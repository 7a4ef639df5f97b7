//! `plimsoll volume top`: shows the activity of volumes, sampled each second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plimsoll_language::{label, say};
use plimsoll_report::pages::volumes::{VolumeView, activity};
use plimsoll_report::{TextStyle, page_text, to_json};
use plimsoll_service::api::{About, Stats, Volume};
use plimsoll_service::client::volume_path;

use super::ServiceClient;
use super::screen::Screen;
use crate::cli_error::CliError;
use crate::console::Console;

/// Interval of samples.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Shows volumes until the user quits; without a terminal, a single second.
pub fn run(service: &ServiceClient, names: &[String], once: bool) -> Result<(), CliError> {
    let slow = service.client.fetch::<About>("/v1/service")?.slow.max(1);
    let (mut before, mut at) = (observe(service, names)?, Instant::now());
    let screen = if once || service.forms.is_written() { None } else { Screen::enter() };
    let Some(screen) = screen else {
        std::thread::sleep(SAMPLE_INTERVAL);
        let after = observe(service, names)?;
        let elapsed_s = at.elapsed().as_secs_f64() / f64::from(slow);
        let counts: BTreeMap<&String, &Stats> = after.iter().map(|(name, (_, stats))| (name, stats)).collect();
        return service.forms.write(&activity(&before, &after, elapsed_s, slow), || to_json(&counts));
    };
    let console = Console::new(true)?;
    screen.show(label!("one second ...\n"));
    while !screen.quits_within(SAMPLE_INTERVAL, || console.interrupted()) {
        let after = observe(service, names)?;
        let elapsed_s = at.elapsed().as_secs_f64() / f64::from(slow);
        at = Instant::now();
        let style = TextStyle { width: screen.size().0, ..*service.forms.style() };
        let title = say!("plimsoll volume top - {} - q ends it\n\n", service.client.address());
        screen.show(&(title + &page_text(&activity(&before, &after, elapsed_s, slow), &style)));
        before = after;
    }
    Ok(())
}

/// The current counts of the named volumes, or of all.
fn observe(service: &ServiceClient, names: &[String]) -> Result<VolumeView, CliError> {
    let volumes: Vec<Volume> = if names.is_empty() {
        service.client.fetch("/v1/volumes")?
    } else {
        names.iter().map(|name| service.client.fetch(&volume_path(name, ""))).collect::<Result<_, _>>()?
    };
    let with_stats = |volume: Volume| {
        let stats = service.client.fetch(&volume_path(&volume.name, "stats?periods=0"))?;
        Ok((volume.name.clone(), (volume, stats)))
    };
    volumes.into_iter().map(with_stats).collect()
}
