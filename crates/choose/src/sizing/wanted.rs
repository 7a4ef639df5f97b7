//! From the windows of a demand to the load that storage has to carry.
//!
//! The load of a share of the time is that of whole windows: what classes ask together, never percentiles of each that
//! are added up. Knows no product.

use plimsoll_ingest::{Class, Subject};
use plimsoll_record::{Objective, Scope};
use plimsoll_units::Bytes;
use thiserror::Error;

use super::burst::{Hidden, LARGE, hidden};
use super::classes::Windows;
use super::design::{Burst, Busiest, ClassLoad, Design, Measured, Point, Step, Wanted};

/// Why a demand says nothing to size by.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unclear {
    /// No window has operations.
    #[error(
        "{}no window has operations a second, which sizes hang on: give an AWR report, iostat or another input that \
         counts operations",
        if subject.is_empty() { String::new() } else { format!("{subject}: ") }
    )]
    NoOperations {
        /// Whose demand.
        subject: String,
    },
}

/// A window: its length in seconds, and what was asked in it.
struct Window {
    slot: usize,
    seconds: f64,
    classes: Vec<ClassLoad>,
}

impl Window {
    fn sum(&self, of: Busiest) -> f64 {
        let each = |load: &ClassLoad| match of {
            Busiest::Operations => load.iops,
            Busiest::Bytes => load.bytes_per_second,
        };
        self.classes.iter().map(each).sum()
    }
}

/// What storage has to carry for a demand.
pub fn wanted(subject: &Subject, design: &Design) -> Result<Wanted, Unclear> {
    let mut all = Windows::new(subject);
    let mut windows: Vec<Window> = Vec::new();
    for (slot, length) in subject.slots.iter().map(|slot| slot.length).enumerate() {
        let classes = all.classes(slot);
        if !classes.is_empty() {
            windows.push(Window { slot, seconds: length.as_secs_f64().max(1e-9), classes });
        }
    }
    if windows.is_empty() {
        return Err(Unclear::NoOperations { subject: subject.name.clone() });
    }
    let longest = windows.iter().map(|window| subject.slots[window.slot].length).max().unwrap_or_default();
    let at = |of| quantile(windows.iter().map(|window| (window.sum(of), window.seconds)).collect(), design.quantile);
    let measured = Measured {
        quantile: design.quantile,
        windows: windows.len(),
        longest,
        iops: at(Busiest::Operations),
        bytes_per_second: at(Busiest::Bytes),
    };
    let mut steps = Vec::new();
    steps.extend(burst(&all, &windows, design, &measured));
    steps.extend(growth(design));
    let mut points = vec![point(&windows, Busiest::Operations, measured.iops, &steps)];
    let bytes = point(&windows, Busiest::Bytes, measured.bytes_per_second, &steps);
    if !points[0].covers(&bytes) {
        points.push(bytes);
    }
    let seconds: f64 = windows.iter().map(|window| window.seconds).sum();
    let operations: f64 = windows.iter().map(|window| window.sum(Busiest::Operations) * window.seconds).sum();
    let assumptions = all.assumed.iter().map(|text| (*text).to_owned()).collect();
    Ok(Wanted {
        subject: subject.name.clone(),
        objective: design.objective.map(|objective| on_reads(objective, &points)),
        points,
        headroom: design.headroom,
        mean_iops: operations / seconds * design.growth.times(),
        capacity: Bytes::new((design.capacity.get() as f64 * design.growth.times()).ceil() as u64),
        measured,
        steps,
        assumptions,
    })
}

/// An objective about all operations is about reads: writes mostly wait behind sessions, and hide the reads' tail.
fn on_reads(objective: Objective, points: &[Point]) -> Objective {
    let reads = points.iter().flat_map(|point| &point.classes).any(|class| class.reads > 0.0);
    if objective.over == Scope::All && reads { Objective { over: Scope::Read, ..objective } } else { objective }
}

/// What is not exceeded in a share of the time: pairs of a value and its seconds.
fn quantile(mut values: Vec<(f64, f64)>, share: f64) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let enough = share * values.iter().map(|(_, seconds)| seconds).sum::<f64>() * (1.0 - 1e-12);
    let mut passed = 0.0;
    let reached = values.iter().find(|(_, seconds)| {
        passed += seconds;
        passed >= enough
    });
    reached.or(values.last()).map_or(0.0, |(value, _)| *value)
}

/// What the averages hide.
fn burst(all: &Windows<'_>, windows: &[Window], design: &Design, measured: &Measured) -> Option<Step> {
    let step = |what: &str, hidden: Hidden| Step {
        what: what.to_owned(),
        small: hidden.small,
        large: hidden.large,
        spread: hidden.spread,
        why: hidden.why,
    };
    match design.burst {
        Burst::None => None,
        Burst::Times(times) => {
            let why = "as you said".to_owned();
            Some(step("peaks inside of windows", Hidden { small: times, large: times, spread: None, why }))
        }
        Burst::Auto => {
            let hidden = maxima(all, windows, design, measured).unwrap_or_else(|| hidden(measured.longest));
            Some(step("peaks inside of windows", hidden))
        }
    }
}

/// The input's own maxima over its averages, at the same share of the time.
fn maxima(all: &Windows<'_>, windows: &[Window], design: &Design, measured: &Measured) -> Option<Hidden> {
    let (mut iops, mut bytes) = (Vec::new(), Vec::new());
    for window in windows {
        let (highest, most) = all.maxima(window.slot);
        iops.extend(highest.map(|value| (value, window.seconds)));
        bytes.extend(most.map(|value| (value, window.seconds)));
    }
    let over = |maxima: Vec<(f64, f64)>, mean: f64| {
        // A few maxima among many windows would be those of other times.
        let whole = maxima.len() * 2 > windows.len() && mean > 0.0;
        whole.then(|| (quantile(maxima, design.quantile) / mean).max(1.0))
    };
    let small = over(iops, measured.iops);
    let large = over(bytes, measured.bytes_per_second);
    Some(Hidden {
        small: small.or(large)?,
        large: large.or(small)?,
        spread: None,
        why: "the input's own maxima over its averages; those of reads and writes are taken to come together"
            .to_owned(),
    })
}

fn growth(design: &Design) -> Option<Step> {
    let times = design.growth.times();
    (design.growth.months > 0 && design.growth.yearly != 0.0).then(|| Step {
        what: "growth".to_owned(),
        small: times,
        large: times,
        spread: None,
        why: format!(
            "{} % a year for {} months, compounded; the capacity grows as well",
            (design.growth.yearly * 1e4).round() / 100.0,
            design.growth.months
        ),
    })
}

/// The mix of the windows at and above a level, at that level, times the steps.
fn point(windows: &[Window], of: Busiest, level: f64, steps: &[Step]) -> Point {
    let busiest: Vec<&Window> = windows.iter().filter(|window| window.sum(of) >= level * (1.0 - 1e-9)).collect();
    let sum: f64 = busiest.iter().map(|window| window.sum(of) * window.seconds).sum();
    let share = level / sum.max(f64::MIN_POSITIVE);
    let mut classes: Vec<ClassLoad> = Vec::new();
    for class in Class::ALL {
        let loads = || {
            let all = busiest.iter().flat_map(|window| window.classes.iter().map(move |load| (load, window.seconds)));
            all.filter(|(load, _)| load.class == class)
        };
        let Some((first, _)) = loads().next() else { continue };
        let total = |of: fn(&ClassLoad) -> f64| loads().map(|(load, seconds)| of(load) * seconds).sum::<f64>();
        let iops = total(|load| load.iops);
        let reads = total(|load| load.iops * load.reads) / iops;
        let mut load = ClassLoad {
            iops: iops * share,
            bytes_per_second: total(|load| load.bytes_per_second) * share,
            reads,
            ..*first
        };
        let large = load.size() >= LARGE;
        let times: f64 = steps.iter().map(|step| if large { step.large } else { step.small }).product();
        load.iops *= times;
        load.bytes_per_second *= times;
        classes.push(load);
    }
    classes.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    Point { of, windows: busiest.len(), classes }
}
