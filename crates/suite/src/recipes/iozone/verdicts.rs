//! What the figures of Iozone really say, in sentences.
//!
//! Knows nothing about its layout.

use plimsoll_device::SyncMode;
use plimsoll_units::{Bytes, Span};

use super::throughput::reached;
use super::{Column, Extent, Iozone, Made, Unit, flushing};
use crate::ground::Facts;
use crate::recipe::Done;

pub(super) fn of(iozone: &Iozone, done: &[Done], facts: &Facts) -> Vec<String> {
    let mut verdicts = Vec::new();
    let several = matches!(iozone.options.extent, Extent::Processes { .. });
    if facts.has_cache() && !iozone.options.timed.flush() && iozone.options.opened == SyncMode::None {
        verdicts.extend(if several { of_later_flushes(iozone, done) } else { of_flushes(iozone, done) });
    }
    if several {
        verdicts.extend(iozone.made(done).filter_map(|made| of_stonewall(iozone, &made)));
    }
    if facts.has_cache() && !iozone.options.direct {
        verdicts.extend(of_memory(iozone));
    }
    verdicts
}

/// What the rates would have been with the flush that one process made after its time.
fn of_flushes(iozone: &Iozone, done: &[Done]) -> Vec<String> {
    let columns = [Column::Write, Column::Rewrite, Column::RandomWrite, Column::RecordRewrite];
    let said = columns.iter().filter_map(|column| {
        let (mut bytes, mut calls, mut flushes, mut name) = (0_u64, Span::ZERO, Span::ZERO, "");
        for made in iozone.made(done).filter(|made| made.column == *column) {
            for worker in &made.seen.workers {
                bytes += worker.total().bytes();
                calls += worker.span() - flushing(worker);
                flushes += flushing(worker);
            }
            name = made.name.split(',').next().unwrap_or_default();
        }
        (bytes > 0 && !flushes.is_zero()).then(|| {
            let rate = |span: Span| bytes as f64 / 1024.0 / span.as_secs_f64().max(f64::MIN_POSITIVE);
            let (without, with) = (rate(calls), rate(calls + flushes));
            let share = flushes.as_secs_f64() / (calls + flushes).as_secs_f64() * 100.0;
            format!(
                "{name}: {without:.0} kB/s without the fsync at the end, {with:.0} kB/s with it: {share:.0} % of the time until \
                 all was durable is not in the figure. Time it with -e."
            )
        })
    });
    said.collect()
}

/// The same where processes flushed in a step of their own.
fn of_later_flushes(iozone: &Iozone, done: &[Done]) -> Vec<String> {
    let made: Vec<Made> = iozone.made(done).collect();
    let said = made.windows(2).filter(|both| both[1].column == Column::Flush).map(|both| {
        let (calls, flush) = (both[0].seen.span(), both[1].seen.span());
        let share = flush.as_secs_f64() / (calls + flush).as_secs_f64().max(f64::MIN_POSITIVE) * 100.0;
        format!(
            "{}: after {:.3} s of calls all was durable {:.3} s later: {share:.0} % of the time is not in the figure. Time it \
             with -e.",
            both[0].name,
            calls.as_secs_f64(),
            flush.as_secs_f64()
        )
    });
    said.collect()
}

fn of_stonewall(iozone: &Iozone, made: &Made<'_>) -> Option<String> {
    if made.column == Column::Flush || made.seen.workers.len() < 2 {
        return None;
    }
    let reached = reached(iozone, made);
    let Extent::Processes { size, .. } = iozone.options.extent else { return None };
    let unit = if iozone.options.unit == Unit::Operations { "ops/s" } else { "kB/s" };
    let whole = size.get() as f64;
    let moved: f64 = made.seen.workers.iter().map(|worker| worker.total().bytes() as f64).fold(f64::INFINITY, f64::min);
    Some(format!(
        "{}: the first that was done ended all, when the slowest had {:.0} % of its file; {:.0} {unit} is the sum of what each \
         reached in its own time, {:.0} {unit} what all moved in the time of the step.",
        made.name,
        moved / whole * 100.0,
        reached.children,
        reached.parent
    ))
}

fn of_memory(iozone: &Iozone) -> Option<String> {
    let memory = iozone.options.memory;
    let largest = iozone.pairs.iter().map(|pair| pair.size.get()).max()? * u64::from(iozone.processes);
    let size = Bytes::new(largest);
    if !iozone.plan.iter().any(|(_, column, _)| !column.writes() && *column != Column::Flush) {
        return None;
    }
    if memory == Bytes::ZERO {
        return Some(format!("The host's memory is not known: if it holds {size}, the reads measured memory."));
    }
    (size <= memory).then(|| {
        format!(
            "The largest files, {size}, fit into {memory} of memory: the reads came from the page cache, at its speed."
        )
    })
}
