//! The order of day and month in dates such as `01/02/2026`, which all dates of an input determine together.
//!
//! A number above 12 proves the order of all dates. Without such a date, it is the order in which times never go back,
//! or else the one in which they are nearer to each other; then [`DateEvidence::doubt`] names the order.

use jiff::civil::DateTime;
use plimsoll_language::label;

use crate::reading::Doubt;

/// The order of day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateOrder {
    MonthFirst,
    DayFirst,
}

impl DateOrder {
    /// Both orders.
    pub(crate) const ALL: [Self; 2] = [Self::MonthFirst, Self::DayFirst];

    fn first(self) -> &'static str {
        match self {
            Self::MonthFirst => label!("month"),
            Self::DayFirst => label!("day"),
        }
    }
}

/// The order of day and month in a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StampOrder<T> {
    /// Both orders give the same date, or its format has a fixed order.
    Fixed,
    /// Only this order is possible.
    Proven(DateOrder),
    /// Both are possible. Its convention has one order, and the other gives `swapped`.
    Either {
        convention: DateOrder,
        swapped: T,
        /// The convention differs between countries.
        doubtful: bool,
    },
}

impl<T> StampOrder<T> {
    /// Converts the date in the other order; `None` if that fails.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> Option<U>) -> Option<StampOrder<U>> {
        Some(match self {
            Self::Fixed => StampOrder::Fixed,
            Self::Proven(order) => StampOrder::Proven(order),
            Self::Either { convention, swapped, doubtful } => {
                StampOrder::Either { convention, swapped: convert(swapped)?, doubtful }
            }
        })
    }

    pub(crate) fn is_doubtful(&self) -> bool {
        matches!(self, Self::Either { doubtful: true, .. })
    }
}

/// The dates of a reading in one order.
#[derive(Debug, Default)]
pub(crate) struct DateEvidence {
    /// The order of ambiguous dates in this reading; none for the proven order, or the convention.
    pub(crate) assumed: Option<DateOrder>,
    proven: Option<DateOrder>,
    /// Dates prove both orders.
    is_mixed: bool,
    convention: Option<DateOrder>,
    doubtful: bool,
    last: Option<DateTime>,
    goes_back: bool,
    /// Sum of the distances between successive times.
    distance_s: f64,
}

impl DateEvidence {
    /// The date in the order of this reading.
    pub(crate) fn choose<T>(&mut self, at: T, order: StampOrder<T>) -> T {
        match order {
            StampOrder::Fixed => at,
            StampOrder::Proven(order) => {
                self.is_mixed |= *self.proven.get_or_insert(order) != order;
                at
            }
            StampOrder::Either { convention, swapped, doubtful } => {
                self.doubtful |= doubtful;
                let convention = *self.convention.get_or_insert(convention);
                let order = self.assumed.or(self.proven).unwrap_or(convention);
                if order == convention { at } else { swapped }
            }
        }
    }

    /// Records a time.
    pub(crate) fn observe(&mut self, at: DateTime) {
        if let Some(last) = self.last.replace(at) {
            let apart = at.duration_since(last).as_secs_f64();
            self.goes_back |= apart < 0.0;
            self.distance_s += apart.abs();
        }
    }

    pub(crate) const fn proven(&self) -> Option<DateOrder> {
        self.proven
    }

    /// The index of the reading with the likelier order, and whether that is certain.
    pub(crate) fn likelier(readings: [&Self; 2]) -> (usize, bool) {
        let index = |order| usize::from(readings[1].assumed == Some(order));
        let [first, second] = readings;
        match first.proven {
            _ if first.convention.is_none() => (0, true),
            Some(order) => (index(order), true),
            None if first.goes_back != second.goes_back => (usize::from(first.goes_back), true),
            None if first.distance_s < second.distance_s => (0, false),
            None if first.distance_s > second.distance_s => (1, false),
            None => (first.convention.map_or(0, index), false),
        }
    }

    /// The doubt about an order that is not certain.
    pub(crate) fn doubt(&self, is_certain: bool) -> Option<Doubt> {
        let order = self.assumed.or(self.proven).or(self.convention)?;
        let doubt = Doubt::AmbiguousDates { first: order.first() };
        (self.doubtful && (self.is_mixed || !is_certain)).then_some(doubt)
    }
}

/// True if a text has numeric dates with the year last, `1/2/2026` or `01-02-26`.
pub(crate) fn has_dates(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_date = |mark: usize| {
        let before = bytes[..mark].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let ahead = bytes[..mark - before].last();
        let month = digits(mark + 1);
        let second = mark + 1 + month;
        let year = if bytes.get(second) == Some(&bytes[mark]) { digits(second + 1) } else { 0 };
        let is_separate = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
        matches!((before, month, year), (1..=2, 1..=2, 2 | 4))
            && is_separate(ahead)
            && is_separate(bytes.get(second + 1 + year))
    };
    (0..bytes.len()).filter(|at| matches!(bytes[*at], b'/' | b'-')).any(is_date)
}

#[cfg(test)]
mod tests {
    use super::has_dates;

    #[test]
    fn dates_with_the_year_last_are_found() {
        for text in ["1/2/2026", "time;iops\n\"01-02-26 10:00\";5\n", "Linux 6.1 (db1) 03/24/15 _x86_64_"] {
            assert!(has_dates(text), "{text}");
        }
        for text in
            ["", "2026-01-31 12:30", "2026/01/31", "a1/2/2026", "1/2", "1/2/202", "1/2-2026", "/1/2/", "1-2-34-5"]
        {
            assert!(!has_dates(text), "{text}");
        }
    }
}
