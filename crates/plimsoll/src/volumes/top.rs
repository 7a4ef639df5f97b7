//! `plimsoll volume top`: looks at the counts each second, and shows what happened in between.

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

/// Between two looks.
const SECOND: Duration = Duration::from_secs(1);

/// Shows volumes until the user leaves; where there is no terminal, one second of them.
pub fn run(service: &ServiceClient, names: &[String], once: bool) -> Result<(), CliError> {
    let slow = service.client.fetch::<About>("/v1/service")?.slow.max(1);
    let (mut before, mut at) = (observe(service, names)?, Instant::now());
    let screen = if once || service.forms.is_written() { None } else { Screen::enter() };
    let Some(screen) = screen else {
        std::thread::sleep(SECOND);
        let after = observe(service, names)?;
        let apart = at.elapsed().as_secs_f64() / f64::from(slow);
        let counts: BTreeMap<&String, &Stats> = after.iter().map(|(name, (_, stats))| (name, stats)).collect();
        return service.forms.write(&activity(&before, &after, apart, slow), || to_json(&counts));
    };
    let console = Console::new(true).map_err(anyhow::Error::new)?;
    screen.show(label!("one second ...\n"));
    while !screen.is_left_within(SECOND, || console.interrupted()) {
        let after = observe(service, names)?;
        let apart = at.elapsed().as_secs_f64() / f64::from(slow);
        at = Instant::now();
        let style = TextStyle { width: screen.size().0, ..*service.forms.style() };
        let title = say!("plimsoll volume top - {} - q ends it\n\n", service.client.address());
        screen.show(&(title + &page_text(&activity(&before, &after, apart, slow), &style)));
        before = after;
    }
    Ok(())
}

/// The counts now, of the volumes that were named, or of all.
fn observe(service: &ServiceClient, names: &[String]) -> Result<VolumeView, CliError> {
    let volumes: Vec<Volume> = if names.is_empty() {
        service.client.fetch("/v1/volumes")?
    } else {
        names.iter().map(|name| service.client.fetch(&volume_path(name, ""))).collect::<Result<_, _>>()?
    };
    let counted = |volume: Volume| {
        let stats = service.client.fetch(&volume_path(&volume.name, "stats?periods=0"))?;
        Ok((volume.name.clone(), (volume, stats)))
    };
    volumes.into_iter().map(counted).collect()
}
