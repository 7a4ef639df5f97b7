//! Control API of a service over Unix and TCP sockets, with valid, invalid and hostile clients.
#![allow(clippy::unwrap_used)]

mod asked;
mod document;
mod serving;
mod strangers;
