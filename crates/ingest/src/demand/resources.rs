//! Memory and processors of a database's instances and hosts: the highest of all windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_units::Span;

use super::InputPosition;
use crate::reading::{DatabaseTime, HostTime, Reading, Resource, ResourceFigure};

/// Memory or processors of an instance: the highest of all windows.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceResource {
    /// The instance; empty if unknown.
    pub instance: String,
    /// The quantity, with its unit.
    pub resource: Resource,
    pub value: f64,
    pub window: Span,
    pub place: InputPosition,
}

/// Scans that storage cells filter for an instance in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceFiltering {
    /// Filtered bytes per second.
    pub filtered: InstanceResource,
    /// Processors that the instance used in the same window, where known.
    pub processors: Option<f64>,
}

/// Mean load of the processors of a subject's hosts, over all inputs with it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLoad {
    /// Share of their time on which programs ran, 0 to 1.
    pub busy: f64,
    /// Share of their time that they were idle with I/O in flight, 0 to 1; none if an input lacks it.
    pub io_wait: Option<f64>,
    /// Bytes per second that a host paged in, and out, for virtual memory: the mean over windows and hosts; none if an input lacks
    /// it.
    pub paged_bytes_s: Option<[f64; 2]>,
    /// The place of the first host.
    pub place: InputPosition,
}

/// True if a host that pages these bytes per second in and out lacks memory.
pub fn is_short_of_memory([paged_in, paged_out]: [f64; 2]) -> bool {
    /// 25 pages of 4 kB: idle memory is paged out without harm.
    const MIN_BYTES_S: f64 = 100e3;
    /// Minimum ratio of page-outs to page-ins: on systems that count pages of files, many more are read.
    const MIN_OUT: f64 = 0.1;
    paged_in.min(paged_out) >= MIN_BYTES_S && paged_out >= MIN_OUT * paged_in
}

/// The load of the hosts in the scopes selected by `is_own`.
pub(super) fn host_load(readings: &[&Reading], is_own: impl Fn(&Reading, u32) -> bool) -> Option<HostLoad> {
    let all = readings.iter().flat_map(|reading| reading.hosts.iter().map(move |host| (reading, host)));
    let own: Vec<(&&Reading, &HostTime)> = all.filter(|(reading, host)| is_own(reading, host.scope)).collect();
    let (first, host) = own.first()?;
    let sum = |of: fn(&HostTime) -> Option<f64>| own.iter().map(|(_, host)| of(host)).sum::<Option<f64>>();
    let (busy_s, idle_s) = (sum(|host| Some(host.busy_s))?, sum(|host| Some(host.idle_s))?);
    let all_s = busy_s + idle_s;
    let seconds: f64 = own.iter().map(|(of, host)| of.windows[host.window as usize].length.as_secs_f64()).sum();
    let paged = sum(|host| Some(host.paged_bytes?[0])).zip(sum(|host| Some(host.paged_bytes?[1])));
    (all_s > 0.0).then(|| HostLoad {
        busy: busy_s / all_s,
        io_wait: sum(|host| host.io_wait_s).map(|io_wait_s| io_wait_s / all_s),
        paged_bytes_s: paged
            .filter(|_| seconds > 0.0)
            .map(|(bytes_in, bytes_out)| [bytes_in / seconds, bytes_out / seconds]),
        place: InputPosition { input: Arc::from(first.name.as_str()), origin: host.origin.clone() },
    })
}

/// The highest value of each resource of each instance in the scopes selected by `is_own`, without filtered bytes, and the
/// filtered bytes of each instance in each window.
pub(super) fn resources(
    readings: &[&Reading],
    is_own: impl Fn(&Reading, u32) -> bool,
) -> (Vec<InstanceResource>, Vec<InstanceFiltering>) {
    let mut highest: BTreeMap<(String, Resource), InstanceResource> = BTreeMap::new();
    let mut filtering = Vec::new();
    for reading in readings {
        let input: Arc<str> = Arc::from(reading.name.as_str());
        let figures = collect_resources(reading);
        let processors: BTreeMap<(u32, u32, &str), f64> = figures
            .iter()
            .filter(|figure| figure.resource == Resource::Processors)
            .map(|figure| ((figure.scope, figure.window, figure.instance.as_str()), figure.value))
            .collect();
        for figure in figures.iter().filter(|figure| is_own(reading, figure.scope)) {
            let instance = if figure.instance.is_empty() {
                reading.scopes[figure.scope as usize].instance.clone()
            } else {
                figure.instance.clone()
            };
            let key = (instance.clone(), figure.resource);
            let is_filtering = figure.resource == Resource::FilteredBytes;
            if !is_filtering && highest.get(&key).is_some_and(|highest| highest.value >= figure.value) {
                continue;
            }
            let place = InputPosition { input: Arc::clone(&input), origin: figure.origin.clone() };
            let window = reading.windows[figure.window as usize].length;
            let found = InstanceResource { instance, resource: figure.resource, value: figure.value, window, place };
            if is_filtering {
                let processors = processors.get(&(figure.scope, figure.window, figure.instance.as_str())).copied();
                filtering.push(InstanceFiltering { filtered: found, processors });
            } else {
                highest.insert(key, found);
            }
        }
    }
    (highest.into_values().collect(), filtering)
}

/// The resources of a reading; without processors in use, those that its sessions used.
fn collect_resources(reading: &Reading) -> Vec<ResourceFigure> {
    let mut figures = reading.resources.clone();
    if !figures.iter().any(|figure| figure.resource == Resource::Processors) {
        let of_time = |time: &DatabaseTime| {
            let seconds = reading.windows[time.window as usize].length.as_secs_f64();
            let value = time.processor_s.filter(|_| seconds > 0.0)? / seconds;
            let (scope, window, origin) = (time.scope, time.window, time.origin.clone());
            let resource = Resource::Processors;
            Some(ResourceFigure { scope, window, instance: String::new(), resource, value, origin })
        };
        figures.extend(reading.times.iter().filter_map(of_time));
    }
    figures
}
