//! Offer of a configuration: ceilings, price, model, and caveats.
//!
//! Describes a single configuration; [`Catalogue`](crate::Catalogue) resolves configurations.

use std::sync::Arc;

use plimsoll_language::say;
use plimsoll_model::Layout;
use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::{Cite, Status};
use crate::config::{Config, Wrap};
use crate::date::Date;
use crate::doubt::{doubt_latency, doubt_left_out, doubt_page_cache};
use crate::durability::Durability;
use crate::expression::Expression;
use crate::iscsi::IscsiFacts;
use crate::model_fit::ModelFit;
use crate::money::Currency;
use crate::product::{Access, Kinds, LatencyRule, LatencyStatement, Product, Scope};
use crate::resolve::{Chosen, Resolved};
use crate::service_level::{ServiceLevel, ServiceSubject};
use crate::sharing::Sharing;
use crate::translate::translate;
use crate::typical::TypicalRates;

/// Terms of a purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTerms {
    /// Date of limits and prices.
    pub as_of: Date,
    /// Currency of prices; optional if a product has a single currency.
    pub currency: Option<Currency>,
    /// Region of the vendor, or regions of several vendors separated by commas; optional if prices are worldwide or listed
    /// for a single region.
    pub region: Option<String>,
}

impl PriceTerms {
    /// The regions of the terms; empty for any.
    pub fn regions(&self) -> impl Iterator<Item = &str> {
        self.region.as_deref().unwrap_or_default().split(',').map(str::trim).filter(|region| !region.is_empty())
    }

    /// True for prices of one of the regions, and for worldwide prices.
    pub fn takes(&self, listed: Option<&str>) -> bool {
        listed.is_none_or(|listed| self.regions().next().is_none() || self.regions().any(|region| region == listed))
    }
}

/// Offer of a configuration.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The full configuration: the product's own name, and every option with its value.
    pub config: Config,
    /// Title of the product.
    pub title: Arc<str>,
    /// Usable bytes of the whole configuration; zero for a machine.
    pub capacity: Bytes,
    /// All ceilings: those of a volume (of each member, in an array), then those of the machine.
    pub ceilings: Vec<Ceiling>,
    /// Options of the volume in the order of the product file, followed by `tier` for products with tiers.
    pub options: Vec<Chosen>,
    /// Options of the machine, if any.
    pub machine_options: Vec<Chosen>,
    pub(crate) volume: Resolved,
    pub(crate) machine: Option<Resolved>,
    pub(crate) terms: PriceTerms,
}

/// A limit of throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Name in messages.
    pub name: Arc<str>,
    /// Location.
    pub scope: Scope,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Whether an operation takes the time of both rates, one after the other; the longer of both otherwise.
    pub added: bool,
    /// Operations that it counts.
    pub kinds: Kinds,
    /// Order of addresses to which it applies.
    pub access: Access,
    /// Size of a unit: an operation counts once per unit begun; `None`: once regardless of its size.
    pub unit: Option<Bytes>,
    /// Size of a bucket of operations, initially full: the limit does not apply while credits last.
    pub credits: Option<f64>,
    /// The same in bytes.
    pub credit_bytes: Option<f64>,
    /// Whether it is the peak while credits last.
    pub burst: bool,
    /// Whether the model of the product includes it.
    pub in_model: bool,
    /// Ways to raise it, best first: options, `tier` or `machine`.
    pub lift: Vec<Arc<str>>,
    /// Its source.
    pub cite: Arc<Cite>,
}

/// A caveat of an offer's figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Doubt {
    /// A sentence.
    pub text: String,
    /// Source of the figure in question, if any.
    #[serde(rename = "source")]
    pub cite: Option<Arc<Cite>>,
}

impl Offer {
    /// Statements of the vendor about latency.
    pub fn latency(&self) -> Vec<LatencyStatement> {
        let is_valid = |rule: &&LatencyRule| {
            let holds = rule.when.as_ref().is_none_or(|when| when.truth(&self.volume.values) == Some(true));
            holds && rule.validity.holds(self.terms.as_of)
        };
        self.volume.product.latency.iter().filter(is_valid).map(|rule| rule.statement.clone()).collect()
    }

    /// The statement of the vendor that the latency is worse than that of the model, if any.
    pub fn worse_latency(&self) -> Option<LatencyStatement> {
        self.latency().into_iter().find(|statement| statement.is_worse)
    }

    /// Rates of the published drives that this configuration stands for.
    pub fn typical(&self) -> Vec<TypicalRates> {
        let holds = |when: &Expression| when.truth(&self.volume.values) == Some(true);
        let rules = self.volume.product.typical.iter();
        rules.filter(|rule| rule.when.as_ref().is_none_or(holds)).map(|rule| rule.rates.clone()).collect()
    }

    /// The shortest equivalent configuration, without options at their defaults.
    pub fn short(&self) -> Config {
        let as_of = self.terms.as_of;
        Config {
            wraps: self.config.wraps.clone(),
            volume: self.volume.short_part(as_of, self.machine.as_ref()),
            machine: self.machine.as_ref().map(|machine| machine.short_part(as_of, None)),
        }
    }

    /// Range and error of the product's model, if it was fitted to measurements.
    pub fn model_fit(&self) -> Option<ModelFit> {
        self.volume.product.model.as_ref()?.fit
    }

    /// The offer with the credits of these ceilings (indices in [`Offer::ceilings`]) used up: each then holds the load to
    /// its rate.
    pub fn without_credits(&self, of: &[usize]) -> Self {
        let mut offer = self.clone();
        for index in of {
            let ceiling = &mut offer.ceilings[*index];
            (ceiling.credits, ceiling.credit_bytes) = (None, None);
        }
        offer
    }

    /// Terms of the offer.
    pub const fn terms(&self) -> &PriceTerms {
        &self.terms
    }

    /// The product.
    pub fn product(&self) -> &Product {
        &self.volume.product
    }

    /// Reliability of the model's response times; `None` without a model.
    pub fn latency_status(&self) -> Option<Status> {
        self.volume.product.model.as_ref().map(|model| model.cite.status)
    }

    /// Requirements on the machine, as texts of the product's rules. Empty if the configuration has a machine, because
    /// they were checked.
    pub fn needs(&self) -> Vec<Arc<str>> {
        self.volume.undecided(self.terms.as_of).map(|rule| Arc::clone(&rule.message)).collect()
    }

    /// The annual failure rate of the whole configuration. `None` when the vendor states none, and for mirrors and
    /// RAID: their rate depends on the time of a rebuild.
    pub fn durability(&self) -> Option<Durability> {
        Some(self.product().durability()?.of_stripe(self.volumes_without_redundancy()?))
    }

    /// Number of volumes that the configuration needs, all of them; `None` for mirrors and RAID.
    fn volumes_without_redundancy(&self) -> Option<u32> {
        self.config.wraps.iter().try_fold(1, |volumes: u32, wrap| match wrap {
            Wrap::PageCache(_) => Some(volumes),
            Wrap::Array { layout: Layout::Stripe | Layout::SplitStripe | Layout::SerialStripe, members, .. } => {
                volumes.checked_mul(*members)
            }
            Wrap::Array { .. } => None,
        })
    }

    /// How initiators see each volume of this configuration. `None` when the catalogue does not state it.
    pub fn iscsi(&self) -> Option<IscsiFacts> {
        let rule = self.product().iscsi.as_ref()?;
        let count = |of: &Option<Expression>| {
            let number = of.as_ref()?.number(&self.volume.values)?;
            (number >= 1.0).then_some(number as u32)
        };
        Some(IscsiFacts {
            vendor: rule.vendor.clone(),
            model: rule.model.clone(),
            revision: rule.revision.clone(),
            prefix: rule.prefix.clone(),
            paths: count(&rule.paths),
            queue_depth: count(&rule.queue_depth),
            controllers: count(&rule.controllers).unwrap_or(1),
            cite: Arc::clone(&rule.cite),
        })
    }

    /// The service levels of a configuration. A stripe is available only while all of its volumes are: the shares of
    /// independent volumes are multiplied. Availability of mirrors and RAID is unknown.
    pub fn service_levels(&self) -> Vec<ServiceLevel> {
        let volumes = self.volumes_without_redundancy();
        let holds = |when: &Expression| when.truth(&self.volume.values) == Some(true);
        let valid = self.product().service_levels.iter().filter(|rule| rule.when.as_ref().is_none_or(holds));
        let of_all = |level: &ServiceLevel| match level.of {
            ServiceSubject::Availability => {
                let share = (0..volumes?).fold(1.0, |share: f64, _| share * level.share);
                Some(ServiceLevel { share, ..level.clone() })
            }
            ServiceSubject::Performance => Some(level.clone()),
        };
        valid.filter_map(|rule| of_all(&rule.level)).collect()
    }

    /// How many machines can attach each volume of this configuration at the same time. `None` when a volume belongs to
    /// a single machine, or the catalogue has no figure.
    pub fn sharing(&self) -> Option<Sharing> {
        let holds = |when: &Expression| when.truth(&self.volume.values) == Some(true);
        let rule = self.product().sharing.iter().find(|rule| rule.when.as_ref().is_none_or(holds))?;
        let hosts = rule.hosts.number(&self.volume.values).filter(|hosts| *hosts > 1.0)?;
        Some(Sharing { hosts: hosts as u32, mode: rule.mode, cite: Arc::clone(&rule.cite) })
    }

    /// The date of the oldest document on the product's limits, figures, latency and prices, if the terms are of an earlier
    /// time: nothing shows that the product existed then, or with these figures.
    pub fn oldest_source_after_terms(&self) -> Option<Date> {
        let product = &self.volume.product;
        let cites = (product.limits.iter().map(|limit| &limit.cite))
            .chain(product.figures.iter().map(|figure| &figure.cite))
            .chain(product.latency.iter().map(|latency| &latency.statement.cite))
            .chain(product.prices.iter().map(|list| &list.cite));
        let own = cites.filter(|cite| cite.status != Status::Own);
        let oldest = own
            .filter_map(|cite| cite.date.parse::<Date>().ok())
            .min_by_key(|date| date.days_since(self.terms.as_of))?;
        (self.terms.as_of.days_since(oldest) < 0).then_some(oldest)
    }

    /// The doubt about loads of several sizes: no vendor publishes in which order a limit serves operations of different
    /// sizes. That of the product if it has its own; `None` without a model.
    pub fn size_sharing_doubt(&self) -> Option<String> {
        let own = self.volume.product.model.as_ref()?.doubts.iter().find(|doubt| is_about_size_sharing(doubt));
        let pieces = self.volume.product.model.as_ref()?.turn.is_some();
        let order = if pieces { "in pieces, in turn" } else { "whole, in the order of their arrival" };
        let of_any = || {
            format!(
                "{SIZE_SHARING} the limits of {} is not published: that they pass {order} is assumed, so the times of small operations \
                 beside large ones are doubtful",
                self.product().name()
            )
        };
        Some(own.cloned().unwrap_or_else(of_any))
    }

    /// The doubt about the model's response times, unless the vendor publishes them; `None` without a model.
    pub fn latency_doubt(&self) -> Option<String> {
        Some(doubt_latency(self.latency_status()?.doubt()?))
    }

    /// What makes the figures questionable: of the ceilings, of rules that only caution, and of the model when there is
    /// one. The doubts of ceilings come first, one for each.
    pub fn doubts(&self) -> Vec<Doubt> {
        self.list_doubts(|_| true)
    }

    /// The same for operations of a single size, which share no limit with others.
    pub fn doubts_of_single_size(&self) -> Vec<Doubt> {
        self.list_doubts(|doubt| !is_about_size_sharing(doubt))
    }

    /// The doubts with those of the model that apply, by their English text.
    fn list_doubts(&self, applies: impl Fn(&str) -> bool) -> Vec<Doubt> {
        let mut doubts: Vec<Doubt> = self.ceilings.iter().filter_map(doubtful).collect();
        let parts = std::iter::once(&self.volume).chain(&self.machine);
        doubts.extend(
            parts
                .flat_map(|part| part.broken(self.terms.as_of))
                .map(|rule| Doubt { text: translate(&rule.message).to_owned(), cite: Some(Arc::clone(&rule.cite)) }),
        );
        let Some(model) = &self.volume.product.model else { return doubts };
        let about = |text: String| Doubt { text, cite: Some(Arc::clone(&model.cite)) };
        doubts.extend(self.latency_doubt().map(about));
        doubts.extend(model.caveats(applies).into_iter().map(about));
        let left_out = self.ceilings.iter().filter(|ceiling| ceiling.access != Access::Any && !ceiling.in_model);
        doubts.extend(
            left_out
                .map(|ceiling| Doubt { text: doubt_left_out(&ceiling.name), cite: Some(Arc::clone(&ceiling.cite)) }),
        );
        if self.config.wraps.iter().any(|wrap| matches!(wrap, Wrap::PageCache(_))) {
            doubts.push(Doubt { text: doubt_page_cache().to_owned(), cite: None });
        }
        doubts
    }
}

/// Begin of a doubt about loads of several sizes.
const SIZE_SHARING: &str = "how operations of different sizes share";

/// True for a doubt that concerns only loads of several sizes.
pub fn is_about_size_sharing(doubt: &str) -> bool {
    doubt.starts_with(SIZE_SHARING)
}

fn doubtful(ceiling: &Ceiling) -> Option<Doubt> {
    let text = say!("\"{}\" {}", translate(&ceiling.name), ceiling.cite.status.doubt()?);
    Some(Doubt { text, cite: Some(Arc::clone(&ceiling.cite)) })
}
