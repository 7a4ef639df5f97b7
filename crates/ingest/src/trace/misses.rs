//! The miss-ratio curve of an LRU cache for every size, from a single pass over a trace (Mattson et al. 1970). Pages
//! are sampled by a hash of their address, with a rate that falls as their number grows, so that time and memory are
//! bounded (SHARDS: Waldspurger et al. 2015, with its correction of the shortest distances).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use plimsoll_units::splitmix64;

/// Bytes of a page of the cache.
pub(super) const PAGE: u64 = 4096;
/// Maximum sampled pages.
const MAX_PAGES: usize = 16 << 10;
/// Number of pages from which the sample may shrink to save time.
const ENOUGH: usize = MAX_PAGES / 2;
/// Sampled accesses before that.
const MANY: u64 = 1 << 20;
/// Positions in the order of use before renumbering.
const POSITIONS: usize = 4 * MAX_PAGES;
/// Bytes of an operation above which caches are bypassed.
const MAX_OPERATION: u64 = 16 << 20;
/// Steps of an octave on the axis of sizes.
const STEPS: u64 = 8;
/// All sizes of 64 bits.
const BUCKETS: usize = 64 * STEPS as usize;

#[derive(Clone, Copy)]
struct PageHistory {
    position: u32,
    bytes: u32,
}

/// A hasher for keys that are hashes.
#[derive(Clone, Copy, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        // Sampled hashes begin with zeros: use their last bits.
        self.0 = hash.rotate_left(32);
    }
}

/// Tracks accesses to pages.
pub(super) struct Misses {
    observed: HashMap<u64, PageHistory, BuildHasherDefault<Identity>>,
    /// Bytes of pages by position in the order of use, as sums (Fenwick 1994).
    order: Vec<u64>,
    next: usize,
    /// Hashes up to this value are sampled.
    limit: u64,
    /// Sampled accesses since the limit was lowered.
    followed: u64,
    /// Reads, exact and as estimated by the sample.
    reads: f64,
    estimated: f64,
    /// Reads that hit in a cache of more than this many bytes.
    hits: Vec<f64>,
    /// First reads of pages.
    cold: f64,
    /// Bytes of all pages.
    distinct: f64,
    passed: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct DerivedCurve {
    pub(super) reads: f64,
    pub(super) distinct_bytes: f64,
    pub(super) sampled: f64,
    /// Bytes of a cache, and its miss ratio of reads.
    pub(super) points: Vec<(f64, f64)>,
    /// Operations that bypass caches because of their size.
    pub(super) passed: u64,
}

impl Default for Misses {
    fn default() -> Self {
        Self {
            observed: HashMap::default(),
            order: vec![0; POSITIONS + 1],
            next: 0,
            limit: u64::MAX,
            followed: 0,
            reads: 0.0,
            estimated: 0.0,
            hits: vec![0.0; BUCKETS],
            cold: 0.0,
            distinct: 0.0,
            passed: 0,
        }
    }
}

impl Misses {
    /// Adds an operation on addresses.
    pub(super) fn operation(&mut self, volume: u32, place: u64, length: u64, is_read: bool) {
        if length > MAX_OPERATION {
            self.passed += 1;
            return;
        }
        if length == 0 {
            return;
        }
        let (first, last) = (place / PAGE, (place.saturating_add(length) - 1) / PAGE);
        if is_read {
            self.reads += (last - first + 1) as f64;
        }
        let volume = u64::from(volume) << 48;
        for page in first..=last {
            self.sample(splitmix64(page ^ volume), PAGE as u32, is_read);
        }
    }

    /// Adds a request for an object, which is cached as a whole.
    pub(super) fn object(&mut self, object: u64, bytes: u64) {
        self.reads += 1.0;
        self.sample(splitmix64(object), u32::try_from(bytes).unwrap_or(u32::MAX), true);
    }

    /// The curve; none without requests.
    pub(super) fn finish(&self) -> Option<DerivedCurve> {
        let &Self { reads, distinct: distinct_bytes, passed, .. } = self;
        let curve = || DerivedCurve { reads, distinct_bytes, sampled: self.share(), points: self.points(), passed };
        (distinct_bytes != 0.0).then(curve)
    }

    /// The sampled share of pages.
    fn share(&self) -> f64 {
        (self.limit as f64 + 1.0) / (u64::MAX as f64 + 1.0)
    }

    #[inline]
    fn sample(&mut self, hash: u64, bytes: u32, is_read: bool) {
        if hash <= self.limit {
            self.follow(hash, bytes, is_read);
        }
    }

    fn follow(&mut self, hash: u64, bytes: u32, is_read: bool) {
        let weight = 1.0 / self.share();
        if self.next == POSITIONS {
            self.renumber();
        }
        let position = self.next as u32;
        self.next += 1;
        let before = self.observed.insert(hash, PageHistory { position, bytes });
        if let Some(before) = before {
            // All pages used after it, and the page itself.
            let distance = self.total() - self.sum(before.position as usize) + u64::from(bytes);
            self.add(before.position as usize, u64::from(before.bytes).wrapping_neg());
            if is_read {
                // Only a sample of the other pages is known, but the page itself fully.
                let others = (distance - u64::from(bytes)) as f64 * weight;
                self.hits[bucket(others as u64 + u64::from(bytes))] += weight;
            }
        } else {
            self.distinct += f64::from(bytes) * weight;
            self.cold += if is_read { weight } else { 0.0 };
        }
        self.add(position as usize, u64::from(bytes));
        self.estimated += if is_read { weight } else { 0.0 };
        self.followed += 1;
        if self.observed.len() > MAX_PAGES || (self.followed > MANY && self.observed.len() > ENOUGH) {
            self.halve();
        }
    }

    /// Halves the sampling rate.
    fn halve(&mut self) {
        self.limit /= 2;
        self.followed = 0;
        let limit = self.limit;
        self.observed.retain(|hash, _| *hash <= limit);
        self.renumber();
    }

    /// Renumbers the order of use without gaps.
    fn renumber(&mut self) {
        let mut pages: Vec<&mut PageHistory> = self.observed.values_mut().collect();
        pages.sort_unstable_by_key(|observed| observed.position);
        self.order.fill(0);
        for (position, observed) in pages.into_iter().enumerate() {
            observed.position = position as u32;
            self.order[position + 1] = u64::from(observed.bytes);
        }
        for at in 1..=POSITIONS {
            let above = at + (at & at.wrapping_neg());
            if above <= POSITIONS {
                self.order[above] = self.order[above].wrapping_add(self.order[at]);
            }
        }
        self.next = self.observed.len();
    }

    fn add(&mut self, position: usize, bytes: u64) {
        let mut at = position + 1;
        while at <= POSITIONS {
            self.order[at] = self.order[at].wrapping_add(bytes);
            at += at & at.wrapping_neg();
        }
    }

    /// Total bytes of the pages up to a position.
    fn sum(&self, position: usize) -> u64 {
        let mut at = position + 1;
        let mut sum: u64 = 0;
        while at > 0 {
            sum = sum.wrapping_add(self.order[at]);
            at &= at - 1;
        }
        sum
    }

    fn total(&self) -> u64 {
        self.order[POSITIONS]
    }

    fn points(&self) -> Vec<(f64, f64)> {
        if self.reads == 0.0 || self.estimated == 0.0 {
            return Vec::new();
        }
        // The sampling error is attributed to frequently used pages.
        let mut missing = self.reads;
        let mut correction = self.reads - self.estimated;
        let mut points = vec![(0.0, 1.0)];
        for (number, hits) in self.hits.iter().enumerate().filter(|(_, hits)| **hits > 0.0) {
            let hits = hits + correction;
            // An excess above the first step is subtracted from the next.
            correction = hits.min(0.0);
            if hits > 0.0 {
                missing -= hits;
                points.push((upper(number), (missing / self.reads).clamp(0.0, 1.0)));
            }
        }
        points
    }
}

/// The bucket of a size: eight steps per octave.
fn bucket(bytes: u64) -> usize {
    let bytes = bytes.max(STEPS);
    let octave = u64::from(bytes.ilog2());
    (octave * STEPS + (bytes >> (octave - STEPS.ilog2() as u64)) - STEPS) as usize
}

/// The size at which a cache includes a whole bucket.
fn upper(bucket: usize) -> f64 {
    let (octave, step) = (bucket as u64 / STEPS, bucket as u64 % STEPS);
    // A size equal to a step is the lowest of its bucket, because pages are included as a whole.
    ((1_u64 << octave) as f64) * (1.0 + (step + 1) as f64 / STEPS as f64)
}

#[cfg(test)]
mod tests {
    use super::{DerivedCurve, Misses, PAGE, bucket, upper};

    /// The simulated miss ratio of a cache of this many pages.
    fn retain(pages: &[u64], room: usize) -> f64 {
        let mut cache: Vec<u64> = Vec::new();
        let mut missed = 0_u32;
        for page in pages {
            match cache.iter().position(|retained| retained == page) {
                Some(at) => {
                    cache.remove(at);
                }
                None => missed += 1,
            }
            cache.push(*page);
            if cache.len() > room {
                cache.remove(0);
            }
        }
        f64::from(missed) / pages.len() as f64
    }

    fn curve(pages: &[u64]) -> DerivedCurve {
        let mut misses = Misses::default();
        for page in pages {
            misses.operation(0, page * PAGE, PAGE, true);
        }
        misses.finish().unwrap()
    }

    fn at(curve: &DerivedCurve, bytes: f64) -> f64 {
        curve.points.iter().rev().find(|(size, _)| *size <= bytes).map_or(1.0, |(_, ratio)| *ratio)
    }

    /// Pages with a skewed distribution, reproducible across machines.
    fn skewed(count: usize, pages: u64) -> Vec<u64> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        (0..count).map(|_| (next() % pages).min(next() % pages).min(next() % pages)).collect()
    }

    #[test]
    fn buckets_contain_sizes_below_their_ends() {
        for bytes in (8..100_000).chain([u64::MAX / 2, u64::MAX]) {
            let number = bucket(bytes);
            assert!(upper(number) >= bytes as f64 && upper(number) <= 1.13 * bytes as f64, "{bytes}");
        }
    }

    #[test]
    fn an_unsampled_curve_agrees_with_simulated_caches() {
        let pages = skewed(20_000, 1_000);
        let curve = curve(&pages);
        assert_eq!(Some(curve.sampled), Some(1.0));
        for room in [16, 64, 128, 512, 1_024] {
            let (expected, found) = (retain(&pages, room), at(&curve, room as f64 * PAGE as f64));
            // A step of the axis is an eighth of an octave.
            let wider = retain(&pages, room + room / 8);
            assert!(
                found <= retain(&pages, room - room / 8) + 1e-9 && found >= wider - 1e-9,
                "{room}: {expected} {found}"
            );
        }
        let distinct = pages.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(Some(curve.distinct_bytes), Some((distinct as u64 * PAGE) as f64));
    }

    #[test]
    fn a_loop_fits_or_does_not() {
        let pages: Vec<u64> = (0..10).flat_map(|_| 0..100).collect();
        let curve = curve(&pages);
        assert_eq!((at(&curve, 99.0 * PAGE as f64), at(&curve, 113.0 * PAGE as f64)), (1.0, 0.1));
    }

    #[test]
    fn a_sampled_curve_is_nearly_equal() {
        let few = curve(&skewed(60_000, 1_500));
        let pages = skewed(6_000_000, 150_000);
        let many = curve(&pages);
        assert!(many.sampled < 0.2, "{}", many.sampled);
        // A hundred times the pages and reads: the same shape at a hundred times the size.
        for pages in [50.0, 150.0, 400.0, 900.0] {
            let (small, large) = (at(&few, pages * 4096.0), at(&many, pages * 409_600.0));
            assert!((small - large).abs() < 0.05, "{pages}: {small} {large}");
        }
        let distinct = pages.into_iter().collect::<std::collections::BTreeSet<_>>().len();
        let found = many.distinct_bytes / (distinct as u64 * PAGE) as f64;
        assert!((found - 1.0).abs() < 0.02, "{found}");
    }

    #[test]
    fn writes_fill_the_cache_and_are_not_counted() {
        let mut misses = Misses::default();
        for page in 0..10 {
            misses.operation(1, page * PAGE, PAGE, false);
        }
        assert_eq!(misses.finish().unwrap().points, []);
        for page in 0..10 {
            misses.operation(1, page * PAGE, PAGE, true);
            misses.operation(2, page * PAGE, PAGE, true);
        }
        let curve = misses.finish().unwrap();
        assert_eq!((curve.reads, curve.points.last().unwrap().1), (20.0, 0.5), "volumes are separate");
        misses.operation(1, 0, 1 << 30, true);
        assert_eq!(misses.finish().unwrap().passed, 1);
    }
}
