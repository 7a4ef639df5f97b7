//! Configurations: capacity, sustained rates, price, binding limit and the price of lifting it.
//!
//! Every figure is shown with the status of its source.

use plimsoll_catalogue::{
    Ask, Ceiling, Charge, ChargeTerm, MachineShape, Money, Offer, Often, Price, SharingMode, Status,
};
use plimsoll_choose::Quote;
use plimsoll_language::{label, say};

use super::limit;
use super::price_chart::{PricedRate, price_chart};
use crate::page::{
    Block, Cell, Column, ColumnKind, Emphasis, Exhibit, Fact, Headline, Page, PageSection, Table, TableExtent,
};
use crate::words::clean;
use crate::words::offer as words;
use crate::{money, number};

/// Maximum number of prices to list if none is chosen.
const PRICES_MAX: usize = 5;

/// Comparison of several configurations, then each in full. Empty for no configuration.
pub fn quotes(quotes: &[Quote]) -> Page {
    let Some(first) = quotes.first() else { return Page::default() };
    let title = match quotes {
        [only] => say!("Quote: {}", words::configuration(&only.offer)),
        _ => say!("Quotes of {} configurations", quotes.len()),
    };
    let table = tabulate_quotes(quotes);
    let same = quotes.iter().all(|quote| quote.ask == first.ask);
    let heading = if same { request(&first.ask) } else { label!("Sustained rates, each for its own load").to_owned() };
    // The user named each of them.
    let table = Table { extent: TableExtent::All, ..table };
    let exhibit = if quotes.len() > 1 { Exhibit::Block(Block::Table(table.clone())) } else { Exhibit::default() };
    let comparison = if quotes.len() > 1 { Block::Table(table) } else { Block::Data(table) };
    let chart = if same { chart_prices(quotes) } else { None };
    let mut sections = vec![PageSection::new(heading, std::iter::once(comparison).chain(chart).collect())];
    sections.extend(quotes.iter().map(section));
    let provenance = words::provenance(quotes.iter().flat_map(statuses).collect());
    sections
        .push(PageSection::bare(label!("Sources"), vec![Block::Facts(vec![Fact::new(label!("figures"), provenance)])]));
    let figures = if quotes.len() > 1 { Vec::new() } else { list_key_figures(first) };
    let mut headline = Headline::of(describe_best(quotes, first));
    headline.cautions = quotes.iter().flat_map(caution_dates).collect();
    // The headline and the figures of a single quote state it.
    let incomplete = quotes.iter().filter(|_| quotes.len() > 1).filter_map(caution_incomplete_price);
    headline.cautions.extend(incomplete);
    let headline = Some(headline);
    Page { title, headline, figures, exhibit, sections, ..Page::default() }
}

/// Cautions on figures that are later than the date of the terms, and on a price that is much older.
fn caution_dates(quote: &Quote) -> Vec<String> {
    let name = words::readable_name(&quote.offer);
    let later = quote.offer.oldest_source_after_terms();
    let later = later.map(|oldest| words::later_figures(&name, quote.offer.terms().as_of, oldest));
    let price = quote.price.as_ref().ok().filter(|price| price.age_doubt().is_some());
    let old = price.and_then(Price::oldest).map(|(cite, days)| words::old_price(&name, cite, days));
    later.into_iter().chain(old).collect()
}

/// The caution on a price in the table that lacks components, or on the lack of a price with its reason.
fn caution_incomplete_price(quote: &Quote) -> Option<String> {
    let text = match &quote.price {
        Ok(price) if price.is_complete() => return None,
        Ok(price) => words::monthly_price(price),
        Err(why) => why.to_string(),
    };
    Some(format!("{}: {text}", words::configuration(&quote.offer)))
}

/// Sustained rate and price of one configuration; of several the one that carries most.
fn describe_best(quotes: &[Quote], first: &Quote) -> String {
    let rate = |quote: &Quote| quote.standing.binding().map_or(0.0, |bound| bound.iops);
    let best = quotes.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap_or(first);
    let name = if quotes.len() > 1 { words::configuration(&best.offer) } else { words::readable_name(&best.offer) };
    let carries = best.standing.binding().map_or_else(
        || label!("the catalogue has no limits").to_owned(),
        |bound| say!("{} IOPS of {}", number::rate(bound.iops), words::ask(&best.ask)),
    );
    let scope = if quotes.len() > 1 { label!("Highest of the configurations: ") } else { "" };
    if let Some(cheaper) = words::cheaper_billing(&best.billing) {
        return format!("{scope}{name}: {cheaper}");
    }
    let price = best.price.as_ref().map_or_else(|_| label!("price unknown").to_owned(), words::monthly_price);
    say!("{scope}{name}: {carries}, {price}")
}

/// Sustained rate, price and binding limit with their statuses.
fn list_key_figures(quote: &Quote) -> Vec<Fact> {
    let mut figures = Vec::new();
    if let Some(binding) = quote.standing.binding() {
        let ceiling = &quote.offer.ceilings[binding.ceiling];
        let status = words::status_name(ceiling.cite.status);
        let (moved, requested) = (words::throughput(binding.bytes_per_second), words::ask(&quote.ask));
        let carries = Fact::new(label!("Carries"), format!("{} IOPS", number::rate(binding.iops)));
        figures.push(carries.with_remark(say!("{moved} of {requested}, sustained; {status}")));
        figures.push(Fact::new(label!("Binds"), words::product_text(&ceiling.name)).with_remark(status));
    }
    figures.push(match &quote.price {
        Ok(price) => {
            let missing = words::missing_prices(price).unwrap_or_default();
            let fact = Fact::new(label!("Price"), format!("{}{missing}", total(price)));
            let charges = describe_charges(price.parts.iter().filter(|charge| charge.money.millionths != 0));
            let charges: Vec<String> = charges.iter().map(|(money, goods)| format!("{money}: {goods}")).collect();
            let sum = if charges.len() > 1 { charges.join(label!("; ")) } else { String::new() };
            fact.with_remark(words::status_name(price.cite.status)).with_remark(sum)
        }
        Err(why) => Fact::new(label!("Price"), label!("unknown")).with_remark(why.to_string()),
    });
    figures
}

/// A chart of the quotes with a price and a ceiling.
fn chart_prices(quotes: &[Quote]) -> Option<Block> {
    let priced = |quote: &Quote| {
        let (price, bound) = quote.price.as_ref().ok().zip(quote.standing.binding())?;
        Some(PricedRate { name: words::configuration(&quote.offer), monthly: price.total()?, iops: bound.iops })
    };
    let configurations: Vec<PricedRate> = quotes.iter().filter_map(priced).collect();
    price_chart(&configurations, label!("sustained IOPS"), label!("list prices and ceilings of the catalogue"))
}

fn request(ask: &Ask) -> String {
    say!("Sustained rates for {}", words::ask(ask))
}

/// The lowest limit.
fn find_binding(quote: &Quote) -> Option<&Ceiling> {
    quote.standing.binding().map(|bound| &quote.offer.ceilings[bound.ceiling])
}

fn tabulate_quotes(quotes: &[Quote]) -> Table {
    let once = |quote: &Quote| {
        let price = quote.price.as_ref().ok()?;
        Some(price.once.unwrap_or(Money { millionths: 0, ..price.monthly }))
    };
    let has_once = quotes.iter().any(|quote| quote.price.as_ref().is_ok_and(|price| price.once.is_some()));
    let table = Table::rows(label!("Configurations"), quotes)
        .column(Column::configuration(), |quote| words::configuration(&quote.offer))
        .column(Column::rate("IOPS", "", 0), |quote| quote.standing.binding().map(|bound| Cell::rate(bound.iops)))
        .column(Column::rate("MB/s", "", 1), |quote| {
            let bytes = quote.standing.binding()?.bytes_per_second;
            Some(Cell::figure(words::megabytes(bytes), bytes / 1e6))
        })
        .column(Column::monthly(label!("price"), 0), |quote| Cell::price(quote.price.as_ref().ok()));
    let once_column = Column::new(label!("price"), label!("once"), ColumnKind::Money, 0);
    let table = if has_once { table.column(once_column, |quote| Cell::money(once(quote))) } else { table };
    table
        .column(Column::new(label!("per 1,000"), "IOPS", ColumnKind::Money, 2), |quote| {
            let (sum, bound) = quote.monthly().zip(quote.standing.binding())?;
            Some(Cell::money(money::share(sum, bound.iops / 1_000.0)))
        })
        .column(Column::text(label!("limit"), 0), |quote| limit(find_binding(quote).map(|ceiling| &*ceiling.name)))
        .column(Column::new(label!("status"), label!("of the limit"), ColumnKind::Text, 3), |quote| {
            find_binding(quote).map(|ceiling| words::status_name(ceiling.cite.status))
        })
        .table()
}

/// A configuration in full.
fn section(quote: &Quote) -> PageSection {
    let offer = &quote.offer;
    let holds = (offer.capacity.get() > 0).then(|| say!(", capacity {}", words::capacity(offer.capacity)));
    let mut facts = state_rate(quote);
    facts.push(state_price(quote));
    facts.extend(quote.billing.iter().map(|choice| Fact::new(clean(&choice.value), words::billing(choice))));
    facts.extend(state_limits(quote));
    facts.extend(safety(offer));
    facts.extend(offer.machine_shape().map(|shape| Fact::new(label!("machine"), describe_machine(&shape))));
    facts.extend(offer.latency().iter().map(|latency| {
        Fact::new(
            label!("latency"),
            say!("\"{}\" - {}", words::product_text(&latency.text), words::cite(&latency.cite)),
        )
    }));
    facts.extend(offer.typical().iter().map(|rates| {
        let names: Vec<&str> = rates.drives.iter().map(|drive| drive.name.as_str()).collect();
        Fact::new(label!("typical"), words::typical(rates)).with_remark(names.join(label!("; ")))
    }));
    facts.extend(offer.needs().iter().map(|need| Fact::caution(label!("needs"), need.to_string())));
    let age = quote.price.as_ref().ok().and_then(Price::age_doubt);
    let commitment = quote.price.as_ref().ok().and_then(Price::commitment_doubt);
    let doubts = offer.doubts_of_single_size().into_iter().chain(age).chain(commitment);
    facts.extend(doubts.map(|doubt| Fact::caution(label!("doubt"), doubt.text)));
    let outside = offer.model_fit().and_then(|fit| fit.outside(&quote.ask, &[]));
    facts.extend(outside.map(|what| Fact::caution(label!("doubt"), what)));
    let title = format!("{}{}", words::product_text(&offer.title), holds.unwrap_or_default());
    PageSection::new(offer.short().to_string(), vec![Block::Text(title), Block::Facts(facts)])
}

/// Durability, sharing, service levels, the work of a managed service, and the price of snapshots.
pub(super) fn safety(offer: &Offer) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(durability) = offer.durability() {
        let lost = words::failure_rate(&durability);
        let status = words::status_name(durability.cite.status);
        facts.push(Fact::new(label!("losses"), say!("{lost} ({status})")));
    }
    if let Some(sharing) = offer.sharing() {
        let access = match sharing.mode {
            SharingMode::ReadWrite => label!("write to"),
            SharingMode::ReadOnly => label!("only read"),
        };
        let status = words::status_name(sharing.cite.status);
        facts.push(Fact::new(label!("shared"), say!("up to {} machines {access} a volume ({status})", sharing.hosts)));
    }
    let levels: Vec<String> = offer.service_levels().iter().map(words::service_level).collect();
    facts.extend((!levels.is_empty()).then(|| Fact::new(label!("service level"), levels.join(label!("; ")))));
    if let Some(managed) = offer.product().managed() {
        let status = words::status_name(managed.cite.status);
        facts.push(Fact::new(
            label!("managed"),
            say!("{}: {} ({status})", managed.engine_titles(), words::product_text(&managed.provides)),
        ));
        facts.push(Fact::new(label!("leaves"), say!("{} ({status})", words::product_text(&managed.leaves))));
    }
    facts.extend(offer.snapshot_price().map(|price| Fact::new(label!("snapshot"), words::snapshots(&price))));
    facts
}

/// `oci/VM.Standard.E5.Flex: 32 vCPUs, 256 GiB, 16 Gb/s to its volumes, up to 32 volumes`.
fn describe_machine(shape: &MachineShape) -> String {
    let parts = [
        shape.vcpus.map(|vcpus| format!("{} vCPUs", number::exact(vcpus))),
        shape.memory.map(words::capacity),
        shape.network_bits_per_second.map(|bits| say!("{} Gb/s to its volumes", number::exact(bits / 1e9))),
        shape.volumes.map(|volumes| say!("up to {volumes} volumes")),
    ];
    let existing: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}: {}", shape.name, existing.join(label!(", ")))
}

/// The statuses of all figures of a configuration.
fn statuses(quote: &Quote) -> Vec<Status> {
    let standing = &quote.standing;
    let peak = standing.peak.iter().map(|peak| &peak.bound);
    let bounds = standing.bounds.iter().take(1).chain(standing.next()).chain(peak);
    let limits = bounds.map(|bound| quote.offer.ceilings[bound.ceiling].cite.status);
    let price = quote.price.as_ref().ok().map(|price| price.cite.status);
    limits.chain(price).chain(quote.offer.latency().iter().map(|latency| latency.cite.status)).collect()
}

fn state_rate(quote: &Quote) -> Vec<Fact> {
    let Some(binding) = quote.standing.binding() else {
        return vec![Fact::new(label!("carries"), label!("unknown: the catalogue has no ceiling for this load"))];
    };
    let ceilings = &quote.offer.ceilings;
    let (requested, status) = (words::ask(&quote.ask), words::status_name(ceilings[binding.ceiling].cite.status));
    let mut facts =
        vec![Fact::new(label!("carries"), say!("{} of {requested}, sustained ({status})", words::rates(binding)))];
    if let Some(peak) = quote.standing.peak.filter(|peak| peak.bound.iops > binding.iops && peak.seconds >= 1.0) {
        let (lasts, credits) = (words::lasting(peak.seconds), words::product_text(&ceilings[peak.credits_of].name));
        let (rates, status) = (words::rates(&peak.bound), words::status_name(ceilings[peak.bound.ceiling].cite.status));
        facts.push(Fact::new(label!("burst"), say!("{rates} for {lasts} from full credits of {credits} ({status})")));
    }
    facts
}

fn state_price(quote: &Quote) -> Fact {
    let price = match &quote.price {
        Ok(price) => price,
        Err(why) => {
            let other = quote.offer.prices().iter().take(PRICES_MAX).map(total).collect();
            return Fact { remarks: other, ..Fact::new(label!("price"), why.to_string()) };
        }
    };
    let status = words::status_name(price.cite.status);
    let mut fact = match price.parts.as_slice() {
        [only] => Fact::new(label!("price"), say!("{}: {} ({status})", total(price), bought(only))),
        parts => {
            let fact = Fact::new(label!("price"), say!("{} ({status})", total(price)));
            Fact { parts: describe_charges(parts), ..fact }
        }
    };
    if !price.without.is_empty() {
        fact = fact.with_remark(say!("without the price of {}", price.without.join(label!(", "))));
    }
    let taxes = if price.taxes.is_empty() { String::new() } else { say!("; {}", price.taxes) };
    let age = match price.oldest() {
        Some((oldest, days)) if *oldest == price.cite => say!("; {days} days old"),
        Some((oldest, days)) => say!("; the oldest price {days} days, {}", words::cite(oldest)),
        None => String::new(),
    };
    fact.with_remark(format!("{}{age}{taxes}", words::cite(&price.cite)))
}

/// Cost and arithmetic of each component of a price.
fn describe_charges<'a>(charges: impl IntoIterator<Item = &'a Charge>) -> Vec<(String, String)> {
    let describe = |charge: &Charge| {
        let once = if charge.often == Often::Once { label!(", once") } else { "" };
        (charge.money.to_string(), format!("{}{once}", bought(charge)))
    };
    charges.into_iter().map(describe).collect()
}

/// `52.30 USD a month and 10.00 USD once, in us-east-1`.
fn total(price: &Price) -> String {
    let once = price.once.map(|once| say!(" and {once} once")).unwrap_or_default();
    let region = price.region.as_ref().map(|region| say!(", in {region}")).unwrap_or_default();
    say!("{} a month{once}{region}", price.monthly)
}

/// `storage, 500 GiB-month x 0.08 USD`; `disk` if it is a single one with a monthly price.
fn bought(part: &Charge) -> String {
    let name = words::product_text(&part.name);
    let unit = if &*part.per == "month" { String::new() } else { format!(" {}", words::product_text(&part.per)) };
    let product = |term: &ChargeTerm| {
        let hours = term.hours.map(|hours| say!(" x {} h", number::exact(hours))).unwrap_or_default();
        say!("{}{unit} x {} {}{hours}", number::exact(term.quantity), term.unit_price, part.money.currency)
    };
    match part.terms.as_slice() {
        [ChargeTerm { quantity, hours: None, .. }] if unit.is_empty() && (quantity - 1.0).abs() < 1e-9 => name,
        terms => format!("{name}{}{}", label!(", "), terms.iter().map(product).collect::<Vec<_>>().join(" + ")),
    }
}

fn state_limits(quote: &Quote) -> Vec<Fact> {
    let Some(binding) = quote.standing.binding() else { return Vec::new() };
    let offer = &quote.offer;
    let ceiling = &offer.ceilings[binding.ceiling];
    let binds = Fact::new(label!("limit"), words::bound(offer, binding)).with_emphasis(Emphasis::Strong);
    let mut facts = vec![binds.with_remark(words::cite(&ceiling.cite))];
    if let Some(next) = quote.standing.next() {
        let status = words::status_name(offer.ceilings[next.ceiling].cite.status);
        facts.push(Fact::new(label!("next"), say!("{} ({status})", words::bound(offer, next))));
    }
    facts.extend(quote.lifts.iter().map(|lift| Fact::new(label!("lift"), words::lift(lift))));
    if quote.lifts.is_empty() {
        let machine = ceiling.lift.iter().any(|name| &**name == "machine");
        let names: Vec<&str> = ceiling.lift.iter().map(|name| &**name).filter(|name| *name != "machine").collect();
        let none = match names.as_slice() {
            _ if machine => label!("another machine may raise it").to_owned(),
            [] => label!("no option raises it").to_owned(),
            names => say!("no other value of {} raises it", names.join(label!(" or "))),
        };
        facts.push(Fact::new(label!("lift"), none));
    }
    facts
}
