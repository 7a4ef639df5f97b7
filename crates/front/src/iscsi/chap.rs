//! CHAP (RFC 1994, RFC 7143, 12.1): the proof that the other side knows a secret.

use md5::{Digest, Md5};

use crate::unit::Credentials;

/// Bytes of a challenge.
const CHALLENGE_BYTES: usize = 16;

/// Bytes of a challenge of the initiator at most (RFC 7143, 12.1.3).
const CHALLENGE_MAX: usize = 1024;

/// Random bytes that each connection needs: a challenge and its identifier.
pub const ENTROPY_BYTES: usize = CHALLENGE_BYTES + 1;

/// The authentication of initiators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chap {
    pub initiator: Credentials,
    /// Of the target, for initiators that demand a proof as well. Its secret differs from the initiator's.
    pub target: Option<Credentials>,
}

/// The challenge of one login.
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    identifier: u8,
    bytes: [u8; CHALLENGE_BYTES],
}

impl Challenge {
    pub(super) fn new(entropy: [u8; ENTROPY_BYTES]) -> Self {
        let mut bytes = [0; CHALLENGE_BYTES];
        bytes.copy_from_slice(&entropy[1..]);
        Self { identifier: entropy[0], bytes }
    }

    /// The values of `CHAP_I` and `CHAP_C`.
    pub(super) fn display(&self) -> (String, String) {
        (self.identifier.to_string(), hexadecimal(&self.bytes))
    }

    /// Whether name and response prove the knowledge of the secret.
    pub(super) fn is_met(&self, expected: &Credentials, name: &str, response: &[u8]) -> bool {
        let proof = compute_response(self.identifier, &expected.secret, &self.bytes);
        // All bytes are compared, whatever the first ones are: the time reveals nothing.
        let difference = proof.iter().zip(response).fold(0, |difference, (a, b)| difference | (a ^ b));
        name == expected.name && response.len() == proof.len() && difference == 0
    }

    /// The target's response to a challenge of the initiator; `None` if that is invalid, or is the target's own.
    pub(super) fn answer(&self, own: &Credentials, identifier: u32, challenge: &[u8]) -> Option<String> {
        let identifier = u8::try_from(identifier).ok()?;
        let reflected = challenge == self.bytes;
        let valid = !challenge.is_empty() && challenge.len() <= CHALLENGE_MAX && !reflected;
        valid.then(|| hexadecimal(&compute_response(identifier, &own.secret, challenge)))
    }
}

fn compute_response(identifier: u8, secret: &[u8], challenge: &[u8]) -> [u8; 16] {
    Md5::new().chain_update([identifier]).chain_update(secret).chain_update(challenge).finalize().into()
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::from("0x"), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_the_digest_of_identifier_secret_and_challenge() {
        let credentials = Credentials { name: "me".into(), secret: b"secretsecret".to_vec() };
        let challenge = Challenge::new([7; ENTROPY_BYTES]);
        let right = compute_response(7, b"secretsecret", &[7; 16]);
        assert_eq!(right, Md5::digest([&[7][..], b"secretsecret", &[7; 16]].concat())[..]);
        assert!(challenge.is_met(&credentials, "me", &right));
        assert!(!challenge.is_met(&credentials, "you", &right));
        assert!(!challenge.is_met(&credentials, "me", &right[..15]));
        assert!(!challenge.is_met(&credentials, "me", &compute_response(7, b"another secret", &[7; 16])));
        assert!(!format!("{credentials:?}").contains("secret\""), "secrets are not printed");
        assert_eq!(challenge.answer(&credentials, 1, &[7; 16]), None, "a reflected challenge");
        assert_eq!(challenge.answer(&credentials, 256, &[8; 16]), None);
        assert_eq!(
            challenge.answer(&credentials, 1, &[8; 16]),
            Some(hexadecimal(&compute_response(1, b"secretsecret", &[8; 16])))
        );
    }
}
