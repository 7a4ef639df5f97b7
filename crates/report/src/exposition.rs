//! Metrics in the text format of Prometheus (0.0.4).

mod run;
mod watch;

use std::fmt::Write;

pub use run::run_metrics;
pub use watch::{WATCH_RULES, watch_metrics};

/// Labels with a value, if it is known.
type LabelledValue<'a> = (Vec<(&'a str, &'a str)>, Option<f64>);

/// Metric families as text.
#[derive(Default)]
struct Exposition {
    text: String,
}

impl Exposition {
    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("writing to a string does not fail");
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> = labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escape(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.put(format_args!("{name}{labels} {value}\n"));
    }

    /// A family without labels, if the value is known.
    fn single(&mut self, name: &str, help: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.family(name, "gauge", help);
            self.sample(name, &[], value);
        }
    }

    /// A family with a sample for each label; without samples it is absent.
    fn labelled(&mut self, (name, kind, help): (&str, &str, &str), samples: &[LabelledValue<'_>]) {
        if samples.iter().all(|(_, value)| value.is_none()) {
            return;
        }
        self.family(name, kind, help);
        for (labels, value) in samples.iter().filter_map(|(labels, value)| Some((labels, (*value)?))) {
            self.sample(name, labels, value);
        }
    }
}

/// A label's value in the text format.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
