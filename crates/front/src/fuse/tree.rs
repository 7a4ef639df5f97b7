//! A filesystem of one directory and one regular file, the volume: the meaning of each request of the kernel.
//!
//! There is no state of open files. Names and attributes are never cached, so that a new size is seen at once.

use plimsoll_volume::{Command, Errno, Request, Space, VolumeAccess};

use super::reply::{Attributes, Code, Terms, Unique, list};
use super::request::{Call, Header};
use super::wire::{self, REQUEST_BYTES, ROOT, WRITE_BYTES, init, opcode, open, valid};
use crate::codec::{Codec, Decoded, Division, Exports, Incoming, Message, Operation, ReplyBody, Tag};

/// The file's name.
pub const NAME: &str = "volume";

/// Bytes of a read or write at most.
pub const PAYLOAD_MAX: u32 = 1 << 20;

/// Maximum of asynchronous requests of the kernel; more wait in the kernel.
const BACKGROUND: u16 = 512;

/// The volume's file.
const FILE: u64 = 2;

/// Bytes of a block of the filesystem; a loop device discards by it.
const BLOCK: u32 = 4096;

/// The kind of the directory, as a mount names it.
pub(super) const MODE_DIRECTORY: u32 = 0o040_000;
const MODE_FILE: u32 = 0o100_000;

/// The attributes of the filesystem, and its codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Whether the file can be written.
    pub access: VolumeAccess,
    /// Offsets and lengths of reads and writes are multiples of it: a power of two.
    pub minimum: u32,
    /// User and group that everything belongs to.
    pub owner: (u32, u32),
    /// When it was mounted, in seconds since 1970.
    pub time: u64,
}

impl Codec for Tree {
    #[inline]
    fn feed(&mut self, input: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Decoded {
        let incomplete = Decoded { used: 0, message: Message::Incomplete };
        let Some(header) = Header::parse(input) else { return incomplete };
        let length = header.length as usize;
        let used = if header.opcode == opcode::WRITE { length.min(WRITE_BYTES) } else { length };
        if used < REQUEST_BYTES {
            return Decoded { used: input.len(), message: Message::Invalid };
        }
        let Some(head) = input.get(..used) else { return incomplete };
        let call = Call::parse(&header, head).ok_or(Code(libc::EINVAL));
        let message = call.and_then(|call| self.judge(&header, &call, (length - used) as u32, exports.size, out));
        let message = message.unwrap_or_else(|code| {
            Unique(header.unique).failed(out, code);
            Message::Handled
        });
        Decoded { used, message }
    }

    #[inline]
    fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, out: &mut Vec<u8>) {
        let unique = Unique(tag.id);
        match *body {
            // Reads are answered in one piece, without holes.
            ReplyBody::Done | ReplyBody::DataPart(_) | ReplyBody::HolePart(_) | ReplyBody::Extents(_) => {
                unique.done(out);
            }
            ReplyBody::Written(length) => unique.written(out, length),
            ReplyBody::Data(length) => unique.data(out, length),
            ReplyBody::Position(Some(offset)) => unique.place(out, offset),
            ReplyBody::Position(None) => unique.failed(out, Code(libc::ENXIO)),
            ReplyBody::Mismatch(_) => unique.failed(out, Errno::Inval.into()),
            ReplyBody::Failed(errno) => unique.failed(out, errno.into()),
        }
    }
}

impl Tree {
    #[inline]
    fn judge(
        &self,
        header: &Header,
        call: &Call<'_>,
        payload: u32,
        size: u64,
        out: &mut Vec<u8>,
    ) -> Result<Message, Code> {
        let unique = Unique(header.unique);
        let io = |request| Ok(incoming(unique, Operation::Io(request), payload));
        match *call {
            Call::Read { offset, length } => {
                if let Some(request) = self.reading(header.node, offset, length, size)? {
                    return io(request);
                }
                unique.data(out, 0);
                Ok(Message::Handled)
            }
            Call::Write { length, .. } if length != payload => Err(Code(libc::EINVAL)),
            Call::Write { offset, length, flags } => io(self.writing(header.node, offset, length, flags, size)?),
            Call::Fsync => io(Request { command: Command::Flush, offset: 0, length: 0, fua: false }),
            Call::Fallocate { offset, length, mode } => io(self.space(header.node, offset, length, mode, size)?),
            Call::Seek { offset, whence } => seek(unique, offset, whence, size),
            _ => self.tell(header, call, size, out),
        }
    }

    #[inline]
    fn reading(&self, node: u64, offset: u64, length: u32, size: u64) -> Result<Option<Request>, Code> {
        self.aligned(node, offset, length.into())?;
        if length > PAYLOAD_MAX {
            return Err(Code(libc::EINVAL));
        }
        let length = u64::from(length).min(size.saturating_sub(offset));
        Ok((length > 0).then_some(Request { command: Command::Read, offset, length, fua: false }))
    }

    /// A write that crosses the end is done up to there, as it is on a device.
    #[inline]
    fn writing(&self, node: u64, offset: u64, length: u32, flags: u32, size: u64) -> Result<Request, Code> {
        self.aligned(node, offset, length.into())?;
        self.writable()?;
        if length == 0 || length > PAYLOAD_MAX {
            return Err(Code(libc::EINVAL));
        }
        let length = u64::from(length).min(size.saturating_sub(offset));
        if length == 0 {
            return Err(Errno::NoSpc.into());
        }
        // O_SYNC contains O_DSYNC.
        let fua = flags & libc::O_DSYNC.cast_unsigned() != 0;
        Ok(Request { command: Command::Write, offset, length, fua })
    }

    /// A punched range has to read as zeros to the byte, unlike a trimmed one, whose partial clusters stay. Loop
    /// devices use this for zeros as well as for discards.
    fn space(&self, node: u64, offset: u64, length: u64, mode: u32, size: u64) -> Result<Request, Code> {
        const KEEP: u32 = libc::FALLOC_FL_KEEP_SIZE.cast_unsigned();
        const PUNCH: u32 = libc::FALLOC_FL_PUNCH_HOLE.cast_unsigned();
        const ZERO: u32 = libc::FALLOC_FL_ZERO_RANGE.cast_unsigned();
        self.aligned(node, offset, length)?;
        self.writable()?;
        let space = match mode & !KEEP {
            PUNCH => Space::Free,
            ZERO => Space::Keep,
            _ => return Err(Code(libc::EOPNOTSUPP)),
        };
        if mode & KEEP == 0 && offset.checked_add(length).is_none_or(|end| end > size) {
            return Err(Errno::NoSpc.into());
        }
        let length = length.min(size.saturating_sub(offset));
        if length == 0 {
            return Err(Code(libc::EINVAL));
        }
        Ok(Request { command: Command::WriteZeroes { space }, offset, length, fua: false })
    }

    #[inline]
    fn aligned(&self, node: u64, offset: u64, length: u64) -> Result<(), Code> {
        if node != FILE {
            return Err(Code(libc::EISDIR));
        }
        if (offset | length) & (u64::from(self.minimum) - 1) != 0 { Err(Code(libc::EINVAL)) } else { Ok(()) }
    }

    fn writable(&self) -> Result<(), Code> {
        if self.access == VolumeAccess::ReadWrite { Ok(()) } else { Err(Code(libc::EROFS)) }
    }

    /// Replies to a request that moves no data.
    fn tell(&self, header: &Header, call: &Call<'_>, size: u64, out: &mut Vec<u8>) -> Result<Message, Code> {
        let (unique, node) = (Unique(header.unique), header.node);
        match *call {
            Call::Lookup(name) if node == ROOT && name == NAME.as_bytes() => {
                unique.entry(out, &self.about(FILE, size)?);
            }
            Call::Lookup(_) => return Err(Code(libc::ENOENT)),
            Call::Attributes => unique.attributes(out, &self.about(node, size)?),
            Call::Change { valid: changed, size: new_size } => {
                let resizes = changed & valid::SIZE != 0 && new_size != size;
                if resizes || changed & (valid::MODE | valid::UID | valid::GID) != 0 {
                    return Err(Code(libc::EPERM));
                }
                unique.attributes(out, &self.about(node, size)?);
            }
            Call::Open(_) if node != FILE => return Err(Code(libc::EISDIR)),
            Call::Open(flags) => {
                if flags & libc::O_ACCMODE.cast_unsigned() != libc::O_RDONLY.cast_unsigned() {
                    self.writable()?;
                }
                unique.opened(out, open::DIRECT_IO | open::PARALLEL_DIRECT_WRITES);
            }
            Call::OpenDirectory if node != ROOT => return Err(Code(libc::ENOTDIR)),
            Call::OpenDirectory => unique.opened(out, 0),
            Call::Entries { after, max, plus } => {
                let (root, file) = (self.about(ROOT, size)?, self.about(FILE, size)?);
                let entries = [(".", root), ("..", root), (NAME, file)];
                let max = max.min(PAYLOAD_MAX) as usize;
                unique.entries(out, &list(&entries, after, max, plus));
            }
            Call::Space => unique.space(out, size.div_ceil(BLOCK.into()), BLOCK),
            Call::Init { major, minor, readahead, flags } => greet(unique, major, minor, readahead, flags, out)?,
            Call::End => unique.done(out),
            Call::Unanswered => {}
            // The kernel sends an unknown request only once.
            _ => return Err(Code(libc::ENOSYS)),
        }
        Ok(Message::Handled)
    }

    fn about(&self, node: u64, size: u64) -> Result<Attributes, Code> {
        let (size, mode, links) = match node {
            ROOT => (0, MODE_DIRECTORY | 0o700, 2),
            FILE if self.access == VolumeAccess::ReadOnly => (size, MODE_FILE | 0o400, 1),
            FILE => (size, MODE_FILE | 0o600, 1),
            _ => return Err(Code(libc::ENOENT)),
        };
        Ok(Attributes { node, size, mode, links, owner: self.owner, time: self.time, block: BLOCK })
    }
}

fn incoming(unique: Unique, operation: Operation, payload: u32) -> Message {
    let tag = Tag { id: unique.0, offset: 0, division: Division::Undivided, holes: false, limit: u32::MAX };
    Message::Request(Incoming { tag, operation: Ok(operation), payload, trailer: 0 })
}

fn seek(unique: Unique, offset: u64, whence: u32, size: u64) -> Result<Message, Code> {
    if offset >= size {
        return Err(Code(libc::ENXIO));
    }
    let allocated = match whence.cast_signed() {
        libc::SEEK_DATA => true,
        libc::SEEK_HOLE => false,
        _ => return Err(Code(libc::EINVAL)),
    };
    Ok(incoming(unique, Operation::Seek { offset, allocated }, 0))
}

/// The first message of the kernel. A later major version gets ours, and begins again.
fn greet(unique: Unique, major: u32, minor: u32, readahead: u32, flags: u32, out: &mut Vec<u8>) -> Result<(), Code> {
    if major > wire::MAJOR {
        unique.version(out);
        return Ok(());
    }
    if major < wire::MAJOR || minor < wire::MINOR_LEAST {
        return Err(Code(libc::EPROTO));
    }
    let supported = init::ASYNC_READ
        | init::BIG_WRITES
        | init::ASYNC_DIO
        | init::PARALLEL_DIROPS
        | init::DO_READDIRPLUS
        | init::READDIRPLUS_AUTO
        | init::MAX_PAGES;
    let terms = Terms { readahead, flags: flags & supported, background: BACKGROUND, payload: PAYLOAD_MAX };
    unique.agreed(out, &terms);
    Ok(())
}
