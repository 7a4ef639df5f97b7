//! Live figures of volumes: one sampler for all pages, which runs only while a page is open.
//!
//! A sample is a single step of the ring loop, whatever the number of volumes and pages; clients that are behind miss
//! samples instead of delaying the sampler.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_service::Service;
use plimsoll_service::api::LiveVolume;
use tokio::sync::watch;

const INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub struct VolumeSample {
    /// Name and JSON of each volume.
    pub volumes: BTreeMap<String, String>,
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Reason for the absence of a sample.
    pub error: Option<String>,
}

#[derive(Debug)]
pub struct Live {
    service: Service,
    sample: watch::Sender<Arc<VolumeSample>>,
}

impl Live {
    /// A sampler without subscribers.
    pub fn new(service: Service) -> Self {
        Self { service, sample: watch::channel(Arc::default()).0 }
    }

    /// Receives all samples from now on.
    pub fn subscribe(&self) -> watch::Receiver<Arc<VolumeSample>> {
        self.sample.subscribe()
    }

    /// A sample of all volumes, now.
    fn sample_volumes(&self) -> VolumeSample {
        let at_ms = now_ms();
        match self.service.live() {
            Err(refusal) => VolumeSample { at_ms, error: Some(refusal.message), ..VolumeSample::default() },
            Ok(volumes) => {
                let json = |volume: LiveVolume| {
                    let json = serde_json::to_string(&volume).expect("keys are strings");
                    (volume.name, json)
                };
                VolumeSample { volumes: volumes.into_iter().map(json).collect(), at_ms, error: None }
            }
        }
    }
}

/// Samples while there are subscribers.
pub async fn run(shared: Arc<crate::ConsoleState>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if shared.live.sample.receiver_count() == 0 {
            continue;
        }
        let sampler = Arc::clone(&shared);
        let Ok(sample) = tokio::task::spawn_blocking(move || sampler.live.sample_volumes()).await else { continue };
        shared.live.sample.send_replace(Arc::new(sample));
    }
}

impl VolumeSample {
    /// All volumes as one event.
    pub fn json(&self) -> String {
        let volumes: Vec<&str> = self.volumes.values().map(String::as_str).collect();
        format!("{{\"at_ms\":{},\"volumes\":[{}]}}", self.at_ms, volumes.join(","))
    }

    /// A volume as one event; `None` if it does not exist.
    pub fn json_of(&self, name: &str) -> Option<String> {
        let volume = self.volumes.get(name)?;
        Some(format!("{{\"at_ms\":{},\"volumes\":[{volume}]}}", self.at_ms))
    }
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
}
