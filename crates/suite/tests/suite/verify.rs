//! Data verification: intact data, damage between steps, and a check by another process.

use crate::grounds;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use grounds::{Silent, Temporary, build_facts, planned, words};
use plimsoll_device::{Checked, MismatchKind};
use plimsoll_suite::recipes::verify::{Verify, VerifyMode, VerifyOptions};
use plimsoll_suite::{Facts, Ground, Nature, Recipe, SuiteObserver, SuiteOptions, SuiteOutcome, perform};
use plimsoll_units::Bytes;

const BLOCK: u64 = 4096;

fn options(mode: VerifyMode) -> VerifyOptions {
    let file = Some("data".into());
    VerifyOptions { mode, size: Bytes::mib(4), passes: 2, file, ..VerifyOptions::defaults() }
}

fn make(recipe: &mut Verify, ground: &mut dyn Ground, watch: &mut dyn SuiteObserver) -> SuiteOutcome {
    perform(recipe, ground, watch).expect("a ground that fits")
}

/// Modifies the file after the step with this index.
struct Meanwhile<'a>(usize, &'a Path, fn(&File));

impl SuiteObserver for Meanwhile<'_> {
    fn step_begins(&mut self, step: &plimsoll_suite::Step, place: usize, expected: usize) {
        Silent.step_begins(step, place, expected);
        if place == self.0 {
            (self.2)(&File::options().read(true).write(true).open(self.1).expect("the file"));
        }
    }

    fn observe(&mut self, _: &plimsoll_suite::Step, _: &[plimsoll_record::Slice]) -> plimsoll_drive::Onward {
        plimsoll_drive::Onward::Continue(())
    }
}

/// Damages the file before the last step, and compares the reported mismatches.
fn check_mismatches(name: &str, damage: fn(&File), expected: &[(u64, MismatchKind)]) {
    let temporary = Temporary::new(name);
    let mut ground = temporary.ground();
    let path = temporary.path().join("data");
    let mut recipe = Verify::new(options(VerifyMode::WriteAndCheck), ground.facts()).expect("options that fit");
    let last = recipe.expected() - 1;
    let outcome = make(&mut recipe, &mut ground, &mut Meanwhile(last, &path, damage));
    let found: Vec<_> = recipe.mismatches().first.iter().map(|one| (one.offset, one.kind)).collect();
    assert_eq!(found, expected, "{name}");
    assert_eq!(recipe.has_failed(&outcome.done), !expected.is_empty(), "{name}");
    let text = &recipe.listings(&outcome.done, ground.facts())[0].text;
    assert!(text.contains(&format!("mismatches    {}\n", expected.len())), "{text}");
    for mismatch in &recipe.mismatches().first {
        assert!(text.contains(&format!("  {mismatch}\n")), "{text}");
    }
}

#[test]
fn written_data_verify() {
    check_mismatches("verify-whole", |_| {}, &[]);
}

#[test]
fn damage_is_reported_with_offset() {
    let zeroes = |file: &File| file.write_all_at(&[0; BLOCK as usize], 5 * BLOCK).expect("written");
    check_mismatches("verify-zeroes", zeroes, &[(5 * BLOCK, MismatchKind::NeverWritten)]);
    let copied = |file: &File| {
        let mut block = [0; BLOCK as usize];
        file.read_exact_at(&mut block, 9 * BLOCK).expect("read");
        file.write_all_at(&block, 3 * BLOCK).expect("written");
    };
    check_mismatches("verify-misdirected", copied, &[(3 * BLOCK, MismatchKind::Misdirected { from: 9 * BLOCK })]);
    let flipped = |file: &File| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, 7 * BLOCK + 100).expect("read");
        file.write_all_at(&[byte[0] ^ 1], 7 * BLOCK + 100).expect("written");
    };
    check_mismatches("verify-rot", flipped, &[(7 * BLOCK, MismatchKind::Rot { at: 100, bytes: 1 })]);
}

/// Saves the file before the third step, and restores it before the fourth.
struct Restoring<'a>(&'a Path, Vec<u8>);

impl SuiteObserver for Restoring<'_> {
    fn step_begins(&mut self, _: &plimsoll_suite::Step, place: usize, _: usize) {
        match place {
            2 => self.1 = std::fs::read(self.0).expect("read"),
            3 => File::options().write(true).open(self.0).expect("open").write_all_at(&self.1, 0).expect("written"),
            _ => {}
        }
    }

    fn observe(&mut self, _: &plimsoll_suite::Step, _: &[plimsoll_record::Slice]) -> plimsoll_drive::Onward {
        plimsoll_drive::Onward::Continue(())
    }
}

#[test]
fn older_version_is_a_lost_write() {
    // Restores the data of the first pass after the second.
    let temporary = Temporary::new("verify-stale");
    let mut ground = temporary.ground();
    let path = temporary.path().join("data");
    let all = VerifyOptions { overwrite: 8.0, passes: 1, ..options(VerifyMode::WriteAndCheck) };
    let mut recipe = Verify::new(all, ground.facts()).unwrap();
    let outcome = make(&mut recipe, &mut ground, &mut Restoring(&path, Vec::new()));
    let wrong = recipe.mismatches();
    assert!(wrong.total > 900 && wrong.first.iter().all(|one| one.kind == MismatchKind::Stale), "{wrong:?}");
    assert!(recipe.has_failed(&outcome.done));
    assert!(words(&recipe.verdicts(&outcome.done, ground.facts()))[0].contains("had wrong data"));
}

#[test]
fn another_process_verifies_data() {
    let temporary = Temporary::new("verify-later");
    let mut ground = temporary.ground();
    let mut recipe = Verify::new(options(VerifyMode::WriteAndCheck), ground.facts()).unwrap();
    make(&mut recipe, &mut ground, &mut Silent);
    let mut saved = Vec::new();
    recipe.checked().save(&mut saved).unwrap();
    drop(ground);

    let later = |seed: u64, memory: Option<Checked>| {
        let mut ground = temporary.ground();
        let check_only = VerifyOptions { seed, ..options(VerifyMode::CheckOnly) };
        let built = match memory {
            Some(memory) => Verify::remembering(check_only, memory, ground.facts()),
            None => Verify::new(check_only, ground.facts()),
        };
        let mut recipe = built.unwrap();
        let outcome = make(&mut recipe, &mut ground, &mut Silent);
        assert_eq!(outcome.done.len(), 1);
        (recipe.checked().compared(), recipe.mismatches(), recipe.has_failed(&outcome.done))
    };
    let (compared, wrong, failed) = later(1, None);
    assert_eq!((compared, wrong.total, failed), (1024, 0, false));
    let (_, wrong, failed) = later(2, None);
    assert!(failed && wrong.first.iter().all(|one| one.kind == MismatchKind::OtherSeed { seed: 1 }), "{wrong:?}");
    let memory = || Checked::restore(&mut &saved[..], plimsoll_device::Blank::Mismatch).unwrap();
    assert_eq!(later(1, Some(memory())).1.total, 0);
}

#[test]
fn steps_follow_passes() {
    let names = |passes, overwrite, mode| {
        let facts = build_facts(Nature::Directory, Bytes::gib(1));
        let mut recipe = Verify::new(VerifyOptions { passes, overwrite, ..options(mode) }, &facts).unwrap();
        let steps = planned(&mut recipe, &facts);
        steps.iter().map(|step| format!("{} {}", step.name, step.round)).collect::<Vec<_>>()
    };
    assert_eq!(names(0, 0.5, VerifyMode::WriteAndCheck), ["Write all 1", "Read all back 1"]);
    assert_eq!(names(3, 0.0, VerifyMode::WriteAndCheck), ["Write all 1", "Read all back 1"]);
    let two = ["Write all 1", "Read all back 1", "Write over at random 1", "Read all back 2"];
    assert_eq!(names(1, 0.5, VerifyMode::WriteAndCheck), two);
    assert_eq!(names(1, 0.5, VerifyMode::CheckOnly), ["Read all back 1"]);
}

#[test]
fn unverifiable_options_are_refused_in_one_line() {
    let check = |options, facts: &Facts, words: &str| {
        let message = Verify::new(options, facts).unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    };
    let usual = || options(VerifyMode::WriteAndCheck);
    let place = build_facts(Nature::Directory, Bytes::mib(2));
    check(usual(), &build_facts(Nature::Model, Bytes::gib(1)), "keeps no bytes");
    check(usual(), &place, "give a smaller --size");
    check(VerifyOptions { size: Bytes::kib(4), ..usual() }, &place, "at least 1 MiB");
    check(VerifyOptions { block: Bytes::new(100), ..usual() }, &place, "multiple of 8");
    check(usual(), &Facts { grid: 4096, read_only: true, ..place.clone() }, "--destroy");
    check(
        VerifyOptions { block: Bytes::kib(1), ..usual() },
        &Facts { grid: 4096, ..place.clone() },
        "multiple of 4096",
    );
    check(VerifyOptions { file: None, ..options(VerifyMode::CheckOnly) }, &place, "name the file");
    check(VerifyOptions { depth: 0, ..usual() }, &place, "depth");
    check(VerifyOptions { overwrite: f64::NAN, ..usual() }, &place, "shares");
}
