//! Variables of a file's arithmetic, declared before expressions are parsed.

use crate::expression::{Resolve, Type};
use crate::nearest;
use crate::product::{Origin, Variable};

/// Variables by number.
pub(crate) struct Names {
    pub list: Vec<Variable>,
    /// Names that only machines can define, with the byte offset of each use.
    pub of_machines: Vec<(String, usize)>,
    /// Whether unknown names may be those of a machine.
    pub may_be_machines: bool,
}

impl Names {
    /// The variables that every file has.
    pub(crate) fn new() -> Self {
        let variable = |name: &str, holds| Variable { name: name.into(), holds, origin: Origin::Configuration };
        let list = vec![variable("members", Type::Number), variable("volume", Type::Text)];
        Self { list, of_machines: Vec::new(), may_be_machines: false }
    }

    /// The number of a new variable, or of the one that has this name already.
    pub(crate) fn declare(&mut self, name: &str, holds: Type, origin: Origin) -> Result<usize, usize> {
        if let Some(slot) = self.position(name) {
            return Err(slot);
        }
        self.list.push(Variable { name: name.into(), holds, origin });
        Ok(self.list.len() - 1)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|variable| *variable.name == *name)
    }

    /// Resolver for an expression at this byte offset.
    pub(crate) const fn at(&mut self, byte: usize) -> NamesAt<'_> {
        NamesAt { names: self, byte }
    }
}

/// Resolver for an expression at a byte offset.
pub(crate) struct NamesAt<'n> {
    names: &'n mut Names,
    byte: usize,
}

impl Resolve for NamesAt<'_> {
    fn resolve(&mut self, name: &str) -> Result<(usize, Type), String> {
        let names = &mut *self.names;
        let found = names.position(name);
        let is_machines = |slot: usize| names.list[slot].origin == Origin::Machine;
        match found.filter(|slot| names.may_be_machines || !is_machines(*slot)) {
            Some(slot) => {
                if is_machines(slot) {
                    names.of_machines.push((name.to_owned(), self.byte));
                }
                Ok((slot, names.list[slot].holds))
            }
            None if names.may_be_machines && !name.contains('.') => {
                names.of_machines.push((name.to_owned(), self.byte));
                names.list.push(Variable { name: name.into(), holds: Type::Any, origin: Origin::Machine });
                Ok((names.list.len() - 1, Type::Any))
            }
            None => Err(names.list_alternatives(name)),
        }
    }
}

impl Names {
    fn list_alternatives(&self, name: &str) -> String {
        let own = self.list.iter().filter(|variable| variable.origin != Origin::Machine);
        let own: Vec<&str> = own.map(|variable| &*variable.name).collect();
        let near = nearest(name, own.iter().copied());
        let near = if near.is_empty() { String::new() } else { format!("{}? of ", nearest::one_of(&near)) };
        format!("{near}{}", own.join(", "))
    }
}
