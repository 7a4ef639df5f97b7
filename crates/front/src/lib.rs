//! Volumes for clients outside: a pure codec for each protocol, and one ring loop that serves them.
//!
//! Knows nothing about products or models: when a request is answered is the [`plimsoll_volume::Volumes`]'s to say.

pub mod check;
mod files;
mod floor;
pub mod fuse;
pub mod nbd;
pub mod notify;
mod plain;
mod pool;
mod server;
mod service;
mod slots;
pub mod sockets;
mod sparse;
mod view;

pub use files::{CheckedFile, Checksums, DirectoryError, Files, Held, Inspection, Recomputed, Torn, is_served};
pub use floor::Floor;
pub use plain::Plain;
pub use server::{Count, Door, EditFailed, Ended, Handle, Kept, Limits, RecordError, Server, Tape, TlsMode};
pub use service::Service;
