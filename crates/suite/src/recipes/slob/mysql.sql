-- name: column
c{number} VARBINARY({column}) NOT NULL

-- name: table
CREATE TABLE {name} (place BIGINT NOT NULL PRIMARY KEY, k BIGINT, {typed}) ENGINE = InnoDB ROW_FORMAT = DYNAMIC

-- name: numbers
(WITH RECURSIVE n AS (SELECT {from} * 2 AS x UNION ALL SELECT x + 1 FROM n WHERE x < {to} * 2 - 1) SELECT x FROM n) n

-- name: fill
INSERT INTO {name} (place, k, {columns}) SELECT x, IF(x & 1, NULL, k), {values} FROM {keys}

-- name: count
SELECT {schema}, (SELECT COUNT(k) FROM {name}), DATA_LENGTH DIV {block} FROM information_schema.TABLES
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}'

-- name: call
CALL slob_work_{schema}({burst}, {seed}, {pct})

-- name: place
SET r = {first} + FLOOR(RAND() * {count});

-- name: hot
 IF n % {frequency} = 0 THEN SET r = {first} + FLOOR(RAND() * {count}); END IF;

-- name: think
IF FLOOR(RAND() * {frequency}) = 0 THEN DO SLEEP({least} + RAND() * {more}); END IF;

-- name: finish
CREATE UNIQUE INDEX {name}_k ON {name} (k)

-- name: finish
ANALYZE TABLE {name}

-- name: finish
CREATE PROCEDURE slob_work_{schema}(burst BIGINT, seed1 BIGINT, seed2 BIGINT, pct INT)
BEGIN
  DECLARE began, t1, t2, t3 DATETIME(6);
  DECLARE answer LONGTEXT DEFAULT '';
  DECLARE part TEXT DEFAULT '';
  DECLARE n, r, seen BIGINT DEFAULT 0;
  DECLARE v VARBINARY({length});
  SET SESSION time_zone = '+00:00', SESSION rand_seed1 = seed1, SESSION rand_seed2 = seed2,
    SESSION optimizer_switch = 'mrr=off';
  SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET n = COALESCE(@plimsoll_unit, seed2 % 100);
  SET began = SYSDATE(6);
  REPEAT
    {place}
    IF pct = 100 OR (n % 2 = 1 AND n % 100 DIV 2 < pct) THEN
      SET v = {value};
      START TRANSACTION;
      SET t1 = SYSDATE(6);
      UPDATE {name} FORCE INDEX ({name}_k) SET {set} WHERE k > r - {unit} AND k < r;
      SET t2 = SYSDATE(6);
      COMMIT;
      SET t3 = SYSDATE(6);
      SET part = CONCAT(part, '1 ', TIMESTAMPDIFF(MICROSECOND, began, t1), ' ', TIMESTAMPDIFF(MICROSECOND, t1, t2), ' 2 ',
        TIMESTAMPDIFF(MICROSECOND, began, t2), ' ', TIMESTAMPDIFF(MICROSECOND, t2, t3), ' ');
    ELSE
      SET t1 = SYSDATE(6);
      SELECT SUM(LENGTH(c2)) INTO seen FROM {name} FORCE INDEX ({name}_k) WHERE k > r - {unit} AND k < r;
      SET t2 = SYSDATE(6);
      SET part = CONCAT(part, '0 ', TIMESTAMPDIFF(MICROSECOND, began, t1), ' ', TIMESTAMPDIFF(MICROSECOND, t1, t2), ' ');
    END IF;
    SET n = n + 1;
    IF LENGTH(part) > 4000 THEN
      SET answer = CONCAT(answer, part);
      SET part = '';
    END IF;
    {think}
  UNTIL TIMESTAMPDIFF(MICROSECOND, began, SYSDATE(6)) >= burst END REPEAT;
  SET @plimsoll_unit = n;
  SELECT CONCAT(answer, part) AS answer;
END
