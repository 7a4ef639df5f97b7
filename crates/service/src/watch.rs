//! Statistics of a volume: counters, and its recent seconds.
//!
//! The ring loop keeps seconds as histograms. Percentiles are computed here once per second, so that frequent queries
//! cost the loop little.

use plimsoll_record::Bins;
use plimsoll_units::Instant;
use plimsoll_volume::{Class, Export, LimitedQuantity, Period, ResponseCounts, Totals, VolumeAccess};

use crate::api;
use crate::moment;
use crate::recent::periods_since;
use crate::refusal::Refusal;
use crate::service::{Service, ServiceState};
use crate::volume::Volume;

/// Values read from a volume in a single step of the loop.
#[derive(Debug)]
struct Reading {
    totals: Totals,
    fresh: Vec<Period>,
    counted: (u64, u64),
    lateness: Bins,
    in_flight: u32,
}

impl Service {
    /// Counters, and the fidelity of recent seconds.
    pub fn stats(&self, name: &str) -> Result<api::Stats, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        let (export, from) = (volume.export, volume.watch.until());
        let reading = self.inner.handle.call(move |server| {
            let (volumes, ..) = server.volumes();
            let fidelity = volumes.fidelity(export);
            Reading {
                totals: volumes.totals(export).cloned().unwrap_or_default(),
                fresh: periods_since(volumes, export, from),
                counted: fidelity.map_or((0, 0), plimsoll_volume::Fidelity::counted),
                lateness: fidelity.map(|fidelity| fidelity.lateness().clone()).unwrap_or_default(),
                in_flight: volumes.in_flight(export),
            }
        })?;
        volume.watch.absorb(&reading.fresh);
        let (volume, slow) = (state.volume(name)?, self.inner.options.slow.times());
        let now_s = self.model_now().as_nanos() / 1_000_000_000;
        Ok(api::Stats { now_s, ..stats(&state, volume, reading, slow) })
    }

    /// The minutes of a volume that are over, of the last day since the start of the service, oldest first.
    pub fn minutes(&self, name: &str) -> Result<Vec<api::Minute>, Refusal> {
        Ok(self.state().volume(name)?.minutes.complete().cloned().collect())
    }
}

/// Values of a volume for a display.
struct ExportSample {
    ops: u64,
    bytes: u64,
    in_flight: u32,
    clients: usize,
    fresh: Vec<Period>,
}

impl Service {
    /// Counters of all volumes, by name, read in a single step of the ring loop.
    pub fn live(&self) -> Result<Vec<api::LiveVolume>, Refusal> {
        let mut state = self.state();
        let exports: Vec<(Export, Instant)> =
            state.volumes.values().map(|volume| (volume.export, volume.watch.until())).collect();
        let samples = self.inner.handle.call(move |server| {
            let clients: Vec<usize> = exports.iter().map(|(export, _)| server.users(*export)).collect();
            let (volumes, ..) = server.volumes();
            let sample = |((export, from), clients): ((Export, Instant), usize)| {
                let totals = volumes.totals(export);
                ExportSample {
                    ops: totals.map_or(0, |totals| totals.ops.iter().sum()),
                    bytes: totals.map_or(0, |totals| totals.bytes.iter().sum()),
                    in_flight: volumes.in_flight(export),
                    clients,
                    fresh: periods_since(volumes, export, from),
                }
            };
            exports.into_iter().zip(clients).map(sample).collect::<Vec<_>>()
        })?;
        let (now_ns, slow) = (moment::now_ns(), self.inner.options.slow);
        let live = |(volume, sample): (&mut Volume, ExportSample)| {
            volume.watch.absorb(&sample.fresh);
            let cost = volume.metadata.bill.as_ref().and_then(|bill| bill.so_far(now_ns, slow));
            api::LiveVolume {
                name: volume.name().to_owned(),
                like: volume.product.like.clone(),
                level: volume.product.level(),
                size_bytes: volume.size,
                writable: volume.access == VolumeAccess::ReadWrite,
                clients: sample.clients,
                attached: volume.attachment.is_some(),
                ops: sample.ops,
                bytes: sample.bytes,
                in_flight: sample.in_flight,
                last: volume.watch.last().cloned(),
                cost,
            }
        };
        Ok(state.volumes.values_mut().zip(samples).map(live).collect())
    }
}

fn stats(state: &ServiceState, volume: &Volume, reading: Reading, slow: u32) -> api::Stats {
    let Reading { totals, counted: (faithful, unfaithful), lateness, in_flight, .. } = reading;
    let count = |class: Class| api::KindCount {
        kind: class.name().to_owned(),
        ops: totals.ops[class.index()],
        bytes: totals.bytes[class.index()],
        errors: totals.errors[class.index()],
        responses: bins(&totals.responses[class.index()]),
        response_sum_ns: totals.responses[class.index()].sum_ns(),
    };
    let (damaged, damaged_reads) = state.damages.of(volume.name());
    let periods: Vec<api::Period> = volume.watch.periods().cloned().collect();
    api::Stats {
        at: moment::now(),
        slow,
        now_s: 0,
        counts: Class::ALL.map(count).to_vec(),
        bound_by: bound_by(state, volume, &totals),
        limited: sum_limited_times(state, volume, &totals),
        in_flight,
        last: periods.last().cloned(),
        periods,
        faithful,
        unfaithful,
        lateness_sum_ns: lateness.sum_ns,
        damaged,
        damaged_reads,
        lateness: lateness.upper_bounds().map(|(upto, count)| api::Bin { upto_ns: upto.as_nanos(), count }).collect(),
    }
}

/// The buckets with responses.
fn bins(responses: &ResponseCounts) -> Vec<api::Bin> {
    let all = responses.buckets().map(|(upto_ns, count)| api::Bin { upto_ns, count });
    all.filter(|bin| bin.count > 0).collect()
}

/// Time at limits. Of several limits of a group the longest counts, because their times may overlap.
fn sum_limited_times(state: &ServiceState, volume: &Volume, totals: &Totals) -> api::LimitedTimes {
    let group = volume.metadata.group.as_ref().and_then(|group| state.groups.get(group));
    let quantities = group.map_or(&[][..], |group| &group.quantities);
    let of_group = |quantity: LimitedQuantity| {
        let stages = quantities.iter().zip(&totals.limited_by_group).filter(|(own, _)| **own == Some(quantity));
        stages.map(|(_, time)| time.length().as_nanos()).max().unwrap_or(0)
    };
    let [operations, bytes] = totals.limited.map(|time| time.length().as_nanos());
    api::LimitedTimes {
        volume_operations_ns: operations,
        volume_bytes_ns: bytes,
        group_operations_ns: of_group(LimitedQuantity::Operations),
        group_bytes_ns: of_group(LimitedQuantity::Bytes),
    }
}

/// Number of replies by the limit that delayed them longest.
fn bound_by(state: &ServiceState, volume: &Volume, totals: &Totals) -> Vec<api::BoundCount> {
    let count = |limit: String, count: u64| api::BoundCount { limit, count };
    let own = totals.bound_by_volume().map(|(name, times)| count(name.to_owned(), times));
    let group = volume.metadata.group.as_ref().and_then(|group| state.groups.get(group));
    let stages = group.into_iter().flat_map(|group| &group.stages);
    let shared = stages.zip(&totals.bound_by_group).map(|(name, times)| count(format!("group: {name}"), *times));
    let fault = count("fault".to_owned(), totals.bound_by_fault);
    own.chain(shared).chain([fault]).filter(|bound| bound.count > 0).collect()
}
