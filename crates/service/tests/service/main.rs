//! Volume service with files in a temporary directory and NBD clients.
#![allow(clippy::unwrap_used)] // a test's failure is a panic

mod checksums;
mod clones;
mod control;
mod damage;
mod health;
mod home;
// Of the front: the same small initiator.
#[path = "../../../front/tests/front/initiator.rs"]
#[allow(dead_code)] // not all of it is needed here
mod initiator;
mod kills;
mod levels;
mod life;
mod lives;
mod logged;
mod recordings;
mod refusals;
mod targets;
