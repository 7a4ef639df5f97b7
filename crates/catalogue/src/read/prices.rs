//! Price lists of a product file. Amounts are decimal texts, to keep all digits.

use std::sync::Arc;

use super::PartReader;
use super::section::{Section, SpannedText, SpannedValue, elements, number_text, read_section, wrong};
use crate::cite::Cite;
use crate::decimal::Decimal;
use crate::expression::{Expression, Type};
use crate::nearest;
use crate::product::{Amount, Often, Origin, PriceList, PricePart, SnapshotRate, Tiers, Variable};

const DECIMAL: &str = "decimal digits in quotation marks, such as \"0.0255\"";

impl PartReader<'_> {
    pub(super) fn prices(&mut self, head: &Section, tiers: Option<&Tiers>) -> Vec<PriceList> {
        let sections = head.sections("price", "[[price]]", &mut self.to);
        sections.into_iter().filter_map(|section| self.price_list(section, tiers)).collect()
    }

    fn price_list(&mut self, section: Section, tiers: Option<&Tiers>) -> Option<PriceList> {
        let currency = section.required("currency", &mut self.to);
        let read = currency.and_then(|text| text.text.parse().ok());
        if let (Some(text), None) = (currency, read) {
            self.to.at(text.at, format!("currency is {:?}", text.text), "three letters, such as USD or JPY");
        }
        let region = section.text("region", &mut self.to).filter(|region| region.text != "all");
        let hours = section.get("month_hours").and_then(|value| {
            let hours = number_text(value).and_then(|text| text.replace('_', "").parse::<Decimal>().ok());
            match hours {
                None => wrong(value, "month_hours", "a number, such as 730", &mut self.to),
                Some(hours) if Decimal::ZERO.is_less_than(hours) => {}
                Some(hours) => self.to.at(value.span().start, format!("month_hours is {hours}"), "a number above zero"),
            }
            hours
        });
        let validity = self.validity(&section);
        let (taxes, cite): (Arc<str>, _) =
            (section.words("taxes", &mut self.to).into(), self.cites.cite(&section, &mut self.to));
        let parts = section.sections("part", "[[price.part]]", &mut self.to);
        if parts.is_empty() {
            self.to.at(section.at, "the price has no parts", "[[price.part]] below it");
        }
        let parts = parts.into_iter().filter_map(|part| self.price_part(part, hours, tiers, &cite)).collect();
        let snapshot = self.snapshot(&section, &cite);
        section.finish(&mut self.to);
        let region = region.map(|region| region.text.into());
        Some(PriceList { currency: read?, region, validity, taxes, parts, snapshot, cite, imported: None })
    }

    fn snapshot(&mut self, list: &Section, cite: &Arc<Cite>) -> Option<SnapshotRate> {
        let section = list.section("snapshot", "[price.snapshot]", &mut self.to)?;
        let per = section.required("per", &mut self.to);
        let amount = section.get("amount").and_then(|amount| self.decimal(amount));
        if !section.has("amount") {
            self.to.at(section.at, "the snapshot has no amount", DECIMAL);
        }
        let cite = self.own_cite(&section, cite);
        section.finish(&mut self.to);
        Some(SnapshotRate { amount: amount?, per: per?.text.into(), cite })
    }

    /// The source that an entry of a list names, or else the source of the list.
    fn own_cite(&mut self, section: &Section, list: &Arc<Cite>) -> Arc<Cite> {
        let own = ["source", "date", "status", "note"].iter().any(|key| section.has(key));
        if own { self.cites.cite(section, &mut self.to) } else { Arc::clone(list) }
    }

    fn price_part(
        &mut self,
        section: Section,
        hours: Option<Decimal>,
        tiers: Option<&Tiers>,
        cite: &Arc<Cite>,
    ) -> Option<PricePart> {
        let name = section.required("name", &mut self.to);
        let per = section.required("per", &mut self.to);
        let by_hour = per.is_some_and(|per| per.text == "hour" || per.text.ends_with("-hour"));
        if by_hour && hours.is_none() {
            self.to.at(section.at, "a price by the hour, without hours", "month_hours = 730 or so in [[price]]");
        }
        let often = if section.truth("once", &mut self.to) { Often::Once } else { Often::Monthly };
        let when = self.expression(&section, "when", Type::Number);
        let amount = self.amount(&section, tiers);
        let cite = self.own_cite(&section, cite);
        section.finish(&mut self.to);
        let hours = hours.filter(|_| by_hour);
        Some(PricePart { name: name?.text.into(), per: per?.text.into(), when, amount: amount?, cite, hours, often })
    }

    fn amount(&mut self, section: &Section, tiers: Option<&Tiers>) -> Option<Amount> {
        let quantity = self.expression(section, "quantity", Type::Number);
        let by_column = section.text("by_column", &mut self.to);
        let keys = (section.get("amount"), section.get("amounts"), section.get("by_tier"), by_column);
        let unknown = section.truth("unknown", &mut self.to);
        match (keys, quantity) {
            ((None, None, None, None), None) if unknown => Some(Amount::Unknown),
            ((Some(amount), None, None, None), Some(quantity)) => Some(Amount::Each(self.decimal(amount)?, quantity)),
            ((None, Some(amounts), None, None), Some(quantity)) => self.graduated(amounts, quantity),
            ((None, None, Some(by_tier), None), None) => self.by_tier(by_tier, tiers),
            ((None, None, None, Some(column)), Some(quantity)) => {
                Some(Amount::ByColumn(self.column(column)?, quantity))
            }
            _ => {
                let allowed = "amount and quantity, or amounts and quantity, or by_column and quantity, or by_tier \
                               alone, or unknown = true";
                self.to.at(section.at, "the part does not say what it costs", allowed);
                None
            }
        }
    }

    fn decimal(&mut self, value: SpannedValue) -> Option<Decimal> {
        let decimal = value.get_ref().as_str().and_then(|text| text.parse().ok());
        if decimal.is_none() {
            let displayed = value.get_ref().as_str().or_else(|| number_text(value)).unwrap_or("no text");
            self.to.at(value.span().start, format!("the amount is {displayed}"), DECIMAL);
        }
        if decimal.is_some_and(Decimal::is_negative) {
            self.to.at(value.span().start, "the amount is below zero", DECIMAL);
        }
        decimal
    }

    fn graduated(&mut self, amounts: SpannedValue, quantity: Expression) -> Option<Amount> {
        let mut steps: Vec<(Option<Decimal>, Decimal)> = Vec::new();
        let rows = elements(amounts, "amounts", &mut self.to);
        let last = rows.len().saturating_sub(1);
        for (index, row) in rows.into_iter().enumerate() {
            let pair = elements(row, "step", &mut self.to);
            let [upto, amount] = pair[..] else {
                self.to.at(row.span().start, "a step of amounts is no pair", "[\"up to\", \"amount\"]");
                return None;
            };
            let open = upto.get_ref().as_str() == Some("");
            let upto = if open { None } else { Some(self.decimal(upto)?) };
            let rises = steps.last().is_none_or(|(before, _)| before.zip(upto).is_none_or(|(a, b)| a.is_less_than(b)));
            if open != (index == last) || !rises {
                let allowed = "steps that rise, and \"\" for the last one's end";
                self.to.at(row.span().start, "the steps of amounts do not follow each other", allowed);
            }
            steps.push((upto, self.decimal(amount)?));
        }
        Some(Amount::Graduated(steps, quantity))
    }

    /// The variable of a machine's column.
    fn column(&mut self, name: SpannedText) -> Option<usize> {
        let is_cell = |variable: &Variable| variable.origin == Origin::Cell && *variable.name == *name.text;
        let found = self.names.list.iter().position(is_cell);
        if found.is_none() {
            let cells = self.names.list.iter().filter(|variable| variable.origin == Origin::Cell);
            let names: Vec<&str> = cells.map(|variable| &*variable.name).collect();
            self.to.at(name.at, format!("there is no column {:?}", name.text), names.join(", "));
        }
        found
    }

    fn by_tier(&mut self, value: SpannedValue, tiers: Option<&Tiers>) -> Option<Amount> {
        let (Some(entries), Some(tiers)) = (read_section(value, "by_tier"), tiers) else {
            wrong(value, "by_tier", "a table of tiers and amounts, in a file with [tiers]", &mut self.to);
            return None;
        };
        let mut amounts = vec![None; tiers.rows.len()];
        for (name, amount) in entries.entries() {
            if let Some(index) = tiers.rows.iter().position(|row| *row.name == *name.text) {
                amounts[index] = self.decimal(amount);
            } else {
                let names: Vec<&str> = tiers.rows.iter().map(|row| &*row.name).collect();
                self.to.at(name.at, format!("there is no tier {:?}", name.text), nearest::one_of(&names));
            }
        }
        Some(Amount::ByTier(amounts))
    }
}
