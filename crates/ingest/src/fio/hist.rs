//! fio's histogram logs: `milliseconds, direction, size, counts...`, a row for each interval, with the bins of its own
//! histograms. How many there are tells the unit: version 2 counts microseconds, version 3 nanoseconds.

use super::json::of_bins;
use crate::builder::Builder;
use crate::evidence::{Evidence, Setting};
use crate::figure::{Origin, Scope};
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;

const KIND: Kind = Kind { id: "fio-histogram-log", name: "fio histogram log" };

/// Logs of histograms.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles: is_log, open: |_| Box::new(Lines::new(Histograms::default())) };

/// Bins of a group: each group is twice as wide as the one before.
const IN_GROUP: u64 = 64;
/// Bins of versions 2 and 3, and the unit of their values.
const BINS: [(usize, f64); 2] = [(19 * 64, 1e-6), (29 * 64, 1e-9)];
/// Intervals that are told one by one.
const MOST: usize = 10_000;

/// How bins were joined: every so many are one, and their unit.
#[derive(Clone, Copy)]
struct Scale {
    joined: u64,
    unit_s: f64,
}

impl Scale {
    /// By the count of bins in a row.
    fn of(count: usize) -> Option<Self> {
        // At most six halvings, which is what fio takes.
        (0..=6).find_map(|halved| {
            let (_, unit_s) = BINS.into_iter().find(|(bins, _)| bins >> halved == count)?;
            Some(Self { joined: 1 << halved, unit_s })
        })
    }

    /// The middle of a bin.
    fn value(self, bin: usize) -> f64 {
        let lowest = |index: u64| -> f64 {
            if index < 2 * IN_GROUP {
                return index as f64;
            }
            let doubled = index / IN_GROUP - 1;
            ((IN_GROUP + index % IN_GROUP) as f64) * (1_u64 << doubled) as f64
        };
        let first = bin as u64 * self.joined;
        f64::midpoint(lowest(first), lowest(first + self.joined))
    }
}

fn is_log(head: &[u8]) -> Resemblance {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(3).map(row);
    match lines.next() {
        Some(Some((_, direction, counts))) if direction < 3 && Scale::of(counts.len()).is_some() => {
            Resemblance::Is { marks: 7 }
        }
        _ => Resemblance::None,
    }
}

/// Milliseconds, direction and counts of a row.
fn row(line: &str) -> Option<(u64, usize, Vec<f64>)> {
    let mut fields = line.split(',').map(str::trim).filter(|field| !field.is_empty());
    let (ms, direction) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    fields.next()?.parse::<u64>().ok()?;
    let counts =
        fields.map(|field| field.parse::<u64>().ok().map(|count| count as f64)).collect::<Option<Vec<f64>>>()?;
    Some((ms, direction, counts))
}

#[derive(Default)]
struct Histograms {
    /// Of each direction, all counts together, and when the last interval ended.
    totals: [(Vec<f64>, u64); 3],
    told: u32,
    first_ms: Option<u64>,
}

impl LineFormat for Histograms {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let known = row(line).filter(|(_, direction, _)| *direction < 3);
        let Some((ms, direction, counts, scale)) = known.and_then(|(ms, direction, counts)| {
            let scale = Scale::of(counts.len())?;
            Some((ms, direction, counts, scale))
        }) else {
            out.caution(Some(Origin::line(number)), "it is no row of a histogram: left out");
            out.part("row", Fate::Broken);
            return Ok(());
        };
        let first = *self.first_ms.get_or_insert(ms);
        let (total, before) = &mut self.totals[direction];
        let begin = if *before == 0 { first.min(ms) } else { *before };
        let lasted_s = ms.saturating_sub(begin) as f64 / 1e3;
        *before = ms;
        if total.len() < counts.len() {
            total.resize(counts.len(), 0.0);
        }
        for (total, count) in total.iter_mut().zip(&counts) {
            *total += count;
        }
        if (self.told as usize) < MOST {
            self.told += tell(direction, &counts, scale, (Some(begin as f64 / 1e3), lasted_s, number), out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        for (direction, (total, last)) in std::mem::take(&mut self.totals).into_iter().enumerate() {
            if let Some(scale) = Scale::of(total.len()) {
                self.told += tell(direction, &total, scale, (None, last as f64 / 1e3, 0), out);
            }
        }
        if self.told == 0 {
            return Err(Refusal::Unusable {
                kind: KIND,
                origin: None,
                what: "it counts nothing: did the test end?".to_owned(),
            });
        }
        out.part("intervals", Fate::Read(self.told));
        Ok(())
    }
}

/// One interval, or all; nothing where nothing was counted.
fn tell(
    direction: usize,
    counts: &[f64],
    scale: Scale,
    (at_s, lasted_s, line): (Option<f64>, f64, u64),
    out: &mut Builder,
) -> u32 {
    let bins: Vec<(f64, f64)> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0.0)
        .map(|(bin, count)| (scale.value(bin), *count))
        .collect();
    let all: f64 = bins.iter().map(|(_, count)| count).sum();
    if all <= 0.0 {
        return 0;
    }
    let sum: f64 = bins.iter().map(|(value, count)| value * count).sum();
    let scope = out.scope(Scope::default());
    let name = ["reads", "writes", "discards"][direction];
    let origin = out.origin(line, "", name);
    out.evidence(Evidence {
        setting: Setting { reads: [Some(1.0), Some(0.0), None][direction], ..Setting::default() },
        iops: (lasted_s > 0.0).then(|| all / lasted_s),
        mean_s: Some(sum / all * scale.unit_s),
        quantiles: of_bins(&bins, scale.unit_s),
        lasted_s: (lasted_s > 0.0).then_some(lasted_s),
        at_s,
        ..Evidence::new(scope, name, origin)
    });
    1
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn bins_are_those_of_fio() {
        let fine = Scale::of(1856).unwrap();
        assert_eq!((fine.value(0), fine.value(100), fine.value(128)).0.to_bits(), 0.5_f64.to_bits());
        // The third group has steps of two, the fourth of four.
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(near(fine.value(128), 129.0) && near(fine.value(191), 255.0) && near(fine.value(192), 258.0));
        let coarse = Scale::of(1856 >> 3).unwrap();
        assert!(near(coarse.value(16), 136.0), "{}", coarse.value(16));
        assert!(Scale::of(1216).is_some_and(|scale| scale.unit_s > 1e-9) && Scale::of(100).is_none());
    }
}
