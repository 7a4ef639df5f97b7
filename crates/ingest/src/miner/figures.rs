//! A history as demand: figures by snapshot and instance, in the order of time.

use plimsoll_units::Span;

use super::history::{Event, History, Instance, Snapshot};
use crate::builder::Builder;
use crate::figure::{Class, Figure, Measure, Scope, Window};
use crate::reading::{Database, DatabaseTime, Wait};

/// Hands over all of it.
pub(super) fn make(history: &History, out: &mut Builder) {
    let mut longest: f64 = 0.0;
    let mut estimated = false;
    for snapshot in history.snapshots.values() {
        // That of the whole begins with the first of its instances.
        estimated |= whole(history, snapshot, out);
        for instance in by_begin(&snapshot.instances) {
            longest = longest.max(instance.seconds);
            put(history, instance, window_of(snapshot, instance), out);
        }
    }
    database(history, out);
    if longest > 65.0 * 60.0 {
        let text = format!(
            "windows of up to {:.0} minutes: means hide shorter peaks; the highest minutes are here as maxima",
            longest / 60.0
        );
        out.caution(None, text);
    }
    if estimated {
        out.caution(
            None,
            "the time of waits that are not among the first is estimated from their histograms, at three quarters of \
             each bound",
        );
    }
}

fn by_begin(instances: &[Instance]) -> Vec<&Instance> {
    let mut sorted: Vec<&Instance> = instances.iter().collect();
    sorted.sort_by_key(|instance| instance.begin());
    sorted
}

/// The window of an instance: that of its snapshot, but where it was watched for another time.
fn window_of(snapshot: &Snapshot, instance: &Instance) -> Window {
    let first = by_begin(&snapshot.instances).into_iter().find(|first| {
        let apart = first.begin().zip(instance.begin()).map(|(a, b)| b.duration_since(a).as_secs_f64().abs());
        // Both are rounded to minutes.
        let slack = (0.1 * first.seconds.max(instance.seconds)).max(90.0);
        (first.seconds - instance.seconds).abs() <= slack && apart.is_some_and(|apart| apart <= slack)
    });
    let of = first.unwrap_or(instance);
    Window { begin: of.begin(), length: Span::from_secs_f64(of.seconds) }
}

fn scope(history: &History, instance: &str) -> Scope {
    let host = match history.hosts.as_slice() {
        [only] => only.clone(),
        _ => String::new(),
    };
    Scope { database: history.database.clone(), instance: instance.to_owned(), host, ..Scope::default() }
}

fn put(history: &History, instance: &Instance, window: Window, out: &mut Builder) {
    let scope = out.scope(scope(history, &instance.name));
    let window = out.window(window);
    for (class, measure, statistic, value, column) in &instance.figures {
        let origin = out.origin(instance.line, "MAIN-METRICS", column);
        let (class, measure, statistic, value) = (*class, *measure, *statistic, *value);
        out.figure(Figure { scope, window, class, measure, statistic, value, origin });
    }
    if let Some(sessions) = instance.sessions {
        let cores = history.processors.get(&instance.name).and_then(|(processors, _)| *processors);
        let processors = cores.or(history.numbers.get("NUM_CPUS").map(|(count, _)| *count));
        let origin = out.origin(instance.line, "MAIN-METRICS", "aas");
        out.time(DatabaseTime {
            scope,
            window,
            database_s: sessions * instance.seconds,
            processor_s: instance.on_processor.map(|on| on * instance.seconds),
            processors: processors.map(|count| count as u32),
            commits: instance.commits_s.map(|commits| commits * instance.seconds),
            origin,
        });
    }
}

/// What is said of all instances together; true when the time of a wait was estimated.
fn whole(history: &History, snapshot: &Snapshot, out: &mut Builder) -> bool {
    let Some(first) = by_begin(&snapshot.instances).first().copied() else { return false };
    let scope = out.scope(scope(history, if snapshot.instances.len() == 1 { &first.name } else { "" }));
    let window = out.window(window_of(snapshot, first));
    // An instance that was not there all the time did less: of what all did together no rate is known.
    let is_one = snapshot.instances.iter().all(|instance| window_of(snapshot, instance).begin == first.begin());
    if is_one {
        functions(snapshot, (scope, window), first.seconds, out);
    }
    agreement(snapshot, out);
    let mut estimated = false;
    for (name, event) in &snapshot.events {
        let count: f64 = event.buckets.iter().map(|(_, count)| count).sum();
        if count <= 0.0 {
            continue;
        }
        let known = known_s(snapshot, event);
        estimated |= known.is_none();
        let origin = out.origin(event.line, "IO-WAIT-HISTOGRAM", name);
        out.wait(Wait {
            scope,
            window,
            event: name.clone(),
            // Processes behind the sessions wait in this class.
            foreground: event.class != "System I/O",
            count,
            total_s: known.unwrap_or_else(|| event.buckets.iter().map(|(bound, count)| bound * 0.75e-3 * count).sum()),
            histogram: shares(event, count),
            origin,
        });
    }
    estimated
}

/// Seconds of a wait that is among the first. Some versions print microseconds under the name of seconds: the share of
/// the database's time tells them apart.
fn known_s(snapshot: &Snapshot, event: &Event) -> Option<f64> {
    let (total, percent) = event.total?;
    let expected = snapshot.database_s().filter(|seconds| *seconds > 0.0)? * percent / 100.0;
    let off = |seconds: f64| (seconds / expected).ln().abs();
    [total, total * 1e-6]
        .into_iter()
        .filter(|seconds| off(*seconds) < 100_f64.ln())
        .min_by(|a, b| off(*a).total_cmp(&off(*b)))
}

/// Shares of waits by bound in seconds, the last endless.
fn shares(event: &Event, count: f64) -> Vec<(f64, f64)> {
    let mut buckets = event.buckets.clone();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shares = buckets.iter().map(|(bound, waits)| (bound * 1e-3, waits / count));
    shares.chain([(f64::INFINITY, 0.0)]).collect()
}

/// Operations by what does them. Small ones are below 128 KiB: nearly all of single blocks.
fn functions(snapshot: &Snapshot, at: (u32, u32), seconds: f64, out: &mut Builder) {
    let reads = ["Buffer Cache Reads", "Direct Reads"].as_slice();
    let classes: [(Class, &[&str], &[usize]); 6] = [
        (Class::RandomRead, reads, &[0]),
        (Class::SequentialRead, reads, &[2]),
        (Class::DataWrite, &["DBWR"], &[1, 3]),
        (Class::RedoWrite, &["LGWR"], &[1, 3]),
        (Class::Archive, &["ARCH"], &[0, 1, 2, 3]),
        (Class::Backup, &["RMAN"], &[0, 1, 2, 3]),
    ];
    for (class, names, columns) in classes {
        let rows: Vec<_> = snapshot.functions.iter().filter(|(name, ..)| names.contains(&name.as_str())).collect();
        let counts: Vec<f64> =
            rows.iter().flat_map(|(_, counts, _)| columns.iter().filter_map(|column| counts[*column])).collect();
        // Below nought a counter began anew.
        if let Some((name, _, line)) = rows.last().filter(|_| !counts.is_empty() && counts.iter().all(|n| *n >= 0.0)) {
            let origin = out.origin(*line, "IOSTAT-BY-FUNCTION", name);
            out.mean(at, class, Measure::Iops, counts.iter().sum::<f64>() / seconds, origin);
        }
    }
}

/// Two sources count reads: where they are far apart, one of them misses something.
fn agreement(snapshot: &Snapshot, out: &mut Builder) {
    let Some((counted, line)) = snapshot.reads_s else { return };
    let is_reads = |class: Class, measure: Measure| (class, measure) == (Class::Read, Measure::Iops);
    let sums = snapshot.instances.iter().filter_map(|instance| {
        let mean = |figure: &&(Class, Measure, crate::figure::Statistic, f64, &str)| {
            is_reads(figure.0, figure.1) && figure.2 == crate::figure::Statistic::Mean
        };
        instance.figures.iter().find(mean).map(|figure| figure.3)
    });
    let sum: f64 = sums.sum();
    if (counted - sum).abs() > 5.0 + 0.5 * counted.max(sum) {
        let origin = out.origin(line, "SYSSTAT", "read_iops");
        let text =
            format!("{counted:.1} reads a second here, {sum:.1} in MAIN-METRICS: an instance may be missing there");
        out.caution(Some(origin), text);
    }
}

/// Memory and processors, in the last window.
fn database(history: &History, out: &mut Builder) {
    let Some(snapshot) = history.snapshots.values().next_back() else { return };
    let Some(last) = by_begin(&snapshot.instances).last().copied() else { return };
    let number = |name: &str| history.numbers.get(name).map(|(value, _)| *value).filter(|value| *value > 0.0);
    let cores = history.processors.values().find_map(|(_, cores)| *cores);
    let line =
        history.numbers.get("__db_cache_size").or(history.numbers.get("NUM_CPUS")).map_or(last.line, |(_, at)| *at);
    let origin = out.origin(line, "DATABASE-PARAMETERS", "__db_cache_size");
    let scope = out.scope(scope(history, if snapshot.instances.len() == 1 { &last.name } else { "" }));
    let window = out.window(window_of(snapshot, last));
    out.database(Database {
        scope,
        window,
        block_bytes: number("db_block_size"),
        cache_bytes: number("__db_cache_size").or(number("db_cache_size")),
        processors: number("NUM_CPUS"),
        cores: number("NUM_CPU_CORES").or(cores),
        memory_bytes: number("PHYSICAL_MEMORY_GB").map(|gigabytes| gigabytes * 1_073_741_824.0),
        origin,
    });
}
