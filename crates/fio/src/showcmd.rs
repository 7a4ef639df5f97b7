//! Job files as equivalent command lines: `--showcmd`.
//!
//! Observed with fio 3.33: aliases are replaced by fio's names; a description is quoted, other values are not, even
//! with blanks; each global section repeats all options of earlier ones. Jobs of the command line itself are not shown.

use std::rc::Rc;

use crate::parse::Given;

/// Command line of a file in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript(String);

impl Transcript {
    /// Adds a global section, with all options so far.
    pub(crate) fn global(&mut self, globals: &[Rc<Given>]) {
        self.options(globals);
    }

    pub(crate) fn job(&mut self, name: &str, own: &[Rc<Given>]) {
        self.0.push_str(&format!("--name={name} "));
        self.options(own);
    }

    fn options(&mut self, given: &[Rc<Given>]) {
        for given in given {
            let name = given.spec.name;
            self.0.push_str(&match &given.raw {
                Some(value) if name == "description" => format!("--{name}=\"{value}\" "),
                Some(value) => format!("--{name}={value} "),
                None => format!("--{name} "),
            });
        }
    }

    /// The line; empty for a file without selected sections.
    pub(crate) fn line(&self) -> String {
        if self.0.is_empty() { "\n".to_owned() } else { format!("fio {}\n", self.0) }
    }
}
