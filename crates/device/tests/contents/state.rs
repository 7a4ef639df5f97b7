//! Checking by another process: without a memory, and with one that was kept.

use std::sync::Arc;

use plimsoll_device::{BadState, Blank, Caching, Checked, Engine, What};
use plimsoll_load::Outcome;
use plimsoll_units::Kind;

use super::rig::{BLOCK, SIZE, behind, checked, file, fill, one, only, op, perform, shape, start};

/// Reads every block through `checked`, and returns how many were wrong.
fn verify(file: &std::os::fd::OwnedFd, checked: &Arc<Checked>) -> usize {
    let mut target = start(Engine::Inline, file, &shape(1, checked.clone()));
    let blocks = (0..SIZE.get()).step_by(BLOCK.get() as usize);
    blocks.filter(|offset| one(target.as_mut(), Kind::Read, *offset, BLOCK.get()) != Outcome::Done).count()
}

#[test]
fn a_later_check_finds_what_the_memory_allows() {
    let (file, _) = file(Caching::Buffered);
    let before = checked(Blank::PassedOver);
    let mut target = start(Engine::Inline, &file, &shape(1, before.clone()));
    fill(target.as_mut());
    let mut first = vec![0; BLOCK.get() as usize];
    rustix::io::pread(&file, &mut first[..], 0).unwrap();
    one(target.as_mut(), Kind::Write, 0, BLOCK.get());
    let mut kept = Vec::new();
    before.save(&mut kept).unwrap();
    assert_eq!(kept.len() as u64, 8 + 5 * 8 + SIZE.get() / BLOCK.get() * 4 + 8);
    let restored = || Arc::new(Checked::restore(&mut &kept[..], Blank::Mismatch).unwrap());

    assert_eq!((verify(&file, &checked(Blank::Mismatch)), verify(&file, &restored())), (0, 0));
    // The second write of the first block is lost: only who remembers it can know.
    rustix::io::pwrite(behind(&file), &first, 0).unwrap();
    assert_eq!(verify(&file, &checked(Blank::Mismatch)), 0);
    let after = restored();
    assert_eq!(verify(&file, &after), 1);
    let stale = only(&after);
    assert_eq!((stale.what, stale.expected, stale.found), (What::Stale, Some(2), Some(1)));
    // A torn block is known without a memory.
    rustix::io::pwrite(behind(&file), &[7; 1024], 3072).unwrap();
    let forgetful = checked(Blank::Mismatch);
    assert_eq!(verify(&file, &forgetful), 1);
    assert_eq!(only(&forgetful).what, What::Torn { at: 3072, then: None });
}

#[test]
fn what_goes_on_counts_on() {
    let (file, _) = file(Caching::Buffered);
    let before = checked(Blank::PassedOver);
    fill(start(Engine::Inline, &file, &shape(1, before.clone())).as_mut());
    let mut kept = Vec::new();
    before.save(&mut kept).unwrap();
    let after = Arc::new(Checked::restore(&mut &kept[..], Blank::Mismatch).unwrap());
    let mut target = start(Engine::Inline, &file, &shape(1, after.clone()));
    fill(target.as_mut());
    drop(target);
    assert_eq!((verify(&file, &after), verify(&file, &before)), (0, (SIZE.get() / BLOCK.get()) as usize));
    assert_eq!(before.mismatches().first[0].what, What::Ahead);
}

#[test]
fn what_is_first_seen_must_not_go_back() {
    let (file, _) = file(Caching::Buffered);
    let mut target = start(Engine::Inline, &file, &shape(1, checked(Blank::PassedOver)));
    one(target.as_mut(), Kind::Write, 0, BLOCK.get());
    let mut first = vec![0; BLOCK.get() as usize];
    rustix::io::pread(&file, &mut first[..], 0).unwrap();
    one(target.as_mut(), Kind::Write, 0, BLOCK.get());
    let other = checked(Blank::PassedOver);
    let mut target = start(Engine::Inline, &file, &shape(1, other.clone()));
    assert_eq!(one(target.as_mut(), Kind::Read, 0, BLOCK.get()), Outcome::Done);
    rustix::io::pwrite(behind(&file), &first, 0).unwrap();
    assert_ne!(one(target.as_mut(), Kind::Read, 0, BLOCK.get()), Outcome::Done);
    assert_eq!(only(&other).what, What::Stale);
}

#[test]
fn writes_under_way_are_not_kept_as_known() {
    let (file, _) = file(Caching::Buffered);
    let checked = checked(Blank::PassedOver);
    let Some(engine) = [Engine::Ring].into_iter().find(|engine| engine.refused().is_none()) else { return };
    let mut target = start(engine, &file, &shape(4, checked.clone()));
    let twice = [op(Kind::Write, 0, BLOCK.get()), op(Kind::Write, 0, BLOCK.get())];
    assert_eq!(perform(target.as_mut(), &twice), [Outcome::Done; 2]);
    let mut kept = Vec::new();
    checked.save(&mut kept).unwrap();
    let after = Arc::new(Checked::restore(&mut &kept[..], Blank::PassedOver).unwrap());
    rustix::io::pwrite(behind(&file), &[7; 4096], 0).unwrap();
    assert_eq!((verify(&file, &after), after.compared()), (0, 0));
}

#[test]
fn a_memory_that_is_damaged_is_refused() {
    let mut kept = Vec::new();
    checked(Blank::PassedOver).save(&mut kept).unwrap();
    let said = |bytes: &[u8]| Checked::restore(&mut &bytes[..], Blank::PassedOver).unwrap_err();
    for end in [8, 20, 48, 100, kept.len() - 1] {
        assert!(matches!(said(&kept[..end]), BadState::Damaged), "{end}");
    }
    for at in (0..kept.len()).step_by(7) {
        let mut bytes = kept.clone();
        bytes[at] ^= 0x20;
        let error = said(&bytes);
        assert_eq!(matches!(error, BadState::Foreign), at < 8, "{at}: {error}");
    }
    assert!(matches!(said(b"plimsoll"), BadState::Foreign));
}
