//! Durability, sharing and attachment of volumes: facts of products that limits and prices do not show.

use plimsoll_catalogue::{Offer, Wrap};

/// Facts of a cloud volume.
struct Facts {
    product: &'static str,
    /// Share of volumes that are lost in a year, 0 to 1; of a range the worse bound.
    failures: f64,
    /// Machines that can attach it for reading and writing at the same time; 1 for none but its own.
    machines: u32,
}

const fn facts(product: &'static str, failures: f64, machines: u32) -> Facts {
    Facts { product, failures, machines }
}

/// Amazon EBS volume types (2023), Multi-Attach (2023); Google Hyperdisk overview (2026-08-26), Persistent Disk overview;
/// Azure disk redundancy (2026-09-10), shared disks (2025-12-03; numbers of machines recalled, not read); Oracle Block
/// Volume overview (at second hand) and attachment to several instances.
const FACTS: [Facts; 19] = [
    facts("aws/gp2", 0.002, 1),
    facts("aws/gp3", 0.002, 1),
    facts("aws/io1", 0.002, 16),
    facts("aws/io2", 0.000_01, 16),
    facts("aws/sc1", 0.002, 1),
    facts("aws/st1", 0.002, 1),
    facts("azure/premium-ssd", 1e-11, 3),
    facts("azure/premium-ssd-v2", 1e-11, 15),
    facts("azure/standard-hdd", 1e-11, 1),
    facts("azure/standard-ssd", 1e-11, 3),
    facts("azure/ultra", 1e-11, 15),
    facts("gcp/hyperdisk-balanced", 1e-5, 8),
    facts("gcp/hyperdisk-balanced-ha", 1e-6, 8),
    facts("gcp/hyperdisk-extreme", 1e-6, 1),
    facts("gcp/hyperdisk-throughput", 1e-5, 1),
    facts("gcp/pd-balanced", 1e-5, 1),
    facts("gcp/pd-ssd", 1e-5, 1),
    facts("gcp/pd-standard", 1e-4, 1),
    facts("oci/block-volume", 1e-4, 32),
];

fn of(product: &str) -> Option<&'static Facts> {
    FACTS.iter().find(|facts| facts.product == product)
}

/// Machines that can attach a product at the same time for reading and writing; `None` if that is unknown.
pub(super) fn shared_by(product: &str) -> Option<u32> {
    of(product).map(|facts| facts.machines)
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

/// Probability of losing the data of an offer in a year: of a stripe, the loss of any of its members.
pub(super) fn yearly_loss(offer: &Offer) -> Option<f64> {
    let kept = 1.0 - of(offer.product().name())?.failures;
    Some(1.0 - libm::pow(kept, f64::from(members(offer))))
}

/// Volumes of an offer.
pub(super) fn members(offer: &Offer) -> u32 {
    offer.config.wraps.iter().map(Wrap::members).product()
}

/// Columns of machine tables with the number of volumes that can be attached, and with the bandwidth of the network
/// interface in Gbit/s.
const VOLUMES_MAX: [&str; 3] = ["max_ebs_attachments", "attachments_pv", "max_disks"];
const NETWORK_GBPS: [&str; 2] = ["network_gbps", "max_gbps"];

/// Volumes that the machine of an offer can attach; `None` if its table does not have the number.
pub(super) fn volumes_max(attached: &Offer) -> Option<u32> {
    VOLUMES_MAX.iter().find_map(|name| attached.machine_figure(name)).map(|max| max as u32)
}

/// Bandwidth of the network interface of the machine of an offer in Gbit/s; `None` if its table does not have it.
pub(super) fn network_gbps(attached: &Offer) -> Option<f64> {
    NETWORK_GBPS.iter().find_map(|name| attached.machine_figure(name))
}
