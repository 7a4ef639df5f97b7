//! Price against waiting sessions for each provider, and providers without a choice.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_catalogue::Money;
use plimsoll_choose::sizing::{Best, Choice, PriceDoubt, ProviderFrontier};
use plimsoll_language::{label, say};

use super::{Sized, read};
use crate::page::{Block, Cell, Column, ColumnKind, Fact, PageSection, Table};
use crate::words::{clean, offer, sizing as words};

/// Maximum number of configurations of a provider; more for a single provider.
const OF_EACH: usize = 3;
const OF_ONLY: usize = 6;

fn in_brackets(doubts: &[String]) -> String {
    if doubts.is_empty() { String::new() } else { say!(" ({})", doubts.join(label!(", "))) }
}

impl Sized<'_> {
    /// The frontier of each provider in outline.
    pub(super) fn by_provider(&self) -> Option<PageSection> {
        let point = &self.sizing.required.points[0];
        let providers = &self.sizing.providers;
        let max = if providers.len() == 1 { OF_ONLY } else { OF_EACH };
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        for frontier in providers {
            let displayed = frontier.outline(point, max);
            groups.push((rows.len(), self.group(frontier, displayed.len())));
            rows.extend(displayed.into_iter().map(|choice| (choice, &frontier.choices[0])));
        }
        let has_machines = rows.iter().any(|(choice, _)| choice.machine.is_some());
        let columns = [
            Column::configuration(),
            Column::monthly(if has_machines { label!("with machine") } else { label!("without hosts") }, 0),
            Column::new(label!("database"), label!("time"), ColumnKind::Text, 0),
            Column::new(label!("sessions"), label!("waiting"), ColumnKind::Share, 1),
            Column::new(label!("reads"), label!("in peaks"), ColumnKind::Text, 2),
            Column::text(label!("more"), 3),
            Column::new(label!("losses"), label!("a year"), ColumnKind::Share, 5),
            Column::doubts(),
        ];
        let row = |(choice, cheapest): (&Choice, &Choice)| {
            let is_cheapest = std::ptr::eq(choice, cheapest);
            let more = if is_cheapest { String::new() } else { words::against(point, cheapest, choice) };
            vec![
                Cell::text(offer::configuration(&choice.offer)),
                Cell::money(choice.total()),
                Cell::or_unknown(choice.effect.as_ref(), |effect| Cell::text(words::format_time_change(effect))),
                Cell::or_unknown(choice.waiting(point), Cell::three),
                Cell::or_unknown(read(choice), |class| Cell::text(class.mean.to_string())),
                Cell::text(more),
                Cell::or_unknown(choice.yearly_loss, |share| Cell::text(words::loss(share))),
                Cell::text(self.speed_and_doubts(choice)),
            ]
        };
        let mut table = Table::of(label!("Configurations by provider"), columns, rows, row).without_unknown();
        table.groups = groups;
        table.notes.push(
            label!("Database time: for the same work, at the mean load. Waiting: sessions that wait for reads and log writes in peaks.")
                .to_owned(),
        );
        table.notes.extend(self.without_choice());
        let single = if self.sizing.layouts.is_empty() { "" } else { label!(" of a single volume") };
        let heading = say!("Price against database time{single}, by provider");
        (!providers.is_empty()).then(|| PageSection::new(heading, vec![Block::Table(table)]))
    }

    /// The recommended configuration, and that of each other provider, those with a complete and verified price that are not
    /// slower first.
    pub(super) fn cheapest_by_provider(&self) -> Option<Table> {
        let others: Vec<_> = self.others().into_iter().map(|(_, best, reservations)| (best, reservations)).collect();
        if others.is_empty() {
            return None;
        }
        let best = self.sizing.best()?;
        let rows = std::iter::once((best, self.reservations(best))).chain(others);
        let table = Table::rows(label!("Cheapest of each provider"), rows)
            .column(Column::text(label!("cheapest of each provider"), 0), |(best, reservations)| {
                let names: Vec<String> = best.volumes().iter().map(|choice| offer::product(&choice.offer)).collect();
                let region = best.volumes().iter().find_map(|choice| choice.price.as_ref()?.region.clone());
                let region = region.map_or_else(String::new, |region| say!(" in {}", clean(&region)));
                names.join(label!(" and ")) + &region + &in_brackets(reservations)
            })
            .column(Column::monthly(label!("total"), 0), |(best, _)| Cell::money(best.total()))
            .column(Column::new(label!("database"), label!("time"), ColumnKind::Text, 1), |(best, _)| {
                self.time_and_slower(*best)
            })
            .column(Column::doubts(), |(best, _)| describe_doubts(*best))
            .table();
        Some(table.without_unknown())
    }

    /// Doubts of the recommendation where no table of providers has them, with classes that are slower.
    pub(super) fn doubts(&self) -> Option<Fact> {
        let best = self.sizing.best().filter(|_| self.others().is_empty())?;
        let slower = self.slower_classes(best);
        let doubts = describe_doubts(best);
        let doubts = if doubts.is_empty() { doubts } else { say!("{doubts} (inferred or unverified)") };
        let fact = Fact::new(label!("Doubts"), doubts);
        let fact = if slower.is_empty() { fact } else { fact.with_remark(say!("{slower} slower than today")) };
        Some(fact).filter(|fact| !fact.text.is_empty() || !slower.is_empty())
    }

    /// Classes that are slower within the tolerance: `redo and single-block reads`.
    fn slower_classes(&self, best: Best<'_>) -> String {
        let slower = best.volumes().into_iter().flat_map(|choice| &choice.slower).map(|slower| slower.class.label());
        let slower: BTreeSet<&str> = slower.filter(|_| self.slower_or_doubtful(best).is_none()).collect();
        slower.into_iter().collect::<Vec<_>>().join(label!(" and "))
    }

    /// `65 % less, redo slower`: the change of the database's time, and classes that are slower within the tolerance.
    fn time_and_slower(&self, best: Best<'_>) -> Option<String> {
        let time = best.effect(&self.sizing.required).as_ref().map(words::format_time_change)?;
        let names = self.slower_classes(best);
        Some(if names.is_empty() { time } else { say!("{time}, {names} slower") })
    }

    /// Reasons not to rely on the price or the speed of a configuration.
    fn reservations(&self, best: Best<'_>) -> Vec<String> {
        let unverified = (best.price_doubt() > PriceDoubt::Firm).then(|| label!("unverified price").to_owned());
        unverified.into_iter().chain(self.slower_or_doubtful(best)).collect()
    }

    /// `slower than today`, then the doubts of a choice, separated by commas.
    pub(super) fn speed_and_doubts(&self, choice: &Choice) -> String {
        let required = &self.sizing.required;
        let is_slower = !required.may_be_slower && required.is_slower_than_today(choice);
        let other = if is_slower { Best::Slower(choice) } else { Best::Single(choice) };
        let recommended = self.sizing.best().filter(|_| self.is_recommended(choice));
        let best = recommended.filter(|best| !matches!(best, Best::Single(_))).unwrap_or(other);
        let all = self.slower_or_doubtful(best).into_iter().chain([words::doubts(choice)]);
        all.filter(|doubt| !doubt.is_empty()).collect::<Vec<_>>().join(label!(", "))
    }

    fn group(&self, frontier: &ProviderFrontier, displayed: usize) -> String {
        let more = frontier.choices.len() - displayed;
        let more =
            if more == 0 { String::new() } else { say!(", {more} more levels with --provider {}", frontier.provider) };
        let more = if self.sizing.providers.len() == 1 { String::new() } else { more };
        let machine = frontier.choices[0].machine.as_ref().map_or_else(String::new, |machine| {
            let name = machine.name().unwrap_or_default();
            let price = if machine.monthly.is_none() { label!(" without a price") } else { "" };
            say!(" on {}{price}", clean(&name))
        });
        let slower = if frontier.is_slower { label!(", slower than today (--may-be-slower)") } else { "" };
        format!("{}{machine}{slower}{more}:", frontier.provider)
    }

    /// The reason of each provider without a priced choice: `azure: premium-ssd ... is slower than today: ...`.
    fn without_choice(&self) -> Vec<String> {
        let sizing = self.sizing;
        let mut reasons: BTreeMap<String, String> = BTreeMap::new();
        let mut add = |name: &str, reason: String| {
            let provider = provider_of(name).to_owned();
            if !sizing.providers.iter().any(|existing| existing.provider == provider) {
                reasons.entry(provider).or_insert(reason);
            }
        };
        for choice in sizing.choices.iter().filter(|choice| choice.total().is_none()) {
            add(choice.offer.product().name(), words::missing_price(choice));
        }
        for choice in &sizing.slower {
            let name = offer::configuration(&choice.offer);
            let accepted = words::accepted_by(&self.sizing.required, choice);
            let text = say!("{name} is slower than today: {} ({accepted})", words::slower(choice));
            add(choice.offer.product().name(), text);
        }
        for choice in &sizing.nearly {
            let name = offer::configuration(&choice.offer);
            add(choice.offer.product().name(), say!("{name} has {}", words::reached(&choice.reached)));
        }
        for rejection in &sizing.rejected {
            add(&rejection.name, words::rejection(rejection));
        }
        reasons.into_iter().map(|(provider, reason)| say!("{provider}: none. {reason}")).collect()
    }

    /// The cheapest notable step on the frontier from the recommended choice: `More money: X for 300 USD a month, +14 %: 3.4
    /// times faster`
    pub(super) fn more_money(&self) -> Option<String> {
        /// Smaller gains, shorter waits in sessions, and higher prices are not worth a sentence.
        const GAIN: f64 = 1.25;
        const SESSIONS: f64 = 0.1;
        const PRICE: f64 = 3.0;
        let price = |choice: &Choice| choice.total().map_or(f64::INFINITY, Money::as_f64);
        let point = &self.sizing.required.points[0];
        let chosen = self.sizing.best().and_then(Best::choice).filter(|choice| choice.total().is_some());
        let chosen = chosen.or(self.sizing.frontier.first())?;
        let before = chosen.waiting(point)?;
        let is_notable = |choice: &&Choice| {
            let after = choice.waiting(point).unwrap_or(before);
            before >= GAIN * after && before - after >= SESSIONS && price(choice) <= PRICE * price(chosen)
        };
        let next = self.sizing.frontier.iter().find(is_notable)?;
        let (name, against) = (offer::configuration(&next.offer), words::against(point, chosen, next));
        let label = if price(next) < price(chosen) { label!("At an unverified price") } else { label!("More money") };
        Some(say!("{label}: {name} for {}, {against}", words::format_price(next)))
    }

    /// Prices of a choice, with the machine as far as the input determines it.
    pub(super) fn price(&self, choice: &Choice) -> String {
        let price = words::format_price(choice);
        let compute = self.sizing.required.compute;
        let is_known = compute.processors.is_some() || compute.memory.is_some();
        if is_known || choice.machine.is_none() {
            return price;
        }
        say!("{price}, the smallest for a database, as the input has neither processors nor memory")
    }

    /// Totals of the other providers: `Other providers, with machine: aws 300 USD, azure 410 USD (unverified price) a month`
    pub(super) fn other_providers(&self) -> Option<String> {
        let text = |(provider, best, reservations): (&str, Best<'_>, Vec<String>)| {
            let volumes = if matches!(best, Best::Layout(_)) { label!(" with separate volumes") } else { "" };
            Some(format!("{provider} {}{volumes}{}", best.total()?, in_brackets(&reservations)))
        };
        let list: Vec<String> = self.others().into_iter().filter_map(text).collect();
        (!list.is_empty()).then(|| say!("Other providers, with machine: {} a month", list.join(label!(", "))))
    }

    /// The recommended configuration of each other provider with its reservations: those without come first, then the cheapest.
    fn others(&self) -> Vec<(&str, Best<'_>, Vec<String>)> {
        let own = self.sizing.best_volumes().first().map(|choice| provider_of(choice.offer.product().name()));
        let others = self.sizing.providers.iter().map(|other| other.provider.as_str());
        let others = others.filter(|name| Some(*name) != own).filter_map(|name| {
            let best = self.sizing.best_of(name).filter(|best| best.total().is_some())?;
            Some((name, best, self.reservations(best)))
        });
        let mut others: Vec<_> = others.collect();
        others.sort_by_key(|(_, best, reservations)| {
            (!reservations.is_empty(), best.total().map(|total| total.millionths))
        });
        others
    }
}

/// The provider in the name of a product or configuration: `aws` of `stripe(4,64KiB) of aws/gp3:100GiB`.
fn provider_of(name: &str) -> &str {
    let product = name.rsplit_once(" of ").map_or(name, |(_, product)| product);
    product.split_once('/').map_or(product, |(provider, _)| provider)
}

/// The longest list of doubts of the volumes of a recommendation, with that about the price of their machine.
fn describe_doubts(best: Best<'_>) -> String {
    let of_volumes = best.volumes().into_iter().map(words::doubts).max_by_key(String::len).unwrap_or_default();
    let is_layout = matches!(best, Best::Layout(_));
    let of_machine = best.machine().filter(|machine| is_layout && !machine.price_risks().is_empty());
    let of_machine = of_machine.map_or("", |_| words::machine_price_doubt());
    [&*of_volumes, of_machine].into_iter().filter(|doubt| !doubt.is_empty()).collect::<Vec<_>>().join(label!(", "))
}

#[cfg(test)]
mod tests {
    use super::provider_of;

    #[test]
    fn the_provider_is_the_beginning_of_the_product() {
        for name in ["aws/gp3", "aws/gp3:100GiB,iops=4000", "stripe(4,64KiB) of aws/io2:16GiB on aws/m5.large"] {
            assert_eq!(provider_of(name), "aws");
        }
    }
}
