//! The database's time, its waits, its memory, and what another size of its cache would give.

use super::Page;
use crate::awr::report::{Reach, Said};
use crate::awr::section::Section;
use crate::reading::{CacheAdvice, Database, DatabaseTime, HostTime, Wait};

/// Hands over how the database spent its time.
pub(super) fn make(page: &mut Page<'_>) {
    time(page);
    host(page);
    waits(page);
    memory(page);
    advice(page);
}

fn is_cluster(page: &Page<'_>) -> bool {
    page.report.reach == Reach::Cluster
}

fn time(page: &mut Page<'_>) {
    let report = page.report;
    let cluster = is_cluster(page);
    let model = if cluster { Section::ClusterTimeModel } else { Section::TimeModel };
    let (said, section) = match (report.time_model.get("DB time"), &report.database_s) {
        (Some(said), _) => (said, model),
        (None, Some(said)) => (said, Section::Snapshots),
        (None, None) => return,
    };
    let on_processor = report.time_model.get("DB CPU").map(|said| said.value);
    let origin = page.origin(section, said);
    let (scope, window) = page.at;
    let processors = processors(page).map(|said| said.value as u32);
    page.out.time(DatabaseTime {
        scope,
        window,
        database_s: said.value,
        processor_s: on_processor,
        processors,
        commits: page.statistic("user commits").map(|said| said.value),
        origin,
    });
}

/// The host's own counters, which are in hundredths of a second.
fn host(page: &mut Page<'_>) {
    let systems = &page.report.systems;
    let (Some(busy), Some(idle)) = (systems.get("BUSY_TIME"), systems.get("IDLE_TIME")) else { return };
    let origin = page.origin(Section::OperatingSystem, busy);
    let (scope, window) = page.at;
    page.out.host(HostTime { scope, window, busy_s: busy.value / 100.0, idle_s: idle.value / 100.0, origin });
}

/// Processors as the operating system counts them, else as the host's table does.
fn processors<'a>(page: &Page<'a>) -> Option<&'a Said> {
    page.report.systems.get("NUM_CPUS").or(page.report.processors.as_ref())
}

fn waits(page: &mut Page<'_>) {
    let report = page.report;
    let cluster = is_cluster(page);
    let (scope, window) = page.at;
    for event in &report.events {
        let section = match (cluster, event.foreground) {
            (true, _) => Section::ClusterWaits,
            (false, true) => Section::ForegroundWaits,
            (false, false) => Section::BackgroundWaits,
        };
        let Some(total_s) = event.sum_s() else { continue };
        let origin = page.out.origin(event.line, section.name(), &event.name);
        // A histogram is of all waits, of whichever process: it goes with the table that has most of them.
        let twin = report.events.iter().find(|other| other.foreground != event.foreground && other.name == event.name);
        let leads = twin.is_none_or(|twin| (event.waits, event.foreground) > (twin.waits, twin.foreground));
        let histogram = report.histograms.get(&event.name).filter(|_| leads);
        page.out.wait(Wait {
            scope,
            window,
            event: event.name.clone(),
            foreground: event.foreground,
            count: event.waits,
            total_s,
            histogram: histogram.map(super::super::histogram::Histogram::shares).unwrap_or_default(),
            origin,
        });
    }
}

fn memory(page: &mut Page<'_>) {
    let report = page.report;
    let value = |said: Option<&Said>| said.map(|said| said.value);
    let (scope, window) = page.at;
    let cores = report.systems.get("NUM_CPU_CORES").or(report.cores.as_ref());
    let cache = report.cache_bytes.as_ref();
    let caches = if is_cluster(page) { Section::ClusterCaches } else { Section::CacheSizes };
    let origin = match cache {
        Some(said) => page.origin(caches, said),
        None => page.out.origin(0, Section::Host.name(), ""),
    };
    let database = Database {
        scope,
        window,
        block_bytes: page.block_bytes(),
        cache_bytes: value(cache),
        processors: value(processors(page)),
        cores: value(cores),
        memory_bytes: value(report.memory_bytes.as_ref()),
        origin,
    };
    page.out.database(database);
}

fn advice(page: &mut Page<'_>) {
    let report = page.report;
    let (scope, window) = page.at;
    for row in &report.advice {
        let field = format!("{} / size factor {}", row.pool, row.size_factor);
        let origin = page.out.origin(row.line, Section::BufferPoolAdvice.name(), &field);
        page.out.advice(CacheAdvice {
            scope,
            window,
            pool: row.pool.clone(),
            size_bytes: row.size_bytes,
            size_factor: row.size_factor,
            read_factor: row.read_factor,
            reads: row.reads,
            origin,
        });
    }
}
