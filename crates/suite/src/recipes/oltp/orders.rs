//! Warehouses, districts, customers, items, stock and orders in the sizes of TPC-C, and what has to agree in them.
//!
//! Knows nothing about loads. Amounts are in hundredths, so that sums are exact in every system.

use plimsoll_database::{Row, System, Value};

use super::Tables;
use super::ledger::Ledger;
use super::trade::{NEW_ORDER, PAYMENT};
use crate::recipes::numbers::{numbers, parts};

/// Of a warehouse, of a district, and in all.
pub(super) const DISTRICTS: u64 = 10;
pub(super) const CUSTOMERS: u64 = 3000;
pub(super) const ITEMS: u64 = 100_000;
/// Orders of a district at first, and the oldest that is not delivered.
const ORDERS: u64 = 3000;
const UNDELIVERED: u64 = 2101;
/// Lines of an order, from the least to the most.
pub(super) const LINES: (u64, u64) = (5, 15);
/// What a district has taken at first.
const TAKEN: u64 = 3_000_000;

/// The tables of so many warehouses. None where it is not known how the system makes rows.
pub(super) fn tables(system: System, warehouses: u64) -> Option<Tables> {
    let initial_lines: u64 = (1..=ORDERS).map(lines_of).sum();
    let districts = DISTRICTS * warehouses;
    let names =
        ["warehouses", "districts", "customers", "items", "stock", "orders", "new_orders", "order_lines", "payments"];
    Some(Tables {
        create: create(system),
        fill: fill(system, warehouses)?,
        index: vec!["CREATE INDEX orders_of_customer ON orders (o_w, o_d, o_customer, o_id)".into()],
        names: names.into(),
        expected: vec![
            warehouses,
            districts,
            CUSTOMERS * districts,
            ITEMS,
            ITEMS * warehouses,
            ORDERS * districts,
            (ORDERS + 1 - UNDELIVERED) * districts,
            initial_lines * districts,
            0,
        ],
        check: "SELECT (SELECT count(*) FROM orders), (SELECT sum(d_next - 1) FROM districts), \
                (SELECT count(*) FROM order_lines), (SELECT sum(o_lines) FROM orders), \
                (SELECT sum(w_ytd) FROM warehouses), (SELECT sum(d_ytd) FROM districts), \
                (SELECT count(*) FROM payments), (SELECT count(*) FROM new_orders), \
                (SELECT count(*) FROM districts LEFT JOIN (SELECT o_w, o_d, max(o_id) AS newest FROM orders GROUP BY o_w, o_d) \
                AS orders_seen ON o_w = d_w AND o_d = d_id WHERE newest IS NULL OR newest <> d_next - 1)"
            .into(),
    })
}

/// Lines of an initial order.
const fn lines_of(order: u64) -> u64 {
    LINES.0 + order % (LINES.1 - LINES.0 + 1)
}

fn create(system: System) -> Vec<String> {
    let wide = |width: u32| match system {
        System::Sqlite => "TEXT".to_owned(),
        System::Mysql => format!("VARCHAR({width}) CHARACTER SET latin1"),
        _ => format!("VARCHAR({width})"),
    };
    let (short, info, long) = (wide(24), wide(60), wide(500));
    vec![
        format!("CREATE TABLE warehouses (w_id INTEGER NOT NULL PRIMARY KEY, w_name {short}, w_tax INTEGER, w_ytd BIGINT)"),
        format!(
            "CREATE TABLE districts (d_w INTEGER NOT NULL, d_id INTEGER NOT NULL, d_name {short}, d_tax INTEGER, d_ytd BIGINT, \
             d_next INTEGER, PRIMARY KEY (d_w, d_id))"
        ),
        format!(
            "CREATE TABLE customers (c_w INTEGER NOT NULL, c_d INTEGER NOT NULL, c_id INTEGER NOT NULL, c_first {short}, \
             c_last {short}, c_credit {short}, c_discount INTEGER, c_balance BIGINT, c_paid BIGINT, c_payments INTEGER, \
             c_info {long}, PRIMARY KEY (c_w, c_d, c_id))"
        ),
        format!("CREATE TABLE items (i_id INTEGER NOT NULL PRIMARY KEY, i_name {short}, i_price BIGINT, i_info {info})"),
        format!(
            "CREATE TABLE stock (s_w INTEGER NOT NULL, s_item INTEGER NOT NULL, s_quantity INTEGER, s_ytd BIGINT, \
             s_orders INTEGER, s_remote INTEGER, s_info {long}, PRIMARY KEY (s_w, s_item))"
        ),
        "CREATE TABLE orders (o_w INTEGER NOT NULL, o_d INTEGER NOT NULL, o_id INTEGER NOT NULL, o_customer INTEGER, \
         o_entered TIMESTAMP, o_lines INTEGER, PRIMARY KEY (o_w, o_d, o_id))"
            .into(),
        "CREATE TABLE new_orders (n_w INTEGER NOT NULL, n_d INTEGER NOT NULL, n_o INTEGER NOT NULL, PRIMARY KEY (n_w, n_d, n_o))"
            .into(),
        format!(
            "CREATE TABLE order_lines (l_w INTEGER NOT NULL, l_d INTEGER NOT NULL, l_o INTEGER NOT NULL, \
             l_number INTEGER NOT NULL, l_item INTEGER, l_supply INTEGER, l_quantity INTEGER, l_amount BIGINT, l_info {info}, \
             PRIMARY KEY (l_w, l_d, l_o, l_number))"
        ),
        "CREATE TABLE payments (p_w INTEGER, p_d INTEGER, p_of_w INTEGER, p_of_d INTEGER, p_of_c INTEGER, p_amount BIGINT, \
         p_made TIMESTAMP)"
            .into(),
    ]
}

/// What a long column is filled with: digits, as many as TPC-C has letters on average.
fn letters(system: System, count: u32) -> String {
    match system {
        System::Sqlite => format!("printf('%0{count}d', n)"),
        System::Postgres => format!("lpad(n::text, {count}, '0')"),
        _ => format!("lpad(n, {count}, '0')"),
    }
}

/// In turns, as a later one looks at what an earlier one wrote.
fn fill(system: System, warehouses: u64) -> Option<Vec<Vec<String>>> {
    let text = |count| letters(system, count);
    let (short, info) = (text(16), text(38));
    let (mut first, mut lines) = (Vec::new(), Vec::new());
    for (from, to) in parts(ITEMS, 10_000) {
        let rows = numbers(system, from, to)?;
        first.push(format!("INSERT INTO items SELECT n, {short}, 100 + (n * 7919) % 9901, {info} FROM {rows}"));
    }
    for warehouse in 1..=warehouses {
        let (one, ten) = (numbers(system, warehouse, warehouse)?, numbers(system, 1, DISTRICTS)?);
        first.push(format!("INSERT INTO warehouses SELECT n, {short}, n % 21, {} FROM {one}", DISTRICTS * TAKEN));
        first.push(format!(
            "INSERT INTO districts SELECT {warehouse}, n, {short}, n % 21, {TAKEN}, {} FROM {ten}",
            ORDERS + 1
        ));
        for (from, to) in parts(ITEMS, 10_000) {
            let rows = numbers(system, from, to)?;
            let stock = format!("{warehouse}, n, 10 + n % 91, 0, 0, 0, {}", text(280));
            first.push(format!("INSERT INTO stock SELECT {stock} FROM {rows}"));
        }
        for district in 1..=DISTRICTS {
            let at = format!("{warehouse}, {district}");
            let rows = numbers(system, 1, CUSTOMERS)?;
            let account = format!("'GC', n % 51, -1000, 1000, 1, {}", text(400));
            first.push(format!("INSERT INTO customers SELECT {at}, n, {short}, {short}, {account} FROM {rows}"));
            // 1801 is a prime that divides no count of customers, so each customer has one of the orders.
            let rows = numbers(system, 1, ORDERS)?;
            let order =
                format!("1 + (n * 1801) % {CUSTOMERS}, CURRENT_TIMESTAMP, {} + n % {}", LINES.0, LINES.1 - LINES.0 + 1);
            first.push(format!("INSERT INTO orders SELECT {at}, n, {order} FROM {rows}"));
            let rows = numbers(system, UNDELIVERED, ORDERS)?;
            first.push(format!("INSERT INTO new_orders SELECT {at}, n FROM {rows}"));
            let rows = numbers(system, 1, LINES.1)?;
            lines.push(format!(
                "INSERT INTO order_lines SELECT o_w, o_d, o_id, n, 1 + (o_id * 37 + n * 7919) % {ITEMS}, o_w, 5, 100 * n, {} \
                 FROM orders CROSS JOIN {rows} WHERE o_w = {warehouse} AND o_d = {district} AND n <= o_lines",
                text(24)
            ));
        }
    }
    Some(vec![first, lines])
}

/// Rows before the first transaction.
pub(super) struct Before {
    /// Of the orders.
    pub(super) orders: i64,
    /// Of the payments.
    pub(super) payments: i64,
}

/// What does not agree; empty where all does.
pub(super) fn wrongs(warehouses: u64, row: &Row, before: &Before, ledger: &Ledger) -> Vec<String> {
    let figure = |index: usize| row.get(index).and_then(Value::int).unwrap_or(0);
    let mut wrongs = Vec::new();
    let mut same = |what: &str, one: i64, other: i64| {
        if one != other {
            wrongs.push(format!("{what}: {one} and {other}"));
        }
    };
    same("orders, and numbers that districts gave out", figure(0), figure(1));
    same("lines of orders, and what the orders say that they have", figure(2), figure(3));
    same("money of warehouses and of their districts, in hundredths", figure(4), figure(5));
    same("districts whose newest order is not the last number given out", figure(8), 0);
    let initial = (ORDERS * DISTRICTS * warehouses).cast_signed();
    let undelivered = ((ORDERS + 1 - UNDELIVERED) * DISTRICTS * warehouses).cast_signed();
    same("new orders, of orders and of those not delivered", figure(0) - initial, figure(7) - undelivered);
    let unsure = ledger.unsure();
    let mut committed = |what: &str, least: u64, seen: i64| {
        let seen = u64::try_from(seen).unwrap_or(0);
        if !(least..=least + unsure).contains(&seen) {
            wrongs.push(format!("{least} {what} were committed, {unsure} transactions perhaps, and {seen} are there"));
        }
    };
    committed("new orders", ledger.made(NEW_ORDER), figure(0) - before.orders);
    committed("payments", ledger.made(PAYMENT), figure(6) - before.payments);
    wrongs
}
