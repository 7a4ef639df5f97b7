//! FUSE server: a filesystem with a single regular file, which is a volume. With a loop device it is a block device on
//! any Linux.
//!
//! A pure codec from kernel messages to requests, and mounting. Implemented here because FUSE crates bring their own
//! threads, and each hop between these and the ring loop would cost more than the request itself; a single file needs
//! only a small part of the protocol.

mod mount;
mod reply;
mod request;
mod tree;
pub mod wire;

pub use mount::{Device, MountError, Mountpoint, UnmountError, clear_stale, is_stale, mount};
pub use tree::{NAME, PAYLOAD_MAX, Tree};
