//! Verdicts of suites on databases.

use plimsoll_analyse::closed;
use plimsoll_language::{label, say};
use plimsoll_record::{
    BenchNote, CacheRemedy, ConsistencyCheck, DelayAndQueue, FlushCounts, Inconsistency, LadderVerdict, OltpVerdict,
    OtherRows, SlobVerdict, SqlBenchVerdict, TestShare, WrongTable,
};
use plimsoll_units::{Bytes, Span};

use super::blocks::medium;
use super::{load, of_curve, percent};
use crate::words::sessions;

pub(super) fn oltp(verdict: &OltpVerdict) -> String {
    match verdict {
        OltpVerdict::MaximumTransactions { per_second, offered } => {
            say!("the most was {per_second:.0} transactions a second, at {}", load(offered))
        }
        OltpVerdict::Knee { knee } => {
            let mean = Span::from_secs_f64(knee.mean_ns / 1e9);
            let place = load(&knee.offered);
            say!("the knee is at {place}: {:.0} transactions a second, {mean} each on average", knee.iops)
        }
        OltpVerdict::Clients { share, excessive } => {
            let caution = if *excessive {
                label!(
                    ": caution, this is a part of the measured load; give the host more processors, or leave out --statements"
                )
            } else {
                ""
            };
            say!("the clients took {:.1} % of the host's processors{caution}", 100.0 * share)
        }
        OltpVerdict::TablesNotLoaded { tables } => {
            let table = |WrongTable { table, rows, expected }: &WrongTable| {
                say!("{table} has {rows} rows instead of {expected}")
            };
            let tables: Vec<String> = tables.iter().map(table).collect();
            say!("the tables were not loaded as they have to be: {}", tables.join(label!("; ")))
        }
        OltpVerdict::ConsistencyUnchecked { script } => {
            say!("consistency was not checked, because the run ended early: {}", checked_data(script))
        }
        OltpVerdict::Consistent { script } => say!("consistent: {}", checked_data(script)),
        OltpVerdict::InconsistentData { inconsistencies } => {
            let inconsistencies: Vec<String> = inconsistencies.iter().map(inconsistency).collect();
            say!("INCONSISTENT DATA: {}", inconsistencies.join(label!("; ")))
        }
        OltpVerdict::TpcCLike { rolled_back } => say!(
            "this is TPC-C-like, not TPC-C: {rolled_back} new orders were rolled back intentionally (about 1 % of them), \
             customers are found only by number, and there are no deliveries"
        ),
    }
}

fn inconsistency(found: &Inconsistency) -> String {
    let check = match found.check {
        ConsistencyCheck::AccountBalances => label!("balances of accounts, by the history"),
        ConsistencyCheck::TellerBalances => label!("balances of tellers, by the history"),
        ConsistencyCheck::BranchBalances => label!("balances of branches, by the history"),
        ConsistencyCheck::HistoryRows => label!("rows of the history, by committed transactions"),
        ConsistencyCheck::Orders => label!("orders, by the numbers that districts gave out"),
        ConsistencyCheck::OrderLines => label!("lines of orders, by the line counts of the orders"),
        ConsistencyCheck::Money => label!("money of warehouses in hundredths, by that of their districts"),
        ConsistencyCheck::NewestOrders => label!("districts whose newest order is not the last assigned number"),
        ConsistencyCheck::Undelivered => label!("new orders that are not delivered, by orders"),
        ConsistencyCheck::CommittedOrders => label!("new orders, by committed transactions"),
        ConsistencyCheck::CommittedPayments => label!("payments, by committed transactions"),
    };
    let Inconsistency { found, expected, unsure, .. } = found;
    let unsure = if *unsure > 0 { say!(" and at most {unsure} more") } else { String::new() };
    say!("{check}: {found} instead of {expected}{unsure}")
}

fn checked_data(script: &str) -> &'static str {
    match script {
        "new-order" => label!("numbers of orders, their lines, the money, and the committed transactions"),
        "select-only" => label!("balances and the empty history"),
        _ => label!("balances, the history, and the committed transactions"),
    }
}

pub(super) fn ladder(verdict: &LadderVerdict) -> String {
    match verdict {
        LadderVerdict::PoorFit { error_share } => say!(
            "one delay and one queue do not describe this ladder: their best fit is off by up to {}",
            percent(*error_share)
        ),
        LadderVerdict::Station { fitted, sessions, mean } => station(fitted, *sessions, mean.as_secs_f64()),
        LadderVerdict::NoStation { sessions: last, ratio, first_sessions } => say!(
            "no station was found that sessions queue for: {} brought {ratio:.1} times as many executions as {}. Climb \
             further: --concurrency up to {} or more",
            sessions(*last),
            sessions(*first_sessions),
            4 * last
        ),
        LadderVerdict::EndedEarly { sessions: count, done, planned } => say!(
            "the rung of {} ended early, after {done} of {planned} executions: it is in the table, and in no fit",
            sessions(*count)
        ),
        LadderVerdict::Fetched { table_bytes, sessions: count, fetched_bytes } => {
            say!("of the table's {table_bytes}, each scan at {} fetched {fetched_bytes} from storage", sessions(*count))
        }
        LadderVerdict::TableInCache { table_bytes, cache_bytes, page_cache } => say!(
            "the table of {table_bytes} fits into {} of {cache_bytes}: scans may have been served from memory; give a larger \
             --table, or limit --memory",
            if *page_cache { label!("memory for the page cache") } else { label!("the database's cache") }
        ),
        LadderVerdict::EqualRows { executions } => say!("all {executions} executions brought the same rows"),
        LadderVerdict::DifferentRows { rungs } => {
            let rung =
                |rung: &OtherRows| say!("{} of {} at {}", rung.differing, rung.executions, sessions(rung.sessions));
            let rungs: Vec<String> = rungs.iter().map(rung).collect();
            say!(
                "executions with other rows than the first: {}. If the result of the statement should not change, this is \
                 an error",
                rungs.join(label!(", "))
            )
        }
        LadderVerdict::PublishedStation { fitted, published } => say!(
            "the article's ladder is that of a station with {} of an execution, so that it took {:.1} sessions to fill it; \
             this one has {} and takes {:.1}",
            percent(station_share(published)),
            closed::saturation(published),
            percent(station_share(fitted)),
            closed::saturation(fitted)
        ),
    }
}

/// Share of the station in an execution without queueing.
fn station_share(fitted: &DelayAndQueue) -> f64 {
    let (demand, delay) = (fitted.demand.as_secs_f64(), fitted.delay.as_secs_f64());
    demand / (demand + delay).max(1e-9)
}

fn station(fitted: &DelayAndQueue, count: u32, mean_s: f64) -> String {
    let (demand, delay) = (fitted.demand.as_secs_f64(), fitted.delay.as_secs_f64());
    let per_minute = 60.0 / demand.max(1e-9);
    let digits = usize::from(per_minute < 100.0);
    let from = closed::saturation(fitted);
    let observed = if f64::from(count) < from { label!(", which this ladder did not reach") } else { "" };
    let waiting = (mean_s - demand - delay).max(0.0) / mean_s.max(1e-9);
    say!(
        "the most is {per_minute:.digits$} executions a minute, from {from:.1} sessions on{observed}: each needs {} of the \
         station that binds and {} of everything else (fitted, at most {:.1} % off). Alone, an execution spends {} of its \
         time at that station; at {} it waits in its queue for {}",
        fitted.demand,
        fitted.delay,
        100.0 * fitted.error,
        percent(station_share(fitted)),
        sessions(count),
        percent(waiting)
    )
}

pub(super) fn slob(verdict: &SlobVerdict) -> String {
    match verdict {
        SlobVerdict::UnevenBlocks { schema, rows_per_block } => say!(
            "schema {schema} has {rows_per_block:.2} rows to a block, not one: a unit of work reads a different number of \
             blocks than stated"
        ),
        SlobVerdict::MaximumBlocks { update_pct, blocks_per_second, threads: count, sessions, read_share, read } => {
            let read = read.map_or_else(String::new, |mean| say!(", a read takes {mean} there"));
            say!(
                "{}{blocks_per_second:.0} block reads and writes a second at most, with {} ({sessions} sessions), {} of them \
                 reads{read}",
                of_curve(Some(*update_pct)),
                threads(*count),
                percent(*read_share)
            )
        }
        SlobVerdict::MaximumUnits { update_pct, units_per_second, threads: count } => say!(
            "{}{units_per_second:.0} units of work a second at most, with {}; the database does not count its block I/O",
            of_curve(Some(*update_pct)),
            threads(*count)
        ),
        SlobVerdict::UnitKnee { update_pct, threads: count, units_per_second, blocks_per_second } => {
            let blocks = blocks_per_second.map_or_else(String::new, |rate| say!(" ({rate:.0} block I/Os a second)"));
            say!(
                "{}the knee is at {}, {units_per_second:.0} units of work a second{blocks}",
                of_curve(Some(*update_pct)),
                threads(*count)
            )
        }
        SlobVerdict::ReadLatency { update_pct, limit, blocks_per_second, reached } => {
            let rate = blocks_per_second.map(|rate| say!("{rate:.0} block I/Os a second"));
            let found = match rate {
                Some(rate) if *reached => say!("takes {limit} at {rate}"),
                Some(rate) => say!("stayed within {limit} up to {rate}"),
                None => say!("takes more than {limit} at every load"),
            };
            say!("{}the mean read, as the database sees it, {found}", of_curve(Some(*update_pct)))
        }
        SlobVerdict::PageCacheUnknown => label!(
            "whether the operating system answered reads from its page cache is not known: \
                                          latencies may be those of memory"
        )
        .into(),
        SlobVerdict::ReadsReachedStorage { share, update_pct, threads: count } => say!(
            "it was I/O: the page cache answered at most {} of the database's reads ({}{})",
            percent(*share),
            of_curve(Some(*update_pct)),
            threads(*count)
        ),
        SlobVerdict::PageCacheReads { share, update_pct, threads: count, remedy } => say!(
            "the operating system's page cache answered {} of the database's reads ({}{}): the rates are not the storage's, \
             and the latencies are mixed with those of memory: {}",
            percent(*share),
            of_curve(Some(*update_pct)),
            threads(*count),
            cache_remedy(*remedy)
        ),
        SlobVerdict::RepeatedText { row_bytes } => say!(
            "columns hold repeated text ({row_bytes} of each block): storage that compresses or deduplicates stores and \
             caches less than this"
        ),
        SlobVerdict::RandomBytes { row_bytes, system } => say!(
            "columns hold random bytes ({row_bytes} to a row) that are incompressible, as with OBFUSCATE_COLUMNS=TRUE; the \
             rest of the block is {}",
            rest_of_block(system)
        ),
        SlobVerdict::Settings { .. } => slob_settings(verdict),
    }
}

fn cache_remedy(remedy: CacheRemedy) -> &'static str {
    match remedy {
        CacheRemedy::ChangeMemory => label!("give it less --memory, or more --scale"),
        CacheRemedy::LimitMemory => label!("give --memory a size well below the data, which needs root"),
        CacheRemedy::LoadMore => {
            label!("load more than the host's memory with --scale, or a server made with --make and --memory")
        }
    }
}

fn threads(count: u32) -> String {
    if count == 1 { label!("1 thread for each schema").into() } else { say!("{count} threads for each schema") }
}

fn rest_of_block(system: &str) -> &'static str {
    match system {
        "PostgreSQL" => label!("room for its next versions, empty until the first update"),
        "MySQL" => label!("a second row of the same size, which is never read"),
        "SQLite" => label!("too small for another"),
        _ => label!("empty, as in SLOB"),
    }
}

fn slob_settings(verdict: &SlobVerdict) -> String {
    let SlobVerdict::Settings { schemas, scale, block_bytes, update_pcts, work_unit, blocks, redo_stress, cache_bytes } =
        verdict
    else {
        return String::new();
    };
    let pcts: Vec<String> = update_pcts.iter().map(u32::to_string).collect();
    let total = *scale as f64 * block_bytes.get() as f64 * f64::from(*schemas);
    let cache = |cache: &Bytes| {
        let ratio = total / cache.get().max(1) as f64;
        say!(". The data are {ratio:.1} times the database's cache of {cache}")
    };
    say!(
        "in SLOB's terms: {schemas} schemas, all active at every point, SCALE={scale} blocks of {block_bytes}, UPDATE_PCT={}, \
         WORK_UNIT={work_unit} (which reads {blocks} blocks), REDO_STRESS={redo_stress}, SCAN_PCT=0{}",
        pcts.join(label!(", ")),
        cache_bytes.as_ref().map(cache).unwrap_or_default()
    )
}

pub(super) fn sql_bench(verdict: &SqlBenchVerdict) -> String {
    match verdict {
        SqlBenchVerdict::WrongRows { test, section, wrong, done, first } => {
            let first = first.as_deref().unwrap_or(label!("no rows are known"));
            say!(
                "{test}: {wrong} of {done} statements of {section} did not bring the rows that they should have: {first}"
            )
        }
        SqlBenchVerdict::RowCommit { median, commits, flushes } => say!(
            "a row in a transaction of its own took {median} (median of {commits}); flushes for each: {}",
            flush_counts(*flushes)
        ),
        SqlBenchVerdict::TableCreation { median, per_second, flushes } => say!(
            "a CREATE TABLE took {median} (median; {per_second:.0} a second); flushes for each: {}",
            flush_counts(*flushes)
        ),
        SqlBenchVerdict::FlushShares { flushing, both, processors } => flush_shares([flushing, both, processors]),
        SqlBenchVerdict::SmallTables { size } => say!(
            "tables had {size} times their full size: no figure here can be compared with sql-bench's; leave --size out for \
             that"
        ),
        SqlBenchVerdict::PartialSections { scale } => say!(
            "sections executed {scale} times their full counts: seconds at full counts are extrapolated from the time of a \
             statement, on tables of full size; --scale 1 executes all"
        ),
        SqlBenchVerdict::SectionNote { sections, note } => {
            let note = match note {
                BenchNote::SingleColumns => {
                    label!(
                        "SQLite changes one column in a statement, and writes all rows anew to drop one: ten statements, timed \
                     together"
                    )
                }
                BenchNote::UniqueKeys => {
                    label!("the keys are unique, because CREATE TABLE supports no others in this system")
                }
                BenchNote::IgnoredDuplicates => {
                    label!("an insert of an existing key is ignored; in the original it fails")
                }
                BenchNote::ExecutedAsText => label!("executed as text, which is prepared each time, too"),
                BenchNote::PreparedInSql => {
                    label!("prepared, run and forgotten in SQL: three statements or four, timed together")
                }
            };
            format!("{}: {note}", sections.join(label!(" and ")))
        }
        SqlBenchVerdict::PublishedCreate | SqlBenchVerdict::PublishedAlterTable | SqlBenchVerdict::PublishedInsert => {
            published(verdict).into()
        }
        _ => durability(verdict),
    }
}

fn flush_counts(flushes: FlushCounts) -> String {
    let existing = |flushes: Option<f64>, who: &str| {
        flushes.map_or_else(|| say!("{who} does not report the number"), |flushes| say!("{who} counted {flushes:.2}"))
    };
    say!(
        "{}, {}",
        existing(flushes.server, label!("the server")),
        existing(flushes.device, label!("the device with all that else is on it"))
    )
}

fn flush_shares(groups: [&Vec<TestShare>; 3]) -> String {
    let meanings = [
        label!("about flushing and not about speed"),
        label!("about both"),
        label!("about processors and hardly about storage"),
    ];
    let name = |test: &TestShare| format!("{} {}", test.test, percent(test.share));
    let names = |tests: &[TestShare]| tests.iter().map(name).collect::<Vec<_>>().join(label!(", "));
    let groups = groups.into_iter().zip(meanings).filter(|(tests, _)| !tests.is_empty());
    let groups: Vec<String> = groups.map(|(tests, meaning)| format!("{meaning}: {}", names(tests))).collect();
    say!("by the share of their time in flushes the tests are {}", groups.join(label!("; ")))
}

fn durability(verdict: &SqlBenchVerdict) -> String {
    let set = |durable: Option<bool>| match durable {
        Some(true) => label!("the server is set to flush at each commit"),
        _ => label!("how the server is set to flush is not known"),
    };
    match verdict {
        SqlBenchVerdict::FlushesDisabled => label!("commits did not reach the storage: flushes are disabled in the server's \
                                             settings; figures of tests that write are those of memory, and the data are \
                                             lost when the host fails")
            .into(),
        SqlBenchVerdict::FewServerFlushes => label!("commits did not reach the storage one by one: the server flushed its log for \
                                              fewer than every second of them; look at its settings for commits before its \
                                              figures are compared with those of a server that flushes")
            .into(),
        SqlBenchVerdict::DeviceFlushed { durable, rotates } => say!(
            "{}, the device was flushed for it, and it took no less than {} can take: commits probably reached the storage, \
             but only a power cut can prove it",
            set(*durable),
            medium(*rotates)
        ),
        SqlBenchVerdict::DeviceNotFlushed { durable, write_cache } => {
            say!("{}, and the device was not flushed: {}", set(*durable), unflushed(write_cache.as_deref()))
        }
        SqlBenchVerdict::DeviceFlushesUnknown { durable, rotates } => say!(
            "{}, and it took no less than {} can take; the device is not on this host, so it is unknown whether it was \
             flushed",
            set(*durable),
            medium(*rotates)
        ),
        _ => String::new(),
    }
}

/// Reason why a device received no flush.
fn unflushed(write_cache: Option<&str>) -> String {
    match write_cache {
        Some("write through") => label!("the kernel treats its write cache as absent or safe (write through), and forwards no \
                                  flushes; with a volatile cache, commits are lost on a power failure")
            .into(),
        Some(cache) => say!(
            "its write cache is {cache}, so that commits may exist only in the cache; check for a filesystem without \
             barriers, or for data on another device"
        ),
        None => label!("either the kernel assumes that it has no volatile cache, or the filesystem sends no flushes (mounted \
                 without barriers, or in memory); the time of a commit distinguishes these: tens of microseconds are too \
                 short for the medium of a disk")
            .into(),
    }
}

/// Explanation of published times.
fn published(verdict: &SqlBenchVerdict) -> &'static str {
    match verdict {
        SqlBenchVerdict::PublishedCreate => {
            label!(
                "published: create makes 30,000 tables, and MySQL flushes the definition of each: 1.1 ms for a table on the SATA \
             disk, 34 ms more on SSD and ioDrive; a disk that turns 7,200 times a minute needs some milliseconds for one \
             flush, so the SATA server was not flushing (a volatile write cache, or barriers off) and the other two were: \
             the line compares flushing with not flushing, not a disk with flash"
            )
        }
        SqlBenchVerdict::PublishedAlterTable => {
            label!(
                "published: alter-table (2 s against 10 and 11 s) and wisconsin (2 s against 4 and 5 s) differ in the same \
             direction, as their tables are made and changed; 53 s of create with 16 GB of memory is the same disk, still \
             not flushed"
            )
        }
        _ => {
            label!(
                "published: insert commits changes of rows some 860,000 times, which at 34 ms each would take eight hours and \
             took 410 to 444 s: rows were flushed on none of the four servers, as with a storage engine without \
             transactions; insert, select, connect, ATIS and big-tables compare processors, and the SATA disk is no slower \
             than flash in them for that reason"
            )
        }
    }
}
