//! The work of a subject by part: statements and files, with counts other than operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::InputPosition;
use crate::reading::{Class, Measure, Origin, Reading, Statistic, WindowCount};

/// The work of a part in all windows that contain it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartWork {
    /// Its name: `statement` or `segment` and its identifier, or a file; empty for the whole.
    pub part: String,
    /// Seconds of the windows.
    pub seconds: f64,
    pub reads: f64,
    /// Bytes read.
    pub bytes_read: f64,
    /// Total seconds of reads, as far as known.
    pub read_s: f64,
    pub writes: f64,
    /// Bytes written.
    pub bytes_written: f64,
    /// Sums of [`crate::WindowCount`] by name.
    pub tallies: BTreeMap<&'static str, f64>,
    /// Its first place in an input.
    pub place: InputPosition,
}

impl PartWork {
    /// The sum of a tally, if known.
    pub fn tally(&self, name: &str) -> Option<f64> {
        self.tallies.get(name).copied()
    }
}

/// The works of the scopes selected by `is_meant`, the whole first, from readings that divide them. Empty without parts
/// and tallies.
pub(super) fn collect_works(readings: &[&Reading], is_meant: impl Fn(&Reading, u32) -> bool) -> Vec<PartWork> {
    let mut works = Works::default();
    for reading in readings.iter().filter(|reading| reading.is_divided || !reading.tallies.is_empty()) {
        works.add(reading, |scope| is_meant(reading, scope));
    }
    let is_divided = |work: &PartWork| !work.part.is_empty() || !work.tallies.is_empty();
    if works.0.values().any(is_divided) { works.0.into_values().collect() } else { Vec::new() }
}

#[derive(Default)]
struct Works(BTreeMap<String, PartWork>);

impl Works {
    fn add(&mut self, reading: &Reading, is_meant: impl Fn(u32) -> bool) {
        let input: Arc<str> = Arc::from(reading.name.as_str());
        // Rates precede the latencies of their scope, window and class.
        let mut rate = (u32::MAX, 0, Class::All, 0.0);
        for figure in reading.figures.iter().filter(|figure| is_meant(figure.scope)) {
            // Parts of readings that do not divide the whole are places, such as tablespaces.
            let is_place = !reading.is_divided && !reading.scopes[figure.scope as usize].part.is_empty();
            let is_mean = matches!(figure.class, Class::Read | Class::Write) && figure.statistic == Statistic::Mean;
            if is_place || !is_mean {
                continue;
            }
            let seconds = reading.windows[figure.window as usize].length.as_secs_f64();
            let amount = figure.value * seconds;
            let of_rate = (rate.0, rate.1, rate.2) == (figure.scope, figure.window, figure.class);
            let work = self.get(reading, &input, figure.scope, &figure.origin);
            match (figure.measure, figure.class) {
                (Measure::Iops, Class::Read) => {
                    work.reads += amount;
                    work.seconds += seconds;
                }
                (Measure::Iops, _) => work.writes += amount,
                (Measure::Throughput, Class::Read) => work.bytes_read += amount,
                (Measure::Throughput, _) => work.bytes_written += amount,
                (Measure::Latency, Class::Read) if of_rate => work.read_s += rate.3 * figure.value,
                _ => {}
            }
            if figure.measure == Measure::Iops {
                rate = (figure.scope, figure.window, figure.class, amount);
            }
        }
        for tally in reading.tallies.iter().filter(|tally| is_meant(tally.scope)) {
            let work = self.get(reading, &input, tally.scope, &tally.origin);
            match tally.name {
                WindowCount::READ_REQUESTS => work.reads += tally.value,
                WindowCount::READ_BYTES => work.bytes_read += tally.value,
                name => *work.tallies.entry(name).or_default() += tally.value,
            }
        }
    }

    fn get(&mut self, reading: &Reading, input: &Arc<str>, scope: u32, origin: &Origin) -> &mut PartWork {
        let part = &reading.scopes[scope as usize].part;
        let place = || InputPosition { input: Arc::clone(input), origin: origin.clone() };
        let new = || PartWork { part: part.clone(), place: place(), ..PartWork::default() };
        self.0.entry(part.clone()).or_insert_with(new)
    }
}
