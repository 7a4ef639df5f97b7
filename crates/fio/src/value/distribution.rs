//! Distributions of random offsets over a file.

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::Extent;
use crate::number::{Base, Unreadable};

/// Distribution of random offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// All blocks with equal probability.
    Uniform,
    /// Zipf distribution; the exponent is at least 0, not 1. The optional centre is a fraction of the range from 0 to
    /// 1.
    Zipf {
        theta: f64,
        /// Position of the most probable block.
        centre: Option<f64>,
    },
    /// Pareto distribution with a shape between 0 and 1, exclusive.
    Pareto {
        h: f64,
        /// Position of the most probable block.
        centre: Option<f64>,
    },
    /// Normal distribution; the deviation is in percent of the range, at least 0 and below 100.
    Normal {
        /// Standard deviation in percent.
        deviation: f64,
        /// Position of the most probable block; the middle if not given.
        centre: Option<f64>,
    },
    /// Consecutive zones of the range, each with its percentage of the operations.
    Zoned(Vec<Zone>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Percentage of the operations; 100 in total.
    pub accesses: u32,
    /// Size of the zone.
    pub extent: Extent,
}

const ZONES_MAX: usize = 256;

fn wrong<T>(words: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable(words.into()))
}

pub(super) fn read(text: &str, base: Base) -> Result<Distribution, Unreadable> {
    let (word, after) = text.split_once(':').unwrap_or((text, ""));
    match word {
        "random" => Ok(Distribution::Uniform),
        "zipf" => match numbers(after, 1.1)? {
            (theta, _) if theta < 0.0 || (theta - 1.0).abs() < f64::EPSILON => {
                wrong("not a theta that fio takes; write one of at least 0 that is not 1, such as zipf:1.1")
            }
            (theta, centre) => Ok(Distribution::Zipf { theta, centre }),
        },
        "pareto" => match numbers(after, 0.2)? {
            (h, centre) if h > 0.0 && h < 1.0 => Ok(Distribution::Pareto { h, centre }),
            _ => wrong(label!("not above 0 and below 1; write such a number, as in pareto:0.2")),
        },
        "normal" | "gauss" => match numbers(after, 0.0)? {
            (deviation, centre) if (0.0..100.0).contains(&deviation) => Ok(Distribution::Normal { deviation, centre }),
            _ => wrong(label!("not from 0 to below 100; write such a number, as in normal:25")),
        },
        "zoned" => parse_zones(after, |part| match part.parse::<u8>() {
            Ok(percent) if percent <= 100 => Ok(Extent::Percent(percent)),
            _ => wrong(say!("{part:?} is not a percentage of the file; write a whole number from 1 to 100")),
        }),
        "zoned_abs" => parse_zones(after, |part| super::size(part, base).map(Extent::Bytes)),
        _ => wrong(label!(
            "no spread that fio 3.33 has; write random, zipf:1.1, pareto:0.2, normal:25, zoned:60/10:40/90 or \
             zoned_abs:60/1g:40/9g"
        )),
    }
}

/// A number or `default`, and an optional centre after a colon.
fn numbers(after: &str, default: f64) -> Result<(f64, Option<f64>), Unreadable> {
    let (number, centre) = after.split_once(':').unwrap_or((after, ""));
    let finite = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = if after.is_empty() { Some(default) } else { finite(number) };
    let Some(number) = number else {
        return wrong(label!("without a number that can be read behind the colon; write one"));
    };
    if centre.is_empty() {
        return Ok((number, None));
    }
    match finite(centre).filter(|centre| (0.0..=1.0).contains(centre)) {
        Some(centre) => Ok((number, Some(centre))),
        None => wrong(say!("{centre:?} is not a centre; write a number from 0 to 1")),
    }
}

/// `accesses/extent:...`. Observed with fio 3.33: accesses must total 100, percentages of the file at most 100, and
/// zones without accesses share the rest equally.
fn parse_zones(text: &str, extent: impl Fn(&str) -> Result<Extent, Unreadable>) -> Result<Distribution, Unreadable> {
    if text.contains(',') {
        return wrong(label!("zones by direction, which fio 3.33 does not read either; write one list"));
    }
    let parts: Vec<&str> = text.split(':').take_while(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.len() > ZONES_MAX {
        return wrong(label!("no list of zones; write 1 to 256 of them, such as zoned:60/10:40/90"));
    }
    let mut zones = Vec::new();
    for part in &parts {
        let (accesses, size) = part.split_once('/').unwrap_or((part, ""));
        let accesses = match accesses.parse::<u32>() {
            Ok(accesses) if accesses <= 100 => accesses,
            _ => {
                return wrong(say!("{accesses:?} is not a percentage of the operations; write a number from 1 to 100"));
            }
        };
        let extent = if size.is_empty() { None } else { Some(extent(size)?) };
        zones.push((accesses, extent));
    }
    let accesses: u32 = zones.iter().map(|(accesses, _)| accesses).sum();
    if accesses != 100 {
        return wrong(say!("accesses are {accesses} together; write shares that are 100"));
    }
    let percent = |extent: &Option<Extent>| match extent {
        Some(Extent::Percent(percent)) => u32::from(*percent),
        _ => 0,
    };
    let shares: u32 = zones.iter().map(|(_, extent)| percent(extent)).sum();
    if shares > 100 {
        return wrong(say!("zones are {shares} % of the file together; write shares of at most 100"));
    }
    let missing = zones.iter().filter(|(_, extent)| extent.is_none()).count() as u32;
    let rest = (100 - shares).checked_div(missing).unwrap_or(0) as u8;
    let zone =
        |(accesses, extent): (u32, Option<Extent>)| Zone { accesses, extent: extent.unwrap_or(Extent::Percent(rest)) };
    Ok(Distribution::Zoned(zones.into_iter().map(zone).collect()))
}

impl Zone {
    /// Length in a range of `total` bytes.
    pub fn length(&self, total: Bytes) -> Bytes {
        self.extent.of(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match read(text, Base::Binary) {
            Ok(distribution) => format!("{distribution:?}"),
            Err(Unreadable(words)) => words,
        };
        assert!(found.contains(expected), "{text}: {found}");
    }

    #[test]
    fn distributions_are_parsed() {
        check("random", "Uniform");
        check("random:1", "Uniform");
        check("zipf", "Zipf { theta: 1.1, centre: None }");
        check("zipf:1.2", "Zipf { theta: 1.2, centre: None }");
        check("zipf:1.2:0.25", "Zipf { theta: 1.2, centre: Some(0.25) }");
        check("pareto:0.3", "Pareto { h: 0.3");
        check("normal:25", "Normal { deviation: 25.0");
        check("zoned:60/10:40/90", "Zone { accesses: 40, extent: Percent(90) }");
        check("zoned:50/:50/20", "Zone { accesses: 50, extent: Percent(80) }");
        check("zoned_abs:60/20G:40/100g", "Zone { accesses: 60, extent: Bytes(Bytes(21474836480)) }");
    }

    #[test]
    fn invalid_distributions_are_refused() {
        check("zipf:1", "not 1,");
        check("zipf:x", "without a number");
        check("pareto:1.2", "below 1");
        check("normal:101", "below 100");
        check("normal:25:50", "not a centre");
        check("zoned:60/10:30/20", "accesses are 90");
        check("zoned:50/60:50/60", "zones are 120 %");
        check("zoned:", "no list");
        check("sequence:2,0,1", "no spread that fio 3.33 has");
        check("zipf:1.1,zipf:1.2", "without a number");
        check("zoned:100/100,100/100", "by direction");
    }
}
