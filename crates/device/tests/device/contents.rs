//! Verified contents through every engine: external modifications are detected, overlapping operations are accepted.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "a skipped test reports the reason")]

mod corruption;
mod engines;
mod nbd;
mod overlap;
mod rig;
mod state;
