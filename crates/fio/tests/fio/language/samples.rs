//! Every real job file results in jobs or faults, and accepted files are interpreted like by the installed fio.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test of a pure crate that reads files of the machine, runs fio, and says what became of them"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_fio::{Fault, Flags, OptionLookup, Surroundings, job_file, look_up};

/// Result of the installed fio: its line of `--showcmd`, or its error.
fn fio(path: &Path) -> Option<Result<String, String>> {
    let output = Command::new("fio").args(["--parse-only", "--showcmd"]).arg(path).output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (displayed, reported) = (text(&output.stdout), text(&output.stderr));
    // fio exits successfully after some errors.
    let taken = output.status.success() && !reported.contains("dropped") && !reported.contains("Error");
    Some(if taken { Ok(displayed) } else { Err(reported) })
}

fn ours(path: &str, text: &str) -> Result<String, Vec<Fault>> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let around = Surroundings {
        read: &read,
        variable: &|name| std::env::var(name).ok(),
        page_bytes: 4_096,
        memory_mib: 1_000,
        processors: 2,
        // Independent of the host: only the language is compared.
        processors_present: u32::MAX,
    };
    job_file(path, text, Flags::default(), &around).map(|command| command.showcmd)
}

/// True for options that the installed fio may lack.
fn is_newer(reported: &str) -> bool {
    let bad = reported.lines().find_map(|line| line.strip_prefix("Bad option <"));
    bad.is_some_and(|rest| {
        matches!(look_up(rest.split(['=', '>', ' ']).next().unwrap_or("")), OptionLookup::Supported(_))
    })
}

#[test]
fn real_job_files_are_parsed_like_fio() {
    let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES").map(|root| PathBuf::from(root).join("fio_job")) else {
        return println!("skipped: PLIMSOLL_SAMPLES names no folder of job files");
    };
    let entries = std::fs::read_dir(folder).expect("the folder of samples can be read");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let (mut table, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap();
        let theirs = fio(path);
        let outcome = match (ours(&path.to_string_lossy(), &text), theirs) {
            (Ok(_), None) => "taken; no fio to compare with".to_owned(),
            (Ok(displayed), Some(Ok(theirs))) if displayed == theirs => "taken, and alike".to_owned(),
            (Ok(displayed), Some(Ok(theirs))) => {
                wrong.push(format!("{name}\n  ours   {displayed}\n  theirs {theirs}"));
                "taken, and otherwise".to_owned()
            }
            (Ok(_), Some(Err(reported))) if is_newer(&reported) => "taken; fio is too old for it".to_owned(),
            (Ok(_), Some(Err(reported))) => {
                wrong.push(format!("{name}: taken here, and fio says {reported}"));
                "taken, and refused by fio".to_owned()
            }
            (Err(faults), theirs) => {
                let taken = if matches!(theirs, Some(Ok(_))) { "refused, fio takes it" } else { "refused by both" };
                for fault in &faults {
                    println!("{name}: {taken}: {fault}");
                }
                let mut kinds: Vec<String> = faults.iter().map(|fault| format!("{:?}", fault.kind)).collect();
                kinds.sort();
                kinds.dedup();
                format!("{taken}: {}", kinds.join(", "))
            }
        };
        *table.entry(outcome).or_default() += 1;
    }
    println!("{} job files", paths.len());
    for (outcome, count) in &table {
        println!("{count:5} {outcome}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
