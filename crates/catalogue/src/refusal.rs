//! Why a configuration cannot be had.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::cite::Cite;
use crate::nearest;

/// A name that no product has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the catalogue has no product {name:?}{}", nearest_words(nearest))]
pub struct UnknownProduct {
    /// The name.
    pub name: String,
    /// Names that are near to it.
    pub nearest: Vec<String>,
}

fn nearest_words(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", nearest::one_of(names)) }
}

/// Why a configuration cannot be had. Its message is one line, and names what is allowed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Refusal {
    /// There is no such product.
    #[error(transparent)]
    UnknownProduct(#[from] UnknownProduct),
    /// A volume of one cloud at a machine of another.
    #[error("{product} cannot be attached to {machine}: name a machine of the same provider")]
    OtherProvider {
        /// The volume.
        product: String,
        /// The machine.
        machine: String,
    },
    /// A volume where a machine should stand.
    #[error("{product} is no machine: after on, name one")]
    NoMachine {
        /// The product.
        product: String,
    },
    /// The product has no such option.
    #[error("{product} has no option {option:?}: it has {}", nearest::one_of(known))]
    UnknownOption {
        /// The product.
        product: String,
        /// The option.
        option: String,
        /// The options that it has.
        known: Vec<String>,
    },
    /// A word that is neither a tier nor a choice.
    #[error("{product} has no tier or choice {word:?}: it has {}", nearest::one_of(known))]
    UnknownWord {
        /// The product.
        product: String,
        /// The word.
        word: String,
        /// Its tiers and choices.
        known: Vec<String>,
    },
    /// A value that is no number.
    #[error("{product}: {option} is {value:?}, which is no number")]
    NoNumber {
        /// The product.
        product: String,
        /// The option.
        option: String,
        /// The value.
        value: String,
    },
    /// A value that is none of the choices.
    #[error("{product}: {option} is {value:?}; it can be {}", nearest::one_of(choices))]
    NoChoice {
        /// The product.
        product: String,
        /// The option.
        option: String,
        /// The value.
        value: String,
        /// What may be chosen.
        choices: Vec<String>,
    },
    /// An option that must be given was not.
    #[error("{product} needs {option}: give it {range}")]
    Missing {
        /// The product.
        product: String,
        /// The option.
        option: String,
        /// What it may be.
        range: String,
    },
    /// A value outside the offer.
    #[error("{product}: {option} is {value}, and can be {range}{}{}", noted(note), cited(cite))]
    OutOfRange {
        /// The product.
        product: Arc<str>,
        /// The option.
        option: Arc<str>,
        /// The value, with its unit.
        value: String,
        /// The range, with its unit.
        range: String,
        /// A remark of the product file; empty when there is none.
        note: String,
        /// Where the range was read.
        cite: Arc<Cite>,
    },
    /// A value between two steps.
    #[error(
        "{product}: {option} is {value}, and goes in steps of {step}: the nearest are {}{}",
        nearest::one_of(nearest),
        cited(cite)
    )]
    OffStep {
        /// The product.
        product: Arc<str>,
        /// The option.
        option: Arc<str>,
        /// The value, with its unit.
        value: String,
        /// The step, with its unit.
        step: String,
        /// The values below and above, with their units.
        nearest: Vec<String>,
        /// Where the range was read.
        cite: Arc<Cite>,
    },
    /// The size does not fit the tier that was named.
    #[error("{product}: {tier} holds {holds}, not {size}")]
    TierTooSmall {
        /// The product.
        product: String,
        /// The tier.
        tier: String,
        /// What it holds.
        holds: String,
        /// The size that was given.
        size: String,
    },
    /// A combination that the vendor does not sell.
    #[error("{product}: {message}{}", cited(cite))]
    Rule {
        /// The product.
        product: String,
        /// The rule in words.
        message: String,
        /// Where it was read.
        cite: Arc<Cite>,
    },
    /// Nothing is known about the product at that date.
    #[error("the catalogue knows no limits of {product} as of {as_of}; it knows {}", known.join(", "))]
    NoLimitsThen {
        /// The product.
        product: String,
        /// The date.
        as_of: String,
        /// When limits are known: `from A`, `until B`.
        known: Vec<String>,
    },
    /// The product file's arithmetic gives no number for these values.
    #[error("{product}: {what} has no value for this configuration")]
    NoValue {
        /// The product.
        product: String,
        /// What.
        what: String,
    },
}

fn noted(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("; {note}") }
}

fn cited(cite: &impl fmt::Display) -> String {
    format!(" [{cite}]")
}
