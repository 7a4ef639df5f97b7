//! Verification by a later process: without a memory, and with a saved memory.

use std::sync::Arc;

use plimsoll_device::{BadState, Blank, Caching, Checked, Engine, MismatchKind};
use plimsoll_load::OpOutcome;
use plimsoll_units::Kind;

use super::rig::{BLOCK, SIZE, behind, checked, file, fill, one, only, op, perform, shape, start};

/// Verifies every block with `checked`, and returns the number of mismatches.
fn verify(file: &std::os::fd::OwnedFd, checked: &Arc<Checked>) -> usize {
    let mut target = start(Engine::Inline, file, &shape(1, checked.clone()));
    let blocks = (0..SIZE.get()).step_by(BLOCK.get() as usize);
    blocks.filter(|offset| one(target.as_mut(), Kind::Read, *offset, BLOCK.get()) != OpOutcome::Done).count()
}

#[test]
fn later_verification_needs_the_memory_for_stale_blocks() {
    let (file, _) = file(Caching::Buffered);
    let before = checked(Blank::PassedOver);
    let mut target = start(Engine::Inline, &file, &shape(1, before.clone()));
    fill(target.as_mut());
    let mut first = vec![0; BLOCK.get() as usize];
    rustix::io::pread(&file, &mut first[..], 0).unwrap();
    one(target.as_mut(), Kind::Write, 0, BLOCK.get());
    let mut saved = Vec::new();
    before.save(&mut saved).unwrap();
    assert_eq!(saved.len() as u64, 8 + 5 * 8 + SIZE.get() / BLOCK.get() * 4 + 8);
    let restored = || Arc::new(Checked::restore(&mut &saved[..], Blank::Mismatch).unwrap());

    assert_eq!((verify(&file, &checked(Blank::Mismatch)), verify(&file, &restored())), (0, 0));
    // The second write of the first block is lost: detectable with the memory only.
    rustix::io::pwrite(behind(&file), &first, 0).unwrap();
    assert_eq!(verify(&file, &checked(Blank::Mismatch)), 0);
    let after = restored();
    assert_eq!(verify(&file, &after), 1);
    let stale = only(&after);
    assert_eq!((stale.kind, stale.expected, stale.found), (MismatchKind::Stale, Some(2), Some(1)));
    // A torn block is detected without a memory.
    rustix::io::pwrite(behind(&file), &[7; 1024], 3072).unwrap();
    let forgetful = checked(Blank::Mismatch);
    assert_eq!(verify(&file, &forgetful), 1);
    assert_eq!(only(&forgetful).kind, MismatchKind::Torn { at: 3072, then: None });
}

#[test]
fn restored_memory_continues_generations() {
    let (file, _) = file(Caching::Buffered);
    let before = checked(Blank::PassedOver);
    fill(start(Engine::Inline, &file, &shape(1, before.clone())).as_mut());
    let mut saved = Vec::new();
    before.save(&mut saved).unwrap();
    let after = Arc::new(Checked::restore(&mut &saved[..], Blank::Mismatch).unwrap());
    let mut target = start(Engine::Inline, &file, &shape(1, after.clone()));
    fill(target.as_mut());
    drop(target);
    assert_eq!((verify(&file, &after), verify(&file, &before)), (0, (SIZE.get() / BLOCK.get()) as usize));
    assert_eq!(before.mismatches().first[0].kind, MismatchKind::Ahead);
}

#[test]
fn version_found_first_must_not_go_back() {
    let (file, _) = file(Caching::Buffered);
    let mut target = start(Engine::Inline, &file, &shape(1, checked(Blank::PassedOver)));
    one(target.as_mut(), Kind::Write, 0, BLOCK.get());
    let mut first = vec![0; BLOCK.get() as usize];
    rustix::io::pread(&file, &mut first[..], 0).unwrap();
    one(target.as_mut(), Kind::Write, 0, BLOCK.get());
    let other = checked(Blank::PassedOver);
    let mut target = start(Engine::Inline, &file, &shape(1, other.clone()));
    assert_eq!(one(target.as_mut(), Kind::Read, 0, BLOCK.get()), OpOutcome::Done);
    rustix::io::pwrite(behind(&file), &first, 0).unwrap();
    assert_ne!(one(target.as_mut(), Kind::Read, 0, BLOCK.get()), OpOutcome::Done);
    assert_eq!(only(&other).kind, MismatchKind::Stale);
}

#[test]
fn writes_in_flight_are_saved_as_unknown() {
    let (file, _) = file(Caching::Buffered);
    let checked = checked(Blank::PassedOver);
    let Some(engine) = [Engine::Ring].into_iter().find(|engine| engine.refused().is_none()) else { return };
    let mut target = start(engine, &file, &shape(4, checked.clone()));
    let twice = [op(Kind::Write, 0, BLOCK.get()), op(Kind::Write, 0, BLOCK.get())];
    assert_eq!(perform(target.as_mut(), &twice), [OpOutcome::Done; 2]);
    let mut saved = Vec::new();
    checked.save(&mut saved).unwrap();
    let after = Arc::new(Checked::restore(&mut &saved[..], Blank::PassedOver).unwrap());
    rustix::io::pwrite(behind(&file), &[7; 4096], 0).unwrap();
    assert_eq!((verify(&file, &after), after.compared()), (0, 0));
}

#[test]
fn damaged_memory_is_refused() {
    let mut saved = Vec::new();
    checked(Blank::PassedOver).save(&mut saved).unwrap();
    let replies = |bytes: &[u8]| Checked::restore(&mut &bytes[..], Blank::PassedOver).unwrap_err();
    for end in [8, 20, 48, 100, saved.len() - 1] {
        assert!(matches!(replies(&saved[..end]), BadState::Damaged), "{end}");
    }
    for at in (0..saved.len()).step_by(7) {
        let mut bytes = saved.clone();
        bytes[at] ^= 0x20;
        let error = replies(&bytes);
        assert_eq!(matches!(error, BadState::Foreign), at < 8, "{at}: {error}");
    }
    assert!(matches!(replies(b"plimsoll"), BadState::Foreign));
}
