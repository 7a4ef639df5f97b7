//! Parts that several results share: an offer, its limits, and prices.

use std::sync::Arc;

use plimsoll_catalogue::{
    Bound, Charge, Cite, Commitment, Counts, Doubt, Durability, Money, Offer, Peak, Price, Scope, ServiceLevel,
    Sharing, SnapshotPrice, Standing,
};
use plimsoll_units::Bytes;

view! {
    /// A configuration, without its machine.
    #[schemars(rename = "Offer")]
    struct OfferView from offer: &Offer {
        /// The full configuration, with every option.
        configuration: String = offer.config.to_string(),
        /// Title of the product.
        title: Arc<str> = Arc::clone(&offer.title),
        /// Usable bytes of the whole configuration; zero for a machine.
        capacity_bytes: Bytes = offer.capacity,
        /// Requirements on the machine; empty if the configuration has a machine.
        needs: Vec<Arc<str>> = offer.needs(),
        /// Caveats of its figures.
        doubts: Vec<Doubt> = offer.doubts(),
        /// Annual failure rate; null if the vendor states none.
        durability: Option<Durability> = offer.durability(),
        /// Machines that can attach each volume at the same time; null if only one can, or the number is unknown.
        sharing: Option<Sharing> = offer.sharing(),
        /// Service levels; empty if the catalogue has none.
        service_levels: Vec<ServiceLevel> = offer.service_levels(),
        /// Price of stored snapshots; null if unknown.
        snapshots: Option<SnapshotPrice> = offer.snapshot_price(),
    }

    /// Limits of an offer for a load.
    #[schemars(rename = "Standing")]
    struct StandingView from (offer, standing): (&Offer, &Standing) {
        /// Operations per second that the lowest limit allows; null if no limit is known.
        sustained_iops: Option<f64> = standing.binding().map(|bound| bound.iops),
        /// The same in bytes per second.
        sustained_bytes_per_second: Option<f64> = standing.binding().map(|bound| bound.bytes_per_second),
        /// Higher rate while credits last; null if there is none.
        burst: Option<Burst> = standing.peak.as_ref().map(|peak| (offer, peak).into()),
        /// Sustained limits, lowest first.
        limits: Vec<LimitOfLoad> = standing.bounds.iter().map(|bound| (offer, bound).into()).collect(),
    }

    /// A higher rate while credits last.
    struct Burst from (offer, peak): (&Offer, &Peak) {
        /// Operations per second.
        iops: f64 = peak.bound.iops,
        /// Bytes per second.
        bytes_per_second: f64 = peak.bound.bytes_per_second,
        /// Name of the limit that binds while credits last.
        limit: Arc<str> = Arc::clone(&offer.ceilings[peak.bound.ceiling].name),
        /// Name of the limit whose credits end first.
        credits_of: Arc<str> = Arc::clone(&offer.ceilings[peak.credits_of].name),
        /// Duration in seconds, from full credits.
        lasts_s: f64 = peak.seconds,
    }

    /// A limit as it applies to a load.
    struct LimitOfLoad from (offer, bound): (&Offer, &Bound) {
        /// Name of the limit.
        name: Arc<str> = Arc::clone(&offer.ceilings[bound.ceiling].name),
        /// Location of the limit.
        scope: Scope = offer.ceilings[bound.ceiling].scope,
        /// Counted quantity.
        counts: Counts = bound.counts,
        /// Operations of the load per second.
        iops: f64 = bound.iops,
        /// Bytes of the load per second.
        bytes_per_second: f64 = bound.bytes_per_second,
        /// Operations per second as stated by the vendor; null if the limit does not count operations.
        given_iops: Option<f64> = offer.ceilings[bound.ceiling].iops,
        /// Bytes per second as stated by the vendor; null if the limit does not count bytes.
        given_bytes_per_second: Option<f64> = offer.ceilings[bound.ceiling].bytes_per_second,
        /// Source of the limit.
        source: Arc<Cite> = Arc::clone(&offer.ceilings[bound.ceiling].cite),
    }

    /// A list price.
    #[schemars(rename = "Price")]
    struct PriceView from price: &Price {
        /// Cost of a month.
        monthly: Money = price.monthly,
        /// One-time cost; null if there is none.
        once: Option<Money> = price.once,
        /// Components.
        parts: Vec<Charge> = price.parts.clone(),
        /// Region of the vendor; null for worldwide prices.
        region: Option<Arc<str>> = price.region.clone(),
        /// Statement of the price list about taxes; null if there is none.
        taxes: Option<Arc<str>> = Some(Arc::clone(&price.taxes)).filter(|taxes| !taxes.is_empty()),
        /// Parts of the configuration that the price does not include.
        without: Vec<String> = price.without.clone(),
        /// Commitment of the price.
        commitment: Commitment = price.commitment,
        /// Machines whose price is on demand, because none is known for the commitment.
        uncommitted: Vec<Arc<str>> = price.uncommitted.clone(),
        /// Age of the oldest source in days; null if a source is undated, and for earlier terms.
        age_days: Option<i64> = price.age_days(),
        /// Source of the price list.
        source: Arc<Cite> = Arc::clone(&price.cite),
    }
}
