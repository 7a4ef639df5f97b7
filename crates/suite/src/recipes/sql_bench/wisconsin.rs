//! Test wisconsin: relations and queries of the Wisconsin benchmark (Bitton, `DeWitt` and Turbyfill 1983).

use super::dialect::SqlDialect;
use super::section::{BenchSection, SectionPlan, ask, query, scattered};
use crate::sql::SqlRequest;

/// Relations and their loaded rows; nine tenths of the last are deleted after loading.
const RELATIONS: [(&str, u64); 4] = [("onek", 1000), ("tenk1", 10_000), ("tenk2", 10_000), ("bprime", 10_000)];
/// Number of queries, and of their repetitions.
const QUERIES: u64 = 10;
const ROUNDS: u64 = 10;
/// Number of modifying statements.
const CHANGES: u64 = 14;

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let sizes = RELATIONS.map(|(_, rows)| plan.rows(rows));
    let full: u64 = RELATIONS.iter().map(|(_, rows)| rows).sum();
    let all = sizes.iter().sum();
    let dialect = plan.dialect;
    let create = move |index: u64| {
        let (name, _) = RELATIONS[index as usize];
        let mut requests = ask(create_table(dialect, name));
        requests.push(SqlRequest::text(format!("CREATE INDEX {name}_u2 ON {name} (unique2)")));
        requests
    };
    let (max, retained) = (sizes[3], sizes[3] / 10);
    let tenk = sizes[1];
    vec![
        BenchSection::entire("create_table", 4, create),
        BenchSection::counted("insert", full, plan.times(full).min(all), move |index| insert(index, &sizes)),
        BenchSection::rest("remaining_rows", "insert", all, move |index| insert(index, &sizes)),
        BenchSection::entire("delete_big", 1, move |_| {
            ask(format!("DELETE FROM bprime WHERE unique1 >= {retained} AND unique1 < {max}"))
        }),
        BenchSection::entire("wisc_benchmark", QUERIES * ROUNDS + CHANGES, move |index| match index {
            index if index < QUERIES * ROUNDS => queries(index % QUERIES, tenk, sizes[0], retained),
            index => change(index - QUERIES * ROUNDS, tenk),
        }),
        BenchSection::preparation("drop_tables", RELATIONS.map(|(name, _)| format!("DROP TABLE {name}")).to_vec()),
    ]
}

fn create_table(dialect: SqlDialect, name: &str) -> String {
    let int = dialect.int();
    let numbers = [
        "unique2",
        "two",
        "four",
        "ten",
        "twenty",
        "hundred",
        "thousand",
        "two_thousand",
        "five_thousand",
        "ten_thousand",
        "odd_hundred",
        "even_hundred",
    ];
    let numbers = numbers.map(|number| format!("{number} {int}")).join(", ");
    format!(
        "CREATE TABLE {name} (unique1 {int} NOT NULL PRIMARY KEY, {numbers}, stringu1 CHAR(16), stringu2 CHAR(16), \
         string4 CHAR(16))"
    )
}

fn insert(mut index: u64, sizes: &[u64; 4]) -> Vec<SqlRequest> {
    let mut relation = 0;
    while index >= sizes[relation] {
        index -= sizes[relation];
        relation += 1;
    }
    ask(row(RELATIONS[relation].0, scattered(index, sizes[relation]), index))
}

/// A row of a relation: two unique numbers, and remainders of the first.
fn row(name: &str, unique1: u64, unique2: u64) -> String {
    let of = |max: u64| unique1 % max;
    let strings = ["AAAA", "HHHH", "OOOO", "VVVV"];
    format!(
        "INSERT INTO {name} VALUES ({unique1}, {unique2}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, '{}', '{}', '{}xxxx')",
        of(2),
        of(4),
        of(10),
        of(20),
        of(100),
        of(1000),
        of(2000),
        of(5000),
        unique1,
        of(50) * 2 + 1,
        of(50) * 2,
        letters(unique1),
        letters(unique2),
        strings[(unique2 % 4) as usize]
    )
}

/// A number as seven letters.
fn letters(mut number: u64) -> String {
    let mut text = [b'A'; 7];
    for letter in text.iter_mut().rev() {
        *letter += (number % 26) as u8;
        number /= 26;
    }
    text.map(char::from).iter().collect()
}

/// Query number `which` of ten, on relations of these sizes.
fn queries(which: u64, tenk: u64, onek: u64, bprime: u64) -> Vec<SqlRequest> {
    let (percent, tenth) = ((tenk / 100).max(1), (tenk / 10).max(1));
    let (sql, rows) = match which {
        0 => (format!("SELECT * FROM tenk1 WHERE unique2 >= 0 AND unique2 < {percent}"), percent),
        1 => (format!("SELECT * FROM tenk1 WHERE unique2 >= 0 AND unique2 < {tenth}"), tenth),
        2 => {
            let joined = "SELECT t1.*, t2.* FROM tenk1 t1, tenk2 t2 WHERE t1.unique2 = t2.unique2";
            (format!("{joined} AND t2.unique2 < {tenth}"), tenth)
        }
        3 => ("SELECT t.*, b.* FROM tenk1 t, bprime b WHERE t.unique1 = b.unique1".into(), bprime),
        4 => {
            let joined = "SELECT o.*, t1.* FROM onek o, tenk1 t1, tenk2 t2 WHERE o.unique2 = t1.unique2 AND t1.unique2 = t2.unique2";
            (format!("{joined} AND t2.unique2 < {tenth}"), tenth.min(onek))
        }
        5 => ("SELECT DISTINCT two, four, ten, twenty, hundred, string4 FROM tenk1".into(), projected(tenk)),
        6 => ("SELECT DISTINCT unique2, two, four, ten, stringu1 FROM tenk1".into(), tenk),
        7 => ("SELECT MIN(unique2) FROM tenk1".into(), 1),
        8 => ("SELECT hundred, MIN(unique2) FROM tenk1 GROUP BY hundred".into(), tenk.min(100)),
        _ => ("SELECT hundred, SUM(unique2) FROM tenk1 GROUP BY hundred".into(), tenk.min(100)),
    };
    query(sql, rows)
}

/// Rows of the projection on small numbers: distinct pairs of a remainder and a word.
fn projected(rows: u64) -> u64 {
    let pairs = (0..rows).map(|unique2| (scattered(unique2, rows) % 100, unique2 % 4));
    pairs.collect::<std::collections::BTreeSet<_>>().len() as u64
}

/// Modification number `which` of fourteen. Inserted rows have numbers above all others, and are deleted.
fn change(which: u64, tenk: u64) -> Vec<SqlRequest> {
    let (first, second) = (tenk + 1, tenk + 2);
    ask(match which {
        0 => row("tenk1", first, first),
        1 => format!("UPDATE tenk1 SET unique2 = {second} WHERE unique2 = {first}"),
        2 => format!("DELETE FROM tenk1 WHERE unique2 = {second}"),
        3 => format!("UPDATE tenk1 SET stringu1 = 'one of a hundred' WHERE unique2 < {}", tenk / 100),
        4 => "DELETE FROM bprime WHERE unique1 < 10".into(),
        5 => "UPDATE bprime SET odd_hundred = odd_hundred + 2 WHERE unique1 >= 10".into(),
        6 => format!("INSERT INTO bprime SELECT * FROM tenk2 WHERE unique1 >= {}", tenk - 10),
        7 => format!("DELETE FROM bprime WHERE unique1 >= {}", tenk - 10),
        8 => "UPDATE onek SET unique2 = unique2 + 20000 WHERE unique1 < 5".into(),
        9 => "UPDATE onek SET unique2 = unique2 - 20000 WHERE unique2 >= 20000".into(),
        10 => "UPDATE onek SET string4 = 'changed' WHERE hundred = 7".into(),
        11 => "DELETE FROM onek WHERE unique1 = 1".into(),
        12 => format!("UPDATE tenk2 SET unique1 = {first} WHERE unique1 = 0"),
        _ => format!("UPDATE tenk2 SET unique1 = 0 WHERE unique1 = {first}"),
    })
}
