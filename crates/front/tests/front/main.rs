//! The front from outside: hostile bytes for the codec, clients on sockets, and the check of servers.
#![allow(clippy::unwrap_used)] // a test's failure is a panic

mod check;
mod hostile;
mod serve;
mod serving;
mod volumes;
