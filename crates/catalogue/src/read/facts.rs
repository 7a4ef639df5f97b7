//! Durability, service levels, sharing, the appearance over iSCSI and known deviations of a product file.

use plimsoll_units::Bytes;

use super::PartReader;
use super::section::{Section, SpannedText, elements, read_number};
use crate::deviation::{COMPARED_BLOCKS, Deviation, SaturatingLoad};
use crate::durability::Durability;
use crate::expression::Type;
use crate::iscsi::IscsiRule;
use crate::nearest;
use crate::product::{ServiceLevelRule, SharingRule};
use crate::rac::{RacStatus, RacSupport};
use crate::service_level::{ServiceLevel, ServiceSubject};
use crate::sharing::SharingMode;

const RATES: &str = "a share of volumes lost in a year, or [low, high], each from 0 to 1";

impl PartReader<'_> {
    pub(super) fn durability(&mut self, head: &Section) -> Option<Durability> {
        let section = head.section("durability", "[durability]", &mut self.to)?;
        let rates: Vec<Option<f64>> = match section.get("annual_failure_rate") {
            Some(value) if value.get_ref().as_array().is_some() => {
                elements(value, "annual_failure_rate", &mut self.to).into_iter().map(read_number).collect()
            }
            Some(value) => vec![read_number(value)],
            None => Vec::new(),
        };
        let cite = self.cites.cite(&section, &mut self.to);
        let at = section.at;
        section.finish(&mut self.to);
        let (low, high) = match rates[..] {
            [Some(only)] => (only, only),
            [Some(low), Some(high)] => (low, high),
            _ => (f64::NAN, f64::NAN),
        };
        if !(0.0 <= low && low <= high && high <= 1.0) {
            self.to.at(at, "[durability] has no annual_failure_rate", RATES);
        }
        Some(Durability { failure_rate_low: low, failure_rate_high: high, cite })
    }

    pub(super) fn service_levels(&mut self, head: &Section) -> Vec<ServiceLevelRule> {
        let sections = head.sections("service_level", "[[service_level]]", &mut self.to);
        sections.into_iter().filter_map(|section| self.service_level(section)).collect()
    }

    fn service_level(&mut self, section: Section) -> Option<ServiceLevelRule> {
        let of = section.required("of", &mut self.to);
        let of = of.and_then(|text| self.word(text, "of", &ServiceSubject::ALL, ServiceSubject::name));
        let is_share = |share: &f64| *share > 0.0 && *share <= 1.0;
        let share = section.number("share", &mut self.to).filter(is_share);
        if share.is_none() {
            self.to.at(section.at, "[[service_level]] has no share", "share = a share of the time, above 0 to 1");
        }
        let amount = section.number("amount", &mut self.to).filter(is_share);
        let needs_amount = of == Some(ServiceSubject::Performance);
        if of.is_some() && needs_amount != amount.is_some() {
            let allowed = "amount = a share of the provisioned performance, above 0 to 1, for performance only";
            self.to.at(section.at, "[[service_level]] has a wrong amount, or none", allowed);
        }
        let when = self.expression(&section, "when", Type::Number);
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        Some(ServiceLevelRule { level: ServiceLevel { of: of?, share: share?, amount, cite }, when })
    }

    pub(super) fn sharing(&mut self, head: &Section) -> Vec<SharingRule> {
        let sections = head.sections("sharing", "[[sharing]]", &mut self.to);
        sections.into_iter().filter_map(|section| self.sharing_rule(section)).collect()
    }

    fn sharing_rule(&mut self, section: Section) -> Option<SharingRule> {
        let mode = section.required("mode", &mut self.to);
        let mode = mode.and_then(|text| self.word(text, "mode", &SharingMode::ALL, SharingMode::name));
        let hosts = self.expression(&section, "hosts", Type::Number);
        if !section.has("hosts") {
            self.to.at(section.at, "[[sharing]] has no hosts", "hosts = machines that attach a volume, at most");
        }
        let when = self.expression(&section, "when", Type::Number);
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        Some(SharingRule { hosts: hosts?, mode: mode?, when, cite })
    }

    pub(super) fn rac(&mut self, head: &Section) -> Option<RacSupport> {
        let section = head.section("rac", "[rac]", &mut self.to)?;
        let support = section.required("support", &mut self.to);
        let support = support.and_then(|text| self.word(text, "support", &RacStatus::ALL, RacStatus::name));
        let text = section.required("text", &mut self.to);
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        Some(RacSupport { support: support?, text: text?.text.into(), cite })
    }

    pub(super) fn iscsi(&mut self, head: &Section) -> Option<IscsiRule> {
        let section = head.section("iscsi", "[iscsi]", &mut self.to)?;
        let mut name = |key: &'static str, bytes: usize| {
            let text = section.required(key, &mut self.to)?;
            let fits = text.text.len() <= bytes && text.text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            if !fits {
                self.to.at(text.at, format!("{key} is {:?}", text.text), format!("at most {bytes} ASCII characters"));
            }
            Some(text.text.to_owned())
        };
        let (vendor, model, revision) = (name("vendor", 8), name("model", 16), name("revision", 4));
        let prefix = section.text("prefix", &mut self.to).map(|prefix| {
            let is_name = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '.' | ':');
            if !prefix.text.starts_with("iqn.") || !prefix.text.chars().all(is_name) || prefix.text.len() > 128 {
                self.to.at(prefix.at, format!("prefix is {:?}", prefix.text), "a name such as iqn.2026-01.com.example");
            }
            prefix.text.to_owned()
        });
        let paths = self.expression(&section, "paths", Type::Number);
        let queue_depth = self.expression(&section, "queue_depth", Type::Number);
        let controllers = self.expression(&section, "controllers", Type::Number);
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        Some(IscsiRule {
            vendor: vendor?,
            model: model?,
            revision: revision?,
            prefix,
            paths,
            queue_depth,
            controllers,
            cite,
        })
    }

    pub(super) fn deviations(&mut self, head: &Section) -> Vec<Deviation> {
        let sections = head.sections("deviation", "[[deviation]]", &mut self.to);
        let mut deviation = |section: Section| {
            let blocks = self.compared_blocks(&section);
            let names = section.texts("loads", &mut self.to);
            if names.is_empty() {
                self.to.at(section.at, "[[deviation]] has no loads", "loads = [\"random read\", ...]");
            }
            let mut load = |text: SpannedText| self.word(text, "loads", &SaturatingLoad::ALL, SaturatingLoad::name);
            let loads = names.into_iter().filter_map(&mut load).collect();
            let why = section.required("why", &mut self.to).map_or("", |why| why.text).to_owned();
            let [from, to, depth] = ["from", "to", "depth"].map(|key| section.number(key, &mut self.to));
            if from.is_some() != to.is_some() || from > to {
                self.to.at(section.at, "[[deviation]] has half a range", "from = -20, to = -10, in percent");
            }
            section.finish(&mut self.to);
            let difference = from.zip(to).map(|(from, to)| (from.round() as i32, to.round() as i32));
            Deviation { loads, blocks, difference, depth: depth.map(|depth| depth as u32), why }
        };
        sections.into_iter().map(&mut deviation).collect()
    }

    /// The sizes of a deviation; all of them by default.
    fn compared_blocks(&mut self, section: &Section) -> Vec<Bytes> {
        let texts = section.texts("blocks", &mut self.to);
        let mut blocks = Vec::new();
        for text in texts {
            if let Some(block) = text.text.parse().ok().filter(|block| COMPARED_BLOCKS.contains(block)) {
                blocks.push(block);
            } else {
                let allowed = nearest::one_of(&COMPARED_BLOCKS.map(|block| block.to_string()));
                self.to.at(text.at, format!("blocks has {:?}", text.text), allowed);
            }
        }
        if section.has("blocks") { blocks } else { COMPARED_BLOCKS.to_vec() }
    }
}
