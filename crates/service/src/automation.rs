//! Automation of a volume: a level that follows the load, and a lower level while the volume has no clients.
//!
//! All spans are in model time: an hour of a service with dilation N takes N hours.

use plimsoll_catalogue::OptionValue;
use plimsoll_language::{label, say};
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{AutotuneState, Detached, Ladder, LevelModel, Policy, Totals};

use crate::api;
use crate::floor;
use crate::metadata::VolumeMetadata;
use crate::options::ServiceOptions;
use crate::product::Product;
use crate::refusal::Refusal;

/// Maximum number of levels considered by autotune.
const MAX_LEVELS: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Automation {
    pub tune: Option<Tune>,
    pub detached: Option<Detached>,
    /// A change was left out and logged, because the vendor does not make it on attached volumes.
    pub is_held: bool,
}

/// A level that follows the load.
#[derive(Debug)]
pub(crate) struct Tune {
    pub tune: AutotuneState,
    /// Totals at the end of the last interval.
    pub before: Option<Totals>,
}

impl Automation {
    /// Automation of a volume from its metadata; disabled if the product no longer supports it.
    pub fn new(now: Instant, metadata: &VolumeMetadata, product: &Product, options: &ServiceOptions) -> Self {
        let requested = metadata.autotune.as_ref();
        requested.and_then(|requested| Self::from_request(now, requested, product, options).ok()).unwrap_or_default()
    }

    pub fn from_request(
        now: Instant,
        requested: &api::Autotune,
        product: &Product,
        options: &ServiceOptions,
    ) -> Result<Self, Refusal> {
        let (Some(level), Some(offer)) = (product.level(), &product.offer) else {
            return Err(Refusal::bad(say!("{} has no levels, so autotune is not possible", product.like)));
        };
        let does = |what: &str| {
            let able = offer.product().autotune().iter().any(|table| table.name.starts_with(what));
            let name = offer.product().name();
            let none =
                || Refusal::bad(say!("the catalogue has no {what} autotune of {name}: its levels are set manually"));
            able.then_some(()).ok_or_else(none)
        };
        let tune = match requested.default {
            Some(default) => {
                does("performance")?;
                let policy = resolve_policy(requested, default, product, options)?;
                let ladder = build_ladder(&policy, product, options)?;
                Some(Tune { tune: AutotuneState::new(now, policy, ladder, level), before: None })
            }
            None if requested.max.is_some() || requested.step.is_some() || requested.up_after_ns.is_some() => {
                return Err(Refusal::bad(label!("a level that follows the load needs a default that it goes back to")));
            }
            None => None,
        };
        let detached = match requested.detached_after_ns {
            Some(after) => {
                does("detached")?;
                let low = parameter(product, "detached", "to").unwrap_or(0.0) as u32;
                Some(Detached::new(Span::from_nanos(after), low, requested.default.unwrap_or(level)))
            }
            None => None,
        };
        if tune.is_none() && detached.is_none() {
            return Err(Refusal::bad(label!(
                "nothing to do: give a default level, or how long a volume rests detached"
            )));
        }
        Ok(Self { tune, detached, is_held: false })
    }
}

/// Policy of level changes: requested values, or else those of the product.
fn resolve_policy(
    requested: &api::Autotune,
    default: u32,
    product: &Product,
    options: &ServiceOptions,
) -> Result<Policy, Refusal> {
    let highest = product.level_option().and_then(|option| option.high).map_or(default, |high| high as u32);
    let max = requested.max.unwrap_or(highest);
    if max < default {
        return Err(Refusal::bad(say!("the highest level ({max}) is below the default ({default})")));
    }
    for level in [default, max] {
        let at = product.at_level(level, &options.products)?;
        let size = at.offer.as_ref().map_or(0, |offer| offer.capacity.get());
        floor::check(&at, size, &options.floor, options.slow)?;
    }
    let usual = Policy::between(default, max);
    let product_value = |key: &str| parameter(product, "performance", key);
    let span = |requested: Option<u64>, key: &str, usual: Span| {
        requested.map(Span::from_nanos).or_else(|| product_value(key).map(Span::from_secs_f64)).unwrap_or(usual)
    };
    Ok(Policy {
        default,
        max,
        step: requested.step.or_else(|| product_value("step").map(|step| step as u32)).unwrap_or(usual.step).max(1),
        up_after: span(requested.up_after_ns, "up_period_s", usual.up_after),
        down_first: span(requested.down_first_ns, "down_first_s", usual.down_first),
        down_next: span(requested.down_next_ns, "down_next_s", usual.down_next),
    })
}

/// Parameter of the product's automation. Names of `step` and `to` include the option: `step_vpu`.
fn parameter(product: &Product, table: &str, key: &str) -> Option<f64> {
    let offer = product.offer.as_ref()?;
    let of_option = format!("{key}_{}", product.level_option()?.name);
    let tables = offer.product().autotune().iter().filter(|one| one.name.starts_with(table));
    let mut parameters = tables.flat_map(|table| &table.parameters);
    let found = parameters.find(|(name, _)| *name == key || *name == of_option)?;
    match found.1 {
        OptionValue::Number(number) => Some(number),
        OptionValue::Text(_) => None,
    }
}

/// Levels that the policy can reach, each with its model.
fn build_ladder(policy: &Policy, product: &Product, options: &ServiceOptions) -> Result<Ladder, Refusal> {
    let levels: Vec<u32> = (policy.default..=policy.max).step_by(policy.step as usize).take(MAX_LEVELS + 1).collect();
    if levels.len() > MAX_LEVELS {
        let Policy { default, max, step, .. } = policy;
        return Err(Refusal::bad(say!(
            "steps of {step} from {default} to {max} are more than {MAX_LEVELS} levels: choose larger steps"
        )));
    }
    let current = product.level();
    let mut levels: Vec<u32> = levels.into_iter().chain([policy.max]).chain(current).collect();
    levels.sort_unstable();
    levels.dedup();
    let rung = |level: u32| product.at_level(level, &options.products).map(|at| LevelModel { level, model: at.model });
    let rungs = levels.into_iter().map(rung).collect::<Result<_, _>>()?;
    Ladder::new(rungs).map_err(|error| Refusal::bad(error.to_string()))
}
