//! What all forms share: an offer, its sources, limits, money and prices.

use plimsoll_catalogue::{Ask, Bound, Charge, Cite, Counts, Doubt, Durability, Money, Offer, Often, Price, Standing};
use plimsoll_units::Bytes;
use serde_json::{Value, json};

use super::number;

/// Configuration, title, capacity, what it needs of a machine, and doubts.
pub(super) fn offer(offer: &Offer) -> Value {
    json!({
        "configuration": offer.config.to_string(),
        "title": &*offer.title,
        "capacity_bytes": offer.capacity.get(),
        "needs": offer.needs().iter().map(|need| &**need).collect::<Vec<&str>>(),
        "doubts": offer.doubts().iter().map(doubt).collect::<Vec<_>>(),
        "durability": offer.durability().as_ref().map(durability),
        "sharing": offer.sharing().map(|sharing| json!({
            "hosts": sharing.hosts,
            "mode": sharing.mode.name(),
            "source": source(&sharing.cite),
        })),
        "snapshots": offer.snapshot_price().map(|snapshot| json!({
            "each": money(snapshot.each),
            "per": &*snapshot.per,
            "source": source(&snapshot.cite),
        })),
        "machine": offer.machine_shape().map(|shape| json!({
            "name": &*shape.name,
            "vcpus": shape.vcpus.map(number),
            "memory_bytes": shape.memory.map(Bytes::get),
            "network_bits_per_second": shape.network_bits_per_second.map(number),
            "volumes": shape.volumes,
        })),
    })
}

/// The annual failure rate.
pub(super) fn durability(durability: &Durability) -> Value {
    json!({
        "failure_rate_low": number(durability.failure_rate_low),
        "failure_rate_high": number(durability.failure_rate_high),
        "source": source(&durability.cite),
    })
}

fn doubt(doubt: &Doubt) -> Value {
    json!({ "text": doubt.text, "source": doubt.cite.as_deref().map(source) })
}

/// The document behind a figure.
pub(super) fn source(cite: &Cite) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "title": cite.title,
        "url": some(&cite.url),
        "date": cite.date,
        "status": cite.status.name(),
        "note": some(&cite.note),
    })
}

/// What was asked of ceilings.
pub(super) fn ask(ask: &Ask) -> Value {
    json!({ "block_bytes": ask.block.get(), "reads_share": number(ask.reads), "sequential": ask.sequential })
}

/// Every limit for this load, lowest first, and the burst.
pub(super) fn standing(offer: &Offer, standing: &Standing) -> Value {
    let burst = standing.peak.map(|peak| {
        json!({
            "iops": number(peak.bound.iops),
            "bytes_per_second": number(peak.bound.bytes_per_second),
            "limit": &*offer.ceilings[peak.bound.ceiling].name,
            "credits_of": &*offer.ceilings[peak.credits_of].name,
            "lasts_s": number(peak.seconds),
        })
    });
    json!({
        "sustained_iops": standing.binding().map(|bound| number(bound.iops)),
        "sustained_bytes_per_second": standing.binding().map(|bound| number(bound.bytes_per_second)),
        "burst": burst,
        "limits": standing.bounds.iter().map(|one| bound(offer, one)).collect::<Vec<_>>(),
    })
}

fn bound(offer: &Offer, bound: &Bound) -> Value {
    let ceiling = &offer.ceilings[bound.ceiling];
    json!({
        "name": &*ceiling.name,
        "scope": ceiling.scope.name(),
        "counts": match bound.counts {
            Counts::Operations => "operations",
            Counts::Bytes => "bytes",
        },
        "iops": number(bound.iops),
        "bytes_per_second": number(bound.bytes_per_second),
        "given_iops": ceiling.iops.map(number),
        "given_bytes_per_second": ceiling.bytes_per_second.map(number),
        "source": source(&ceiling.cite),
    })
}

/// A sum, exactly.
pub(super) fn money(sum: Money) -> Value {
    json!({ "amount": sum.exact(), "currency": sum.currency.code() })
}

/// A price with its parts.
pub(super) fn price(price: &Price) -> Value {
    json!({
        "monthly": money(price.monthly),
        "once": price.once.map(money),
        "parts": price.parts.iter().map(part).collect::<Vec<_>>(),
        "region": price.region.as_deref(),
        "taxes": (!price.taxes.is_empty()).then(|| price.taxes.to_string()),
        "without": price.without,
        "age_days": price.age_days(),
        "source": source(&price.cite),
    })
}

fn part(part: &Charge) -> Value {
    json!({
        "name": &*part.name,
        "per": &*part.per,
        "quantity": number(part.quantity),
        "cost": money(part.money),
        "paid": match part.often {
            Often::Monthly => "monthly",
            Often::Once => "once",
        },
    })
}

/// The members of several objects as one.
pub(super) fn merged(objects: impl IntoIterator<Item = Value>) -> Value {
    let members = objects.into_iter().flat_map(|object| match object {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    });
    Value::Object(members.collect())
}
