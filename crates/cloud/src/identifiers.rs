//! Identifiers of objects: random, or derived from the number of a volume in the store, which is never reused.

use std::fmt::Write;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

/// Characters of the unique part of an OCID.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Kinds of objects with an OCID.
pub(crate) mod kind {
    pub const VOLUME: &str = "volume";
    pub const BOOT_VOLUME: &str = "bootvolume";
    pub const BACKUP: &str = "volumebackup";
    pub const BOOT_BACKUP: &str = "bootvolumebackup";
    pub const GROUP: &str = "volumegroup";
    pub const GROUP_BACKUP: &str = "volumegroupbackup";
    pub const ATTACHMENT: &str = "volumeattachment";
    pub const INSTANCE: &str = "instance";
    pub const ASSIGNMENT: &str = "volumebackuppolicyassignment";
    pub const WORK_REQUEST: &str = "coreservicesworkrequest";
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    bytes
}

pub(crate) fn ocid(kind: &str, region: &str) -> String {
    written(kind, region, &random::<32>())
}

/// The OCID of an object without a record, from the number of its volume in the store.
pub(crate) fn derived_ocid(kind: &str, region: &str, store: &str, number: u32) -> String {
    let text = format!("{store}/{kind}/{number}");
    let hash = digest(&SHA256, text.as_bytes());
    written(kind, region, hash.as_ref())
}

fn written(kind: &str, region: &str, bytes: &[u8]) -> String {
    // 60 characters after `a`, as the real identifiers have.
    let letters: String =
        (0..59).map(|at| char::from(BASE32[usize::from(bytes[at % 32] >> (3 * (at / 32))) % 32])).collect();
    format!("ocid1.{kind}.oc1.{region}.a{letters}")
}

/// A new identifier of EC2: `vol-0123456789abcdef0`.
pub(crate) fn ec2(prefix: &str) -> String {
    let mut text = hex(&random::<9>());
    text.truncate(17);
    format!("{prefix}-{text}")
}

/// The identifier of an object without a record, from the number of its volume in the store.
pub(crate) fn derived_ec2(prefix: &str, store: &str, number: u32) -> String {
    let text = format!("{store}/{prefix}/{number}");
    let hash = hex(digest(&SHA256, text.as_bytes()).as_ref());
    format!("{prefix}-{}", &hash[..17])
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

/// True for `ocid1.KIND.oc1.[REGION].UNIQUE` with plain characters.
pub(crate) fn is_ocid(text: &str, kinds: &[&str]) -> bool {
    let mut parts = text.split('.');
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let head = parts.next() == Some("ocid1") && parts.next().is_some_and(|kind| kinds.contains(&kind));
    let realm = parts.next().is_some_and(|realm| realm.starts_with("oc") && plain(realm));
    let region = parts.next().is_some_and(plain);
    let unique = parts.next_back().is_some_and(|unique| !unique.is_empty() && plain(unique));
    head && realm && region && unique && parts.count() <= 1 && text.len() <= 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_the_shape_of_the_real_ones() {
        let id = ocid(kind::VOLUME, "eu-zurich-1");
        assert!(is_ocid(&id, &["volume"]) && !is_ocid(&id, &["instance"]) && id != ocid(kind::VOLUME, "eu-zurich-1"));
        assert_eq!(id.rsplit('.').next().map(str::len), Some(60));
        assert_eq!(derived_ocid("volume", "r", "s", 1), derived_ocid("volume", "r", "s", 1));
        assert_ne!(derived_ocid("volume", "r", "s", 1), derived_ocid("volume", "r", "s", 2));
        assert!(is_ocid("ocid1.compartment.oc1..c", &["compartment"]));
        for wrong in ["", "c", "ocid1.compartment.oc1..", "ocid1.compartment.oc1../../x", "ocid1.compartment.oc1..a b"]
        {
            assert!(!is_ocid(wrong, &["compartment"]), "{wrong}");
        }
        assert_eq!(ec2("vol").len(), 21);
        assert_eq!(derived_ec2("i", "s", 3).len(), 19);
    }
}
