//! `plimsoll demo`: reports out of a workload that nobody has, to try `plimsoll demand` with.

use plimsoll_ingest::{Course, Workload, Writing};

use crate::args::DemoArgs;
use crate::folder::Folder;
use crate::output;
use crate::trouble::Trouble;

/// Writes what was asked for.
pub fn run(args: &DemoArgs) -> Result<(), Trouble> {
    let form = Writing::ALL.iter().find(|(name, _)| *name == args.form);
    let (_, form) = form.ok_or_else(|| Trouble::usage(format!("{}: no such form", args.form)))?;
    let course = Course { busiest: busiest(args), windows: args.windows, instances: args.instances };
    let written = form.write(&course);
    if let Some(path) = &args.out {
        let folder = Folder::new(path)?;
        return written.iter().try_for_each(|file| folder.write(&file.name, file.text.as_bytes()));
    }
    match written.as_slice() {
        [only] => output::print(only.text.as_bytes()),
        several => Err(Trouble::usage(format!("that is {} files: name a folder for them with --out", several.len()))),
    }
}

/// An online shop on 16 processors; the working week begins on a Monday.
fn busiest(args: &DemoArgs) -> Workload {
    let hour = if args.windows == 1 { 10 } else { 0 };
    let seconds = u64::from(args.minutes) * 60;
    Workload {
        database: "SHOP".to_owned(),
        instance: "shop".to_owned(),
        host: "dbhost".to_owned(),
        begin: jiff::civil::date(2026, 3, 2).at(hour, 0, 0, 0),
        minutes: args.minutes,
        block_bytes: 8_192,
        single_reads: 6_000 * seconds,
        several_reads: 400 * seconds,
        blocks_a_read: 64,
        data_writes: 1_500 * seconds,
        redo_writes: 700 * seconds,
        redo_write_bytes: 6_144,
        read_us: 620,
        redo_us: 480,
        processor_s: 6 * seconds,
        processors: 16,
        cache_mib: 24_576,
    }
}
