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
    #[error("{product} has no {} {word:?}: {}", sorts(known), alternatives(known))]
    UnknownWord {
        /// The product.
        product: String,
        /// The word.
        word: String,
        /// Its tiers, called `tier`, and the choices of its options.
        known: Vec<(String, Vec<String>)>,
    },
    /// A word that several options have for a choice.
    #[error("{product}: {word:?} may be {}: write {}={word}", nearest::one_of(options), options[0])]
    AmbiguousWord {
        /// The product.
        product: String,
        /// The word.
        word: String,
        /// The options that have it.
        options: Vec<String>,
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

/// What a word could have been.
fn sorts(known: &[(String, Vec<String>)]) -> &'static str {
    match known {
        [(only, _)] if only == "tier" => "tier",
        [(first, _), ..] if first == "tier" => "tier or choice",
        _ => "choice",
    }
}

/// `tier can be P1 or P2; expanded can be no or yes`.
fn alternatives(known: &[(String, Vec<String>)]) -> String {
    if known.is_empty() {
        return "name an option and its value, such as size=100".into();
    }
    let one = |(name, values): &(String, Vec<String>)| format!("{name} can be {}", nearest::one_of(values));
    known.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn noted(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("; {note}") }
}

fn cited(cite: &impl fmt::Display) -> String {
    format!(" [{cite}]")
}
