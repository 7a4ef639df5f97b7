-- name: move_money
CREATE FUNCTION move_money(of_account integer, by_teller integer, at_branch integer, moved integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE balance integer;
BEGIN
  UPDATE accounts SET abalance = abalance + moved WHERE aid = of_account;
  SELECT abalance INTO STRICT balance FROM accounts WHERE aid = of_account;
  UPDATE tellers SET tbalance = tbalance + moved WHERE tid = by_teller;
  UPDATE branches SET bbalance = bbalance + moved WHERE bid = at_branch;
  INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (by_teller, at_branch, of_account, moved, CURRENT_TIMESTAMP);
  RETURN balance;
END $$

-- name: move_simply
CREATE FUNCTION move_simply(of_account integer, by_teller integer, at_branch integer, moved integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE balance integer;
BEGIN
  UPDATE accounts SET abalance = abalance + moved WHERE aid = of_account;
  SELECT abalance INTO STRICT balance FROM accounts WHERE aid = of_account;
  INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (by_teller, at_branch, of_account, moved, CURRENT_TIMESTAMP);
  RETURN balance;
END $$

-- name: place_order
CREATE PROCEDURE place_order(at_w integer, at_d integer, of_c integer, items_text text, suppliers_text text,
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
    UPDATE stock SET s_quantity = s_quantity - taken + CASE WHEN s_quantity >= taken + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + taken, s_orders = s_orders + 1, s_remote = s_remote + CASE WHEN supplier = at_w THEN 0 ELSE 1 END
    WHERE s_w = supplier AND s_item = item;
    INSERT INTO order_lines (l_w, l_d, l_o, l_number, l_item, l_supply, l_quantity, l_amount, l_info)
    VALUES (at_w, at_d, o, line, item, supplier, taken, price * taken, 'as in the stock of this line');
  END LOOP;
END $$

-- name: pay
CREATE FUNCTION pay(at_w integer, at_d integer, of_w integer, of_d integer, of_c integer, paid bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE balance bigint;
BEGIN
  UPDATE warehouses SET w_ytd = w_ytd + paid WHERE w_id = at_w;
  UPDATE districts SET d_ytd = d_ytd + paid WHERE d_w = at_w AND d_id = at_d;
  UPDATE customers SET c_balance = c_balance - paid, c_paid = c_paid + paid, c_payments = c_payments + 1
  WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  INSERT INTO payments (p_w, p_d, p_of_w, p_of_d, p_of_c, p_amount, p_made)
  VALUES (at_w, at_d, of_w, of_d, of_c, paid, CURRENT_TIMESTAMP);
  SELECT c_balance INTO STRICT balance FROM customers WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  RETURN balance;
END $$

-- name: order_status
CREATE FUNCTION order_status(at_w integer, at_d integer, of_c integer) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE o integer; amount bigint;
BEGIN
  PERFORM c_balance, c_first, c_last FROM customers WHERE c_w = at_w AND c_d = at_d AND c_id = of_c;
  SELECT max(o_id) INTO o FROM orders WHERE o_w = at_w AND o_d = at_d AND o_customer = of_c;
  SELECT sum(l_amount) INTO amount FROM order_lines WHERE l_w = at_w AND l_d = at_d AND l_o = o;
  RETURN amount;
END $$
