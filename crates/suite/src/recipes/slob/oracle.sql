-- name: column
c{number} VARCHAR2({column})

-- name: table
CREATE TABLE {name} (k NUMBER NOT NULL, {typed}) PCTFREE 99 NOCOMPRESS NOCACHE

-- name: numbers
(SELECT {from} + LEVEL - 1 AS x FROM dual CONNECT BY LEVEL <= {to} - {from}) n

-- name: fill
INSERT INTO {name} (k, {columns}) SELECT k, {values} FROM {keys} ORDER BY x

-- name: count
SELECT {schema}, COUNT(*), COUNT(DISTINCT DBMS_ROWID.ROWID_RELATIVE_FNO(ROWID) || '.' ||
  DBMS_ROWID.ROWID_BLOCK_NUMBER(ROWID)) FROM {name}

-- name: call
CALL slob_work_{schema}({burst}, {seed}, {pct})

-- name: place
r := {first} + TRUNC(DBMS_RANDOM.VALUE * {count});

-- name: hot
 IF MOD(n, {frequency}) = 0 THEN r := {first} + TRUNC(DBMS_RANDOM.VALUE * {count}); END IF;

-- name: think
IF TRUNC(DBMS_RANDOM.VALUE * {frequency}) = 0 THEN DBMS_SESSION.SLEEP({least} + DBMS_RANDOM.VALUE * {more}); END IF;

-- name: finish
CREATE UNIQUE INDEX {name}_k ON {name} (k)

-- name: finish
BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, UPPER('{name}')); END;

-- name: finish
CREATE OR REPLACE PROCEDURE slob_work_{schema}(burst IN NUMBER, seed IN NUMBER, pct IN NUMBER) AS
  began TIMESTAMP(6); t1 TIMESTAMP(6); t2 TIMESTAMP(6); t3 TIMESTAMP(6);
  n NUMBER; r NUMBER; seen NUMBER; v VARCHAR2({column}); units CLOB; part VARCHAR2(32767); answer SYS_REFCURSOR;
  FUNCTION us(a TIMESTAMP, b TIMESTAMP) RETURN NUMBER IS
    d INTERVAL DAY TO SECOND(6) := b - a;
  BEGIN
    RETURN ROUND(((EXTRACT(DAY FROM d) * 24 + EXTRACT(HOUR FROM d)) * 60 + EXTRACT(MINUTE FROM d)) * 60000000
      + EXTRACT(SECOND FROM d) * 1000000);
  END;
BEGIN
  DBMS_RANDOM.SEED(seed);
  DBMS_LOB.CREATETEMPORARY(units, TRUE);
  n := NVL(TO_NUMBER(SYS_CONTEXT('USERENV', 'CLIENT_INFO')), MOD(seed, 100));
  began := SYSTIMESTAMP;
  LOOP
    {place}
    IF pct = 100 OR (MOD(n, 2) = 1 AND TRUNC(MOD(n, 100) / 2) < pct) THEN
      v := {value};
      t1 := SYSTIMESTAMP;
      UPDATE {name} SET {set} WHERE k > r - {unit} AND k < r;
      t2 := SYSTIMESTAMP;
      COMMIT WRITE IMMEDIATE WAIT;
      t3 := SYSTIMESTAMP;
      part := part || '1 ' || us(began, t1) || ' ' || us(t1, t2) || ' 2 ' || us(began, t2) || ' ' || us(t2, t3) || ' ';
    ELSE
      t1 := SYSTIMESTAMP;
      SELECT COUNT(c2) INTO seen FROM {name} WHERE k > r - {unit} AND k < r;
      t2 := SYSTIMESTAMP;
      part := part || '0 ' || us(began, t1) || ' ' || us(t1, t2) || ' ';
    END IF;
    n := n + 1;
    IF LENGTH(part) > 30000 THEN
      DBMS_LOB.WRITEAPPEND(units, LENGTH(part), part);
      part := NULL;
    END IF;
    {think}
    EXIT WHEN us(began, SYSTIMESTAMP) >= burst;
  END LOOP;
  IF part IS NOT NULL THEN DBMS_LOB.WRITEAPPEND(units, LENGTH(part), part); END IF;
  DBMS_APPLICATION_INFO.SET_CLIENT_INFO(TO_CHAR(n));
  OPEN answer FOR SELECT units FROM dual;
  DBMS_SQL.RETURN_RESULT(answer);
END;
