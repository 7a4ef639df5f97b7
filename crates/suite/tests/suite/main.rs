//! Tests of benchmark suites, as one program.

mod articles;
mod blocks;
mod bonnie;
mod crystaldiskmark;
mod databases;
mod dd;
mod grounds;
mod page_cache;
mod requirements;
mod slob;
mod snia;
mod sql_bench;
mod tiobench;
mod transactions;
mod tune;
mod verify;
mod walfsync;
