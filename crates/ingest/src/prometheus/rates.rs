//! Whether numbers are counters or rates of counters: an answer does not say which function its query had.
//!
//! Counters of operations and bytes are whole numbers and only rise. Rates are hardly ever whole, and fall as often as
//! they rise. Where neither shows, nobody can tell, and somebody must be asked.

use crate::snapshot::Counted;

/// What the numbers of an answer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    Counters,
    Rates,
    Unclear,
}

/// What speaks for the one and for the other.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Operations and bytes that are no whole numbers.
    fractions: u64,
    /// Operations and bytes that are whole numbers, and not zero.
    wholes: u64,
    /// Shares of time beyond all of it.
    beyond_one: bool,
    rises: u64,
    falls: u64,
    nonzero: bool,
}

impl Marks {
    /// Looks at one series, in the order of time.
    pub(super) fn learn(&mut self, counted: &Counted, values: impl Iterator<Item = f64> + Clone) {
        for value in values.clone() {
            self.nonzero |= value != 0.0;
            match counted {
                Counted::Operations(_) | Counted::Bytes(_) => {
                    self.fractions += u64::from(value.fract() != 0.0);
                    self.wholes += u64::from(value != 0.0 && value.fract() == 0.0);
                }
                Counted::BusySeconds(_) => self.beyond_one |= value > 1.05,
                _ => {}
            }
        }
        for (before, after) in values.clone().zip(values.skip(1)) {
            self.rises += u64::from(after > before);
            self.falls += u64::from(after < before);
        }
    }

    pub(super) fn nature(&self) -> Nature {
        let changes = self.rises + self.falls;
        let falls_often = self.falls * 5 >= changes;
        let falls_seldom = self.falls * 20 <= changes;
        match () {
            () if !self.nonzero => Nature::Counters,
            () if self.fractions > 0 => Nature::Rates,
            () if changes > 4 && falls_often => Nature::Rates,
            () if changes > 0 && falls_seldom && (self.wholes > 0 || self.beyond_one) => Nature::Counters,
            () if changes > 4 && falls_seldom => Nature::Counters,
            () if changes == 0 && self.wholes > 0 && self.beyond_one => Nature::Counters,
            () => Nature::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Marks, Nature};
    use crate::figure::Class;
    use crate::snapshot::Counted;

    fn check(counted: &Counted, values: &[f64], expected: Nature) {
        let mut marks = Marks::default();
        marks.learn(counted, values.iter().copied());
        assert_eq!(marks.nature(), expected, "{values:?}");
    }

    #[test]
    fn counters_rise_and_rates_do_as_they_like() {
        let reads = Counted::Operations(Class::Read);
        check(&reads, &[1_000.0, 1_010.0, 1_300.0], Nature::Counters);
        check(&reads, &[1_000.0, 1_010.0], Nature::Counters);
        check(&reads, &[0.0, 0.0, 0.0], Nature::Counters);
        check(&reads, &[10.5, 12.0, 11.0], Nature::Rates);
        check(&reads, &[10.0, 12.0, 9.0, 11.0, 8.0, 12.0], Nature::Rates);
        check(&reads, &[10.0, 10.0, 10.0], Nature::Unclear);
        check(&reads, &[10.0, 12.0, 11.0], Nature::Unclear);
        let restarted: Vec<f64> = (0..40).map(|n| f64::from(n % 39) * 100.0).collect();
        check(&reads, &restarted, Nature::Counters);
        let busy = Counted::BusySeconds(Class::All);
        check(&busy, &[100.5, 100.9], Nature::Counters);
        check(&busy, &[0.5, 0.9], Nature::Unclear);
    }
}
