-- plimsoll: what AWR reports lack, out of AWR's history of the last eight days
--
-- READ ONLY: it selects, and changes nothing but the number format of its own session.
-- LICENCE: it reads DBA_HIST views, for which the Oracle Diagnostics Pack has to be licensed (and the parameter
--   CONTROL_MANAGEMENT_PACK_ACCESS to allow it). Without: plimsoll collect oracle --without-diagnostics-pack
-- CONTAINS: numbers of I/O, waits and time by instance and snapshot, the highest minute of each snapshot, the database's
--   name, DBID and version, processors and memory. No SQL text, no names of users, schemas, objects, files or hosts.
-- RUN: sqlplus / as sysdba @collect.sql, in the root of a container database, or as any user who may select these views.
--   Eight days of hourly snapshots take seconds to a few minutes. Change the 8 in NUMTODSINTERVAL for other spans.
-- GIVES: plimsoll_oracle.jsonl in the current folder. Then: plimsoll demand plimsoll_oracle.jsonl
--
-- It was written from Oracle's documentation of these views, and not run against a database before it was released: read
-- it before you run it.
SET ECHO OFF FEEDBACK OFF VERIFY OFF HEADING OFF PAGESIZE 0 LINESIZE 4000 TRIMSPOOL ON TAB OFF TERMOUT OFF DEFINE OFF
ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,';
SPOOL plimsoll_oracle.jsonl

SELECT '{"format":"plimsoll.snapshots/1","source":"oracle","program":"script 1","pack":true,"server":"' ||
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

-- Means and highest minutes of each snapshot.
SELECT '{"row":"metric","inst":"' || s.instance_number || '","at":"' || to_char(s.end_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","started":"' || to_char(s.startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","begin":"' || to_char(s.begin_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') || '","seconds":"' ||
       round((CAST(s.end_interval_time AS DATE) - CAST(s.begin_interval_time AS DATE)) * 86400) ||
       '","name":"' || t.metric_name || '","mean":"' || to_char(t.average, 'TM9') ||
       '","max":"' || to_char(t.maxval, 'TM9') || '"}'
FROM dba_hist_snapshot s JOIN dba_hist_sysmetric_summary t
  ON t.snap_id = s.snap_id AND t.dbid = s.dbid AND t.instance_number = s.instance_number
WHERE s.dbid = (SELECT dbid FROM v$database) AND s.end_interval_time > SYSTIMESTAMP - NUMTODSINTERVAL(8, 'DAY')
  AND t.metric_name IN (
    'Physical Read Total IO Requests Per Sec', 'Physical Write Total IO Requests Per Sec',
    'Physical Read Total Bytes Per Sec', 'Physical Write Total Bytes Per Sec', 'Redo Generated Per Sec',
    'Redo Writes Per Sec', 'Average Synchronous Single-Block Read Latency')
ORDER BY s.instance_number, s.end_interval_time;

-- Reads and writes by type of file.
SELECT '{"row":"filetype","inst":"' || s.instance_number || '","at":"' || to_char(s.end_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","started":"' || to_char(s.startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","type":"' || t.filetype_name ||
       '","small_reads":"' || t.small_read_reqs || '","small_read_mb":"' || t.small_read_megabytes || '","small_read_ms":"' ||
         t.small_read_servicetime ||
       '","large_reads":"' || t.large_read_reqs || '","large_read_mb":"' || t.large_read_megabytes || '","large_read_ms":"' ||
         t.large_read_servicetime ||
       '","small_writes":"' || t.small_write_reqs || '","small_write_mb":"' || t.small_write_megabytes || '","small_write_ms":"' ||
         t.small_write_servicetime ||
       '","large_writes":"' || t.large_write_reqs || '","large_write_mb":"' || t.large_write_megabytes || '","large_write_ms":"' ||
         t.large_write_servicetime || '"}'
FROM dba_hist_snapshot s JOIN dba_hist_iostat_filetype t
  ON t.snap_id = s.snap_id AND t.dbid = s.dbid AND t.instance_number = s.instance_number
WHERE s.dbid = (SELECT dbid FROM v$database) AND s.end_interval_time > SYSTIMESTAMP - NUMTODSINTERVAL(8, 'DAY')
ORDER BY s.instance_number, s.end_interval_time;

-- DB time and DB CPU.
SELECT '{"row":"time","inst":"' || s.instance_number || '","at":"' || to_char(s.end_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","started":"' || to_char(s.startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","name":"' || t.stat_name || '","seconds":"' || to_char(t.value / 1e6, 'TM9') || '"}'
FROM dba_hist_snapshot s JOIN dba_hist_sys_time_model t
  ON t.snap_id = s.snap_id AND t.dbid = s.dbid AND t.instance_number = s.instance_number
WHERE s.dbid = (SELECT dbid FROM v$database) AND s.end_interval_time > SYSTIMESTAMP - NUMTODSINTERVAL(8, 'DAY')
  AND t.stat_name IN ('DB time', 'DB CPU')
ORDER BY s.instance_number, s.end_interval_time;

-- Commits.
SELECT '{"row":"stat","inst":"' || s.instance_number || '","at":"' || to_char(s.end_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","started":"' || to_char(s.startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","name":"' || t.stat_name || '","value":"' || t.value || '"}'
FROM dba_hist_snapshot s JOIN dba_hist_sysstat t
  ON t.snap_id = s.snap_id AND t.dbid = s.dbid AND t.instance_number = s.instance_number
WHERE s.dbid = (SELECT dbid FROM v$database) AND s.end_interval_time > SYSTIMESTAMP - NUMTODSINTERVAL(8, 'DAY')
  AND t.stat_name = 'user commits'
ORDER BY s.instance_number, s.end_interval_time;

-- Waits for storage, and how long single ones took.
SELECT '{"row":"event","inst":"' || s.instance_number || '","at":"' || to_char(s.end_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","started":"' || to_char(s.startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","name":"' || t.event_name || '","waits":"' || t.total_waits ||
       '","seconds":"' || to_char(t.time_waited_micro / 1e6, 'TM9') || '","foreground":"' || t.total_waits_fg || '"}'
FROM dba_hist_snapshot s JOIN dba_hist_system_event t
  ON t.snap_id = s.snap_id AND t.dbid = s.dbid AND t.instance_number = s.instance_number
WHERE s.dbid = (SELECT dbid FROM v$database) AND s.end_interval_time > SYSTIMESTAMP - NUMTODSINTERVAL(8, 'DAY')
  AND t.event_name IN (
    'db file sequential read', 'db file scattered read', 'db file parallel read', 'read by other session',
    'direct path read', 'direct path write', 'direct path read temp', 'direct path write temp', 'log file sync',
    'log file parallel write', 'db file parallel write', 'control file sequential read',
    'control file parallel write', 'cell single block physical read', 'cell multiblock physical read',
    'cell list of blocks physical read', 'cell smart table scan')
ORDER BY s.instance_number, s.end_interval_time;

SELECT '{"row":"bucket","inst":"' || s.instance_number || '","at":"' || to_char(s.end_interval_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","started":"' || to_char(s.startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') ||
       '","name":"' || t.event_name || '","upto_us":"' || t.wait_time_milli * 1000 ||
       '","waits":"' || t.wait_count || '"}'
FROM dba_hist_snapshot s JOIN dba_hist_event_histogram t
  ON t.snap_id = s.snap_id AND t.dbid = s.dbid AND t.instance_number = s.instance_number
WHERE s.dbid = (SELECT dbid FROM v$database) AND s.end_interval_time > SYSTIMESTAMP - NUMTODSINTERVAL(8, 'DAY')
  AND t.event_name IN (
    'db file sequential read', 'db file scattered read', 'db file parallel read', 'read by other session',
    'direct path read', 'direct path write', 'direct path read temp', 'direct path write temp', 'log file sync',
    'log file parallel write', 'db file parallel write', 'control file sequential read',
    'control file parallel write', 'cell single block physical read', 'cell multiblock physical read',
    'cell list of blocks physical read', 'cell smart table scan')
ORDER BY s.instance_number, s.end_interval_time;

SPOOL OFF
SET TERMOUT ON HEADING ON FEEDBACK ON PAGESIZE 14
PROMPT plimsoll_oracle.jsonl is written: plimsoll demand plimsoll_oracle.jsonl
