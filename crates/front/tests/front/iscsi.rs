//! iSCSI as initiators see it: logins, data in both directions, combinations, reservations and task management.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use md5::{Digest, Md5};
use plimsoll_front::iscsi::{Admission, Chap, Credentials, InquiryNames, Paths, TargetSettings, Targets, UnitIdentity};
use plimsoll_front::{Limits, Offer, SocketProtocol};
use plimsoll_volume::Export;

use super::initiator::{Initiator, KEYS, Pdu, TARGET, cdb_10, command, data_out, login, login_stage};
use super::serving::Serving;

/// Serves `data` and `fixed` as targets, and returns the socket.
fn start(serving: &Serving, settings: TargetSettings) -> PathBuf {
    let socket = serving.socket().with_file_name("iscsi");
    let listener = UnixListener::bind(&socket).unwrap();
    let listen = move |server: &mut plimsoll_front::Server| {
        server.listen_for(listener, SocketProtocol::Iscsi(Targets::new(settings))).map(drop)
    };
    serving.handle.call(listen).unwrap().unwrap();
    socket
}

fn served() -> (Serving, PathBuf) {
    let serving = Serving::start(false, Limits::default());
    let socket = start(&serving, TargetSettings::default());
    (serving, socket)
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|byte| (byte * 7 + byte / 251 + seed) as u8).collect()
}

#[test]
fn data_arrive_however_they_are_negotiated() {
    let (_serving, socket) = served();
    for case in 0..16 {
        let word = |bit: u32| if case >> bit & 1 == 1 { "Yes" } else { "No" };
        let digest = |bit: u32| if case >> bit & 1 == 1 { "CRC32C" } else { "None" };
        let keys = [
            ("InitialR2T", word(0)),
            ("ImmediateData", word(1)),
            ("HeaderDigest", digest(2)),
            ("DataDigest", digest(3)),
            ("FirstBurstLength", "16384"),
            ("MaxBurstLength", "65536"),
            ("MaxRecvDataSegmentLength", "8192"),
        ];
        let mut initiator = Initiator::begin(&socket, &keys);
        assert_eq!(initiator.answers["InitialR2T"], word(0));
        assert_eq!(initiator.answers["ImmediateData"], word(1));
        initiator.segment = 4096;
        initiator.immediate = if word(1) == "Yes" { 8192 } else { 0 };
        initiator.first_burst = if word(0) == "No" { 16_384 } else { 0 };
        for (block, blocks) in [(0, 1), (8, 16), (100, 300), (4096, 2048), (8192, 9000)] {
            let data = pattern(blocks * 512, case);
            let written = initiator.write(block, &data);
            assert!(written.is_good() && written.residual == 0, "case {case}: {blocks} blocks: {written:?}");
            let read = initiator.read(block, blocks as u16);
            assert!(read.is_good() && read.data == data, "case {case}: {blocks} blocks");
        }
    }
}

#[test]
fn residuals_count_bytes_that_were_not_moved() {
    let (_serving, socket) = served();
    let mut initiator = Initiator::begin(&socket, &[]);
    let read = |initiator: &mut Initiator, expected| initiator.run(0x40, expected, &cdb_10(0x28, 0, 2), &[]);
    for (expected, length, residual) in [(1024, 1024, 0), (0, 0, 1024), (201, 201, 823), (5000, 1024, -3976)] {
        let outcome = read(&mut initiator, expected);
        assert_eq!((outcome.status, outcome.data.len(), outcome.residual), (0, length, residual), "{expected}");
    }
    initiator.immediate = 10_000;
    let long = initiator.run(0x20, 10_000, &cdb_10(0x2a, 0, 1), &[7; 10_000]);
    assert_eq!((long.status, long.residual), (0, -9488));
    let short = initiator.run(0x20, 512, &cdb_10(0x2a, 4, 2), &[8; 512]);
    assert_eq!((short.status, short.residual), (0, 512));
    let odd = initiator.run(0x20, 200, &cdb_10(0x2a, 4, 1), &[9; 200]);
    assert_eq!((odd.sense, odd.residual), (Some((5, 0x0e, 3)), 312));
    assert_eq!(initiator.read(0, 2).data, [vec![7; 512], vec![0; 512]].concat());
    assert_eq!(initiator.read(4, 2).data, [vec![8; 512], vec![0; 512]].concat());
}

#[test]
fn discovery_lists_all_targets_with_their_addresses() {
    let serving = Serving::start(false, Limits::default());
    let portals = vec!["192.0.2.1:3260".to_owned(), "192.0.2.2:3260".to_owned()];
    let socket = start(&serving, TargetSettings { portals, ..TargetSettings::default() });
    let keys = [("InitiatorName", "iqn.a"), ("SessionType", "Discovery")];
    let mut initiator = Initiator::log_in(&socket, &keys).unwrap();
    let answer = initiator.exchange(&Pdu::new(0x04, 0x80, b"SendTargets=All\0").with(20, u32::MAX).with(24, 1));
    let text = String::from_utf8(answer.data).unwrap();
    let target =
        |name: &str| format!("TargetName={name}\0TargetAddress=192.0.2.1:3260,1\0TargetAddress=192.0.2.2:3260,1\0");
    assert_eq!(text, target(TARGET) + &target("iqn.2026-01.local.plimsoll:fixed"));
    let refused = initiator.exchange(&command(1, 2, 0x40, 36, &[0x12, 0, 0, 0, 36, 0], &[]));
    assert_eq!(refused.header[0], 0x3f, "a discovery session has no unit");
    let logout = initiator.exchange(&Pdu::new(0x06, 0x80, &[]).with(24, 2));
    assert_eq!((logout.header[0], logout.header[2]), (0x26, 0));
    assert!(initiator.receive().is_err(), "the connection has ended");
}

#[test]
fn logins_are_refused_with_the_reason() {
    let (_serving, socket) = served();
    let refused = |keys: &[(&str, &str)]| Initiator::log_in(&socket, keys).map(drop).unwrap_err();
    assert_eq!(refused(&[("TargetName", TARGET)]), 0x0207, "no name");
    assert_eq!(refused(&[("InitiatorName", "iqn.a")]), 0x0207, "no target");
    assert_eq!(refused(&[("InitiatorName", "iqn.a"), ("TargetName", "iqn.b")]), 0x0203);
    assert_eq!(refused(&[("InitiatorName", "iqn.a"), ("SessionType", "Other")]), 0x0209);
    let mut version = login(&KEYS);
    version.header[3] = 1;
    assert_eq!(Initiator::connect(&socket).exchange(&version).word(36) >> 16, 0x0205);
    let further = login(&KEYS).with(12, 1 << 16 | 5);
    assert_eq!(Initiator::connect(&socket).exchange(&further).word(36) >> 16, 0x020a, "a further connection");
}

fn chap() -> Chap {
    let credentials = |name: &str, secret: &str| Credentials { name: name.into(), secret: secret.into() };
    Chap { initiator: credentials("db1", "correct secret"), target: Some(credentials("target", "another secret")) }
}

/// Authenticates with a secret, and demands the target's proof for a challenge. Returns its proof.
fn authenticate(socket: &std::path::Path, secret: &str, challenge: Option<&str>) -> Result<Option<String>, u16> {
    let mut initiator = Initiator::connect(socket);
    let first = login_stage(0x81, &[&KEYS[..], &[("AuthMethod", "CHAP,None")]].concat());
    let answer = initiator.exchange(&first);
    initiator.read_answers(&answer)?;
    assert_eq!((answer.header[1], &*initiator.answers["AuthMethod"]), (0, "CHAP"));
    let answer = initiator.exchange(&login_stage(0, &[("CHAP_A", "7,5")]));
    initiator.read_answers(&answer)?;
    let identifier: u8 = initiator.answers["CHAP_I"].parse().unwrap();
    let digits = initiator.answers["CHAP_C"].trim_start_matches("0x").as_bytes().chunks(2);
    let bytes: Vec<u8> =
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect();
    let proof = Md5::digest([&[identifier][..], secret.as_bytes(), &bytes].concat());
    let proof: String = proof.iter().fold("0x".into(), |text, byte| format!("{text}{byte:02x}"));
    let own = initiator.answers["CHAP_C"].clone();
    let mut keys = vec![("CHAP_N", "db1"), ("CHAP_R", &*proof)];
    if let Some(challenge) = challenge {
        keys.extend([("CHAP_I", "9"), ("CHAP_C", if challenge == "reflected" { &own } else { challenge })]);
    }
    let answer = initiator.exchange(&login_stage(0x81, &keys));
    initiator.read_answers(&answer)?;
    assert_eq!(answer.header[1], 0x81, "the operational stage begins");
    let answer = initiator.exchange(&login_stage(0x87, &[]));
    initiator.read_answers(&answer)?;
    assert_eq!(initiator.run(0, 0, &[0; 6], &[]).sense, Some((6, 0x29, 0)));
    Ok(initiator.answers.get("CHAP_R").cloned())
}

#[test]
fn chap_admits_those_who_know_the_secret() {
    let serving = Serving::start(false, Limits::default());
    let socket = start(&serving, TargetSettings { chap: Some(chap()), ..TargetSettings::default() });
    assert_eq!(authenticate(&socket, "correct secret", None), Ok(None));
    assert_eq!(authenticate(&socket, "wrong secret..", None), Err(0x0201));
    let expected = Md5::digest([&[9][..], b"another secret", &[1, 2, 3, 4]].concat());
    let expected: String = expected.iter().fold("0x".into(), |text, byte| format!("{text}{byte:02x}"));
    assert_eq!(authenticate(&socket, "correct secret", Some("0x01020304")), Ok(Some(expected)));
    assert_eq!(authenticate(&socket, "correct secret", Some("reflected")), Err(0x0201));
    assert_eq!(Initiator::log_in(&socket, &KEYS).map(drop), Err(0x0201), "no authentication at all");
    let none = login_stage(0x81, &[&KEYS[..], &[("AuthMethod", "None")]].concat());
    assert_eq!(Initiator::connect(&socket).exchange(&none).word(36) >> 16, 0x0201);
}

#[test]
fn secret_of_a_target_replaces_the_settings() {
    let (serving, socket) = served();
    let admit = |admission: Admission| {
        let (target, names, paths) = (TARGET.to_owned(), InquiryNames::default(), Paths::Equal);
        let unit = UnitIdentity { target, uuid: 1, names, queue_depth: None, paths, portals: None, admission };
        let offer = Offer { unit: Some(Box::new(unit)), ..Offer::new(Export(0), "data", super::serving::SIZE) };
        serving.handle.call(move |server| server.offer(offer)).unwrap();
    };
    admit(Admission::Secret(chap().initiator));
    assert_eq!(authenticate(&socket, "correct secret", None), Ok(None));
    assert_eq!(authenticate(&socket, "wrong secret..", None), Err(0x0201));
    assert_eq!(authenticate(&socket, "correct secret", Some("0x01020304")), Err(0x0201), "the target has no secret");
    assert_eq!(Initiator::log_in(&socket, &KEYS).map(drop), Err(0x0201), "no authentication at all");
    admit(Admission::Closed);
    assert_eq!(Initiator::log_in(&socket, &KEYS).map(drop), Err(0x0203), "no target");
    admit(Admission::Settings);
    assert!(Initiator::log_in(&socket, &KEYS).is_ok());
}

#[test]
fn wrong_digests_end_the_connection() {
    let (_serving, socket) = served();
    for wrong_at in [10, 48, 60, 48 + 4 + 512] {
        let mut initiator = Initiator::begin(&socket, &[("HeaderDigest", "CRC32C"), ("DataDigest", "CRC32C")]);
        let (tag, number) = initiator.next();
        let mut bytes = command(tag, number, 0x20, 512, &cdb_10(0x2a, 0, 1), &[5; 512]).bytes((true, true));
        bytes[wrong_at] ^= 1;
        std::io::Write::write_all(&mut initiator.stream, &bytes).unwrap();
        assert!(initiator.receive().is_err(), "byte {wrong_at}");
    }
    let mut initiator = Initiator::begin(&socket, &[]);
    assert_eq!(initiator.read(0, 1).data, [0; 512], "nothing was written");
}

#[test]
fn combinations_are_executed_on_the_volume() {
    let (_serving, socket) = served();
    let mut initiator = Initiator::begin(&socket, &[]);
    initiator.immediate = 2048;
    assert!(initiator.write(0, &[1; 1024]).is_good());
    let swap = |initiator: &mut Initiator, old: u8, new: u8| {
        let mut cdb = [0; 16];
        (cdb[0], cdb[13]) = (0x89, 2);
        initiator.run(0x20, 2048, &cdb, &[vec![old; 1024], vec![new; 1024]].concat())
    };
    assert!(swap(&mut initiator, 1, 2).is_good());
    let refused = swap(&mut initiator, 1, 3);
    assert_eq!((refused.status, refused.sense, refused.information), (2, Some((0x0e, 0x1d, 0)), 0));
    assert_eq!(initiator.read(0, 2).data, [2; 1024]);
    let mut or = [0; 16];
    (or[0], or[13]) = (0x8b, 1);
    assert!(initiator.run(0x20, 512, &or, &[5; 512]).is_good());
    assert_eq!(initiator.read(0, 2).data, [[7; 512], [2; 512]].concat());
    let verify = |initiator: &mut Initiator, byte: u8| {
        let mut cdb = cdb_10(0x2f, 0, 1);
        cdb[1] = 2;
        initiator.run(0x20, 512, &cdb, &[byte; 512])
    };
    assert!(verify(&mut initiator, 7).is_good());
    assert_eq!(verify(&mut initiator, 8).sense, Some((0x0e, 0x1d, 0)));
    let same = cdb_10(0x41, 8, 2000);
    assert!(initiator.run(0x20, 512, &same, &pattern(512, 3)).is_good());
    let read = initiator.read(8, 2000).data;
    assert!(read.chunks(512).all(|block| block == pattern(512, 3)) && read.len() == 2000 * 512);
    let last = 64 * 2048 - 4;
    assert!(initiator.write(last, &[6; 2048]).is_good());
    assert!(initiator.run(0x20, 512, &cdb_10(0x41, last + 2, 0), &[0; 512]).is_good());
    assert_eq!(initiator.read(last, 4).data, [[6; 1024], [0; 1024]].concat(), "zero blocks: to the end");
    let long = initiator.run(0x20, 512, &cdb_10(0x41, 0, 0), &[1; 512]);
    assert_eq!(long.sense, Some((5, 0x24, 0)), "a pattern of 64 MiB");
    let mut unmap = vec![0; 40];
    (unmap[1], unmap[3], unmap[15], unmap[19], unmap[31], unmap[35]) = (38, 32, 9, 1, 11, 2);
    assert!(initiator.run(0x20, 40, &[0x42, 0, 0, 0, 0, 0, 0, 0, 40, 0], &unmap).is_good());
    let read = initiator.read(8, 6).data;
    let zero: Vec<bool> = read.chunks(512).map(|block| block.iter().all(|byte| *byte == 0)).collect();
    assert_eq!(zero, [false, true, false, true, true, false]);
}

#[test]
fn reservations_exclude_other_sessions() {
    let (_serving, socket) = served();
    let mut first = Initiator::begin(&socket, &[]);
    let other = [("InitiatorName", "iqn.2026-01.local.test:b"), ("TargetName", TARGET)];
    let mut second = Initiator::log_in(&socket, &other).unwrap();
    second.run(0, 0, &[0; 6], &[]);
    let out = |initiator: &mut Initiator, action: u8, kind: u8, key: u8, new: u8| {
        let mut parameters = [0; 24];
        (parameters[7], parameters[15]) = (key, new);
        initiator.run(0x20, 24, &[0x5f, action, kind, 0, 0, 0, 0, 0, 24, 0], &parameters).status
    };
    assert_eq!(out(&mut first, 0, 0, 0, 1), 0);
    assert_eq!(out(&mut first, 1, 1, 1, 0), 0, "write exclusive");
    assert_eq!(second.write(0, &[1; 512]).status, 0x18);
    assert!(second.read(0, 1).is_good());
    assert_eq!(out(&mut second, 6, 0, 0, 2), 0, "registers");
    assert_eq!(out(&mut second, 4, 3, 2, 1), 0, "preempts: exclusive access");
    assert_eq!(first.read(0, 1).sense, Some((6, 0x2a, 5)), "a unit attention");
    assert_eq!(first.read(0, 1).status, 0x18);
    let keys = first.run(0x40, 64, &[0x5e, 0, 0, 0, 0, 0, 0, 0, 64, 0], &[]).data;
    assert_eq!((keys.len(), keys[7], keys[15]), (16, 8, 2));
    assert_eq!(out(&mut second, 3, 0, 2, 0), 0, "clears");
    assert!(first.write(0, &[1; 512]).is_good());
}

#[test]
fn login_of_the_same_port_ends_its_earlier_session() {
    let (_serving, socket) = served();
    let mut first = Initiator::begin(&socket, &[]);
    let mut second = Initiator::begin(&socket, &[]);
    assert!(first.receive().is_err());
    assert!(second.write(0, &[1; 512]).is_good());
}

#[test]
fn aborted_command_gets_no_response() {
    let (_serving, socket) = served();
    let mut initiator = Initiator::begin(&socket, &[]);
    let (tag, number) = initiator.next();
    let r2t = initiator.exchange(&command(tag, number, 0x20, 1024, &cdb_10(0x2a, 0, 2), &[]));
    assert_eq!((r2t.header[0], r2t.word(44)), (0x31, 1024));
    let task = |function: u8, tag: u32, number: u32| {
        Pdu::new(0x42, 0x80 | function, &[]).with(16, 0x1000 + tag).with(20, tag).with(24, number)
    };
    let done = initiator.exchange(&task(1, tag, number + 1));
    assert_eq!((done.header[0], done.header[2]), (0x22, 0));
    let gone = initiator.exchange(&task(1, tag, number + 1));
    assert_eq!(gone.header[2], 1, "there is no such task");
    initiator.send(&data_out(tag, r2t.word(20), (0, 0), true, &[1; 1024]));
    assert_eq!(initiator.read(0, 2).data, [0; 1024], "late data are discarded");
    assert_eq!(initiator.exchange(&task(5, 0, number + 2)).header[2], 0, "reset of the unit");
    assert_eq!(initiator.exchange(&task(8, 0, number + 2)).header[2], 4, "no reassignment");
    assert_eq!(initiator.read(0, 1).sense, Some((6, 0x29, 3)), "a unit attention after the reset");
    assert!(initiator.read(0, 1).is_good());
}

#[test]
fn commands_outside_of_the_window_are_ignored() {
    let (_serving, socket) = served();
    let mut initiator = Initiator::begin(&socket, &[]);
    let (tag, number) = initiator.next();
    for wrong in [number - 1, number + 5000] {
        initiator.send(&command(0x999, wrong, 0x20, 512, &cdb_10(0x2a, 0, 1), &[9; 512]));
    }
    initiator.send(&command(tag, number, 0x40, 512, &cdb_10(0x28, 0, 1), &[]));
    assert_eq!(initiator.finish(tag, &[]).data, [0; 512]);
    initiator.send(&command(0x999, number + 2, 0, 0, &[0; 6], &[]));
    assert!(initiator.receive().is_err(), "a gap that cannot be filled");
}

#[test]
fn digest_covers_data_that_the_command_does_not_need() {
    let (_serving, socket) = served();
    let check = |wrong_at: Option<usize>, immediate: bool| {
        let keys = [("DataDigest", "CRC32C"), ("ImmediateData", if immediate { "Yes" } else { "No" })];
        let mut initiator = Initiator::begin(&socket, &keys);
        let (tag, number) = initiator.next();
        // Two blocks of data for a command that writes one.
        let head = |data: &[u8]| command(tag, number, 0x20, 1024, &cdb_10(0x2a, 40, 1), data);
        let mut bytes = if immediate {
            head(&[5; 1024]).bytes((false, true))
        } else {
            let r2t = initiator.exchange(&head(&[]));
            assert_eq!((r2t.header[0], r2t.word(44)), (0x31, 512), "the needed data");
            data_out(tag, r2t.word(20), (0, 0), true, &[5; 512]).bytes((false, true))
        };
        let last = bytes.len() - 1;
        bytes[wrong_at.map_or(last, |at| at.min(last))] ^= u8::from(wrong_at.is_some());
        std::io::Write::write_all(&mut initiator.stream, &bytes).unwrap();
        match initiator.receive() {
            Ok(answer) => assert!(wrong_at.is_none() && answer.header[0] == 0x21 && answer.header[3] == 0),
            Err(_) => assert!(wrong_at.is_some(), "a right digest"),
        }
    };
    for immediate in [true, false] {
        check(None, immediate);
        for wrong_at in [48, 48 + 511, 48 + 512, 48 + 1023, 48 + 1024] {
            check(Some(wrong_at), immediate);
        }
    }
    // Data of a command that was refused: its response may leave before the damage is found.
    let mut initiator = Initiator::begin(&socket, &[("DataDigest", "CRC32C")]);
    let (tag, number) = initiator.next();
    let mut bytes = command(tag, number, 0x20, 512, &cdb_10(0x2a, u32::MAX, 1), &[5; 512]).bytes((false, true));
    bytes[100] ^= 1;
    std::io::Write::write_all(&mut initiator.stream, &bytes).unwrap();
    let answers = std::iter::from_fn(|| initiator.receive().ok()).filter(|answer| answer.header[3] != 2);
    assert_eq!(answers.count(), 0, "the connection ends");
}

#[test]
fn data_out_of_order_fail_the_command() {
    let (_serving, socket) = served();
    let mut initiator = Initiator::begin(&socket, &[]);
    for (place, sense) in [((1, 0), 0x4b), ((0, 512), 0x4b)] {
        let (tag, number) = initiator.next();
        let r2t = initiator.exchange(&command(tag, number, 0x20, 1024, &cdb_10(0x2a, 0, 2), &[]));
        initiator.send(&data_out(tag, r2t.word(20), place, true, &[1; 512]));
        assert_eq!(initiator.finish(tag, &[]).sense, Some((0x0b, sense, 0)));
    }
    let (tag, number) = initiator.next();
    let r2t = initiator.exchange(&command(tag, number, 0x20, 1024, &cdb_10(0x2a, 0, 2), &[]));
    initiator.send(&data_out(tag, r2t.word(20), (0, 0), true, &[1; 512]));
    assert_eq!(initiator.finish(tag, &[]).sense, Some((0x0b, 0x4b, 0)), "too short");
    assert_eq!(initiator.read(1, 1).data, [0; 512]);
}

#[test]
fn read_only_export_refuses_changes() {
    let (_serving, socket) = served();
    let keys = [("InitiatorName", "iqn.a"), ("TargetName", "iqn.2026-01.local.plimsoll:fixed")];
    let mut initiator = Initiator::log_in(&socket, &keys).unwrap();
    initiator.run(0, 0, &[0; 6], &[]);
    assert_eq!(initiator.write(0, &[1; 512]).sense, Some((7, 0x27, 0)));
    assert!(initiator.read(0, 1).is_good());
    let ping = initiator.exchange(&Pdu::new(0x40, 0x80, b"ping").with(16, 77).with(20, u32::MAX).with(24, 4));
    assert_eq!((ping.header[0], ping.word(16), &ping.data[..]), (0x20, 77, &b"ping"[..]));
}
