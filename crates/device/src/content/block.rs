//! A self-describing block: a header, and data derived from it.
//!
//! The content of a block is a function of five header fields, which a checksum protects. The data need no checksum:
//! they are compared with the expected bytes, which locates the first wrong byte.

/// First bytes of a header.
const MAGIC: [u8; 8] = *b"plimsoll";

/// Header length in bytes: magic, seed, offset, length, generation, live bytes, 4 zero bytes, checksum. All
/// little-endian.
pub(super) const HEADER: usize = 48;

/// Period of the data in bytes: each chunk begins random and ends in zeros. A sector, so that no sector equals that of
/// another version.
const CHUNK: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockParameters {
    /// Seed of the series of runs that wrote it.
    pub(super) seed: u64,
    /// Byte offset of the block in the target.
    pub(super) offset: u64,
    /// Length in bytes: a multiple of 8, at least [`HEADER`].
    pub(super) length: u32,
    /// Number of the write to this place, from 1.
    pub(super) generation: u32,
    /// Random bytes of each chunk, a multiple of 8; the rest are zeros.
    pub(super) live: u32,
}

/// Random bytes per chunk so that the share `compressible` (0 to 1) compresses away; at least 8.
pub(super) fn count_random_bytes(compressible: f64) -> u32 {
    let words = (CHUNK as f64 * (1.0 - compressible.clamp(0.0, 1.0)) / 8.0).round() as u32;
    8 * words.max(1)
}

impl BlockParameters {
    /// Parses the block at the start of `bytes`; `None` if its header is foreign or damaged.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let block = Self::claimed(bytes)?;
        (bytes[..HEADER] == block.header()).then_some(block)
    }

    /// Parses the header without verification.
    pub(super) fn claimed(bytes: &[u8]) -> Option<Self> {
        let (header, _) = bytes.split_first_chunk::<HEADER>()?;
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Some(Self { seed: long(8), offset: long(16), length: word(24), generation: word(28), live: word(32) })
    }

    /// Writes header and data.
    pub(super) fn write(&self, bytes: &mut [u8]) {
        let key = self.key();
        bytes[..HEADER].copy_from_slice(&self.header());
        for (index, chunk) in bytes.chunks_mut(CHUNK).enumerate() {
            let skipped = if index == 0 { HEADER } else { 0 };
            let live = (self.live as usize).clamp(skipped, chunk.len());
            let first = (index * CHUNK + skipped) / 8;
            for (word, place) in chunk[skipped..live].chunks_exact_mut(8).enumerate() {
                place.copy_from_slice(&random(key, (first + word) as u64).to_le_bytes());
            }
            chunk[live..].fill(0);
        }
    }

    /// True if all of `bytes` equal this block.
    pub(super) fn matches(&self, bytes: &[u8]) -> bool {
        let key = self.key();
        bytes[..HEADER] == self.header()
            && bytes.chunks(CHUNK).enumerate().all(|(index, chunk)| {
                let skipped = if index == 0 { HEADER } else { 0 };
                let live = (self.live as usize).clamp(skipped, chunk.len());
                let first = (index * CHUNK + skipped) / 8;
                let mut differs = 0;
                for (word, place) in chunk[skipped..live].chunks_exact(8).enumerate() {
                    let found = u64::from_le_bytes(place.try_into().expect("8 bytes"));
                    differs |= found ^ random(key, (first + word) as u64);
                }
                differs == 0 && chunk[live..].iter().all(|byte| *byte == 0)
            })
    }

    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..16].copy_from_slice(&self.seed.to_le_bytes());
        header[16..24].copy_from_slice(&self.offset.to_le_bytes());
        header[24..28].copy_from_slice(&self.length.to_le_bytes());
        header[28..32].copy_from_slice(&self.generation.to_le_bytes());
        header[32..36].copy_from_slice(&self.live.to_le_bytes());
        header[40..].copy_from_slice(&self.key().to_le_bytes());
        header
    }

    /// Hash of all fields: the header's checksum, and the key of the random data.
    fn key(&self) -> u64 {
        let sizes = u64::from(self.length) | u64::from(self.live) << 32;
        [self.seed, self.offset, sizes, self.generation.into()].into_iter().fold(0, |key, figure| mixed(key ^ figure))
    }
}

/// Word `index` of the random sequence of `key`: the generator `wyrand` (Wang Yi, 2019) with random access.
#[inline]
pub(super) fn random(key: u64, index: u64) -> u64 {
    let at = key.wrapping_add(index.wrapping_mul(0xa076_1d64_78bd_642f));
    let wide = u128::from(at) * u128::from(at ^ 0xe703_7ed1_a0b4_28db);
    (wide >> 64) as u64 ^ wide as u64
}

/// Mixes all bits of `x`: the finaliser of `SplitMix64` (Steele, Lea and Flood, 2014).
pub(super) const fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(length: u32, compressible: f64) {
        let block =
            BlockParameters { seed: 7, offset: 1 << 40, length, generation: 3, live: count_random_bytes(compressible) };
        let mut bytes = vec![0xff; length as usize];
        block.write(&mut bytes);
        assert_eq!(BlockParameters::read(&bytes), Some(block));
        assert!(block.matches(&bytes));
        let others = [
            BlockParameters { seed: 8, ..block },
            BlockParameters { offset: 0, ..block },
            BlockParameters { generation: 4, ..block },
            BlockParameters { live: block.live ^ 8, ..block },
        ];
        assert!(others.iter().all(|other| !other.matches(&bytes)), "{length}");
        for at in (0..bytes.len()).step_by(13) {
            bytes[at] ^= 1;
            assert!(!block.matches(&bytes), "byte {at} of {length}");
            bytes[at] ^= 1;
        }
        let zeroes = bytes[HEADER..].iter().map(|byte| u32::from(*byte == 0)).sum::<u32>() as f64 / length as f64;
        let expected = if length as usize >= CHUNK { compressible } else { zeroes };
        assert!((zeroes - expected).abs() < 0.03, "{length}: {zeroes} of {compressible}");
    }

    #[test]
    fn block_matches_only_its_own_header() {
        check(64, 0.0);
        check(512, 0.0);
        check(520, 0.0);
        check(4096, 0.0);
        check(4096, 0.5);
        check(4096, 1.0);
        check(20_480, 0.25);
        check(12_296, 0.75);
    }

    #[test]
    fn damaged_header_is_detected() {
        let block = BlockParameters { seed: 1, offset: 0, length: 512, generation: 1, live: 512 };
        let mut bytes = vec![0; 512];
        block.write(&mut bytes);
        for at in 0..HEADER {
            bytes[at] ^= 0x10;
            assert_eq!(BlockParameters::read(&bytes), None, "byte {at}");
            bytes[at] ^= 0x10;
        }
        assert_eq!(BlockParameters::read(&bytes[..HEADER - 1]), None);
    }
}
