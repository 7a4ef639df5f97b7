//! Durability and sharing of volumes, and the support of clusters.

use plimsoll_catalogue::{Offer, Product, ProductKind, Wrap};

/// Whether several machines can write to a volume at the same time; `None` for storage that is no cloud volume.
pub(super) fn is_shareable(product: &Product) -> Option<bool> {
    (product.kind() == ProductKind::Volume).then(|| product.shareable())
}

/// The position of Oracle on RAC with volumes of a provider's machines; `None` if it is unknown. Oracle Block Volume and
/// Azure documents (2023 and later) for these two; My Oracle Support 2688277.1, at second hand, for the others.
pub(super) fn rac_support(provider: &str) -> Option<&'static str> {
    match provider {
        "oci" => Some("RAC is supported in DB systems and Exadata services; for RAC on own machines ask Oracle"),
        "aws" => Some("Oracle does not support RAC on EC2 (at second hand): Oracle Database@AWS has it"),
        "azure" => Some("Oracle does not support RAC on Azure machines: Oracle Database@Azure has it"),
        "gcp" => {
            Some("Oracle does not support RAC on Compute Engine (at second hand): Oracle Database@Google Cloud has it")
        }
        _ => None,
    }
}

/// Probability of losing the data of an offer in a year, the worse bound of the vendor's range.
pub(super) fn yearly_loss(offer: &Offer) -> Option<f64> {
    offer.durability().map(|durability| durability.failure_rate_high)
}

/// Volumes of an offer.
pub(super) fn members(offer: &Offer) -> u32 {
    offer.config.wraps.iter().map(Wrap::members).product()
}
