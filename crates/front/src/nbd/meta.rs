//! The metadata contexts of the handshake; only `base:allocation` is supported.

use plimsoll_device::nbd::wire::{ALLOCATION, Reader};

/// The number of the context while it is chosen.
pub(crate) const ALLOCATION_ID: u32 = 1;

/// Maximum of queries that are examined; others are ignored, like those of unknown namespaces.
const QUERIES_MAX: u32 = 256;

/// The request of a client for metadata.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MetaRequest<'a> {
    pub export: &'a str,
    pub allocation: bool,
}

/// Reads the data of `LIST_META_CONTEXT` or (`sets`) `SET_META_CONTEXT`; `None` when they are malformed.
pub(crate) fn parse(data: &[u8], sets: bool) -> Option<MetaRequest<'_>> {
    let mut reader = Reader(data);
    let length = reader.u32()? as usize;
    let export = reader.text(length)?;
    let count = reader.u32()?;
    let mut allocation = count == 0 && !sets;
    for index in 0..count {
        let length = reader.u32()? as usize;
        let query = reader.bytes(length)?;
        // Only a list has wildcards.
        let wildcard = !sets && query == b"base:";
        allocation |= index < QUERIES_MAX && (query == ALLOCATION.as_bytes() || wildcard);
    }
    reader.0.is_empty().then_some(MetaRequest { export, allocation })
}

/// The data of the reply that names the context; its number only if it is set.
pub(crate) fn encode_allocation(sets: bool) -> Vec<u8> {
    let id = if sets { ALLOCATION_ID } else { 0 };
    [&id.to_be_bytes()[..], ALLOCATION.as_bytes()].concat()
}
