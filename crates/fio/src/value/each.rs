//! A value per direction: reads, writes and trims.

use crate::number::Unreadable;

/// A value per direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Each<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T> Each<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Maps each value.
    pub fn map<U>(self, mut map: impl FnMut(T) -> U) -> Each<U> {
        Each { read: map(self.read), write: map(self.write), trim: map(self.trim) }
    }
}

impl<T: Clone> Each<Option<T>> {
    /// Parses `R`, `R,W` or `R,W,T`. Observed with fio 3.33: a single value applies to all directions, a second to
    /// writes and trims, a third to trims; omitted values stay unchanged, so that `4k,` applies only to reads.
    pub(crate) fn read(text: &str, read: impl Fn(&str) -> Result<T, Unreadable>) -> Result<Self, Unreadable> {
        let parts: Vec<&str> = text.trim_end().split(',').collect();
        let one = |index: usize| match parts.get(index).copied().filter(|part| !part.trim().is_empty()) {
            Some(part) => read(part).map(Some),
            None => Ok(None),
        };
        let (first, second, third) = (one(0)?, one(1)?, one(2)?);
        match parts.len() {
            1 => Ok(Self::all(first)),
            2 => Ok(Self { read: first, write: second.clone(), trim: second }),
            3 => Ok(Self { read: first, write: second, trim: third }),
            _ => Err(Unreadable("more than three values; write one each for reads, writes and trims".to_owned())),
        }
    }

    /// These values, or the earlier where missing.
    pub(crate) fn over(self, earlier: &Self) -> Self {
        Self {
            read: self.read.or_else(|| earlier.read.clone()),
            write: self.write.or_else(|| earlier.write.clone()),
            trim: self.trim.or_else(|| earlier.trim.clone()),
        }
    }

    /// These values, or `value` where missing.
    pub(crate) fn or(self, value: &T) -> Each<T> {
        self.map(|own| own.unwrap_or_else(|| value.clone()))
    }
}
