//! Integer sequences as table expressions, with which a server fills its tables.

use plimsoll_database::System;

/// A table expression with a column `n` of the numbers from `from` to `to`, inclusive; at most a million if the system
/// has no generator. `None` if the system is not supported.
pub(super) fn numbers(system: System, from: u64, to: u64) -> Option<String> {
    match system {
        System::Postgres => Some(format!("generate_series({from}, {to}) AS numbers(n)")),
        System::Sqlite => Some(format!(
            "(WITH RECURSIVE upward(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM upward WHERE n < {to}) \
             SELECT n FROM upward) AS numbers"
        )),
        System::Mysql => Some(digits(from, to)),
        System::Oracle => None,
    }
}

/// All combinations of the required number of decimal digits.
fn digits(from: u64, to: u64) -> String {
    let count = (to + 1).saturating_sub(from);
    let places = count.saturating_sub(1).checked_ilog10().map_or(1, |log| log + 1);
    let ten = "SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 \
               UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9";
    let tables: Vec<String> = (0..places).map(|place| format!("({ten}) AS p{place}")).collect();
    let terms: Vec<String> = (0..places).map(|place| format!("{} * p{place}.d", 10_u64.pow(place))).collect();
    let sum = terms.join(" + ");
    format!("(SELECT {from} + {sum} AS n FROM {} WHERE {sum} < {count}) AS numbers", tables.join(" CROSS JOIN "))
}

/// Splits 1 to `count` into inclusive ranges of at most `size`.
pub(super) fn parts(count: u64, size: u64) -> Vec<(u64, u64)> {
    let size = size.max(1);
    (0..count.div_ceil(size)).map(|part| (part * size + 1, ((part + 1) * size).min(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_numbers_once() {
        assert_eq!(parts(0, 10), vec![]);
        assert_eq!(parts(10, 10), vec![(1, 10)]);
        assert_eq!(parts(25, 10), vec![(1, 10), (11, 20), (21, 25)]);
    }

    #[test]
    fn digit_table_has_minimal_digits() {
        for (from, to, places) in [(1, 1, 1), (1, 10, 1), (1, 11, 2), (5, 104, 2), (5, 105, 3), (1, 10_000, 4)] {
            let sql = numbers(System::Mysql, from, to).expect("MySQL");
            assert_eq!(sql.matches("SELECT 0 AS d").count(), places, "{from} to {to}");
            assert!(sql.contains(&format!("< {}", to - from + 1)), "{sql}");
        }
        assert_eq!(numbers(System::Oracle, 1, 2), None);
    }
}
