//! Axes: linear and logarithmic scales and their ticks.

/// Distribution of values over an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AxisScale {
    Linear {
        low: f64,
        high: f64,
    },
    /// Logarithmic; both ends are above zero.
    Log {
        low: f64,
        high: f64,
    },
}

/// A position on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    /// True if there is room for a label.
    pub labelled: bool,
}

/// Axes that span more than this factor are logarithmic.
const LINEAR_FACTOR: f64 = 10.0;

impl AxisScale {
    /// Linear from zero to slightly above `high`.
    pub fn from_zero(high: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
        Self::Linear { low: 0.0, high: high * 1.04 }
    }

    /// For latencies: logarithmic if they span more than a decade, otherwise linear from zero.
    pub fn for_latency(low: f64, high: f64) -> Self {
        if !(low > 0.0 && high.is_finite() && high >= low) {
            return Self::from_zero(high);
        }
        if high / low <= LINEAR_FACTOR { Self::from_zero(high * 1.04) } else { Self::log(low, high) }
    }

    /// Logarithmic, extended to the next 1, 2 or 5; linear from zero if an end is not positive.
    pub fn log(low: f64, high: f64) -> Self {
        let (down, up) = (round_outward(low / 1.05, Side::Down), round_outward(high * 1.05, Side::Up));
        if down > 0.0 && up.is_finite() { Self::Log { low: down, high: up } } else { Self::from_zero(high) }
    }

    /// The same with the high end of a linear axis at a tick, so that no value is above the last of `max` ticks.
    pub fn to_tick(self, max: usize) -> Self {
        match self {
            Self::Linear { low, high } => {
                let step = round_outward((high - low) / max.max(1) as f64, Side::Up);
                Self::Linear { low, high: (high / step - 1e-9).ceil() * step }
            }
            log @ Self::Log { .. } => log,
        }
    }

    pub const fn ends(self) -> (f64, f64) {
        match self {
            Self::Linear { low, high } | Self::Log { low, high } => (low, high),
        }
    }

    /// Position from 0 (low end) to 1 (high end); values outside are clamped.
    pub fn place(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, high } => (value.max(low) / low).ln() / (high / low).ln(),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// True if `value` lies between the ends.
    pub fn holds(self, value: f64) -> bool {
        let (low, high) = self.ends();
        value >= low && value <= high
    }

    /// About `max` labelled ticks, ascending: steps of 1, 2 or 5, or decades with 2 and 5 between them.
    pub fn ticks(self, max: usize) -> Vec<Tick> {
        match self {
            Self::Linear { low, high } => linear_ticks(low, high, max),
            Self::Log { low, high } => log_ticks(low, high, max),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Down,
    Up,
}

/// The nearest 1, 2 or 5 times a power of ten at or outside of `value`.
fn round_outward(value: f64, side: Side) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
    let found = match side {
        Side::Down => steps.iter().rev().find(|&&step| step <= value * 1.000_001),
        Side::Up => steps.iter().find(|&&step| step >= value * 0.999_999),
    };
    found.copied().unwrap_or(value)
}

fn linear_ticks(low: f64, high: f64, max: usize) -> Vec<Tick> {
    let rough = (high - low) / max.max(1) as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let step = round_outward(rough, Side::Up);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| Tick { value: n as f64 * step, labelled: true }).collect()
}

fn log_ticks(low: f64, high: f64, max: usize) -> Vec<Tick> {
    let inside = |value: f64| value >= low * 0.999_999 && value <= high * 1.000_001;
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let mut ticks = Vec::new();
    for decade in first..=last {
        for step in [1u8, 2, 5] {
            let value = f64::from(step) * 10f64.powi(decade);
            if inside(value) {
                ticks.push((value, step == 1));
            }
        }
    }
    let decades = ticks.iter().filter(|(_, is_decade)| *is_decade).count();
    let all_fit = ticks.len() <= max || decades < 2;
    let every = decades.div_ceil(max.max(1)).max(1);
    let mut decade = 0;
    let label = |&(value, is_decade): &(f64, bool)| {
        decade += usize::from(is_decade);
        Tick { value, labelled: all_fit || (is_decade && (decade - 1).is_multiple_of(every)) }
    };
    ticks.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(scale: AxisScale, max: usize) -> Vec<f64> {
        scale.ticks(max).iter().filter(|tick| tick.labelled).map(|tick| tick.value.round()).collect()
    }

    #[test]
    fn linear_ticks_step_by_one_two_or_five() {
        assert_eq!(labelled(AxisScale::Linear { low: 0.0, high: 63_000.0 }, 7), [0., 1e4, 2e4, 3e4, 4e4, 5e4, 6e4]);
        assert_eq!(labelled(AxisScale::Linear { low: 0.0, high: 63_000.0 }, 4), [0., 2e4, 4e4, 6e4]);
    }

    #[test]
    fn rounded_axis_ends_at_a_tick() {
        for (high, max) in [(19.0, 7), (84_000.0, 4), (1.0, 6), (0.037, 8)] {
            let scale = AxisScale::from_zero(high).to_tick(max);
            let last = scale.ticks(max).last().unwrap().value;
            let (_, end) = scale.ends();
            assert!(last >= high && (last / end - 1.0).abs() < 1e-9, "{high}: {last} of {end}");
        }
        let log = AxisScale::log(1.0, 90.0);
        assert_eq!(log.to_tick(4), log);
    }

    #[test]
    fn log_ticks_label_decades_first() {
        let scale = AxisScale::log(84_000.0, 21_000_000.0);
        assert_eq!(scale.ends(), (5e4, 5e7));
        assert_eq!(labelled(scale, 4), [1e5, 1e6, 1e7]);
        assert_eq!(labelled(scale, 12).len(), 10);
    }

    #[test]
    fn places_stay_on_the_axis() {
        let scale = AxisScale::log(1e3, 1e6);
        for value in [0.0, 1e3, 5e4, 1e9, f64::NAN] {
            assert!((0.0..=1.0).contains(&scale.place(value)));
        }
        assert!(AxisScale::from_zero(f64::NAN).place(0.5) > 0.0);
    }

    #[test]
    fn an_end_without_a_decade_is_survived() {
        for (low, high) in [(1.0, f64::INFINITY), (0.0, 1e3), (-1.0, 1e3), (f64::NAN, 1e3), (1.0, f64::MAX)] {
            assert!(AxisScale::log(low, high).ticks(9).len() < 2_000, "{low} to {high}");
        }
    }

    #[test]
    fn a_narrow_span_is_drawn_evenly() {
        assert!(matches!(AxisScale::for_latency(100.0, 300.0), AxisScale::Linear { .. }));
        assert!(matches!(AxisScale::for_latency(100.0, 3_000.0), AxisScale::Log { .. }));
    }
}
