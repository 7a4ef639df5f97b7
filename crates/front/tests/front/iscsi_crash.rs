//! A target that is killed at any moment, with sessions that write and flush, loses no byte that it acknowledged as durable.
//!
//! `PLIMSOLL_CRASH_ROUNDS` sets how many times the server is killed, `PLIMSOLL_CRASH_SEED` the requests.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use fastrand::Rng;

use super::initiator::{Initiator, cdb_10};
use super::killed::{Killed, SIZE, TIMEOUT};

const BLOCK: usize = 4096;
const BLOCKS: u32 = SIZE as u32 / BLOCK as u32;
/// Sessions, each with blocks of its own.
const SESSIONS: u32 = 3;
/// Blocks of one write at most: more than fits the first burst, so that permissions for data are in flight, too.
const WRITE_MAX: u32 = 12;

/// The contents that a block may have after a crash.
#[derive(Clone, Debug, Default)]
struct Allowed {
    durable: u64,
    /// Written since, acknowledged or not.
    later: Vec<u64>,
}

/// The blocks of one session, from the first one on.
#[derive(Debug)]
struct Owned {
    first: u32,
    blocks: Vec<Allowed>,
    next: u64,
    flushes: u32,
}

fn environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn content(value: u64) -> impl Iterator<Item = u8> {
    std::iter::repeat_n(value.to_le_bytes(), BLOCK / 8).flatten()
}

fn session(base: &Path, number: u32) -> Option<Initiator> {
    let name = format!("iqn.2026-01.local.test:{number}");
    let keys = [
        ("InitiatorName", &*name),
        ("TargetName", "iqn.2026-01.local.plimsoll:0"),
        ("InitialR2T", if number.is_multiple_of(2) { "No" } else { "Yes" }),
        ("FirstBurstLength", "8192"),
        ("MaxBurstLength", "16384"),
        ("DataDigest", if number == 1 { "CRC32C" } else { "None" }),
    ];
    let mut initiator = Initiator::log_in(&base.join("iscsi"), &keys).ok()?;
    (initiator.immediate, initiator.first_burst) = (4096, if number.is_multiple_of(2) { 8192 } else { 0 });
    initiator.run(0, 0, &[0; 6], &[]);
    Some(initiator)
}

impl Owned {
    /// Writes and flushes until the target ends.
    fn write(&mut self, initiator: &mut Initiator, rng: &mut Rng) {
        loop {
            if rng.u32(0..4) == 0 {
                if initiator.try_run(0, 0, &cdb_10(0x35, 0, 0), &[]).is_err() {
                    return;
                }
                self.blocks.iter_mut().for_each(Allowed::settle);
                self.flushes += 1;
                continue;
            }
            let count = rng.u32(1..=WRITE_MAX);
            let at = rng.usize(0..=self.blocks.len() - count as usize);
            let values: Vec<u64> = (self.next..).take(count as usize).collect();
            self.next += u64::from(count);
            let written = &mut self.blocks[at..at + count as usize];
            written.iter_mut().zip(&values).for_each(|(block, value)| block.later.push(*value));
            let data: Vec<u8> = values.iter().copied().flat_map(content).collect();
            let mut cdb = cdb_10(0x2a, (self.first + at as u32) * 8, (count * 8) as u16);
            let is_durable = rng.u32(0..6) == 0;
            cdb[1] = if is_durable { 8 } else { 0 };
            let Ok(outcome) = initiator.try_run(0x20, data.len() as u32, &cdb, &data) else { return };
            assert!(outcome.is_good(), "{outcome:?}");
            if is_durable {
                written.iter_mut().for_each(Allowed::settle);
            }
        }
    }

    /// Compares what is there with what is allowed, and takes it over.
    fn check(&mut self, initiator: &mut Initiator, round: u64) {
        for (at, block) in self.blocks.iter_mut().enumerate() {
            let data = initiator.read((self.first + at as u32) * 8, 8).data;
            let found: BTreeSet<u64> = data.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
            // A write that was not acknowledged may be there in part.
            for value in &found {
                let is_allowed = *value == block.durable || block.later.contains(value);
                assert!(is_allowed, "round {round}, block {at}: {value} instead of {block:?}");
            }
            let is_settled = block.later.is_empty();
            assert!(!is_settled || found.len() == 1, "round {round}, block {at}: {found:?}");
        }
    }

    /// Writes a third of the blocks, deallocates the others, and makes that durable: the next round begins with known
    /// contents. A write to a deallocated block is lost unless it is made durable.
    fn renew(&mut self, initiator: &mut Initiator) {
        for (at, block) in self.blocks.iter_mut().enumerate() {
            let first = (self.first + at as u32) * 8;
            let is_written = at.is_multiple_of(3);
            let value = if is_written { self.next } else { 0 };
            let outcome = if is_written {
                initiator.write(first, &content(value).collect::<Vec<u8>>())
            } else {
                let mut unmap = cdb_10(0x41, first, 8);
                unmap[1] = 8;
                initiator.run(0x20, 512, &unmap, &[0; 512])
            };
            assert!(outcome.is_good(), "{outcome:?}");
            *block = Allowed { durable: value, later: Vec::new() };
            self.next += 1;
        }
        assert!(initiator.run(0, 0, &cdb_10(0x35, 0, 0), &[]).is_good());
    }
}

impl Allowed {
    /// What was written last is durable now.
    fn settle(&mut self) {
        if let Some(last) = self.later.last() {
            self.durable = *last;
        }
        self.later.clear();
    }
}

#[test]
fn acknowledged_bytes_survive_a_kill() {
    let rounds = environment("PLIMSOLL_CRASH_ROUNDS", 12);
    let base = std::env::temp_dir().join(format!("plimsoll-iscsi-killed-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&base);
    let mut rng = Rng::with_seed(environment("PLIMSOLL_CRASH_SEED", 7));
    let each = BLOCKS / SESSIONS;
    let mut owned: Vec<Owned> = (0..SESSIONS)
        .map(|number| Owned {
            first: number * each,
            blocks: vec![Allowed::default(); each as usize],
            next: u64::from(number + 1) << 40,
            flushes: 0,
        })
        .collect();
    for round in 0..rounds {
        let mut server = Killed::start(&base);
        server.ready().unwrap();
        let delay = Duration::from_micros(rng.u64(2_000..120_000));
        let (begun, begins) = channel();
        std::thread::scope(|scope| {
            for (number, own) in (0..).zip(&mut owned) {
                let (base, mut rng, begun) = (&base, rng.fork(), begun.clone());
                scope.spawn(move || {
                    let mut initiator = session(base, number).unwrap();
                    own.check(&mut initiator, round);
                    own.renew(&mut initiator);
                    begun.send(()).unwrap();
                    own.write(&mut initiator, &mut rng);
                });
            }
            let all = (0..SESSIONS).all(|_| begins.recv_timeout(TIMEOUT).is_ok());
            std::thread::sleep(delay);
            server.kill();
            assert!(all, "a session does not begin");
        });
    }
    let flushes: u32 = owned.iter().map(|own| own.flushes).sum();
    assert!(u64::from(flushes) > rounds, "{flushes} flushes in {rounds} rounds");
    std::fs::remove_dir_all(base).unwrap();
}
