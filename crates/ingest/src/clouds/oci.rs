//! OCI Monitoring: `summarize-metrics-data` of block volumes and instances, as the command line or the API answers.

use memchr::memmem;
use serde_json::Value;

use super::{Series, Volumes, direction};
use crate::builder::Builder;
use crate::figure::{Origin, Scope};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::json;
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::series::Said;
use crate::snapshot::Counted;
use crate::timestamp;
use crate::whole::{Whole, WholeFormat};

const KIND: Kind = Kind { id: "oci-monitoring", name: "OCI Monitoring" };

/// Answers of OCI Monitoring.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Whole::new(Oci { input: input.clone(), volumes: Volumes::default() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let points = has("\"aggregated-datapoints\"") || has("\"aggregatedDatapoints\"");
    match (points, has("\"oci_blockstore\"") || has("\"oci_computeagent\"")) {
        _ if !matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) => Resemblance::None,
        (true, _) => Resemblance::Is { marks: 4 },
        (false, true) => Resemblance::Near { marks: 2, missing: "aggregated datapoints" },
        _ => Resemblance::None,
    }
}

struct Oci {
    input: Input,
    volumes: Volumes,
}

impl WholeFormat for Oci {
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        for (line, value) in json::documents(KIND, document, out)? {
            let (path, list) = match &value {
                Value::Array(list) => ("", list.as_slice()),
                _ => ("data", json::list(&value, &["data", "items"])),
            };
            for (index, metric) in list.iter().enumerate() {
                self.take_metric(metric, line, &format!("{path}[{index}]"), out);
            }
        }
        self.volumes.drop_other_statistics("query with .sum()", out);
        if !self.volumes.series.is_empty() {
            let text =
                "the answer does not say its statistic: values are taken for sums of each interval, as .sum() gives";
            out.caution(None, text);
        }
        std::mem::take(&mut self.volumes).put(KIND, self.input.interval, out)
    }
}

impl Oci {
    fn take_metric(&mut self, metric: &Value, line: u64, path: &str, out: &mut Builder) {
        let name = json::text(metric, &["name"]).unwrap_or_default();
        let dimensions = json::get(metric, &["dimensions"]);
        let dimension = |key: &str| dimensions.and_then(|of| of.get(key)).and_then(Value::as_str);
        let owner = dimension("resourceDisplayName").or_else(|| dimension("resourceId")).unwrap_or_default();
        let datapoints = json::list(metric, &["aggregated-datapoints"]);
        let points = datapoints.iter().enumerate().filter_map(|(index, point)| {
            let at = out.instant(json::text(point, &["timestamp"]).and_then(timestamp::parse)?);
            let value = json::number(json::get(point, &["value"])?)?;
            Some((at, value, out.origin(line, name, &format!("{path}.aggregated-datapoints[{index}]"))))
        });
        let points: Vec<_> = points.collect();
        if name == "VolumeThrottledIOs" && points.iter().any(|(_, value, _)| *value > 0.0) {
            let text = format!("{owner} was throttled at times: more was asked of it than these figures say");
            out.caution_once(Some(Origin::line(line)), &text);
        }
        let Some(counted) = counted(name) else { return self.volumes.ignore(name) };
        // A metric of an instance is of all its disks.
        let scope = if name.starts_with("Disk") {
            Scope { host: owner.to_owned(), ..Scope::default() }
        } else {
            Scope { part: owner.to_owned(), ..Scope::default() }
        };
        let scope = out.scope(scope);
        self.volumes.add(Series { name: format!("{name} {owner}"), scope, said: Said::Sum(counted), points });
    }
}

fn counted(name: &str) -> Option<Counted> {
    let class = direction(&name.to_lowercase());
    Some(match name {
        "VolumeReadOps" | "VolumeWriteOps" | "DiskIopsRead" | "DiskIopsWritten" => Counted::Operations(class),
        "VolumeReadThroughput" | "VolumeWriteThroughput" | "DiskBytesRead" | "DiskBytesWritten" => {
            Counted::Bytes(class)
        }
        _ => return None,
    })
}
