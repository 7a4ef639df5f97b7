//! Serves volumes to clients: a pure codec for each protocol, and one ring loop.
//!
//! Independent of products and models: [`plimsoll_volume::Volumes`] decides when a request is answered.

pub mod check;
pub mod codec;
pub mod descriptors;
mod files;
mod floor;
pub mod fuse;
mod image;
pub mod iscsi;
pub mod nbd;
pub mod notify;
mod offer;
mod pool;
mod protocol;
pub mod served_command;
mod server;
mod slots;
pub mod sockets;
mod sparse;
mod unit;
mod view;

pub use files::{
    CheckedFile, Checksums, DataFiles, DirectoryContents, DirectoryError, Inspection, Recomputed, TornCommit, is_served,
};
pub use image::{Image, ImageError, ImageRequest};
pub use offer::{Blocks, Medium, Offer};
pub use protocol::SocketProtocol;
pub use server::{
    ClientEvent, ClientNotice, ClientNotices, Count, EditFailed, EndReason, Floor, Handle, Limits, ListenerId,
    RecordError, RecordedTrace, Server, ServerEnded, TlsMode, TraceRecorder,
};
