//! Parser of product files: from text to [`Product`], with positioned complaints.
//!
//! Knows the schema of the files; opens no file.

mod billing;
mod cites;
mod facts;
mod limits;
mod managed;
mod names;
mod options;
mod prices;
mod published;
mod requirement;
mod rows;
mod section;
mod stages;
mod typical;

use std::sync::Arc;

use plimsoll_units::Bytes;
use toml::Spanned;
use toml::de::DeTable;

use crate::complaint::{Complaint, Complaints};
use crate::config::Config;
use crate::expression::{Expression, ParseError, Type, parse};
use crate::nearest;
use crate::product::{Autotune, Product, ProductKind, Unit, Validity, Warning};
use crate::product_text::{ProductText, SHARED};
use cites::Cites;
use names::Names;
pub use requirement::parse_requirement;
use section::{Section, SpannedText, SpannedValue};

/// Reads a file in the folder of the product file.
pub(crate) type Beside<'c> = dyn Fn(&str) -> Option<String> + 'c;

/// A product, with names that can only be checked in the catalogue.
pub(crate) struct Loaded {
    pub product: Product,
    /// Names that only machines can define, with their byte offsets.
    pub of_machines: Vec<(String, usize)>,
}

/// State shared by the parsers of all parts.
struct PartReader<'t> {
    to: Complaints<'t>,
    text: &'t str,
    cites: Cites,
    names: Names,
    beside: &'t Beside<'t>,
    lacks_shared: bool,
}

/// Parses a product file.
pub(crate) fn parse_product(source: &ProductText, beside: &Beside) -> Result<Loaded, Vec<Complaint>> {
    let (mut to, text) = (Complaints::new(source), &*source.text);
    let document = parse_toml(text, &mut to);
    if !to.is_empty() {
        return Err(to.into_sorted());
    }
    let head = Section::new(document.get_ref(), 0, "the file");
    let cites = Cites::read(&head, &mut to);
    let mut reader = PartReader { to, text, cites, names: Names::new(), beside, lacks_shared: source.lacks_shared };
    let product = reader.product(head);
    let PartReader { to, names, .. } = reader;
    if to.is_empty() { Ok(Loaded { product, of_machines: names.of_machines }) } else { Err(to.into_sorted()) }
}

/// Parses TOML, and complains about each syntax error.
fn parse_toml<'t>(text: &'t str, to: &mut Complaints) -> Spanned<DeTable<'t>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        to.at(error.span().map_or(0, |span| span.start), error.message(), "TOML");
    }
    document
}

impl PartReader<'_> {
    fn product(&mut self, head: Section) -> Product {
        let kind = head.required("kind", &mut self.to);
        let kind = kind.and_then(|text| self.word(text, "kind", &ProductKind::ALL, ProductKind::name));
        let kind = kind.unwrap_or(ProductKind::Volume);
        let name = self.product_name(&head, kind);
        // Its text was added to that of the file.
        if let Some(name) = head.text(SHARED, &mut self.to).filter(|_| self.lacks_shared) {
            self.to.at(name.at, format!("{:?} cannot be read", name.text), "a file in the same folder");
        }
        let unit = self.unit(&head, kind);
        // Declarations first: arithmetic may refer to later names.
        self.declare_options(&head);
        let tiers = self.tiers(&head);
        let machines = self.machines(&head, kind);
        let figures = self.figures(&head);
        let product = Product {
            name,
            aliases: self.aliases(&head),
            title: head.required("title", &mut self.to).map_or("", |title| title.text).into(),
            kind,
            about: head.words("about", &mut self.to).to_owned(),
            ranked: head.truth("ranked", &mut self.to) || !head.has("ranked"),
            unit,
            options: self.options(&head, kind),
            limits: self.limits(&head, kind),
            managed: self.managed(&head, kind),
            latency: self.latency(&head),
            rules: self.rules(&head, kind),
            prices: self.prices(&head, tiers.as_ref()),
            billed: self.billed(&head),
            billed_snapshot: self.billed_snapshot(&head),
            durability: self.durability(&head),
            service_levels: self.service_levels(&head),
            sharing: self.sharing(&head),
            rac: self.rac(&head),
            iscsi: self.iscsi(&head),
            deviations: self.deviations(&head),
            typical: self.typical(&head),
            published: self.published(&head),
            autotune: self.autotune(&head),
            warnings: self.warnings(&head),
            model: self.model(&head),
            variables: self.names.list.clone(),
            tiers,
            machines,
            figures,
        };
        head.finish(&mut self.to);
        product
    }

    fn product_name(&mut self, head: &Section, kind: ProductKind) -> Arc<str> {
        let Some(name) = head.required("product", &mut self.to) else { return "".into() };
        let stray = |c: char| c.is_whitespace() || ":,@()=\"'".contains(c);
        let parts = name.text.split('/').filter(|part| !part.is_empty()).count();
        let (required, form) = match kind {
            ProductKind::Machine => (1, "\"provider\""),
            _ => (2, "\"provider/name\""),
        };
        if parts != required || name.text.matches('/').count() != required - 1 || name.text.contains(stray) {
            self.to.at(name.at, format!("product is {:?}", name.text), form);
        }
        name.text.into()
    }

    fn aliases(&mut self, head: &Section) -> Vec<String> {
        let aliases = head.texts("aliases", &mut self.to);
        for alias in
            aliases.iter().filter(|alias| alias.text.parse::<Config>().map_or(true, |c| c.volume.product != alias.text))
        {
            self.to.at(
                alias.at,
                format!("the alias {:?} could not be written", alias.text),
                "letters, digits, - _ . /",
            );
        }
        aliases.into_iter().map(|alias| alias.text.to_owned()).collect()
    }

    fn unit(&mut self, head: &Section, kind: ProductKind) -> Unit {
        let word = head.text("capacity_unit", &mut self.to);
        let bytes = head.number("capacity_bytes", &mut self.to);
        if let Some(word) = word.filter(|word| !is_size_unit(word.text)) {
            self.to.at(word.at, format!("capacity_unit is {:?}", word.text), "a unit such as GB, GiB, TB or TiB");
        }
        if kind != ProductKind::Machine && (word.is_none() || bytes.is_none_or(|bytes| bytes < 1.0)) {
            let allowed = "capacity_unit = \"GiB\" and capacity_bytes = 1073741824, what one of it is";
            self.to.at(head.at, "the file does not say what capacity is counted in", allowed);
        }
        Unit { word: word.map_or("GiB", |word| word.text).into(), bytes: bytes.map_or(1 << 30, |bytes| bytes as u64) }
    }

    fn autotune(&mut self, head: &Section) -> Vec<Autotune> {
        let Some(all) = head.section("autotune", "[autotune]", &mut self.to) else { return Vec::new() };
        let mut read = Vec::new();
        for (name, value) in all.entries() {
            let Some(entry) = section::read_section(value, "[autotune.NAME]") else {
                self.to.at(name.at, format!("autotune.{} is no table", name.text), "[autotune.NAME]");
                continue;
            };
            let parameters = entry.entries().into_iter().filter(|(key, _)| !cites::is_key(key.text));
            let parameters = parameters.filter_map(|(key, value)| {
                let cell = rows::cell(value);
                if cell.is_none() {
                    let what = format!("{} is neither number nor text", key.text);
                    self.to.at(key.at, what, "a number with its unit in the name");
                }
                Some((key.text.to_owned(), rows::as_option_value(cell?)?))
            });
            let parameters = parameters.collect();
            read.push(Autotune { name: name.text.to_owned(), parameters, cite: self.cites.cite(&entry, &mut self.to) });
        }
        read
    }

    fn warnings(&mut self, head: &Section) -> Vec<Warning> {
        let sections = head.sections("warning", "[[warning]]", &mut self.to);
        let mut read = |section: Section| {
            let text = section.required("text", &mut self.to).map_or("", |text| text.text).to_owned();
            let cite = self.cites.cite(&section, &mut self.to);
            section.finish(&mut self.to);
            Warning { text, cite }
        };
        sections.into_iter().map(&mut read).collect()
    }

    /// An expression: a text, or a number.
    fn expression(&mut self, section: &Section, key: &'static str, required: Type) -> Option<Expression> {
        let value = section.get(key)?;
        self.expression_of(value, key, required)
    }

    fn expression_of(&mut self, value: SpannedValue, key: &str, required: Type) -> Option<Expression> {
        if let Some(number) = section::read_number(value) {
            return Some(Expression::constant(number));
        }
        let Some(text) = value.get_ref().as_str() else {
            section::wrong(value, key, "a number or arithmetic in quotation marks", &mut self.to);
            return None;
        };
        self.parsed(SpannedText { text, at: value.span().start }, 0, key, required)
    }

    /// `text` begins `inside` bytes after the start of its value's content.
    fn parsed(&mut self, text: SpannedText, inside: usize, key: &str, required: Type) -> Option<Expression> {
        match parse(text.text, required, &mut self.names.at(text.at)) {
            Ok(expression) if expression.is_nothing() => {
                self.to.at(text.at, format!("{key} {:?} has no value", text.text), "arithmetic with a finite result");
                None
            }
            Ok(expression) => Some(expression),
            Err(ParseError { at, what, allowed }) => {
                let quotes = self.text[text.at..].bytes().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
                let begin = text.at + if quotes >= 3 { 3 } else { 1 };
                self.to.at(begin + inside + at, format!("{key} {:?}: {what}", text.text), allowed);
                None
            }
        }
    }

    /// A word of a closed list.
    fn word<T: Copy>(&mut self, text: SpannedText, key: &str, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
        let found = all.iter().copied().find(|one| name(*one) == text.text);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
            let near = nearest::suggestion(text.text, names.iter().copied());
            self.to.at(text.at, format!("{key} is {:?}{near}", text.text), nearest::one_of(&names));
        }
        found
    }

    fn date(&mut self, section: &Section, key: &'static str) -> Option<crate::date::Date> {
        let text = section.text(key, &mut self.to)?;
        let date = text.text.parse();
        if date.is_err() {
            self.to.at(text.at, format!("{key} is {:?}", text.text), "YYYY, YYYY-MM or YYYY-MM-DD");
        }
        date.ok()
    }

    fn validity(&mut self, section: &Section) -> Validity {
        let validity = Validity { from: self.date(section, "from"), until: self.date(section, "until") };
        if let (Some(from), Some(until)) = (validity.from, validity.until)
            && from >= until
        {
            let what = format!("from {from} is not before until {until}");
            self.to.at(section.at, what, "until: the first day on which it no longer holds");
        }
        validity
    }

    fn size(&mut self, section: &Section, key: &'static str) -> Option<Bytes> {
        let text = section.text(key, &mut self.to)?;
        let size = text.text.parse().ok().filter(|size| *size > Bytes::ZERO && is_size(text.text));
        if size.is_none() {
            self.to.at(text.at, format!("{key} is {:?}", text.text), "a size with its unit, such as 16KiB");
        }
        size
    }
}

/// True for a unit of bytes that configurations accept.
fn is_size_unit(word: &str) -> bool {
    word.len() >= 2 && word.ends_with('B') && format!("1{word}").parse::<Bytes>().is_ok()
}

/// True for a number with an unambiguous unit (1,000 or 1,024).
fn is_size(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    unit == "B" || is_size_unit(unit)
}
