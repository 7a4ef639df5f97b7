//! What an input can be.

use std::fmt;

/// A kind of input. Each form of reading names its own, so that a new one touches no list but that of the forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// For programs: lower case, with hyphens; it never changes.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
