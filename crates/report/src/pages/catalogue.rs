//! Products: a table of all, and a page for each with the source of every figure.
//!
//! Arithmetic is shown as in the product file. Sources are numbered and listed at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::{
    Access, COMPARED_BLOCKS, Catalogue, Cite, Complaint, Deviation, Kinds, LimitView, ManagedDatabase, Often,
    OptionValue, OptionView, PartView, Product, ProductKind, Status,
};
use plimsoll_language::{label, say};

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Headline, Item, Page, PageSection, Table, UNKNOWN};
use crate::words::offer::{self as words, product_text};

/// Maximum number of machines to list.
const MACHINES_MAX: usize = 20;

/// All products by provider: names, sizes, currencies of prices, and statuses of figures.
pub fn build_products_page(catalogue: &Catalogue) -> Page {
    let mut providers: BTreeMap<&str, Vec<&Product>> = BTreeMap::new();
    for product in catalogue.products() {
        let provider = product.name().split('/').next().unwrap_or_default();
        providers.entry(provider).or_default().push(product);
    }
    let (mut groups, mut products) = (Vec::new(), Vec::new());
    for (name, mut own) in providers {
        own.sort_by_key(|product| product.name());
        groups.push((products.len(), format!("{name} ({})", own.len())));
        products.extend(own);
    }
    let title = label!("Storage products").to_owned();
    if products.is_empty() {
        let empty = Block::Text(label!("The catalogue is empty.").to_owned());
        return Page { title, sections: vec![PageSection::bare("", vec![empty])], ..Page::default() };
    }
    let letters: Vec<String> = Status::ALL
        .iter()
        .map(|status| format!("{} {}: {}", letter(*status), status.name(), words::define_status(*status)))
        .collect();
    let note = say!("figures by status: {}; none was measured by plimsoll", letters.join(label!(", ")));
    let table = Table::rows(label!("Products"), products)
        .column(Column::text(label!("product"), 0), |product| product.name())
        .column(Column::text(label!("also"), 2), |product| product.aliases().join(" "))
        .column(Column::text(label!("kind"), 3), |product| product_text(product.kind().name()))
        .column(Column::text(label!("capacity"), 0), |product| size(product))
        .column(Column::text(label!("prices"), 0), |product| currencies(product))
        .column(Column::text(label!("figures"), 1), |product| statuses(product))
        .column(Column::text(label!("title"), 4), |product| product_text(product.title()))
        .table()
        .with_notes([note]);
    let sections = vec![PageSection::bare(label!("Products"), vec![Block::Table(Table { groups, ..table })])];
    Page { title, sections, ..Page::default() }
}

/// Product files and their defects: a line for each valid file, and a table of defects.
pub fn checked_products(files: &[(String, Vec<Complaint>)]) -> Page {
    let valid = files.iter().filter(|(_, complaints)| complaints.is_empty());
    let lines: Vec<String> = valid.map(|(file, _)| say!("{file}: valid")).collect();
    let defects = files.iter().flat_map(|(file, complaints)| complaints.iter().map(move |defect| (file, defect)));
    let table = Table::rows(label!("Defects"), defects)
        .column(Column::text(label!("file"), 0), |(file, _)| file.as_str())
        .column(Column::text(label!("line"), 0), |(_, defect)| defect.line.to_string())
        .column(Column::text(label!("column"), 0), |(_, defect)| defect.column.to_string())
        .column(Column::text(label!("defect"), 0), |(_, defect)| defect.what.as_str())
        .column(Column::text(label!("allowed"), 0), |(_, defect)| defect.allowed.as_str())
        .table();
    let states = Table::rows(label!("Product files"), files)
        .column(Column::text(label!("file"), 0), |(file, _)| file.as_str())
        .column(Column::text(label!("defects"), 0), |(_, complaints)| complaints.len().to_string())
        .table();
    let mut blocks = vec![Block::Listing(lines.join("\n")), Block::Table(table)];
    let is_valid = files.iter().all(|(_, complaints)| complaints.is_empty());
    blocks.extend(is_valid.then_some(Block::Data(states)));
    let section = PageSection::bare(label!("Product files"), blocks);
    Page { title: label!("Check of product files").to_owned(), sections: vec![section], ..Page::default() }
}

/// Sizes: `1 to 65536 GiB`, `480, 960 GB`; for machines, their number.
fn size(product: &Product) -> String {
    let (unit, bytes) = product.capacity_unit();
    if product.kind() == ProductKind::Machine {
        let count = product.machines().count();
        return if count == 1 { label!("1 machine").to_owned() } else { say!("{count} machines") };
    }
    match product.options().into_iter().find(|option| &*option.name == "size") {
        None => words::capacity(bytes),
        Some(option) if !option.choices.is_empty() => format!("{} {unit}", option.choices.join(label!(", "))),
        Some(option) => match (option.low.as_str(), option.high.as_str()) {
            ("", "") => say!("any {unit}"),
            ("", high) => say!("up to {high} {unit}"),
            (low, "") => say!("from {low} {unit}"),
            (low, high) => say!("{low} to {high} {unit}"),
        },
    }
}

/// Currencies of the price lists.
fn currencies(product: &Product) -> String {
    let mut found: Vec<String> = Vec::new();
    for list in product.price_lists() {
        let currency = list.split(' ').next().unwrap_or_default().to_owned();
        if !found.contains(&currency) {
            found.push(currency);
        }
    }
    if found.is_empty() { UNKNOWN.to_owned() } else { found.join(" ") }
}

/// Number of figures of each status: `12v 3s 1i`.
fn statuses(product: &Product) -> String {
    let cites = product.cites();
    let of = |status: Status| cites.iter().filter(|cite| cite.status == status).count();
    let counted = Status::ALL.iter().map(|status| (of(*status), *status)).filter(|(count, _)| *count > 0);
    let counted = counted.map(|(count, status)| format!("{}{}", number::integer(count as f64), letter(status)));
    counted.collect::<Vec<_>>().join(" ")
}

fn letter(status: Status) -> &'static str {
    &status.name()[..1]
}

pub fn product(product: &Product) -> Page {
    let mut sources = Sources::default();
    let mut sections = vec![
        list(label!("Managed database"), managed(product, &mut sources)),
        list(label!("Options"), options(product, &mut sources)),
        PageSection::new(label!("Tiers"), tiers(product).into_iter().map(Block::Table).collect()),
        PageSection::new(
            label!("Limits"),
            vec![Block::Items(limits(product, &mut sources)), Block::Data(limits_data(product))],
        ),
        list(label!("Latency, in the vendor's words"), latency(product, &mut sources)),
        list(label!("Rules"), list_rules(product, &mut sources)),
        list(label!("Prices"), prices(product, &mut sources)),
        list(label!("Model of the response times below its limits"), list_model(product, &mut sources)),
        list(label!("Figures"), figures(product, &mut sources)),
        list(label!("Published drives that it stands for"), typical(product, &mut sources)),
        list(label!("Durability and sharing"), safety(product, &mut sources)),
        list(label!("Loads whose quote and simulation differ"), deviations(product)),
        list(label!("Automatic changes by the service"), autotune(product, &mut sources)),
        list(label!("Machines"), machines(product)),
        list(label!("Contradictions between documents"), warnings(product, &mut sources)),
    ];
    sections.extend(sources.section());
    let text = say!("{}: {} ({})", product.name(), product_text(product.title()), product_text(product.kind().name()));
    let headline = Some(Headline { details: describe_product(product), ..Headline::of(text) });
    Page { title: product.name().to_owned(), headline, sections, ..Page::default() }
}

fn list(heading: &str, items: Vec<Item>) -> PageSection {
    PageSection::new(heading, vec![Block::Items(items)])
}

fn describe_product(product: &Product) -> Vec<String> {
    let mut about = vec![product_text(product.about())];
    if !product.aliases().is_empty() {
        about.push(say!("also {}", product.aliases().join(label!(", "))));
    }
    let (unit, bytes) = product.capacity_unit();
    let total = number::integer(bytes.get() as f64);
    if product.has_size() {
        about.push(say!("1 {unit} is {total} bytes"));
    } else if bytes.get() > 1 {
        about.push(say!("capacity {} ({total} bytes)", words::capacity(bytes)));
    }
    about
}

/// An entry with the note of its source.
fn noted(text: String, cite: &Cite) -> Item {
    Item::new(text, [product_text(&cite.note)])
}

/// Engines, and who does what.
fn managed(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let service = product.managed().into_iter();
    let entry = |managed: &ManagedDatabase| {
        let text =
            format!("{}: {} {}", managed.engine_titles(), product_text(&managed.provides), sources.mark(&managed.cite));
        Item::new(text, [say!("it leaves to you {}", product_text(&managed.leaves))])
    };
    service.map(entry).collect()
}

fn options(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let (unit, _) = product.capacity_unit();
    let entry = |option: &OptionView| {
        let unit = if &*option.name == "size" { format!(" {unit}") } else { String::new() };
        let text = format!("{}: {}{unit} {}", option.name, format_range(option), sources.mark(&option.cite));
        let other = if option.cite.note == *option.note { String::new() } else { product_text(&option.cite.note) };
        Item::new(text, [product_text(&option.note), other])
    };
    product.options().iter().map(entry).collect()
}

/// `1 to 65536 in steps of 1; 100 if not given`.
fn format_range(option: &OptionView) -> String {
    let mut range = match (option.low.as_str(), option.high.as_str()) {
        _ if !option.choices.is_empty() => option.choices.join(label!(", ")),
        ("", "") => label!("any number").into(),
        ("", high) => say!("up to {high}"),
        (low, "") => say!("from {low}"),
        (low, high) => say!("{low} to {high}"),
    };
    if !option.step.is_empty() && option.choices.is_empty() {
        range += &say!(" in steps of {}", option.step);
    }
    if !option.default.is_empty() {
        range += &say!("; default {}", option.default);
    }
    if let Some(from) = option.detached_from {
        range += &say!("; changes from or to {from} and more require a detached volume");
    }
    range
}

fn tiers(product: &Product) -> Option<Table> {
    let (names, rows) = product.tier_table()?;
    let column = |(index, name): (usize, String)| {
        let kind = if index == 0 { ColumnKind::Text } else { ColumnKind::Share };
        Column { name: name.into(), ..Column::new("", "", kind, 0) }
    };
    let columns: Vec<Column> = names.into_iter().enumerate().map(column).collect();
    Some(Table::of(label!("Tiers"), columns, rows, |row| row.iter().map(Cell::text).collect()))
}

fn limits(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let entry = |limit: &LimitView| noted(format!("{} {}", ceiling(limit), sources.mark(&limit.cite)), &limit.cite);
    product.limits().iter().map(entry).collect()
}

fn limits_data(product: &Product) -> Table {
    Table::rows(label!("Limits"), product.limits())
        .column(Column::text(label!("limit"), 0), |limit| product_text(&limit.name))
        .column(Column::text(label!("scope"), 0), |limit| product_text(limit.scope.name()))
        .column(Column::text("IOPS", 0), |limit| limit.iops.clone())
        .column(Column::text("bytes/s", 0), |limit| limit.bytes.clone())
        .column(Column::text(label!("when"), 0), |limit| limit.when.clone())
        .column(Column::text(label!("raised by"), 0), |limit| {
            limit.lift.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" ")
        })
        .column(Column::text(label!("date"), 0), |limit| limit.cite.date.clone())
        .column(Column::text(label!("status"), 0), |limit| words::status_name(limit.cite.status))
        .table()
}

/// A limit as a sentence: value, conditions, and the options that raise it.
fn ceiling(limit: &LimitView) -> String {
    let mut parts =
        vec![say!("{} ({}): {}", product_text(&limit.name), product_text(limit.scope.name()), rates(limit))];
    match limit.kinds {
        Kinds::All => {}
        Kinds::Read => parts.push(label!("reads only").into()),
        Kinds::Write => parts.push(label!("writes only").into()),
    }
    match limit.access {
        Access::Any => {}
        Access::Sequential => parts.push(label!("sequential only").into()),
        Access::Random => parts.push(label!("random only").into()),
    }
    let given = |text: &str, words: &dyn Fn(&str) -> String| (!text.is_empty()).then(|| words(text));
    parts.extend(limit.unit.map(|unit| say!("counted per {unit}")));
    parts.extend(given(&limit.credits, &|credits| say!("burst credits {credits} operations")));
    parts.extend(given(&limit.credit_bytes, &|credits| say!("burst credits {credits} bytes")));
    parts.extend(limit.burst.then(|| label!("peak while burst credits last").to_owned()));
    parts.extend(given(&limit.when, &|when| say!("when {when}")));
    parts.extend(given(&limit.validity, &str::to_owned));
    parts.extend(limit.added.then(|| label!("the times of both add up").to_owned()));
    parts.extend(limit.in_model.then(|| label!("enforced by the model").to_owned()));
    let raised_by = limit.lift.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(label!(", "));
    parts.extend(given(&raised_by, &|options| say!("raised by {options}")));
    parts.join(label!("; "))
}

fn rates(limit: &LimitView) -> String {
    let rate = |text: &str, unit: &str| (!text.is_empty()).then(|| format!("{text} {unit}"));
    let both = [rate(&limit.iops, "IOPS"), rate(&limit.bytes, "bytes/s")];
    both.into_iter().flatten().collect::<Vec<_>>().join(label!(" and "))
}

fn latency(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let entries = product.latency();
    entries
        .iter()
        .map(|entry| noted(say!("\"{}\" {}", product_text(&entry.text), sources.mark(&entry.cite)), &entry.cite))
        .collect()
}

fn list_rules(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let rules = product.rules();
    let text = |message: &str, require: &str, mark: &str| format!("{}: {require} {mark}", product_text(message));
    rules.iter().map(|rule| noted(text(&rule.message, &rule.require, &sources.mark(&rule.cite)), &rule.cite)).collect()
}

fn prices(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let mut items = Vec::new();
    for list in product.price_views() {
        let mut remarks = vec![product_text(&list.taxes), product_text(&list.cite.note)];
        let mark = sources.mark(&list.cite);
        for one in &list.parts {
            if one.cite == list.cite {
                remarks.push(format!("- {}", part(one)));
            } else {
                remarks.push(format!("- {} {}", part(one), sources.mark(&one.cite)));
                remarks.push(product_text(&one.cite.note));
            }
        }
        remarks.extend(list.snapshot.iter().map(|snapshot| {
            let mark = sources.mark(&snapshot.cite);
            say!("- snapshots: {} per {} stored {mark}", snapshot.amount, product_text(&snapshot.per))
        }));
        items.push(Item::new(format!("{} {mark}", list.list), remarks));
    }
    items
}

/// `storage: 0.08 per GiB-month of size`.
fn part(part: &PartView) -> String {
    let of = if part.quantity.is_empty() { String::new() } else { say!(" of {}", part.quantity) };
    let when = if part.when.is_empty() { String::new() } else { say!(", when {}", part.when) };
    let once = if part.often == Often::Once { label!(", once") } else { "" };
    say!("{}: {} per {}{of}{when}{once}", product_text(&part.name), part.amount, product_text(&part.per))
}

fn list_model(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let Some(model) = product.model_view() else { return Vec::new() };
    let stages = noted(format!("{} {}", model.stages, sources.mark(&model.cite)), &model.cite);
    let pieces = model.pieces.map(|size| Item::new(say!("limits before it: passed in pieces of {size}, in turn"), []));
    let doubts = model.doubts.iter().map(|doubt| Item::new(say!("doubt: {}", product_text(doubt)), []));
    std::iter::once(stages).chain(pieces).chain(doubts).collect()
}

fn figures(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let mut items = Vec::new();
    for figure in product.figures() {
        let text = format!("{} = {} {} {}", figure.name, figure.value, figure.unit, sources.mark(&figure.cite));
        items.push(noted(text, &figure.cite));
    }
    items
}

fn safety(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(durability) = product.durability() {
        let range = words::failure_rate(durability);
        items.push(noted(format!("{range} {}", sources.mark(&durability.cite)), &durability.cite));
    }
    for level in product.service_levels() {
        items.push(noted(format!("{} {}", words::service_level(&level), sources.mark(&level.cite)), &level.cite));
    }
    if let Some(rac) = product.rac() {
        items.push(noted(say!("Oracle RAC: {} {}", product_text(&rac.text), sources.mark(&rac.cite)), &rac.cite));
    }
    for sharing in product.sharing_views() {
        let when = if sharing.when.is_empty() { String::new() } else { say!(", when {}", sharing.when) };
        let (mode, mark) = (product_text(sharing.mode.name()), sources.mark(&sharing.cite));
        let text = say!("{} machines, {mode}{when} {mark}", sharing.hosts);
        items.push(noted(text, &sharing.cite));
    }
    items
}

fn typical(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let mut items = Vec::new();
    for rates in product.typical() {
        let mut drives = Vec::new();
        for drive in &rates.drives {
            let at = |(depth, iops): (&u32, &f64)| say!("{} at {depth}", number::rate(*iops));
            let by_depth: Vec<String> = drive.rates.iter().map(at).collect();
            drives.push(format!("- {}: {} {}", drive.name, by_depth.join(label!(", ")), sources.mark(&drive.cite)));
            drives.extend((!drive.cite.note.is_empty()).then(|| product_text(&drive.cite.note)));
        }
        items.push(Item::new(words::typical(rates), drives));
    }
    items
}

fn deviations(product: &Product) -> Vec<Item> {
    let text = |deviation: &Deviation| {
        let loads: Vec<String> = deviation.loads.iter().map(|load| product_text(load.name())).collect();
        let blocks: Vec<String> = deviation.blocks.iter().map(ToString::to_string).collect();
        let of =
            if deviation.blocks == COMPARED_BLOCKS { String::new() } else { say!(" of {}", blocks.join(label!(", "))) };
        Item::new(format!("{}{of}: {}", loads.join(label!(", ")), product_text(&deviation.why)), [])
    };
    product.deviations().iter().map(text).collect()
}

fn autotune(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let mut items = Vec::new();
    for autotune in product.autotune() {
        let parameter = |(name, value): &(String, OptionValue)| match value {
            OptionValue::Number(number) => format!("{name} = {number}"),
            OptionValue::Text(text) => format!("{name} = {text}"),
        };
        let parameters = autotune.parameters.iter().map(parameter).collect::<Vec<_>>().join(label!(", "));
        let text = format!("{}: {parameters} {}", autotune.name, sources.mark(&autotune.cite));
        items.push(noted(text, &autotune.cite));
    }
    items
}

fn machines(product: &Product) -> Vec<Item> {
    let names: Vec<String> = product.machines().collect();
    let more = names.len().saturating_sub(MACHINES_MAX);
    let rest = if more > 0 { say!(" and {more} more") } else { String::new() };
    if names.is_empty() {
        return Vec::new();
    }
    vec![Item::new(format!("{}{rest}", names[..names.len() - more].join(label!(", "))), [])]
}

fn warnings(product: &Product, sources: &mut Sources) -> Vec<Item> {
    let mut items = Vec::new();
    for warning in product.warnings() {
        items.push(noted(format!("{} {}", product_text(&warning.text), sources.mark(&warning.cite)), &warning.cite));
    }
    items
}

/// The documents cited on a page, numbered in the order of their first citation.
#[derive(Debug, Default)]
struct Sources {
    documents: Vec<Arc<Cite>>,
    statuses: Vec<Status>,
}

impl Sources {
    /// `[2, 2025-09, verified]`: number of the document, date and status of the figure.
    fn mark(&mut self, cite: &Arc<Cite>) -> String {
        let same = |existing: &Arc<Cite>| existing.title == cite.title && existing.url == cite.url;
        let place = self.documents.iter().position(same).unwrap_or_else(|| {
            self.documents.push(Arc::clone(cite));
            self.documents.len() - 1
        });
        self.statuses.push(cite.status);
        say!("[{}, {}, {}]", place + 1, words::source_date(cite), words::status_name(cite.status))
    }

    /// The list of documents and the definitions of the statuses.
    fn section(self) -> Option<PageSection> {
        let document = |(index, cite): (usize, &Arc<Cite>)| {
            Item::new(format!("[{}] {} {}", index + 1, words::source_title(cite), cite.url).trim_end(), [])
        };
        let documents: Vec<Item> = self.documents.iter().enumerate().map(document).collect();
        let note = say!("figures {}", words::provenance(self.statuses));
        (!documents.is_empty())
            .then(|| PageSection::new(label!("Sources"), vec![Block::Items(documents), Block::Note(note)]))
    }
}
