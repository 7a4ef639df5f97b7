//! Figures of a configuration at a level and a size: IOPS, throughput, the binding limits and the price of a month.
//!
//! Computed from the catalogue alone, so that they follow a slider.

use plimsoll_catalogue::{
    Ask, Bound, Chosen, Config, Date, Like, Offer, OptionValue, Price, PriceTerms, ProductKind, Setting, translate,
};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::ConsoleState;
use crate::answer::WebRefusal;

/// Small random reads, by which IOPS are stated.
const SMALL: Ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
/// Large sequential reads, by which throughput is stated.
const LARGE: Ask = Ask { block: Bytes::kib(256), reads: 1.0, sequential: true };
/// Maximum length of a configuration.
const LIKE_BYTES: usize = 4_096;

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
    /// Number of figures that were not read with the vendor.
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

/// Present terms, in every currency.
pub fn terms() -> PriceTerms {
    PriceTerms { as_of: present_date(), currency: None, region: None }
}

fn present_date() -> Date {
    let today = jiff::Zoned::now().date();
    Date::day(today.year().unsigned_abs(), today.month().unsigned_abs(), today.day().unsigned_abs())
}

/// Figures of what is asked.
pub fn figures(shared: &ConsoleState, request: &FiguresRequest) -> Result<ConfigFigures, WebRefusal> {
    if request.like.len() > LIKE_BYTES {
        return Err(WebRefusal::bad(say!("a configuration is limited to {LIKE_BYTES} bytes")));
    }
    let present = match &request.volume {
        Some(name) => Some(parse_offer(shared, &shared.service.volume(name)?.like)?),
        None => None,
    };
    let mut offer = match &present {
        Some(present) if request.like.is_empty() => present.clone(),
        Some(present) => changed(shared, present, &request.like)?,
        None => parse_offer(shared, &request.like)?,
    };
    if let Some((option, level)) = offer.level_option().zip(request.level) {
        let setting = Setting::Option { name: option.name.to_string(), value: level.to_string() };
        offer = offered(shared, &offer.with(&[setting]))?;
    }
    if let Some(bytes) = request.size_bytes {
        let larger = offer.holding(bytes).ok_or_else(|| {
            WebRefusal::bad(say!("{} has no size of {}: choose a smaller size", offer.short(), Bytes::new(bytes)))
        })?;
        offer = offered(shared, &larger)?;
    }
    let detached_only = present.and_then(|present| present.detached_only(&offer)).map(|why| why.to_string());
    Ok(ConfigFigures { detached_only, ..of_offer(&offer) })
}

pub fn of_offer(offer: &Offer) -> ConfigFigures {
    let bound = |ask: &Ask| offer.standing(ask).binding().copied();
    let limit = |bound: &Bound| offer.ceilings.get(bound.ceiling).map(|ceiling| translate(&ceiling.name).to_owned());
    let (small, large) = (bound(&SMALL), bound(&LARGE));
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

/// Offer of a configuration. Stages are refused: the catalogue knows no figures of them.
pub fn parse_offer(shared: &ConsoleState, like: &str) -> Result<Offer, WebRefusal> {
    match like.trim().parse::<Like>().map_err(|error| WebRefusal::bad(error.to_string()))? {
        Like::Config(config) => offered(shared, &config),
        Like::Stages(_) => Err(WebRefusal::bad(label!(
            "stages of a model have no price and no limits of the catalogue: simulate them under Model"
        ))),
    }
}

/// Settings of the present product, or another configuration.
fn changed(shared: &ConsoleState, present: &Offer, to: &str) -> Result<Offer, WebRefusal> {
    let total: Result<Config, _> = to.trim().parse();
    let is_product = total.as_ref().is_ok_and(|config| shared.products.find(&config.volume.product).is_ok());
    if is_product {
        return parse_offer(shared, to);
    }
    let settings: Result<Config, _> = format!("{}:{}", present.product().name(), to.trim()).parse();
    let settings = settings.map_err(|error| WebRefusal::bad(error.to_string()))?;
    offered(shared, &present.with(&settings.volume.settings))
}

fn offered(shared: &ConsoleState, config: &Config) -> Result<Offer, WebRefusal> {
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
