//! The FUSE codec: the effect of each request, and robustness against arbitrary bytes.

use plimsoll_front::codec::{Codec, Exports, Incoming, Message, Operation};
use plimsoll_front::fuse::wire::{REPLY_BYTES, REQUEST_BYTES, ROOT, WRITE_BYTES, init, opcode, valid};
use plimsoll_front::fuse::{NAME, PAYLOAD_MAX, Tree};
use plimsoll_volume::{Command, Request, Space, VolumeAccess};
use proptest::prelude::*;

const SIZE: u64 = 1 << 20;
const FILE: u64 = 2;
const UNIQUE: u64 = 0x1234;

const KEEP: u32 = libc::FALLOC_FL_KEEP_SIZE.cast_unsigned();
const PUNCH: u32 = libc::FALLOC_FL_PUNCH_HOLE.cast_unsigned();
const ZERO: u32 = libc::FALLOC_FL_ZERO_RANGE.cast_unsigned();

const TREE: Tree = Tree { access: VolumeAccess::ReadWrite, minimum: 1, owner: (7, 8), time: 9 };

fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

fn u64s(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// A message as the kernel sends it, without the `payload` bytes of a write.
fn build_message(opcode: u32, node: u64, body: &[u8], payload: usize) -> Vec<u8> {
    let length = (REQUEST_BYTES + body.len() + payload) as u32;
    [&u32s(&[length, opcode])[..], &u64s(&[UNIQUE, node]), &[0; 16], body].concat()
}

fn read(offset: u64, length: u32) -> Vec<u8> {
    build_message(opcode::READ, FILE, &[&u64s(&[0, offset])[..], &u32s(&[length]), &[0; 20]].concat(), 0)
}

fn write(offset: u64, length: u32, flags: i32) -> Vec<u8> {
    let flags = flags.cast_unsigned();
    let body = [&u64s(&[0, offset])[..], &u32s(&[length, 0, 0, 0, flags, 0])].concat();
    let message = build_message(opcode::WRITE, FILE, &body, length as usize);
    assert_eq!(message.len(), WRITE_BYTES);
    message
}

fn fallocate(offset: u64, length: u64, mode: u32) -> Vec<u8> {
    build_message(opcode::FALLOCATE, FILE, &[&u64s(&[0, offset, length])[..], &u32s(&[mode, 0])].concat(), 0)
}

fn seek(offset: u64, whence: i32) -> Vec<u8> {
    let whence = whence.cast_unsigned();
    build_message(opcode::LSEEK, FILE, &[&u64s(&[0, offset])[..], &u32s(&[whence, 0])].concat(), 0)
}

/// Feeds a message with a payload of that length; messages with another length are invalid.
fn feed(tree: &Tree, input: &[u8], payload: usize, out: &mut Vec<u8>) -> Message {
    let mut tree = *tree;
    let decoded = tree.feed(input, &Exports { offers: &[], size: SIZE }, out);
    match decoded.message {
        Message::Request(incoming) if decoded.used < input.len() || incoming.payload as usize != payload => {
            Message::Invalid
        }
        Message::Incomplete => Message::Invalid,
        message => message,
    }
}

/// The consequence of a message, or the reply as its error and body.
fn taken(tree: &Tree, message: &[u8], payload: usize) -> Result<Message, (i32, Vec<u8>)> {
    let mut out = Vec::new();
    let message = feed(tree, message, payload, &mut out);
    if out.is_empty() {
        return Ok(message);
    }
    assert_eq!(message, Message::Handled);
    assert_eq!(out[..4], u32s(&[out.len() as u32]), "the length field is the length of the reply");
    assert_eq!(out[8..16], u64s(&[UNIQUE]));
    Err((-i32::from_ne_bytes(out[4..8].try_into().unwrap()), out[REPLY_BYTES..].to_vec()))
}

fn refused(tree: &Tree, message: &[u8], payload: usize) -> i32 {
    taken(tree, message, payload).expect_err("a reply").0
}

fn wire_request(message: &[u8], payload: usize) -> Request {
    match taken(&TREE, message, payload) {
        Ok(Message::Request(Incoming { tag, operation: Ok(Operation::Io(request)), .. })) => {
            assert_eq!(tag.id, UNIQUE);
            request
        }
        other => panic!("{other:?}"),
    }
}

fn request(command: Command, offset: u64, length: u64) -> Request {
    Request { command, offset, length, fua: false }
}

#[test]
fn reads_and_writes_are_limited_to_the_volume() {
    assert_eq!(wire_request(&read(4096, 8192), 0), request(Command::Read, 4096, 8192));
    assert_eq!(wire_request(&read(SIZE - 10, 8192), 0), request(Command::Read, SIZE - 10, 10));
    assert_eq!(taken(&TREE, &read(SIZE, 1), 0), Err((0, Vec::new())), "no data beyond the end");
    assert_eq!(refused(&TREE, &read(0, PAYLOAD_MAX + 1), 0), libc::EINVAL);
    assert_eq!(wire_request(&write(512, 4096, libc::O_RDWR), 4096), request(Command::Write, 512, 4096));
    assert_eq!(wire_request(&write(SIZE - 512, 4096, 0), 4096), request(Command::Write, SIZE - 512, 512));
    assert_eq!(refused(&TREE, &write(SIZE, 512, 0), 512), libc::ENOSPC);
    assert_eq!(refused(&TREE, &write(u64::MAX, 512, 0), 512), libc::ENOSPC);
    for sync in [libc::O_DSYNC, libc::O_SYNC] {
        assert!(wire_request(&write(0, 512, libc::O_WRONLY | sync), 512).fua, "a write of such a file is durable");
    }
    let fixed = Tree { access: VolumeAccess::ReadOnly, ..TREE };
    assert_eq!(refused(&fixed, &write(0, 512, 0), 512), libc::EROFS);
    let blocks = Tree { minimum: 512, ..TREE };
    assert_eq!(refused(&blocks, &read(100, 512), 0), libc::EINVAL);
    let of_root = build_message(opcode::READ, ROOT, &[0; 40], 0);
    assert_eq!(refused(&TREE, &of_root, 0), libc::EISDIR);
}

#[test]
fn zeroed_ranges_are_deallocated_or_kept() {
    let zeros = |space| Command::WriteZeroes { space };
    assert_eq!(wire_request(&fallocate(100, 5000, PUNCH | KEEP), 0), request(zeros(Space::Free), 100, 5000));
    assert_eq!(wire_request(&fallocate(0, 4096, ZERO), 0), request(zeros(Space::Keep), 0, 4096));
    assert_eq!(
        wire_request(&fallocate(4096, u64::MAX, ZERO | KEEP), 0),
        request(zeros(Space::Keep), 4096, SIZE - 4096)
    );
    assert_eq!(refused(&TREE, &fallocate(4096, SIZE, ZERO), 0), libc::ENOSPC, "volumes do not grow");
    assert_eq!(refused(&TREE, &fallocate(SIZE, 4096, PUNCH | KEEP), 0), libc::EINVAL);
    for mode in [0, KEEP, libc::FALLOC_FL_COLLAPSE_RANGE.cast_unsigned()] {
        assert_eq!(refused(&TREE, &fallocate(0, 4096, mode), 0), libc::EOPNOTSUPP);
    }
    assert_eq!(wire_request(&build_message(opcode::FSYNC, FILE, &[0; 16], 0), 0), request(Command::Flush, 0, 0));
}

#[test]
fn seek_stays_within_the_file() {
    for (whence, is_data) in [(libc::SEEK_DATA, true), (libc::SEEK_HOLE, false)] {
        let found = taken(&TREE, &seek(4096, whence), 0);
        let Ok(Message::Request(Incoming { operation: Ok(Operation::Seek { offset: 4096, allocated }), .. })) = found
        else {
            panic!("{found:?}")
        };
        assert_eq!(allocated, is_data);
        assert_eq!(refused(&TREE, &seek(SIZE, whence), 0), libc::ENXIO);
    }
    assert_eq!(refused(&TREE, &seek(0, 99), 0), libc::EINVAL);
}

#[test]
fn directory_has_one_file() {
    let lookup = |name: &str| build_message(opcode::LOOKUP, ROOT, &[name.as_bytes(), b"\0"].concat(), 0);
    let (error, entry) = taken(&TREE, &lookup(NAME), 0).unwrap_err();
    assert_eq!((error, entry.len()), (0, 128));
    assert_eq!((&entry[..8], &entry[16..40], &entry[48..56]), (&u64s(&[FILE])[..], &[0; 24][..], &u64s(&[SIZE])[..]));
    assert_eq!(entry[100..116], u32s(&[0o100_600, 1, 7, 8]), "mode, links, owner");
    assert_eq!(refused(&TREE, &lookup("another"), 0), libc::ENOENT);
    let list = |after: u64, max: u32, opcode| {
        let body = [&u64s(&[0, after])[..], &u32s(&[max, 0, 0, 0, 0, 0])].concat();
        taken(&TREE, &build_message(opcode, ROOT, &body, 0), 0).unwrap_err().1
    };
    assert_eq!(list(0, 4096, opcode::READDIR).len(), 32 + 32 + 32);
    assert_eq!(list(2, 4096, opcode::READDIR)[24..30], *NAME.as_bytes());
    assert_eq!(list(0, 70, opcode::READDIR).len(), 64, "as many entries as fit");
    assert_eq!(list(2, 4096, opcode::READDIRPLUS).len(), 128 + 32);
    assert!(list(3, 4096, opcode::READDIR).is_empty() && list(u64::MAX, 4096, opcode::READDIR).is_empty());
}

#[test]
fn file_keeps_its_size_and_mode() {
    let change = |valid: u32, size: u64| {
        build_message(opcode::SETATTR, FILE, &[&u32s(&[valid, 0])[..], &u64s(&[0, size]), &[0; 64]].concat(), 0)
    };
    assert_eq!(refused(&TREE, &change(valid::SIZE, SIZE), 0), 0);
    assert_eq!(refused(&TREE, &change(1 << 5, 0), 0), 0, "times are accepted and ignored");
    assert_eq!(refused(&TREE, &change(valid::SIZE, 0), 0), libc::EPERM);
    assert_eq!(refused(&TREE, &change(valid::MODE, SIZE), 0), libc::EPERM);
    let open = |flags: i32| build_message(opcode::OPEN, FILE, &u32s(&[flags.cast_unsigned(), 0]), 0);
    let (error, opened) = taken(&TREE, &open(libc::O_RDWR), 0).unwrap_err();
    assert_eq!((error, &opened[8..12]), (0, &u32s(&[1 | 1 << 6])[..]), "direct I/O with parallel writes");
    let fixed = Tree { access: VolumeAccess::ReadOnly, ..TREE };
    assert_eq!(
        (refused(&fixed, &open(libc::O_WRONLY), 0), refused(&fixed, &open(libc::O_RDONLY), 0)),
        (libc::EROFS, 0)
    );
}

#[test]
fn version_is_negotiated() {
    let hello = |numbers: &[u32]| build_message(opcode::INIT, 0, &u32s(numbers), 0);
    let (error, terms) = taken(&TREE, &hello(&[7, 45, 131_072, u32::MAX, 0]), 0).unwrap_err();
    assert_eq!((error, terms.len()), (0, 64));
    assert_eq!(terms[..12], u32s(&[7, 38, 131_072]));
    let flags = u32::from_ne_bytes(terms[12..16].try_into().unwrap());
    assert_eq!(flags & (init::ASYNC_DIO | init::MAX_PAGES), init::ASYNC_DIO | init::MAX_PAGES);
    assert_eq!(flags & 1 << 16, 0, "no writeback cache");
    assert_eq!(terms[20..24], u32s(&[PAYLOAD_MAX]));
    assert_eq!(terms[28..30], 256u16.to_ne_bytes(), "maximum payload in pages");
    let newer = taken(&TREE, &hello(&[8, 0]), 0).unwrap_err();
    assert_eq!(newer, (0, u32s(&[7, 38])), "a later kernel gets the supported version and restarts");
    assert_eq!(refused(&TREE, &hello(&[7, 8, 0, 0]), 0), libc::EPROTO);
    assert_eq!(refused(&TREE, &build_message(39, FILE, &[0; 32], 0), 0), libc::ENOSYS, "ioctl");
    assert_eq!(taken(&TREE, &build_message(opcode::FORGET, FILE, &[0; 8], 0), 0), Ok(Message::Handled));
}

#[test]
fn message_with_wrong_length_is_invalid() {
    let message = read(0, 512);
    assert_eq!(taken(&TREE, &message[..message.len() - 1], 0), Ok(Message::Invalid));
    assert_eq!(taken(&TREE, &message[..20], 0), Ok(Message::Invalid));
    assert_eq!(taken(&TREE, &write(0, 512, 0), 511), Ok(Message::Invalid));
    let mut less = write(0, 512, 0);
    less[..4].copy_from_slice(&u32s(&[WRITE_BYTES as u32 + 100]));
    assert_eq!(refused(&TREE, &less, 100), libc::EINVAL);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_messages_are_handled(
        opcode in prop_oneof![9 => 0u32..55, 1 => any::<u32>()],
        node in prop_oneof![9 => 0u64..4, 1 => any::<u64>()],
        mut body in proptest::collection::vec(any::<u8>(), 0..120),
        small in any::<bool>(),
        payload in 0usize..8192,
        honest in 0..8,
        read_only in any::<bool>(),
    ) {
        if small {
            // Offsets and lengths within the volume.
            for byte in body.iter_mut().skip(10) {
                *byte &= 3;
            }
            for number in body.chunks_exact_mut(8) {
                number[4..].fill(0);
            }
        }
        let mut message = build_message(opcode, node, &body, payload);
        if honest == 0 {
            message.truncate(message.len() / 2);
        }
        let access = if read_only { VolumeAccess::ReadOnly } else { VolumeAccess::ReadWrite };
        let tree = Tree { access, minimum: 512, ..TREE };
        let mut out = Vec::new();
        let fed = feed(&tree, &message, payload, &mut out);
        prop_assert!(out.len() <= 4096);
        if let Message::Request(Incoming { operation: Ok(Operation::Io(request)), .. }) = fed {
            prop_assert!(request.offset + request.length <= SIZE);
            prop_assert!(!read_only || matches!(request.command, Command::Read | Command::Flush));
            if request.command == Command::Write {
                prop_assert!(request.length as usize <= payload);
            }
        }
    }

    #[test]
    fn noise_is_not_a_message(noise in proptest::collection::vec(any::<u8>(), 0..200), payload in 0usize..100) {
        let mut out = Vec::new();
        feed(&TREE, &noise, payload, &mut out);
        prop_assert!(out.len() <= 4096);
    }
}
