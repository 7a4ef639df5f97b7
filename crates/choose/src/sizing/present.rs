//! Cost of the storage and machines that a database has today, and what a configuration saves.

use plimsoll_catalogue::{Catalogue, Config, ConfigRefusal, Money, Offer, Price, PriceTerms};

use super::{Best, Sizing};
use crate::matching::price_of;

/// The configurations of today with their prices.
#[derive(Clone, Debug)]
pub struct PresentCost {
    /// Each configuration with its price; `None` if the catalogue has none.
    pub parts: Vec<(Offer, Option<Price>)>,
}

impl PresentCost {
    /// The cost of configurations. Fails for an invalid one.
    pub fn of(catalogue: &Catalogue, configs: &[Config], terms: &PriceTerms) -> Result<Self, ConfigRefusal> {
        let part = |config: &Config| {
            let offer = catalogue.offer(config, terms)?;
            let price = price_of(&offer, terms);
            Ok((offer, price))
        };
        Ok(Self { parts: configs.iter().map(part).collect::<Result<_, ConfigRefusal>>()? })
    }

    /// Monthly cost of all parts; `None` unless all have a complete price in the same currency.
    pub fn monthly(&self) -> Option<Money> {
        let monthly = |(_, price): &(Offer, Option<Price>)| price.as_ref()?.total();
        let mut parts = self.parts.iter().map(monthly);
        let first = parts.next()??;
        parts.try_fold(first, |sum, part| sum.plus(part?))
    }

    /// True if a configuration names a machine: otherwise only storage is compared.
    pub fn has_machine(&self) -> bool {
        self.parts.iter().any(|(offer, _)| offer.config.machine.is_some())
    }

    /// Processors and bytes of memory of its machines; `None` if one is not named or not known.
    pub fn machines(&self) -> Option<(f64, f64)> {
        let shapes = self.parts.iter().map(|(offer, _)| {
            let shape = offer.machine_shape()?;
            Some((shape.vcpus?, shape.memory?.get() as f64))
        });
        shapes.reduce(|sum, one| sum.zip(one).map(|(sum, one)| (sum.0 + one.0, sum.1 + one.1)))?
    }

    /// Names of the parts without a price: configurations, or their machines.
    pub fn unpriced(&self) -> Vec<String> {
        let missing = |(offer, price): &(Offer, Option<Price>)| match price {
            None => vec![offer.short().to_string()],
            Some(price) => price.without.clone(),
        };
        self.parts.iter().flat_map(missing).collect()
    }
}

impl Sizing {
    /// Monthly price of the recommended configuration that is comparable with today's cost: without machines if those of
    /// today are not stated.
    pub fn comparable(&self, present: &PresentCost) -> Option<Money> {
        if present.has_machine() {
            return self.best_total();
        }
        let of_machine =
            |total: Money, machine: Money| Money { millionths: total.millionths - machine.millionths, ..total };
        match self.best()? {
            Best::Layout(layout) => match &layout.machine {
                Some(machine) => Some(of_machine(layout.total?, machine.monthly?)),
                None => layout.total,
            },
            Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice) => choice.price.as_ref()?.total(),
        }
    }

    /// Processors and bytes of memory of the recommended machines; `None` if unknown.
    pub fn best_machines(&self) -> Option<(f64, f64)> {
        let machine = self.best_machine()?;
        let shape = machine.offer.machine_shape()?;
        let count = f64::from(machine.count);
        Some((shape.vcpus? * count, shape.memory?.get() as f64 * count))
    }

    /// The monthly cost of today minus that of the recommended configuration: negative if the latter is dearer. `None`
    /// if a price is unknown or the currencies differ.
    pub fn saving(&self) -> Option<Money> {
        let present = self.present.as_ref()?;
        let (today, then) = (present.monthly()?, self.comparable(present)?);
        (today.currency == then.currency).then(|| Money { millionths: today.millionths - then.millionths, ..today })
    }
}
