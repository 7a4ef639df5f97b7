-- name: move_money
CREATE PROCEDURE move_money(IN of_account INT, IN by_teller INT, IN at_branch INT, IN moved INT)
BEGIN
  DECLARE balance INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  UPDATE accounts SET abalance = abalance + moved WHERE aid = of_account;
  SELECT abalance INTO balance FROM accounts WHERE aid = of_account;
  UPDATE tellers SET tbalance = tbalance + moved WHERE tid = by_teller;
  UPDATE branches SET bbalance = bbalance + moved WHERE bid = at_branch;
  INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (by_teller, at_branch, of_account, moved, CURRENT_TIMESTAMP);
  COMMIT;
  SELECT balance;
END

-- name: move_simply
CREATE PROCEDURE move_simply(IN of_account INT, IN by_teller INT, IN at_branch INT, IN moved INT)
BEGIN
  DECLARE balance INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  UPDATE accounts SET abalance = abalance + moved WHERE aid = of_account;
  SELECT abalance INTO balance FROM accounts WHERE aid = of_account;
  INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (by_teller, at_branch, of_account, moved, CURRENT_TIMESTAMP);
  COMMIT;
  SELECT balance;
END

-- name: place_order
CREATE PROCEDURE place_order(IN at_w INT, IN at_d INT, IN of_c INT, IN wanted VARCHAR(400),
  IN suppliers VARCHAR(400), IN quantities VARCHAR(400))
work: BEGIN
  DECLARE o, line, item, supplier, taken, many INT;
  DECLARE price, tax, discount BIGINT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
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
    SET item = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(wanted, ',', line), ',', -1) AS SIGNED),
      supplier = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(suppliers, ',', line), ',', -1) AS SIGNED),
      taken = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(quantities, ',', line), ',', -1) AS SIGNED),
      price = NULL;
    SELECT i_price INTO price FROM items WHERE i_id = item;
    IF price IS NULL THEN
      ROLLBACK;
      LEAVE work;
    END IF;
    UPDATE stock SET s_quantity = s_quantity - taken + CASE WHEN s_quantity >= taken + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + taken, s_orders = s_orders + 1, s_remote = s_remote + CASE WHEN supplier = at_w THEN 0 ELSE 1 END
    WHERE s_w = supplier AND s_item = item;
    INSERT INTO order_lines (l_w, l_d, l_o, l_number, l_item, l_supply, l_quantity, l_amount, l_info)
    VALUES (at_w, at_d, o, line, item, supplier, taken, price * taken, 'as in the stock of this line');
    SET line = line + 1;
  END WHILE;
  COMMIT;
END

-- name: pay
CREATE PROCEDURE pay(IN at_w INT, IN at_d INT, IN of_w INT, IN of_d INT, IN of_c INT, IN paid BIGINT)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  UPDATE warehouses SET w_ytd = w_ytd + paid WHERE w_id = at_w;
  UPDATE districts SET d_ytd = d_ytd + paid WHERE d_w = at_w AND d_id = at_d;
  UPDATE customers SET c_balance = c_balance - paid, c_paid = c_paid + paid, c_payments = c_payments + 1
  WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  INSERT INTO payments (p_w, p_d, p_of_w, p_of_d, p_of_c, p_amount, p_made)
  VALUES (at_w, at_d, of_w, of_d, of_c, paid, CURRENT_TIMESTAMP);
  SELECT c_balance FROM customers WHERE c_w = of_w AND c_d = of_d AND c_id = of_c;
  COMMIT;
END

-- name: order_status
CREATE PROCEDURE order_status(IN at_w INT, IN at_d INT, IN of_c INT)
BEGIN
  DECLARE o INT;
  START TRANSACTION;
  SELECT c_balance, c_first, c_last FROM customers WHERE c_w = at_w AND c_d = at_d AND c_id = of_c;
  SELECT MAX(o_id) INTO o FROM orders WHERE o_w = at_w AND o_d = at_d AND o_customer = of_c;
  SELECT SUM(l_amount) FROM order_lines WHERE l_w = at_w AND l_d = at_d AND l_o = o;
  COMMIT;
END
