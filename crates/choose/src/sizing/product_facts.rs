//! Durability and sharing of volumes, and the support of clusters.

use plimsoll_catalogue::{DatabaseEngine, Offer, Product, ProductKind, RacStatus, Wrap};

use super::Exclusion;
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
pub(super) fn find_engine_conflict(product: &Product, platform: &Platform) -> Option<Exclusion> {
    let managed = product.managed()?;
    let is_oracle = platform.oracle_release.is_some();
    (is_oracle && !managed.engines.contains(&DatabaseEngine::Oracle))
        .then(|| Exclusion::OtherEngine(managed.engine_titles()))
}

/// A statement of this status on Oracle's support of RAC on the volumes of a product.
fn rac_statement(product: &Product, status: RacStatus) -> Option<&str> {
    product.rac().filter(|rac| rac.support == status).map(|rac| &*rac.text)
}

/// The reason why Oracle does not support RAC on the volumes of a product; `None` if it may be supported.
pub fn unsupported_rac(product: &Product) -> Option<&str> {
    rac_statement(product, RacStatus::Unsupported)
}

/// Where it is unknown whether Oracle supports RAC on the volumes of a product; `None` for others.
pub fn unclear_rac(product: &Product) -> Option<&str> {
    rac_statement(product, RacStatus::Undocumented)
}

/// Probability of losing the data of an offer in a year: the upper bound of the vendor's range.
pub(super) fn yearly_loss(offer: &Offer) -> Option<f64> {
    offer.durability().map(|durability| durability.failure_rate_high)
}

/// Number of volumes of an offer.
pub(super) fn members(offer: &Offer) -> u32 {
    offer.config.wraps.iter().map(Wrap::members).product()
}
