//! Arbitrary bytes from a client, in arbitrary pieces: no panic, bounded state, and the same reply.

use plimsoll_device::nbd::wire::{EXTENDED_REQUEST, OPTION, REQUEST, Style};
use plimsoll_front::nbd::{Handshake, HandshakeStep, Header, PAYLOAD_MAX, Terms, Tls};
use plimsoll_front::{Blocks, Offer};
use plimsoll_volume::{Export, VolumeAccess};
use proptest::prelude::*;

/// Cases of each property.
const CASES: u32 = 10_000;

fn offers() -> Vec<Offer> {
    vec![Offer::new(Export(0), "data", 1 << 30), Offer::new(Export(1), "", 4096)]
}

/// A nearly valid option with arbitrary number, length and data.
fn option() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![9 => 0u32..13, 1 => any::<u32>()];
    let name = prop_oneof![Just(&b"data"[..]), Just(&b""[..]), Just(&b"none"[..]), Just(&b"\xff\xfe"[..])];
    let named = (name, proptest::collection::vec(any::<u8>(), 0..24)).prop_map(|(name, tail)| {
        let mut data = (name.len() as u32).to_be_bytes().to_vec();
        data.extend(name);
        data.extend([0, 0]);
        data.extend(tail);
        data
    });
    let plain = prop_oneof![Just(b"data".to_vec()), Just(Vec::new()), proptest::collection::vec(any::<u8>(), 0..40)];
    let data = prop_oneof![3 => named, 2 => plain];
    let announced = prop_oneof![
        12 => Just(None),
        1 => (0u32..64).prop_map(Some),
        1 => (32_000u32..40_000).prop_map(Some),
        1 => any::<u32>().prop_map(Some)
    ];
    let magic = prop_oneof![20 => Just(OPTION), 1 => any::<u64>()];
    (magic, number, announced, data).prop_map(|(magic, number, announced, data)| {
        let length = announced.unwrap_or(data.len() as u32);
        [&magic.to_be_bytes()[..], &number.to_be_bytes(), &length.to_be_bytes(), &data].concat()
    })
}

fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let flags = prop_oneof![8 => Just(3u32), 2 => 0u32..4, 1 => any::<u32>()];
    let options = proptest::collection::vec(option(), 0..8);
    (flags, options).prop_map(|(flags, options)| [&flags.to_be_bytes()[..], &options.concat()].concat())
}

/// Feeds `input` in pieces of `piece` bytes. Returns the output and the last step.
fn fed(input: &[u8], piece: usize, tls: Tls) -> (Vec<u8>, HandshakeStep) {
    let mut out = Vec::new();
    let mut handshake = Handshake::new(tls, &mut out);
    let (mut start, mut end) = (0, 0);
    loop {
        let result = handshake.feed(&input[start..end], &offers(), &mut out);
        assert!(result.used <= end - start);
        start += result.used;
        if result.step != HandshakeStep::More || end == input.len() {
            return (out, result.step);
        }
        end = (end + piece).min(input.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_handshakes_are_handled(input in conversation(), piece in 1usize..200, tls in 0..3) {
        let tls = [Tls::Off, Tls::Offered, Tls::Required][tls as usize];
        let at_once = fed(&input, input.len(), tls);
        // A reply to an option has at most a few hundred bytes, and an option at least 16.
        prop_assert!(at_once.0.len() <= 18 + 400 * (1 + input.len() / 16), "{} for {}", at_once.0.len(), input.len());
        prop_assert_eq!(fed(&input, piece, tls), at_once);
    }

    #[test]
    fn noise_is_not_a_handshake(input in proptest::collection::vec(any::<u8>(), 0..300), piece in 1usize..50) {
        prop_assert_eq!(fed(&input, piece, Tls::Off), fed(&input, input.len(), Tls::Off));
    }

    #[test]
    fn arbitrary_requests_are_handled(
        noise in proptest::collection::vec(any::<u8>(), 0..40),
        proper in 0..4,
        low in 0u16..16,
        small in any::<bool>(),
    ) {
        let mut input = noise;
        for (magic, style) in [(REQUEST, Style::Structured), (EXTENDED_REQUEST, Style::Extended)] {
            if proper > 0 && input.len() >= 8 {
                input[..4].copy_from_slice(&magic.to_be_bytes());
                input[4] = 0;
                input[6..8].copy_from_slice(&low.to_be_bytes());
            }
            if small && input.len() >= 28 {
                input[16..26].fill(0);
            }
            let Ok(Some(header)) = Header::parse(style, &input) else { continue };
            prop_assert!(input.len() >= style.request_bytes() && header.payload <= PAYLOAD_MAX);
            let blocks = Blocks::default();
            let terms = Terms { style, allocation: small, size: 1 << 20, access: VolumeAccess::ReadWrite, blocks };
            if let Ok(plimsoll_front::codec::Operation::Io(request)) = header.operation(&terms) {
                prop_assert!(request.offset + request.length <= terms.size);
            }
        }
    }
}
