//! Published drives of a product file.

use std::collections::BTreeMap;

use plimsoll_units::Bytes;

use super::PartReader;
use super::section::{Section, read_number};
use crate::ask::Ask;
use crate::expression::Type;
use crate::product::{Access, Kinds, TypicalRule};
use crate::typical::{PublishedDrive, TypicalRates};

/// Maximum queue depth of a published rate.
const MAX_DEPTH: u32 = 1 << 16;

impl PartReader<'_> {
    pub(super) fn typical(&mut self, head: &Section) -> Vec<TypicalRule> {
        let sections = head.sections("typical", "[[typical]]", &mut self.to);
        sections.into_iter().map(|section| self.typical_rule(section)).collect()
    }

    fn typical_rule(&mut self, section: Section) -> TypicalRule {
        let kinds = section.required("kinds", &mut self.to);
        let kinds = kinds.and_then(|text| self.word(text, "kinds", &[Kinds::Read, Kinds::Write], Kinds::name));
        let block = self.size(&section, "block");
        if !section.has("block") {
            self.to.at(section.at, "[[typical]] has no block", "block = \"4KiB\"");
        }
        let ask = Ask {
            block: block.unwrap_or(Bytes::kib(4)),
            reads: if kinds == Some(Kinds::Write) { 0.0 } else { 1.0 },
            sequential: self.access(&section) == Access::Sequential,
        };
        let when = self.expression(&section, "when", Type::Number);
        let drives: Vec<PublishedDrive> = section
            .sections("drive", "[[typical.drive]]", &mut self.to)
            .into_iter()
            .map(|drive| self.published_drive(drive))
            .collect();
        let rates = TypicalRates::new(ask, drives);
        if rates.ranges.is_empty() {
            let allowed = "two [[typical.drive]] or more with rates at the same depth";
            self.to.at(section.at, "[[typical]] has no range", allowed);
        }
        section.finish(&mut self.to);
        TypicalRule { rates, when }
    }

    fn published_drive(&mut self, section: Section) -> PublishedDrive {
        let name = section.required("name", &mut self.to).map_or("", |name| name.text).to_owned();
        let mut rates = BTreeMap::new();
        for (depth, value) in section.section("iops", "iops", &mut self.to).iter().flat_map(Section::entries) {
            let queue = depth.text.parse().ok().filter(|depth| (1..=MAX_DEPTH).contains(depth));
            if let Some((depth, iops)) = queue.zip(read_number(value).filter(|iops| *iops > 0.0)) {
                rates.insert(depth, iops);
            } else {
                let allowed = format!("depths from 1 to {MAX_DEPTH} with operations a second above 0");
                self.to.at(depth.at, format!("iops at depth {:?} is no rate", depth.text), allowed);
            }
        }
        if !section.has("iops") {
            self.to.at(section.at, "[[typical.drive]] has no iops", "iops = { 1 = 70, 32 = 110 }, by queue depth");
        }
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        PublishedDrive { name, rates, cite }
    }
}
