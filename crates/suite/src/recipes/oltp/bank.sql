-- name: table
CREATE TABLE branches (bid INTEGER NOT NULL PRIMARY KEY, bbalance INTEGER, filler {char88})

-- name: table
CREATE TABLE tellers (tid INTEGER NOT NULL PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler {char84})

-- name: table
CREATE TABLE accounts (aid INTEGER NOT NULL PRIMARY KEY, bid INTEGER, abalance INTEGER, filler {char84})

-- name: table
CREATE TABLE history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler {char22})

-- name: check
SELECT (SELECT sum(abalance) FROM accounts), (SELECT sum(tbalance) FROM tellers),
  (SELECT sum(bbalance) FROM branches), (SELECT sum(delta) FROM history), (SELECT count(*) FROM history)

-- name: update_account
UPDATE accounts SET abalance = abalance + ? WHERE aid = ?

-- name: select_account
SELECT abalance FROM accounts WHERE aid = ?

-- name: insert_history
INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)

-- name: update_teller
UPDATE tellers SET tbalance = tbalance + ? WHERE tid = ?

-- name: update_branch
UPDATE branches SET bbalance = bbalance + ? WHERE bid = ?
