//! Methods of durable log writes: steps, figures in virtual time, and execution in a real directory.

use crate::grounds;

use clap::ValueEnum;
use grounds::{Temporary, all, build_facts, io_step, model, planned, words};
use plimsoll_suite::recipes::walfsync::{WalPreset, Walfsync, WalfsyncOptions};
use plimsoll_suite::{Descriptor, Facts, Ground, Nature, Recipe, Step, SuiteOptions};
use plimsoll_units::{Bytes, Span};

fn options(preset: WalPreset, span: Span) -> WalfsyncOptions {
    WalfsyncOptions { preset, span, ..WalfsyncOptions::defaults() }
}

fn steps(preset: WalPreset, facts: &Facts) -> Vec<Step> {
    planned(&mut Walfsync::new(options(preset, Span::from_secs(5)), facts).expect("options that fit"), facts)
}

/// Size, writes per flush, file size, direct, sync mode, flush, descriptor: a line per step.
fn described(preset: WalPreset, facts: &Facts) -> Vec<String> {
    let line = |step: &Step| {
        let worker = &io_step(step).workers[0];
        let (job, access) = (&worker.job, &worker.access);
        let reopened = if access.descriptor == Descriptor::Retained { "" } else { " opened again" };
        let flush =
            if job.flush_every > 0 { format!(" {:?}/{}", access.flush, job.flush_every) } else { String::new() };
        let direct = if access.direct { " direct" } else { "" };
        format!("{} in {}: {:?}{direct}{flush}{reopened}", job.largest(), worker.parts[0].length, access.opened)
    };
    steps(preset, facts).iter().skip(1).map(line).collect()
}

#[test]
fn the_methods_of_postgresql() {
    let expected = [
        "8192 in 8 KiB: Dsync direct",
        "8192 in 8 KiB: None Fdatasync/1",
        "8192 in 8 KiB: None Fsync/1",
        "8192 in 8 KiB: Sync direct",
        "8192 in 16 KiB: Dsync direct",
        "8192 in 16 KiB: None Fdatasync/2",
        "8192 in 16 KiB: None Fsync/2",
        "8192 in 16 KiB: Sync direct",
        "16384 in 16 KiB: Sync direct",
        "8192 in 16 KiB: Sync direct",
        "4096 in 16 KiB: Sync direct",
        "2048 in 16 KiB: Sync direct",
        "1024 in 16 KiB: Sync direct",
        "8192 in 8 KiB: None Fsync/1 opened again",
        "8192 in 8 KiB: None Fsync/1 opened again",
        "8192 in 8 KiB: None",
    ];
    assert_eq!(described(WalPreset::Postgresql, &build_facts(Nature::Directory, Bytes::gib(1))), expected);
    // Cases below the device's block size are omitted.
    let coarse = Facts { grid: 4096, ..build_facts(Nature::Directory, Bytes::gib(1)) };
    assert_eq!(described(WalPreset::Postgresql, &coarse).len(), expected.len() - 2);
}

#[test]
fn the_logs_of_others() {
    let facts = build_facts(Nature::Directory, Bytes::gib(1));
    assert_eq!(described(WalPreset::Etcd, &facts), ["2300 in 16 MiB: None Fdatasync/1"]);
    let oracle = described(WalPreset::Oracle, &facts);
    assert_eq!(oracle.len(), 15);
    assert_eq!(
        (oracle[0].as_str(), oracle[11].as_str()),
        ("512 in 16 MiB: Dsync direct", "1048576 in 16 MiB: Dsync direct")
    );
    let innodb = described(WalPreset::Innodb, &facts);
    assert_eq!(innodb[0], "512 in 16 MiB: None Fsync/1");
    assert_eq!(innodb[4], "512 in 16 MiB: Dsync");
    assert_eq!(innodb[6], "16384 in 16 MiB: None direct Fsync/1");
    assert_eq!(innodb[7], "16384 in 16 MiB: None direct Fsync/1");
}

#[test]
fn model_matches_arithmetic() {
    // A single server of 1 ms per write and per flush.
    let mut ground = model("station(1, 1ms)", Bytes::mib(64));
    let facts = ground.facts().clone();
    let mut recipe = Walfsync::new(options(WalPreset::Postgresql, Span::from_secs(2)), &facts).unwrap();
    let outcome = all(&mut recipe, &mut ground);
    let listings = recipe.listings(&outcome.done, &facts);
    println!("{}\n{}", listings[0].text, listings[1].text);
    let lines: Vec<_> = listings[0].text.lines().filter(|line| line.starts_with("  ")).collect();
    let figures = |line: &str| line.split_whitespace().rev().take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines.len(), 18);
    assert_eq!(figures(lines[0])[1..4], ["1000", "ops/sec", "1000.000"]);
    assert_eq!(lines[3], "        fsync_writethrough                              n/a");
    assert_eq!(figures(lines[5])[1..4], ["2000", "ops/sec", "500.000"]);
    assert_eq!(figures(lines[14])[1..4], ["16000", "ops/sec", "62.500"]);
    assert_eq!(figures(lines[17])[0], "n/a", "there is no page cache in a model");
    let verdicts = words(&recipe.verdicts(&outcome.done, &facts));
    assert!(
        verdicts[0].contains("500 times a second with a write and a flush, 1000 times with open_datasync"),
        "{verdicts:?}"
    );
    assert!(!verdicts.iter().any(|verdict| verdict.contains("power cut")), "a model proves nothing: {verdicts:?}");
}

#[test]
fn etcd_verdict_uses_its_limit() {
    let check = |notation, expected: &str| {
        let mut ground = model(notation, Bytes::mib(64));
        let facts = ground.facts().clone();
        let mut recipe = Walfsync::new(options(WalPreset::Etcd, Span::from_secs(2)), &facts).unwrap();
        let outcome = all(&mut recipe, &mut ground);
        let verdicts = words(&recipe.verdicts(&outcome.done, &facts));
        assert!(verdicts[0].contains(expected), "{verdicts:?}");
    };
    check("station(1, 9ms)", "below the 10 ms required by etcd");
    check("station(1, 11ms)", "not below the 10 ms");
}

#[test]
fn invalid_log_is_refused_in_one_line() {
    let check = |options, facts: &Facts, words: &str| {
        let message = Walfsync::new(options, facts).unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    };
    let small = build_facts(Nature::Directory, Bytes::mib(1));
    let second = options(WalPreset::Etcd, Span::from_secs(1));
    check(second.clone(), &small, "give a smaller --size");
    check(WalfsyncOptions { file: Bytes::kib(1), ..second.clone() }, &small, "at least 2MiB");
    check(WalfsyncOptions { span: Span::ZERO, ..second.clone() }, &small, "give 1s");
    check(second, &Facts { read_only: true, ..build_facts(Nature::Blocks, Bytes::gib(1)) }, "--destroy");
}

#[test]
fn directory_supports_every_preset() {
    let temporary = Temporary::new("walfsync");
    for &preset in WalPreset::value_variants() {
        let mut ground = temporary.ground();
        let facts = ground.facts().clone();
        let mut recipe = Walfsync::new(options(preset, Span::from_millis(20)), &facts).unwrap();
        let outcome = all(&mut recipe, &mut ground);
        let listings = recipe.listings(&outcome.done, &facts);
        println!("{}\n{}", listings[0].text, listings[1].text);
        let measured = listings[0].text.lines().filter(|line| line.ends_with("usecs/op")).count();
        assert_eq!(measured, recipe.expected() - 1, "{preset:?}");
        let verdicts = words(&recipe.verdicts(&outcome.done, &facts));
        println!("{verdicts:#?}");
        assert!(!verdicts.is_empty(), "{preset:?}");
    }
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is left behind");
}
