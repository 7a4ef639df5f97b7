//! Fault injection. Faults end with the service.

use plimsoll_language::{label, say};
use plimsoll_units::Span;
use plimsoll_volume::{Class, Faults};

use crate::api;
use crate::refusal::Refusal;
use crate::service::Service;

/// Scale of the rates: parts per million.
const ALL_PPM: u32 = 1_000_000;

impl Service {
    /// Replaces the injected faults of a volume.
    pub fn set_faults(&self, name: &str, faults: &api::Faults) -> Result<api::Volume, Refusal> {
        let suffered = read(faults)?;
        self.inject(name, Some((faults.clone(), suffered)))
    }

    /// Removes the injected faults of a volume.
    pub fn clear_faults(&self, name: &str) -> Result<api::Volume, Refusal> {
        self.inject(name, None)
    }

    fn inject(&self, name: &str, faults: Option<(api::Faults, Faults)>) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        let (requested, suffered) = faults.unzip();
        let export = volume.export;
        self.inner.handle.call(move |server| {
            let (volumes, now, _) = server.volumes();
            volumes.inject(now, export, suffered);
        })?;
        if let Some(faults) = &requested {
            let api::Faults { errors_ppm, spikes_ppm, spike_ns, tears_ppm, stall_ns, .. } = faults;
            tracing::warn!(volume = name, errors_ppm, spikes_ppm, spike_ns, tears_ppm, stall_ns, "faults injected");
        } else {
            tracing::info!(volume = name, "faults cleared");
        }
        volume.faults = requested;
        self.show(volume)
    }
}

fn read(faults: &api::Faults) -> Result<Faults, Refusal> {
    let api::Faults { seed, only, errors_ppm, spikes_ppm, spike_ns, tears_ppm, stall_ns } = faults;
    for (what, ppm) in [("errors_ppm", errors_ppm), ("spikes_ppm", spikes_ppm), ("tears_ppm", tears_ppm)] {
        if *ppm > ALL_PPM {
            return Err(Refusal::bad(say!("{what} is {ppm}: write 0 to {ALL_PPM}, which is all requests")));
        }
    }
    if *spikes_ppm > 0 && *spike_ns == 0 {
        return Err(Refusal::bad(label!("spikes need a length: give spike_ns, too")));
    }
    let class = |word: &String| {
        let class = Class::ALL.into_iter().find(|class| class.name() == word);
        class.ok_or_else(|| {
            Refusal::bad(say!("\"{word}\" is none of read, write, flush and trim", word = word.escape_debug()))
        })
    };
    Ok(Faults {
        seed: *seed,
        only: only.as_ref().map(class).transpose()?,
        errors_ppm: *errors_ppm,
        spikes_ppm: *spikes_ppm,
        spike: Span::from_nanos(*spike_ns),
        tears_ppm: *tears_ppm,
        stall: Span::from_nanos(*stall_ns),
    })
}
