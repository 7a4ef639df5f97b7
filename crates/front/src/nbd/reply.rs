//! Replies of the transmission phase, as bytes.

use plimsoll_device::nbd::wire::{self, STATE_HOLE, STATE_ZERO, Style, chunk};
use plimsoll_volume::{Errno, Extent};

use super::meta::ALLOCATION_ID;
use crate::codec::ReadPart;

/// Writes the replies to one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplyWriter {
    /// How replies are framed.
    pub(super) style: Style,
    /// The client's identifier of the request.
    pub(super) cookie: u64,
    /// The request's first byte.
    pub(super) offset: u64,
}

impl ReplyWriter {
    /// Done, with no data to return.
    #[inline]
    pub(super) fn done(self, out: &mut Vec<u8>) {
        match self.style {
            Style::Simple => self.simple(out, 0),
            Style::Structured | Style::Extended => self.only_chunk(out, chunk::NONE, 0),
        }
    }

    pub(super) fn failed(self, out: &mut Vec<u8>, errno: Errno) {
        if self.style == Style::Simple {
            self.simple(out, errno.code());
            return;
        }
        let text = errno.to_string();
        self.only_chunk(out, chunk::ERROR, 6 + text.len() as u64);
        out.extend_from_slice(&errno.code().to_be_bytes());
        out.extend_from_slice(&(text.len() as u16).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
    }

    /// A read that is done: its `length` bytes have to follow.
    #[inline]
    pub(super) fn data(self, out: &mut Vec<u8>, length: u32) {
        if self.style == Style::Simple {
            self.simple(out, 0);
            return;
        }
        self.only_chunk(out, chunk::OFFSET_DATA, 8 + u64::from(length));
        out.extend_from_slice(&self.offset.to_be_bytes());
    }

    /// A part of a read that is divided into chunks: its bytes have to follow.
    pub(super) fn data_part(self, out: &mut Vec<u8>, part: ReadPart) {
        self.chunk(out, flags(part), chunk::OFFSET_DATA, 8 + u64::from(part.length));
        out.extend_from_slice(&part.offset.to_be_bytes());
    }

    /// A part of a read that is divided into chunks, all of it zeros.
    pub(super) fn hole_part(self, out: &mut Vec<u8>, part: ReadPart) {
        self.chunk(out, flags(part), chunk::OFFSET_HOLE, 12);
        out.extend_from_slice(&part.offset.to_be_bytes());
        out.extend_from_slice(&part.length.to_be_bytes());
    }

    /// Allocated ranges and holes from the request's offset on.
    pub(super) fn allocation(self, out: &mut Vec<u8>, extents: &[Extent]) {
        let states = extents.iter().map(|extent| {
            let state = if extent.allocated { 0 } else { STATE_HOLE | STATE_ZERO };
            (extent.length, state)
        });
        if self.style == Style::Extended {
            self.only_chunk(out, chunk::BLOCK_STATUS_EXT, 8 + 16 * extents.len() as u64);
            out.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
            out.extend_from_slice(&(extents.len() as u32).to_be_bytes());
            for (length, state) in states {
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&state.to_be_bytes());
            }
            return;
        }
        // A run that does not fit 32 bits ends the reply early: the client requests the rest.
        let fitting = extents.iter().take_while(|extent| extent.length <= RUN_MAX).count();
        let told = (fitting + 1).min(extents.len());
        self.only_chunk(out, chunk::BLOCK_STATUS, 4 + 8 * told as u64);
        out.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
        for (length, state) in states.take(told) {
            out.extend_from_slice(&(length.min(RUN_MAX) as u32).to_be_bytes());
            out.extend_from_slice(&(state as u32).to_be_bytes());
        }
    }

    #[inline]
    fn simple(self, out: &mut Vec<u8>, error: u32) {
        let mut head = [0; 16];
        head[..4].copy_from_slice(&wire::SIMPLE_REPLY.to_be_bytes());
        head[4..8].copy_from_slice(&error.to_be_bytes());
        head[8..].copy_from_slice(&self.cookie.to_be_bytes());
        out.extend_from_slice(&head);
    }

    /// The header of the only chunk of a reply.
    #[inline]
    fn only_chunk(self, out: &mut Vec<u8>, kind: u16, length: u64) {
        self.chunk(out, chunk::DONE, kind, length);
    }

    #[inline]
    fn chunk(self, out: &mut Vec<u8>, flags: u16, kind: u16, length: u64) {
        let extended = self.style == Style::Extended;
        let magic = if extended { wire::EXTENDED_REPLY } else { wire::STRUCTURED_REPLY };
        out.extend_from_slice(&magic.to_be_bytes());
        out.extend_from_slice(&flags.to_be_bytes());
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
        if extended {
            out.extend_from_slice(&self.offset.to_be_bytes());
            out.extend_from_slice(&length.to_be_bytes());
        } else {
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
}

/// Flags of the chunk of a part.
const fn flags(part: ReadPart) -> u16 {
    if part.rest == 0 { chunk::DONE } else { 0 }
}

/// The longest run of a structured reply: whole blocks of 65,536 bytes, the largest minimum there is.
const RUN_MAX: u64 = (u32::MAX - 0xffff) as u64;

#[cfg(test)]
mod tests;
