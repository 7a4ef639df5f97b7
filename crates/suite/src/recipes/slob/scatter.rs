//! Keys at random places: a bijection between places and keys that servers can compute in SQL.
//!
//! Rounds of an odd multiplier and a fold of the upper bits onto the lower bits, over the smallest power of two that
//! holds all keys. Each round is invertible, so that keys are unique; places whose number exceeds the last key stay
//! empty.

use plimsoll_database::System;

const ROUNDS: usize = 3;

/// Permutation of the keys of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scatter {
    bits: u32,
    rows: u64,
    /// Multiplier and addend of each round.
    rounds: [(u64, u64); ROUNDS],
}

impl Scatter {
    /// Creates the permutation of keys 1 to `rows`, at most 2^31.
    pub(super) fn new(rows: u64, seed: u64, schema: u32) -> Self {
        let bits = rows.max(2).next_power_of_two().ilog2();
        let mut random = fastrand::Rng::with_seed(seed ^ u64::from(schema).rotate_left(32));
        let mask = (1 << bits) - 1;
        let rounds = std::array::from_fn(|_| ((random.u64(..) & mask) | 1, random.u64(..) & mask));
        Self { bits, rows, rounds }
    }

    /// Number of places, including empty places.
    pub(super) const fn places(&self) -> u64 {
        1 << self.bits
    }

    const fn fold(&self) -> u32 {
        self.bits.div_ceil(2)
    }

    /// SQL subquery named `s`: column `x` of the table `numbers`, and as `k` the key at place `place` (an expression of
    /// `x`), without empty places.
    pub(super) fn sql(&self, system: System, numbers: &str, place: &str) -> String {
        let (mask, fold) = (self.places() - 1, self.fold());
        let mut inner = format!("SELECT x, {place} AS y FROM {numbers}");
        for (number, (multiplier, summand)) in self.rounds.iter().enumerate() {
            let spread = match system {
                System::Oracle => format!("BITAND(y * {multiplier} + {summand}, {mask})"),
                _ => format!("((y * {multiplier} + {summand}) & {mask})"),
            };
            inner = format!("SELECT x, {spread} AS y FROM ({inner}) a{number}");
            inner = format!("SELECT x, {} AS y FROM ({inner}) b{number}", folded(system, fold));
        }
        format!("(SELECT x, y + 1 AS k FROM ({inner}) f WHERE y < {}) s", self.rows)
    }

    /// Key at a place; `None` if empty.
    #[cfg(test)]
    fn key(&self, place: u64) -> Option<u64> {
        let mask = self.places() - 1;
        let key = self.rounds.iter().fold(place, |y, (multiplier, summand)| {
            let spread = (y * multiplier + summand) & mask;
            spread ^ (spread >> self.fold())
        });
        (key < self.rows).then_some(key + 1)
    }
}

fn folded(system: System, fold: u32) -> String {
    match system {
        System::Postgres => format!("(y # (y >> {fold}))"),
        System::Mysql => format!("(y ^ (y >> {fold}))"),
        System::Sqlite => format!("((y | (y >> {fold})) - (y & (y >> {fold})))"),
        System::Oracle => {
            let high = format!("TRUNC(y / {})", 1_u64 << fold);
            format!("(y + {high} - 2 * BITAND(y, {high}))")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn scatter_is_a_bijection((rows, seed, schema) in (2..5_000_u64, 0..1_000_u64, 1..9_u32)) {
            let scatter = Scatter::new(rows, seed, schema);
            let mut keys: Vec<u64> = (0..scatter.places()).filter_map(|place| scatter.key(place)).collect();
            keys.sort_unstable();
            proptest::prop_assert_eq!(keys, (1..=rows).collect::<Vec<_>>());
        }
    }

    #[test]
    fn neighbouring_keys_have_irregular_distances() {
        let rows = 8192;
        let scatter = Scatter::new(rows, 1, 1);
        let mut places = vec![0_i64; rows as usize + 1];
        (0..scatter.places()).for_each(|place| {
            if let Some(key) = scatter.key(place) {
                places[key as usize] = place.cast_signed();
            }
        });
        let steps: Vec<i64> = places[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
        let near = steps.iter().filter(|step| step.abs() < 16).count();
        assert!(near < steps.len() / 50, "{near} of {} are neighbours on storage too", steps.len());
        let mut kinds = steps.clone();
        kinds.sort_unstable();
        kinds.dedup();
        // A prefetcher would detect a few strides.
        assert!(kinds.len() > steps.len() / 4, "{} different steps", kinds.len());
        assert_ne!(Scatter::new(rows, 1, 1), Scatter::new(rows, 1, 2));
        assert_ne!(Scatter::new(rows, 1, 1), Scatter::new(rows, 2, 1));
    }

    #[test]
    fn sql_computes_the_same_keys() {
        let file = std::env::temp_dir().join(format!("plimsoll-scatter-{}.db", std::process::id()));
        std::fs::File::create(&file).unwrap();
        let database = plimsoll_database::connect(&plimsoll_database::DatabaseAddress::sqlite(file.clone())).unwrap();
        let scatter = Scatter::new(700, 3, 2);
        let numbers =
            "(WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 1023) SELECT x FROM n) n";
        let sql = format!("SELECT x, k FROM {} ORDER BY x", scatter.sql(System::Sqlite, numbers, "x"));
        let rows = database.session().unwrap().rows(&sql);
        std::fs::remove_file(file).unwrap();
        let expected = (0..1024).filter_map(|place| Some((place, scatter.key(place)?)));
        let number = |row: &[plimsoll_database::Value], column: usize| row[column].int().unwrap().cast_unsigned();
        let told: Vec<(u64, u64)> = rows.unwrap().iter().map(|row| (number(row, 0), number(row, 1))).collect();
        assert_eq!(told, expected.collect::<Vec<_>>());
    }
}
