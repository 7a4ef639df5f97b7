//! Live figures of volumes: one sampler for all pages, which runs only while a page is open.
//!
//! A sample is a single step of the ring loop, whatever the number of volumes and pages; clients that are behind miss
//! samples instead of delaying the sampler.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_service::Service;
use plimsoll_service::api::LiveVolume;
use serde::Serialize;
use tokio::sync::watch;

/// Interval of samples.
const INTERVAL: Duration = Duration::from_millis(200);
/// Level changes kept per volume.
const MAX_MARKS: usize = 128;

/// A sample of all volumes.
#[derive(Debug, Default)]
pub struct VolumeSample {
    /// Name and JSON of each volume.
    pub volumes: BTreeMap<String, String>,
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Why there is no sample.
    pub error: Option<String>,
}

/// A level change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelMark {
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Level or configuration from then on.
    pub to: String,
}

/// The sampler.
#[derive(Debug)]
pub struct Live {
    service: Service,
    sample: watch::Sender<Arc<VolumeSample>>,
    marks: Mutex<BTreeMap<String, Marks>>,
}

#[derive(Debug, Default)]
struct Marks {
    like: String,
    marks: Vec<LevelMark>,
}

impl Live {
    /// A sampler without subscribers.
    pub fn new(service: Service) -> Self {
        Self { service, sample: watch::channel(Arc::default()).0, marks: Mutex::default() }
    }

    /// Receives all samples from now on.
    pub fn subscribe(&self) -> watch::Receiver<Arc<VolumeSample>> {
        self.sample.subscribe()
    }

    /// Level changes of a volume that were observed.
    pub fn marks(&self, name: &str) -> Vec<LevelMark> {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.get(name).map(|marks| marks.marks.clone()).unwrap_or_default()
    }

    /// A sample of all volumes, now.
    fn sampled(&self) -> VolumeSample {
        let at_ms = now_ms();
        match self.service.live() {
            Err(refusal) => VolumeSample { at_ms, error: Some(refusal.message), ..VolumeSample::default() },
            Ok(volumes) => {
                self.note(&volumes, at_ms);
                let json = |volume: LiveVolume| {
                    let json = serde_json::to_string(&volume).expect("keys are strings");
                    (volume.name, json)
                };
                VolumeSample { volumes: volumes.into_iter().map(json).collect(), at_ms, error: None }
            }
        }
    }

    /// Remembers changes of configurations.
    fn note(&self, volumes: &[LiveVolume], at_ms: u64) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.retain(|name, _| volumes.iter().any(|volume| volume.name == *name));
        for volume in volumes {
            let known = marks.entry(volume.name.clone()).or_default();
            if known.like == volume.like {
                continue;
            }
            let is_first = known.like.is_empty();
            known.like.clone_from(&volume.like);
            if !is_first {
                let to = volume.level.map_or_else(|| volume.like.clone(), |level| level.to_string());
                known.marks.push(LevelMark { at_ms, to });
                if known.marks.len() > MAX_MARKS {
                    known.marks.remove(0);
                }
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
        let Ok(sample) = tokio::task::spawn_blocking(move || sampler.live.sampled()).await else { continue };
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
