//! Volume service with files in a temporary directory and NBD clients.
#![allow(clippy::unwrap_used)] // a test's failure is a panic

mod checksums;
mod clones;
mod damage;
mod home;
mod kills;
mod levels;
mod life;
mod lives;
mod recordings;
mod refusals;
