//! The hit ratio of an array's memory, which its response times assume, and the recommendation without hits.

use plimsoll_catalogue::{Catalogue, PriceTerms};
use plimsoll_ingest::Class;
use plimsoll_model::{ChainSpec, StageSpec};
use plimsoll_units::Span;

use super::{Choice, RejectionReason, Sizing, judge};
use crate::candidate::{Owner, option, with};

/// The option of the share of reads that the memory of an array answers.
const HITS: &str = "hits";

/// What the recommended configuration assumes of the memory of an array.
#[derive(Clone, Debug)]
pub struct HitAssumption {
    /// Assumed share of reads, 0 to 1.
    pub share: f64,
    /// The product, with which the option can be stated.
    pub product: String,
    /// Mean response time of reads with this share; `None` without reads.
    pub mean: Option<Span>,
    /// The same configuration without hits, or the reason why it does not carry the load.
    pub without: Result<Box<Choice>, RejectionReason>,
    /// Whether it would be suitable without hits: it meets the objectives, and is not slower than today, or hardly slower
    /// than with hits if it is slower then, too.
    pub is_suitable: bool,
}

impl HitAssumption {
    /// The assumption of the recommended configuration; `None` without such a memory, or if the share was stated.
    pub fn of(catalogue: &Catalogue, terms: &PriceTerms, sizing: &Sizing) -> Option<Self> {
        let choice = sizing.best()?.choice()?;
        let (_, chosen) = option(&choice.offer, HITS)?;
        if chosen.value.is_some() {
            return None;
        }
        let share = assumed_hits(&choice.offer.model().ok()?).filter(|share| *share > 0.0)?;
        let config = with(&choice.offer.short(), Owner::Volume, HITS, "0");
        let without =
            judge(catalogue, &config, &sizing.required, terms).map(Box::new).map_err(|rejection| rejection.reason);
        let required = &sizing.required;
        let is_hardly_slower = |without: &Choice| {
            let [with, without] = [choice, without].map(|choice| reads_mean(choice).unwrap_or_default().as_secs_f64());
            required.is_slower_than_today(choice) && without <= with * (1.0 + required.tolerance)
        };
        let is_suitable = without.as_ref().is_ok_and(|without| {
            let is_fast = required.may_be_slower || !required.is_slower_than_today(without);
            without.meets() && (is_fast || is_hardly_slower(without))
        });
        let product = choice.offer.product().name().to_owned();
        Some(Self { share, product, mean: reads_mean(choice), without, is_suitable })
    }

    /// Mean response time of reads without hits.
    pub fn mean_without(&self) -> Option<Span> {
        self.without.as_ref().ok().and_then(|choice| reads_mean(choice))
    }
}

/// The longest mean response time of random and other reads.
fn reads_mean(choice: &Choice) -> Option<Span> {
    let is_read = |class: Class| matches!(class, Class::Read | Class::RandomRead | Class::All);
    choice.usual.iter().filter(|latency| is_read(latency.class)).map(|latency| latency.mean).max()
}

/// The hit ratio of the first cache in a model.
fn assumed_hits(model: &ChainSpec) -> Option<f64> {
    model.stages().iter().find_map(|named| match &named.stage {
        StageSpec::Cache { hits, .. } => Some(*hits),
        stage => stage.insides().into_iter().find_map(assumed_hits),
    })
}
