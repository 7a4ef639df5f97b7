//! Result of `steadystate`, as a line of normal output and as JSON.

use super::json::writer::Writer;
use super::number::Units;
use super::result::SteadyState;

impl SteadyState {
    fn percent_sign(&self) -> &'static str {
        if self.in_percent { "%" } else { "" }
    }

    fn mean(each: &[u64]) -> u64 {
        if each.is_empty() { 0 } else { each.iter().sum::<u64>() / each.len() as u64 }
    }
}

/// The line of normal output.
pub(super) fn line(steady: &SteadyState, units: Units) -> String {
    let (bytes_s, iops) = (SteadyState::mean(&steady.bytes_s), SteadyState::mean(&steady.iops));
    let latency = match steady.latency_ns.as_slice() {
        [] => String::new(),
        each => format!(", lat={}nsec", SteadyState::mean(each)),
    };
    let found = match steady.measure.split_once("_slope") {
        Some((measure, _)) => format!("{measure} slope"),
        None => format!("{} mean dev", steady.measure),
    };
    format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}{latency}, {found}={:.3}{}\n",
        if steady.attained { "yes" } else { "no" },
        units.rate(bytes_s),
        units.rate_other(bytes_s),
        units.count(iops),
        steady.criterion,
        steady.percent_sign()
    )
}

pub(super) fn json(steady: &SteadyState, out: &mut Writer) {
    let sign = steady.percent_sign();
    out.object("steadystate", |out| {
        out.text("ss", &format!("{}:{:.6}{sign}", steady.measure, steady.limit));
        out.integer("duration", steady.duration_s);
        out.integer("attained", u64::from(steady.attained));
        out.text("criterion", &format!("{:.6}{sign}", steady.criterion));
        out.real("max_deviation", steady.deviation);
        out.real("slope", steady.slope);
        out.object("data", |out| {
            out.integer("bw_mean", SteadyState::mean(&steady.bytes_s));
            out.integer("iops_mean", SteadyState::mean(&steady.iops));
            if !steady.latency_ns.is_empty() {
                out.integer("lat_mean", SteadyState::mean(&steady.latency_ns));
                out.wholes("lat_ns", &steady.latency_ns);
            }
            out.wholes("iops", &steady.iops);
            out.wholes("bw", &steady.bytes_s);
        });
    });
}
