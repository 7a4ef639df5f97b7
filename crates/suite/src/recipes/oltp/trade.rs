//! TPC-C-like transactions: tables in the sizes of TPC-C, new orders, payments and order status, and the consistency
//! check.
//!
//! Not TPC-C: no terminals, no deliveries, no stock levels, customers only by number. Amounts are in hundredths, so
//! that sums are exact in every system.

use std::sync::Arc;

use plimsoll_database::{Failure, FailureKind, Prepared, Row, Session, System, Value};
use plimsoll_record::{ConsistencyCheck, Inconsistency};

use super::ledger::{OltpLedger, TransactionEnd, transact};
use super::{ExecutionMode, Tables};
use crate::recipes::numbers::{numbers, parts};
use crate::sql::{TransactionRunner, Transactions, all_named, fill_template, named};

/// Tables, and the statements of a session in the order of preparation.
const SQL: &str = include_str!("trade.sql");

/// Kinds of transactions, by their index.
const NEW_ORDER: u8 = 0;
const PAYMENT: u8 = 1;
const ORDER_STATUS: u8 = 2;

/// Districts per warehouse, customers per district, and the number of items.
const DISTRICTS: u64 = 10;
const CUSTOMERS: u64 = 3000;
const ITEMS: u64 = 100_000;
/// Initial orders of a district, and its oldest undelivered order.
const ORDERS: u64 = 3000;
const UNDELIVERED: u64 = 2101;
/// Minimum and maximum number of lines of an order.
const LINES: (u64, u64) = (5, 15);
/// Initial year-to-date balance of a district.
const TAKEN: u64 = 3_000_000;

/// The tables of `warehouses` warehouses. `None` if the system is not supported.
pub(super) fn tables(system: System, warehouses: u64) -> Option<Tables> {
    let initial_lines: u64 = (1..=ORDERS).map(lines_of).sum();
    let districts = DISTRICTS * warehouses;
    let names =
        ["warehouses", "districts", "customers", "items", "stock", "orders", "new_orders", "order_lines", "payments"];
    Some(Tables {
        create: create(system),
        fill: fill(system, warehouses)?,
        index: vec![named(SQL, "index").into()],
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
        check: named(SQL, "check").into(),
    })
}

/// Number of lines of an initial order.
const fn lines_of(order: u64) -> u64 {
    LINES.0 + order % (LINES.1 - LINES.0 + 1)
}

fn create(system: System) -> Vec<String> {
    let wide = |width: u32| match system {
        System::Sqlite => "TEXT".to_owned(),
        System::Mysql => format!("VARCHAR({width}) CHARACTER SET latin1"),
        _ => format!("VARCHAR({width})"),
    };
    let values = [("short", &*wide(24)), ("info", &*wide(60)), ("long", &*wide(500))];
    all_named(SQL, "table").map(|table| fill_template(table, &values)).collect()
}

/// Content of a long column: as many digits as the average number of letters in TPC-C.
fn letters(system: System, count: u32) -> String {
    match system {
        System::Sqlite => format!("printf('%0{count}d', n)"),
        System::Postgres => format!("lpad(n::text, {count}, '0')"),
        _ => format!("lpad(n, {count}, '0')"),
    }
}

/// Phases of loading: later phases read rows of earlier phases.
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
            // 1801 is a prime that does not divide the number of customers, so that each customer has an order.
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
    pub(super) orders: i64,
    pub(super) payments: i64,
}

/// Inconsistencies; empty if none.
pub(super) fn find_inconsistencies(
    warehouses: u64,
    row: &Row,
    before: &Before,
    ledger: &OltpLedger,
) -> Vec<Inconsistency> {
    let figure = |index: usize| row.get(index).and_then(Value::int).unwrap_or(0);
    let same = |check, found, expected| Inconsistency::find(check, found, expected, 0);
    let initial = (ORDERS * DISTRICTS * warehouses).cast_signed();
    let undelivered = ((ORDERS + 1 - UNDELIVERED) * DISTRICTS * warehouses).cast_signed();
    let committed = |check, found: i64, kind| {
        Inconsistency::find(check, found.max(0), ledger.committed(kind).cast_signed(), ledger.unsure())
    };
    let checks = [
        same(ConsistencyCheck::Orders, figure(0), figure(1)),
        same(ConsistencyCheck::OrderLines, figure(2), figure(3)),
        same(ConsistencyCheck::Money, figure(4), figure(5)),
        same(ConsistencyCheck::NewestOrders, figure(8), 0),
        same(ConsistencyCheck::Undelivered, figure(7) - undelivered, figure(0) - initial),
        committed(ConsistencyCheck::CommittedOrders, figure(0) - before.orders, NEW_ORDER),
        committed(ConsistencyCheck::CommittedPayments, figure(6) - before.payments, PAYMENT),
    ];
    checks.into_iter().flatten().collect()
}

/// Of 21 transactions, ten are of each of the first two kinds, and a single is of the third.
const OF_EACH: u64 = 10;
const IN_ALL: u64 = 21;

/// The TPC-C-like transactions.
pub(super) struct Trade {
    pub(super) by: ExecutionMode,
    pub(super) warehouses: u64,
    pub(super) ledger: Arc<OltpLedger>,
    /// Seed of the constants of `NURand`.
    pub(super) seed: u64,
}

/// The transactions of a session.
struct Trader {
    by: ExecutionMode,
    warehouses: u64,
    ledger: Arc<OltpLedger>,
    /// Constants of `NURand` for customers and items.
    constants: (u64, u64),
    prepared: Vec<Prepared>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OrderLine {
    supplier: u64,
    item: u64,
    quantity: u64,
}

impl Transactions for Trade {
    fn pick(&self, random: u64) -> u8 {
        match random % IN_ALL {
            of if of < OF_EACH => NEW_ORDER,
            of if of < 2 * OF_EACH => PAYMENT,
            _ => ORDER_STATUS,
        }
    }

    fn open(&self, session: &mut dyn Session, _number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        let statements: Vec<String> = match self.by {
            ExecutionMode::Statements => all_named(SQL, "statement").map(str::to_owned).collect(),
            // The queries read the results of the procedures.
            by => vec![
                "CALL place_order(?, ?, ?, ?, ?, ?)".into(),
                by.call("pay", "?, ?, ?, ?, ?, ?"),
                by.call("order_status", "?, ?, ?"),
            ],
        };
        let prepared: Result<Vec<Prepared>, Failure> = statements.iter().map(|sql| session.prepare(sql)).collect();
        let mut random = fastrand::Rng::with_seed(self.seed);
        let constants = (random.u64(..=1023), random.u64(..=8191));
        let (by, warehouses, ledger) = (self.by, self.warehouses, Arc::clone(&self.ledger));
        Ok(Box::new(Trader { by, warehouses, ledger, constants, prepared: prepared? }))
    }
}

/// Non-uniform random number from 1 to `max`: `NURand` of TPC-C.
fn uneven(random: &mut fastrand::Rng, spread: u64, constant: u64, max: u64) -> u64 {
    ((random.u64(..=spread) | random.u64(1..=max)) + constant) % max + 1
}

fn value(number: u64) -> Value {
    Value::Int(number.cast_signed())
}

/// First row of a query that must return rows.
fn query_first_row(
    session: &mut dyn Session,
    prepared: Prepared,
    values: &[Value],
    what: &str,
) -> Result<Vec<Value>, Failure> {
    let rows = session.fetch(prepared, values)?;
    rows.into_iter()
        .next()
        .ok_or_else(|| Failure::new(FailureKind::Statement, format!("{what} is missing: {values:?}")))
}

impl Trader {
    fn customer(&self, random: &mut fastrand::Rng) -> Value {
        value(uneven(random, 1023, self.constants.0, CUSTOMERS))
    }

    /// A warehouse other than `home`, if there is any.
    fn elsewhere(&self, random: &mut fastrand::Rng, home: u64) -> u64 {
        if self.warehouses < 2 { home } else { (home + random.u64(1..self.warehouses) - 1) % self.warehouses + 1 }
    }

    /// Lines of an order, in locking order. The last line of 1 % of the orders has an unknown item.
    fn lines(&self, random: &mut fastrand::Rng, home: u64) -> Vec<OrderLine> {
        let count = random.u64(LINES.0..=LINES.1);
        let mut lines: Vec<OrderLine> = Vec::new();
        for _ in 0..count {
            let supplier = if random.u64(0..100) == 0 { self.elsewhere(random, home) } else { home };
            let item = uneven(random, 8191, self.constants.1, ITEMS);
            lines.push(OrderLine { supplier, item, quantity: random.u64(1..=10) });
        }
        lines.sort_unstable();
        if random.u64(0..100) == 0
            && let Some(last) = lines.last_mut()
        {
            last.item = ITEMS + 1;
        }
        lines
    }

    fn new_order(&self, session: &mut dyn Session, random: &mut fastrand::Rng) -> Result<TransactionEnd, Failure> {
        let home = random.u64(1..=self.warehouses);
        let (district, customer) = (value(random.u64(1..=DISTRICTS)), self.customer(random));
        let lines = self.lines(random, home);
        let home = value(home);
        if self.by == ExecutionMode::Statements {
            return transact(session, |session| self.place(session, &home, &district, &customer, &lines));
        }
        let list = |of: fn(&OrderLine) -> u64| {
            let entries: Vec<String> = lines.iter().map(|line| of(line).to_string()).collect();
            Value::Text(entries.join(","))
        };
        let lists = [list(|line| line.item), list(|line| line.supplier), list(|line| line.quantity)];
        let values: Vec<Value> = [home, district, customer].into_iter().chain(lists).collect();
        session.execute(self.prepared[0], &values)?;
        // The procedure rolls back orders with unknown items.
        let undone = lines.iter().any(|line| line.item > ITEMS);
        Ok(if undone { TransactionEnd::Undone } else { TransactionEnd::Committed })
    }

    fn place(
        &self,
        session: &mut dyn Session,
        home: &Value,
        district: &Value,
        customer: &Value,
        lines: &[OrderLine],
    ) -> Result<TransactionEnd, Failure> {
        let at = [home.clone(), district.clone()];
        let of = |number: usize| self.prepared[number];
        session.execute(of(0), &at[..1])?;
        session.execute(of(1), &[home.clone(), district.clone(), customer.clone()])?;
        session.execute(of(2), &at)?;
        let order = query_first_row(session, of(3), &at, "a district")?.swap_remove(0);
        let here = [home.clone(), district.clone(), order];
        let entered = [customer.clone(), value(lines.len() as u64)];
        session.execute(of(4), &[&here[..], &entered].concat())?;
        session.execute(of(5), &here)?;
        for (number, line) in lines.iter().enumerate() {
            let (item, supplier, taken) = (value(line.item), value(line.supplier), value(line.quantity));
            let found = session.fetch(of(6), std::slice::from_ref(&item))?;
            let Some(price) = found.first().and_then(|row| row.first()?.int()) else {
                return Ok(TransactionEnd::Undone);
            };
            let remote = value(u64::from(supplier != *home));
            let changes = [taken.clone(), taken.clone(), taken.clone(), remote, supplier.clone(), item.clone()];
            session.execute(of(7), &changes)?;
            let amount = Value::Int(price * line.quantity.cast_signed());
            let entry = [value(number as u64 + 1), item, supplier, taken, amount];
            session.execute(of(8), &[&here[..], &entry].concat())?;
        }
        Ok(TransactionEnd::Committed)
    }

    fn payment(&self, session: &mut dyn Session, random: &mut fastrand::Rng) -> Result<TransactionEnd, Failure> {
        let home = random.u64(1..=self.warehouses);
        let (district, paid) = (value(random.u64(1..=DISTRICTS)), value(random.u64(100..=500_000)));
        // 85 % of the customers pay in their home district.
        let (of_w, of_d) = if random.u64(0..100) < 85 {
            (value(home), district.clone())
        } else {
            (value(self.elsewhere(random, home)), value(random.u64(1..=DISTRICTS)))
        };
        let customer = [of_w, of_d, self.customer(random)];
        let at = [value(home), district];
        if self.by != ExecutionMode::Statements {
            session.execute(self.prepared[1], &[&at[..], &customer, &[paid]].concat())?;
            return Ok(TransactionEnd::Committed);
        }
        let of = |number: usize| self.prepared[number];
        transact(session, |session| {
            session.execute(of(9), &[paid.clone(), at[0].clone()])?;
            session.execute(of(10), &[std::slice::from_ref(&paid), &at[..]].concat())?;
            session.execute(of(11), &[&[paid.clone(), paid.clone()], &customer[..]].concat())?;
            session.execute(of(12), &customer)?;
            session.execute(of(13), &[&at[..], &customer, &[paid]].concat())?;
            Ok(TransactionEnd::Committed)
        })
    }

    fn order_status(&self, session: &mut dyn Session, random: &mut fastrand::Rng) -> Result<TransactionEnd, Failure> {
        let home = value(random.u64(1..=self.warehouses));
        let customer = [home, value(random.u64(1..=DISTRICTS)), self.customer(random)];
        if self.by != ExecutionMode::Statements {
            session.execute(self.prepared[2], &customer)?;
            return Ok(TransactionEnd::Committed);
        }
        // Read-only, and the lines of an order never change: no transaction is needed.
        session.execute(self.prepared[14], &customer)?;
        let order = query_first_row(session, self.prepared[15], &customer, "an order")?.swap_remove(0);
        session.execute(self.prepared[16], &[customer[0].clone(), customer[1].clone(), order])?;
        Ok(TransactionEnd::Committed)
    }
}

impl TransactionRunner for Trader {
    fn run(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        let mut random = fastrand::Rng::with_seed(random);
        let outcome = match kind {
            NEW_ORDER => self.new_order(session, &mut random),
            PAYMENT => self.payment(session, &mut random),
            _ => self.order_status(session, &mut random),
        };
        self.ledger.note(kind, outcome.as_ref().copied());
        outcome.map(|_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trader(warehouses: u64) -> Trader {
        let ledger = Arc::new(OltpLedger::default());
        Trader { by: ExecutionMode::Statements, warehouses, ledger, constants: (7, 11), prepared: Vec::new() }
    }

    #[test]
    fn order_lines_follow_tpc_c() {
        let (trader, mut random) = (trader(4), fastrand::Rng::with_seed(3));
        let (mut unused, mut remote, mut all) = (0, 0, 0);
        for _ in 0..20_000 {
            let lines = trader.lines(&mut random, 2);
            assert!((5..=15).contains(&lines.len()));
            assert!(lines.iter().all(|line| (1..=4).contains(&line.supplier) && (1..=10).contains(&line.quantity)));
            unused += usize::from(lines.iter().any(|line| line.item > ITEMS));
            remote += lines.iter().filter(|line| line.supplier != 2).count();
            all += lines.len();
        }
        let near = |share: f64| (0.008..0.012).contains(&share);
        assert!(near(unused as f64 / 20_000.0) && near(remote as f64 / all as f64), "{unused} {remote} {all}");
        assert!((9.8..10.2).contains(&(all as f64 / 20_000.0)));
    }

    #[test]
    fn transaction_mix_is_10_10_1() {
        let trade = Trade { by: ExecutionMode::Statements, warehouses: 1, ledger: Arc::default(), seed: 1 };
        let mut counts = [0; 3];
        (0..2_100).for_each(|random| counts[usize::from(trade.pick(random))] += 1);
        assert_eq!(counts, [1_000, 1_000, 100]);
    }

    #[test]
    fn nurand_is_in_range_and_non_uniform() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut counts = vec![0_u32; 3001];
        (0..300_000).for_each(|_| counts[uneven(&mut random, 1023, 100, 3000) as usize] += 1);
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().max().expect("3,000") > &300, "some far above the mean of 100");
        assert_eq!(trader(1).elsewhere(&mut random, 1), 1);
        assert!((0..100).all(|_| trader(2).elsewhere(&mut random, 2) == 1));
    }
}
