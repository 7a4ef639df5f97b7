//! Expositions: what an exporter answers when it is asked for its metrics, once or several times.
//!
//! Between two of them nothing may stand: a series that comes again begins the next one.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use super::metric::{Family, metric};
use super::owner::{Chosen, Owner};
use crate::builder::Builder;
use crate::figure::{Origin, Window};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::refusal::Refusal;
use crate::snapshot::{Count, Counted, Snapshot};
use crate::timestamp;

const KIND: Kind = Kind { id: "prometheus-text", name: "metrics of an exporter" };

/// Metrics as exporters print them.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Lines::new(Text { input: input.clone(), ..Text::default() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let text = String::from_utf8_lossy(head);
    let (mut typed, mut disks, mut samples, mut others) = (0, 0, 0, 0);
    for line in text.lines().take(2_000) {
        if line.starts_with("# TYPE ") || line.starts_with("# HELP ") {
            typed += 1;
        } else if let Some(sample) = sample(line) {
            samples += 1;
            disks += u32::from(metric(sample.name, None).is_some());
        } else {
            others += u32::from(!line.is_empty() && !line.starts_with('#'));
        }
    }
    match (typed, disks, samples) {
        (_, 1.., _) => Resemblance::Is { marks: 4 },
        (2.., _, 1..) => Resemblance::Is { marks: 2 },
        // Without its comments; the last line may be cut.
        (0, _, 100..) if others <= 1 && text.contains('{') => Resemblance::Is { marks: 1 },
        (1.., ..) => Resemblance::Near { marks: 1, missing: "sample below its TYPE lines" },
        _ => Resemblance::None,
    }
}

/// A line such as `name{label="value"} 12 1700000000000`.
struct Sample<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
    at: Option<DateTime>,
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let name_end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(name_end);
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => rest.split_at_checked(labels_end(rest)?)?,
        None => ("", rest),
    };
    let mut words = rest.trim_start_matches('}').split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    let at = words.next().and_then(|word| word.parse().ok());
    let at = at.and_then(|number| timestamp::of_unix(number).or_else(|| timestamp::of_unix(number / 1e3)));
    is_name.then_some(Sample { name, labels, value, at })
}

/// Where the closing brace stands.
fn labels_end(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return true,
            _ => {}
        }
        false
    })
}

/// The value of one label; with escapes as they stand, which no device has.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = labels;
    loop {
        let (key, after) = rest.split_once("=\"")?;
        let end = labels_value_end(after)?;
        if key.trim_matches([',', ' ']) == name {
            return after.get(..end);
        }
        rest = after.get(end + 1..)?;
    }
}

fn labels_value_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

#[derive(Default)]
struct Text {
    input: Input,
    /// The exposition at hand.
    counts: BTreeMap<Owner, Vec<Count>>,
    times: Times,
    host: String,
    /// How many counters of each were handed over.
    read: BTreeMap<Owner, u32>,
    chosen: Chosen,
    count: u32,
    timed: bool,
}

/// What an exposition says of time.
#[derive(Default)]
struct Times {
    at: Option<DateTime>,
    now: Option<f64>,
    boot: Option<f64>,
}

impl LineFormat for Text {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if !line.starts_with(['n', 's', 'd', 'w', 'c']) {
            return Ok(());
        }
        let known = ["node_", "system_disk_", "diskio_", "windows_", "container_fs_"];
        if !known.iter().any(|prefix| line.starts_with(prefix)) {
            return Ok(());
        }
        let Some(sample) = sample(line) else {
            out.caution(Some(Origin::line(number)), "a sample without its value: left out");
            return Ok(());
        };
        self.take_sample(&sample, number, out);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.hand_over(out);
        let unusable = |what: &str| Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() });
        if self.count == 0 {
            return unusable("it has no counters of disks: is the collector of diskstats switched on?");
        }
        self.chosen.arrays(&self.host, out);
        self.chosen.list(self.read.iter().map(|(owner, counters)| (owner, *counters)), out);
        if self.chosen.is_empty() {
            return unusable("its devices are memory and loops alone: was it taken on the host itself?");
        }
        if self.count > 1 && !self.timed {
            return unusable(
                "several expositions, and no times between them: say the interval at which they were taken",
            );
        }
        Ok(())
    }
}

impl Text {
    fn take_sample(&mut self, sample: &Sample, number: u64, out: &mut Builder) {
        let time: Option<fn(&mut Times) -> &mut Option<f64>> = match sample.name {
            "node_boot_time_seconds" | "node_boot_time" => Some(|times| &mut times.boot),
            "node_time_seconds" | "node_time" => Some(|times| &mut times.now),
            _ => None,
        };
        if let Some(time) = time {
            // The time of the start stands before the disks: there the next exposition begins.
            if time(&mut self.times).is_some() {
                self.hand_over(out);
            }
            *time(&mut self.times) = Some(sample.value);
            return;
        }
        if sample.name == "node_uname_info" {
            label(sample.labels, "nodename").unwrap_or_default().clone_into(&mut self.host);
            return;
        }
        let Some(metric) = metric(sample.name, label(sample.labels, "direction")) else { return };
        if !sample.value.is_finite() {
            return out.caution(Some(Origin::line(number)), "no number: left out");
        }
        let owner = Owner::new(metric.family, |name| label(sample.labels, name));
        if self.holds(&owner, &metric.counted) {
            self.hand_over(out);
        }
        if self.counts.len() >= Chosen::MOST && !self.counts.contains_key(&owner) {
            return out
                .caution_once(Some(Origin::line(number)), "more devices than are told apart: give fewer of them");
        }
        self.times.at = sample.at.or(self.times.at);
        let field = format!("{}{{{}}}", sample.name, owner.device);
        let origin = out.origin(number, "", &field);
        let value = sample.value * metric.unit;
        self.counts.entry(owner).or_default().push(Count { counted: metric.counted, value, wraps_at: None, origin });
    }

    fn holds(&self, owner: &Owner, counted: &Counted) -> bool {
        self.counts.get(owner).is_some_and(|counts| counts.iter().any(|count| count.counted == *counted))
    }

    /// Hands over the exposition at hand.
    fn hand_over(&mut self, out: &mut Builder) {
        let times = std::mem::take(&mut self.times);
        if self.counts.is_empty() {
            return;
        }
        let counts = std::mem::take(&mut self.counts);
        let at = times.at.or_else(|| times.now.and_then(timestamp::of_unix)).or_else(|| self.counted_on());
        let boot = times.boot.and_then(timestamp::of_unix);
        let age = at.zip(boot).map(|(at, boot)| at.duration_since(boot).as_secs_f64());
        let age = age.filter(|age| *age > 0.0).map(Span::from_secs_f64);
        let window = self.input.interval.filter(|_| at.is_none() && self.count > 0);
        let window = window.map(|length| out.sample(Window { begin: None, length }));
        self.timed |= at.is_some() || window.is_some();
        self.chosen = Chosen::of(counts.keys());
        for (owner, counts) in counts {
            *self.read.entry(owner.clone()).or_default() += counts.len() as u32;
            let (true, Some(first)) = (self.chosen.takes(&owner), counts.first()) else { continue };
            let scope = out.scope(owner.scope(&self.host));
            // A host's uptime says nothing of how long its containers live.
            let age = age.filter(|_| owner.family != Family::Container);
            let taken = Snapshot { scope, at, age, origin: first.origin.clone(), counts };
            match window {
                Some(window) => out.snapshot_after(window, taken),
                None => out.snapshot(taken),
            }
        }
        self.count += 1;
    }

    /// When the exposition at hand was taken, by what the caller knows.
    fn counted_on(&self) -> Option<DateTime> {
        let begin = self.input.begin?;
        let since = match (self.count, self.input.interval) {
            (0, _) => 0.0,
            (count, interval) => interval?.as_secs_f64() * f64::from(count),
        };
        timestamp::later(begin, since)
    }
}

#[cfg(test)]
mod tests {
    use super::{label, sample};

    #[test]
    fn samples_are_read_with_labels_and_times() {
        let check = |line: &str, name: &str, device: Option<&str>, value: f64, timed: bool| {
            let sample = sample(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((sample.name, label(sample.labels, "device")), (name, device), "{line}");
            assert_eq!((sample.value, sample.at.is_some()), (value, timed), "{line}");
        };
        check("a_total{device=\"sda\"} 1.5e+06", "a_total", Some("sda"), 1.5e6, false);
        check("a{x=\"}\\\"\",device=\"sda\",} 3 1772442000123", "a", Some("sda"), 3.0, true);
        check("a{x=\"device=\", device=\"b\"} 3 1772442000.123", "a", Some("b"), 3.0, true);
        check("a 7", "a", None, 7.0, false);
        for line in ["", "a", "a{b=\"c\" 1", "a b 1", "# TYPE a counter", "a{b=\"c\"}"] {
            assert!(sample(line).is_none(), "{line}");
        }
    }
}
