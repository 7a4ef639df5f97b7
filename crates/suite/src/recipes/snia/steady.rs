//! Steady state by the rules of SNIA's specification.
//!
//! Over the last five rounds, values lie within a range of 20 % of their mean, and the best linear fit (least squares)
//! changes by at most 10 % of it.

use plimsoll_analyse::interval::student;

/// Number of rounds in the window.
pub(super) const WINDOW: usize = 5;
/// Maximum range of the values, relative to their mean.
pub(super) const RANGE: f64 = 0.2;
/// Maximum excursion of the fit over the window, relative to the mean.
pub(super) const EXCURSION: f64 = 0.1;

/// Analysis of the last rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steady {
    /// First round of the window, from 1.
    pub(super) first: usize,
    /// Last round of the window.
    pub(super) last: usize,
    pub(super) mean: f64,
    /// 95 % interval of the mean, by the scatter between rounds.
    pub(super) interval: (f64, f64),
    /// Maximum minus minimum, relative to the mean.
    pub(super) range: f64,
    /// Excursion of the fit over the window, relative to the mean; negative if it falls.
    pub(super) excursion: f64,
    /// Slope of the fit per round.
    pub(super) slope: f64,
    /// Value of the fit at round 0.
    pub(super) origin: f64,
}

impl Steady {
    /// Analyses all rounds so far; `None` before the window is complete.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let first = values.len().checked_sub(WINDOW)?;
        let window = &values[first..];
        let count = WINDOW as f64;
        let mean = window.iter().sum::<f64>() / count;
        if mean <= 0.0 {
            return None;
        }
        let squares: f64 = window.iter().map(|value| (value - mean).powi(2)).sum();
        let half = student(WINDOW - 1) * (squares / (count - 1.0) / count).sqrt();
        let max = window.iter().copied().fold(f64::MIN, f64::max);
        let least = window.iter().copied().fold(f64::MAX, f64::min);
        let middle = (count - 1.0) / 2.0;
        let distances = || (0..WINDOW).map(|index| index as f64 - middle);
        let slope = distances().zip(window).map(|(distance, value)| distance * (value - mean)).sum::<f64>()
            / distances().map(|distance| distance * distance).sum::<f64>();
        Some(Self {
            first: first + 1,
            last: values.len(),
            mean,
            interval: ((mean - half).max(0.0), mean + half),
            range: (max - least) / mean,
            excursion: slope * (count - 1.0) / mean,
            slope,
            origin: mean - slope * (first as f64 + 1.0 + middle),
        })
    }

    /// Whether both rules hold.
    pub(super) fn is_reached(&self) -> bool {
        self.range <= RANGE && self.excursion.abs() <= EXCURSION
    }

    /// Value of the fit at a round, from 1.
    pub(super) fn line(&self, round: usize) -> f64 {
        self.origin + self.slope * round as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_steady_within_range_and_excursion() {
        let check = |values: &[f64], range: f64, excursion: f64, reached: bool| {
            let steady = Steady::of(values).expect("five rounds");
            assert!((steady.range - range).abs() < 1e-9, "{values:?}: {steady:?}");
            assert!((steady.excursion - excursion).abs() < 1e-9, "{values:?}: {steady:?}");
            assert_eq!(steady.is_reached(), reached, "{values:?}: {steady:?}");
        };
        check(&[100.0; 5], 0.0, 0.0, true);
        // By hand: distances -2 to 2, with a sum of squares of 10.
        check(&[90.0, 110.0, 100.0, 110.0, 90.0], 0.2, 0.0, true);
        check(&[89.0, 111.0, 100.0, 110.0, 90.0], 0.22, 4.0 * 0.001, false);
        check(&[95.0, 97.5, 100.0, 102.5, 105.0], 0.1, 0.1, true);
        check(&[94.0, 97.0, 100.0, 103.0, 106.0], 0.12, 0.12, false);
        check(&[106.0, 103.0, 100.0, 97.0, 94.0], 0.12, -0.12, false);
        check(&[1000.0, 500.0, 100.0, 100.0, 100.0, 100.0, 100.0], 0.0, 0.0, true);
        // Standard deviation 10 between five rounds; Student's t with 4 degrees of freedom is 2.776.
        let (low, high) = Steady::of(&[90.0, 110.0, 100.0, 110.0, 90.0]).expect("five rounds").interval;
        assert!((low - 87.585).abs() < 1e-3 && (high - 112.415).abs() < 1e-3, "{low} {high}");
        assert_eq!(Steady::of(&[100.0; 4]), None);
        assert_eq!(Steady::of(&[0.0; 5]), None);
    }

    #[test]
    fn fit_reproduces_linear_rounds() {
        let steady = Steady::of(&[0.0, 12.0, 14.0, 16.0, 18.0, 20.0]).expect("six rounds");
        assert_eq!((steady.first, steady.last, steady.mean, steady.slope), (2, 6, 16.0, 2.0));
        assert!((2..=6).all(|round| (steady.line(round) - (8.0 + 2.0 * round as f64)).abs() < 1e-9), "{steady:?}");
    }
}
