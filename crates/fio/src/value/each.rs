//! A value for each direction: reads, writes and trims.

use crate::number::Unreadable;

/// One for each direction of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Each<T> {
    /// Of reads.
    pub read: T,
    /// Of writes.
    pub write: T,
    /// Of trims. Nothing here trims; it is kept for what is shown of a job.
    pub trim: T,
}

impl<T> Each<T> {
    /// The same for all.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }

    /// What `map` makes of each.
    pub fn map<U>(self, mut map: impl FnMut(T) -> U) -> Each<U> {
        Each { read: map(self.read), write: map(self.write), trim: map(self.trim) }
    }
}

impl<T: Clone> Each<Option<T>> {
    /// Reads `R`, `R,W` or `R,W,T`. Learned by running fio 3.33: one value is for all, a second one for writes and, if
    /// there is no third, for trims, a third one for trims; what is left out stays as it was, so that `4k,` is of reads
    /// alone.
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

    /// These, and where there is none, the earlier ones.
    pub(crate) fn over(self, earlier: &Self) -> Self {
        Self {
            read: self.read.or_else(|| earlier.read.clone()),
            write: self.write.or_else(|| earlier.write.clone()),
            trim: self.trim.or_else(|| earlier.trim.clone()),
        }
    }

    /// These, and `value` where there is none.
    pub(crate) fn or(self, value: &T) -> Each<T> {
        self.map(|own| own.unwrap_or_else(|| value.clone()))
    }
}
