//! fio's language: job files and command lines, tested by tables and against an installed fio.

mod command;
mod faults;
mod jobs;
mod properties;
mod samples;
mod showcmd;

use plimsoll_fio::{Fault, FioCommand, Flags, Surroundings, command, job_file};

/// Parses a job file in a test environment.
pub fn file(text: &str) -> Result<FioCommand, Vec<Fault>> {
    world(|around| job_file("jobs/test.fio", text, Flags::default(), around))
}

/// The same with `--lenient`.
pub fn lenient(text: &str) -> Result<FioCommand, Vec<Fault>> {
    world(|around| job_file("jobs/test.fio", text, Flags { lenient: true, ..Flags::default() }, around))
}

/// Parses a command line, split at blanks.
pub fn line(words: &str) -> Result<FioCommand, Vec<Fault>> {
    let arguments: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    world(|around| command(&arguments, around))
}

/// Test environment: `jobs/inner.fio`, `jobs/itself.fio`, `first.fio`, `second.fio`, and `DEV`.
fn world<T>(read: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let files = |path: &str| match path {
        "jobs/inner.fio" => Ok("blocksize=16k\niodepth_batch_submit=3\n".to_owned()),
        "jobs/itself.fio" => Ok("include itself.fio\n".to_owned()),
        "jobs/section.fio" => Ok("[inner]\nbs=4k\n".to_owned()),
        "first.fio" => Ok("[global]\nsize=1m\n[a]\n[b]\nbs=8k\n".to_owned()),
        "second.fio" => Ok("[c]\nsize=2m\n[d]\nsize=3m\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let variable = |name: &str| (name == "DEV").then(|| "/dev/sdx".to_owned());
    read(&Surroundings {
        read: &files,
        variable: &variable,
        page_bytes: 4_096,
        memory_mib: 1_000,
        processors: 2,
        processors_present: 4,
    })
}

/// Faults as lines, without remedies.
pub fn words(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(|fault| format!("{}: {}", fault.place, fault.what)).collect()
}
