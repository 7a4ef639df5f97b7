//! Verdicts on the curves, with their figures.

use plimsoll_analyse::{chosen_objective, load_line};
use plimsoll_record::{DatabaseAbout, Objective, Run};
use plimsoll_units::{Bytes, Span};

use super::layout::SchemaLayout;
use super::options::{RedoStress, SlobOptions};
use super::points::{SlobCurve, SlobPoint};
use super::print::threads;
use crate::recipes::load_line::keeping;

/// Usual requirement for the mean read latency of database storage.
const USUAL_LATENCY: Span = Span::from_millis(1);
/// Share of page cache hits from which a caution is given.
const CACHE_SHARE: f64 = 0.1;
/// Range of rows per block that counts as a row per block: trees have inner pages, and `InnoDB` includes reserved
/// pages.
const ONE_ROW: (f64, f64) = (0.7, 1.01);

/// A schema without a row per block.
pub(super) fn uneven(counted: &[(i64, f64, f64)]) -> Option<String> {
    let ratio = |&(_, rows, blocks): &(i64, f64, f64)| rows / blocks.max(1.0);
    let wrong = counted.iter().find(|one| !(ONE_ROW.0..=ONE_ROW.1).contains(&ratio(one)))?;
    Some(format!(
        "Schema {} has {:.2} rows to a block, not one: a unit of work reads a different number of blocks than stated.",
        wrong.0,
        ratio(wrong)
    ))
}

/// Verdicts on a curve.
pub(super) fn of_curve(curve: &SlobCurve<'_>, pct: u32, objective: Option<Objective>) -> Vec<String> {
    let Some(best) = curve.best() else { return Vec::new() };
    let mut sentences = Vec::new();
    let name = format!("UPDATE_PCT={pct}");
    if let (Some(blocks), Some(reads)) = (best.blocks_s(), best.reads_s()) {
        let share = if blocks > 0.0 { reads / blocks * 100.0 } else { 0.0 };
        let latency = best.read_latency().map_or_else(String::new, |mean| format!(", a read takes {mean} there"));
        sentences.push(format!(
            "{name}: {blocks:.0} block reads and writes a second at most, with {} for each schema ({} sessions), \
             {share:.0} % of them reads{latency}.",
            threads(best.spec.threads),
            best.measured.sessions
        ));
    } else {
        sentences.push(format!(
            "{name}: {:.0} units of work a second at most, with {} for each schema; the database does not count its block \
             I/O.",
            best.units_s(),
            threads(best.spec.threads)
        ));
    }
    sentences
        .extend(best.measured.limit.as_ref().map(|limit| format!("{name}: binding limit: {limit}{}.", device(best))));
    if curve.points.len() < 2 {
        return sentences;
    }
    if let Some(knee) = curve.knee() {
        let blocks = knee.blocks_s().map_or_else(String::new, |blocks| format!(" ({blocks:.0} block I/Os a second)"));
        sentences.push(format!(
            "{name}: the knee is at {} for each schema, {:.0} units of work a second{blocks}.",
            threads(knee.spec.threads),
            knee.units_s()
        ));
    }
    sentences.extend(line(curve, &name, objective));
    sentences.extend(within(curve, &name));
    sentences
}

fn device(point: &SlobPoint) -> String {
    match (point.disk_busy(), point.disk_latency()) {
        (Some(busy), Some(latency)) => {
            format!("; the device was busy {:.0} % of the time, {latency} for a read", busy * 100.0)
        }
        _ => String::new(),
    }
}

/// The load line in block I/O.
fn line(curve: &SlobCurve<'_>, name: &str, objective: Option<Objective>) -> Option<String> {
    let runs: Vec<Run> = curve.points.iter().map(|point| point.measured.run.clone()).collect();
    let line = load_line(&runs, objective.or_else(|| chosen_objective(&runs))?)?;
    let blocks = curve.blocks_at(&line).map_or_else(String::new, |blocks| format!(", {blocks:.0} block I/Os a second"));
    Some(format!("{name}: {}{blocks}.", keeping(&line, "units of work")))
}

/// Block I/O at which the mean read time reaches the usual latency.
fn within(curve: &SlobCurve<'_>, name: &str) -> Option<String> {
    curve.points.iter().find_map(|point| point.read_latency())?;
    Some(match curve.blocks_within(USUAL_LATENCY) {
        Some((blocks, true)) => {
            format!(
                "{name}: the mean read, as the database sees it, takes {USUAL_LATENCY} at {blocks:.0} block I/Os a second."
            )
        }
        Some((blocks, false)) => {
            format!(
                "{name}: the mean read, as the database sees it, stayed within {USUAL_LATENCY} up to {blocks:.0} block I/Os a second."
            )
        }
        None => {
            format!("{name}: the mean read, as the database sees it, takes more than {USUAL_LATENCY} at every load.")
        }
    })
}

/// Caution if reads were served from the page cache.
pub(super) fn page_cache_caution(points: &[SlobPoint], block: u64, about: &DatabaseAbout) -> Option<String> {
    let existing = points.iter().filter_map(|point| Some((point.page_cache_share(block)?, point)));
    let Some((share, point)) = existing.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return (about.direct != Some(true)).then(|| {
            "Whether the operating system answered reads from its page cache is not known: latencies may be those of memory.".into()
        });
    };
    let place = format!("UPDATE_PCT={}: {} for each schema", point.spec.update_pct, threads(point.spec.threads));
    if share <= CACHE_SHARE {
        return Some(format!(
            "It was I/O: the page cache answered at most {:.0} % of the database's reads ({place}).",
            share * 100.0
        ));
    }
    let remedy = if about.memory.is_some() {
        "give it less --memory, or more --scale"
    } else if about.created {
        "give --memory a size well below the data, which needs root"
    } else {
        "load more than the host's memory with --scale, or a server made with --make and --memory"
    };
    Some(format!(
        "The operating system's page cache answered {:.0} % of the database's reads ({place}): the rates are not the storage's, and \
         the latencies are mixed with those of memory: {remedy}.",
        share * 100.0
    ))
}

/// Data and settings in SLOB's terms.
pub(super) fn setting(options: &SlobOptions, layout: &SchemaLayout, about: &DatabaseAbout) -> Vec<String> {
    let row = Bytes::new(layout.row());
    let data = if options.compressible {
        format!(
            "Columns hold repeated text ({row} of each block): storage that compresses or deduplicates stores and caches less than this."
        )
    } else {
        format!(
            "Columns hold random bytes ({row} to a row) that are incompressible, as with OBFUSCATE_COLUMNS=TRUE; the \
             rest of the block is {}.",
            match layout.system {
                plimsoll_database::System::Postgres => "room for its next versions, empty until the first update",
                plimsoll_database::System::Mysql => "a second row of the same size, which is never read",
                plimsoll_database::System::Sqlite => "too small for another",
                plimsoll_database::System::Oracle => "empty, as in SLOB",
            }
        )
    };
    let pcts = options.update_pcts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let cache = about.cache.map_or_else(String::new, |cache| {
        let total = layout.rows * layout.block * u64::from(layout.schemas);
        format!(" The data are {:.1} times the database's cache of {cache}.", total as f64 / cache.get().max(1) as f64)
    });
    let redo = if options.redo_stress == RedoStress::Heavy { "HEAVY" } else { "LITE" };
    vec![
        data,
        format!(
            "In SLOB's terms: {} schemas, all active at every point, SCALE={} blocks of {}, UPDATE_PCT={pcts}, WORK_UNIT={} (which \
             reads {} blocks), REDO_STRESS={redo}, SCAN_PCT=0.{cache}",
            options.schemas,
            layout.rows,
            Bytes::new(layout.block),
            options.work_unit,
            layout.visited()
        ),
    ]
}
