//! The control of a service as its clients meet it: over a Unix socket and over TCP, well and badly meant.
#![allow(clippy::unwrap_used)]

mod asked;
mod document;
mod serving;
mod strangers;
