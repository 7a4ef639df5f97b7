//! Test ATIS: an airline's timetable of 28 tables, with joins, groups and distinct values.
//!
//! Rows are generated in the original numbers. The expected number of rows of each query is computed from the
//! generating rules.

mod tables;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::tables::{AtisColumn, AtisTable, TABLES};
use super::dialect::SqlDialect;
use super::section::{BenchSection, SectionPlan, ask, query};

const ROUNDS: u64 = 100;

/// A query and its expected number of rows.
type KnownQuery = (String, u64);

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let rows: u64 = TABLES.iter().map(|table| table.rows).sum();
    let tables = TABLES.len() as u64;
    let cycled = |name, queries: Vec<KnownQuery>| {
        let queries: Arc<[KnownQuery]> = queries.into();
        let each = queries.len() as u64;
        BenchSection::repeated(plan, name, ROUNDS * each, move |index| {
            let (sql, rows) = &queries[(index % each) as usize];
            query(sql.clone(), *rows)
        })
    };
    vec![
        BenchSection::entire("create_table", tables, move |index| ask(TABLES[index as usize].create(dialect))),
        BenchSection::repeated(plan, "insert", rows, |index| ask(insert(index))),
        BenchSection::rest("remaining_rows", "insert", rows, |index| ask(insert(index))),
        cycled("select_simple_join", simple_joins()),
        cycled("select_join", vec![whole_join()]),
        cycled("select_key_prefix_join", vec![prefix_join()]),
        cycled("select_distinct", distinct()),
        cycled("select_group", groups()),
        BenchSection::entire("drop_table", tables, |index| ask(format!("DROP TABLE {}", TABLES[index as usize].name))),
    ]
}

/// Insert of row `index`, counted over all tables.
fn insert(mut index: u64) -> String {
    for table in TABLES {
        if index < table.rows {
            return table.insert(index);
        }
        index -= table.rows;
    }
    unreachable!("no more rows are asked for than there are")
}

fn find_table(name: &str) -> &'static AtisTable {
    TABLES.iter().find(|table| table.name == name).expect("a query names a table that there is")
}

impl AtisTable {
    fn create(&self, dialect: SqlDialect) -> String {
        let columns = self.columns.iter().map(|column| {
            let of = if column.is_text { dialect.varchar(24) } else { dialect.int().into() };
            format!("{} {of} NOT NULL", column.name)
        });
        let columns: Vec<String> = columns.collect();
        format!("CREATE TABLE {} ({}, PRIMARY KEY ({}))", self.name, columns.join(", "), self.key)
    }

    fn insert(&self, row: u64) -> String {
        let values: Vec<String> = self.columns.iter().map(|column| column.value(row)).collect();
        format!("INSERT INTO {} VALUES ({})", self.name, values.join(", "))
    }

    fn column(&self, name: &str) -> &'static AtisColumn {
        self.columns.iter().find(|column| column.name == name).expect("a query names a column that there is")
    }

    /// Number of distinct combinations of columns in the rows that satisfy a condition.
    fn different(&self, columns: &[&str], holds: impl Fn(u64) -> bool) -> u64 {
        let columns: Vec<&AtisColumn> = columns.iter().map(|name| self.column(name)).collect();
        let values = (0..self.rows).filter(|row| holds(*row));
        let values = values.map(|row| columns.iter().map(|column| column.number(row)).collect::<Vec<u64>>());
        values.collect::<BTreeSet<_>>().len() as u64
    }

    /// Rows with this number in a column.
    fn having(&self, column: &str, number: u64) -> u64 {
        let column = self.column(column);
        (0..self.rows).filter(|row| column.number(*row) == number).count() as u64
    }
}

/// Joins of two tables by a key, with a condition on the second.
fn simple_joins() -> Vec<KnownQuery> {
    let joined = |from: &str, key: &str, to: &str, number: u64| {
        let rows = find_table(from).having(key, number);
        let value = find_table(to).column(key).value(number);
        (format!("SELECT a.*, b.* FROM {from} a, {to} b WHERE a.{key} = b.{key} AND b.{key} = {value}"), rows)
    };
    vec![
        joined("flight", "airline_code", "airline", 7),
        joined("flight", "aircraft_code", "aircraft", 12),
        joined("fare", "class_code", "class_of_service", 3),
        joined("airport_service", "city_code", "city", 4),
        joined("flight_class", "class_code", "class_of_service", 5),
    ]
}

/// A flight with all related tables.
fn whole_join() -> KnownQuery {
    let sql = "SELECT f.flight_code, l.airline_name, c.aircraft_name, o.airport_name, d.airport_name, x.fare_code \
               FROM flight f, airline l, aircraft c, airport o, airport d, flight_fare x \
               WHERE l.airline_code = f.airline_code AND c.aircraft_code = f.aircraft_code \
               AND o.airport_code = f.from_airport AND d.airport_code = f.to_airport \
               AND x.flight_code = f.flight_code AND f.airline_code = 'L11'";
    let (flights, fares) = (find_table("flight"), find_table("flight_fare"));
    let of_airline = |flight: u64| flights.column("airline_code").number(flight) == 11;
    let flight = fares.column("flight_code");
    let rows = (0..fares.rows).filter(|row| of_airline(flight.number(*row))).count();
    (sql.into(), rows as u64)
}

/// Fares by a prefix of their key.
fn prefix_join() -> KnownQuery {
    let sql = "SELECT x.flight_code, x.fare_code, f.price FROM flight_fare x, fare f \
               WHERE x.flight_code BETWEEN 100 AND 119 AND f.fare_code = x.fare_code ORDER BY x.flight_code, x.fare_code";
    let fares = find_table("flight_fare");
    let flight = fares.column("flight_code");
    let rows = (0..fares.rows).filter(|row| (100..120).contains(&flight.number(*row))).count();
    (sql.into(), rows as u64)
}

fn distinct() -> Vec<KnownQuery> {
    let query = |name: &str, columns: &[&str]| {
        let listed = columns.join(", ");
        (
            format!("SELECT DISTINCT {listed} FROM {name} ORDER BY {listed}"),
            find_table(name).different(columns, |_| true),
        )
    };
    vec![
        query("city", &["state_code"]),
        query("flight", &["from_airport"]),
        query("flight", &["from_airport", "to_airport"]),
        query("flight", &["airline_code", "stops"]),
        query("fare", &["class_code", "restriction_code"]),
        query("flight_fare", &["fare_code"]),
        query("flight_class", &["class_code"]),
        query("code_description", &["kind"]),
    ]
}

/// Groups by eleven keys, each counted, limited, and with a condition.
fn groups() -> Vec<KnownQuery> {
    let kinds: [(&str, &[&str], &str); 11] = [
        ("flight", &["airline_code"], "departs"),
        ("flight", &["aircraft_code"], "departs"),
        ("flight", &["from_airport", "to_airport"], "departs"),
        ("flight", &["flight_days", "stops"], "departs"),
        ("fare", &["class_code"], "price"),
        ("fare", &["restriction_code"], "price"),
        ("fare", &["from_airport", "class_code"], "price"),
        ("flight_fare", &["fare_code"], "flight_code"),
        ("flight_class", &["class_code"], "flight_code"),
        ("airport_service", &["city_code"], "minutes"),
        ("aircraft", &["engines", "propulsion"], "capacity"),
    ];
    let mut queries = Vec::new();
    for (name, columns, measure) in kinds {
        let table = find_table(name);
        let (listed, measured) = (columns.join(", "), table.column(measure));
        let middle = measured.number(table.rows / 2);
        let all = table.different(columns, |_| true);
        let some = table.different(columns, |row| measured.number(row) <= middle);
        let from = format!("FROM {name}");
        let end = format!("GROUP BY {listed}");
        queries.push((format!("SELECT {listed}, COUNT(*) {from} {end}"), all));
        queries.push((format!("SELECT {listed}, MIN({measure}), MAX({measure}) {from} {end} ORDER BY {listed}"), all));
        queries.push((format!("SELECT {listed}, AVG({measure}) {from} WHERE {measure} <= {middle} {end}"), some));
    }
    queries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cardinalities_match_original() {
        assert_eq!(TABLES.len(), 28);
        assert_eq!(TABLES.iter().map(|table| table.rows).sum::<u64>(), 9768);
        assert_eq!((simple_joins().len(), distinct().len(), groups().len()), (5, 8, 33));
    }

    #[test]
    fn keys_are_unique_and_queries_return_rows() {
        for table in TABLES {
            let key: Vec<&str> = table.key.split(", ").collect();
            assert_eq!(table.different(&key, |_| true), table.rows, "{}", table.name);
        }
        for (sql, rows) in [simple_joins(), vec![whole_join(), prefix_join()], distinct(), groups()].concat() {
            assert!(rows > 0, "{sql}");
        }
    }

    #[test]
    fn every_row_is_inserted_once() {
        assert_eq!(insert(0), "INSERT INTO aircraft VALUES ('C0', 'aircraft 0', 2, 0, 50)");
        assert!(insert(9767).starts_with("INSERT INTO transport VALUES ("), "{}", insert(9767));
    }
}
