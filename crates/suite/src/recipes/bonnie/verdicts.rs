//! What the figures of Bonnie++ really say, in sentences.
//!
//! Knows nothing about its layout.

use plimsoll_units::Bytes;

use super::{Bonnie, Column, LEAST, files_per_second};
use crate::ground::{Facts, Nature};
use crate::recipe::Done;
use crate::seen::StepSeen;

pub(super) fn of(bonnie: &Bonnie, done: &[Done], facts: &Facts) -> Vec<String> {
    let mut verdicts = Vec::new();
    verdicts.extend(too_short(bonnie.made(done)));
    for (column, done) in bonnie.made(done) {
        verdicts.extend(of_step(column, done, bonnie.options.seekers));
    }
    if bonnie.has_no_calls {
        verdicts.push(
            "One byte at a time was left out: it measures system calls, and there are none between this suite and what it \
             runs on here."
                .into(),
        );
    }
    if bonnie.size > Bytes::ZERO && facts.has_cache() {
        verdicts.extend(of_memory(bonnie));
    }
    if done.iter().any(|done| matches!(done.seen, StepSeen::Files(_))) {
        let text = "Rates of small files are files per second; the table of Bonnie++ 2.00 itself prints their number in that \
                    place, and only its line of commas has the rates.";
        verdicts.push(text.into());
    }
    if facts.nature == Nature::Model {
        verdicts.push("In virtual time no processor works: %CP is printed as +++.".into());
    }
    verdicts
}

/// What Bonnie++ shows no figure of, with the figures.
fn too_short<'a>(made: impl Iterator<Item = (Column, &'a Done)>) -> Option<String> {
    let figure = |(column, done): (Column, &Done)| {
        let (phase, rate) = Bonnie::cell(column, &done.seen)?;
        let unit = match column {
            Column::Seeks => "seeks/s",
            Column::Files(..) => "files/s",
            _ => "KiB/s",
        };
        let figure = done.seen.files().map_or(Some(rate), files_per_second)?;
        let seconds = phase.span.as_secs_f64();
        (phase.span < LEAST).then(|| format!("{} {figure:.0} {unit} ({seconds:.3} s)", done.step.name))
    };
    let figures: Vec<String> = made.filter_map(figure).collect();
    (!figures.is_empty()).then(|| {
        format!(
            "+++++ does not say that it was too fast to measure: Bonnie++ prints nothing of what took less than 0.5 s. \
             Here that was: {}.",
            figures.join(", ")
        )
    })
}

fn of_step(column: Column, done: &Done, seekers: u32) -> Option<String> {
    let (phase, figure) = Bonnie::cell(column, &done.seen).filter(|(phase, _)| phase.span >= LEAST)?;
    let name = &done.step.name;
    match column {
        Column::PutChar | Column::GetChar => {
            let calls = phase.operations_per_second()?;
            let verb = if column == Column::PutChar { "write" } else { "read" };
            let each = 1e9 / calls;
            let kernel = phase.cpu.map(|cpu| cpu.system.as_nanos() / phase.operations.max(1));
            let kernel = kernel.map_or(String::new(), |ns| format!(", {ns} ns of it the kernel's work"));
            Some(format!(
                "{name}: {figure:.0} KiB/s are {calls:.0} calls of {verb}(2) per second with one byte each: {each:.0} ns for a \
                 call and the loop around it{kernel}. It is the price of a system call on this processor, and says nothing \
                 of storage."
            ))
        }
        Column::Seeks => Some(format!(
            "Seeks: {figure:.1} seeks per second, not KB/s, by {seekers} processes at once: reads at depth {seekers}, each \
             tenth followed by a write."
        )),
        _ => None,
    }
}

fn of_memory(bonnie: &Bonnie) -> Option<String> {
    let (size, memory) = (bonnie.size, bonnie.options.memory);
    if bonnie.options.direct {
        return Some(
            "Blocks passed the page cache by; Bonnie++ 2.00 with -D does so only while it writes a new file.".into(),
        );
    }
    if memory == Bytes::ZERO {
        return Some("The host's memory is not known: if it holds the file, reads and seeks measured memory.".into());
    }
    if size <= memory {
        return Some(format!(
            "The file of {size} fits into {memory} of memory: rewriting, reading and seeks were answered from the page \
             cache, and say little of storage. Take a file of twice the memory, or direct I/O."
        ));
    }
    (size.get() < 2 * memory.get()).then(|| {
        let share = memory.get() as f64 / size.get() as f64 * 100.0;
        format!(
            "The file of {size} is less than twice the memory of {memory}: up to {share:.0} % of the seeks may have been \
             answered from the page cache."
        )
    })
}
