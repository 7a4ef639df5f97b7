//! The same transactions as procedures of the server, so that each is one message there and one back.
//!
//! Knows nothing about who calls them.

use plimsoll_database::System;

use super::Script;

/// What makes the procedures of a script; nothing where it needs none, or the system has none.
pub(super) fn procedures(system: System, script: Script) -> Vec<String> {
    match (system, script) {
        (System::Postgres, Script::TpcB) => vec![postgres_bank("move_money", true)],
        (System::Postgres, Script::SimpleUpdate) => vec![postgres_bank("move_simply", false)],
        (System::Postgres, Script::NewOrder) => postgres_trade(),
        (System::Mysql, Script::TpcB) => vec![mysql_bank("move_money", true)],
        (System::Mysql, Script::SimpleUpdate) => vec![mysql_bank("move_simply", false)],
        (System::Mysql, Script::NewOrder) => mysql_trade(),
        (_, Script::SelectOnly) | (System::Sqlite | System::Oracle, _) => Vec::new(),
    }
}

/// Updates of the teller and the branch, which all transactions of a branch wait for.
const ABOVE: &str = "UPDATE tellers SET tbalance = tbalance + moved WHERE tid = by_teller;
  UPDATE branches SET bbalance = bbalance + moved WHERE bid = at_branch;";

fn postgres_bank(name: &str, above: bool) -> String {
    let above = if above { ABOVE } else { "" };
    format!(
        "CREATE FUNCTION {name}(of_account integer, by_teller integer, at_branch integer, moved integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE balance integer;
BEGIN
  UPDATE accounts SET abalance = abalance + moved WHERE aid = of_account;
  SELECT abalance INTO STRICT balance FROM accounts WHERE aid = of_account;
  {above}
  INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (by_teller, at_branch, of_account, moved, CURRENT_TIMESTAMP);
  RETURN balance;
END $$"
    )
}

/// What every procedure of `MySQL` does with a failure: without it, what was done until then would stay.
const UNDO: &str = "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;";

fn mysql_bank(name: &str, above: bool) -> String {
    let above = if above { ABOVE } else { "" };
    format!(
        "CREATE PROCEDURE {name}(IN of_account INT, IN by_teller INT, IN at_branch INT, IN moved INT)
BEGIN
  DECLARE balance INT;
  {UNDO}
  START TRANSACTION;
  UPDATE accounts SET abalance = abalance + moved WHERE aid = of_account;
  SELECT abalance INTO balance FROM accounts WHERE aid = of_account;
  {above}
  INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (by_teller, at_branch, of_account, moved, CURRENT_TIMESTAMP);
  COMMIT;
  SELECT balance;
END"
    )
}

/// An order's line takes from the stock, which is filled up again when it runs low.
const TAKE: &str =
    "UPDATE stock SET s_quantity = s_quantity - taken + CASE WHEN s_quantity >= taken + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + taken, s_orders = s_orders + 1, s_remote = s_remote + CASE WHEN supplier = at_w THEN 0 ELSE 1 END
    WHERE s_w = supplier AND s_item = item;
    INSERT INTO order_lines (l_w, l_d, l_o, l_number, l_item, l_supply, l_quantity, l_amount, l_info)
    VALUES (at_w, at_d, o, line, item, supplier, taken, price * taken, 'as in the stock of this line');";
const PAY: &str = "UPDATE warehouses SET w_ytd = w_ytd + paid WHERE w_id = at_w;
  UPDATE districts SET d_ytd = d_ytd + paid WHERE d_w = at_w AND d_id = at_d;
  UPDATE customers SET c_balance = c_balance - paid, c_paid = c_paid + paid, c_payments = c_payments + 1
  WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  INSERT INTO payments (p_w, p_d, p_of_w, p_of_d, p_of_c, p_amount, p_made)
  VALUES (at_w, at_d, of_w, of_d, of_c, paid, CURRENT_TIMESTAMP);";

fn postgres_trade() -> Vec<String> {
    let order = format!(
        "CREATE PROCEDURE place_order(at_w integer, at_d integer, of_c integer, items_text text, suppliers_text text, \
         quantities_text text) LANGUAGE plpgsql AS $$
DECLARE
  wanted integer[] := string_to_array(items_text, ',')::integer[];
  suppliers integer[] := string_to_array(suppliers_text, ',')::integer[];
  quantities integer[] := string_to_array(quantities_text, ',')::integer[];
  o integer; line integer; item integer; supplier integer; taken integer; price bigint;
BEGIN
  PERFORM w_tax FROM warehouses WHERE w_id = at_w;
  PERFORM c_discount, c_last, c_credit FROM customers WHERE c_w = at_w AND c_d = at_d AND c_id = of_c;
  UPDATE districts SET d_next = d_next + 1 WHERE d_w = at_w AND d_id = at_d RETURNING d_next - 1 INTO STRICT o;
  INSERT INTO orders (o_w, o_d, o_id, o_customer, o_entered, o_lines)
  VALUES (at_w, at_d, o, of_c, CURRENT_TIMESTAMP, cardinality(wanted));
  INSERT INTO new_orders (n_w, n_d, n_o) VALUES (at_w, at_d, o);
  FOR line IN 1 .. cardinality(wanted) LOOP
    item := wanted[line]; supplier := suppliers[line]; taken := quantities[line];
    SELECT i_price INTO price FROM items WHERE i_id = item;
    IF NOT FOUND THEN
      ROLLBACK;
      RETURN;
    END IF;
    {TAKE}
  END LOOP;
END $$"
    );
    let pay = format!(
        "CREATE FUNCTION pay(at_w integer, at_d integer, of_w integer, of_d integer, of_c integer, paid bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE balance bigint;
BEGIN
  {PAY}
  SELECT c_balance INTO STRICT balance FROM customers WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  RETURN balance;
END $$"
    );
    let status = "CREATE FUNCTION order_status(at_w integer, at_d integer, of_c integer) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE o integer; amount bigint;
BEGIN
  PERFORM c_balance, c_first, c_last FROM customers WHERE c_w = at_w AND c_d = at_d AND c_id = of_c;
  SELECT max(o_id) INTO o FROM orders WHERE o_w = at_w AND o_d = at_d AND o_customer = of_c;
  SELECT sum(l_amount) INTO amount FROM order_lines WHERE l_w = at_w AND l_d = at_d AND l_o = o;
  RETURN amount;
END $$";
    vec![order, pay, status.into()]
}

/// Entry number `line` of a list with commas.
const ENTRY: &str = "CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(LIST, ',', line), ',', -1) AS SIGNED)";

fn mysql_trade() -> Vec<String> {
    let entry = |list: &str| ENTRY.replace("LIST", list);
    let order = format!(
        "CREATE PROCEDURE place_order(IN at_w INT, IN at_d INT, IN of_c INT, IN wanted VARCHAR(400), IN suppliers VARCHAR(400), \
         IN quantities VARCHAR(400))
work: BEGIN
  DECLARE o, line, item, supplier, taken, many INT;
  DECLARE price, tax, discount BIGINT;
  {UNDO}
  START TRANSACTION;
  SET many = 1 + LENGTH(wanted) - LENGTH(REPLACE(wanted, ',', '')), line = 1;
  SELECT w_tax INTO tax FROM warehouses WHERE w_id = at_w;
  SELECT c_discount INTO discount FROM customers WHERE c_w = at_w AND c_d = at_d AND c_id = of_c;
  UPDATE districts SET d_next = d_next + 1 WHERE d_w = at_w AND d_id = at_d;
  SELECT d_next - 1 INTO o FROM districts WHERE d_w = at_w AND d_id = at_d;
  INSERT INTO orders (o_w, o_d, o_id, o_customer, o_entered, o_lines)
  VALUES (at_w, at_d, o, of_c, CURRENT_TIMESTAMP, many);
  INSERT INTO new_orders (n_w, n_d, n_o) VALUES (at_w, at_d, o);
  WHILE line <= many DO
    SET item = {}, supplier = {}, taken = {}, price = NULL;
    SELECT i_price INTO price FROM items WHERE i_id = item;
    IF price IS NULL THEN
      ROLLBACK;
      LEAVE work;
    END IF;
    {TAKE}
    SET line = line + 1;
  END WHILE;
  COMMIT;
END",
        entry("wanted"),
        entry("suppliers"),
        entry("quantities"),
    );
    let pay = format!(
        "CREATE PROCEDURE pay(IN at_w INT, IN at_d INT, IN of_w INT, IN of_d INT, IN of_c INT, IN paid BIGINT)
BEGIN
  {UNDO}
  START TRANSACTION;
  {PAY}
  SELECT c_balance FROM customers WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  COMMIT;
END"
    );
    let status = "CREATE PROCEDURE order_status(IN at_w INT, IN at_d INT, IN of_c INT)
BEGIN
  DECLARE o INT;
  START TRANSACTION;
  SELECT c_balance, c_first, c_last FROM customers WHERE c_w = at_w AND c_d = at_d AND c_id = of_c;
  SELECT MAX(o_id) INTO o FROM orders WHERE o_w = at_w AND o_d = at_d AND o_customer = of_c;
  SELECT SUM(l_amount) FROM order_lines WHERE l_w = at_w AND l_d = at_d AND l_o = o;
  COMMIT;
END";
    vec![order, pay, status.into()]
}
