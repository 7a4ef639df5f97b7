//! NBD from the client's side: a server of block devices as a target, without a kernel driver.
//!
//! [`Address`] says where a server is, [`Talk`] holds the conversation that chooses an export, and [`Remote`] is the
//! target. What is on the wire is pure and stands in [`wire`]; the server's side is another crate's.

mod address;
mod connection;
mod emulation;
mod outgoing;
mod remote;
mod socket;
mod talk;
pub mod tls;
pub mod wire;

pub use address::{Address, Encryption, Host, NoAddress};
pub use connection::Connection;
pub use emulation::{Emulation, NotEmulated};
pub use outgoing::{Outgoing, Payload};
pub use remote::Remote;
pub use socket::Socket;
pub use talk::{Asked, Chosen, Chunk, Said, Talk, TalkError};
