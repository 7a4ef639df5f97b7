//! New orders, payments and questions after an order: three of the five transactions of TPC-C, on its tables.
//!
//! Knows nothing about loads. TPC-C-like, not TPC-C: no terminals, no deliveries, no stock levels, customers by number only.

use std::sync::Arc;

use plimsoll_database::{Failure, Kind, Prepared, Session, Value};

use super::By;
use super::ledger::{Ended, Ledger, transact};
use super::orders::{CUSTOMERS, DISTRICTS, ITEMS, LINES};
use crate::sql::{Taker, Transactions};

/// Kinds of transactions, by their index.
pub(super) const NEW_ORDER: u8 = 0;
pub(super) const PAYMENT: u8 = 1;
pub(super) const ORDER_STATUS: u8 = 2;

/// Of 21 transactions so many are of the first two kinds each, and one is of the third.
const OF_EACH: u64 = 10;
const IN_ALL: u64 = 21;

/// What a session's statements are, in the order in which they are prepared.
const STATEMENTS: [&str; 17] = [
    "SELECT w_tax FROM warehouses WHERE w_id = ?",
    "SELECT c_discount, c_last, c_credit FROM customers WHERE c_w = ? AND c_d = ? AND c_id = ?",
    "UPDATE districts SET d_next = d_next + 1 WHERE d_w = ? AND d_id = ?",
    "SELECT d_next - 1, d_tax FROM districts WHERE d_w = ? AND d_id = ?",
    "INSERT INTO orders (o_w, o_d, o_id, o_customer, o_entered, o_lines) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?)",
    "INSERT INTO new_orders (n_w, n_d, n_o) VALUES (?, ?, ?)",
    "SELECT i_price, i_name FROM items WHERE i_id = ?",
    "UPDATE stock SET s_quantity = s_quantity - ? + CASE WHEN s_quantity >= ? + 10 THEN 0 ELSE 91 END, s_ytd = s_ytd + ?, \
     s_orders = s_orders + 1, s_remote = s_remote + ? WHERE s_w = ? AND s_item = ?",
    "INSERT INTO order_lines (l_w, l_d, l_o, l_number, l_item, l_supply, l_quantity, l_amount, l_info) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'as in the stock of this line')",
    "UPDATE warehouses SET w_ytd = w_ytd + ? WHERE w_id = ?",
    "UPDATE districts SET d_ytd = d_ytd + ? WHERE d_w = ? AND d_id = ?",
    "UPDATE customers SET c_balance = c_balance - ?, c_paid = c_paid + ?, c_payments = c_payments + 1 \
     WHERE c_w = ? AND c_d = ? AND c_id = ?",
    "SELECT c_balance FROM customers WHERE c_w = ? AND c_d = ? AND c_id = ?",
    "INSERT INTO payments (p_w, p_d, p_of_w, p_of_d, p_of_c, p_amount, p_made) VALUES (?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP)",
    "SELECT c_balance, c_first, c_last FROM customers WHERE c_w = ? AND c_d = ? AND c_id = ?",
    "SELECT max(o_id) FROM orders WHERE o_w = ? AND o_d = ? AND o_customer = ?",
    "SELECT l_item, l_supply, l_quantity, l_amount FROM order_lines WHERE l_w = ? AND l_d = ? AND l_o = ?",
];

/// Transactions on so many warehouses.
pub(super) struct Trade {
    pub(super) by: By,
    pub(super) warehouses: u64,
    pub(super) ledger: Arc<Ledger>,
    /// What the constants of non-uniform numbers come from.
    pub(super) seed: u64,
}

/// One session's.
struct Trader {
    by: By,
    warehouses: u64,
    ledger: Arc<Ledger>,
    /// Constants of non-uniform numbers: of customers, and of items.
    constants: (u64, u64),
    prepared: Vec<Prepared>,
}

/// One line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
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

    fn open(&self, session: &mut dyn Session, _number: u32) -> Result<Box<dyn Taker>, Failure> {
        let statements: Vec<String> = match self.by {
            By::Statements => STATEMENTS.map(String::from).into(),
            // Rows come back of none but in the procedure's own way.
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

/// A number from 1 to `most` of which some are drawn more often than others: TPC-C's `NURand`.
fn uneven(random: &mut fastrand::Rng, spread: u64, constant: u64, most: u64) -> u64 {
    ((random.u64(..=spread) | random.u64(1..=most)) + constant) % most + 1
}

fn value(number: u64) -> Value {
    Value::Int(number.cast_signed())
}

/// Rows that have to be there.
fn first(session: &mut dyn Session, prepared: Prepared, values: &[Value], what: &str) -> Result<Vec<Value>, Failure> {
    let rows = session.fetch(prepared, values)?;
    rows.into_iter().next().ok_or_else(|| Failure::new(Kind::Statement, format!("{what} is not there: {values:?}")))
}

impl Trader {
    fn customer(&self, random: &mut fastrand::Rng) -> Value {
        value(uneven(random, 1023, self.constants.0, CUSTOMERS))
    }

    /// Another warehouse than `home`, where there is one.
    fn elsewhere(&self, random: &mut fastrand::Rng, home: u64) -> u64 {
        if self.warehouses < 2 { home } else { (home + random.u64(1..self.warehouses) - 1) % self.warehouses + 1 }
    }

    /// The lines of an order, in the order in which rows are locked. The last of one in a hundred is of no item that there is.
    fn lines(&self, random: &mut fastrand::Rng, home: u64) -> Vec<Line> {
        let count = random.u64(LINES.0..=LINES.1);
        let mut lines: Vec<Line> = Vec::new();
        for _ in 0..count {
            let supplier = if random.u64(0..100) == 0 { self.elsewhere(random, home) } else { home };
            let item = uneven(random, 8191, self.constants.1, ITEMS);
            lines.push(Line { supplier, item, quantity: random.u64(1..=10) });
        }
        lines.sort_unstable();
        if random.u64(0..100) == 0
            && let Some(last) = lines.last_mut()
        {
            last.item = ITEMS + 1;
        }
        lines
    }

    fn new_order(&self, session: &mut dyn Session, random: &mut fastrand::Rng) -> Result<Ended, Failure> {
        let home = random.u64(1..=self.warehouses);
        let (district, customer) = (value(random.u64(1..=DISTRICTS)), self.customer(random));
        let lines = self.lines(random, home);
        let home = value(home);
        if self.by == By::Statements {
            return transact(session, |session| self.place(session, &home, &district, &customer, &lines));
        }
        let list = |of: fn(&Line) -> u64| {
            let entries: Vec<String> = lines.iter().map(|line| of(line).to_string()).collect();
            Value::Text(entries.join(","))
        };
        let lists = [list(|line| line.item), list(|line| line.supplier), list(|line| line.quantity)];
        let values: Vec<Value> = [home, district, customer].into_iter().chain(lists).collect();
        session.execute(self.prepared[0], &values)?;
        // The procedure undoes what asks for an item that there is not.
        let undone = lines.iter().any(|line| line.item > ITEMS);
        Ok(if undone { Ended::Undone } else { Ended::Committed })
    }

    fn place(
        &self,
        session: &mut dyn Session,
        home: &Value,
        district: &Value,
        customer: &Value,
        lines: &[Line],
    ) -> Result<Ended, Failure> {
        let at = [home.clone(), district.clone()];
        let of = |number: usize| self.prepared[number];
        session.execute(of(0), &at[..1])?;
        session.execute(of(1), &[home.clone(), district.clone(), customer.clone()])?;
        session.execute(of(2), &at)?;
        let order = first(session, of(3), &at, "a district")?.swap_remove(0);
        let here = [home.clone(), district.clone(), order];
        let entered = [customer.clone(), value(lines.len() as u64)];
        session.execute(of(4), &[&here[..], &entered].concat())?;
        session.execute(of(5), &here)?;
        for (number, line) in lines.iter().enumerate() {
            let (item, supplier, taken) = (value(line.item), value(line.supplier), value(line.quantity));
            let found = session.fetch(of(6), std::slice::from_ref(&item))?;
            let Some(price) = found.first().and_then(|row| row.first()?.int()) else { return Ok(Ended::Undone) };
            let remote = value(u64::from(supplier != *home));
            let changes = [taken.clone(), taken.clone(), taken.clone(), remote, supplier.clone(), item.clone()];
            session.execute(of(7), &changes)?;
            let amount = Value::Int(price * line.quantity.cast_signed());
            let entry = [value(number as u64 + 1), item, supplier, taken, amount];
            session.execute(of(8), &[&here[..], &entry].concat())?;
        }
        Ok(Ended::Committed)
    }

    fn payment(&self, session: &mut dyn Session, random: &mut fastrand::Rng) -> Result<Ended, Failure> {
        let home = random.u64(1..=self.warehouses);
        let (district, paid) = (value(random.u64(1..=DISTRICTS)), value(random.u64(100..=500_000)));
        // Most customers pay where they are.
        let (of_w, of_d) = if random.u64(0..100) < 85 {
            (value(home), district.clone())
        } else {
            (value(self.elsewhere(random, home)), value(random.u64(1..=DISTRICTS)))
        };
        let customer = [of_w, of_d, self.customer(random)];
        let at = [value(home), district];
        if self.by != By::Statements {
            session.execute(self.prepared[1], &[&at[..], &customer, &[paid]].concat())?;
            return Ok(Ended::Committed);
        }
        let of = |number: usize| self.prepared[number];
        transact(session, |session| {
            session.execute(of(9), &[paid.clone(), at[0].clone()])?;
            session.execute(of(10), &[std::slice::from_ref(&paid), &at[..]].concat())?;
            session.execute(of(11), &[&[paid.clone(), paid.clone()], &customer[..]].concat())?;
            session.execute(of(12), &customer)?;
            session.execute(of(13), &[&at[..], &customer, &[paid]].concat())?;
            Ok(Ended::Committed)
        })
    }

    fn order_status(&self, session: &mut dyn Session, random: &mut fastrand::Rng) -> Result<Ended, Failure> {
        let home = value(random.u64(1..=self.warehouses));
        let customer = [home, value(random.u64(1..=DISTRICTS)), self.customer(random)];
        if self.by != By::Statements {
            session.execute(self.prepared[2], &customer)?;
            return Ok(Ended::Committed);
        }
        // It only reads, and what it reads last are lines of an order, which do not change.
        session.execute(self.prepared[14], &customer)?;
        let order = first(session, self.prepared[15], &customer, "an order")?.swap_remove(0);
        session.execute(self.prepared[16], &[customer[0].clone(), customer[1].clone(), order])?;
        Ok(Ended::Committed)
    }
}

impl Taker for Trader {
    fn take(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure> {
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
        let ledger = Arc::new(Ledger::default());
        Trader { by: By::Statements, warehouses, ledger, constants: (7, 11), prepared: Vec::new() }
    }

    #[test]
    fn lines_are_as_tpc_c_draws_them() {
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
    fn shares_are_ten_ten_and_one() {
        let trade = Trade { by: By::Statements, warehouses: 1, ledger: Arc::default(), seed: 1 };
        let mut counts = [0; 3];
        (0..2_100).for_each(|random| counts[usize::from(trade.pick(random))] += 1);
        assert_eq!(counts, [1_000, 1_000, 100]);
    }

    #[test]
    fn uneven_numbers_stay_in_their_range_and_are_uneven() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut counts = vec![0_u32; 3001];
        (0..300_000).for_each(|_| counts[uneven(&mut random, 1023, 100, 3000) as usize] += 1);
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().max().expect("3,000") > &300, "some far above the mean of 100");
        assert_eq!(trader(1).elsewhere(&mut random, 1), 1);
        assert!((0..100).all(|_| trader(2).elsewhere(&mut random, 2) == 1));
    }
}
