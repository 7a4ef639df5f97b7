//! Client messages and the expected replies.

use plimsoll_device::nbd::wire::{Reader, Style, flag, info, option, rep};
use plimsoll_volume::Export;

use super::*;
use crate::offer::Medium;

/// `(option, kind, data)` of each reply, the next step, and the remaining bytes.
type Heard = (Vec<(u32, u32, Vec<u8>)>, HandshakeStep, Vec<u8>);

fn offers() -> Vec<Offer> {
    let mut data = Offer::new(Export(7), "data", 1 << 30);
    data.description = "50 GB at 0 VPU".into();
    data.medium = Medium::Rotational;
    vec![data, Offer::new(Export(8), "redo", 1 << 20)]
}

fn ask(option: u32, data: &[u8]) -> Vec<u8> {
    [&OPTION.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
}

fn choosing(name: &str, requested: &[u16]) -> Vec<u8> {
    let mut data = [&(name.len() as u32).to_be_bytes()[..], name.as_bytes()].concat();
    data.extend((requested.len() as u16).to_be_bytes());
    data.extend(requested.iter().flat_map(|kind| kind.to_be_bytes()));
    data
}

fn querying(name: &str, queries: &[&str]) -> Vec<u8> {
    let mut data = [&(name.len() as u32).to_be_bytes()[..], name.as_bytes()].concat();
    data.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(query.as_bytes());
    }
    data
}

fn talk(tls: Tls, client_flags: u32, options: &[Vec<u8>]) -> Heard {
    let mut out = Vec::new();
    let mut handshake = Handshake::new(tls, &mut out);
    assert_eq!(out.len(), 18);
    let input = [&client_flags.to_be_bytes()[..], &options.concat()].concat();
    out.clear();
    let fed = handshake.feed(&input, &offers(), &mut out);
    let mut replies = Vec::new();
    let mut reader = Reader(&out);
    while reader.0.starts_with(&OPTION_REPLY.to_be_bytes()) {
        reader.u64().unwrap();
        let (option, kind, length) = (reader.u32().unwrap(), reader.u32().unwrap(), reader.u32().unwrap());
        replies.push((option, kind, reader.bytes(length as usize).unwrap().to_vec()));
    }
    (replies, fed.step, reader.0.to_vec())
}

fn kinds(heard: &Heard) -> Vec<u32> {
    heard.0.iter().map(|(_, kind, _)| *kind).collect()
}

#[test]
fn modern_client_gets_all_information() {
    let requested = [info::NAME, info::DESCRIPTION, info::BLOCK_SIZE, 99];
    let heard = talk(
        Tls::Off,
        3,
        &[
            ask(option::EXTENDED_HEADERS, &[]),
            ask(option::LIST_META_CONTEXT, &querying("data", &[])),
            ask(option::SET_META_CONTEXT, &querying("data", &["base:allocation", "qemu:dirty-bitmap:x"])),
            ask(option::GO, &choosing("data", &requested)),
        ],
    );
    let expected = [rep::ACK, rep::META_CONTEXT, rep::ACK, rep::META_CONTEXT, rep::ACK];
    assert_eq!(kinds(&heard)[..5], expected);
    assert_eq!(kinds(&heard)[5..], [rep::INFO, rep::INFO, rep::INFO, rep::INFO, rep::ACK]);
    let flags = u16::from_be_bytes(heard.0[5].2[10..12].try_into().unwrap());
    assert_ne!(flags & flag::ROTATIONAL, 0);
    assert_ne!(flags & flag::SEND_DF, 0);
    assert_eq!(heard.0[7].2[2..], b"50 GB at 0 VPU"[..]);
    assert_eq!(
        heard.1,
        HandshakeStep::Begin(Negotiated { export: Export(7), style: Style::Extended, allocation: true })
    );
}

#[test]
fn old_client_gets_124_zeros() {
    let heard = talk(Tls::Off, 0, &[ask(option::EXPORT_NAME, b"redo")]);
    assert_eq!(
        heard.1,
        HandshakeStep::Begin(Negotiated { export: Export(8), style: Style::Simple, allocation: false })
    );
    assert_eq!(heard.2.len(), 8 + 2 + 124);
    assert_eq!(talk(Tls::Off, 3, &[ask(option::EXPORT_NAME, b"redo")]).2.len(), 10);
    assert_eq!(talk(Tls::Off, 3, &[ask(option::EXPORT_NAME, b"none")]).1, HandshakeStep::End);
}

#[test]
fn unknown_and_malformed_options_get_error_replies() {
    let cut = &choosing("data", &[info::NAME])[..9];
    let long = vec![0; DATA_MAX + 1];
    let heard = talk(
        Tls::Off,
        1,
        &[
            ask(4, b"anything"),
            ask(77, &[]),
            ask(option::LIST, b"x"),
            ask(option::INFO, cut),
            ask(option::INFO, &choosing("none", &[])),
            ask(option::SET_META_CONTEXT, &querying("data", &[])),
            ask(option::STARTTLS, &[]),
            ask(option::LIST, &long),
            ask(option::STRUCTURED_REPLY, b"x"),
            ask(option::STRUCTURED_REPLY, &[]),
            ask(option::STRUCTURED_REPLY, &[]),
            ask(option::SET_META_CONTEXT, &querying("data", &["base:"])),
            ask(option::EXTENDED_HEADERS, &[]),
            ask(option::STRUCTURED_REPLY, &[]),
            ask(option::LIST, &[]),
            ask(option::ABORT, b"ignored"),
        ],
    );
    let expected = [
        rep::ERR_UNSUP,
        rep::ERR_UNSUP,
        rep::ERR_INVALID,
        rep::ERR_INVALID,
        rep::ERR_UNKNOWN,
        rep::ERR_INVALID,
        rep::ERR_UNSUP,
        rep::ERR_TOO_BIG,
        rep::ERR_INVALID,
        rep::ACK,
        rep::ERR_INVALID,
        rep::ACK,
        rep::ACK,
        rep::ERR_EXT_HEADER_REQD,
        rep::SERVER,
        rep::SERVER,
        rep::ACK,
        rep::ACK,
    ];
    assert_eq!(kinds(&heard), expected);
    assert_eq!(heard.1, HandshakeStep::End);
}

#[test]
fn protocol_violations_end_the_handshake() {
    assert_eq!(talk(Tls::Off, 4, &[]).1, HandshakeStep::End, "unknown client flags");
    assert_eq!(talk(Tls::Off, 0, &[ask(option::LIST, &[])]).1, HandshakeStep::End, "options without fixed newstyle");
    assert_eq!(talk(Tls::Off, 1, &[vec![7; 16]]).1, HandshakeStep::End, "no magic");
    let huge = [&OPTION.to_be_bytes()[..], &option::LIST.to_be_bytes(), &u32::MAX.to_be_bytes()].concat();
    assert_eq!(talk(Tls::Off, 1, &[huge]).1, HandshakeStep::End, "an option of 4 GiB");
    let extended = [ask(option::EXTENDED_HEADERS, &[]), ask(option::EXPORT_NAME, b"data")];
    assert_eq!(talk(Tls::Off, 3, &extended).1, HandshakeStep::End, "extended headers need GO");
    let chatter = vec![ask(77, &[]); OPTIONS_MAX as usize + 1];
    assert_eq!(talk(Tls::Off, 3, &chatter).1, HandshakeStep::End, "too many options");
}

#[test]
fn required_tls_precedes_other_options() {
    let heard = talk(Tls::Required, 3, &[ask(option::LIST, &[]), ask(77, &[]), ask(option::STARTTLS, &[])]);
    assert_eq!(kinds(&heard), [rep::ERR_TLS_REQD, rep::ERR_TLS_REQD, rep::ACK]);
    assert_eq!(heard.1, HandshakeStep::Secure);
    assert_eq!(talk(Tls::Required, 3, &[ask(option::EXPORT_NAME, b"data")]).1, HandshakeStep::End);

    let mut out = Vec::new();
    let mut handshake = Handshake::new(Tls::Offered, &mut out);
    let before = [&3u32.to_be_bytes()[..], &ask(option::STRUCTURED_REPLY, &[]), &ask(option::STARTTLS, &[])].concat();
    assert_eq!(handshake.feed(&before, &offers(), &mut out).step, HandshakeStep::Secure);
    let mut handshake = handshake.secured();
    out.clear();
    let after = [ask(option::STARTTLS, &[]), ask(option::GO, &choosing("redo", &[]))].concat();
    let step = handshake.feed(&after, &offers(), &mut out).step;
    assert_eq!(step, HandshakeStep::Begin(Negotiated { export: Export(8), style: Style::Simple, allocation: false }));
    assert_eq!(out[12..16], rep::ERR_INVALID.to_be_bytes(), "TLS twice");
}
