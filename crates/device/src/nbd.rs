//! NBD from the client's side: a server of block devices as a target, without a kernel driver.
//!
//! [`ExportAddress`] is the address of a server, [`Talk`] the negotiation of an export, and [`Remote`] the target. The wire
//! format is pure, in [`wire`]; the server is in another crate.

mod address;
mod connection;
mod emulation;
mod remote;
mod socket;
mod talk;
pub mod wire;

pub use address::{Encryption, ExportAddress, NbdHost, NoNbdAddress};
pub use connection::Connection;
pub use emulation::{Emulation, NotEmulated};
pub use remote::Remote;
pub use socket::Socket;
pub use talk::{Chosen, Chunk, OptionReply, Talk, TalkError, WireRequest};
