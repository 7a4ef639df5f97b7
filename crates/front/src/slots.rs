//! A table of values with small numbers, which are reused after removal.

/// A table that reuses the lowest free numbers.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = Some(thing);
            return number;
        }
        self.all.push(Some(thing));
        self.all.len() as u32 - 1
    }

    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let thing = self.all.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(thing)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.all.get(number as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.all.get_mut(number as usize)?.as_mut()
    }

    /// All values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter().flatten()
    }

    /// All values.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// The numbers in use, ascending.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        (0..self.all.len() as u32).filter(|number| self.get(*number).is_some()).collect()
    }
}
