//! Tests of the program: truth of synthetic fleets, inputs, replays in one process and on a cluster, and its traps.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod answers;
mod cluster;
mod deployments;
mod formats;
mod inputs;
mod limits;
mod records;
mod replays;
mod support;
