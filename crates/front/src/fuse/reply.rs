//! Replies to the kernel, as bytes.

use super::wire::{self, Put, REPLY_BYTES};

/// Bytes of a file's or directory's attributes.
const ATTRIBUTES_BYTES: usize = 88;

/// The system error of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(pub i32);

impl From<plimsoll_volume::Errno> for Code {
    fn from(errno: plimsoll_volume::Errno) -> Self {
        // The codes of volumes are those of Linux.
        Self(errno.code().cast_signed())
    }
}

/// Attributes of a file or directory, for `stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attributes {
    pub node: u64,
    pub size: u64,
    /// Type and permissions.
    pub mode: u32,
    pub links: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// Seconds since 1970.
    pub time: u64,
    /// Bytes of a block.
    pub block: u32,
}

/// The kernel's identifier of a request, which its reply repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unique(pub u64);

impl Unique {
    /// Done, with no data to return.
    #[inline]
    pub(super) fn done(self, out: &mut Vec<u8>) {
        self.head(out, 0, 0);
    }

    pub(super) fn failed(self, out: &mut Vec<u8>, code: Code) {
        self.head(out, -code.0, 0);
    }

    /// A read that is done: its `length` bytes have to follow.
    #[inline]
    pub(super) fn data(self, out: &mut Vec<u8>, length: u32) {
        self.head(out, 0, length as usize);
    }

    /// A write that is done.
    #[inline]
    pub(super) fn written(self, out: &mut Vec<u8>, length: u32) {
        self.head(out, 0, 8);
        out.u32(length);
        out.u32(0);
    }

    /// A position in the file.
    pub(super) fn place(self, out: &mut Vec<u8>, offset: u64) {
        self.head(out, 0, 8);
        out.u64(offset);
    }

    /// Our version, for a kernel of another one.
    pub(super) fn version(self, out: &mut Vec<u8>) {
        self.head(out, 0, 8);
        out.u32(wire::MAJOR);
        out.u32(wire::MINOR);
    }

    /// The negotiated parameters.
    pub(super) fn agreed(self, out: &mut Vec<u8>, terms: &Terms) {
        self.head(out, 0, 64);
        out.u32(wire::MAJOR);
        out.u32(wire::MINOR);
        out.u32(terms.readahead);
        out.u32(terms.flags);
        out.u16(terms.background);
        out.u16(terms.background / 4 * 3);
        out.u32(terms.payload);
        // Times are whole nanoseconds.
        out.u32(1);
        out.u16((terms.payload / 4096) as u16);
        out.u16(0);
        out.extend_from_slice(&[0; 32]);
    }

    /// Attributes, without caching.
    pub(super) fn attributes(self, out: &mut Vec<u8>, attributes: &Attributes) {
        self.head(out, 0, 16 + ATTRIBUTES_BYTES);
        out.u64(0);
        out.u64(0);
        put_attributes(out, attributes);
    }

    /// The file of a name, without caching.
    pub(super) fn entry(self, out: &mut Vec<u8>, attributes: &Attributes) {
        self.head(out, 0, ENTRY_BYTES);
        put_entry(out, attributes);
    }

    /// A file or directory is open, with flags of [`wire::open`].
    pub(super) fn opened(self, out: &mut Vec<u8>, flags: u32) {
        self.head(out, 0, 16);
        out.u64(0);
        out.u32(flags);
        out.u32(0);
    }

    /// The size of the filesystem, all in use by the file.
    pub(super) fn space(self, out: &mut Vec<u8>, blocks: u64, block: u32) {
        self.head(out, 0, 80);
        for number in [blocks, 0, 0, 2, 0] {
            out.u64(number);
        }
        for number in [block, 255, block, 0] {
            out.u32(number);
        }
        out.extend_from_slice(&[0; 24]);
    }

    /// Entries of a directory that [`list`] made.
    pub(super) fn entries(self, out: &mut Vec<u8>, list: &[u8]) {
        self.head(out, 0, list.len());
        out.extend_from_slice(list);
    }

    #[inline]
    fn head(self, out: &mut Vec<u8>, error: i32, body: usize) {
        out.u32((REPLY_BYTES + body) as u32);
        out.extend_from_slice(&error.to_ne_bytes());
        out.u64(self.0);
    }
}

/// The parameters of the reply to the first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// Bytes.
    pub readahead: u32,
    /// Bits of [`wire::init`].
    pub flags: u32,
    /// Asynchronous requests at the same time.
    pub background: u16,
    /// Bytes of a read or write at most.
    pub payload: u32,
}

const ENTRY_BYTES: usize = 40 + ATTRIBUTES_BYTES;

fn put_entry(out: &mut Vec<u8>, attributes: &Attributes) {
    for number in [attributes.node, 0, 0, 0, 0] {
        out.u64(number);
    }
    put_attributes(out, attributes);
}

fn put_attributes(out: &mut Vec<u8>, attributes: &Attributes) {
    let Attributes { node, size, mode, links, owner, time, block } = *attributes;
    for number in [node, size, size.div_ceil(512), time, time, time] {
        out.u64(number);
    }
    for number in [0, 0, 0, mode, links, owner.0, owner.1, 0, block, 0] {
        out.u32(number);
    }
}

/// The entries after the first `after` ones, as many as `max` bytes hold.
pub(super) fn list(entries: &[(&str, Attributes)], after: u64, max: usize, plus: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, (name, attributes)) in entries.iter().enumerate().skip(usize::try_from(after).unwrap_or(usize::MAX)) {
        let before = out.len();
        if plus {
            put_entry(&mut out, attributes);
        }
        out.u64(attributes.node);
        out.u64(index as u64 + 1);
        out.u32(name.len() as u32);
        out.u32(attributes.mode >> 12);
        out.extend_from_slice(name.as_bytes());
        out.resize(out.len().next_multiple_of(8), 0);
        if out.len() > max {
            out.truncate(before);
            break;
        }
    }
    out
}
