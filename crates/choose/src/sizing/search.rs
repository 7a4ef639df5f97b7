//! The scope of a search: products by provider or name, the machine, the width of stripes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Config, ConfigError, Part, Product, ProductKind, Setting};
use plimsoll_language::say;
use thiserror::Error;

use super::Exclusion;
use super::platform::Platform;
use super::pool::{InOrder, Pool};
use super::product_facts::{find_engine_conflict, is_shareable, unsupported_rac};
use crate::trial::OpenTrials;

/// Default maximum width of stripes.
const DEFAULT_WIDTH: u32 = 4;

#[derive(Clone, Debug)]
pub struct Search {
    /// Names of products; empty for all ranked products.
    pub products: Vec<String>,
    /// Given values of options, by product. They are not varied.
    pub settings: BTreeMap<String, Vec<(String, String)>>,
    /// The machine for the volumes; restricts the search to its provider.
    pub machine: Option<Part>,
    /// Maximum width of stripes; 1 for no stripes.
    pub widest: u32,
    /// Includes platforms on which the vendor of the database does not support it.
    pub has_unsupported: bool,
    /// Executes the search of products that are independent of each other.
    pub pool: Arc<dyn Pool>,
    /// Recent trials, which clones of a search share.
    pub trials: Arc<OpenTrials>,
}

impl Default for Search {
    /// All ranked products, striped over at most 4 volumes, on the calling thread.
    fn default() -> Self {
        Self {
            products: Vec::new(),
            settings: BTreeMap::new(),
            machine: None,
            widest: DEFAULT_WIDTH,
            has_unsupported: false,
            pool: Arc::new(InOrder),
            trials: Arc::default(),
        }
    }
}

/// A scope that cannot be searched.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScopeError {
    /// A name that is neither a provider nor a product.
    #[error(transparent)]
    Unknown(#[from] UnknownProvider),
    /// A product whose given options are invalid.
    #[error("{text}: {reason}")]
    Options { text: String, reason: OptionFault },
}

/// The reason why options of a product cannot be given, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionFault {
    #[error(transparent)]
    Syntax(#[from] ConfigError),
    #[error("{product} has no option {name:?}; plimsoll catalogue show {product} lists its options")]
    Unknown { product: String, name: String },
    #[error("{0:?} is no option: write option=value")]
    NoOption(String),
    #[error("the size follows from --capacity: give other options only")]
    Size,
}

/// A name that is neither a provider nor a product.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the catalogue has no provider or product {name:?}: its providers are {}{}", existing.join(", "), suggestion(nearest))]
pub struct UnknownProvider {
    pub name: String,
    /// Similar names.
    pub nearest: Vec<String>,
    /// The known providers.
    pub existing: Vec<String>,
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { say!("; did you mean {}?", plimsoll_catalogue::one_of(nearest)) }
}

/// The part of a product name before the slash.
pub(super) fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}

impl Search {
    /// Searches the given providers, with all their ranked products, and products, which may have options as in
    /// `netapp/aff-c800:hits=0`. All ranked products if `names` is empty.
    pub fn among(catalogue: &Catalogue, names: &[String]) -> Result<Self, ScopeError> {
        let ranked = || catalogue.products().filter(|product| is_storage(product) && product.ranked());
        let (mut products, mut settings) = (Vec::new(), BTreeMap::new());
        for text in names {
            let (name, options) = text.split_once(':').map_or((text.as_str(), None), |(name, _)| (name, Some(text)));
            let lower = name.to_lowercase();
            let of_provider: Vec<String> = ranked()
                .filter(|product| provider(product.name()) == lower)
                .map(|product| product.name().into())
                .collect();
            if !of_provider.is_empty() && options.is_none() {
                products.extend(of_provider);
                continue;
            }
            match catalogue.find(name) {
                Ok(product) if is_storage(product) => {
                    if let Some(text) = options {
                        settings.insert(product.name().to_owned(), given_options(product, text)?);
                    }
                    products.push(product.name().into());
                }
                _ => return Err(unknown(catalogue, name).into()),
            }
        }
        products.sort();
        products.dedup();
        Ok(Self { products, settings, ..Self::default() })
    }

    /// The given options of a product.
    pub(super) fn settings(&self, product: &Product) -> &[(String, String)] {
        self.settings.get(product.name()).map_or(&[], Vec::as_slice)
    }

    /// The same products without the machine.
    pub(super) fn without_machine(&self, catalogue: &Catalogue) -> Self {
        if self.machine.is_none() {
            return self.clone();
        }
        let products = catalogue.products().filter(|product| self.has(product)).map(|product| product.name().into());
        Self { products: products.collect(), machine: None, ..self.clone() }
    }

    /// The reason why a product is excluded for the database of this platform.
    pub(super) fn excludes(&self, product: &Product, platform: &Platform) -> Option<Exclusion> {
        let cluster = || platform.cluster.as_ref().and_then(|_| self.excludes_cluster(product));
        find_engine_conflict(product, platform).or_else(cluster)
    }

    /// The reason why a product is excluded for a cluster of instances.
    fn excludes_cluster(&self, product: &Product) -> Option<Exclusion> {
        match product.managed() {
            _ if is_shareable(product) => {
                let statement = unsupported_rac(product).filter(|_| !self.has_unsupported)?;
                Some(Exclusion::UnsupportedRac(statement.to_owned()))
            }
            None => Some(Exclusion::SingleMachine),
            Some(_) => Some(Exclusion::SingleInstance),
        }
    }

    /// True if the search considers no product: for instance those of one cloud on a machine of another.
    pub fn is_empty(&self, catalogue: &Catalogue) -> bool {
        !catalogue.products().any(|product| self.has(product))
    }

    /// True if the search considers the product.
    pub(super) fn has(&self, product: &Product) -> bool {
        let named = || self.products.iter().any(|name| name == product.name());
        let attachable = |machine: &Part| {
            product.kind() == ProductKind::Volume
                && provider(product.name()) == provider(&machine.product.to_lowercase())
        };
        is_storage(product)
            && (if self.products.is_empty() { product.ranked() } else { named() })
            && self.machine.as_ref().is_none_or(attachable)
    }
}

/// The options in `PRODUCT:option=value,...`.
fn given_options(product: &Product, text: &str) -> Result<Vec<(String, String)>, ScopeError> {
    let failed = |reason: OptionFault| ScopeError::Options { text: text.to_owned(), reason };
    let config: Config = text.parse().map_err(|error: ConfigError| failed(error.into()))?;
    let has_tiers = !product.tiers().is_empty();
    let option = |setting: Setting| match setting {
        Setting::Option { name, value } if name != "size" && product.has_option(&name) => Ok((name, value)),
        Setting::Option { name, .. } if name != "size" => {
            Err(failed(OptionFault::Unknown { product: product.name().to_owned(), name }))
        }
        Setting::Option { name, value } if name == "tier" && has_tiers => Ok((name, value)),
        Setting::Word(tier) if has_tiers => Ok(("tier".to_owned(), tier)),
        Setting::Word(word) => Err(failed(OptionFault::NoOption(word))),
        Setting::Size { .. } | Setting::Option { .. } => Err(failed(OptionFault::Size)),
    };
    config.volume.settings.into_iter().map(option).collect()
}

fn is_storage(product: &Product) -> bool {
    product.kind() != ProductKind::Machine
}

fn unknown(catalogue: &Catalogue, name: &str) -> UnknownProvider {
    let ranked = || catalogue.products().filter(|product| is_storage(product) && product.ranked());
    let mut existing: Vec<String> = ranked().map(|product| provider(product.name()).to_owned()).collect();
    existing.sort();
    existing.dedup();
    let names = existing.iter().map(String::as_str).chain(ranked().map(Product::name));
    UnknownProvider {
        name: name.to_owned(),
        nearest: plimsoll_catalogue::nearest(name, names),
        existing: existing.clone(),
    }
}
