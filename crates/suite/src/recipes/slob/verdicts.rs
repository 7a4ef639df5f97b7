//! Verdicts on the curves, with their figures.

use plimsoll_analyse::{chosen_objective, load_line};
use plimsoll_record::{CacheRemedy, DatabaseAbout, Objective, Run, SessionVerdict, SlobVerdict, Verdict};
use plimsoll_units::{Bytes, Span};

use super::layout::SchemaLayout;
use super::options::{RedoStress, SlobOptions};
use super::points::{PointSpec, SlobCurve, SlobPoint};
use crate::recipes::evidence::find_evidence;

/// Usual requirement for the mean read latency of database storage.
const USUAL_LATENCY: Span = Span::from_millis(1);
/// Share of page cache hits from which a caution is given.
const CACHE_SHARE: f64 = 0.1;
/// Range of rows per block that counts as a row per block: trees have inner pages, and `InnoDB` includes reserved
/// pages.
const ONE_ROW: (f64, f64) = (0.7, 1.01);

/// A schema without a row per block.
pub(super) fn uneven(counted: &[(i64, f64, f64)]) -> Option<SlobVerdict> {
    let ratio = |&(schema, rows, blocks): &(i64, f64, f64)| (schema, rows / blocks.max(1.0));
    let (schema, rows_per_block) =
        counted.iter().map(ratio).find(|(_, ratio)| !(ONE_ROW.0..=ONE_ROW.1).contains(ratio))?;
    Some(SlobVerdict::UnevenBlocks { schema, rows_per_block })
}

pub(super) fn of_curve(curve: &SlobCurve<'_>, update_pct: u32, objective: Option<Objective>) -> Vec<Verdict> {
    let Some(best) = curve.best() else { return Vec::new() };
    let mut verdicts: Vec<Verdict> = vec![max_rate(best, update_pct).into()];
    verdicts.extend(best.measured.limit.as_ref().map(|limit| {
        let evidence = find_evidence(best.window, best.measured.split.as_ref(), &best.measured.storage);
        let (update_pct, offered) = (Some(update_pct), best.measured.run.offered);
        SessionVerdict::BindingLimit { update_pct, offered, limit: Some(limit.clone()), evidence }.into()
    }));
    if curve.points.len() < 2 {
        return verdicts;
    }
    verdicts.extend(curve.knee().map(|knee| {
        let (units_per_second, blocks_per_second) = (knee.units_s(), knee.blocks_s());
        SlobVerdict::UnitKnee { update_pct, threads: knee.spec.threads, units_per_second, blocks_per_second }.into()
    }));
    verdicts.extend(derive_load_line(curve, update_pct, objective).map(Verdict::from));
    verdicts.extend(within(curve, update_pct).map(Verdict::from));
    verdicts
}

fn max_rate(best: &SlobPoint, update_pct: u32) -> SlobVerdict {
    let threads = best.spec.threads;
    match (best.blocks_s(), best.reads_s()) {
        (Some(blocks_per_second), Some(reads)) => SlobVerdict::MaximumBlocks {
            update_pct,
            blocks_per_second,
            threads,
            sessions: best.measured.sessions,
            read_share: if blocks_per_second > 0.0 { reads / blocks_per_second } else { 0.0 },
            read: best.read_latency(),
        },
        _ => SlobVerdict::MaximumUnits { update_pct, units_per_second: best.units_s(), threads },
    }
}

/// The load line in block I/O.
fn derive_load_line(curve: &SlobCurve<'_>, update_pct: u32, objective: Option<Objective>) -> Option<SessionVerdict> {
    let runs: Vec<Run> = curve.points.iter().map(|point| point.measured.run.clone()).collect();
    let line = load_line(&runs, objective.or_else(|| chosen_objective(&runs))?)?;
    let (update_pct, blocks_per_second) = (Some(update_pct), curve.blocks_at(&line));
    Some(SessionVerdict::LoadLine { update_pct, line, blocks_per_second })
}

/// Block I/O at which the mean read time reaches the usual latency.
fn within(curve: &SlobCurve<'_>, update_pct: u32) -> Option<SlobVerdict> {
    curve.points.iter().find_map(|point| point.read_latency())?;
    let found = curve.blocks_within(USUAL_LATENCY);
    let (blocks_per_second, reached) = (found.map(|(blocks, _)| blocks), found.is_some_and(|(_, reached)| reached));
    Some(SlobVerdict::ReadLatency { update_pct, limit: USUAL_LATENCY, blocks_per_second, reached })
}

/// Caution if reads were served from the page cache.
pub(super) fn page_cache_caution(points: &[SlobPoint], block: u64, about: &DatabaseAbout) -> Option<SlobVerdict> {
    let shares = points.iter().filter_map(|point| Some((point.page_cache_share(block)?, point.spec)));
    let Some((share, PointSpec { update_pct, threads })) = shares.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return (about.direct != Some(true)).then_some(SlobVerdict::PageCacheUnknown);
    };
    if share <= CACHE_SHARE {
        return Some(SlobVerdict::ReadsReachedStorage { share, update_pct, threads });
    }
    let remedy = if about.memory.is_some() {
        CacheRemedy::ChangeMemory
    } else if about.created {
        CacheRemedy::LimitMemory
    } else {
        CacheRemedy::LoadMore
    };
    Some(SlobVerdict::PageCacheReads { share, update_pct, threads, remedy })
}

/// Data and settings in SLOB's terms.
pub(super) fn setting(options: &SlobOptions, layout: &SchemaLayout, about: &DatabaseAbout) -> [SlobVerdict; 2] {
    let row_bytes = Bytes::new(layout.row());
    let data = if options.compressible {
        SlobVerdict::RepeatedText { row_bytes }
    } else {
        SlobVerdict::RandomBytes { row_bytes, system: layout.system.name().into() }
    };
    let settings = SlobVerdict::Settings {
        schemas: options.schemas,
        scale: layout.rows,
        block_bytes: Bytes::new(layout.block),
        update_pcts: options.update_pcts.clone(),
        work_unit: options.work_unit,
        blocks: layout.visited(),
        redo_stress: if options.redo_stress == RedoStress::Heavy { "HEAVY" } else { "LITE" }.into(),
        cache_bytes: about.cache,
    };
    [data, settings]
}
