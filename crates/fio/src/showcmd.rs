//! Job files as the command line that says the same: `--showcmd`.
//!
//! Learned by running fio 3.33: names are fio's own, whatever alias was written; a description stands in quotes, other
//! values do not, blanks or not; each global section repeats all options of those before it. Jobs of the command line
//! itself are not shown.

use std::rc::Rc;

use crate::parse::Given;

/// What is collected while files are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript(String);

impl Transcript {
    /// A global section: what all of them say up to here.
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

    /// One line; empty for a file of which nothing is taken.
    pub(crate) fn line(&self) -> String {
        if self.0.is_empty() { "\n".to_owned() } else { format!("fio {}\n", self.0) }
    }
}
