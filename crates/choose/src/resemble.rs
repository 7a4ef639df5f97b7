//! Products whose curves are nearest to a measured curve.

use plimsoll_catalogue::{Catalogue, Config, Part, PriceTerms, Product, ProductKind, Setting};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_model::analytic::{Offered, solve};
use plimsoll_record::Curve;
use plimsoll_units::Bytes;

use crate::need::workload_of;

/// Number of compared depths, spread over the curve.
const DEPTHS: usize = 4;

/// A product with the distance of its curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Resemblance {
    pub config: Config,
    /// Typical ratio of modelled and measured throughput at equal depth; 1 for equality.
    pub factor: f64,
    /// Depth, measured and modelled operations per second.
    pub points: Vec<(u32, f64, f64)>,
}

/// The products nearest to a curve's closed loads, the nearest first; none without closed loads.
pub fn resembling(
    catalogue: &Catalogue,
    curve: &Curve,
    capacity: Bytes,
    terms: &PriceTerms,
    max: usize,
) -> Vec<Resemblance> {
    let closed = curve.runs.iter().filter_map(|run| match run.offered {
        Pace::Closed { depth } => Some((depth, run.figures.iops.value)),
        Pace::Open { .. } => None,
    });
    let measured = spread(&closed.collect::<Vec<_>>());
    if measured.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<Resemblance> = Vec::new();
    // A measured device is not the storage of a managed database.
    let measurable = |product: &&Product| !matches!(product.kind(), ProductKind::Machine | ProductKind::Managed);
    for product in catalogue.products().filter(measurable) {
        let mut volume = Part { product: product.name().into(), settings: Vec::new() };
        let size = product
            .smallest_size(capacity)
            .map(|size| Setting::Option { name: "size".into(), value: format!("{size}") });
        volume.settings.extend(size);
        let config = Config { wraps: Vec::new(), volume, machine: None };
        near.extend(compared(catalogue, &config, terms, &curve.conditions.streams, &measured));
    }
    near.sort_by(|a, b| a.factor.total_cmp(&b.factor));
    near.truncate(max);
    near
}

fn spread(points: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let last = points.len().saturating_sub(1);
    let mut picked: Vec<(u32, f64)> =
        (0..DEPTHS).filter_map(|i| points.get(i * last / (DEPTHS - 1)).copied()).collect();
    picked.dedup();
    picked
}

fn compared(
    catalogue: &Catalogue,
    config: &Config,
    terms: &PriceTerms,
    streams: &[StreamSpec],
    measured: &[(u32, f64)],
) -> Option<Resemblance> {
    let offer = catalogue.offer(config, terms).ok()?;
    let model = offer.model().ok()?;
    let workload = workload_of(streams.first()?);
    let (mut points, mut squares) = (Vec::new(), 0.0);
    for &(depth, iops) in measured {
        let modelled = solve(&model, &workload, Offered::Closed { depth }).iops;
        let ratio: f64 = (modelled / iops).ln();
        squares += ratio * ratio;
        points.push((depth, iops, modelled));
    }
    let factor = (squares / points.len() as f64).sqrt().exp();
    factor.is_finite().then_some(Resemblance { config: offer.short(), factor, points })
}
