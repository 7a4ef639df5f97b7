//! Billed components of a product file, and their meters.

use super::PartReader;
use super::section::{Section, SpannedText, elements};
use crate::decimal::Decimal;
use crate::expression::Type;
use crate::imported::meter_key;
use crate::product::{BilledPart, BilledSnapshot, Meter};

impl PartReader<'_> {
    pub(super) fn billed(&mut self, head: &Section) -> Vec<BilledPart> {
        let sections = head.sections("billed", "[[billed]]", &mut self.to);
        sections.into_iter().filter_map(|section| self.billed_part(section)).collect()
    }

    pub(super) fn billed_snapshot(&mut self, head: &Section) -> Option<BilledSnapshot> {
        let section = head.section("billed_snapshot", "[billed_snapshot]", &mut self.to)?;
        let [meter, unit] = ["meter", "unit"].map(|key| section.required(key, &mut self.to));
        section.finish(&mut self.to);
        Some(BilledSnapshot { meter: meter_key(meter?.text), unit: unit?.text.into() })
    }

    fn billed_part(&mut self, section: Section) -> Option<BilledPart> {
        let name = section.required("name", &mut self.to);
        let unit = section.words("unit", &mut self.to);
        let when = self.expression(&section, "when", Type::Number);
        let quantity = self.expression(&section, "quantity", Type::Number);
        let section_within = section.text("within", &mut self.to);
        let meters = self.meters(&section);
        section.finish(&mut self.to);
        if quantity.is_none() && self.to.is_empty() {
            self.to.at(section_at(name), "the billed component has no quantity", "quantity = \"size\" or so");
        }
        let within = section_within.map(|within| within.text.into());
        Some(BilledPart {
            name: name?.text.into(),
            within,
            meters: meters?,
            unit: unit.into(),
            quantity: quantity?,
            when,
        })
    }

    /// `meter` and perhaps `or_meter`, or `meters` as pairs of an upper end and a meter.
    fn meters(&mut self, section: &Section) -> Option<Vec<(Option<Decimal>, Meter)>> {
        let [meter, or_meter] = ["meter", "or_meter"].map(|key| section.text(key, &mut self.to));
        let ranges = section.list("meters", &mut self.to);
        if meter.is_some() != ranges.is_empty() {
            self.to.at(section.at, "the billed component has no meter", "meter = \"...\", or meters by range");
            return None;
        }
        if ranges.is_empty() {
            let names = [meter, or_meter].into_iter().flatten().collect::<Vec<_>>();
            let names = names.into_iter().map(|name| self.pieces(name, "meter")).collect::<Option<Meter>>()?;
            return Some(vec![(None, names)]);
        }
        let mut meters = Vec::new();
        for range in ranges {
            let pair = elements(range, "meters", &mut self.to);
            let texts: Vec<SpannedText> = pair
                .iter()
                .filter_map(|value| Some(SpannedText { text: value.get_ref().as_str()?, at: value.span().start }))
                .collect();
            let [end, meter] = texts[..] else {
                self.to.at(range.span().start, "a range of meters is no pair", "[\"up to\", \"meter\"]");
                return None;
            };
            let upto = if end.text.is_empty() { None } else { end.text.parse().ok() };
            if upto.is_none() && !end.text.is_empty() {
                self.to.at(end.at, format!("the range ends at {:?}", end.text), "digits, or \"\" for the last");
            }
            meters.push((upto, vec![self.pieces(meter, "meters")?]));
        }
        Some(meters)
    }
}

fn section_at(name: Option<SpannedText>) -> usize {
    name.map_or(0, |name| name.at)
}
