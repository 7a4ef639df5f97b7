//! Metrics: as text for Prometheus (format 0.0.4), and as a request of OTLP.

mod otlp;
mod run;
mod watch;

use std::fmt::Write;

pub use otlp::OtlpTimes;
pub use run::run_metrics;
pub use watch::{WATCH_RULES, watch_metrics};

/// Labels with a value, if it is known.
type LabelledValue<'a> = (Vec<(&'static str, &'a str)>, Option<f64>);

/// Metric families.
#[derive(Clone, Debug, Default)]
pub struct Exposition {
    families: Vec<MetricFamily>,
}

/// Samples of a metric with different labels.
#[derive(Clone, Debug)]
struct MetricFamily {
    name: &'static str,
    /// `gauge` or `counter`.
    kind: &'static str,
    help: &'static str,
    samples: Vec<MetricSample>,
}

#[derive(Clone, Debug)]
struct MetricSample {
    labels: Vec<(&'static str, String)>,
    value: f64,
}

impl Exposition {
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut put = |line: std::fmt::Arguments<'_>| text.write_fmt(line).expect("writing to a string does not fail");
        for MetricFamily { name, kind, help, samples } in &self.families {
            put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
            for MetricSample { labels, value } in samples {
                let labels: Vec<String> =
                    labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escape(text))).collect();
                let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                put(format_args!("{name}{labels} {value}\n"));
            }
        }
        text
    }

    /// A family without labels, if the value is known.
    fn single(&mut self, name: &'static str, help: &'static str, value: Option<f64>) {
        self.labelled((name, "gauge", help), &[(Vec::new(), value)]);
    }

    /// A family with a sample for each label; without samples it is absent. Zero has no sign.
    fn labelled(
        &mut self,
        (name, kind, help): (&'static str, &'static str, &'static str),
        samples: &[LabelledValue<'_>],
    ) {
        let own =
            |labels: &[(&'static str, &str)]| labels.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        let sample =
            |(labels, value): &LabelledValue<'_>| Some(MetricSample { labels: own(labels), value: (*value)? + 0.0 });
        let samples: Vec<MetricSample> = samples.iter().filter_map(sample).collect();
        if !samples.is_empty() {
            self.families.push(MetricFamily { name, kind, help, samples });
        }
    }
}

/// A label's value in the text format.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
