//! Suites on databases: the real binary with temporary servers.

mod data;
mod place;
mod stage;
