-- name: column
c{number} BLOB NOT NULL

-- name: table
CREATE TABLE {name} (place INTEGER PRIMARY KEY, k INTEGER NOT NULL, {typed})

-- name: numbers
(WITH RECURSIVE n(x) AS (SELECT {from} UNION ALL SELECT x + 1 FROM n WHERE x < {to} - 1) SELECT x FROM n) n

-- name: fill
INSERT INTO {name} (place, k, {columns}) SELECT x, k, {values} FROM {keys}

-- name: count
SELECT {schema}, (SELECT count(*) FROM {name}), (SELECT count(*) FROM dbstat WHERE name = '{name}'
  AND pagetype <> 'internal')

-- name: select
SELECT sum(length(c2)) FROM {name} WHERE k > ? AND k < ?

-- name: update
UPDATE {name} SET {set} WHERE k > ? AND k < ?

-- name: finish
CREATE UNIQUE INDEX {name}_k ON {name} (k)

-- name: finish
ANALYZE {name}
