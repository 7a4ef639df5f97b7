//! The suites: a module per classic benchmark.

pub mod articles;
pub mod bonnie;
mod commits;
pub mod crystaldiskmark;
#[cfg(test)]
mod databases;
pub mod dd;
mod evidence;
pub mod ladder;
mod numbers;
pub mod oltp;
mod phase;
pub mod slob;
pub mod snia;
pub mod sql_bench;
mod target;
pub mod tiobench;
pub mod tune;
pub mod verify;
pub mod walfsync;

pub(crate) use commits::durable;
