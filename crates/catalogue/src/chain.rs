//! Model of an offer: its ceilings as limits, followed by the stages of the product, inside its arrays.
//!
//! Writes the notation of models, which `plimsoll_model` parses.

use plimsoll_model::{ChainSpec, Layout};
use plimsoll_units::Bytes;
use thiserror::Error;

use crate::config::{Wrap, exactly};
use crate::expression::Value;
use crate::number::format_plain;
use crate::offer::{Ceiling, Offer};
use crate::product::{Access, Kinds, ProductKind, TemplatePiece};
use crate::resolve::Resolved;

/// Reason why an offer has no model.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoModel {
    /// Only ceilings are known, which do not determine response times.
    #[error("the catalogue does not know when {product} answers, only what it carries")]
    Unknown {
        /// Name of the product.
        product: String,
    },
    /// No ceilings, or none that a model supports.
    #[error("the catalogue knows no limits of {product}")]
    NoLimits {
        /// Name of the product.
        product: String,
    },
    /// A figure of the model depends on an option without a value.
    #[error("the model of {product} needs {expression}, which has no value for this configuration")]
    NoValue {
        /// Name of the product.
        product: String,
        /// The expression.
        expression: String,
    },
    /// The notation of the stages is invalid.
    #[error("the model of {product} cannot be read: {reason}")]
    Unreadable {
        /// Name of the product.
        product: String,
        /// Error of the notation.
        reason: String,
    },
}

impl Offer {
    /// Timing model of this offer.
    ///
    /// Of several ceilings for the same quantity, the smallest becomes a limit. A ceiling with credits becomes a limit
    /// with a burst, followed by the limit of the peak. Ceilings that apply to a single order of addresses are omitted,
    /// and listed by [`Offer::doubts`].
    pub fn model(&self) -> Result<ChainSpec, NoModel> {
        let unreadable = |error: plimsoll_model::NotationError| NoModel::Unreadable {
            product: self.volume.name.to_string(),
            reason: error.to_string(),
        };
        plimsoll_model::parse(&self.model_notation()?).map_err(unreadable)
    }

    /// Only the ceilings: the limits shared by the volumes of a machine, or those of a volume or an array of volumes.
    pub fn limits(&self) -> Result<ChainSpec, NoModel> {
        let unknown = || NoModel::NoLimits { product: self.volume.name.to_string() };
        let [own, shared] = self.ceilings_by_scope();
        let text = if self.config.wraps.is_empty() {
            let mut text = self.in_pieces(limits(&[own, shared].concat()))?;
            if let (ProductKind::Machine, Some(model)) = (self.volume.product.kind, &self.volume.product.model) {
                text.push(stages(&model.pieces, &self.volume)?);
            }
            text.join(THEN)
        } else {
            self.composed(self.in_pieces(limits(&own))?, self.in_pieces(limits(&shared))?, None)
        };
        plimsoll_model::parse(&text).map_err(|_| unknown())
    }

    /// The ceilings of the model: those of a volume, and those that volumes share.
    fn ceilings_by_scope(&self) -> [Vec<&Ceiling>; 2] {
        let ceilings = self.ceilings.iter().filter(|ceiling| belongs_in_model(ceiling));
        let (shared, own) = ceilings.partition(|ceiling| ceiling.scope.is_shared());
        [own, shared]
    }

    /// The model in its notation.
    pub fn model_notation(&self) -> Result<String, NoModel> {
        let unknown = || NoModel::Unknown { product: self.volume.name.to_string() };
        let model = self.volume.product.model.as_ref().ok_or_else(unknown)?;
        let [own, shared] = self.ceilings_by_scope();
        let mut outside = self.in_pieces(limits(&shared))?;
        if let Some(machine) = &self.machine
            && let Some(model) = &machine.product.model
        {
            outside.push(stages(&model.pieces, machine)?);
        }
        let model = stages(&model.pieces, &self.volume)?;
        Ok(self.composed(self.in_pieces(limits(&own))?, outside, Some(model)))
    }

    /// Limits that operations pass in the pieces of the product, if it has some.
    fn in_pieces(&self, texts: Vec<String>) -> Result<Vec<String>, NoModel> {
        let turn = self.volume.product.model.as_ref().and_then(|model| model.turn.as_ref());
        match turn {
            Some(size) if !texts.is_empty() => {
                Ok(vec![format!("pieces({}: {})", stages(size, &self.volume)?, texts.join(THEN))])
            }
            _ => Ok(texts),
        }
    }

    /// A chain of the limits of a volume and its model, wrapped, and of the limits that volumes share. A single volume: its
    /// limits, then the machine's. An array: the machine's limits once, before the members.
    fn composed(&self, mut member: Vec<String>, mut outside: Vec<String>, model: Option<String>) -> String {
        let first_array = self.config.wraps.iter().position(|wrap| matches!(wrap, Wrap::Array { .. }));
        if first_array.is_none() {
            member.append(&mut outside);
        }
        member.extend(model);
        let mut chain = member.join(THEN);
        for (index, wrap) in self.config.wraps.iter().enumerate().rev() {
            chain = wrapped(wrap, &chain);
            if first_array == Some(index) {
                outside.push(chain);
                chain = std::mem::take(&mut outside).join(THEN);
            }
        }
        chain
    }
}

const THEN: &str = " then ";
/// Response time of memory: a system call and a copy.
const MEMORY: &str = "link(1us) \"page cache\"";
/// Page size of a page cache.
const PAGE: &str = "4KiB";

fn belongs_in_model(ceiling: &Ceiling) -> bool {
    !ceiling.in_model && ceiling.access == Access::Any
}

/// Stages of a product, or the size of its pieces, with expressions evaluated.
fn stages(pieces: &[TemplatePiece], of: &Resolved) -> Result<String, NoModel> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            TemplatePiece::Text(piece) => text += piece,
            TemplatePiece::Hole(expression) => match expression.value(&of.values) {
                Value::Number(number) => text += &format_plain(number),
                Value::Text(word) => text += &word,
                Value::Absent => {
                    let expression = expression.text().to_owned();
                    return Err(NoModel::NoValue { product: of.name.to_string(), expression });
                }
            },
        }
    }
    Ok(text)
}

/// Writes complete in the cache while it has room, and are written back later; reads hit the cache for its content.
fn wrapped(wrap: &Wrap, chain: &str) -> String {
    match *wrap {
        Wrap::PageCache(size) => {
            let size = exactly(size);
            format!("{MEMORY} then writeback({size}, flush honoured: clock({size} of {PAGE}, hit: ; miss: {chain}))")
        }
        Wrap::Array { layout: Layout::Mirror, members, .. } => format!("mirror({members}: {chain})"),
        Wrap::Array { layout, members, interleave } => {
            format!("{}({members}, {}: {chain})", layout.word(), exactly(interleave))
        }
    }
}

/// Limits of ceilings: of all operations first, then of reads and of writes.
fn limits(ceilings: &[&Ceiling]) -> Vec<String> {
    let of = |kinds: Kinds| {
        let counted: Vec<&Ceiling> = ceilings.iter().copied().filter(|ceiling| ceiling.kinds == kinds).collect();
        effective(&counted)
    };
    let mut all = of(Kinds::All);
    let (reads, writes) = (of(Kinds::Read).join(THEN), of(Kinds::Write).join(THEN));
    if !reads.is_empty() || !writes.is_empty() {
        all.push(format!("split(read: {reads}; write: {writes})"));
    }
    all
}

/// A limit per counted quantity, and another per bucket of credits that can drain.
fn effective(ceilings: &[&Ceiling]) -> Vec<String> {
    let mut units: Vec<Option<Bytes>> = ceilings.iter().filter(|c| c.iops.is_some()).map(|c| c.unit).collect();
    units.sort_unstable();
    units.dedup();
    let mut texts = Vec::new();
    for unit in units {
        let per = unit.map_or_else(String::new, |unit| format!(" per {}", exactly(unit)));
        let operations = ceilings.iter().filter(|ceiling| ceiling.unit == unit);
        let rates = operations.filter_map(|c| Some(Rate { each_second: c.iops?, credits: c.credits, name: &c.name }));
        push(
            &mut texts,
            &rates.collect::<Vec<_>>(),
            |rate| format!("{}{per}", thousandths(rate)),
            |credits| format_plain(credits.round()),
        );
    }
    let bytes = |value: f64| exactly(Bytes::new(value.round().max(1.0) as u64));
    let rates = ceilings.iter();
    let rates =
        rates.filter_map(|c| Some(Rate { each_second: c.bytes_per_second?, credits: c.credit_bytes, name: &c.name }));
    push(&mut texts, &rates.collect::<Vec<_>>(), |rate| format!("{}/s", bytes(rate)), bytes);
    texts
}

/// A rate with its credits.
struct Rate<'c> {
    each_second: f64,
    credits: Option<f64>,
    name: &'c str,
}

fn push(texts: &mut Vec<String>, rates: &[Rate], show: impl Fn(f64) -> String, burst: impl Fn(f64) -> String) {
    let lasting =
        rates.iter().filter(|rate| rate.credits.is_none()).min_by(|a, b| a.each_second.total_cmp(&b.each_second));
    let peak = lasting.map_or(f64::INFINITY, |lasting| lasting.each_second);
    for (rate, credits) in
        rates.iter().filter_map(|rate| Some((rate, rate.credits.filter(|_| rate.each_second < peak)?)))
    {
        texts.push(format!("limit({}, burst {}) {}", show(rate.each_second), burst(credits), quoted(rate.name)));
    }
    texts.extend(lasting.map(|lasting| format!("limit({}) {}", show(lasting.each_second), quoted(lasting.name))));
}

/// Operations per second, in the precision of the notation.
fn thousandths(rate: f64) -> String {
    format_plain((rate * 1e3).round().max(1.0) / 1e3)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "'"))
}
