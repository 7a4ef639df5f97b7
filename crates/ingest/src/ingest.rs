//! One file as the caller has it: a report, or an archive of several.

use crate::format::{Form, Input};
use crate::forms::FORMS;
use crate::kind::Kind;
use crate::member::Member;
use crate::reading::{Fate, Reading};
use crate::refusal::Refusal;
use crate::unpack::{Archive, Members};

/// What came of one input.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// What it says.
    Read(Box<Reading>),
    /// It gave nothing.
    Refused {
        /// What the caller called it.
        name: String,
        /// Why, where, and what to do about it.
        refusal: Refusal,
    },
}

/// An outcome in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// All of it was read that speaks of storage.
    Read,
    /// Something of it is broken.
    Partly,
    /// Nothing of it is used.
    Refused,
}

impl Outcome {
    /// In a word.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Read(reading) if reading.parts.iter().any(|part| part.fate == Fate::Broken) => Verdict::Partly,
            Self::Read(_) => Verdict::Read,
            Self::Refused { .. } => Verdict::Refused,
        }
    }

    /// What the caller called it; a file of an archive has the archive's name before its own.
    pub fn name(&self) -> &str {
        match self {
            Self::Read(reading) => &reading.name,
            Self::Refused { name, .. } => name,
        }
    }

    /// What it was recognised as.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Read(reading) => Some(reading.kind),
            Self::Refused { refusal: Refusal::Unusable { kind, .. }, .. } => Some(*kind),
            Self::Refused { .. } => None,
        }
    }

    /// What it says, when it was read.
    pub fn reading(&self) -> Option<&Reading> {
        match self {
            Self::Read(reading) => Some(reading),
            Self::Refused { .. } => None,
        }
    }
}

/// Reads one file: bytes are fed to it as they come, cut anywhere.
pub struct Ingest<'a> {
    packing: Packing,
    files: Files<'a>,
}

enum Packing {
    /// The first bytes, as long as they may be an archive's.
    Unknown(Vec<u8>),
    Single,
    Archive(Box<Archive>),
}

impl Ingest<'static> {
    /// Reads an input of any form that is known. A name alone is an [`Input`] as well.
    pub fn new(input: impl Into<Input>) -> Self {
        Self::among(FORMS, input)
    }
}

impl<'a> Ingest<'a> {
    /// Reads an input of one of `forms`.
    pub fn among(forms: &'a [Form], input: impl Into<Input>) -> Self {
        let files = Files { input: input.into(), forms, current: None, outcomes: Vec::new() };
        Self { packing: Packing::Unknown(Vec::new()), files }
    }

    /// Takes the next bytes. False when further ones are of no use: the input is refused already.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        match &mut self.packing {
            Packing::Single => self.files.bytes(bytes),
            Packing::Archive(archive) => archive.push(bytes, &mut self.files),
            Packing::Unknown(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= 4 {
                    self.begin();
                }
            }
        }
        !(matches!(self.packing, Packing::Single) && self.files.current.as_ref().is_some_and(Member::is_refused))
    }

    /// Ends the input. One outcome, or one for each file of an archive; never none.
    pub fn finish(mut self) -> Vec<Outcome> {
        if matches!(self.packing, Packing::Unknown(_)) {
            self.begin();
        }
        match &mut self.packing {
            Packing::Archive(archive) => archive.end(&mut self.files),
            _ => self.files.end(None),
        }
        self.files.outcomes
    }

    fn begin(&mut self) {
        let Packing::Unknown(head) = std::mem::replace(&mut self.packing, Packing::Single) else { return };
        if head.first_chunk::<4>().is_some_and(|magic| Archive::MAGICS.contains(magic)) {
            self.packing = Packing::Archive(Box::default());
        } else {
            self.files.current = Some(Member::new(self.files.forms, self.files.input.clone()));
        }
        self.feed(&head);
    }
}

/// The files of an input, one after the other.
struct Files<'a> {
    input: Input,
    forms: &'a [Form],
    current: Option<Member<'a>>,
    outcomes: Vec<Outcome>,
}

impl Files<'_> {
    fn name(&self, inner: &str) -> String {
        if inner.is_empty() { self.input.name.clone() } else { format!("{}/{inner}", self.input.name) }
    }
}

impl Members for Files<'_> {
    fn begin(&mut self, name: &str) {
        let input = Input { name: self.name(name), ..self.input.clone() };
        self.current = Some(Member::new(self.forms, input));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if let Some(member) = &mut self.current {
            member.push(bytes);
        }
    }

    fn end(&mut self, broken: Option<&'static str>) {
        if let Some(member) = self.current.take() {
            self.outcomes.push(member.finish(broken));
        }
    }

    fn refuse(&mut self, name: &str, refusal: Refusal) {
        self.current = None;
        let name = self.name(name);
        self.outcomes.push(Outcome::Refused { name, refusal });
    }
}
