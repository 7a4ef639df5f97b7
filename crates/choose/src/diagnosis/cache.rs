//! Effect of other sizes of the buffer cache: reads, and the waits for them.

use plimsoll_ingest::{Account, CacheCurve, is_through_cache};

use super::split::all_s;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheStep {
    /// The size relative to the present size.
    pub factor: f64,
    /// The total size in bytes, over all instances.
    pub bytes: f64,
    /// Reads of storage relative to those at the present size.
    pub reads: f64,
    /// Saved seconds of waits; negative if there are more.
    pub saved_s: f64,
    /// The saving as a share of the database's time.
    pub saved: f64,
}

/// Sizes to evaluate, relative to the present one; then the largest known size, up to [`LARGEST`].
const FACTORS: [f64; 4] = [0.5, 0.75, 1.25, 1.5];
const LARGEST: f64 = 2.0;

/// The effect of each size within the range of the estimates. `misses` are those of a trace by cache size in bytes;
/// without them the database's own estimates are used.
pub(crate) fn steps(account: &Account, misses: Option<&[(f64, f64)]>) -> Vec<CacheStep> {
    let spent = &account.total;
    let saves = spent.foreground().filter(|wait| is_through_cache(&wait.event));
    let waited_s: f64 = saves.map(|wait| wait.total_s).sum();
    let traced = misses.zip(account.cache_bytes).and_then(|(misses, bytes)| relative(misses, bytes));
    let default: Vec<&CacheCurve> = account.caches.iter().filter(|curve| is_default(&curve.pool)).collect();
    let present = account.cache_bytes.filter(|_| traced.is_some());
    let present = present.unwrap_or_else(|| default.iter().map(|curve| curve.size_bytes).sum());
    let Some(all_s) = all_s(spent).filter(|_| present > 0.0) else { return Vec::new() };
    let step = |factor: f64| {
        let reads = match &traced {
            Some(points) => interpolated(points, factor)?,
            None => together(&default, factor)?,
        };
        let saved_s = waited_s * (1.0 - reads);
        Some(CacheStep { factor, bytes: present * factor, reads, saved_s, saved: saved_s / all_s })
    };
    let ends = |points: &[(f64, f64)]| points.last().map_or(0.0, |(factor, _)| *factor);
    let existing = traced.as_ref().map_or_else(
        || default.iter().map(|curve| ends(&curve.points)).fold(LARGEST, f64::min),
        |points| ends(points).min(LARGEST),
    );
    let largest = Some(existing).filter(|existing| FACTORS.iter().all(|factor| existing > factor));
    FACTORS.into_iter().chain(largest).filter_map(step).collect()
}

/// The default pool: `D` in reports, `DEFAULT` in views.
fn is_default(pool: &str) -> bool {
    pool.is_empty() || pool.eq_ignore_ascii_case("D") || pool.eq_ignore_ascii_case("DEFAULT")
}

/// Sizes relative to the present size, and misses relative to the present misses.
fn relative(misses: &[(f64, f64)], bytes: f64) -> Option<Vec<(f64, f64)>> {
    let now = interpolated(misses, bytes).filter(|now| *now > 0.0)?;
    Some(misses.iter().map(|(size, ratio)| (size / bytes, ratio / now)).collect())
}

/// Reads of all instances at a cache size of this factor, relative to the present reads.
fn together(curves: &[&CacheCurve], factor: f64) -> Option<f64> {
    let (mut now, mut then) = (0.0, 0.0);
    for curve in curves {
        let present = interpolated(&curve.points, 1.0).filter(|present| *present > 0.0)?;
        now += curve.reads;
        then += curve.reads * interpolated(&curve.points, factor)? / present;
    }
    (now > 0.0).then(|| then / now)
}

/// Linear interpolation between ascending points; none outside of them. Values never increase with the size: an
/// estimate above its predecessor is replaced by it.
fn interpolated(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let mut before: Option<(f64, f64)> = None;
    for &(size, value) in points {
        let value = before.map_or(value, |(_, least)| value.min(least));
        match before {
            _ if (size - x).abs() <= 1e-9 * x => return Some(value),
            Some((earlier, least)) if size > x && earlier < x => {
                return Some(least + (value - least) * (x - earlier) / (size - earlier));
            }
            _ => before = Some((size, value)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::interpolated;

    #[test]
    fn estimates_are_interpolated_and_not_extrapolated() {
        let points = [(0.5, 2.0), (1.0, 1.0), (1.5, 1.2), (2.0, 0.5)];
        let table =
            [(0.4, None), (0.5, Some(2.0)), (0.75, Some(1.5)), (1.5, Some(1.0)), (1.75, Some(0.75)), (2.1, None)];
        for (x, expected) in table {
            assert_eq!(interpolated(&points, x), expected, "{x}");
        }
    }
}
