//! FUSE from the server's side: a filesystem with one regular file, which is a volume. With a loop device on it, that is
//! a block device on any Linux.
//!
//! A pure codec, messages of the kernel in and requests out, and beside it how such a filesystem is mounted. It is
//! written here because crates for FUSE bring threads of their own, and each hop between those and the one ring loop would
//! cost more than the work itself; of the protocol, one file needs little.

mod mount;
mod reply;
mod request;
mod tree;
pub mod wire;

pub use mount::{Device, MountError, Mountpoint, UnmountError, clear_stale, is_stale, mount};
pub use tree::{NAME, PAYLOAD_MAX, Tree};
