//! What the blocks say, put together by snapshot.

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use super::KIND;
use super::block::Row;
use crate::builder::Builder;
use crate::figure::{Class, Measure, Statistic};
use crate::refusal::Refusal;
use crate::timestamp::{self, Stamp};

/// A database over time.
#[derive(Default)]
pub(super) struct History {
    pub(super) database: String,
    pub(super) hosts: Vec<String>,
    /// Names and numbers of `OS-INFORMATION` and of the parameters.
    pub(super) numbers: BTreeMap<String, (f64, u64)>,
    /// Processors and cores by instance, as last said.
    pub(super) processors: BTreeMap<String, (Option<f64>, Option<f64>)>,
    pub(super) snapshots: BTreeMap<u64, Snapshot>,
    /// Rows of all blocks.
    rows: usize,
}

/// One snapshot.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) instances: Vec<Instance>,
    /// Operations by function: small reads and writes, large reads and writes.
    pub(super) functions: Vec<(String, [Option<f64>; 4], u64)>,
    pub(super) events: BTreeMap<String, Event>,
    /// Reads a second of all instances, as another source counted them.
    pub(super) reads_s: Option<(f64, u64)>,
}

/// An instance in the window before a snapshot.
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) end: DateTime,
    pub(super) seconds: f64,
    pub(super) line: u64,
    pub(super) figures: Vec<(Class, Measure, Statistic, f64, &'static str)>,
    /// Sessions that worked or waited, in the mean, and those on a processor.
    pub(super) sessions: Option<f64>,
    pub(super) on_processor: Option<f64>,
    pub(super) commits_s: Option<f64>,
}

/// What was waited for.
#[derive(Default)]
pub(super) struct Event {
    pub(super) class: String,
    /// Upper bounds in milliseconds, and how many waits were shorter.
    pub(super) buckets: Vec<(f64, f64)>,
    /// Time in all and its share of the database's time, where it was among the first.
    pub(super) total: Option<(f64, f64)>,
    pub(super) line: u64,
}

const MIB: f64 = 1_048_576.0;

/// Columns of `MAIN-METRICS`, what they measure, and their unit.
const METRICS: [(&str, Class, Measure, Statistic, f64); 9] = [
    ("read_iops", Class::Read, Measure::Iops, Statistic::Mean, 1.0),
    ("read_iops_max", Class::Read, Measure::Iops, Statistic::Maximum, 1.0),
    ("read_mb_s", Class::Read, Measure::Throughput, Statistic::Mean, MIB),
    ("read_mb_s_max", Class::Read, Measure::Throughput, Statistic::Maximum, MIB),
    ("write_iops", Class::Write, Measure::Iops, Statistic::Mean, 1.0),
    ("write_iops_max", Class::Write, Measure::Iops, Statistic::Maximum, 1.0),
    ("write_mb_s", Class::Write, Measure::Throughput, Statistic::Mean, MIB),
    ("write_mb_s_max", Class::Write, Measure::Throughput, Statistic::Maximum, MIB),
    ("redo_mb_s", Class::RedoWrite, Measure::Throughput, Statistic::Mean, MIB),
];

impl History {
    /// Takes a row of whatever block.
    pub(super) fn take(&mut self, row: &Row<'_>, out: &mut Builder) -> Result<(), Refusal> {
        const MOST_ROWS: usize = 4 << 20;
        self.rows += 1;
        if self.rows > MOST_ROWS {
            let what = format!("more than {MOST_ROWS} rows: give it in parts");
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        }
        match row.block {
            "OS-INFORMATION" => self.name(row, out),
            "DATABASE-PARAMETERS" => self.keep(row, row.text("parameter_name"), row.number("value")),
            "OSSTAT" => {
                let instance = row.text("instance_number").to_owned();
                self.processors.insert(instance, (row.number("cpus"), row.number("cores")));
            }
            "MAIN-METRICS" => self.metrics(row, out),
            _ => self.of_snapshot(row),
        }
        Ok(())
    }

    fn name(&mut self, row: &Row<'_>, out: &mut Builder) {
        let value = row.text("stat_value");
        match row.text("stat_name") {
            "DB_NAME" => value.clone_into(&mut self.database),
            "VERSION" => out.version(value),
            "HOSTS" => self.hosts = value.split(',').map(|host| host.trim().to_owned()).collect(),
            name => self.keep(row, name, row.number("stat_value")),
        }
    }

    fn keep(&mut self, row: &Row<'_>, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.numbers.insert(name.to_owned(), (value, row.line));
        }
    }

    fn metrics(&mut self, row: &Row<'_>, out: &mut Builder) {
        let minutes = row.number("dur_m").filter(|minutes| *minutes > 0.0);
        let (Some(number), Some(minutes), Some(end)) = (snapshot(row), minutes, time(row.text("end"))) else {
            let origin = out.origin(row.line, row.block, "");
            return out.caution(Some(origin), "a row without snapshot, minutes or end: left out");
        };
        let found = METRICS.iter().filter_map(|(column, class, measure, statistic, unit)| {
            Some((*class, *measure, *statistic, row.number(column)? * unit, *column))
        });
        self.snapshots.entry(number).or_default().instances.push(Instance {
            name: row.text("inst").to_owned(),
            end: out.instant(end),
            seconds: minutes * 60.0,
            line: row.line,
            figures: found.collect(),
            sessions: row.number("aas"),
            on_processor: row.number("cpu_per_s"),
            commits_s: row.number("commits_s"),
        });
    }

    /// Blocks of the whole database come after that of its instances: of other snapshots nothing is known.
    fn of_snapshot(&mut self, row: &Row<'_>) {
        let Some(snapshot) = snapshot(row).and_then(|number| self.snapshots.get_mut(&number)) else { return };
        match row.block {
            "IO-WAIT-HISTOGRAM" => {
                let (Some(bound), Some(count)) = (row.number("wait_time_milli"), row.number("wait_count")) else {
                    return;
                };
                let event = snapshot.event(row);
                // A counter that went back has no count.
                if count > 0.0 {
                    event.buckets.push((bound, count));
                }
            }
            "TOP-N-TIMED-EVENTS" => {
                let total = row.number("total_time_s").zip(row.number("pctdbt"));
                snapshot.event(row).total = total.filter(|(total, share)| *total > 0.0 && *share > 0.0);
            }
            "IOSTAT-BY-FUNCTION" => {
                let counts = ["sm_r_reqs", "sm_w_reqs", "lg_r_reqs", "lg_w_reqs"].map(|column| row.number(column));
                let name = row.text("function_name").to_owned();
                snapshot.functions.push((name, counts, row.line));
            }
            "SYSSTAT" => snapshot.reads_s = row.number("read_iops").map(|reads| (reads, row.line)),
            _ => {}
        }
    }
}

impl Snapshot {
    fn event(&mut self, row: &Row<'_>) -> &mut Event {
        let event = self.events.entry(row.text("event_name").to_owned()).or_default();
        row.text("wait_class").clone_into(&mut event.class);
        event.line = row.line;
        event
    }

    /// Seconds of sessions of all instances.
    pub(super) fn database_s(&self) -> Option<f64> {
        let all: Option<Vec<f64>> =
            self.instances.iter().map(|instance| Some(instance.sessions? * instance.seconds)).collect();
        all.map(|all| all.iter().sum())
    }
}

impl Instance {
    pub(super) fn begin(&self) -> Option<DateTime> {
        timestamp::later(self.end, -self.seconds)
    }
}

fn snapshot(row: &Row<'_>) -> Option<u64> {
    let text = if row.text("snap").is_empty() { row.text("snap_id") } else { row.text("snap") };
    text.parse().ok()
}

/// `13/05/09 13:52`, the year first.
fn time(text: &str) -> Option<Stamp> {
    let is_short = text.as_bytes().get(2) == Some(&b'/');
    timestamp::parse(&if is_short { format!("20{text}") } else { text.to_owned() })
}
