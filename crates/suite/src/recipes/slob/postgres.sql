-- name: column
c{number} bytea NOT NULL

-- name: table
CREATE TABLE {name} (k bigint NOT NULL, {typed}) WITH (fillfactor = 10, autovacuum_enabled = off,
  toast.autovacuum_enabled = off)

-- name: table
ALTER TABLE {name} {plain}

-- name: numbers
generate_series({from}::bigint, {to}::bigint - 1) AS g(x)

-- name: fill
INSERT INTO {name} (k, {columns}) SELECT k, {slices} FROM (SELECT k, {value} AS v FROM {keys} OFFSET 0) r

-- name: count
SELECT {schema}, (SELECT count(*) FROM {name}), pg_relation_size('{name}') / {block}

-- name: call
CALL slob_work_{schema}({burst}, {seed}, {pct}, NULL)

-- name: place
r := {first} + floor(random() * {count});

-- name: hot
 IF n % {frequency} = 0 THEN r := {first} + floor(random() * {count}); END IF;

-- name: think
IF floor(random() * {frequency}) = 0 THEN PERFORM pg_sleep({least} + random() * {more}); END IF;

-- name: finish
CREATE UNIQUE INDEX {name}_k ON {name} (k)

-- name: finish
VACUUM (FREEZE, ANALYZE) {name}

-- name: finish
CREATE PROCEDURE slob_work_{schema}(burst bigint, seed bigint, pct integer, INOUT answer text) LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz; t1 timestamptz; t2 timestamptz; t3 timestamptz;
  units bigint[] := '{}'; i integer := 0; n bigint; r bigint; v bytea; seen bigint;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
    set_config('plan_cache_mode', 'force_generic_plan', false), setseed(seed / 9007199254740992.0);
  n := coalesce(nullif(current_setting('plimsoll.unit', true), '')::bigint, seed % 100);
  began := clock_timestamp();
  LOOP
    {place}
    IF pct = 100 OR (n % 2 = 1 AND n % 100 / 2 < pct) THEN
      v := {value};
      t1 := clock_timestamp();
      UPDATE {name} SET {set} WHERE k > r - {unit} AND k < r;
      t2 := clock_timestamp();
      COMMIT;
      t3 := clock_timestamp();
      units[i + 1] := 1;
      units[i + 2] := extract(epoch FROM t1 - began) * 1000000;
      units[i + 3] := extract(epoch FROM t2 - t1) * 1000000;
      units[i + 4] := 2;
      units[i + 5] := extract(epoch FROM t2 - began) * 1000000;
      units[i + 6] := extract(epoch FROM t3 - t2) * 1000000;
      i := i + 6;
    ELSE
      t1 := clock_timestamp();
      SELECT sum(length(c2)) INTO seen FROM {name} WHERE k > r - {unit} AND k < r;
      t2 := clock_timestamp();
      units[i + 1] := 0;
      units[i + 2] := extract(epoch FROM t1 - began) * 1000000;
      units[i + 3] := extract(epoch FROM t2 - t1) * 1000000;
      i := i + 3;
      IF pct > 0 THEN COMMIT; END IF;
    END IF;
    n := n + 1;
    {think}
    EXIT WHEN extract(epoch FROM clock_timestamp() - began) * 1000000 >= burst;
  END LOOP;
  PERFORM set_config('plimsoll.unit', n::text, false);
  answer := array_to_string(units, ' ');
END $$
