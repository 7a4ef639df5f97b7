//! Answers of the API: `query_range` (a matrix) and `query` (a vector), one or several in a file.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use memchr::memmem;
use serde_json::Value;

use super::metric::metric;
use super::owner::{Chosen, Owner};
use super::rates::{Marks, Nature};
use crate::builder::Builder;
use crate::figure::Origin;
use crate::format::{Form, Input, Resemblance, Takes};
use crate::json;
use crate::kind::Kind;
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::series::{Edge, Points, Said, Spacing};
use crate::snapshot::{Count, Counted, Snapshot};
use crate::timestamp;
use crate::whole::{Whole, WholeFormat};

const KIND: Kind = Kind { id: "prometheus-json", name: "answer of Prometheus" };

/// Answers of Prometheus and of what speaks its language.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Whole::new(Answer { input: input.clone() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let is_json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let values = has("\"values\"") || has("\"value\"");
    match (has("\"resultType\""), has("\"metric\"") && values, has("\"errorType\"") && has("\"status\"")) {
        _ if !is_json => Resemblance::None,
        (true, true, _) => Resemblance::Is { marks: 4 },
        (_, true, _) if has("\"__name__\"") => Resemblance::Is { marks: 3 },
        (true, ..) | (_, _, true) => Resemblance::Is { marks: 2 },
        _ => Resemblance::None,
    }
}

struct Answer {
    input: Input,
}

/// One series of disks.
struct Series {
    owner: Owner,
    counted: Counted,
    unit: f64,
    /// The name says that it is a rate, as names of recording rules do.
    is_rate: bool,
    points: Vec<(DateTime, f64)>,
    line: u64,
    place: String,
}

/// All series of an input, and what of it is none.
#[derive(Default)]
struct Found {
    series: Vec<Series>,
    nameless: usize,
    others: BTreeMap<String, u64>,
}

impl WholeFormat for Answer {
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        let mut found = Found::default();
        for (line, value) in json::documents(KIND, document, out)? {
            if let Some(error) = json::text(&value, &["error"]) {
                out.caution(Some(Origin::line(line)), format!("the query failed ({error}): ask again"));
            }
            found.take_document(&value, line);
        }
        found.check(out)?;
        let chosen = Chosen::of(found.series.iter().map(|series| &series.owner));
        let mut read: BTreeMap<&Owner, u32> = BTreeMap::new();
        for series in &found.series {
            *read.entry(&series.owner).or_default() += series.points.len() as u32;
        }
        chosen.arrays("", out);
        chosen.list(read.into_iter(), out);
        found.series.retain(|series| chosen.takes(&series.owner));
        let (rates, others): (Vec<Series>, Vec<Series>) = found.series.into_iter().partition(|series| series.is_rate);
        let mut marks = Marks::default();
        for series in &others {
            marks.learn(&series.counted, series.points.iter().map(|(_, value)| *value));
        }
        put_rates(&rates, &self.input, out)?;
        match marks.nature() {
            _ if others.is_empty() => Ok(()),
            Nature::Counters => {
                put_counters(&others, out);
                Ok(())
            }
            Nature::Rates => {
                let text = "its values are no counters, which are whole and only rise: they are taken for rates per second, \
                            each of the time since the value before";
                out.caution(None, text);
                put_rates(&others, &self.input, out)
            }
            Nature::Unclear => Err(unusable(
                "whether its values are counters or rates cannot be told: query the counters themselves, without rate(), \
                 over a longer time",
            )),
        }
    }
}

fn unusable(what: &str) -> Refusal {
    Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() }
}

impl Found {
    fn take_document(&mut self, value: &Value, line: u64) {
        let (path, results) = match value {
            Value::Array(list) => ("", list.as_slice()),
            _ => match json::get(value, &["data"]) {
                Some(data) => ("data.result", json::list(data, &["result"])),
                None => ("result", json::list(value, &["result"])),
            },
        };
        for (index, result) in results.iter().enumerate() {
            self.take_series(result, line, &format!("{path}[{index}]"));
        }
    }

    fn take_series(&mut self, result: &Value, line: u64, path: &str) {
        let Some(labels) = json::get(result, &["metric"]) else { return };
        let label = |name: &str| labels.get(name).and_then(Value::as_str);
        let Some(full) = label("__name__") else {
            self.nameless += 1;
            return;
        };
        let (name, is_rate) = match full.split(':').collect::<Vec<_>>().as_slice() {
            [_, name, operation] => (*name, operation.contains("rate")),
            _ => (full, false),
        };
        let Some(metric) = metric(name, label("direction")) else {
            *self.others.entry(full.to_owned()).or_default() += 1;
            return;
        };
        let owner = Owner::new(metric.family, label);
        let values = json::list(result, &["values"]).iter().chain(result.get("value"));
        let mut points: Vec<(DateTime, f64)> = values.filter_map(point).collect();
        points.sort_by_key(|(at, _)| *at);
        points.dedup_by_key(|(at, _)| *at);
        let place = format!("{path} {full}{{{}}}", owner.device);
        self.series.push(Series { owner, counted: metric.counted, unit: metric.unit, is_rate, points, line, place });
    }

    /// Says what is missing, and what was not used.
    fn check(&self, out: &mut Builder) -> Result<(), Refusal> {
        let nameless = "it has series without names, as rate() and sums leave them, and nobody can tell what they count: query \
                        the counters by name, such as node_disk_reads_completed_total, without functions";
        if self.series.iter().all(|series| series.points.is_empty()) {
            return Err(unusable(match (self.nameless, self.others.keys().next()) {
                (1.., _) => nameless,
                (_, Some(_)) => "none of its metrics counts operations of disks: query node_disk_* of node_exporter",
                _ => "it has no values: did the query find anything?",
            }));
        }
        if self.nameless > 0 {
            out.caution(None, nameless);
        }
        for (name, count) in &self.others {
            out.part(format!("{name} ({count} series)"), Fate::Ignored);
        }
        Ok(())
    }
}

/// `[seconds, "value"]`
fn point(pair: &Value) -> Option<(DateTime, f64)> {
    let [seconds, value] = pair.as_array()?.as_slice() else { return None };
    let value = json::number(value).filter(|value| value.is_finite())?;
    Some((timestamp::of_unix(json::number(seconds)?)?, value))
}

fn put_rates(rates: &[Series], input: &Input, out: &mut Builder) -> Result<(), Refusal> {
    let (mut points, mut spacing) = (Points::default(), Spacing::default());
    for series in rates {
        let scope = out.scope(series.owner.scope(""));
        spacing.learn(series.points.iter().map(|(at, _)| *at));
        for (index, (at, value)) in series.points.iter().enumerate() {
            let origin = origin(series, index, out);
            points.add(*at, scope, Said::Rate(series.counted.clone()), value * series.unit, origin);
        }
    }
    if points.is_empty() {
        return Ok(());
    }
    let Some(length) = spacing.length(input.interval) else {
        return Err(unusable(
            "one value of each series, and no word of the time that it is a rate of: say the interval",
        ));
    };
    points.put(length, Edge::End, out);
    Ok(())
}

/// Counters become snapshots, moment by moment.
fn put_counters(counters: &[Series], out: &mut Builder) {
    let mut by_moment: BTreeMap<DateTime, BTreeMap<u32, Vec<Count>>> = BTreeMap::new();
    for series in counters {
        let scope = out.scope(series.owner.scope(""));
        for (index, (at, value)) in series.points.iter().enumerate() {
            let counts = by_moment.entry(*at).or_default().entry(scope).or_default();
            if counts.iter().all(|count| count.counted != series.counted) {
                let (counted, value) = (series.counted.clone(), value * series.unit);
                counts.push(Count { counted, value, wraps_at: None, origin: origin(series, index, out) });
            }
        }
    }
    for (at, scopes) in by_moment {
        for (scope, counts) in scopes {
            let origin = counts[0].origin.clone();
            out.snapshot(Snapshot { scope, at: Some(at), age: None, counts, origin });
        }
    }
}

fn origin(series: &Series, index: usize, out: &mut Builder) -> Origin {
    out.origin(series.line, &series.place, &format!("values[{index}]"))
}
