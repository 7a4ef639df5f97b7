//! Figures of a configuration at a level and a size: IOPS, throughput, the binding limits and the price of a month.
//!
//! Computed from the catalogue alone, so that they follow a slider.

use plimsoll_catalogue::{
    Ask, Bound, Chosen, Config, Like, Offer, OptionValue, Price, PriceTerms, ProductKind, Setting, translate,
};
use plimsoll_language::{label, say};
use plimsoll_measure::date_of;
use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::WebRefusal;

/// Operations for figures of IOPS.
const SMALL_READS: Ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
/// Operations for figures of throughput.
const LARGE_READS: Ask = Ask { block: Bytes::kib(256), reads: 1.0, sequential: true };
/// Maximum length of a configuration.
const MAX_LIKE_BYTES: usize = 4_096;

/// A configuration, or a change of that of a volume.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FiguresRequest {
    /// Volume that is changed; its configuration is the base.
    pub volume: Option<String>,
    /// Configuration, or settings such as `20vpu` if there is a volume.
    pub like: String,
    pub level: Option<f64>,
    /// Bytes to hold.
    pub size_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct ConfigFigures {
    pub like: String,
    pub title: String,
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// 4 KiB random reads per second, sustained.
    pub iops: Option<f64>,
    /// Limit that binds them.
    pub iops_limit: Option<String>,
    /// Bytes per second in 256 KiB sequential reads, sustained.
    pub bytes_per_second: Option<f64>,
    /// Limit that binds them.
    pub bytes_limit: Option<String>,
    /// Price of a month in US dollars, as text.
    pub usd: Option<String>,
    /// The same in yen.
    pub jpy: Option<String>,
    /// The level, if the product has levels.
    pub level: Option<Range>,
    /// Reason why the vendor makes this change on detached volumes only.
    pub detached_only: Option<String>,
    /// Number of figures that are not verified with the vendor.
    pub doubts: usize,
}

/// Range of a numeric option.
#[derive(Debug, Serialize)]
pub struct Range {
    pub name: String,
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub step: f64,
}

/// Terms of today, in every currency.
pub fn terms() -> PriceTerms {
    PriceTerms { as_of: date_of(&jiff::Zoned::now()), currency: None, region: None }
}

/// Figures of the requested configuration.
pub fn figures(shared: &ConsoleState, request: &FiguresRequest) -> Result<ConfigFigures, WebRefusal> {
    if request.like.len() > MAX_LIKE_BYTES {
        return Err(WebRefusal::bad(say!("a configuration is limited to {MAX_LIKE_BYTES} bytes")));
    }
    let current = match &request.volume {
        Some(name) => Some(parse_offer(shared, &shared.service.volume(name)?.like)?),
        None => None,
    };
    let mut offer = match &current {
        Some(current) if request.like.is_empty() => current.clone(),
        Some(current) => change_offer(shared, current, &request.like)?,
        None => parse_offer(shared, &request.like)?,
    };
    if let Some((option, level)) = offer.level_option().zip(request.level) {
        let setting = Setting::Option { name: option.name.to_string(), value: level.to_string() };
        offer = find_offer(shared, &offer.with(&[setting]))?;
    }
    if let Some(bytes) = request.size_bytes {
        let larger = offer.holding(bytes).ok_or_else(|| {
            WebRefusal::bad(say!("{} has no size of {}: choose a smaller size", offer.short(), Bytes::new(bytes)))
        })?;
        offer = find_offer(shared, &larger)?;
    }
    let detached_only = current.and_then(|current| current.detached_only(&offer)).map(|why| why.to_string());
    Ok(ConfigFigures { detached_only, ..of_offer(&offer) })
}

pub fn of_offer(offer: &Offer) -> ConfigFigures {
    let bound = |ask: &Ask| offer.standing(ask).binding().copied();
    let limit = |bound: &Bound| offer.ceilings.get(bound.ceiling).map(|ceiling| translate(&ceiling.name).to_owned());
    let (small, large) = (bound(&SMALL_READS), bound(&LARGE_READS));
    let prices = offer.prices();
    let price = |code: &str| {
        let monthly = prices.iter().filter_map(Price::total).find(|monthly| monthly.currency.code() == code);
        monthly.map(|monthly| monthly.to_string())
    };
    ConfigFigures {
        like: offer.short().to_string(),
        title: offer.title.to_string(),
        capacity_bytes: offer.capacity.get(),
        iops: small.map(|bound| bound.iops),
        iops_limit: small.as_ref().and_then(limit),
        bytes_per_second: large.map(|bound| bound.bytes_per_second),
        bytes_limit: large.as_ref().and_then(limit),
        usd: price("USD"),
        jpy: price("JPY"),
        level: offer.level_option().and_then(range),
        detached_only: None,
        doubts: offer.doubts().len(),
    }
}

/// Operations per second that the catalogue's limits allow, and the name of the limit that binds.
pub fn find_binding(offer: &Offer, ask: &Ask) -> Option<(f64, String)> {
    let standing = offer.standing(ask);
    let bound = standing.binding()?;
    Some((bound.iops, translate(&offer.ceilings.get(bound.ceiling)?.name).to_owned()))
}

fn range(option: &Chosen) -> Option<Range> {
    let Some(OptionValue::Number(value)) = option.value else { return None };
    Some(Range {
        name: option.name.to_string(),
        value,
        low: option.low?,
        high: option.high?,
        step: option.step.unwrap_or(1.0),
    })
}

/// Offer of a configuration. Stages are refused: the catalogue has no figures of them.
pub fn parse_offer(shared: &ConsoleState, like: &str) -> Result<Offer, WebRefusal> {
    match like.trim().parse::<Like>().map_err(|error| WebRefusal::bad(error.to_string()))? {
        Like::Config(config) => find_offer(shared, &config),
        Like::Stages(_) => Err(WebRefusal::bad(label!(
            "stages of a model have no price and no limits of the catalogue: simulate them under Model"
        ))),
    }
}

/// Applies settings to the current product, or parses another configuration.
fn change_offer(shared: &ConsoleState, current: &Offer, to: &str) -> Result<Offer, WebRefusal> {
    let replacement: Result<Config, _> = to.trim().parse();
    let is_product = replacement.as_ref().is_ok_and(|config| shared.products.find(&config.volume.product).is_ok());
    if is_product {
        return parse_offer(shared, to);
    }
    let settings: Result<Config, _> = format!("{}:{}", current.product().name(), to.trim()).parse();
    let settings = settings.map_err(|error| WebRefusal::bad(error.to_string()))?;
    find_offer(shared, &current.with(&settings.volume.settings))
}

fn find_offer(shared: &ConsoleState, config: &Config) -> Result<Offer, WebRefusal> {
    let offer = shared.products.offer(config, &terms()).map_err(|refusal| WebRefusal::bad(refusal.to_string()))?;
    if offer.product().kind() == ProductKind::Machine {
        return Err(WebRefusal::bad(say!("{config} is a machine: use it for a group of volumes")));
    }
    Ok(offer)
}

/// A product in the list of the search.
#[derive(Debug, Serialize)]
pub struct ProductEntry {
    pub name: String,
    pub title: String,
    /// A configuration to start from.
    pub example: String,
}

/// All volumes of the catalogue.
pub fn products(shared: &ConsoleState) -> Vec<ProductEntry> {
    let storage = shared.products.products().filter(|product| product.kind() != ProductKind::Machine);
    let entry = |product: &plimsoll_catalogue::Product| {
        let unit = product.capacity_unit().0;
        let name = product.name();
        let example = match product.tiers().first() {
            _ if product.has_size() => format!("{name}:100{unit}"),
            Some((tier, _)) => format!("{name}:{tier}"),
            None => name.to_owned(),
        };
        ProductEntry { name: name.to_owned(), title: product.title().to_owned(), example }
    };
    storage.map(entry).collect()
}
