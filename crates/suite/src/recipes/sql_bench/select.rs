//! Test select: a table of 10,000 rows with three unique keys, queried repeatedly.

use std::collections::BTreeSet;

use super::section::{BenchSection, SectionPlan, ask, query};

const ROWS: u64 = 10_000;
/// Regions, named by letters.
const REGIONS: u64 = 26;
/// Groups per region.
const GROUPS: u64 = 33;
const COLUMNS: &str = "region, idn, rev_idn, grp";

const fn region(row: u64) -> char {
    (b'A' + (row % REGIONS) as u8) as char
}

const fn group(row: u64) -> u64 {
    row / REGIONS % GROUPS
}

fn row(number: u64, rows: u64) -> String {
    format!("'{}', {number}, {}, {}", region(number), rows - 1 - number, group(number))
}

pub(super) fn build_sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let (int, rows) = (plan.dialect.int(), plan.rows(ROWS));
    let create = format!(
        "CREATE TABLE regions (region CHAR(1) NOT NULL, idn {int} NOT NULL, rev_idn {int} NOT NULL, grp {int} NOT NULL, \
         PRIMARY KEY (region, idn), UNIQUE (region, rev_idn), UNIQUE (region, grp, idn))"
    );
    let alone = plan.times(ROWS).min(rows);
    let insert = move |index: u64| ask(format!("INSERT INTO regions ({COLUMNS}) VALUES ({})", row(index, rows)));
    let mut sections = vec![
        BenchSection::preparation("create_table", vec![create]),
        BenchSection::counted("insert", ROWS, alone, insert),
        BenchSection::rest("remaining_rows", "insert", rows, insert),
    ];
    sections.extend(queries(plan, rows));
    sections.extend(counts(plan, rows));
    sections.push(BenchSection::preparation("drop_table", vec!["DROP TABLE regions".into()]));
    sections
}

fn queries(plan: &SectionPlan, rows: u64) -> Vec<BenchSection> {
    // Whole tables: unordered, ordered by each key, and ordered without a key.
    let orders =
        ["", "region, idn", "region, rev_idn", "region, grp, idn", "idn DESC", "grp, region, idn", "rev_idn, grp"];
    let range = 20.min(rows);
    vec![
        BenchSection::repeated(plan, "select_cache", 10_000, |_| {
            query("SELECT SUM(rev_idn - grp) FROM regions".into(), 1)
        }),
        BenchSection::repeated(plan, "select_cache2", 10_000, |index| {
            query(format!("SELECT SUM(rev_idn - grp + {index}) FROM regions"), 1)
        }),
        BenchSection::repeated(plan, "select_big", 70, move |index| {
            let order = orders[(index % 7) as usize];
            let by = if order.is_empty() { "" } else { " ORDER BY " };
            query(format!("SELECT region, idn, rev_idn, grp FROM regions{by}{order}"), rows)
        }),
        BenchSection::repeated(plan, "select_range", 410, move |index| {
            let from = index * 37 % (rows - range + 1);
            let sql = format!("SELECT idn, grp FROM regions WHERE idn BETWEEN {from} AND {}", from + range - 1);
            query(sql, range)
        }),
        BenchSection::repeated(plan, "min_max_on_key", 70_000, |index| {
            let what = ["MIN(idn)", "MAX(idn)", "MIN(rev_idn)", "MAX(rev_idn)"][(index % 4) as usize];
            query(format!("SELECT {what} FROM regions WHERE region = '{}'", region(index / 4)), 1)
        }),
        BenchSection::repeated(plan, "count_on_key", 50_000, |index| {
            let (letter, from) = (region(index), index * 26 % 9000);
            let condition = format!("region = '{letter}' AND idn >= {from} AND idn < {}", from + 520);
            query(format!("SELECT COUNT(*) FROM regions WHERE {condition}"), 1)
        }),
    ]
}

fn counts(plan: &SectionPlan, rows: u64) -> Vec<BenchSection> {
    let regions = rows.min(REGIONS);
    let groups = (0..rows).map(group).collect::<BTreeSet<_>>().len() as u64;
    // Groups of each non-empty region.
    let inside =
        |letter: u64| (0..rows).filter(|row| row % REGIONS == letter).map(group).collect::<BTreeSet<_>>().len();
    let inside: Vec<u64> = (0..regions).map(|letter| inside(letter) as u64).collect();
    let fixed = |name, full, sql: &'static str, rows| {
        BenchSection::repeated(plan, name, full, move |_| query(sql.into(), rows))
    };
    vec![
        BenchSection::repeated(plan, "count_group_on_key_parts", 1000, move |index| {
            let letter = index % regions;
            let sql =
                format!("SELECT grp, COUNT(*) FROM regions WHERE region = '{}' GROUP BY region, grp", region(letter));
            query(sql, inside[letter as usize])
        }),
        fixed("count_distinct_key_prefix", 1000, "SELECT COUNT(DISTINCT region) FROM regions", 1),
        fixed("count_distinct", 1000, "SELECT COUNT(DISTINCT grp) FROM regions", 1),
        fixed("count_distinct_2", 1000, "SELECT COUNT(DISTINCT grp), COUNT(DISTINCT rev_idn) FROM regions", 1),
        fixed(
            "count_distinct_group_on_key",
            1000,
            "SELECT region, COUNT(DISTINCT idn) FROM regions GROUP BY region",
            regions,
        ),
        fixed(
            "count_distinct_group_on_key_parts",
            1000,
            "SELECT region, COUNT(DISTINCT grp) FROM regions GROUP BY region",
            regions,
        ),
        fixed("count_distinct_group", 1000, "SELECT grp, COUNT(DISTINCT rev_idn) FROM regions GROUP BY grp", groups),
        fixed("count_distinct_big", 100, "SELECT idn, COUNT(DISTINCT region) FROM regions GROUP BY idn", rows),
    ]
}
