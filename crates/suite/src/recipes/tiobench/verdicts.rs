//! What the figures of tiotest and tiobench really say, in sentences.
//!
//! Knows nothing about their layout.

use plimsoll_units::{Bytes, Kind, Span};

use super::super::phase::Phase;
use super::{Pass, Program, Test, Through, Tiobench};
use crate::ground::Facts;
use crate::recipe::Done;
use crate::seen::IoSeen;

pub(super) fn of(tiobench: &Tiobench, done: &[Done], facts: &Facts) -> Vec<String> {
    let mut verdicts = Vec::new();
    if let Program::Tiotest { .. } = tiobench.program {
        verdicts.push(
            "The rows are write, random write, read and random read, in this order: where a published table calls its fourth \
             row random write once more, it shows random reads."
                .into(),
        );
    }
    if let Program::Tiobench { random, .. } = tiobench.program {
        let shares: Vec<String> = tiobench.passes.iter().filter(|pass| pass.round == 1).map(share).collect();
        let shares = shares.join(", ");
        verdicts.push(format!("The {random} random operations are those of all threads together: {shares}."));
    }
    for (index, pass) in tiobench.passes.iter().enumerate() {
        for (test, phase, done) in tiobench.seen(done, index) {
            let Some(seen) = done.seen.io() else { continue };
            verdicts.extend(match test {
                Test::RandomRead => Some(of_depth(tiobench, pass, &phase, &done.step.name)),
                Test::Write | Test::RandomWrite => of_flush(seen, &done.step.name),
                Test::Read => None,
            });
        }
    }
    if facts.has_cache() && tiobench.options.through() != Through::Nothing {
        verdicts.extend(of_memory(tiobench));
    }
    verdicts.extend(tiobench.of_checks());
    verdicts
}

fn share(pass: &Pass) -> String {
    format!("{} for each of {}", pass.random, pass.threads)
}

/// Threads that wait each for its own operation make as many per second as threads divided by the mean.
fn of_depth(tiobench: &Tiobench, pass: &Pass, phase: &Phase, name: &str) -> String {
    let (threads, block) = (pass.threads, Bytes::new(tiobench.options.block.into()));
    let mean_ms = phase.times.mean().unwrap_or(Span::ZERO).as_millis_f64();
    let rate = phase.operations_per_second().unwrap_or(0.0);
    let blocks = (pass.size.get() / block.get().max(1)).max(1) as f64;
    // So large a part of the blocks is not drawn in so many draws, each block being as likely as another.
    let touched = (1.0 - (-(pass.random as f64) / blocks).exp()) * 100.0;
    let by_mean = if mean_ms > 0.0 { f64::from(threads) / mean_ms * 1e3 } else { 0.0 };
    format!(
        "{name}: {rate:.0} operations of {block} per second at depth {threads}; {threads} divided by the mean of {mean_ms:.3} \
         ms is {by_mean:.0}, more where threads end early. {touched:.0} % of each file was touched."
    )
}

/// The share of the time that is in the rate, but in no latency.
fn of_flush(seen: &IoSeen, name: &str) -> Option<String> {
    let total = seen.total();
    let flushes = total.response_where(|counter| counter.kind == Kind::Flush);
    let longest = Span::from_nanos(flushes.max_ns);
    let share = longest.as_secs_f64() / seen.span().as_secs_f64().max(f64::MIN_POSITIVE) * 100.0;
    (share >= 1.0).then(|| {
        format!(
            "{name}: the last fsync took up to {:.3} s, {share:.0} % of the time. It is in the rate, and in no latency: the \
             writes before it went to memory.",
            longest.as_secs_f64()
        )
    })
}

fn of_memory(tiobench: &Tiobench) -> Option<String> {
    let memory = tiobench.options.memory;
    let largest = tiobench.passes.iter().map(|pass| u64::from(pass.threads) * pass.size.get()).max()?;
    let size = Bytes::new(largest);
    if memory == Bytes::ZERO {
        return Some(format!("The host's memory is not known: if it holds {size}, the reads measured memory."));
    }
    (size <= memory).then(|| {
        format!(
            "The files of {size} together fit into {memory} of memory: what was just written was read from the page cache, \
             unless it was emptied before."
        )
    })
}
