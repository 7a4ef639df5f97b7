//! A table of values with small numbers of 32 bits, which are reused after removal.

use slab::Slab;

/// A slab whose keys fit into the user data of a ring and into handles of protocols.
#[derive(Debug)]
pub(crate) struct Slots<T>(Slab<T>);

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self(Slab::new())
    }

    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        self.0.insert(value) as u32
    }

    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        self.0.try_remove(number as usize)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.0.get(number as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(number as usize)
    }

    /// All values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    /// All values.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The numbers in use, ascending.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.0.iter().map(|(number, _)| number as u32).collect()
    }
}
