-- name: table
CREATE TABLE warehouses (w_id INTEGER NOT NULL PRIMARY KEY, w_name {short}, w_tax INTEGER, w_ytd BIGINT)

-- name: table
CREATE TABLE districts (d_w INTEGER NOT NULL, d_id INTEGER NOT NULL, d_name {short}, d_tax INTEGER, d_ytd BIGINT,
  d_next INTEGER, PRIMARY KEY (d_w, d_id))

-- name: table
CREATE TABLE customers (c_w INTEGER NOT NULL, c_d INTEGER NOT NULL, c_id INTEGER NOT NULL, c_first {short},
  c_last {short}, c_credit {short}, c_discount INTEGER, c_balance BIGINT, c_paid BIGINT, c_payments INTEGER,
  c_info {long}, PRIMARY KEY (c_w, c_d, c_id))

-- name: table
CREATE TABLE items (i_id INTEGER NOT NULL PRIMARY KEY, i_name {short}, i_price BIGINT, i_info {info})

-- name: table
CREATE TABLE stock (s_w INTEGER NOT NULL, s_item INTEGER NOT NULL, s_quantity INTEGER, s_ytd BIGINT,
  s_orders INTEGER, s_remote INTEGER, s_info {long}, PRIMARY KEY (s_w, s_item))

-- name: table
CREATE TABLE orders (o_w INTEGER NOT NULL, o_d INTEGER NOT NULL, o_id INTEGER NOT NULL, o_customer INTEGER,
  o_entered TIMESTAMP, o_lines INTEGER, PRIMARY KEY (o_w, o_d, o_id))

-- name: table
CREATE TABLE new_orders (n_w INTEGER NOT NULL, n_d INTEGER NOT NULL, n_o INTEGER NOT NULL, PRIMARY KEY (n_w, n_d, n_o))

-- name: table
CREATE TABLE order_lines (l_w INTEGER NOT NULL, l_d INTEGER NOT NULL, l_o INTEGER NOT NULL,
  l_number INTEGER NOT NULL, l_item INTEGER, l_supply INTEGER, l_quantity INTEGER, l_amount BIGINT, l_info {info},
  PRIMARY KEY (l_w, l_d, l_o, l_number))

-- name: table
CREATE TABLE payments (p_w INTEGER, p_d INTEGER, p_of_w INTEGER, p_of_d INTEGER, p_of_c INTEGER, p_amount BIGINT,
  p_made TIMESTAMP)

-- name: index
CREATE INDEX orders_of_customer ON orders (o_w, o_d, o_customer, o_id)

-- name: check
SELECT (SELECT count(*) FROM orders), (SELECT sum(d_next - 1) FROM districts),
  (SELECT count(*) FROM order_lines), (SELECT sum(o_lines) FROM orders),
  (SELECT sum(w_ytd) FROM warehouses), (SELECT sum(d_ytd) FROM districts),
  (SELECT count(*) FROM payments), (SELECT count(*) FROM new_orders),
  (SELECT count(*) FROM districts LEFT JOIN (SELECT o_w, o_d, max(o_id) AS newest FROM orders GROUP BY o_w, o_d)
  AS orders_seen ON o_w = d_w AND o_d = d_id WHERE newest IS NULL OR newest <> d_next - 1)

-- name: statement
SELECT w_tax FROM warehouses WHERE w_id = ?

-- name: statement
SELECT c_discount, c_last, c_credit FROM customers WHERE c_w = ? AND c_d = ? AND c_id = ?

-- name: statement
UPDATE districts SET d_next = d_next + 1 WHERE d_w = ? AND d_id = ?

-- name: statement
SELECT d_next - 1, d_tax FROM districts WHERE d_w = ? AND d_id = ?

-- name: statement
INSERT INTO orders (o_w, o_d, o_id, o_customer, o_entered, o_lines) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?)

-- name: statement
INSERT INTO new_orders (n_w, n_d, n_o) VALUES (?, ?, ?)

-- name: statement
SELECT i_price, i_name FROM items WHERE i_id = ?

-- name: statement
UPDATE stock SET s_quantity = s_quantity - ? + CASE WHEN s_quantity >= ? + 10 THEN 0 ELSE 91 END, s_ytd = s_ytd + ?,
  s_orders = s_orders + 1, s_remote = s_remote + ? WHERE s_w = ? AND s_item = ?

-- name: statement
INSERT INTO order_lines (l_w, l_d, l_o, l_number, l_item, l_supply, l_quantity, l_amount, l_info)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'as in the stock of this line')

-- name: statement
UPDATE warehouses SET w_ytd = w_ytd + ? WHERE w_id = ?

-- name: statement
UPDATE districts SET d_ytd = d_ytd + ? WHERE d_w = ? AND d_id = ?

-- name: statement
UPDATE customers SET c_balance = c_balance - ?, c_paid = c_paid + ?, c_payments = c_payments + 1
  WHERE c_w = ? AND c_d = ? AND c_id = ?

-- name: statement
SELECT c_balance FROM customers WHERE c_w = ? AND c_d = ? AND c_id = ?

-- name: statement
INSERT INTO payments (p_w, p_d, p_of_w, p_of_d, p_of_c, p_amount, p_made) VALUES (?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP)

-- name: statement
SELECT c_balance, c_first, c_last FROM customers WHERE c_w = ? AND c_d = ? AND c_id = ?

-- name: statement
SELECT max(o_id) FROM orders WHERE o_w = ? AND o_d = ? AND o_customer = ?

-- name: statement
SELECT l_item, l_supply, l_quantity, l_amount FROM order_lines WHERE l_w = ? AND l_d = ? AND l_o = ?
