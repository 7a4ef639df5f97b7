//! NBD from the server's side, as a pure codec: bytes in and requests out, replies in and bytes out.
//!
//! Knows no socket, no clock and no volume: what is offered comes in as an [`Offer`], what is asked goes out as a
//! request. The numbers are those of [`plimsoll_device::nbd::wire`].

mod handshake;
mod meta;
mod offer;
mod reply;
mod request;

pub use handshake::{Fed, Handshake, Session, Step, Tls};
pub use offer::{Blocks, Medium, Offer, PAYLOAD_MAX};
pub use reply::{Division, Part, Voice};
pub use request::{Ask, Broken, Header, Terms};
