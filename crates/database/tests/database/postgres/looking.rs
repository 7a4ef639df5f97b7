//! Counters and activities seen by an observer.

use plimsoll_database::Observer;
use plimsoll_record::{DatabaseCounters, Spent};
use plimsoll_units::{Bytes, Span};

use super::{Server, until};

#[test]
fn observer_reports_activity_and_counters() {
    let Some(server) = Server::start("looking") else { return };
    check_about(&server);
    counters(&server);
    activity(&server);
    collected(&server);
}

fn check_about(server: &Server) {
    let about = server.database().about();
    assert_eq!((about.system.as_str(), about.block, about.cache), ("PostgreSQL", Bytes::kib(8), Some(Bytes::mib(8))));
    assert_eq!((about.created, about.durable, about.direct, about.memory), (true, Some(true), Some(false), None));
    assert!(about.version.starts_with(|first: char| first.is_ascii_digit()), "{}", about.version);
    let folder = about.folder.as_deref().unwrap();
    assert!(
        folder.starts_with(server.folder.0.to_str().unwrap()) && folder.contains("/plimsoll-postgres-"),
        "{folder}"
    );
    let has = |name: &str, value: &str| about.settings.contains(&(name.into(), value.into()));
    assert!(has("shared_buffers", "8MB") && has("fsync", "on") && has("autovacuum", "off") && has("jit", "off"));
    assert!(has("track_io_timing", "on") && has("max_connections", "18"), "{:?}", about.settings);
}

fn look(observer: &mut dyn Observer) -> DatabaseCounters {
    observer.counters().unwrap()
}

fn counters(server: &Server) {
    let mut session = server.session();
    let mut observer = server.database().observer().unwrap();
    // Four times the cache, four rows per block.
    session.run("CREATE TABLE big AS SELECT n, repeat('x', 1900) AS t FROM generate_series(1, 16384) n").unwrap();
    session.report_statistics().unwrap();
    server.database().checkpoint().unwrap();
    let before = look(&mut *observer);
    let rows = session.run("SELECT n FROM big WHERE t <> ''").unwrap().rows;
    assert_eq!(rows, 16_384);
    session.report_statistics().unwrap();
    let readings = look(&mut *observer).since(&before);
    // All blocks except those still cached.
    let reads = readings.reads.unwrap();
    assert!((4096 - 1024..4096 + 512).contains(&reads), "{readings:?}");
    assert!(readings.hits.unwrap() + reads >= 4096 && readings.read_time.unwrap() > Span::ZERO, "{readings:?}");
    assert!(readings.read_latency().is_some() && readings.lock_time.is_none());
    assert!(readings.cpu.is_some() && readings.fetched_bytes.is_some(), "a server of this process's own: {readings:?}");

    let before = look(&mut *observer);
    for _ in 0..10 {
        session.run("UPDATE big SET t = repeat('y', 1900) WHERE n <= 400").unwrap();
    }
    session.report_statistics().unwrap();
    let readings = look(&mut *observer).since(&before);
    // Ten commits, and the flush of the statistics.
    assert_eq!(readings.commits, Some(11), "{readings:?}");
    // The WAL writer flushes and reports at its own pace.
    until("flushes are counted", || {
        let readings = look(&mut *observer).since(&before);
        readings.log_flushes.unwrap() >= 1
            && readings.log_bytes.unwrap() > 4_000_000
            && readings.log_flush_latency().is_some()
    });
    server.database().checkpoint().unwrap();
    until("writes are counted", || look(&mut *observer).since(&before).writes.unwrap() >= 1000);

    // Observation adds nothing to the counters. Short connections may be counted late.
    until("nothing is counted", || {
        let before = look(&mut *observer);
        for _ in 0..20 {
            look(&mut *observer);
        }
        look(&mut *observer).since(&before).commits == Some(0)
    });
}

fn activity(server: &Server) {
    let mut observer = server.database().observer().unwrap();
    let mut is = |pid: u64, order: Spent| observer.activity(&[pid]).unwrap() == [order];
    let mut sleeper = server.session();
    let (pid, cancel) = (sleeper.number().unwrap(), sleeper.cancel());
    until("it waits for its client", || is(pid, Spent::Client));
    let asleep = std::thread::spawn(move || sleeper.run("SELECT pg_sleep(1000)").is_err());
    until("it sleeps", || is(pid, Spent::Other));
    cancel.cancel();
    assert!(asleep.join().unwrap());

    let (mut holder, mut waiter) = (server.session(), server.session());
    holder.run("CREATE TABLE held (n int); INSERT INTO held VALUES (1)").unwrap();
    holder.begin().unwrap();
    holder.run("UPDATE held SET n = 2").unwrap();
    let pid = waiter.number().unwrap();
    let waiting = std::thread::spawn(move || waiter.run("UPDATE held SET n = 3").unwrap().changed);
    until("it waits for a lock", || is(pid, Spent::Locked));
    holder.commit().unwrap();
    assert_eq!(waiting.join().unwrap(), 1);

    let mut busy = server.session();
    let (pid, cancel) = (busy.number().unwrap(), busy.cancel());
    let working =
        std::thread::spawn(move || busy.run("SELECT count(*) FROM generate_series(1, 1000000000000)").is_err());
    until("it works", || is(pid, Spent::Processor));
    cancel.cancel();
    assert!(working.join().unwrap());
    assert_eq!(observer.activity(&[]).unwrap(), []);
    assert_eq!(observer.activity(&[4_000_000_000_u64 % 2_000_000_000]).unwrap(), [], "nobody has that number");
}

fn collected(server: &Server) {
    let mut observer = server.database().observer().unwrap();
    let first = observer.snapshot().unwrap();
    assert!(first["pg_stat_database"].is_array() && first["at"].is_string(), "{first:?}");
    let head = observer.head().unwrap();
    assert_eq!((head["block_bytes"].as_u64(), head["cache_bytes"].as_u64()), (Some(8192), Some(8 << 20)));
    assert!(head.get("num").is_none() && head.get("statements").is_none());
    server.session().run("CREATE EXTENSION IF NOT EXISTS plpgsql; SELECT 1").unwrap();
    until("snapshots move on", || observer.snapshot().unwrap()["pg_stat_database"] != first["pg_stat_database"]);
}
