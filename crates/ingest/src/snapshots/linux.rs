//! Snapshots of a Linux host: its block devices, as `/proc/diskstats` counts them, and the time tasks were stalled.
//!
//! Devices of the lowest layer were collected, and arrays of software RAID, which count instead of their disks: what lies
//! above would count the same operations again.

use serde_json::{Map, Value};

use super::{at, number, span};
use crate::builder::Builder;
use crate::counters::Counters;
use crate::figure::{Class, Origin, Scope};
use crate::layers::{self, Layer};
use crate::reading::Fate;
use crate::snapshot::{Counted, Snapshot};

/// Bytes of a sector in `/proc/diskstats`, whatever the device has.
const SECTOR: f64 = 512.0;

/// What the head says of devices.
pub(super) fn head(head: &Map<String, Value>, scope: &Scope, out: &mut Builder) {
    for (array, members) in head.get("arrays").and_then(Value::as_object).into_iter().flatten() {
        let members: Vec<&str> = members.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for member in &members {
            let scope = out.scope(Scope { part: (*member).to_owned(), ..scope.clone() });
            out.set_beneath(scope);
        }
        let text = format!(
            "operations are counted at the software RAID {array}, and its disks {} are left out of totals; --only counts \
             one device alone",
            members.join(", "),
        );
        out.caution(None, text);
    }
    for name in head.get("left_out").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        out.part(name, Fate::Ignored);
    }
    for name in head.get("devices").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name) {
        out.part(name.as_str(), Fate::Read(0));
    }
}

/// Takes the counters of one moment.
pub(super) fn sample(scope: &Scope, object: &Map<String, Value>, line: u64, out: &mut Builder) {
    let (at, age) = (at(object).map(|at| out.instant(at)), number(object, "uptime_s").and_then(span));
    let devices = object.get("devices").and_then(Value::as_object).into_iter().flatten();
    for (name, device) in devices {
        let Some(device) = device.as_object() else { continue };
        let scope = out.scope(Scope { part: name.clone(), ..scope.clone() });
        let counts = device_counters(name, device, line).counts(None, out);
        out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
    }
    let pressure = pressure(object, line);
    if !pressure.is_empty() {
        // No storage is asked for by these: they are waits of the host as a whole.
        let (scope, counts) = (out.scope(scope.clone()), pressure.counts(None, out));
        out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
    }
}

fn device_counters(name: &str, device: &Map<String, Value>, line: u64) -> Counters {
    let mut counters = Counters::default();
    // Older kernels do not time the operations of arrays.
    let timed = ["ms_reading", "ms_writing"].iter().any(|field| number(device, field) > Some(0.0));
    let untimed = !timed && layers::whole(name) == Some(Layer::Array);
    let mut add = |counted: Counted, field: &'static str, scale: f64| {
        if untimed && counted.is_time() {
            return;
        }
        counters.add(counted, number(device, field).map(|value| value * scale), (line, "devices", field));
    };
    for (class, operations, sectors, milliseconds) in [
        (Class::Read, "reads", "sectors_read", "ms_reading"),
        (Class::Write, "writes", "sectors_written", "ms_writing"),
        (Class::Discard, "discards", "sectors_discarded", "ms_discarding"),
    ] {
        add(Counted::Operations(class), operations, 1.0);
        add(Counted::Bytes(class), sectors, SECTOR);
        add(Counted::OperationSeconds(class), milliseconds, 1e-3);
    }
    add(Counted::Operations(Class::Flush), "flushes", 1.0);
    add(Counted::OperationSeconds(Class::Flush), "ms_flushing", 1e-3);
    add(Counted::BusySeconds(Class::All), "ms_busy", 1e-3);
    add(Counted::QueueSeconds(Class::All), "ms_weighted", 1e-3);
    counters
}

/// Seconds in which some task, or all of them, stood still for storage.
fn pressure(object: &Map<String, Value>, line: u64) -> Counters {
    let mut counters = Counters::default();
    let Some(pressure) = object.get("pressure_io").and_then(Value::as_object) else { return counters };
    for (field, event) in [("some_us", "io pressure, some tasks"), ("full_us", "io pressure, all tasks")] {
        let seconds = number(pressure, field).map(|micros| micros / 1e6);
        counters.add(Counted::WaitSeconds(event.to_owned()), seconds, (line, "pressure_io", field));
    }
    counters
}
