//! What a dialect of traces has to say, and to whom. Knows no dialect.

use plimsoll_record::Action;

use super::form::Counting;
use super::volumes::Volume;
use crate::figure::Scope;
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::kind::Kind;

/// Bytes of a sector, which is what block addresses count.
pub(super) const SECTOR: u64 = 512;

/// One operation. What the dialect does not say is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The line, or the record, from 1.
    pub(super) number: u64,
    /// Nanoseconds since whatever the dialect counts from.
    pub(super) at_ns: Option<u64>,
    /// What it does.
    pub(super) action: Option<Action>,
    /// First byte; of objects, what tells them apart.
    pub(super) place: u64,
    /// Bytes.
    pub(super) length: Option<u64>,
    /// What it was asked of.
    pub(super) volume: Volume,
    /// Nanoseconds until it was answered, where the same record says so.
    pub(super) took_ns: Option<u64>,
}

/// Takes what a dialect says.
pub(super) trait Sink {
    /// The volume of a name. The same one for the same name.
    fn volume(&mut self, name: &[u8]) -> Volume;

    /// Takes an operation, and gives a mark for its answer.
    fn asked(&mut self, said: &Said) -> Mark;

    /// Takes the answer to an operation, where another record has it.
    fn answered(&mut self, mark: Mark, took_ns: u64);

    /// A record that cannot be read.
    fn broken(&mut self, number: u64, what: &str);
}

/// Finds an operation again: its class and window, as numbers of whoever took it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at_ns: u64,
    pub(super) class: u8,
}

/// One way to write a trace down.
pub(super) trait Dialect {
    /// What it is.
    const KIND: Kind;
    /// What it is fed.
    const TAKES: Takes;

    /// A reader at the beginning of a trace.
    fn new() -> Self
    where
        Self: Sized;

    /// How much the first bytes of an input look like it.
    fn resembles(head: &[u8]) -> Resemblance
    where
        Self: Sized;

    /// Takes further bytes, cut anywhere.
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink);

    /// Learns that there is no more.
    fn end(&mut self, sink: &mut dyn Sink);

    /// What is true of the dialect as far as it was read.
    fn about(&self) -> About;
}

/// What a trace is like as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    /// Nanoseconds from 1970 to the moment that times count from, where that is a moment of the calendar.
    pub(super) epoch_ns: Option<i128>,
    /// What was guessed, or is missing: a sentence each.
    pub(super) doubts: Vec<String>,
    /// Operations that the recorder could not keep.
    pub(super) dropped: u64,
    /// Nanoseconds of the smallest step of its clock, where that is large.
    pub(super) tick_ns: u64,
    /// How records are ordered.
    pub(super) order: Order,
    /// Whom a volume's name stands for.
    pub(super) scope: Option<fn(&str) -> Scope>,
    /// What its records are called.
    pub(super) counts: Counts,
}

/// How records of a dialect are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// By time, or it is wrong.
    Strict,
    /// Nearly by time: several processors wrote them.
    #[default]
    Loose,
}

/// What numbers of records count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counts {
    /// Lines of text.
    #[default]
    Lines,
    /// Records without lines.
    Records,
}

/// A dialect that is known: how it is recognised and opened, for either use.
pub(super) struct Known {
    pub(super) form: Form,
    pub(super) open: fn() -> Box<dyn Reader>,
}

/// A [`Dialect`] without what must be known before it is opened.
pub(super) trait Reader {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink);
    fn end(&mut self, sink: &mut dyn Sink);
    fn about(&self) -> About;
}

impl<D: Dialect> Reader for D {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        Dialect::feed(self, bytes, sink);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        Dialect::end(self, sink);
    }

    fn about(&self) -> About {
        Dialect::about(self)
    }
}

/// A dialect, as a form and as what can be replayed.
pub(super) const fn known<D: Dialect + 'static>() -> Known {
    Known {
        form: Form { kind: D::KIND, takes: D::TAKES, resembles: D::resembles, open: open_form::<D> },
        open: || Box::new(D::new()),
    }
}

fn open_form<D: Dialect + 'static>(input: &Input) -> Box<dyn Format> {
    Box::new(Counting::new(D::KIND, D::new(), input))
}
