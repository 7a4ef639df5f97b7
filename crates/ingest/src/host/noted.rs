//! What became of parts of an input that are met many times and told once. Knows no part.

use crate::builder::Builder;
use crate::reading::Fate;

/// Parts, each with its fate.
#[derive(Debug, Default)]
pub(super) struct Noted(Vec<(&'static str, Fate)>);

impl Noted {
    /// Remembers a part; once is enough.
    pub(super) fn note(&mut self, name: &'static str, fate: Fate) {
        if !self.0.iter().any(|(known, _)| *known == name) {
            self.0.push((name, fate));
        }
    }

    /// Tells all of them.
    pub(super) fn tell(&self, out: &mut Builder) {
        for (name, fate) in &self.0 {
            out.part(*name, *fate);
        }
    }
}
