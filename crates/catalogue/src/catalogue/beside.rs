//! Checks of a product that need the rest of the catalogue: names, model, published tables.

use std::sync::Arc;

use plimsoll_units::Bytes;

use super::Catalogue;
use crate::ask::Ask;
use crate::complaint::Complaints;
use crate::config::{Config, Part, Setting};
use crate::date::Date;
use crate::expression::Value;
use crate::number::{display, format_plain};
use crate::offer::{Offer, PriceTerms};
use crate::product::{Product, ProductKind, PublishedTable, Range};
use crate::refusal::ConfigRefusal;

/// Quantity in a column of a published table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TableQuantity {
    Iops,
    Bytes(f64),
    PeakIops,
    PeakBytes(f64),
    BurstSeconds,
    RefillSeconds,
}

const FIGURES: [(&str, TableQuantity); 9] = [
    ("iops", TableQuantity::Iops),
    ("mbps", TableQuantity::Bytes(1e6)),
    ("mibps", TableQuantity::Bytes(1_048_576.0)),
    ("bytes", TableQuantity::Bytes(1.0)),
    ("peak_iops", TableQuantity::PeakIops),
    ("peak_mbps", TableQuantity::PeakBytes(1e6)),
    ("peak_mibps", TableQuantity::PeakBytes(1_048_576.0)),
    ("burst_s", TableQuantity::BurstSeconds),
    ("refill_s", TableQuantity::RefillSeconds),
];

impl Catalogue {
    /// Checks that the names of a product are unique.
    pub(super) fn check_names(&self, product: &Product, to: &mut Complaints, text: &str) {
        let at = |word: &str| text.find(&format!("\"{word}\"")).unwrap_or(0);
        let mut observed: Vec<&str> = Vec::new();
        if product.kind != ProductKind::Machine {
            for name in std::iter::once(&*product.name).chain(product.aliases.iter().map(String::as_str)) {
                if self.names.contains_key(&name.to_lowercase()) || observed.contains(&name) {
                    to.at(
                        at(name),
                        format!("the name {name:?} is taken"),
                        "names and aliases that no other product has",
                    );
                }
                observed.push(name);
            }
        }
        for name in product.machines().filter(|name| self.names.contains_key(&name.to_lowercase())) {
            let row = name.split_once('/').map_or(name.as_str(), |(_, row)| row);
            to.at(at(row), format!("there is a machine {name:?} already"), "machines that no other file has");
        }
    }

    /// Checks the product added last.
    pub(super) fn check_last(&self, of_machines: &[(String, usize)], to: &mut Complaints) {
        let Some(product) = self.products.last().map(Arc::clone) else { return };
        for (name, at) in of_machines {
            let machines = self.products().filter(|product| product.kind == ProductKind::Machine);
            let mut variables = machines.flat_map(|machines| &machines.variables);
            if !variables.any(|variable| *variable.name == **name) {
                let own: Vec<&str> = product.variables.iter().map(|variable| &*variable.name).collect();
                let near = crate::nearest::suggestion(name, own.iter().copied().filter(|own| own != name));
                to.at(*at, format!("there is no {name:?}{near}"), "variables of the file, or of a machine's file");
            }
        }
        if product.kind != ProductKind::Machine {
            self.check_defaults(&product, to);
        }
        for table in &product.published {
            self.check_table(&product, table, to);
        }
    }

    /// Checks that a product has an offer and a model at its defaults, or at the smallest size.
    fn check_defaults(&self, product: &Product, to: &mut Complaints) {
        let size = product.option("size").filter(|(_, option)| option.default.is_none());
        let smallest = size.and_then(|(_, option)| match &option.range {
            Range::Size(_, choices) if !choices.is_empty() => choices.first().cloned(),
            _ => option.bounds()?.low.as_ref()?.as_constant().map(Value::Number),
        });
        let settings: Vec<Setting> = smallest.into_iter().map(|value| setting("size", &value)).collect();
        match self.quote(&product.name, settings, Date::year(9999)) {
            Err(refusal) => to.at(0, format!("at its defaults: {refusal}"), "defaults that can be had"),
            Ok(offer) => {
                let Some(model) = &product.model else { return };
                if let Err(error) = offer.model() {
                    to.at(model.at, format!("at its defaults: {error}"), "stages in the notation of models");
                }
            }
        }
    }

    fn quote(&self, product: &str, settings: Vec<Setting>, as_of: Date) -> Result<Offer, ConfigRefusal> {
        let volume = Part { product: product.to_owned(), settings };
        let terms = PriceTerms { as_of, currency: None, region: None };
        self.offer(&Config { wraps: Vec::new(), volume, machine: None }, &terms)
    }

    fn check_table(&self, product: &Product, table: &PublishedTable, to: &mut Complaints) {
        for (index, (at, row)) in table.rows.iter().enumerate() {
            let excepted = table.except.contains(&(index + 1));
            match self.check_row(product, table, row) {
                Err(_) if excepted => {}
                Ok(()) if excepted => {
                    let what = format!("row {} of {:?} agrees, and is excepted", index + 1, table.title);
                    to.at(*at, what, "exceptions for rows that do not agree");
                }
                Err(why) => {
                    to.at(*at, format!("row {} of {:?}: {why}", index + 1, table.title), "the published figure");
                }
                Ok(()) => {}
            }
        }
    }

    fn check_row(&self, product: &Product, table: &PublishedTable, row: &[Value]) -> Result<(), String> {
        let mut name = product.name.to_string();
        let mut settings: Vec<Setting> = Vec::new();
        let mut figures = Vec::new();
        let columns = table.columns.iter().map(String::as_str).zip(row);
        for (column, value) in table.set.iter().map(|(name, value)| (name.as_str(), value)).chain(columns) {
            match value {
                Value::Absent => {}
                Value::Text(row) if column == "name" => name = format!("{}/{row}", product.name),
                Value::Text(tier) if column == "tier" => settings.push(Setting::Word(tier.to_string())),
                Value::Number(number) if column.contains('@') => figures.push((column, *number)),
                value => settings.push(setting(column, value)),
            }
        }
        let offer = self.quote(&name, settings, table.as_of).map_err(|refusal| refusal.to_string())?;
        for (column, published) in figures {
            let (ask, figure) = read_column(column)?;
            let found = look_up(&offer, &ask, figure).ok_or_else(|| format!("{column}: the limits give nothing"))?;
            if (found - published).abs() > table.tolerance * published.abs() {
                return Err(format!("{column} is {} by the limits, not {}", display(found), display(published)));
            }
        }
        Ok(())
    }
}

fn setting(option: &str, value: &Value) -> Setting {
    let value = match value {
        Value::Number(number) => format_plain(*number),
        other => other.words(),
    };
    Setting::Option { name: option.to_owned(), value }
}

/// Parses `mbps@1MiB write sequential`.
fn read_column(column: &str) -> Result<(Ask, TableQuantity), String> {
    let unreadable = || {
        let names: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
        format!("the column {column:?} cannot be read: write {} @SIZE [read | write] [sequential]", names.join(", "))
    };
    let (name, rest) = column.split_once('@').ok_or_else(unreadable)?;
    let figure = FIGURES.iter().find(|(existing, _)| *existing == name.trim()).ok_or_else(unreadable)?.1;
    let mut words = rest.split_whitespace();
    let block: Bytes = words.next().and_then(|size| size.parse().ok()).ok_or_else(unreadable)?;
    let mut ask = Ask { block, reads: 1.0, sequential: false };
    for word in words {
        match word {
            "read" => ask.reads = 1.0,
            "write" => ask.reads = 0.0,
            "sequential" => ask.sequential = true,
            "random" => ask.sequential = false,
            _ => return Err(unreadable()),
        }
    }
    if block == Bytes::ZERO { Err(unreadable()) } else { Ok((ask, figure)) }
}

fn look_up(offer: &Offer, ask: &Ask, figure: TableQuantity) -> Option<f64> {
    let standing = offer.standing(ask);
    // Without credits, the peak equals the sustained bound.
    let peak = standing.peak.map(|peak| peak.bound).or_else(|| standing.binding().copied());
    match figure {
        TableQuantity::Iops => standing.binding().map(|bound| bound.iops),
        TableQuantity::Bytes(unit) => standing.binding().map(|bound| bound.bytes_per_second / unit),
        TableQuantity::PeakIops => peak.map(|bound| bound.iops),
        TableQuantity::PeakBytes(unit) => peak.map(|bound| bound.bytes_per_second / unit),
        TableQuantity::BurstSeconds => standing.peak.map(|peak| peak.seconds),
        TableQuantity::RefillSeconds => {
            let ceiling = &offer.ceilings[standing.peak?.credits_of];
            ceiling
                .credits
                .zip(ceiling.iops)
                .or(ceiling.credit_bytes.zip(ceiling.bytes_per_second))
                .map(|(all, each)| all / each)
        }
    }
}
