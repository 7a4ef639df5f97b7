//! Prices, savings, and parts without a price.

use plimsoll_catalogue::{MAX_PRICE_AGE_DAYS, Money, Price, ProductKind, Status};
use plimsoll_choose::sizing::{Attachment, Choice, PresentCost, Sizing};
use plimsoll_language::{label, say};

use super::machine::vcpus;
use crate::number;
use crate::words::clean;
use crate::words::offer::{missing_prices, monthly_price, price_place};

/// Cost of today and the difference: `Today's configuration costs 1,565.10 USD a month: this one saves 612.40 USD (39 %)`.
pub(crate) fn saving(sizing: &Sizing) -> Option<String> {
    let present = sizing.present.as_ref()?;
    let names: Vec<String> = present.parts.iter().map(|(offer, _)| clean(&offer.short().to_string())).collect();
    let names = names.join(label!(" and "));
    let Some(today) = present.monthly() else {
        let unpriced = present.unpriced();
        let why = if unpriced.is_empty() {
            label!("its prices have several currencies").to_owned()
        } else {
            say!(
                "no price of {} in the catalogue for these terms; --price states your own",
                clean(&unpriced.join(label!(" and ")))
            )
        };
        return Some(say!("The cost of today's configuration ({names}) is unknown: {why}"));
    };
    let scope = if present.has_machine() { "" } else { label!(", storage alone") };
    let head = say!("Today's configuration ({names}) costs {today} a month");
    Some(match sizing.saving() {
        None => {
            say!("{head}; the difference is unknown, as the recommendation has no complete price in that currency")
        }
        Some(saving) => {
            let amount = Money { millionths: saving.millionths.abs(), ..saving };
            let share = number::percent(saving.as_f64().abs() / today.as_f64());
            let change = if saving.millionths >= 0 { label!("saves") } else { label!("costs more by") };
            let machines = unequal_machines(sizing, present).unwrap_or_default();
            say!("{head}: the recommendation {change} {amount} a month{scope} ({share}){machines}")
        }
    })
}

/// `; today's machines have 16 vCPUs and 128 GiB, those of the recommendation 2 vCPUs and 16 GiB`, if they differ.
fn unequal_machines(sizing: &Sizing, present: &PresentCost) -> Option<String> {
    let (today, then) = (present.machines()?, sizing.best_machines()?);
    let displayed = |(processors, bytes): (f64, f64)| {
        say!("{} and {} GiB", vcpus(processors), number::three(bytes / f64::from(1 << 30)))
    };
    (today != then)
        .then(|| say!("; today's machines have {}, those of the recommendation {}", displayed(today), displayed(then)))
}

/// Prices of a choice: `95.20 USD a month in us-east-1 (unverified), 279.16 USD with aws/r6i.xlarge`.
pub(crate) fn format_price(choice: &Choice) -> String {
    let monthly = choice
        .price
        .as_ref()
        .map_or_else(|| label!("unknown price").to_owned(), |price| monthly_price(price) + &origin(price));
    let machine = choice.machine.as_ref().map(|machine| {
        let name = clean(&machine.name().unwrap_or_default());
        match choice.total() {
            Some(total) => say!(", {total} with {name}{}", machine_price_origin(machine)),
            None => say!(", without the price of {name}"),
        }
    });
    let is_attached = matches!(choice.offer.product().kind(), ProductKind::Array | ProductKind::Drive);
    let host = if is_attached && choice.machine.is_none() { label!(", without hosts") } else { "" };
    format!("{monthly}{}{host}", machine.unwrap_or_default())
}

/// The price of the volumes of a choice: `95.20 USD a month in us-east-1 (unverified)`.
pub(crate) fn storage_price(choice: &Choice) -> Option<String> {
    // The price of a volume on a given machine has the machine's.
    let machine = if choice.offer.config.machine.is_some() { label!(" with the machine") } else { "" };
    let format = |price: &Price| {
        say!("{} a month{machine}{}{}", price.monthly, price_place(price), origin(price))
            + &missing_prices(price).unwrap_or_default()
    };
    choice.price.as_ref().map(format)
}

/// The price of a machine: `183.96 USD a month in us-east-1 (412 days old)`, `183.96 USD a month (your price)`.
pub(crate) fn machine_price(machine: &Attachment) -> Option<String> {
    let place = machine.price.as_ref().map(price_place).unwrap_or_default();
    Some(say!("{} a month{place}{}", machine.monthly?, machine_price_origin(machine)))
}

/// That a price is stated by the user, or why it is doubtful: ` (your price, taken as USD)`, ` (unverified, 412 days old)`.
fn origin(price: &Price) -> String {
    match price.cite.status {
        Status::Own if price.cite.note.is_empty() => return label!(" (your price)").to_owned(),
        Status::Own => return say!(" (your price, {})", price.cite.note),
        _ => {}
    }
    let unverified = (price.cite.status >= Status::Inferred).then(|| label!("unverified").to_owned());
    let days = price.age_days().filter(|days| *days > MAX_PRICE_AGE_DAYS);
    let doubts: Vec<String> = unverified.into_iter().chain(days.map(|days| say!("{days} days old"))).collect();
    if doubts.is_empty() { String::new() } else { say!(" ({})", doubts.join(label!(", "))) }
}

/// The origin of a machine's price that is not the one of the commitment, or the user's own, and its doubts.
pub(crate) fn machine_price_origin(machine: &Attachment) -> String {
    let Some(price) = &machine.price else { return String::new() };
    let on_demand = if price.uncommitted.is_empty() {
        String::new()
    } else {
        say!(" (on demand, as no price for {} is known)", price.commitment)
    };
    on_demand + &origin(price)
}

/// Most of the suitable machines have no price, so that the cheapest is unknown.
pub(crate) fn unpriced_machines(machine: &Attachment) -> Option<String> {
    let Attachment { unpriced, enough, .. } = machine;
    (*unpriced * 2 > *enough).then(|| {
        say!(
            "{unpriced} of {enough} suitable machines have no price for these terms, and a cheaper one may be among them: \
             plimsoll prices import reads the provider's list"
        )
    })
}

/// The reason why the storage of a choice has no price, with the terms that have one; empty if it has a price.
pub(crate) fn explain_lack(choice: &Choice) -> String {
    let reason = choice.price.is_none().then(|| choice.offer.price().err()).flatten();
    reason.map_or_else(String::new, |reason| clean(&reason.to_string()))
}

/// The part of a choice without a price: `aws/r6i.xlarge has no price in the catalogue for these terms`.
pub(crate) fn missing_price(choice: &Choice) -> String {
    let machine = choice.machine.as_ref().filter(|machine| machine.monthly.is_none()).and_then(Attachment::name);
    let without = choice.price.iter().flat_map(|price| &price.without).cloned();
    let part = without.chain(machine).next().filter(|_| choice.price.is_some());
    match part {
        Some(part) => say!("{} has no price in the catalogue for these terms", clean(&part)),
        None => label!("it has no price in the catalogue for these terms").to_owned(),
    }
}
