//! The suites: one module for each classic benchmark.

pub mod articles;
pub mod bonnie;
pub mod calibrate;
mod commits;
pub mod crystaldiskmark;
pub mod dd;
pub mod iozone;
mod phase;
pub mod slob;
pub mod snia;
pub mod sql_bench;
pub mod tiobench;
pub mod verify;
pub mod walfsync;
