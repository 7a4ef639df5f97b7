//! Metrics as a request of OTLP/HTTP in its JSON encoding (OpenTelemetry Protocol 1.x): names in camelCase, 64-bit
//! integers as text.

use serde_json::{Value, json};

use super::{Exposition, MetricFamily};

/// Values are cumulative since the start (`AGGREGATION_TEMPORALITY_CUMULATIVE`).
const CUMULATIVE: u8 = 2;

/// Times of values, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct OtlpTimes {
    pub start_unix_ns: u64,
    pub now_unix_ns: u64,
}

impl Exposition {
    /// An `ExportMetricsServiceRequest` in JSON. Infinite values are omitted: JSON has no number for them.
    pub fn otlp(&self, times: OtlpTimes) -> Vec<u8> {
        let metrics: Vec<Value> = self.families.iter().map(|family| write_metric(family, times)).collect();
        let version = env!("CARGO_PKG_VERSION");
        let resource = [attribute("service.name", "plimsoll"), attribute("service.version", version)];
        let request = json!({ "resourceMetrics": [{
            "resource": { "attributes": resource },
            "scopeMetrics": [{ "scope": { "name": "plimsoll", "version": version }, "metrics": metrics }],
        }] });
        request.to_string().into_bytes()
    }
}

fn write_metric(family: &MetricFamily, times: OtlpTimes) -> Value {
    let finite = family.samples.iter().filter(|sample| sample.value.is_finite());
    let points: Vec<Value> = finite
        .map(|sample| {
            let attributes: Vec<Value> = sample.labels.iter().map(|(key, value)| attribute(key, value)).collect();
            json!({
                "attributes": attributes,
                "startTimeUnixNano": times.start_unix_ns.to_string(),
                "timeUnixNano": times.now_unix_ns.to_string(),
                "asDouble": sample.value,
            })
        })
        .collect();
    let (kind, data) = if family.kind == "counter" {
        ("sum", json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true }))
    } else {
        ("gauge", json!({ "dataPoints": points }))
    };
    json!({ "name": family.name, "description": family.help, "unit": unit(family.name), kind: data })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// The unit that the name ends in, in the notation of UCUM; empty for counts, flags, and values whose labels have the unit.
fn unit(name: &str) -> &'static str {
    let units = [("_bytes_per_second", "By/s"), ("_seconds", "s"), ("_ratio", "1"), ("_iops", "{operation}/s")];
    let name = name.trim_end_matches("_total");
    units.iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        let mut page = Exposition::default();
        page.single("a_ratio", "A.", Some(-0.0));
        assert!(page.text().ends_with("\na_ratio 0\n"), "{}", page.text());
    }

    #[test]
    fn counters_are_monotonic_sums_and_units_follow_names() {
        let mut page = Exposition::default();
        page.labelled(("a_seconds_total", "counter", "A."), &[(vec![("limit", "x")], Some(1.5))]);
        page.labelled(("b_iops", "gauge", "B."), &[(vec![], Some(f64::INFINITY)), (vec![], None)]);
        let times = OtlpTimes { start_unix_ns: 1, now_unix_ns: 1_800_000_000_000_000_000 };
        let request: Value = serde_json::from_slice(&page.otlp(times)).unwrap();
        let metrics = &request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        assert_eq!(metrics[0]["unit"], "s");
        let sum = &metrics[0]["sum"];
        assert_eq!((&sum["isMonotonic"], &sum["aggregationTemporality"]), (&json!(true), &json!(2)));
        assert_eq!(
            sum["dataPoints"][0],
            json!({
                "attributes": [{ "key": "limit", "value": { "stringValue": "x" } }],
                "startTimeUnixNano": "1",
                "timeUnixNano": "1800000000000000000",
                "asDouble": 1.5,
            })
        );
        assert_eq!(metrics[1]["unit"], "{operation}/s");
        assert_eq!(metrics[1]["gauge"]["dataPoints"], json!([]));
    }
}
