//! The verdict of a sizing: the best configuration with its price and first limit, the result of the diagnosis, and the
//! alternatives in a sentence each.

use std::collections::BTreeSet;

use plimsoll_catalogue::Money;
use plimsoll_choose::diagnosis::DiagnosisVerdict;
use plimsoll_choose::sizing::{
    Attachment, Best, Choice, Cluster, PriceDoubt, Rejection, RejectionReason, Sizing, VolumeLayout, unclear_rac,
    unsupported_rac,
};

use super::Sized;
use crate::number;
use crate::page::Headline;
use crate::words::{clean, offer, sentence, sizing as words};

/// Maximum ratio of the price of a slower configuration that is mentioned to that of the best.
const MUCH_CHEAPER: f64 = 0.8;

impl Sized<'_> {
    /// The recommended configuration, and the limitations of the recommendation: the platform, a stalled system, a larger cache
    /// that costs less, response times above today's, or a bottleneck other than storage.
    pub(super) fn headline(&self) -> Headline {
        let demand = &self.sizing.wanted;
        let (mut cautions, mut details) = (Vec::from_iter(words::censored(demand)), vec![self.verdict()]);
        cautions.extend(self.slower_than_today());
        cautions.extend(self.worse_latency());
        if demand.is_capped() {
            cautions.extend(words::processors_without_peaks(demand));
        }
        cautions.extend(words::assumed_load(demand));
        cautions.extend(self.sizing.best_effect().as_ref().and_then(words::other_user_io));
        cautions.extend(self.platform_cautions());
        details.extend(demand.platform.cluster.iter().filter(|cluster| !is_part(cluster)).map(words::cluster));
        details.extend(self.details());
        if let Some(memory) = self.memory {
            let text = words::memory_first(memory);
            match self.sizing.best_total() {
                _ if memory.is_paid => cautions.push(format!("A larger cache at no price: {text}")),
                Some(best) if !is_less(memory.total, best) => details.push(format!("More memory instead: {text}")),
                _ => cautions.push(format!("Memory first: {text}")),
            }
        }
        if !demand.is_capped() {
            cautions.extend(words::processors_without_peaks(demand));
        }
        cautions.extend(self.sizing.best_machine().and_then(words::unpriced_machines));
        cautions.extend(self.sizing.best_machine().and_then(|_| words::memory_not_of_database(demand)));
        let is_other = matches!(demand.answer, Some(DiagnosisVerdict::NotStorage { .. }));
        let diagnosed = words::answer(demand).map(|answer| answer.trim_end_matches('.').to_owned());
        if is_other { &mut cautions } else { &mut details }.extend(diagnosed);
        let [cautions, details] = [cautions, details].map(|texts| texts.into_iter().map(full_stop).collect());
        Headline { text: self.answer(), grade: "simulated", cautions, details }
    }

    /// Reasons why the figures are not valid for the whole database on other storage.
    fn platform_cautions(&self) -> Vec<String> {
        let platform = &self.sizing.wanted.platform;
        let cluster = platform.cluster.iter().filter(|cluster| is_part(cluster)).map(words::cluster);
        let foreign = platform.foreign.iter().map(words::foreign_platform);
        let first = words::smaller_than_stored(&self.sizing.wanted).into_iter();
        let support = self.unsupported().into_iter().chain(self.refused()).chain(self.unclear_support());
        first.chain(support).chain(platform.exadata.iter().map(words::exadata)).chain(cluster).chain(foreign).collect()
    }

    /// The best configuration in at most 25 words, with its price and its effect.
    fn answer(&self) -> String {
        let effect = self.sizing.best_effect();
        let effect = effect.map_or_else(String::new, |effect| format!("; database time {}", words::saved(&effect)));
        let choice = match self.sizing.best() {
            Some(Best::Layout(layout)) => {
                let volumes: Vec<String> = layout.parts.iter().map(|part| offer::product(&part.choice.offer)).collect();
                let price = format_total(layout.total, layout.machine.as_ref());
                return format!("{} on separate volumes: {price}{effect}", volumes.join(" and "));
            }
            Some(Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice)) => choice,
            None => return self.no_choice(""),
        };
        let name = offer::readable_name(&choice.offer);
        let price = match choice.total() {
            None => words::missing_price(choice),
            total => format_total(total, choice.machine.as_ref()),
        };
        match self.sizing.best() {
            Some(Best::Slower(_)) if effect.is_empty() => {
                format!("{name}: {price}, but slower than today")
            }
            _ => format!("{name}: {price}{effect}"),
        }
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
            return "No configuration is eligible: --details has the reason for each product".to_owned();
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
        let volume = self.sizing.best_volumes().into_iter().next()?;
        unsupported_rac(volume.offer.product()).map(|why| format!("Not supported by the vendor: {why}"))
    }

    /// A recommended platform for a cluster whose support by the vendor is unknown.
    fn unclear_support(&self) -> Option<String> {
        self.sizing.wanted.platform.cluster.as_ref()?;
        let volume = self.sizing.best_volumes().into_iter().next()?;
        unclear_rac(volume.offer.product()).map(|why| format!("Support unknown: {why}"))
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
            self.sizing
                .best_effect()
                .map(|effect| format!("Database time: {} than today for the same work", words::saved(&effect))),
        );
        match self.sizing.best() {
            Some(Best::Layout(layout)) => details.push(single_volume(layout)),
            Some(Best::Single(choice) | Best::Doubtful(choice)) => details.push(sentence(&words::first_limit(choice))),
            Some(Best::Slower(choice)) => {
                details.push(sentence(&words::first_limit(choice)));
                details.push(self.strict());
            }
            None => {}
        }
        details.extend(self.sizing.hits.as_ref().map(words::hit_assumption));
        details.extend(self.excluded_by_latency());
        details.extend(self.cheaper_but_slower());
        details.extend(self.more_money());
        details.extend(self.other_providers());
        details
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

    /// Why the recommended configuration is slower than today.
    fn slower_than_today(&self) -> Option<String> {
        match self.sizing.best()? {
            Best::Doubtful(choice) => self.within_doubt(choice),
            Best::Slower(_) => Some("No configuration with a complete price is as fast as today".to_owned()),
            Best::Layout(_) | Best::Single(_) => None,
        }
    }

    /// A recommended volume whose vendor states that its response times are worse than the simulated ones.
    fn worse_latency(&self) -> Option<String> {
        let statement = self.sizing.best_volumes().into_iter().find_map(|volume| volume.offer.worse_latency())?;
        Some(format!("Response times are not those of the model: {}", statement.text))
    }

    /// Cheaper configurations of the recommended product that were not considered for that reason.
    fn excluded_by_latency(&self) -> Option<String> {
        let volume = self.sizing.best_volumes().into_iter().next()?;
        let is_needed = self.sizing.wanted.needs_latency() && volume.offer.worse_latency().is_none();
        let statements = volume.offer.product().latency();
        let statement = statements.iter().find(|statement| statement.is_worse).filter(|_| is_needed)?;
        Some(format!("Not considered: {} (--may-be-slower includes it)", statement.text))
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

/// True if the reports are of a part of the cluster.
fn is_part(cluster: &Cluster) -> bool {
    cluster.covered == 1 || cluster.count > cluster.covered
}

fn is_less(a: Money, b: Money) -> bool {
    a.currency == b.currency && a.millionths < b.millionths
}

/// `948.74 USD a month with its machine`.
fn format_total(total: Option<Money>, machine: Option<&Attachment>) -> String {
    let machine = if machine.is_some() { " with its machine" } else { "" };
    total.map_or_else(|| "its price is unknown".to_owned(), |total| format!("{total} a month{machine}"))
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
