//! Figures, ceilings, rules and latencies of a product file.

use super::PartReader;
use super::section::Section;
use crate::expression::{Expression, Type};
use crate::product::{
    Access, Kinds, LatencyRule, LatencyStatement, Limit, NamedNumber, Origin, ProductKind, Rule, Scope, Validity,
};

impl Scope {
    const ALL: [Self; 9] = [
        Self::Volume,
        Self::Level,
        Self::Attachment,
        Self::Machine,
        Self::Guest,
        Self::Network,
        Self::Media,
        Self::Controller,
        Self::Account,
    ];
}

impl Kinds {
    const ALL: [Self; 3] = [Self::All, Self::Read, Self::Write];
}

impl PartReader<'_> {
    /// Named numbers. Figures with disjoint validity may share a name.
    pub(super) fn figures(&mut self, head: &Section) -> Vec<NamedNumber> {
        let mut read: Vec<NamedNumber> = Vec::new();
        for section in head.sections("figure", "[[figure]]", &mut self.to) {
            let validity = self.validity(&section);
            let cite = self.cites.cite(&section, &mut self.to);
            let unit = section.words("unit", &mut self.to).into();
            let value = section.number("value", &mut self.to);
            let name = section.required("name", &mut self.to);
            if value.is_none() {
                self.to.at(section.at, "the figure has no value", "value = a number");
            }
            if let (Some(name), Some(value)) = (name, value) {
                let earlier = |slot: usize| {
                    let earlier: Vec<Validity> =
                        read.iter().filter(|f| f.variable == slot).map(|f| f.validity).collect();
                    (!earlier.is_empty() && earlier.iter().all(|other| disjoint(*other, validity))).then_some(slot)
                };
                let declared =
                    self.names.declare(name.text, Type::Number, Origin::Figure).or_else(|slot| earlier(slot).ok_or(()));
                match declared {
                    Ok(variable) => read.push(NamedNumber { variable, value, unit, validity, cite }),
                    Err(()) => self.to.at(name.at, format!("{:?} has a meaning already", name.text), "another name"),
                }
            }
            section.finish(&mut self.to);
        }
        read
    }

    pub(super) fn limits(&mut self, head: &Section, kind: ProductKind) -> Vec<Limit> {
        self.names.may_be_machines = kind != ProductKind::Machine;
        let sections = head.sections("limit", "[[limit]]", &mut self.to);
        let limits = sections.into_iter().map(|section| self.limit(section)).collect();
        self.names.may_be_machines = false;
        limits
    }

    fn limit(&mut self, section: Section) -> Limit {
        let scope = section.required("scope", &mut self.to);
        let kinds = section.text("kinds", &mut self.to);
        let limit = Limit {
            name: section.required("name", &mut self.to).map_or("", |name| name.text).into(),
            scope: scope.and_then(|text| self.word(text, "scope", &Scope::ALL, Scope::name)).unwrap_or(Scope::Volume),
            when: self.expression(&section, "when", Type::Number),
            iops: self.expression(&section, "iops", Type::Number),
            bytes: self.expression(&section, "bytes", Type::Number),
            added: section.truth("added", &mut self.to),
            kinds: kinds.and_then(|text| self.word(text, "kinds", &Kinds::ALL, Kinds::name)).unwrap_or(Kinds::All),
            access: self.access(&section),
            unit: self.size(&section, "unit"),
            credits: self.expression(&section, "credits", Type::Number),
            credit_bytes: self.expression(&section, "credit_bytes", Type::Number),
            burst: section.truth("burst", &mut self.to),
            in_model: section.truth("in_model", &mut self.to),
            lift: self.lift(&section),
            validity: self.validity(&section),
            cite: self.cites.cite(&section, &mut self.to),
        };
        let has = |key| section.has(key);
        let rateless = (has("credits") && !has("iops"))
            || (has("credit_bytes") && !has("bytes"))
            || (!has("iops") && !has("bytes"));
        if rateless {
            let what = format!("limit {:?} has no rate", limit.name);
            self.to.at(section.at, what, "iops or bytes or both; credits with iops, credit_bytes with bytes");
        }
        let addable = has("iops") && has("bytes") && limit.in_model && !has("credits") && !has("credit_bytes");
        if limit.added && !addable {
            let what = format!("limit {:?} has no times to add", limit.name);
            self.to.at(section.at, what, "iops and bytes without credits, with in_model = true");
        }
        let Limit { iops, bytes, credits, credit_bytes, .. } = &limit;
        for (key, read) in [("iops", iops), ("bytes", bytes), ("credits", credits), ("credit_bytes", credit_bytes)] {
            self.above_zero(&section, key, read.as_ref());
        }
        section.finish(&mut self.to);
        limit
    }

    /// A constant rate or allowance must be positive.
    fn above_zero(&mut self, section: &Section, key: &'static str, read: Option<&Expression>) {
        let constant = read.and_then(Expression::as_constant).filter(|number| *number <= 0.0);
        if let (Some(number), Some(value)) = (constant, section.get(key)) {
            self.to.at(
                value.span().start,
                format!("{key} is {}", crate::number::display(number)),
                "a number above zero",
            );
        }
    }

    pub(super) fn access(&mut self, section: &Section) -> Access {
        match (section.truth("sequential", &mut self.to), section.truth("random", &mut self.to)) {
            (false, false) => Access::Any,
            (true, false) => Access::Sequential,
            (false, true) => Access::Random,
            (true, true) => {
                self.to.at(section.at, "sequential and random are both true", "one of both, or neither for any access");
                Access::Any
            }
        }
    }

    fn lift(&mut self, section: &Section) -> Vec<std::sync::Arc<str>> {
        let texts = section.texts("lift", &mut self.to);
        for text in &texts {
            let is_option = |name: &str| {
                self.names.list.iter().any(|v| *v.name == *name && matches!(v.origin, Origin::Option | Origin::Machine))
            };
            if !is_option(text.text) && !matches!(text.text, "tier" | "machine") {
                let options = self.names.list.iter().filter(|variable| variable.origin == Origin::Option);
                let options: Vec<&str> = options.map(|variable| &*variable.name).collect();
                let allowed = format!("options ({}), tier or machine", options.join(", "));
                self.to.at(text.at, format!("lift names {:?}", text.text), allowed);
            }
        }
        texts.into_iter().map(|text| text.text.into()).collect()
    }

    pub(super) fn rules(&mut self, head: &Section, kind: ProductKind) -> Vec<Rule> {
        self.names.may_be_machines = kind != ProductKind::Machine;
        let mut rules = Vec::new();
        for section in head.sections("rule", "[[rule]]", &mut self.to) {
            section.required("require", &mut self.to);
            let require = self.expression(&section, "require", Type::Number);
            let message = section.required("message", &mut self.to).map_or("", |message| message.text).into();
            let caution = section.truth("caution", &mut self.to);
            let (validity, cite) = (self.validity(&section), self.cites.cite(&section, &mut self.to));
            rules.extend(require.map(|require| Rule { require, message, caution, validity, cite }));
            section.finish(&mut self.to);
        }
        self.names.may_be_machines = false;
        rules
    }

    pub(super) fn latency(&mut self, head: &Section) -> Vec<LatencyRule> {
        let sections = head.sections("latency", "[[latency]]", &mut self.to);
        let mut read = |section: Section| {
            let text = section.required("text", &mut self.to).map_or("", |text| text.text).into();
            let is_worse = section.truth("worse", &mut self.to);
            let when = self.expression(&section, "when", Type::Number);
            let (validity, cite) = (self.validity(&section), self.cites.cite(&section, &mut self.to));
            section.finish(&mut self.to);
            LatencyRule { statement: LatencyStatement { text, is_worse, cite }, when, validity }
        };
        sections.into_iter().map(&mut read).collect()
    }
}

/// True if one period ends before the other begins.
fn disjoint(a: Validity, b: Validity) -> bool {
    let before = |a: Validity, b: Validity| a.until.zip(b.from).is_some_and(|(until, from)| until <= from);
    before(a, b) || before(b, a)
}
