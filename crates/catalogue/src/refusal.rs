//! Refusals of configurations.

use std::fmt;
use std::sync::Arc;

use plimsoll_language::{label, say};
use thiserror::Error;

use crate::cite::Cite;
use crate::nearest;
use crate::translate::translate;

/// A name without a product.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the catalogue has no product {name:?}{}{}", nearest_words(nearest), own_machine(*is_machine))]
pub struct UnknownProduct {
    /// The name.
    pub name: String,
    /// Similar names.
    pub nearest: Vec<String>,
    /// True if a machine is expected, or if all similar names are those of machines.
    pub is_machine: bool,
}

fn nearest_words(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { say!("; did you mean {}?", nearest::one_of(names)) }
}

fn own_machine(is_machine: bool) -> &'static str {
    if is_machine { label!(" (other machines: machine(iops=12800, mbps=192))") } else { "" }
}

/// Refusal of a configuration. The message is a single line with the allowed values.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ConfigRefusal {
    /// Unknown product.
    #[error(transparent)]
    UnknownProduct(#[from] UnknownProduct),
    /// Volume and machine of different clouds.
    #[error("{product} cannot be attached to {machine}: name a machine of the same provider")]
    OtherProvider {
        /// Name of the volume.
        product: String,
        /// Name of the machine.
        machine: String,
    },
    /// A volume in place of a machine.
    #[error("{product} is no machine: after on, name one")]
    NoMachine {
        /// Name of the product.
        product: String,
    },
    /// A managed database as part of a configuration of the user's own.
    #[error("{product} is a managed database and runs on the provider's machines: it cannot be {usage}{}", instead(class.as_deref()))]
    Managed {
        /// Name of the product.
        product: String,
        /// The refused use.
        usage: &'static str,
        /// An instance class that may be chosen instead, if there are any.
        class: Option<String>,
    },
    /// Unknown option.
    #[error("{product} has no option {option:?}: it has {}", nearest::one_of(existing))]
    UnknownOption {
        /// Name of the product.
        product: String,
        /// Name of the option.
        option: String,
        /// Options of the product.
        existing: Vec<String>,
    },
    /// A word that is neither a tier nor a choice.
    #[error("{product} has no {} {word:?}: {}", sorts(existing), alternatives(existing))]
    UnknownWord {
        /// Name of the product.
        product: String,
        /// The word.
        word: String,
        /// Tiers, under `tier`, and choices of each option.
        existing: Vec<(String, Vec<String>)>,
    },
    /// A word that is a choice of several options.
    #[error("{product}: {word:?} may be {}: write {}={word}", nearest::one_of(options), options[0])]
    AmbiguousWord {
        /// Name of the product.
        product: String,
        /// The word.
        word: String,
        /// The options.
        options: Vec<String>,
    },
    /// A value that is not a number.
    #[error("{product}: {option} is {value:?}, which is no number")]
    NoNumber {
        /// Name of the product.
        product: String,
        /// Name of the option.
        option: String,
        /// The value.
        value: String,
    },
    /// A value that is not a choice.
    #[error("{product}: {option} is {value:?}; it can be {}", nearest::one_of(choices))]
    NoChoice {
        /// Name of the product.
        product: String,
        /// Name of the option.
        option: String,
        /// The value.
        value: String,
        /// Allowed values.
        choices: Vec<String>,
    },
    /// A required option is missing.
    #[error("{product} needs {option}: give it {range}")]
    Missing {
        /// Name of the product.
        product: String,
        /// Name of the option.
        option: String,
        /// Allowed range.
        range: String,
    },
    /// A value outside of the range.
    #[error("{product}: {option} is {value}, and can be {range}{}{}", noted(note), cited(cite))]
    OutOfRange {
        /// Name of the product.
        product: Arc<str>,
        /// Name of the option.
        option: Arc<str>,
        /// The value, with its unit.
        value: String,
        /// The range, with its unit.
        range: String,
        /// Remark of the product file; may be empty.
        note: String,
        /// Source of the range.
        cite: Arc<Cite>,
    },
    /// A value between two steps.
    #[error(
        "{product}: {option} is {value}, and goes in steps of {step}: the nearest are {}{}",
        nearest::one_of(nearest),
        cited(cite)
    )]
    OffStep {
        /// Name of the product.
        product: Arc<str>,
        /// Name of the option.
        option: Arc<str>,
        /// The value, with its unit.
        value: String,
        /// The step, with its unit.
        step: String,
        /// Nearest valid values, with their units.
        nearest: Vec<String>,
        /// Source of the range.
        cite: Arc<Cite>,
    },
    /// The size exceeds the named tier.
    #[error("{product}: {tier} holds {holds}, not {size}")]
    TierTooSmall {
        /// Name of the product.
        product: String,
        /// Name of the tier.
        tier: String,
        /// Capacity of the tier.
        holds: String,
        /// The requested size.
        size: String,
    },
    /// A combination that the vendor excludes.
    #[error("{product}: {message}{}", cited(cite))]
    Rule {
        /// Name of the product.
        product: String,
        /// Text of the rule.
        message: String,
        /// Source of the rule.
        cite: Arc<Cite>,
    },
    /// The catalogue has no limits of the product at that date.
    #[error("the catalogue knows no limits of {product} as of {as_of}; it knows {}", existing.join(", "))]
    NoLimitsThen {
        /// Name of the product.
        product: String,
        /// The date.
        as_of: String,
        /// Validity of known limits: `from A`, `until B`.
        existing: Vec<String>,
    },
    /// An expression of the product file has no value for this configuration.
    #[error("{product}: {what} has no value for this configuration")]
    NoValue {
        /// Name of the product.
        product: String,
        /// The figure.
        what: String,
    },
}

/// Kinds of a word: tier or choice.
fn sorts(existing: &[(String, Vec<String>)]) -> &'static str {
    match existing {
        [(only, _)] if only == "tier" => label!("tier"),
        [(first, _), ..] if first == "tier" => label!("tier or choice"),
        _ => label!("choice"),
    }
}

/// `tier can be P1 or P2; expanded can be no or yes`.
fn alternatives(existing: &[(String, Vec<String>)]) -> String {
    if existing.is_empty() {
        return label!("name an option and its value, such as size=100").into();
    }
    let one = |(name, values): &(String, Vec<String>)| say!("{name} can be {}", nearest::one_of(values));
    existing.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn instead(class: Option<&str>) -> String {
    class.map_or_else(String::new, |class| say!("; choose an instance class, such as {class}"))
}

fn noted(note: &str) -> String {
    if note.is_empty() { String::new() } else { say!("; {}", translate(note)) }
}

fn cited(cite: &impl fmt::Display) -> String {
    format!(" [{cite}]")
}
