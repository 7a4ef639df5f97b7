//! The verdict of a sizing: the best configuration with its price and first limit, the result of the diagnosis, and the
//! alternatives in a sentence each.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Money, RacStatus};
use plimsoll_choose::diagnosis::{CensorCause, DiagnosisVerdict};
use plimsoll_choose::sizing::{Attachment, Best, Choice, PriceDoubt, Sizing, VolumeLayout};
use plimsoll_ingest::{Caution, Doubt, Outcome, Reading};
use plimsoll_language::{label, say};

use super::Sized;
use crate::number;
use crate::page::{Fact, Headline};
use crate::pages::file_name;
use crate::words::{clean, first_screen, offer, product_text, sentence, sizing as words};

/// Maximum ratio of the price of a slower configuration that is mentioned to that of the best.
const MUCH_CHEAPER: f64 = 0.8;
/// Maximum number of words of the answer.
const MAX_WORDS: usize = 25;

impl Sized<'_> {
    /// The recommended configuration, and the limitations of the recommendation: the platform, a stalled system, a larger cache
    /// that costs less, response times above today's, or a bottleneck other than storage.
    pub(super) fn headline(&self) -> Headline {
        let demand = &self.sizing.required;
        let (mut cautions, mut details) = (Vec::new(), vec![self.verdict()]);
        let free = self.memory.filter(|memory| memory.is_paid);
        let free = free.map(|memory| (memory, say!("A larger cache at no price: {}", words::memory_first(memory))));
        // A free change that saves more time than the configuration precedes it.
        let saved = self.sizing.best_effect().map_or(0.0, |effect| effect.saved());
        let (free_first, free_later): (Vec<_>, Vec<_>) =
            free.into_iter().partition(|(memory, _)| memory.saved.unwrap_or_default() > saved);
        let cap = first_screen::cap(self.sizing);
        let is_bound = words::lower_bound(demand).is_some();
        let mut censored = words::explain_censoring(demand);
        // A lower bound qualifies all that follows.
        cautions.extend(censored.take_if(|_| is_bound));
        cautions.extend(self.describe_extent());
        cautions.extend(free_first.into_iter().map(|(_, text)| text));
        if cap.is_some() { &mut details } else { &mut cautions }.extend(censored);
        cautions.extend(words::incomplete_windows(demand));
        let (large_gaps, doubts): (Vec<_>, Vec<_>) = demand.doubts.iter().partition(|doubt| doubt.is_large_gap());
        cautions.extend(large_gaps.iter().map(ToString::to_string));
        cautions.extend(first_screen::insufficient_machine(self.sizing));
        cautions.extend(cap);
        let nearest = self.sizing.nearest_rejection();
        cautions.extend(nearest.map(|one| say!("Nearest: {}", words::rejection(one))));
        cautions.extend(self.slower_than_today());
        // Decisive if it is wrong.
        let hits = self.sizing.hits.as_ref().filter(|hits| !hits.is_suitable);
        cautions.extend(hits.map(words::hit_assumption));
        cautions.extend(self.worse_latency());
        cautions.extend(words::smaller_than_stored(demand));
        cautions.extend(words::decimal_capacity(demand));
        cautions.extend(first_screen::assumed_peaks(self.sizing));
        cautions.extend(first_screen::describe_platform(self.sizing));
        cautions.extend(self.sizing.without_scans.as_ref().map(first_screen::without_scans));
        if let Some(memory) = self.memory.filter(|memory| !memory.is_paid) {
            let text = words::memory_first(memory);
            match self.sizing.best_total() {
                Some(best) if !is_less(memory.total, best) => details.push(say!("More memory instead: {text}")),
                _ => cautions.push(say!("Memory first: {text}")),
            }
        }
        // Those of hosts are about the load, those of reports of a database mostly about a class.
        let (of_load, of_classes): (Vec<_>, Vec<_>) =
            self.input_cautions(|doubt| !is_snapshot(doubt)).into_iter().partition(|_| demand.account.is_none());
        cautions.extend(of_load);
        cautions.extend(doubts.iter().map(ToString::to_string));
        cautions.extend(first_screen::describe_machine(self.sizing));
        cautions.extend(self.bounded_speed());
        cautions.extend(words::assumed_load(demand));
        cautions.extend(self.sizing.best_effect().as_ref().and_then(words::assumed_reads));
        details.extend(self.platform_details());
        details.extend(self.details());
        cautions.extend(free_later.into_iter().map(|(_, text)| text));
        cautions.extend(self.sizing.best_machine().and_then(words::unpriced_machines));
        details.extend(words::processors_without_peaks(demand));
        details.extend(self.sizing.best_machine().and_then(|_| words::memory_not_of_database(demand)));
        cautions.extend(words::other_remedy(demand));
        cautions.extend(of_classes);
        details.extend(words::answer(demand).map(|answer| answer.trim_end_matches(['.', '。']).to_owned()));
        let [cautions, details] = [cautions, details].map(|texts| texts.into_iter().map(full_stop).collect());
        Headline { text: self.qualified_answer(), grade: label!("simulated"), cautions, details }
    }

    /// The extent of candidates and input, which qualifies all that follows.
    fn describe_extent(&self) -> Vec<String> {
        let snapshots = self.input_cautions(is_snapshot);
        self.ineligible().into_iter().chain(snapshots).chain(words::lone_window(&self.sizing.required)).collect()
    }

    /// Doubts about the inputs, such as a mean since the start of a host.
    fn input_cautions(&self, is_included: impl Fn(&Doubt) -> bool) -> Vec<String> {
        let readings = self.outcomes.iter().filter_map(Outcome::reading);
        let text = |reading: &Reading, caution: &Caution| {
            let place = caution.origin.as_ref().map_or_else(String::new, |origin| say!(", {origin}"));
            format!("{}{place}: {}", clean(file_name(&reading.name)), clean(&caution.doubt.to_string()))
        };
        let cautions = readings.flat_map(|reading| reading.cautions.iter().map(move |caution| (reading, caution)));
        cautions
            .filter(|(_, caution)| is_included(&caution.doubt) && !self.is_repeated(&caution.doubt))
            .map(|(reading, caution)| text(reading, caution))
            .collect()
    }

    /// True for what the provider's metrics state, if another caution states it with its windows.
    fn is_repeated(&self, doubt: &Doubt) -> bool {
        let required = &self.sizing.required;
        let cause = required.censored.as_ref().map(|censored| &censored.cause);
        match doubt {
            Doubt::Stalled { .. } => matches!(required.incomplete, Some(DiagnosisVerdict::ProviderStall(_))),
            Doubt::AtLimit { .. } | Doubt::Throttled { .. } => matches!(cause, Some(CensorCause::Metric { .. })),
            _ => false,
        }
    }

    /// Reasons why the figures are not valid for the whole database on other storage, in full.
    fn platform_details(&self) -> Vec<String> {
        let platform = &self.sizing.required.platform;
        let cluster = platform.cluster.iter().map(words::cluster);
        let foreign = platform.foreign.iter().map(words::foreign_platform);
        let support = self.support().into_iter().chain(self.refused());
        support.chain(platform.exadata.iter().map(words::exadata)).chain(cluster).chain(foreign).collect()
    }

    /// The limit that a load without pauses reaches before it saves the promised time.
    fn bounded_speed(&self) -> Option<String> {
        let saved = self.sizing.best_effect()?.saved();
        self.sizing.speed_limit().map(|limit| first_screen::speed_limit(&limit, saved))
    }

    /// The change of the database's time; a range if a limit bounds it.
    fn effect(&self) -> Option<String> {
        let effect = self.sizing.best_effect()?;
        let bound = self.sizing.speed_limit();
        let time = bound
            .map_or_else(|| words::format_time_change(&effect), |limit| words::saved_to_limit(&effect, limit.saved));
        Some(say!("; database time {time}"))
    }

    /// The support of RAC by the vendor on the recommended platform, if it is not certain.
    fn rac_status(&self) -> Option<&'static str> {
        self.sizing.required.platform.cluster.as_ref()?;
        let rac = self.sizing.best_volumes().into_iter().next()?.offer.product().rac()?;
        Some(match rac.support {
            RacStatus::Unsupported => label!("; RAC unsupported"),
            RacStatus::Undocumented => label!("; RAC undocumented"),
        })
    }

    /// The answer after the reasons why the configuration may be too large or too small.
    fn qualified_answer(&self) -> String {
        let demand = &self.sizing.required;
        let text = match words::other_problem(demand) {
            Some(other) if matches!(self.sizing.best(), None | Some(Best::Slower(_))) => {
                say!("{other}. {}", self.answer())
            }
            Some(other) => say!("{other}. Smallest sufficient: {}", self.answer()),
            None => self.answer(),
        };
        let text = if demand.counts_cached_reads() {
            say!("Part of the reads never reached storage (cache in memory), so less may suffice. {text}")
        } else {
            text
        };
        match words::lower_bound(demand) {
            Some(bound) => say!("{bound}. {text}"),
            None => text,
        }
    }

    /// The best configuration in at most 25 words, with its price and its effect.
    fn answer(&self) -> String {
        let effect = || self.effect().unwrap_or_default() + self.rac_status().unwrap_or_default();
        let slower = self.sizing.best().and_then(|best| self.slower_or_doubtful(best));
        // Behind another problem a configuration that is not slower is an aside.
        let rac = || self.rac_status().unwrap_or_default().to_owned();
        let is_aside = slower.is_none() && words::other_problem(&self.sizing.required).is_some();
        let effect = if is_aside { rac() } else { effect() };
        let choice = match self.sizing.best() {
            Some(Best::Layout(layout)) => {
                let volumes: Vec<String> = layout.parts.iter().map(|part| offer::product(&part.choice.offer)).collect();
                let price = format_total(layout.total, layout.machine.as_ref());
                return say!("{} on separate volumes: {price}{effect}", volumes.join(label!(" and ")));
            }
            Some(Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice)) => choice,
            None => return self.no_choice(""),
        };
        let name = offer::readable_name(&choice.offer);
        let price = match choice.total() {
            None => words::missing_price(choice),
            total => format_total(total, choice.machine.as_ref()),
        };
        let slower = slower.map_or_else(String::new, |slower| format!("{}: ", sentence(&slower)));
        let text = format!("{slower}{name}: {price}");
        let full = format!("{text}{effect}");
        // The cautions state the effect of a configuration that is slower, too.
        let is_short = slower.is_empty() || full.split_whitespace().count() <= MAX_WORDS;
        if is_short { full } else { text }
    }

    /// `slower than today`, `redo may be slower`: of a configuration that is slower, or is at the slow end of its range, or appears
    /// slower within the doubt.
    pub(super) fn slower_or_doubtful(&self, best: Best<'_>) -> Option<String> {
        let effect = best.effect(&self.sizing.required);
        let is_slower = effect.as_ref().is_none_or(|effect| effect.added_s() > 0.0);
        let classes = |choice: &Choice| {
            let names: Vec<&str> = choice.slower.iter().map(|slower| slower.class.label()).collect();
            names.join(label!(" and "))
        };
        match best {
            Best::Slower(choice) if !is_slower => Some(say!("{} slower than today", classes(choice))),
            Best::Slower(_) => Some(label!("slower than today").to_owned()),
            Best::Doubtful(choice) if !is_slower => Some(say!("{} may be slower", classes(choice))),
            Best::Doubtful(_) => Some(label!("may be slower than today").to_owned()),
            _ => {
                let effect = effect.filter(|effect| self.sizing.required.may_exceed_tolerance(effect))?;
                let is_certain = effect.saved_range().is_some_and(|[_, best]| best < 0.0);
                Some(
                    if is_certain { label!("slower than today") } else { label!("may be slower than today") }
                        .to_owned(),
                )
            }
        }
    }

    /// The best configuration as a sentence.
    fn verdict(&self) -> String {
        let meets = self.objectives();
        match self.sizing.best() {
            Some(Best::Layout(layout)) => {
                let volumes = words::layout(layout);
                say!("Cheapest configuration that carries the load{meets}: {volumes}, {}", layout_price(layout))
            }
            Some(Best::Single(choice)) => {
                let name = offer::configuration(&choice.offer);
                match choice.price_doubt() {
                    PriceDoubt::Unpriced | PriceDoubt::Partial => {
                        let missing = words::missing_price(choice);
                        say!(
                            "No configuration with a complete price carries the load{meets}. Smallest sufficient: {name}; \
                             {missing}; --price states your own"
                        )
                    }
                    _ => say!("Cheapest configuration that carries the load{meets}: {name}, {}", self.price(choice)),
                }
            }
            Some(Best::Slower(choice)) => {
                let name = offer::configuration(&choice.offer);
                let (price, slower) = (self.price(choice), words::slower(choice));
                say!(
                    "No configuration with a complete price carries the load{meets} at today's speed. \
                     Best of the others: {name}, {price}; slower: {slower}"
                )
            }
            Some(Best::Doubtful(choice)) => {
                let name = offer::configuration(&choice.offer);
                say!("Cheapest configuration that carries the load{meets}: {name}, {}", self.price(choice))
            }
            None => self.no_choice(&meets),
        }
    }

    fn no_choice(&self, meets: &str) -> String {
        let Sizing { nearly, evaluated, .. } = self.sizing;
        if *evaluated == 0 {
            return label!("No configuration is eligible").to_owned();
        }
        let near = nearly.iter().min_by_key(|choice| choice.reached.iter().map(|one| one.time).max());
        let near =
            near.map(|near| say!(": the nearest has {}, so consider looser objectives", words::reached(&near.reached)));
        let near = near.unwrap_or_default();
        say!("None of {} configurations carries the load{meets}{near}", number::integer(*evaluated as f64))
    }

    /// The most common reason why no product is eligible, with the number of products that have it.
    fn ineligible(&self) -> Option<String> {
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for rejection in self.sizing.rejected.iter().filter(|_| self.sizing.evaluated == 0) {
            *reasons.entry(words::why(&rejection.reason)).or_default() += 1;
        }
        let (reason, count) = reasons.into_iter().max_by_key(|(_, count)| *count)?;
        Some(say!("{reason} ({count} of {} products)", self.sizing.rejected.len()))
    }

    /// The vendor's statement on a cluster on the recommended platform, unless it is supported.
    fn support(&self) -> Option<String> {
        self.sizing.required.platform.cluster.as_ref()?;
        let volume = self.sizing.best_volumes().into_iter().next()?;
        let rac = volume.offer.product().rac()?;
        Some(match rac.support {
            RacStatus::Unsupported => say!("Not supported by the vendor: {}", product_text(&rac.text)),
            RacStatus::Undocumented => say!("Support unknown: {}", product_text(&rac.text)),
        })
    }

    /// The platforms that are refused, as the vendor of the database does not support them.
    fn refused(&self) -> Option<String> {
        let names = self.sizing.refused_providers().join(label!(", "));
        (!names.is_empty())
            .then(|| say!("Refused, as Oracle does not support RAC there: {names} (--unsupported includes them)"))
    }

    /// Sentences that complete the verdict.
    fn details(&self) -> Vec<String> {
        let mut details = Vec::new();
        details.extend(words::saving(self.sizing));
        details.extend(
            self.sizing
                .best_effect()
                .map(|effect| say!("Database time for the same work: {}", words::format_time_change(&effect))),
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
        details.extend(self.wider());
        let hits = self.sizing.hits.as_ref().filter(|hits| hits.is_suitable);
        details.extend(hits.map(words::hit_assumption));
        details.extend(self.excluded_by_latency());
        details.extend(self.cheaper_but_slower());
        details.extend(self.more_money());
        details.extend(self.other_providers());
        details
    }

    /// A wider stripe that costs less.
    fn wider(&self) -> Option<String> {
        let choice = self.sizing.wider.as_ref()?;
        let price = first_screen::wider(choice)?;
        let name = offer::configuration(&choice.offer);
        Some(say!("Cheaper with more volumes: {name}, {price}; the loss of any of them loses all"))
    }

    /// How to rank slower configurations, and the first that is not slower, if any.
    fn strict(&self) -> String {
        let rank = label!("--may-be-slower ranks all slower configurations");
        let Some(first) = self.sizing.choices.first() else { return rank.to_owned() };
        let why = match first.price_doubt() {
            PriceDoubt::Partial => label!("a part of it has no price in the catalogue"),
            _ => label!("it has no price in the catalogue for this currency and region"),
        };
        say!("Not slower: {}, but {why}. {rank}", offer::configuration(&first.offer))
    }

    /// Why the recommended configuration is slower than today.
    fn slower_than_today(&self) -> Option<String> {
        match self.sizing.best()? {
            Best::Doubtful(choice) => self.within_doubt(choice),
            Best::Slower(choice) => {
                let accepted = words::accepted_by(&self.sizing.required, choice);
                let effect =
                    choice.effect.as_ref().filter(|effect| effect.has_filtering(self.sizing.required.tolerance));
                let filtering = effect.map(words::filtering_added).unwrap_or_default();
                let cheaper = self.much_cheaper_than(choice).unwrap_or_default();
                Some(say!(
                    "No configuration with a complete price is as fast as today; this is the nearest: \
                     {accepted}{cheaper}{filtering}"
                ))
            }
            Best::Layout(_) | Best::Single(_) => None,
        }
    }

    /// The cheapest of the slower choices, if it costs much less than the nearest: `; 137.43 USD with 2 × OCI Block Volume: 46 %
    /// more (--slower 47%)`.
    fn much_cheaper_than(&self, nearest: &Choice) -> Option<String> {
        let total = nearest.total()?;
        let is_cheaper =
            |price: Money| price.currency == total.currency && price.as_f64() <= MUCH_CHEAPER * total.as_f64();
        let frontiers = self.sizing.providers.iter().flat_map(|provider| &provider.choices);
        let priced = self.sizing.slower.iter().chain(frontiers).filter_map(|choice| Some((choice, choice.total()?)));
        let eligible =
            priced.filter(|(choice, price)| is_cheaper(*price) && choice.price_doubt() <= nearest.price_doubt());
        let (choice, price) = eligible.min_by_key(|(_, price)| price.millionths)?;
        let time = choice.effect.as_ref().map(words::format_time_change)?;
        let accepted = words::accepted_by(&self.sizing.required, choice);
        Some(say!("; {price} with {}: {time} ({accepted})", offer::readable_name(&choice.offer)))
    }

    /// A recommended volume whose vendor states that its response times are worse than the simulated ones.
    fn worse_latency(&self) -> Option<String> {
        let statement = self.sizing.best_volumes().into_iter().find_map(|volume| volume.offer.worse_latency())?;
        Some(say!("Response times are not those of the model: {}", product_text(&statement.text)))
    }

    /// Cheaper configurations of the recommended product that were not considered for that reason.
    fn excluded_by_latency(&self) -> Option<String> {
        let volume = self.sizing.best_volumes().into_iter().next()?;
        let is_needed = self.sizing.required.needs_latency() && volume.offer.worse_latency().is_none();
        let statements = volume.offer.product().latency();
        let statement = statements.iter().find(|statement| statement.is_worse).filter(|_| is_needed)?;
        Some(say!("Not considered: {} (--may-be-slower includes it)", product_text(&statement.text)))
    }

    /// Why a choice that appears slower is preferred to the first, which costs more.
    fn within_doubt(&self, choice: &Choice) -> Option<String> {
        let first = self.sizing.choices.first()?;
        let (name, slower) = (offer::configuration(&first.offer), words::slower(choice));
        let price = self.price(first);
        Some(say!(
            "It appears slower ({slower}), but its response times are inferred, as are those of the next, {name}, {price}: \
             the difference is within the doubt, so the cheaper is first"
        ))
    }

    /// A much cheaper configuration that is slower than today for some class, but not in total.
    fn cheaper_but_slower(&self) -> Option<String> {
        let choice = self.much_cheaper()?;
        let (name, slower) = (offer::configuration(&choice.offer), words::slower(choice));
        let accepted = words::accepted_by(&self.sizing.required, choice);
        Some(say!("Cheaper, but slower: {name}, {}: {slower} ({accepted})", self.price(choice)))
    }

    pub(super) fn cheaper_figure(&self) -> Option<Fact> {
        let choice = self.much_cheaper()?;
        let time = choice.effect.as_ref().map(|effect| say!("database time {}", words::format_time_change(effect)));
        let slower = time.unwrap_or_else(|| words::slower_classes(&choice.slower));
        let fact = Fact::new(label!("Cheaper, slower"), offer::configuration(&choice.offer));
        Some(fact.with_remark(self.price(choice)).with_remark(slower))
    }

    fn much_cheaper(&self) -> Option<&Choice> {
        let best = match self.sizing.best()? {
            Best::Slower(_) | Best::Doubtful(_) => return None,
            Best::Layout(layout) => layout.total?,
            Best::Single(choice) => choice.total()?,
        };
        let choice = self.sizing.best_slower().filter(|choice| choice.price_doubt() == PriceDoubt::Firm)?;
        let total = choice.total()?;
        (total.currency == best.currency && total.as_f64() <= MUCH_CHEAPER * best.as_f64()).then_some(choice)
    }
}

fn is_snapshot(doubt: &Doubt) -> bool {
    matches!(doubt, Doubt::SingleSnapshot | Doubt::MeanSinceReset)
}

fn is_less(a: Money, b: Money) -> bool {
    a.currency == b.currency && a.millionths < b.millionths
}

/// `948.74 USD a month with its machine`.
fn format_total(total: Option<Money>, machine: Option<&Attachment>) -> String {
    let machine = first_screen::with_machines(machine);
    total.map_or_else(|| label!("its price is unknown").to_owned(), |total| say!("{total} a month{machine}"))
}

/// `948.74 USD a month with azure/Standard_D16ds_v6`.
fn layout_price(layout: &VolumeLayout) -> String {
    let price = layout.total.map_or_else(|| label!("an unknown price").to_owned(), |total| say!("{total} a month"));
    let Some(machine) = layout.machine.as_ref() else { return price };
    let Some(name) = machine.name().map(|name| clean(&name)) else { return price };
    match machine.monthly {
        Some(_) => say!("{price} with {name}{}", words::machine_price_origin(machine)),
        None => say!("{price} without {name}, whose price is unknown"),
    }
}

pub(super) fn full_stop(text: impl std::fmt::Display) -> String {
    say!("{text}.")
}

/// The price of a single volume instead of a layout.
fn single_volume(layout: &VolumeLayout) -> String {
    layout.single.map_or_else(
        || say!("No single volume carries the load at {}", layout.provider),
        |single| {
            let is_priced = layout.machine.as_ref().is_some_and(|machine| machine.monthly.is_some());
            let machine = if is_priced { label!("with its machine") } else { label!("without a machine") };
            say!("A single volume costs {single} a month {machine} at {}", layout.provider)
        },
    )
}
