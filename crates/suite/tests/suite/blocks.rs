//! A file as a device: suites that may write to it, and suites that only read it.

use crate::grounds;

use std::path::Path;

use grounds::{Temporary, all, build_facts};
use plimsoll_device::claim_named;
use plimsoll_suite::recipes::articles::{Article, Articles, ArticlesOptions};
use plimsoll_suite::recipes::dd::{Dd, DdKind, DdOptions};
use plimsoll_suite::recipes::verify::{Verify, VerifyMode, VerifyOptions};
use plimsoll_suite::recipes::walfsync::{WalPreset, Walfsync, WalfsyncOptions};
use plimsoll_suite::{Disk, DiskPlace, Facts, Ground, Nature, OptionsError, Recipe, SuiteOptions};
use plimsoll_units::{Bytes, Span};

const SIZE: Bytes = Bytes::mib(8);

/// The file as a device, writable or not.
fn device(path: &Path, writes: bool) -> Disk {
    let leave = writes.then(|| claim_named(path, &[path.to_path_buf()]).expect("a file that nobody uses"));
    let facts = Facts { read_only: !writes, ..build_facts(Nature::Blocks, SIZE) };
    Disk::new(DiskPlace::Existing(path.to_path_buf(), leave), facts, Vec::new())
}

/// Runs a recipe, and counts its steps.
fn steps<R: Recipe>(
    new: impl Fn(&Facts) -> Result<R, OptionsError>,
    path: &Path,
    writes: bool,
) -> Result<(usize, bool), String> {
    let mut ground = device(path, writes);
    let mut recipe = new(&ground.facts().clone()).map_err(|error| error.to_string())?;
    let outcome = all(&mut recipe, &mut ground);
    Ok((outcome.done.len(), recipe.has_failed(&outcome.done)))
}

#[test]
fn device_is_written_only_with_permission() {
    let temporary = Temporary::new("blocks");
    let path = temporary.path().join("device");
    std::fs::File::create(&path).and_then(|file| file.set_len(SIZE.get())).expect("a file");

    let dd = |kinds: &'static [DdKind]| {
        let options = DdOptions { block: Bytes::kib(64), count: 16, kinds: kinds.to_vec(), ..DdOptions::defaults() };
        move |facts: &Facts| Dd::new(options.clone(), facts)
    };
    assert_eq!(steps(dd(&[DdKind::Buffered, DdKind::Dsync]), &path, true), Ok((3, false)));
    assert_eq!(steps(dd(&[DdKind::ReadDirect]), &path, false), Ok((1, false)));
    assert!(steps(dd(&[DdKind::Buffered]), &path, false).is_err());

    let log = |facts: &Facts| {
        let span = Span::from_millis(10);
        Walfsync::new(WalfsyncOptions { preset: WalPreset::Postgresql, span, file: Bytes::mib(2) }, facts)
    };
    assert_eq!(steps(log, &path, true), Ok((17, false)));
    assert!(steps(log, &path, false).is_err());

    let verify = |mode| {
        let options = VerifyOptions { mode, size: SIZE, ..VerifyOptions::defaults() };
        move |facts: &Facts| Verify::new(options.clone(), facts)
    };
    assert_eq!(steps(verify(VerifyMode::WriteAndCheck), &path, true), Ok((4, false)));
    assert_eq!(steps(verify(VerifyMode::CheckOnly), &path, false), Ok((1, false)));
    assert!(steps(verify(VerifyMode::WriteAndCheck), &path, false).is_err());

    let article = |article| {
        let span = Some(Span::from_millis(10));
        move |facts: &Facts| Articles::new(ArticlesOptions { span, ..ArticlesOptions::of(article) }, facts)
    };
    assert_eq!(steps(article(Article::OciUhp), &path, false), Ok((1, false)));
    assert_eq!(steps(article(Article::Tr4969), &path, false), Ok((6, false)));
    assert!(steps(article(Article::AzureStriping), &path, false).is_err());
}
