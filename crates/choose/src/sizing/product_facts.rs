//! Durability and sharing of volumes, and the support of clusters.

use plimsoll_catalogue::{DatabaseEngine, Offer, Product, ProductKind, Wrap};

use super::platform::Platform;

/// Whether several machines can write to the storage concurrently: never to drives inside of a machine, always to arrays.
pub(super) fn is_shareable(product: &Product) -> bool {
    match product.kind() {
        ProductKind::Volume | ProductKind::Managed => product.shareable(),
        ProductKind::Drive | ProductKind::Server => false,
        ProductKind::Array | ProductKind::Machine => true,
    }
}

/// The reason why a managed database cannot run the database of the input; `None` for other products, and if the
/// input does not show its engine.
pub(super) fn find_engine_conflict(product: &Product, platform: &Platform) -> Option<String> {
    let managed = product.managed()?;
    let is_oracle = platform.oracle_release.is_some();
    (is_oracle && !managed.engines.contains(&DatabaseEngine::Oracle))
        .then(|| format!("it runs {}, and the reports are of Oracle Database", managed.engine_titles()))
}

/// The reason why Oracle does not support RAC on the volumes of a product; `None` if it may be supported. Sources: Azure
/// documents (2023); My Oracle Support 2688277.1, at second hand, for the others.
pub fn unsupported_rac(product: &Product) -> Option<&'static str> {
    let (provider, _) = product.name().split_once('/').filter(|_| product.kind() == ProductKind::Volume)?;
    match provider {
        "aws" => Some("Oracle does not support RAC on EC2 (at second hand): use Oracle Database@AWS"),
        "azure" => Some("Oracle does not support RAC on Azure machines: use Oracle Database@Azure"),
        "gcp" => {
            Some("Oracle does not support RAC on Compute Engine (at second hand): use Oracle Database@Google Cloud")
        }
        _ => None,
    }
}

/// Where it is unknown whether Oracle supports RAC on the volumes of a product; `None` for others. Documents of Oracle
/// describe RAC at OCI in DB systems and Exadata services (2018), and volumes that several machines write to (Block Volume,
/// 2026); a statement about RAC on own machines was not found in either direction.
pub fn unclear_rac(product: &Product) -> Option<&'static str> {
    let is_oci = product.kind() == ProductKind::Volume && product.name().starts_with("oci/");
    is_oci.then_some(
        "at OCI, RAC is documented for DB systems and Exadata services, which are not priced here; whether Oracle supports it \
         on own machines is unknown: ask Oracle",
    )
}

/// A note on Oracle's support of RAC on the volumes of a product; `None` if there is none.
pub(super) fn rac_note(product: &Product) -> Option<&'static str> {
    unsupported_rac(product).or_else(|| unclear_rac(product))
}

/// Probability of losing the data of an offer in a year: the upper bound of the vendor's range.
pub(super) fn yearly_loss(offer: &Offer) -> Option<f64> {
    offer.durability().map(|durability| durability.failure_rate_high)
}

/// Number of volumes of an offer.
pub(super) fn members(offer: &Offer) -> u32 {
    offer.config.wraps.iter().map(Wrap::members).product()
}
