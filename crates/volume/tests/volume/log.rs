//! Encoding of commits: lossless, robust against torn ends and damage, and without surplus commits.

use plimsoll_volume::{
    Commit, FileId, Geometry, Log, LogError, Record, ShortFile, Store, StoreId, Unrecoverable, Unreferenced,
    VolumeAccess, VolumeId,
};

use proptest::prelude::*;

const ID: StoreId = StoreId([1; 16]);

fn record() -> impl Strategy<Value = Record> {
    let volume = (0..4_u32).prop_map(VolumeId);
    let access = prop_oneof![Just(VolumeAccess::ReadWrite), Just(VolumeAccess::ReadOnly)];
    let size = 1..1_000_000_u64;
    prop_oneof![
        (volume.clone(), size.clone(), access).prop_map(|(volume, size, access)| Record::Create {
            volume,
            size,
            access
        }),
        (volume.clone(), volume.clone()).prop_map(|(from, to)| Record::Fork { from, to }),
        (volume.clone(), 0..300_u32, 0..20_u32, 0..300_u32).prop_map(|(volume, first, count, at)| Record::Map {
            volume,
            first,
            count,
            at
        }),
        (volume.clone(), 0..300_u32, 0..20_u32).prop_map(|(volume, first, count)| Record::Unmap {
            volume,
            first,
            count
        }),
        (volume.clone(), size).prop_map(|(volume, size)| Record::Grow { volume, size }),
        (volume.clone(), ".{0,20}").prop_map(|(volume, text)| Record::Describe { volume, text }),
        volume.prop_map(|volume| Record::Delete { volume }),
    ]
}

fn geometry() -> Record {
    let Geometry { cluster_bytes, clusters_per_file } = Geometry { cluster_bytes: 4096, clusters_per_file: 64 };
    Record::Geometry { cluster_bytes, clusters_per_file, volumes: 0 }
}

fn generate_commits() -> impl Strategy<Value = Vec<Commit>> {
    prop::collection::vec(prop::collection::vec(record(), 1..8), 1..12).prop_map(|lists| {
        let (mut at, mut commits) = (0, Vec::new());
        for (index, mut records) in lists.into_iter().enumerate() {
            let is_full = index == 0;
            if is_full {
                records.insert(0, geometry());
            }
            let commit = Commit { sequence: 7 + index as u64, is_full, at, records };
            at += commit.encoded_bytes();
            commits.push(commit);
        }
        commits
    })
}

fn encode_commits(commits: &[Commit]) -> Vec<u8> {
    commits.iter().flat_map(|commit| commit.encode(ID)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encoded_log_is_decoded(commits in generate_commits()) {
        let bytes = encode_commits(&commits);
        let next = commits.last().unwrap().sequence + 1;
        let log = Log::read(&bytes);
        prop_assert_eq!(&log, &Log { commits, length: bytes.len() as u64, later: vec![], id: Some(ID) });
        prop_assert_eq!(log.check(ID, next), Ok(()));
        prop_assert_eq!(log.check(ID, next + 3), Err(LogError::Lost { at: log.length, first: next, last: next + 2 }));
        let other = StoreId([2; 16]);
        prop_assert_eq!(log.check(other, 0), Err(LogError::Foreign { found: ID, expected: other }));
    }

    #[test]
    fn unconfirmed_torn_end_is_dropped(commits in generate_commits(), cut in 0.0..1.0_f64) {
        let bytes = encode_commits(&commits);
        let cut = (bytes.len() as f64 * cut) as usize;
        let log = Log::read(&bytes[..cut]);
        let complete = commits.iter().take_while(|commit| commit.at + commit.encoded_bytes() <= cut as u64).count();
        prop_assert_eq!(&log.commits, &commits[..complete]);
        prop_assert_eq!(log.length, log.commits.iter().map(Commit::encoded_bytes).sum::<u64>());
        let mut zeroed = bytes.clone();
        zeroed[cut..].fill(0);
        for (log, left) in [(log, &bytes[..cut]), (Log::read(&zeroed), &zeroed)] {
            // Zeros over a last byte of 0 tear nothing.
            let is_complete = |commit: &&Commit| {
                let end = (commit.at + commit.encoded_bytes()) as usize;
                left.get(..end) == Some(&bytes[..end])
            };
            let complete = commits.iter().take_while(is_complete).count();
            prop_assert_eq!(log.commits.len(), complete);
            prop_assert_eq!(log.check(ID, log.next()), Ok(()));
            for next in log.next() + 1..=commits.last().unwrap().sequence + 1 {
                let (at, first, last) = (log.length, log.next(), next - 1);
                let lost = if complete == 0 { LogError::Missing { last } } else { LogError::Lost { at, first, last } };
                prop_assert_eq!(log.check(ID, next), Err(lost));
            }
        }
    }

    #[test]
    fn damage_is_never_decoded_as_other_data(commits in generate_commits(), at in 0.0..1.0_f64, bit in 0..8_u8) {
        let mut bytes = encode_commits(&commits);
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] ^= 1 << bit;
        let hit = commits.iter().position(|commit| (commit.at + commit.encoded_bytes()) as usize > at).unwrap();
        let log = Log::read(&bytes);
        prop_assert_eq!(&log.commits, &commits[..hit]);
        prop_assert_eq!(log.later.len(), commits.len() - hit - 1);
        let last = commits.last().unwrap().sequence;
        let (at, first) = (commits[hit].at, log.next());
        // Without a confirmation, a damaged last commit is indistinguishable from a torn one.
        prop_assert_eq!(log.check(ID, 0).is_ok(), hit + 1 == commits.len());
        let lost = match (hit, hit + 1 == commits.len()) {
            (0, true) => LogError::Missing { last },
            (_, true) => LogError::Lost { at, first, last },
            (_, false) => LogError::Damaged { at, first, last },
        };
        prop_assert_eq!(log.check(ID, last + 1), Err(lost));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Log::read(&bytes);
        let _ = Log::read(&[b"PLM2", bytes.as_slice()].concat());
    }

    #[test]
    fn contradictory_records_do_not_panic(commits in generate_commits()) {
        match Store::recover(commits.clone(), &[1 << 30], 1 << 30, Unreferenced::Punch) {
            Ok(recovered) => prop_assert!(recovered.store.volumes().count() <= 4),
            Err(why) => prop_assert!(matches!(why, Unrecoverable::Contradiction(_) | Unrecoverable::Short(_))),
        }
    }
}

#[test]
fn missing_commits_are_reported() {
    let commit = |sequence, is_full, records| Commit { sequence, is_full, at: 0, records };
    let first = commit(0, true, vec![geometry()]);
    let second = commit(2, false, vec![Record::Delete { volume: VolumeId(0) }]);
    let refused = |commits: Vec<Commit>| Store::recover(commits, &[], 0, Unreferenced::Punch).map(|_| ()).unwrap_err();
    assert_eq!(refused(vec![]), Unrecoverable::NoBeginning);
    assert_eq!(refused(vec![second.clone()]), Unrecoverable::NoBeginning);
    assert_eq!(refused(vec![first, second]), Unrecoverable::Missing { expected: 1, found: 2 });
}

#[test]
fn data_file_shorter_than_the_map_is_refused() {
    let volume = VolumeId(0);
    let records = vec![
        geometry(),
        Record::Create { volume, size: 1 << 20, access: VolumeAccess::ReadWrite },
        Record::Map { volume, first: 3, count: 2, at: 5 },
        Record::Map { volume, first: 9, count: 1, at: 64 + 1 },
    ];
    let recover = |lengths: &[u64]| {
        let commit = Commit { sequence: 0, is_full: true, at: 0, records: records.clone() };
        Store::recover([commit], lengths, 1 << 30, Unreferenced::Punch).map(|recovered| recovered.unreferenced_bytes)
    };
    let short = |file, length, needed| ShortFile { file: FileId(file), length, needed, volumes: vec![volume] };
    assert_eq!(recover(&[7 * 4096, 2 * 4096]), Ok((4 + 57) * 4096), "clusters 1 to 4, and those behind the first file");
    assert_eq!(recover(&[7 * 4096 - 1, 2 * 4096]), Err(Unrecoverable::Short(vec![short(0, 7 * 4096 - 1, 7 * 4096)])));
    let both = vec![short(0, 0, 7 * 4096), short(1, 0, 2 * 4096)];
    assert_eq!(recover(&[]), Err(Unrecoverable::Short(both)));
}
