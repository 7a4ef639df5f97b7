//! A workload over days and instances: working days with peaks before and after noon, and scans at night.

use jiff::SignedDuration;

use super::Workload;

#[derive(Clone, Debug, PartialEq)]
pub struct DailyWorkload {
    /// Workload of an instance in the busiest window; its begin is that of the first window.
    pub busiest: Workload,
    /// Number of consecutive windows.
    pub windows: u32,
    /// Instances that share the work; the first has the largest part.
    pub instances: u32,
}

/// Percentage of the busiest hour, by hour of the day.
const DAY: [u64; 24] = [8, 6, 5, 5, 6, 10, 20, 45, 80, 95, 100, 90, 70, 80, 92, 88, 75, 60, 45, 35, 28, 22, 16, 12];

/// The same for scans: reports and backups run at night.
const NIGHT: [u64; 24] = [60, 90, 100, 95, 70, 30, 10, 5, 5, 8, 10, 8, 6, 6, 8, 8, 6, 5, 5, 5, 8, 12, 20, 40];

impl DailyWorkload {
    /// Workloads of all windows and instances, in order of time.
    pub fn workloads(&self) -> Vec<Workload> {
        let instances = self.instances.max(1);
        (0..self.windows).flat_map(|window| (0..instances).map(move |instance| self.one(window, instance))).collect()
    }

    fn one(&self, window: u32, instance: u32) -> Workload {
        let busiest = &self.busiest;
        let after = SignedDuration::from_mins(i64::from(window) * i64::from(busiest.minutes));
        let begin = busiest.begin.saturating_add(after);
        let weekend = matches!(begin.date().weekday().to_monday_one_offset(), 6 | 7);
        // The part of an instance falls with its number, and to a third on weekends.
        let part = if weekend { 33 } else { 100 } * 4 / u64::from(4 + instance);
        let hour = begin.hour() as usize % 24;
        let day = |max: u64| scaled(max, DAY[hour] * part);
        let (names, number) = (&busiest.instance, instance + 1);
        Workload {
            instance: if self.instances > 1 { format!("{names}{number}") } else { names.clone() },
            host: if self.instances > 1 { format!("{}{number}", busiest.host) } else { busiest.host.clone() },
            begin,
            single_reads: day(busiest.single_reads),
            several_reads: scaled(busiest.several_reads, NIGHT[hour] * part),
            data_writes: day(busiest.data_writes),
            redo_writes: day(busiest.redo_writes),
            processor_s: day(busiest.processor_s),
            // Half of a wait is queueing, proportional to the utilisation of the storage.
            read_us: busiest.read_us / 2 + scaled(busiest.read_us / 2, DAY[hour] * 100),
            ..busiest.clone()
        }
    }
}

/// Scales by `parts` of 10,000.
fn scaled(max: u64, parts: u64) -> u64 {
    (u128::from(max) * u128::from(parts) / 10_000) as u64
}
