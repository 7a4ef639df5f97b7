//! Conversations with an iSCSI target that are cut, oversized, out of order or damaged: the codec and a server survive
//! them, ask for nothing outside of the volume, hold bounded memory, and go on serving others.
//!
//! `PLIMSOLL_FUZZ_CASES` sets the number of mutants.

use std::os::unix::net::UnixListener;

use fastrand::Rng;
use plimsoll_front::codec::{
    Codec, Division, Exports, Incoming, Message, Operation, ReadPart, ReplyBody, SessionServices,
};
use plimsoll_front::iscsi::{
    Admission, ENTROPY_BYTES, InquiryNames, IscsiCodec, Paths, TargetSettings, Targets, UnitIdentity,
};
use plimsoll_front::{Offer, SocketProtocol};
use plimsoll_volume::{Command, Errno, Export, Extent};
use proptest::prelude::*;

use super::corpus::{Conversation, cases, is_clean, mutant, send};
use super::initiator::{Initiator, KEYS, Pdu, TARGET, cdb_10, command, data_out, login, login_stage};
use super::memory::{Memory, SIZE};

/// Cases of each property.
const CASES: u32 = 5_000;

fn session(digests: (bool, bool), keys: &[(&str, &str)], pdus: &[Pdu]) -> Vec<u8> {
    let word = |has| if has { "CRC32C" } else { "None" };
    let keys = [&KEYS[..], &[("HeaderDigest", word(digests.0)), ("DataDigest", word(digests.1))], keys].concat();
    let mut bytes = login(&keys).bytes((false, false));
    let ready = command(1, 1, 0, 0, &[0; 6], &[]);
    for pdu in std::iter::once(&ready).chain(pdus) {
        bytes.extend(pdu.bytes(digests));
    }
    bytes
}

/// Commands of all kinds, with numbers from 2 on.
fn commands() -> Vec<Pdu> {
    let mut pdus = Vec::new();
    let mut add = |flags: u8, expected: u32, cdb: &[u8], data: &[u8]| {
        let number = pdus.len() as u32 + 2;
        pdus.push(command(number, number, flags, expected, cdb, data));
    };
    for code in 0..=255_u8 {
        for action in [0, 1, 0x10, 0x12, 0x0a, 0x0c] {
            if matches!(code, 0x5e | 0x5f | 0x9e | 0xa3) || action == 0 {
                let mut cdb = [0; 16];
                (cdb[0], cdb[1]) = (code, action);
                cdb[[4, 8, 8, 8, 13, 9, 9, 9][usize::from(code >> 5)]] = 1;
                add(0x40, 512, &cdb, &[]);
            }
        }
    }
    add(0x20, 512, &cdb_10(0x2a, 3, 1), &[1; 512]);
    add(0x20, 10_000, &cdb_10(0x2a, 3, 1), &[1; 8192]);
    add(0x20, 24, &[0x5f, 0, 0, 0, 0, 0, 0, 0, 24, 0], &[1; 24]);
    add(0x20, 40, &[0x42, 0, 0, 0, 0, 0, 0, 0, 40, 0], &[0, 38, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    add(0x20, 512, &cdb_10(0x41, 0, 3), &[1; 512]);
    pdus
}

fn conversations() -> Vec<Conversation> {
    let write =
        |tag, number, blocks: u16| command(tag, number, 0x20, u32::from(blocks) * 512, &cdb_10(0x2a, 0, blocks), &[]);
    let out = |tag, place, last, bytes: usize| data_out(tag, u32::MAX, place, last, &vec![3; bytes]);
    let mut unsolicited = write(2, 2, 32);
    unsolicited.header[1] &= 0x7f;
    let solicited = |tag, place, last| data_out(tag, 0, place, last, &[4; 2048]);
    let text = Pdu::new(0x04, 0x80, b"SendTargets=All\0").with(20, u32::MAX).with(24, 2);
    let ping = Pdu::new(0x40, 0x80, b"ping").with(16, 9).with(20, u32::MAX).with(24, 2);
    let task = |function: u8| Pdu::new(0x42, 0x80 | function, &[]).with(16, 5).with(20, 2).with(24, 3);
    let no = [("InitialR2T", "No")];
    let mut all = vec![
        session((false, false), &[], &commands()),
        session((true, true), &[], &commands()),
        session((true, false), &no, &[unsolicited.clone(), out(2, (0, 0), false, 8192), out(2, (1, 8192), true, 8192)]),
        session((false, true), &no, &[unsolicited, task(1), out(2, (0, 0), true, 16_384)]),
        session((false, false), &[], &[write(2, 2, 8), solicited(2, (0, 0), false), solicited(2, (1, 2048), true)]),
        session((false, false), &[], &[write(2, 2, 8), solicited(2, (7, 2048), true), ping, text.clone()]),
        session((false, false), &[], &(0..9).map(task).collect::<Vec<_>>()),
        session((false, false), &[], &[Pdu::new(0x06, 0x80, &[]).with(24, 2)]),
        session((false, false), &[], &[Pdu::new(0x10, 0x80, &[1; 100]), Pdu::new(0x1f, 0x80, &[])]),
        [login(&[("InitiatorName", "a"), ("SessionType", "Discovery")]), text.with(24, 1)]
            .iter()
            .flat_map(|pdu| pdu.bytes((false, false)))
            .collect(),
    ];
    let stages = [login_stage(0x81, &[&KEYS[..], &[("AuthMethod", "CHAP,None")]].concat()), login_stage(0x87, &[])];
    all.push(stages.iter().flat_map(|pdu| pdu.bytes((false, false))).collect());
    all.push(vec![0; 200]);
    let named = |(number, bytes)| Conversation { name: format!("iscsi-{number}"), bytes };
    all.into_iter().enumerate().map(named).collect()
}

/// The first one has two controllers, so that all commands are known.
fn build_offers() -> Vec<Offer> {
    let unit = UnitIdentity {
        target: TARGET.into(),
        uuid: 7,
        names: InquiryNames::default(),
        queue_depth: None,
        paths: Paths::TwoControllers,
        portals: Some(1),
        admission: Admission::Settings,
    };
    let data = Offer { unit: Some(Box::new(unit)), ..Offer::new(Export(0), "data", SIZE) };
    vec![data, Offer::new(Export(1), "fixed", SIZE)]
}

/// Answers a request as a server does, without the bytes of reads.
fn answer(codec: &mut IscsiCodec, incoming: &Incoming, out: &mut Vec<u8>) {
    let tag = incoming.tag;
    if !codec.awaits(&tag, out) {
        return;
    }
    match incoming.operation {
        Ok(Operation::Io(request)) if request.command == Command::Read => {
            let Division::Pieces(piece) = tag.division else { panic!("{tag:?}") };
            let total = (request.length as u32).min(tag.limit);
            assert!(piece >= 512 && total > 0);
            for start in (0..total).step_by(piece as usize) {
                let length = piece.min(total - start);
                let part = ReadPart { offset: tag.offset + u64::from(start), length, rest: total - start - length };
                codec.reply(&tag, &ReplyBody::DataPart(part), out);
            }
        }
        Ok(Operation::Combine { .. }) => {
            assert!(codec.parameters(&tag).len() <= 512 << 10);
            codec.reply(&tag, &ReplyBody::Mismatch(3), out);
        }
        Ok(Operation::Extents { length, .. }) => {
            codec.reply(&tag, &ReplyBody::Extents(&[Extent { length, allocated: false }]), out);
        }
        Ok(_) => codec.reply(&tag, &ReplyBody::Done, out),
        Err(errno) => codec.reply(&tag, &ReplyBody::Failed(errno), out),
    }
}

/// The output of a codec for a conversation in pieces of `piece` bytes, and its requests.
fn understood(input: &[u8], piece: usize) -> (Vec<u8>, Vec<Result<Operation, Errno>>) {
    let targets = Targets::new(TargetSettings::default());
    let mut codec = IscsiCodec::new(&targets, "127.0.0.1:3260".into(), [7; ENTROPY_BYTES]);
    let (offers, mut out, mut requests) = (build_offers(), Vec::new(), Vec::new());
    let (mut start, mut end, mut idle) = (0, piece.min(input.len()), 0);
    loop {
        let exports = Exports { offers: &offers, size: SIZE };
        let decoded = codec.feed(&input[start..end], &exports, &mut out);
        assert!(decoded.used <= end - start);
        start += decoded.used;
        let is_idle = decoded.used == 0 && decoded.message != Message::Incomplete;
        idle = if is_idle { idle + 1 } else { 0 };
        assert!(idle < 1000, "no progress at {start}");
        let incoming = match decoded.message {
            Message::Incomplete if end == input.len() => return (out, requests),
            Message::Incomplete => {
                end = (end + piece).min(input.len());
                continue;
            }
            Message::Handled | Message::Opened(_) => continue,
            Message::StartTls | Message::End | Message::Invalid => return (out, requests),
            Message::Request(incoming) | Message::Part(incoming) => incoming,
        };
        let (payload, trailer) = (incoming.payload as usize, usize::from(incoming.trailer));
        assert!(payload <= 256 << 10 && trailer <= 7, "{incoming:?}");
        if let Ok(Operation::Io(request) | Operation::Stored(request) | Operation::Combine { request, .. }) =
            incoming.operation
        {
            assert!(request.offset.checked_add(request.length).is_some_and(|end| end <= SIZE), "{request:?}");
            assert!(payload == 0 || payload as u64 == request.length, "{incoming:?}");
        }
        requests.push(incoming.operation);
        let Some(behind) = input.get(start..start + payload + trailer) else { return (out, requests) };
        start += behind.len();
        end = end.max(start);
        if trailer > 0 && !codec.verify(&behind[..payload], &behind[payload..]) {
            return (out, requests);
        }
        match decoded.message {
            Message::Part(_) => codec.part_done(&incoming.tag, Ok(())),
            _ => answer(&mut codec, &incoming, &mut out),
        }
    }
}

/// A conversation is understood however it is cut, with a bounded output.
fn check(input: &[u8], piece: usize) -> usize {
    let at_once = understood(input, input.len().max(1));
    // A text of at most 8 KiB, or the headers of a read, for a message of at least 48 bytes.
    let bound = (16 << 10) + (input.len() / 48 + 1) * ((32 << 20) / 512 * 48);
    assert!(at_once.0.len() <= bound, "{} bytes for {}", at_once.0.len(), input.len());
    assert_eq!(understood(input, piece), at_once, "in pieces of {piece}");
    at_once.1.len()
}

#[test]
fn codec_survives_damaged_conversations() {
    let corpus = conversations();
    let mut rng = Rng::with_seed(0x6973_6373);
    let mut requests = 0;
    for entry in &corpus {
        requests += check(&entry.bytes, 1);
    }
    assert!(requests > 30, "the conversations contain requests: {requests}");
    for _ in 0..cases(20_000) {
        check(&mutant(&corpus, &mut rng), rng.usize(1..400));
    }
}

#[test]
fn server_survives_damaged_conversations() {
    let corpus = conversations();
    let target = Memory::start(64 << 20);
    let socket = target.socket.with_extension("iscsi");
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    let settings = TargetSettings::default();
    let listen = move |server: &mut plimsoll_front::Server| {
        server.listen_for(listener, SocketProtocol::Iscsi(Targets::new(settings))).map(drop)
    };
    target.handle.call(listen).unwrap().unwrap();
    let mut rng = Rng::with_seed(0x7461_7267);
    for case in 0..corpus.len() as u64 + cases(3_000) {
        let input = corpus.get(case as usize).map_or_else(|| mutant(&corpus, &mut rng), |entry| entry.bytes.clone());
        send(&socket, &input);
        if case % 500 == 0 {
            let mut initiator = Initiator::begin(&socket, &[("InitiatorName", "iqn.well")]);
            let read = initiator.read(0, 8);
            assert!(matches!(read.status, 0 | 0x18) && read.sense.is_none(), "case {case}: {read:?}");
        }
    }
    is_clean(&target);
    std::fs::remove_file(socket).unwrap();
}

/// A message whose fields come from anywhere, most of them plausible.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let opcode = prop_oneof![6 => Just(0x01_u8), 3 => Just(5), 1 => 0..8_u8, 1 => any::<u8>()];
    let code = prop_oneof![Just(0x2a_u8), Just(0x28), Just(0x89), Just(0x41), Just(0x42), Just(0x5f), any::<u8>()];
    let small = || prop_oneof![4 => 0_u32..4, 1 => any::<u32>()];
    let data = prop_oneof![3 => Just(0_usize), 2 => Just(512), 1 => 0..3000_usize];
    let flags = prop_oneof![Just(0xa0_u8), Just(0xc0), Just(0x20), any::<u8>()];
    let words = (small(), small(), small(), small());
    let announced = prop_oneof![20 => Just(None), 1 => any::<u32>().prop_map(Some)];
    (opcode, flags, code, data, words, announced, any::<[u8; 4]>()).prop_map(
        |(opcode, flags, code, data, (tag, expected, number, place), announced, noise)| {
            let mut pdu = Pdu::new(opcode, flags, &vec![1; data]);
            pdu = pdu.with(16, tag).with(20, expected.wrapping_mul(512)).with(24, number);
            (pdu.header[32], pdu.header[37], pdu.header[40]) = (code, noise[0] & 3, 1);
            if opcode == 5 {
                pdu = pdu
                    .with(20, if noise[1] & 1 == 0 { u32::MAX } else { tag })
                    .with(36, number)
                    .with(40, place.wrapping_mul(512));
            }
            if let Some(announced) = announced {
                pdu = pdu.with(4, announced);
            }
            pdu.bytes((false, false))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn codec_survives_any_messages(
        messages in proptest::collection::vec(message(), 1..12),
        no_r2t in any::<bool>(),
        piece in 1_usize..200,
    ) {
        let keys: &[_] = if no_r2t { &[("InitialR2T", "No")] } else { &[] };
        let input = [session((false, false), keys, &[]), messages.concat()].concat();
        check(&input, piece);
    }

    #[test]
    fn codec_survives_noise(input in proptest::collection::vec(any::<u8>(), 0..400), piece in 1_usize..50) {
        check(&input, piece);
    }
}
