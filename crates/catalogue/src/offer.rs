//! What a configuration offers: its ceilings, what it costs, how it answers, and what is doubtful about that.
//!
//! Knows one configuration; which configurations exist is [`Catalogue`](crate::Catalogue)'s.

use std::sync::Arc;

use plimsoll_units::Bytes;

use crate::cite::Cite;
use crate::config::{Config, Wrap};
use crate::date::Date;
use crate::money::Currency;
use crate::product::Product;
use crate::resolve::Resolved;

/// Under which terms somebody would buy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Limits and prices are those of this time.
    pub as_of: Date,
    /// The currency of prices; may be absent when a product has prices in one only.
    pub currency: Option<Currency>,
    /// The vendor's region; may be absent when a product costs the same everywhere, or is listed in one region only.
    pub region: Option<String>,
}

/// What a configuration offers.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The configuration in full: the product's own name, every option with its value.
    pub config: Config,
    /// The product's title.
    pub title: Arc<str>,
    /// Bytes that can be kept on the whole of it; zero for a machine.
    pub capacity: Bytes,
    /// Every ceiling that holds: those of one volume (of each member, in an array), then those of the machine.
    pub ceilings: Vec<Ceiling>,
    /// The volume's options as they are, in the order of the product file; then `tier`, of a product that has tiers.
    pub options: Vec<Chosen>,
    /// The machine's options, when there is a machine.
    pub machine_options: Vec<Chosen>,
    pub(crate) volume: Resolved,
    pub(crate) machine: Option<Resolved>,
    pub(crate) terms: Terms,
}

/// An option's value, and what else it could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The option.
    pub name: Arc<str>,
    /// Its value; `None` when it was neither given nor has a default.
    pub value: Option<OptionValue>,
    /// Who chose it.
    pub by: ChosenBy,
    /// Smallest value that this configuration allows; for numbers and sizes.
    pub low: Option<f64>,
    /// Largest one.
    pub high: Option<f64>,
    /// Values are multiples of this, or the largest one.
    pub step: Option<f64>,
    /// What may be chosen; for choices.
    pub choices: Vec<Arc<str>>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A number; a size in the vendor's capacity unit.
    Number(f64),
    /// A choice.
    Text(Arc<str>),
}

/// Where an option's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// The configuration names it.
    Configuration,
    /// The product has it when nobody says otherwise, or the tier implies it.
    Default,
}

/// Where a limit sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The volume by its size and settings.
    Volume,
    /// The performance level or tier.
    Level,
    /// The attachment of a volume to a machine.
    Attachment,
    /// The machine.
    Machine,
    /// The guest's driver or queue.
    Guest,
    /// The network.
    Network,
    /// The media.
    Media,
    /// A controller of an array.
    Controller,
    /// The account.
    Account,
}

/// Which operations a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kinds {
    /// Reads and writes.
    All,
    /// Reads only.
    Read,
    /// Writes only.
    Write,
}

/// Which order of addresses a limit is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Any.
    Any,
    /// One after the other only.
    Sequential,
    /// Random only.
    Random,
}

/// A ceiling of what can be carried.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// What a person reads when it binds.
    pub name: Arc<str>,
    /// Where it sits.
    pub scope: Scope,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// What it counts.
    pub kinds: Kinds,
    /// What it is meant for.
    pub access: Access,
    /// An operation counts once for each begun unit of this size; `None`: once whatever its size.
    pub unit: Option<Bytes>,
    /// A bucket of this many operations, full at the beginning: while it lasts, the limit does not hold.
    pub credits: Option<f64>,
    /// The same in bytes.
    pub credit_bytes: Option<f64>,
    /// It is the peak while credits last.
    pub burst: bool,
    /// The product's model holds it already.
    pub in_model: bool,
    /// What raises it, best first: options, `tier` or `machine`.
    pub lift: Vec<Arc<str>>,
    /// Where it was read.
    pub cite: Arc<Cite>,
}

/// What the vendor says about latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// In the vendor's words.
    pub text: Arc<str>,
    /// Where it was read.
    pub cite: Arc<Cite>,
}

/// Something that makes an offer's figures questionable.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// One sentence.
    pub text: String,
    /// The source of the figure in question, when it is about one.
    pub cite: Option<Arc<Cite>>,
}

impl Scope {
    /// Its word in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Level => "level",
            Self::Attachment => "attachment",
            Self::Machine => "machine",
            Self::Guest => "guest",
            Self::Network => "network",
            Self::Media => "media",
            Self::Controller => "controller",
            Self::Account => "account",
        }
    }

    /// True for what the members of an array share: it counts once for all of them.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Machine | Self::Guest | Self::Network | Self::Controller | Self::Account)
    }
}

impl Kinds {
    /// Its word in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Access {
    /// Its word in product files: `any`, `sequential`, `random`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }
}

impl Offer {
    /// What the vendor says about latency.
    pub fn latency(&self) -> Vec<Latency> {
        let said = self.volume.product.latency.iter().filter(|(_, validity)| validity.holds(self.terms.as_of));
        said.map(|(latency, _)| latency.clone()).collect()
    }

    /// The configuration for people to read and type: without the options that are as the product has them by default.
    /// It gives the same offer.
    pub fn short(&self) -> Config {
        let as_of = self.terms.as_of;
        Config {
            wraps: self.config.wraps.clone(),
            volume: self.volume.short_part(as_of, self.machine.as_ref()),
            machine: self.machine.as_ref().map(|machine| machine.short_part(as_of, None)),
        }
    }

    /// The terms under which it was made.
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The product.
    pub fn product(&self) -> &Product {
        &self.volume.product
    }

    /// A number of the machine by the name of its column or option, such as `max_ebs_attachments`; `None` without a
    /// machine, or if it has no such number.
    pub fn machine_figure(&self, name: &str) -> Option<f64> {
        let machine = self.machine.as_ref()?;
        let variable = machine.product.variables.iter().position(|variable| &*variable.name == name)?;
        machine.values[variable].as_number()
    }

    /// What the machine has to be like that it is attached to, in the words of the product's rules; empty when one is
    /// named, as it was checked then.
    pub fn needs(&self) -> Vec<Arc<str>> {
        self.volume.undecided(self.terms.as_of).map(|rule| Arc::clone(&rule.message)).collect()
    }

    /// What makes the figures questionable: of the ceilings, and of the model when there is one.
    pub fn doubts(&self) -> Vec<Doubt> {
        let mut doubts: Vec<Doubt> = self.ceilings.iter().filter_map(doubtful).collect();
        let Some(model) = &self.volume.product.model else { return doubts };
        let about = |text: String| Doubt { text, cite: Some(Arc::clone(&model.cite)) };
        doubts.extend(model.cite.status.doubt().map(|doubt| about(format!("when it answers {doubt}"))));
        doubts.extend(model.doubts.iter().cloned().map(about));
        let left_out = self.ceilings.iter().filter(|ceiling| ceiling.access != Access::Any && !ceiling.in_model);
        doubts.extend(left_out.map(|ceiling| Doubt {
            text: format!("the model leaves out \"{}\", which holds for one order of addresses only", ceiling.name),
            cite: Some(Arc::clone(&ceiling.cite)),
        }));
        if self.config.wraps.iter().any(|wrap| matches!(wrap, Wrap::PageCache(_))) {
            let text = "the page cache is taken to hold unwritten pages up to its whole size; Linux holds writers back \
                        earlier (vm.dirty_ratio)";
            doubts.push(Doubt { text: text.to_owned(), cite: None });
        }
        doubts
    }
}

fn doubtful(ceiling: &Ceiling) -> Option<Doubt> {
    let text = format!("\"{}\" {}", ceiling.name, ceiling.cite.status.doubt()?);
    Some(Doubt { text, cite: Some(Arc::clone(&ceiling.cite)) })
}
