//! Parsers of values: rates, shares, service times.

use plimsoll_units::{Bytes, Span, Throughput};

use crate::spec::{Demand, Flushing, Rate, Service};

/// `480MB/s`, `1.2GB/s`, `512MiB/s`.
pub(super) fn throughput(text: &str) -> Option<Throughput> {
    let bare = text.strip_suffix("/s")?;
    // A number without a byte unit is a rate of operations.
    let has_unit = bare.ends_with(|c: char| c.eq_ignore_ascii_case(&'b'));
    let size: Bytes = bare.parse().ok()?;
    (has_unit && size.get() > 0).then(|| Throughput::per_second(size.get()))
}

pub(super) fn rate(text: &str) -> Option<Rate> {
    throughput(text).map(Rate::Bytes).or_else(|| text.parse().ok().map(Rate::Operations))
}

/// `burst 20`, `burst 1MiB`: in the unit of the rate.
pub(super) fn burst(text: &str, rate: Rate) -> Option<u64> {
    let amount = text.strip_prefix("burst")?.trim();
    match rate {
        Rate::Operations(_) => amount.parse().ok(),
        Rate::Bytes(_) => amount.parse().ok().map(Bytes::get),
    }
}

/// `30%`.
pub(super) fn share(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    Some(percent / 100.0)
}

/// `flush honoured`, `flush immediate`.
pub(super) fn flushing(text: &str) -> Option<Flushing> {
    let word = text.strip_prefix("flush")?.trim();
    [Flushing::Honoured, Flushing::Immediate].into_iter().find(|flushing| flushing.word() == word)
}

/// `80us`, then in any order `write 120us`, `flush 2ms`, `500MB/s`, `write 260MB/s`, `exponential`, `lognormal 0.3`.
pub(super) fn parse_demand(values: &[&str]) -> Option<Demand> {
    let (mean, options) = values.split_first()?;
    let mut demand = Demand::constant(mean.parse().ok()?);
    for option in options {
        if let Some(value) = option.strip_prefix("write ") {
            match throughput(value.trim()) {
                Some(rate) => demand.write_rate = Some(rate),
                None => demand.write = Some(span(value)?),
            }
        } else if let Some(time) = option.strip_prefix("flush ") {
            demand.flush = Some(span(time)?);
        } else if let Some(scv) = option.strip_prefix("lognormal ") {
            demand.spread = Service::LogNormal(scv.trim().parse().ok()?);
        } else if *option == "exponential" {
            demand.spread = Service::Exponential;
        } else {
            demand.rate = Some(throughput(option)?);
        }
    }
    Some(demand)
}

pub(super) fn span(text: &str) -> Option<Span> {
    text.trim().parse().ok()
}

/// The value after a word: `extra 5ms`.
pub(super) fn after<'a>(values: &[&'a str], word: &str) -> Option<&'a str> {
    values.iter().find_map(|value| value.strip_prefix(word)?.strip_prefix(' ')).map(str::trim)
}
