//! Price against waiting sessions: configurations that no other configuration beats in both.

use std::cmp::Ordering::{self, Equal};

use super::attempt::Levels;
use super::search::provider;
use super::{Choice, DesignPoint};

/// Maximum ratio of waiting sessions to those of the next cheaper choice on the frontier.
const FASTER: f64 = 0.95;

/// Priced configurations of a provider, cheapest first; each has fewer waiting sessions than every cheaper one.
#[derive(Clone, Debug)]
pub struct ProviderFrontier {
    pub provider: String,
    /// The configurations; never empty.
    pub choices: Vec<Choice>,
    /// True if all priced configurations of the provider are slower than today's storage.
    pub is_slower: bool,
}

impl ProviderFrontier {
    /// At most `max` configurations that describe the frontier best: the cheapest, the one with the fewest waiting
    /// sessions, and between them those that are farthest below the line through their neighbours, in logarithms of
    /// price and sessions.
    pub fn outline(&self, point: &DesignPoint, max: usize) -> Vec<&Choice> {
        let place = |choice: &Choice| {
            let total = choice.total().expect("a frontier has priced choices only").as_f64();
            (total.ln(), choice.waiting(point).unwrap_or_default().max(1e-9).ln())
        };
        let places: Vec<(f64, f64)> = self.choices.iter().map(place).collect();
        let mut retained: Vec<usize> = vec![0];
        retained.extend((max > 1 && self.choices.len() > 1).then(|| self.choices.len() - 1));
        while retained.len() < max {
            let below = |index: usize| {
                let after = retained.iter().position(|retained| *retained > index)?;
                let (a, b) = (places[retained[after - 1]], places[retained[after]]);
                let share = (places[index].0 - a.0) / (b.0 - a.0).max(f64::MIN_POSITIVE);
                Some(a.1 + (b.1 - a.1) * share - places[index].1)
            };
            let open = (0..places.len()).filter(|index| !retained.contains(index));
            let next = open.filter_map(|index| Some((index, below(index)?))).max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((index, _)) = next else { break };
            retained.push(index);
            retained.sort_unstable();
        }
        retained.truncate(max.max(1));
        retained.into_iter().map(|index| &self.choices[index]).collect()
    }
}

/// Order by [`Choice::rank`]. Of unpriced choices with the same excess, the slower is probably the cheaper.
pub(super) fn by_rank(a: &Choice, b: &Choice) -> Ordering {
    let ((doubt, amount), (other_doubt, other_amount)) = (a.rank(), b.rank());
    let mean = |choice: &Choice| choice.latency.first().map(|latency| latency.mean);
    let by_speed = || if a.total().is_none() { mean(b).cmp(&mean(a)) } else { Equal };
    doubt.cmp(&other_doubt).then_with(|| amount.total_cmp(&other_amount)).then_with(by_speed)
}

/// The same among configurations of a product: those of a managed database that lack the price of the same parts are ordered by
/// the rest.
pub(super) fn by_rank_in_product(a: &Choice, b: &Choice) -> Ordering {
    let is_managed = |choice: &Choice| choice.offer.product().managed().is_some();
    let rest = |choice: &Choice| {
        let price = choice.price.as_ref().filter(|price| !price.is_complete() && is_managed(choice))?;
        Some((price.without.len(), price.monthly.millionths))
    };
    match rest(a).zip(rest(b)) {
        Some((own, other)) => own.cmp(&other),
        None => by_rank(a, b),
    }
}

/// The frontier of each provider, by its cheapest configuration; of a provider without choices that of slower ones,
/// last.
pub(super) fn of_providers(levels: &Levels, point: &DesignPoint) -> Vec<ProviderFrontier> {
    let Levels { met: choices, slower } = levels;
    let of = |choice: &Choice| provider(choice.offer.product().name()).to_owned();
    let mut names: Vec<String> = choices.iter().chain(slower).map(of).collect();
    names.sort_unstable();
    names.dedup();
    let frontier_of = |provider: String| {
        let own = |all: &[Choice]| all.iter().filter(|choice| of(choice) == provider).cloned().collect::<Vec<Choice>>();
        let choices = frontier(own(choices), point);
        let is_slower = choices.is_empty();
        let choices = if is_slower { frontier(own(slower), point) } else { choices };
        ProviderFrontier { provider, choices, is_slower }
    };
    let mut found: Vec<ProviderFrontier> = names.into_iter().map(frontier_of).collect();
    found.retain(|frontier| !frontier.choices.is_empty());
    found.sort_by(|a, b| a.is_slower.cmp(&b.is_slower).then_with(|| by_rank(&a.choices[0], &b.choices[0])));
    found
}

/// Priced choices with fewer waiting sessions, by a twentieth, than all cheaper ones.
pub(super) fn frontier(mut choices: Vec<Choice>, point: &DesignPoint) -> Vec<Choice> {
    let waiting = |choice: &Choice| choice.waiting(point);
    choices.retain(|choice| choice.total().is_some() && waiting(choice).is_some());
    let by_waiting = |a: &Choice, b: &Choice| waiting(a).partial_cmp(&waiting(b)).unwrap_or(Equal);
    choices.sort_by(|a, b| -> Ordering { by_rank(a, b).then_with(|| by_waiting(a, b)) });
    let mut least = f64::INFINITY;
    choices.retain(|choice| {
        let better = waiting(choice).filter(|waiting| *waiting < least * FASTER);
        least = better.unwrap_or(least);
        better.is_some()
    });
    choices
}
