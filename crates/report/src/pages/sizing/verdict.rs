//! The verdict of a sizing: the best configuration with its price and first limit, the result of the diagnosis, and the
//! alternatives in a sentence each.

use std::collections::BTreeSet;

use plimsoll_catalogue::Money;
use plimsoll_choose::sizing::{
    Attachment, Best, Choice, PriceDoubt, Rejection, RejectionReason, Sizing, VolumeLayout, unsupported_rac,
};

use super::Sized;
use crate::chart::sentence;
use crate::number;
use crate::page::Headline;
use crate::words::{clean, offer, sizing as words};

/// Maximum ratio of the price of a slower configuration that is mentioned to that of the best.
const MUCH_CHEAPER: f64 = 0.8;

impl Sized<'_> {
    /// The verdict, preceded by the platform's caution if the figures do not transfer to other storage, and by a larger
    /// cache if that costs less.
    pub(super) fn headline(&self) -> Headline {
        let platform = &self.sizing.wanted.platform;
        let cluster = platform.cluster.as_ref();
        let is_part = cluster.is_some_and(|cluster| cluster.instances.len() == 1 || cluster.count > cluster.covered);
        let (cautions, notes) = if is_part { (cluster, None) } else { (None, cluster) };
        let foreign = platform.foreign.iter().map(words::foreign_platform);
        let cautions = platform.exadata.iter().map(words::exadata).chain(cautions.map(words::cluster)).chain(foreign);
        let cautions = self.unsupported().into_iter().chain(cautions);
        let memory = self.memory.map(words::memory_first);
        let is_paid = self.memory.is_some_and(|memory| memory.is_paid);
        let is_cheaper =
            self.memory.zip(self.sizing.best_total()).is_none_or(|(memory, best)| is_less(memory.total, best));
        let (memory, more_memory) = if is_cheaper && !is_paid { (memory, None) } else { (None, memory) };
        let memory = memory.map(|memory| format!("Memory first: {memory}"));
        let label = if is_paid { "A larger cache at no price" } else { "More memory instead" };
        let more_memory = more_memory.map(|memory| format!("{label}: {memory}"));
        let censored = words::censored(&self.sizing.wanted);
        let small = words::smaller_than_stored(&self.sizing.wanted);
        let first = small.into_iter().chain(cautions).chain(censored).chain(memory);
        let mut sentences = first.chain([self.verdict()]).chain(self.refused()).chain(notes.map(words::cluster));
        let text = sentences.next().unwrap_or_default();
        let details = self.details().into_iter().chain(more_memory);
        Headline { text, grade: "simulated", details: sentences.chain(details).map(full_stop).collect() }
    }

    /// The best configuration as a sentence.
    fn verdict(&self) -> String {
        let meets = self.objectives();
        match self.sizing.best() {
            Some(Best::Layout(layout)) => {
                let volumes = words::layout(layout);
                format!("Cheapest configuration that carries the load{meets}: {volumes}, {}", layout_price(layout))
            }
            Some(Best::Single(choice)) => {
                let name = offer::configuration(&choice.offer);
                match choice.price_doubt() {
                    PriceDoubt::Unpriced | PriceDoubt::Partial => {
                        let missing = words::missing_price(choice);
                        format!(
                            "No configuration with a complete price carries the load{meets}. Smallest sufficient: {name}; \
                             {missing}; --price states your own"
                        )
                    }
                    _ => format!("Cheapest configuration that carries the load{meets}: {name}, {}", self.price(choice)),
                }
            }
            Some(Best::Slower(choice)) => {
                let name = offer::configuration(&choice.offer);
                let (price, slower) = (self.price(choice), words::slower(choice));
                format!(
                    "No configuration with a complete price carries the load{meets} at today's speed. \
                     Best of the others: {name}, {price}; slower: {slower}"
                )
            }
            Some(Best::Doubtful(choice)) => {
                let name = offer::configuration(&choice.offer);
                format!("Cheapest configuration that carries the load{meets}: {name}, {}", self.price(choice))
            }
            None => self.no_choice(&meets),
        }
    }

    fn no_choice(&self, meets: &str) -> String {
        let Sizing { nearly, evaluated, .. } = self.sizing;
        if *evaluated == 0 {
            return "No configuration is eligible: the reasons are below, for each product".to_owned();
        }
        let near = nearly.iter().min_by_key(|choice| choice.reached.iter().map(|one| one.time).max());
        let near = near.map_or_else(String::new, |near| {
            format!(": the nearest has {}, so consider looser objectives", words::reached(&near.reached))
        });
        format!("None of {} configurations carries the load{meets}{near}", number::whole(*evaluated as f64))
    }

    /// The lack of support of a recommended platform, if those were included.
    fn unsupported(&self) -> Option<String> {
        self.sizing.wanted.platform.cluster.as_ref()?;
        let volume = self.best_volumes().into_iter().next()?;
        unsupported_rac(volume.offer.product()).map(|why| format!("Not supported by the vendor: {why}"))
    }

    /// The platforms that are refused, as the vendor of the database does not support them.
    fn refused(&self) -> Option<String> {
        let is_unsupported = |rejection: &Rejection| matches!(&rejection.reason, RejectionReason::Refused(reason) if reason.starts_with("Oracle does not support RAC"));
        let refused: BTreeSet<&str> = self
            .sizing
            .rejected
            .iter()
            .filter(|rejection| is_unsupported(rejection))
            .filter_map(|rejection| rejection.name.split('/').next())
            .collect();
        let names = refused.into_iter().collect::<Vec<_>>().join(", ");
        (!names.is_empty())
            .then(|| format!("Refused, as Oracle does not support RAC there: {names} (--unsupported includes them)"))
    }

    /// Sentences that complete the verdict.
    fn details(&self) -> Vec<String> {
        let mut details = Vec::new();
        details.extend(words::saving(self.sizing));
        details.extend(
            self.effect_of(&self.best_volumes())
                .map(|effect| format!("Database time: {} than today for the same work", words::saved(&effect))),
        );
        match self.sizing.best() {
            Some(Best::Layout(layout)) => details.push(single_volume(layout)),
            Some(Best::Single(choice)) => details.push(sentence(&words::first_limit(choice))),
            Some(Best::Slower(choice)) => {
                details.push(sentence(&words::first_limit(choice)));
                details.push(self.strict());
            }
            Some(Best::Doubtful(choice)) => {
                details.push(sentence(&words::first_limit(choice)));
                details.extend(self.within_doubt(choice));
            }
            None => {}
        }
        details.extend(self.sizing.hits.as_ref().map(words::hit_assumption));
        details.extend(self.best_machine().and_then(words::unpriced_machines));
        details.extend(words::processors_without_peaks(&self.sizing.wanted.compute_origin));
        details.extend(words::answer(&self.sizing.wanted).map(|answer| answer.trim_end_matches('.').to_owned()));
        details.extend(self.cheaper_but_slower());
        details.extend(self.more_money());
        details.extend(self.other_providers());
        details
    }

    fn best_machine(&self) -> Option<&Attachment> {
        match self.sizing.best()? {
            Best::Layout(layout) => layout.machine.as_ref(),
            Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice) => choice.machine.as_ref(),
        }
    }

    /// How to rank slower configurations, and the first that is not slower, if any.
    fn strict(&self) -> String {
        let rank = "--may-be-slower ranks all slower configurations";
        let Some(first) = self.sizing.choices.first() else { return rank.to_owned() };
        let why = match first.price_doubt() {
            PriceDoubt::Partial => "a part of it has no price in the catalogue",
            _ => "it has no price in the catalogue for this currency and region",
        };
        format!("Not slower: {}, but {why}. {rank}", offer::configuration(&first.offer))
    }

    /// Why a choice that appears slower is preferred to the first, which costs more.
    fn within_doubt(&self, choice: &Choice) -> Option<String> {
        let first = self.sizing.choices.first()?;
        let (name, slower) = (offer::configuration(&first.offer), words::slower(choice));
        let price = self.price(first);
        Some(format!(
            "It appears slower ({slower}), but its response times are inferred, as are those of the next, {name}, {price}: \
             the difference is within the doubt, so the cheaper is first"
        ))
    }

    /// A much cheaper configuration that is slower than today for some class, but not in total.
    fn cheaper_but_slower(&self) -> Option<String> {
        let best = match self.sizing.best()? {
            Best::Slower(_) | Best::Doubtful(_) => return None,
            Best::Layout(layout) => layout.total?,
            Best::Single(choice) => choice.total()?,
        };
        let choice = self.sizing.best_slower().filter(|choice| choice.price_doubt() == PriceDoubt::Firm)?;
        let total = choice.total()?;
        let is_cheaper = total.currency == best.currency && total.as_f64() <= MUCH_CHEAPER * best.as_f64();
        let (name, slower) = (offer::configuration(&choice.offer), words::slower(choice));
        let accepted = words::accepted_by(&self.sizing.wanted, choice);
        is_cheaper.then(|| format!("Cheaper, but slower: {name}, {}: {slower} ({accepted})", self.price(choice)))
    }
}

fn is_less(a: Money, b: Money) -> bool {
    a.currency == b.currency && a.millionths < b.millionths
}

/// `948.74 USD a month with azure/Standard_D16ds_v6`.
fn layout_price(layout: &VolumeLayout) -> String {
    let price = layout.total.map_or_else(|| "an unknown price".to_owned(), |total| format!("{total} a month"));
    let Some(machine) = layout.machine.as_ref() else { return price };
    let Some(name) = machine.name().map(|name| clean(&name)) else { return price };
    match machine.monthly {
        Some(_) => format!("{price} with {name}{}", words::machine_price_origin(machine)),
        None => format!("{price} without {name}, whose price is unknown"),
    }
}

fn full_stop(text: impl std::fmt::Display) -> String {
    format!("{text}.")
}

/// The price of a single volume instead of a layout.
fn single_volume(layout: &VolumeLayout) -> String {
    layout.single.map_or_else(
        || format!("No single volume carries the load at {}", layout.provider),
        |single| {
            let is_priced = layout.machine.as_ref().is_some_and(|machine| machine.monthly.is_some());
            let machine = if is_priced { "with its machine" } else { "without a machine" };
            format!("A single volume costs {single} a month {machine} at {}", layout.provider)
        },
    )
}
