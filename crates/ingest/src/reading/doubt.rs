//! Reasons to doubt the figures of an input: data, with the sentence and its remedy.

use jiff::civil::DateTime;
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use super::translate;

/// A reason to doubt an input or a part of it.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Doubt {
    // Skipped pieces of any format.
    #[error("{item} without {lacks}: skipped", item = translate(item), lacks = translate(lacks))]
    IncompleteItem { item: &'static str, lacks: &'static str },
    #[error("{value} is not a number: skipped")] NotANumber { value: &'static str },
    #[error("an unreadable {item}: skipped")] UnreadableItem { item: &'static str },
    #[error("not {item}: skipped")] UnknownItem { item: &'static str },
    #[error("a row with {cells} cells under {columns} columns: skipped")] RowWidth { cells: usize, columns: usize },
    #[error("{item} with invalid JSON, after an interrupted recording or copy: skipped")]
    InvalidJson { item: &'static str },
    #[error("impossible {item}: skipped")] ImpossibleItem { item: &'static str },
    #[error("{value} is not a plausible figure: skipped")] ImplausibleFigure { value: f64 },
    #[error("a line of more than {limit} bytes: skipped")] LongLine { limit: usize },
    #[error("further cautions: only the first are listed")] FurtherCautions,

    // Truncated and damaged inputs.
    #[error("it ends within {item}: copy it again")] EndsWithin { item: String },
    #[error("its last line has no line end and is cut within its last value, {value} ({reason}): skipped; copy it again")]
    LastLineCut { value: String, reason: &'static str },
    #[error("its last line has no line end, so its last value, {value}, may be cut ({reason}): copy it again, or end the line \
        if it is complete")] LastValueMayBeCut { value: String, reason: &'static str },
    #[error("it was copied with {marks}, which {treatment}: provide the original if figures are unexpected")]
    TextRepaired { marks: &'static str, treatment: &'static str },
    #[error("the compressed file ends early or is damaged: copy it again")] CompressedFileDamaged,
    #[error("the archive is truncated: copy it again")] ArchiveTruncated,
    #[error("the archive is damaged: create it again")] ArchiveDamaged,
    #[error("it is truncated or damaged from here on, and the part before is used: export it again")] JsonTruncated,
    #[error("it is not JSON from here on ({error}), because it is truncated or has decimal commas: run it with \
        LC_ALL=C")] JsonDamaged { error: String },
    #[error("{wrong}")] DamagedTrace { wrong: String },

    // Counters and their windows.
    #[error("a single snapshot: its counters have no known start, so there are no rates; take a second snapshot some \
        minutes later and give both files, or run plimsoll collect, which takes a series")] SingleSnapshot,
    #[error("a single snapshot of counters, whose figures are means since their start and hide all peaks: provide a \
        second snapshot")] MeanSinceReset,
    #[error("another input has counters of the same time: omit either input")] SameTime,
    #[error("a time counter went back, which kernels occasionally allow: skipped in this window")] TimeCounterFell,
    #[error("a counter fell since the preceding snapshot because of a reset or restart, so this window is skipped: \
        take snapshots at shorter intervals")] CounterReset,
    #[error("it restarted between two snapshots (its uptime fell): this window is skipped")] Restarted,
    #[error("the statistics were reset since the preceding snapshot, and the windows around the reset are skipped: \
        take snapshots without a reset in between")] StatisticsReset,
    #[error("a snapshot lacks rows of {view} that the preceding snapshot has, because the file is truncated or the query \
        changed: skipped; copy it again")] SnapshotLacksRows { view: &'static str },
    #[error("interpreted as differences (mysqladmin -r), since the second sample is lower than the first: if the \
        server restarted in between, provide the samples before and after as two files")] DifferencesAssumed,
    #[error("sample_ms is the time since the computer started, while its counters begin with the server: with a single \
        sample the rates may be too low")] AgeOfComputer,

    #[error("it lacks the columns {columns}, so that latencies of these operations are unknown: select them too")]
    StallsMissing { columns: String },

    // Times and lengths.
    #[error("several {items} without times: specify their interval")] UntimedSamples { items: &'static str },
    #[error("it has no times, so they start at 1 January 1970: specify --begin")] NoTimes,
    #[error("the clock did not advance since the preceding {item}: skipped")] ClockStuck { item: &'static str },
    #[error("the clock goes back here, and overlapping windows count once: check the times")] ClockBack,
    #[error("its local times repeat or omit an hour near {at}, as clocks do at the begin and end of daylight saving time, and \
        are read as {zone}: specify --time-zone, such as Europe/Berlin")] ClockChange { at: DateTime, zone: String },
    #[error("the times go back: sort the rows by time")] UnorderedRows,
    #[error("time goes back by up to {max}: operations are counted in the second of their timestamp")]
    UnorderedOperations { max: Span },
    #[error("its times go back, because it contains logs of several jobs: their values are averaged")]
    LogsOfSeveralJobs,
    #[error("its time differs by more than a year from the preceding record: skipped")] DistantTime,
    #[error("its times are in {zone}, an abbreviation that several zones share: specify --time-zone")]
    AmbiguousZone { zone: String },
    #[error("day and month of its dates may be swapped, and the {first} is assumed to come first: write dates as \
        2026-01-31, as iostat and sar do with S_TIME_FORMAT=ISO")] AmbiguousDates { first: &'static str },
    #[error("the specified interval of {stated} contradicts its times, which are {median} apart and count: omit \
        --interval for it")] IntervalContradicted { stated: Span, median: Span },
    #[error("it lacks the interval of its samples, and a second is assumed: specify --interval")] IntervalAssumed,
    #[error("a single sample without the length of its window: {length} is assumed; specify --interval")]
    LengthAssumed { length: Span },
    #[error("intervals are assumed to be {minutes} min, from the times of their last operations")]
    IntervalsDerived { minutes: f64 },
    #[error("its only report is a mean since the host was started (unless it was run with -y), which hides all peaks: \
        let it run longer, as in iostat -xt 10 or vmstat -t 10")] MeanSinceStart,
    #[error("it lacks the time since then: a day is assumed")] DaySinceStart,
    #[error("a single sample with the mean since the host was started, which hides all peaks: let atop take more \
        samples")] SampleSinceStart,
    #[error("{columns} count blocks, which are read as {bytes} bytes each, as Linux prints them since 2.6: use iostat -xk if its \
        version prints others")] BlocksAssumed { columns: &'static str, bytes: u32 },
    #[error("a report without an interval is a mean since the tasks started: skipped; run pidstat -d 10")] MeanOfTasks,

    #[error("rows that repeat a time are skipped: {count}; name the column of their volume `volume` if they are of \
        several")] RepeatedRows { count: u64 },

    // Numbers of tables.
    #[error("cells of {column} that are not numbers are skipped: {count}, such as {example:?}; write numbers as 1234.5, \
        1k or 8MB")] UnreadableCells { column: String, count: u64, example: String },
    #[error("numbers such as {example} may have three decimals or groups of thousands, and it is read as {value}: \
        export them without groups, and decimals with one or two digits")]
    AmbiguousNumbers { example: String, value: f64 },
    #[error("its mean operation has {bytes:.1} bytes, less than a sector: check the columns of operations and bytes, \
        and their units")] ImpossibleSize { bytes: f64 },
    #[error("depth {depth} with a mean latency of {mean_ms:.3} ms allows at most {allowed:.1} operations a second \
        (Little's law), but it has {iops:.1}: check the columns and the unit of the latency")]
    ImpossibleRate { depth: f64, mean_ms: f64, allowed: f64, iops: f64 },

    // Layers of devices.
    #[error("operations are counted at the software RAID {above}: names do not say which disks are its members, so \
        {below} are assumed to be their members and excluded from totals; use --only to count a single device{}",
        not_counted(idle.as_deref()))] ArraysCounted { above: String, below: String, idle: Option<String> },
    #[error("operations are counted at the software RAID {array}, and its disks {disks} are left out of totals; --only \
        counts one device alone")] ArrayCounted { array: String, disks: String },
    #[error("operations are counted at the disks {below}: the software RAID {above} carried {percent:.1} % of their \
        bytes or operations; use --only to count a single device")] DisksCounted { below: String, above: String, percent: f64 },
    #[error("operations are counted at {below}: {above} carry the same bytes, so they are layers of it and excluded \
        from totals; use --only to count a single device")] LayersCounted { below: String, above: String },
    #[error("operations are counted at {below}: by their names, {above} are partitions of them, devices above them, sums or \
        no storage, and are excluded from totals; use --only to count a single device")]
    NamedLayers { below: String, above: String },
    #[error("it has no disks, and {devices} may be layered, which counts operations twice: provide a report with the \
        disks below them")] PossibleLayers { devices: String },
    #[error("the total lacks {total} of the devices, so the devices are counted instead")]
    TotalIncomplete { total: &'static str },

    // Sizes of inputs.
    #[error("more than {limit} devices: the others are skipped; provide fewer")] TooManyDevices { limit: usize },
    #[error("more than {limit} volumes: the others are merged")] TooManyVolumes { limit: usize },
    #[error("{count} volumes: the {reported} busiest are reported separately")]
    BusiestVolumes { count: usize, reported: usize },
    #[error("too many snapshots: split the spooled file into parts")] TooManySnapshots,
    #[error("too many samples before their times: provide the file unsorted, as written by nmon")] SortedSamples,
    #[error("it has more figures than the limit for an input, so quiet neighbouring samples were joined to windows of \
        up to {window}; the busiest samples, highest values and percentiles are those of the input")]
    Coarsened { window: String },

    // The meaning of figures.
    #[error("its values are rounded for the screen: record with {option} for exact ones")]
    RoundedValues { option: &'static str },
    #[error("it has bytes without operations: record {command} for both")] BytesOnly { command: &'static str },
    #[error("it has bytes of tasks without operations, and counts writes when pages become dirty: for operations and \
        latencies, record iostat -xt at the same time")] BytesOfTasks,
    #[error("{count} rows of tasks have unknown bytes (-1), which its sums lack: run pidstat as root")]
    TasksUnknown { count: u64 },
    #[error("{part} lacks values of {class} in {lacking} of {windows} windows, and sums are without them there: provide them, \
        or count a single part with --only")]
    PartsMissing { part: String, class: &'static str, lacking: usize, windows: usize },
    #[error("the values of {part} are the sum or the mean of all others in each window, and sums contain both: leave it out \
        unless it is a volume of its own, or count a single part with --only")] PartOfOthers { part: String },
    #[error("columns of counts are whole and only rise, so they are interpreted as counters: {columns}; name rates \
        read_iops or read_bytes_s")] CountersAssumed { columns: String },
    #[error("columns of counts are interpreted as rates per second: {columns}; name them read_iops or read_bytes_s, and \
        divide counts of an interval by its seconds")] CountsAssumedRates { columns: String },
    #[error("its reads and writes go through the operating system, whose page cache may answer: compare with iostat or \
        /proc/diskstats of the same time for the operations of storage")] PageCache,
    #[error("reads and writes go through the system's page cache: files smaller than twice the memory do not measure \
        storage")] SmallFiles,
    #[error("pages omit idle disks, so means cover busy times only: run `atop -r FILE -P DSK`")] IdleDisksOmitted,
    #[error("all tables are in a single line (sadf -h), from which devices are not read: omit -h")] SingleLine,
    #[error("columns without a recognised quantity are skipped: {columns}: rename those with rates, such as read_iops, \
        write_iops, read_bytes_s, write_mbps")] UnknownColumns { columns: String },
    #[error("columns of maxima, percentiles and the like are skipped, so the highest values are means of a window: \
        {columns}")] OtherStatistics { columns: String },
    #[error("column {column} has no unit: milliseconds are assumed; rename it to {column}_us or {column}_s if it has another")]
    LatencyUnitAssumed { column: String },
    #[error("column {column}: megabytes are assumed, although Mb usually means megabits: rename it with MB, or divide it by 8")]
    BitsAssumedBytes { column: String },
    #[error("{count} counters, while kernels have 11, 15 or 17: the last ones are skipped")]
    UnknownCounters { count: usize },
    #[error("while it was collected: {note}")] CollectorNote { note: String },

    // Metrics of clouds and monitoring systems.
    #[error("{value} is not a whole number, so these are not sums, and operations and bytes are unknown: query with \
        {query}")] NotASum { value: f64, query: &'static str },
    #[error("{label}: {statistic} of a count covers a single sample, and the number of samples in a period is unknown: \
        query the statistic Sum")] StatisticOfCounts { label: String, statistic: String },
    #[error("{label}: {statistic} of a rate is no rate: export the statistic Average")]
    StatisticOfRates { label: String, statistic: String },
    #[error("{device} is a disk of the instance itself, without files of the database: left out")]
    OwnDisk { device: String },
    #[error("the response has further pages: provide them as well")] FurtherPages,
    #[error("the response lacks its statistic: operations, bytes and times are assumed to be sums of each interval")]
    SumsAssumed,
    #[error("points without the required statistic are skipped: query {statistic} of {totals}, and Average of other \
        metrics")] OtherStatistic { statistic: &'static str, totals: &'static str },
    #[error("results with equal labels are distinguished by their ids")] EqualLabels,
    #[error("another value for the time of an earlier line of the metric: skipped; query get-metric-data for the final value")]
    PointContradicted,
    #[error("it lacks the period of its points, which is {length} for metrics of EBS and RDS, although they are {distance} apart: \
        specify --interval if it is longer")] PeriodAssumed { length: Span, distance: Span },
    #[error("{part} was throttled at times: {metric} rises, and the demand exceeds these figures")]
    Throttled { part: String, metric: String },
    #[error("{part} was throttled {}: {metric} is at its limit in {}, and the demand exceeds these figures",
        how_often(*reached, *points), count_points(*reached, *points))] AtLimit { part: String, metric: String, reached: usize, points: usize },
    #[error("{part} did not answer {}: {metric} is above zero in {}, whose demand is unknown",
        how_often(*reached, *points), count_points(*reached, *points))] Stalled { part: String, metric: String, reached: usize, points: usize },
    #[error("page {number} is skipped: {error}")] PageSkipped { number: u32, error: String },
    #[error("the query failed ({error}): repeat it")] QueryFailed { error: String },
    #[error("its values are not counters, which are whole and only rise, and are interpreted as rates per second since \
        the preceding value")] RatesAssumed,
    #[error("it has series without names, as results of rate() and sums do, whose quantity is unknown: query the \
        counters by name, such as node_disk_reads_completed_total, without functions")] NamelessSeries,

    // Reports of Oracle Database.
    #[error("its last line, `End of Report`, is missing, so tables may be missing too: save it again")] NoEndOfReport,
    #[error("the statistics are empty: figures come from rounded tables")] EmptyStatistics,
    #[error("the counter of multi-block reads is inconsistent with the bytes: random and sequential reads are not \
        separated")] MultiBlockReads,
    #[error("redo is counted in log writes (redo writes), once for all members of a group: multiply by their number")]
    RedoOfGroups,
    #[error("redo is counted in log writes (redo writes), once for all members of a group: the writes contain those of \
        other members and of control files, {others_s:.1}/s")] RedoOfGroupsInTotal { others_s: f64 },
    #[error("redo is counted in requests of the log writer (LGWR), with those to control files")] RedoOfLogWriter,
    #[error("redo is counted in requests to log files, {requests_s:.1}/s: members of groups and pieces of the \
        {writes_s:.1} log writes/s (redo writes)")] RedoOfFiles { requests_s: f64, writes_s: f64 },
    #[error("it lacks the time of sessions, which is derived from the share of the largest of its top events: a \
        rounded sum of processor time and waits, with those of background processes")] SessionTimeDerived,
    #[error("only the events with most time are known: the rest of the database's time is in no counter")]
    TopEventsOnly,
    #[error("sessions waited for {waited_s:.0} s and used processors for {processor_s:.0} s, longer than the {database_s:.0} s of \
        the database's time allow, so that some of these figures are wrong: provide the report as the database wrote it")]
    WaitsExceedTime { waited_s: f64, processor_s: f64, database_s: f64 },
    #[error("{class} are known in bytes only, and their operations are missing: provide the rows of I/O requests, or the \
        whole report")] OperationsMissing { class: &'static str },
    #[error("the time of a wait event is not readable, because its cells are shifted, cut or too long for their column \
        (####): waits of sessions are left out; provide the report as HTML, or as the text that the database wrote")]
    UnreadableWaits,
    #[error("its window is {days:.1} days: days and nights are averaged, peaks are many times higher, and it is \
        unsuitable for sizing; provide a report for each hour")] WindowOfDays { days: f64 },
    #[error("its window is {minutes:.0} minutes, which hides shorter peaks: provide a report for each hour")]
    LongWindow { minutes: f64 },
    #[error("it ends before it begins, because the clock of its host was set back: rates use its row `Elapsed:`")]
    EndBeforeBegin,
    #[error("the instance was started inside the window: counters begin anew, so its rates are too low; give reports \
        before and after")] StartedInside,
    #[error("a report of a pluggable database has no writes of the container: writes are taken from file types, and \
        redo is in the container's own report; provide that as well")] PluggableDatabase,
    #[error("it is of one instance of a cluster (RAC{}), and lacks the load of the others: provide their reports of the \
        same period as well", instances(*count))] InstanceOfCluster { count: Option<u32> },
    #[error("its instances were observed for different times: rates use the longest")] UnequalInstances,
    #[error("{name}: {counted:.1} a second by the counters, {printed:.1} as printed: find the cause before using this \
        report")] InconsistentRate { name: &'static str, counted: f64, printed: f64 },
    #[error("{class} are known in blocks only, and their operations are missing: provide the table {table}")]
    BlocksOnly { class: &'static str, table: &'static str },
    #[error("reads and writes are rounded rates of its front page, without those of the log, because the rest of the \
        report is missing: provide the whole report")] FrontPageOnly,
    #[error("{class}: waits for {events} cover {} of them, so their latency is {other}", percent(*share))]
    OtherLatency { class: &'static str, events: String, share: f64, other: &'static str },
    #[error("{class}: waits for {events} cover {} of them, so the latency of all is unknown", percent(*share))]
    UnknownLatency { class: &'static str, events: String, share: f64 },
    #[error("windows of up to {minutes:.0} minutes, whose means hide shorter peaks: the highest minutes are included \
        as maxima")] LongWindowWithMaxima { minutes: f64 },
    #[error("{count} rates of bytes are printed as 0, which is less than 0.05 MB/s: reads and writes are estimated as \
        operations of a block each, redo is left out")] RatesOfZero { count: usize },
    #[error("the time of waits that are not among the first is estimated from their histograms, at three quarters of \
        each bound")] WaitsEstimated,
    #[error("{counted:.1} reads a second here, {sum:.1} in MAIN-METRICS: an instance may be missing there")]
    InstanceMissing { counted: f64, sum: f64 },

    // MySQL and PostgreSQL.
    #[error("fewer variables than in the first sample: check that it was copied completely")] FewerVariables,
    #[error("the output is truncated, by the server's limit of 1 MB or by an incomplete copy: use a file of the \
        server's monitor")] MonitorTruncated,
    #[error("the output is truncated by the next output")] MonitorInterrupted,
    #[error("its rates cover no time: wait some seconds between two SHOW ENGINE INNODB STATUS")] MonitorTooEarly,
    #[error("pending operations are instantaneous, not a mean over the window")] PendingOperations,
    #[error("bytes or times are rounded for display, and so are the differences between samples: the view with the \
        prefix x$ has exact values")] RoundedView,
    #[error("the block size is missing and assumed to be 8 KiB: add the result of SHOW block_size")] BlockSizeAssumed,
    #[error("no times of operations, because track_io_timing is off or was not queried: set it on for latencies")]
    UntimedOperations,
    #[error("no times of WAL writes, because track_wal_io_timing is off: set it on for latencies of commits")]
    UntimedLog,
    #[error("operations are counted in blocks: from version 17 on a read may fetch several, so the operations of \
        storage are at most these; PostgreSQL 18 counts operations")] CountedBlocks,
    #[error("operations of PostgreSQL 18 may have several blocks, and their bytes were not queried: select read_bytes, \
        write_bytes and extend_bytes too")] BytesNotQueried,
    #[error("bytes of WAL are those generated, without repeated writes of partially filled pages")] GeneratedLog,
    #[error("statements without queryid cannot be matched between snapshots and are skipped: select queryid too")]
    NamelessStatements,

    // Benchmarks.
    #[error("a row with ambiguous columns: provide the comma-separated line instead")] AmbiguousColumns,
    #[error("{}: took less than half a second and was not measured: use a larger size", translate(phase))]
    ShortPhase { phase: &'static str },
    #[error("scores are the best of several runs, and latencies the lowest: the mean is worse")] BestOfRuns,
    #[error("rows of {observed} of {threads} threads: its totals may lack the others")]
    ThreadsMissing { observed: usize, threads: f64 },
    #[error("its latencies have no unit and are left out: name the column latency_us or latency_ms")]
    LatencyUnitMissing,
    #[error("its latencies have no unit: {unit} follow from depth over rate (Little's law)")]
    LatencyUnitDerived { unit: &'static str },
    #[error("a maximum over points with different loads: its matrices contain all points")] MaximumOfPoints,
    #[error("latencies cover reads, writes and flushes together and are skipped: run it with --file-fsync-freq=0")]
    MixedLatencies,
    #[error("{job}: operations, time and rate of its {direction} are inconsistent: check for manual edits")]
    InconsistentJob { job: String, direction: &'static str },
    #[error("{job}: rate and latency imply {found:.0} operations in flight, but its depth is {depth:.0}: check for \
        manual edits")] InconsistentDepth { job: String, found: f64, depth: f64 },
    #[error("{job}: fio failed with error {error}: its figures cover the time before it")]
    FailedJob { job: String, error: u64 },
    #[error("{job}: {expected:.0} {direction} per second, but the results of the clients add up to {sum:.0}: copy the \
        results of all clients")] ClientsMissing { job: String, direction: &'static str, expected: f64, sum: f64 },
    #[error("no results of {hosts}: these clients ended early or lost their connection, so that sums lack them; repeat the \
        test, or leave them out")] ClientsWithoutResults { hosts: String },
    #[error("the last run has no end (`Run status group`): let it finish, and copy the whole file")] UnfinishedRun,
    #[error("fio prints results of clients without their names: hosts are assigned in the order of the lines `<host>`; \
        --output-format=json has the names")] NamelessClients,
    #[error("it only has the submission latency, which is not a latency of storage: provide the log of lat or clat")]
    SubmissionLatency,
    #[error("its rows are single operations: provide an averaged log (log_avg_msec=1000) for rates")] SingleOperations,

    // Traces.
    #[error("it lacks the unit of its times: {} are assumed{}", name_unit(unit), as_in(*precedent))]
    TimeUnitAssumed { unit: &'static str, precedent: Option<&'static str> },
    #[error("it lacks the block size: 512 bytes are assumed, as in all published traces")] SectorsAssumed,
    #[error("its format is not a default of blkparse: lengths are assumed to be {unit}, after the sector")]
    LengthUnitAssumed { unit: &'static str },
    #[error("its times are whole seconds: the order within a second is unknown")] WholeSeconds,
    #[error("its records are requested cache blocks of 4 KiB, which are more numerous than operations")] CacheBlocks,
    #[error("it does not distinguish reads and writes: all operations are in the same class")] ReadsAndWrites,
    #[error("it has no times, sizes or kinds, so there is a working set but no demand; pages are assumed to have 4 \
        KiB: scale the sizes of the curve for other sizes")] PagesOnly,
    #[error("its times are seconds since its start, and its recorder may have lost operations under load")]
    SecondsSinceStart,
    #[error("it has no issue events (D), so queue events (Q) are counted, before operations are merged")] QueueEvents,
    #[error("it has records of completions (C) alone: operations count when they ended, and how long they took is not \
        known")] CompletionsOnly,
    #[error("too many operations without completion: some latencies are missing")] CompletionsMissing,
    #[error("all of its records are of processor {number}: the files of the others belong to it, and answers that they \
        saw are missing (blkparse -i NAME -d FILE merges them)")] SingleProcessor { number: u32 },
    #[error("version 2 of the log has only waits: operations between two of them have equal times")] WaitsOnly,
    #[error("its waits are taken as microseconds after the wait before, as fio's manual has them; fio itself waits \
        until so many milliseconds after its start")] WaitsInMicroseconds,
    #[error("the first line is neither `fio version 2 iolog` nor `fio version 3 iolog`")] UnknownIolog,
    #[error("neither a read nor a write: skipped")] NeitherReadNorWrite,
    #[error("its time, action and sector are ambiguous: skipped")] AmbiguousRecord,
    #[error("all of its operations are at the same time, which gives no rate: provide a longer trace")] SingleMoment,
    #[error("the recorder dropped {count} operations: the demand was higher")] OperationsDropped { count: u64 },
    #[error("{count} operations of more than 16 MiB are not in the working set, because caches bypass them")]
    LargeOperations { count: u64 },

    // The combination of several inputs.
    #[error("{} of the {span} from the first to the last sample have no sample, the longest time from {begin} for {longest}: \
        peaks in them are unknown; provide the missing windows", percent(*share))]
    Gaps { share: f64, span: Span, begin: DateTime, longest: Span },
    #[error("{count} databases have the name {name}, and an input does not identify its database: process them \
        separately")] SharedName { count: usize, name: String },
    #[error("{count} databases have the name {name}: they are distinguished by their identifiers")]
    SharedNameIdentified { count: usize, name: String },
    #[error("{input}: its window is given twice: skipped")] WindowGivenTwice { input: String },
    #[error("{input}: its window overlaps another window: skipped")] WindowOverlaps { input: String },
    #[error("{input}: another report covers the whole database at that time: skipped")] WindowCovered { input: String },
    #[error("{input}: its clock goes back from {before} to {begin}: check the times")]
    ClockWentBack { input: String, before: DateTime, begin: DateTime },
}

impl Doubt {
    /// The doubt about an item that is skipped because it lacks a part.
    pub(crate) const fn lacking(item: &'static str, lacks: &'static str) -> Self {
        Self::IncompleteItem { item, lacks }
    }

    /// True for gaps in more than a tenth of the time.
    pub fn is_large_gap(&self) -> bool {
        const LARGE: f64 = 0.1;
        matches!(self, Self::Gaps { share, .. } if *share > LARGE)
    }

    /// A stable identifier of its kind for programs: the hyphenated name of the variant, such as `single-snapshot`.
    pub fn kind(&self) -> String {
        let name = format!("{self:?}");
        let letters = name.chars().take_while(char::is_ascii_alphanumeric).enumerate();
        let hyphen = |at, letter: char| (at > 0 && letter.is_ascii_uppercase()).then_some('-');
        letters.flat_map(|(at, letter)| hyphen(at, letter).into_iter().chain([letter.to_ascii_lowercase()])).collect()
    }
}

fn name_unit(unit: &str) -> &str {
    match unit {
        "seconds" => label!("seconds"),
        "milliseconds" => label!("milliseconds"),
        "microseconds" => label!("microseconds"),
        "nanoseconds" => label!("nanoseconds"),
        other => other,
    }
}

fn as_in(precedent: Option<&str>) -> String {
    precedent.map(|program| say!(", as in {program}")).unwrap_or_default()
}

fn instances(count: Option<u32>) -> String {
    count.map(|count| say!(", {count} instances")).unwrap_or_default()
}

/// How often something took place in points of a metric, as an adverb.
fn how_often(reached: usize, points: usize) -> &'static str {
    if reached < points { label!("at times") } else { label!("all the time") }
}

/// `3 of 60 points`, `all 60 points`.
fn count_points(reached: usize, points: usize) -> String {
    if reached < points { say!("{reached} of {points} points") } else { say!("all {points} points") }
}

fn not_counted(idle: Option<&str>) -> String {
    idle.map(|names| say!("; {names} had no operations, so that members of it are not counted")).unwrap_or_default()
}

fn percent(share: f64) -> String {
    if share < 0.0005 { label!("less than 0.1 %").to_owned() } else { format!("{:.1} %", share * 100.0) }
}
