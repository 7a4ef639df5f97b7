-- plimsoll: what AWR reports lack, out of V$ views, where the Diagnostics Pack is not licensed
--
-- READ ONLY: it selects, and changes nothing but the number format of its own session.
-- LICENCE: it reads no DBA_HIST view and no active session history, which the Oracle Diagnostics Pack covers; V$ views of
--   counters need no pack. Check with your licence when in doubt.
-- CONTAINS: numbers of I/O, waits and time of this instance, numbers of data files, the database's name, DBID and version,
--   processors and memory. No SQL text, no names of users, schemas, objects, files or hosts.
-- RUN: sqlplus / as sysdba @collect.sql, at a busy time, on each instance of a cluster by itself. It takes eleven samples
--   a minute apart, after the last hour's minutes as the database kept them. It prints the samples when the ten minutes
--   are over: do not stop it before. Before 18c replace DBMS_SESSION.SLEEP by DBMS_LOCK.SLEEP, which has to be granted.
-- GIVES: plimsoll_oracle.jsonl in the current folder. Then: plimsoll demand plimsoll_oracle.jsonl
--
-- It was written from Oracle's documentation of these views, and not run against a database before it was released: read
-- it before you run it.
SET ECHO OFF FEEDBACK OFF VERIFY OFF HEADING OFF PAGESIZE 0 LINESIZE 4000 TRIMSPOOL ON TAB OFF TERMOUT OFF DEFINE OFF
ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,';
SET SERVEROUTPUT ON SIZE UNLIMITED FORMAT WRAPPED
SPOOL plimsoll_oracle.jsonl

SELECT '{"format":"plimsoll.snapshots/1","source":"oracle","program":"script 1","pack":false,"server":"' ||
       d.name || '","dbid":"' || d.dbid || '","version":"' || i.version || '"}'
FROM v$database d, v$instance i;

SELECT '{"row":"host","inst":"' || i.instance_number ||
       '","processors":"' || (SELECT max(value) FROM v$osstat WHERE stat_name = 'NUM_CPUS') ||
       '","cores":"' || (SELECT max(value) FROM v$osstat WHERE stat_name = 'NUM_CPU_CORES') ||
       '","memory_bytes":"' || (SELECT max(value) FROM v$osstat WHERE stat_name = 'PHYSICAL_MEMORY_BYTES') ||
       '","sga_bytes":"' || (SELECT sum(value) FROM v$sga) ||
       '","pga_bytes":"' || (SELECT max(value) FROM v$pgastat WHERE name = 'total PGA allocated') ||
       '","cache_bytes":"' || (SELECT max(current_size) FROM v$sga_dynamic_components
                               WHERE component = 'DEFAULT buffer cache') ||
       '","block_bytes":"' || (SELECT max(value) FROM v$parameter WHERE name = 'db_block_size') || '"}'
FROM v$instance i;

-- The minutes of the last hour.
SELECT '{"row":"metric","inst":"' || i.instance_number || '","at":"' || to_char(m.end_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","begin":"' || to_char(m.begin_time, 'YYYY-MM-DD"T"HH24:MI:SS') || '","seconds":"' || to_char(m.intsize_csec / 100, 'TM9') ||
       '","name":"' || m.metric_name || '","mean":"' || to_char(m.value, 'TM9') || '"}'
FROM v$sysmetric_history m CROSS JOIN v$instance i
WHERE m.group_id = 2 AND m.metric_name IN (
    'Physical Read Total IO Requests Per Sec', 'Physical Write Total IO Requests Per Sec',
    'Physical Read Total Bytes Per Sec', 'Physical Write Total Bytes Per Sec', 'Redo Generated Per Sec',
    'Redo Writes Per Sec', 'Average Synchronous Single-Block Read Latency')
ORDER BY m.end_time;

DECLARE
  samples CONSTANT PLS_INTEGER := 11;
  apart_s CONSTANT PLS_INTEGER := 60;

  PROCEDURE take IS
    place VARCHAR2(200);
    PROCEDURE put(kind VARCHAR2, text VARCHAR2) IS
    BEGIN
      DBMS_OUTPUT.PUT_LINE('{"row":"' || kind || place || text || '"}');
    END;
  BEGIN
    SELECT '","inst":"' || instance_number || '","at":"' || to_char(SYSDATE, 'YYYY-MM-DD"T"HH24:MI:SS') ||
           '","started":"' || to_char(startup_time, 'YYYY-MM-DD"T"HH24:MI:SS')
    INTO place FROM v$instance;
    FOR t IN (
      SELECT filetype_name, sum(small_read_reqs) small_read_reqs, sum(large_read_reqs) large_read_reqs,
             sum(small_write_reqs) small_write_reqs, sum(large_write_reqs) large_write_reqs,
             sum(small_read_megabytes) small_read_megabytes, sum(large_read_megabytes) large_read_megabytes,
             sum(small_write_megabytes) small_write_megabytes, sum(large_write_megabytes) large_write_megabytes,
             sum(small_read_servicetime) small_read_servicetime, sum(large_read_servicetime) large_read_servicetime,
             sum(small_write_servicetime) small_write_servicetime, sum(large_write_servicetime) large_write_servicetime
      FROM v$iostat_file GROUP BY filetype_name
    ) LOOP
      put('filetype', '","type":"' || t.filetype_name ||
        '","small_reads":"' || t.small_read_reqs || '","small_read_mb":"' || t.small_read_megabytes || '","small_read_ms":"' ||
          t.small_read_servicetime ||
        '","large_reads":"' || t.large_read_reqs || '","large_read_mb":"' || t.large_read_megabytes || '","large_read_ms":"' ||
          t.large_read_servicetime ||
        '","small_writes":"' || t.small_write_reqs || '","small_write_mb":"' || t.small_write_megabytes || '","small_write_ms":"' ||
          t.small_write_servicetime ||
        '","large_writes":"' || t.large_write_reqs || '","large_write_mb":"' || t.large_write_megabytes || '","large_write_ms":"' ||
          t.large_write_servicetime);
    END LOOP;
    FOR t IN (
      SELECT f.file# file_number, f.phyrds, f.phywrts, f.singleblkrds, f.phyblkrd * d.block_size bytes_read,
             f.phyblkwrt * d.block_size bytes_written
      FROM v$filestat f JOIN v$datafile d ON d.file# = f.file#
    ) LOOP
      put('file', '","file":"' || t.file_number || '","reads":"' || t.phyrds || '","writes":"' || t.phywrts ||
        '","single_reads":"' || t.singleblkrds || '","bytes_read":"' || t.bytes_read ||
        '","bytes_written":"' || t.bytes_written);
    END LOOP;
    FOR t IN (SELECT stat_name, value FROM v$sys_time_model WHERE stat_name IN ('DB time', 'DB CPU')) LOOP
      put('time', '","name":"' || t.stat_name || '","seconds":"' || to_char(t.value / 1e6, 'TM9'));
    END LOOP;
    FOR t IN (SELECT name, value FROM v$sysstat WHERE name = 'user commits') LOOP
      put('stat', '","name":"' || t.name || '","value":"' || t.value);
    END LOOP;
    FOR t IN (
      SELECT event, total_waits, time_waited_micro, total_waits_fg FROM v$system_event WHERE event IN (
    'db file sequential read', 'db file scattered read', 'db file parallel read', 'read by other session',
    'direct path read', 'direct path write', 'direct path read temp', 'direct path write temp', 'log file sync',
    'log file parallel write', 'db file parallel write', 'control file sequential read',
    'control file parallel write', 'cell single block physical read', 'cell multiblock physical read',
    'cell list of blocks physical read', 'cell smart table scan')
    ) LOOP
      put('event', '","name":"' || t.event || '","waits":"' || t.total_waits || '","seconds":"' ||
        to_char(t.time_waited_micro / 1e6, 'TM9') || '","foreground":"' || t.total_waits_fg);
    END LOOP;
    FOR t IN (
      SELECT event, wait_time_micro, wait_count FROM v$event_histogram_micro WHERE event IN (
    'db file sequential read', 'db file scattered read', 'db file parallel read', 'read by other session',
    'direct path read', 'direct path write', 'direct path read temp', 'direct path write temp', 'log file sync',
    'log file parallel write', 'db file parallel write', 'control file sequential read',
    'control file parallel write', 'cell single block physical read', 'cell multiblock physical read',
    'cell list of blocks physical read', 'cell smart table scan')
    ) LOOP
      put('bucket', '","name":"' || t.event || '","upto_us":"' || t.wait_time_micro || '","waits":"' || t.wait_count);
    END LOOP;
  END;
BEGIN
  FOR n IN 1 .. samples LOOP
    take;
    IF n < samples THEN
      DBMS_SESSION.SLEEP(apart_s);
    END IF;
  END LOOP;
END;
/

SPOOL OFF
SET TERMOUT ON HEADING ON FEEDBACK ON PAGESIZE 14
PROMPT plimsoll_oracle.jsonl is written: plimsoll demand plimsoll_oracle.jsonl
