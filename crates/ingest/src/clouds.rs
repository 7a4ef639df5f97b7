//! What clouds export of volumes: answers of their monitoring as JSON, one or several in a file.
//!
//! None of them repeats the whole query: how long a window is and how it was summed up may have to be concluded from the
//! distance of its points and from their being whole numbers. What cannot be concluded is refused with what to give.

mod azure;
mod cloudwatch;
mod oci;

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;

pub(crate) use azure::FORM as AZURE;
pub(crate) use cloudwatch::FORM as CLOUDWATCH;
pub(crate) use oci::FORM as OCI;

use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Statistic};
use crate::kind::Kind;
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::series::{Edge, Points, Said, Spacing};
use crate::snapshot::Counted;

/// The series of one input.
#[derive(Debug, Default)]
struct Volumes {
    series: Vec<Series>,
    ignored: BTreeMap<String, u32>,
}

/// One metric of one volume.
#[derive(Debug)]
struct Series {
    name: String,
    scope: u32,
    said: Said,
    points: Vec<(DateTime, f64, Origin)>,
}

impl Volumes {
    /// Adds a series; one without points is not used.
    fn add(&mut self, series: Series) {
        if series.points.is_empty() {
            self.ignore(&series.name);
        } else {
            self.series.push(series);
        }
    }

    /// Counts a metric that says nothing of what a volume is asked.
    fn ignore(&mut self, name: &str) {
        *self.ignored.entry(name.to_owned()).or_default() += 1;
    }

    /// Drops sums that cannot be any, because they are no whole numbers: `remedy` says what to query.
    fn drop_other_statistics(&mut self, remedy: &str, out: &mut Builder) {
        self.series.retain(|series| {
            let is_sum = matches!(&series.said, Said::Sum(counted) if !counted.is_time());
            let broken = series.points.iter().find(|(_, value, _)| is_sum && value.fract() != 0.0);
            if let Some((_, value, origin)) = broken {
                let text = format!("{value} is no whole number, so these are no sums: left out; {remedy}");
                out.caution(Some(origin.clone()), text);
                out.part(&series.name, Fate::Broken);
            }
            broken.is_none()
        });
    }

    /// Hands over all series; windows are as long as `said`, or as their points are apart.
    fn put(self, kind: Kind, said: Option<Span>, out: &mut Builder) -> Result<(), Refusal> {
        for (name, count) in &self.ignored {
            let text = if *count == 1 { name.clone() } else { format!("{name} ({count} series)") };
            out.part(text, Fate::Ignored);
        }
        let unusable = |what: String| Err(Refusal::Unusable { kind, origin: None, what });
        if self.series.is_empty() {
            let why = out.first_caution().unwrap_or("it has no values of a metric of volumes that is known");
            return unusable(format!("{why}; export reads, writes and bytes of volumes"));
        }
        let mut of_all = Spacing::default();
        for series in &self.series {
            of_all.learn(series.points.iter().map(|(at, ..)| *at));
        }
        let mut by_length: BTreeMap<Span, Points> = BTreeMap::new();
        for series in self.series {
            let own = regular(&series.points);
            let Some(length) = said.or(own).or_else(|| of_all.length(None)) else {
                let what =
                    "one point of each series, and the length of its window is in the query alone: say the interval";
                return unusable(what.to_owned());
            };
            out.part(&series.name, Fate::Read(series.points.len() as u32));
            let points = by_length.entry(length).or_default();
            for (at, value, origin) in series.points {
                points.add(at, series.scope, series.said.clone(), value, origin);
            }
        }
        for (length, points) in by_length {
            points.put(length, Edge::Begin, out);
        }
        Ok(())
    }
}

/// The distance of points that are all equally far apart: holes, which idle volumes have, would be taken for windows.
fn regular(points: &[(DateTime, f64, Origin)]) -> Option<Span> {
    let mut moments: Vec<DateTime> = points.iter().map(|(at, ..)| *at).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut gaps = moments.windows(2).map(|pair| pair[1].duration_since(pair[0]));
    let first = gaps.next().filter(|_| moments.len() > 2)?;
    gaps.all(|gap| gap == first).then(|| Span::from_secs_f64(first.as_secs_f64()))
}

/// Reads or writes, by a metric's name in lower case.
fn direction(name: &str) -> Class {
    match (name.contains("read"), name.contains("writ")) {
        (true, false) => Class::Read,
        (false, true) => Class::Write,
        _ => Class::All,
    }
}

/// The same as the highest of shorter windows; sums have no such.
fn maximum(said: &Said) -> Option<Said> {
    Some(match said {
        Said::Rate(Counted::Operations(class)) => Said::Figure(*class, Measure::Iops, Statistic::Maximum),
        Said::Rate(Counted::Bytes(class)) => Said::Figure(*class, Measure::Throughput, Statistic::Maximum),
        Said::Figure(class, measure, _) => Said::Figure(*class, *measure, Statistic::Maximum),
        _ => return None,
    })
}
