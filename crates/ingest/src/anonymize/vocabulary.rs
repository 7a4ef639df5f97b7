//! Words that are nobody's names: titles of columns, sections and counters, as the programs themselves print them. A word
//! that is not here is taken for a name.

/// Of AWR reports, Statspack and AWR-Miner.
pub(super) const ORACLE: &str = "\
1st 2nd first second set sets 64-bit letters m s x awr compare period standby aas aas_max about absolute access act active activity actual addm address adg admin advanced advisory
aggr aggregate alerts all alloc allocated allocation allocs also amount and applic application apply aq archive
archived are area as ash asm at auto autotune av avail average avg avg/s awr_miner_ver b background backup been
begin begin-average-active-sessions begin-database-parameters begin-io-object-type begin-io-wait-histogram
begin-iostat-by-function begin-main-metrics begin-memory begin-memory-pga-advice begin-memory-sga-advice
begin-os-information begin-osstat begin-size-on-disk begin-sysstat begin-top-n-timed-events
begin-top-sql-by-snapid begin-top-sql-summary bg bind bit bkgd_t_per_s bkt blks blks/rd block blocking blocks
bound breakdown buf buff buffer buffer_cache buffered buffers bufwt build busy by bytes cache cached call calls
calls/s calls/tx capture caused cdb cell cell_io_int_mb cell_io_int_mb_max celldisk celldisks cells chains
changes changes/s changes/tx channel characteristics checkpoint child circuit ckpt class classes clien client
clones clu cluster cnt cols comment commit commits commits_s common comp compilation complete component
components compression concurcy concurrency concy config configuration conflict conflicts congestion congst
connection connections conns container containers contention control control_files coordinator cores
corresponding count counts cpu cpu/io cpus cr created criteria current curs/sess cursor cursors cursors/session
d data database databases dataobj dations day db db/inst db_block_changes_s db_block_gets_s db_cpu_ratio db_name
db_wait_ratio dbtime dbwr default deq dequeue derived desc description detail detailed details device dictionary
diff difference different direct dirty disk diskgroups disks disp dispatch dispatcher dispatchers displayed
displays dml dropped dur_m duration dw dynamic e each edition ee efficiency ela elap elaps elapsd elapsed end
end-average-active-sessions end-database-parameters end-io-object-type end-io-wait-histogram
end-iostat-by-function end-main-metrics end-memory end-memory-pga-advice end-memory-sga-advice
end-os-information end-osstat end-size-on-disk end-sysstat end-top-n-timed-events end-top-sql-by-snapid
end-top-sql-summary end-value enq enqueue entry errors es/er/eu est estd estimate estimated etc eval eval/sec
event event_name events exadata exe exec exec_s execs execs/s execs/tx execute executes execution executions
exists extra factor factr fail/s fail/tx failed failure features fg file filename files filetype final finding
findings first fixed flash flashback flow flush flushes for foregroun foreground frame free freeabl freeable
from function function/file function/filetype function_name functions fusion gb gc gc_bk_corrupted gc_bk_lost
gc_cr_get_cs gc_cr_rec_s gc_cu_get_cs gc_cu_rec_s gcs gcs/ges ges get gets global griddisk griddisks grow/imm
hard hard_p_s hash have header headers health high hist histogram histograms history hit hits holder host hosts
hour hr hrs i i/o ic id idl idle ids if im immed immediate in in-memory include includes incoming index
indicators indir indirect info information init.ora initial initialization inst inst# instance instance-related
instance_number instances interconnect interface internal interval inval invali io iops ios ios/s iostat iowait
ip ipc is it itl java k kb kb/sec keep key l_reads_s large last latch latency lc len length level lgwr library
light limit linux list load lob local locality lock locks log log_buffer logfile logical logon logons logons/s
logons/tx logons_s logons_total long lost lost/s lost/tx low m-pass main management manager manual master max
maximum mb mb/s mbytes/sec mean megabytes mem memory message messages messaging mgr min min/max mins minutes
mismatch miss missed misses mod mode model modified module most ms msec msg msgs msgs/sec mttr multi-valued
mutex n/a name names namespace net network no no-sql no-wait non-key non-online non-parse none normal not nowait
num num_cpu_cores num_cpu_sockets num_cpus number obj object objects of offload old oltp on only oos op open
opened oper operating operations ops opt optimal optimized or ordered os os_cpu os_cpu_max other others out
outgoing outlier outliers outs over overallo overalloc overrun overwrites owner p p1 p1/p2/p3 p2 p3 package
parallel parameter parameters parent parents parse parses parses/s parses/tx partial passthru pct pdb per
percent percentages persistent pga phy phys physical physical_memory_gb pid pin ping pins pl/sql place plan
platform platform_name pmon pool population pq prefix prevented primary proc procedures process processed procs
profile program px_sess qmn qry query queue queued queues queuing rac range rate rates ratio rd rdbms rds rds/s
re read read+write read+write/s read/write read/written read_bks read_bks_direct read_iops read_iops_max
read_mb_s read_mb_s_max reader reads reads/s reads/tx receive received recent recovery recv recycle redo
redo_mb_s redoblks redundancy referred release releases reloads reloads/sec remaster remastering remote rep
repeated replacements replication report repository reqs request requested requests resize resolutions resource
resources restore ret reverse reverseoffload role rollbacks root row rows rule running s_blk_r_lat samples saved
scan scans scheduler schema sckts se se_sess sec second secondary seconds section segment segments self send
sent sequence serial served server servers service services sess session sessions set sets settings sga sga+pga
sga_target sharable shared sharing shown sid simulator size size_gb sizes skip slave sleep sleeps slot slps
small small_read_gb smart smon snap snap_id snaps snapshot snapshots sockets sort source sp space spfile spill
spin sql sql*net sql_res_t_cs sqlplus src srvrs sta startup stat stat_name stat_value state statements static
statistic statistics stats statspack stby stbys std stddev sto storage stream streams subobject subprogram succ
success sum summary supplemental switches sync sys sysstat system systems sz table table/procedure tablespace
tablespaces target targt task tcp_receive_size_max tcp_receive_size_min tcp_send_size_default tcp_send_size_max
tcp_send_size_min temp text the this thousands thread throughput tim time timed timeout timeouts timer times tm
to top total total_wait_s tr trans transaction transactions transfer ts tx txn txns txns/s typ/mod type
type/mode types uga uio undo undostat unique unoptimized unread unspill up us us/ur/uu usage use used user
users_ utilization value values variable version via virtual vol/sec volume w/a w/exec wait wait_class
wait_count wait_pct_of_total wait_time_milli waiter waiting waits wcpu where wio with work workarea workareas
workload works writ write write_bks write_bks_direct write_iops write_iops_max write_mb_s write_mb_s_max writes
writes/s writes/tx writn written wt wts x86 xids xstream yes zero";

/// Of iostat, sar, sadf and vmstat.
pub(super) const HOST: &str = "\
aarch64 all am aqu-sz areq-sz average avg-cpu avgqu-sz avgrq-sz await bdscd/s bi blk_read blk_read/s blk_wrtn
blk_wrtn/s blocked bo bread/s buff bwrtn/s cache cpu cs d/s d_await dareq-sz date dev device discards disk
disk_device dkb/s dmb/s drqm drqm/s dtps f/s f_await fault/s flushes free gnice guest hostname hosts i686 id
idle in interval io iowait irq kb_dscd kb_dscd/s kb_read kb_read/s kb_wrtn kb_wrtn/s ldavg-1 ldavg-15 ldavg-5
linux linux-restart machine majflt/s mb_dscd mb_dscd/s mb_read mb_read/s mb_wrtn mb_wrtn/s memory merged nice
nodename number-of-cpus pgpgin/s pgpgout/s plist-sz pm ppc64le procs pswpin/s pswpout/s r/s r_await rareq-sz
rd_sec/s reads release restart rkb/s rmb/s rrqm rrqm/s rsec/s rtps runq-sz s390x sectors si so soft st
statistics steal summary svctm swap swpd sy sys sysname sysstat system time timestamp tps us user usr utc util
w/s w_await wa wareq-sz wkb/s wmb/s wr_sec/s writes wrqm wrqm/s wsec/s wtps x86_64";

/// Of PostgreSQL and `MySQL`.
pub(super) const DATABASE: &str = "\
srv_master_thread loops srv_active srv_shutdown srv_idle pages lru young made modified db evicted ahead random
without access length age checkpoint chkp i/o thread threads normal creates/s inserts/s updates/s deletes/s spin
rounds rows inserted updated deleted queries inside queue row type mutex flushed up to written created hit rate active_time adaptive aio and archiver autovacuum averages avg avg_read avg_write backend backend_type background
bgwriter blk_read_time blk_write_time blks_hit blks_read buffer buffers_alloc buffers_backend buffers_checkpoint
buffers_clean buffers_written bulkread bulkwrite bytes bytes/read calculated calls checkpointer checkpoints_req
checkpoints_timed client connections context count_read count_write datid datname deadlocks evictions
extend_bytes extend_time extends file flush from fsync_time fsyncs fsyncs/s gib hash hits ibuf index init innodb
insert io kib last launcher local_blks_read local_blks_written log maxwritten_clean memory mib monitor normal
now num_requested num_timed numbackends object op_bytes opened_files operations os output pct pending per pool
queries questions read_bytes read_time reads reads/s record relation reuses row rows second seconds semaphores
session_time shared_blk_read_time shared_blk_write_time shared_blks_hit shared_blks_read shared_blks_written
slotsync standalone startup stats_reset sync temp temp_blks_read temp_blks_written temp_bytes temp_files the
total_exec_time total_read total_written tup_fetched tup_returned uptime vacuum value variable variable_name wal
wal_buffers_full wal_bytes wal_fpi wal_records wal_sync wal_sync_time wal_write wal_write_time walsender
walwriter worker write_bytes write_time writeback_time writebacks writes writes/s xact_commit xact_rollback";

/// Of fio.
pub(super) const FIO: &str = "\
bins bs bw bw_agg bw_bytes bw_dev bw_max bw_mean bw_min bw_samples clat clat_ns clat_us client_stats ctx direct
directory disk_util drop_ios elapsed error eta fdatasync filename fio fsync global group_reporting groupid
in_queue io_bytes io_kbytes io_uring iodepth iodepth_complete iodepth_level iodepth_submit ioengine iops
iops_max iops_mean iops_min iops_samples iops_stddev job job_runtime jobname jobs lat lat_ns lat_us
latency_depth latency_ms latency_ns latency_percentile latency_target latency_us latency_window libaio majf max
mean min minf n name norandommap numjobs options percentile psync ramp_time randread randrepeat randrw randwrite
read read_ios read_merges read_sectors read_ticks readwrite runtime rw rwmixread rwmixwrite short_ios size slat
slat_ns slat_us stddev sync sys_cpu time_based timestamp_ms total_ios trim usr_cpu util version write write_ios
write_merges write_sectors write_ticks";

/// Beginnings of counters of `MySQL`, and of the settings that stand among them.
pub(super) const COUNTERS: [&str; 24] = [
    "aborted_",
    "binlog_",
    "bytes_",
    "com_",
    "connection_",
    "created_",
    "delayed_",
    "flush_",
    "handler_",
    "innodb_",
    "key_",
    "max_used_",
    "not_flushed_",
    "open_",
    "opened_",
    "performance_schema_",
    "prepared_stmt_",
    "qcache_",
    "rpl_",
    "select_",
    "slave_",
    "slow_",
    "sort_",
    "table_",
];
