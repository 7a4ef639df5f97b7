//! The binary as its users run it: on files, models, devices, databases and servers, and with third-party clients.
//!
//! Tests that need root, a server or another program print `skipped:` and the reason.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "skipped tests print the reason")]
#![allow(clippy::unwrap_used, reason = "a failed test shows the place")]

mod articles;
#[path = "../../../front/tests/front/certificates.rs"]
mod certificates;
mod check;
mod clouds;
mod collect;
mod command;
mod completion;
mod credits;
mod dashboards;
mod databases;
mod diagnose;
mod diagram;
mod fio;
mod fio_jobs;
mod folder;
mod forms;
mod generated;
mod home;
mod imports;
mod iscsi;
mod language;
#[path = "../../../analyse/tests/analyse/measured.rs"]
mod measured;
mod nbd;
mod offers;
mod otlp;
mod pages;
mod postgres;
mod readme;
mod remote;
mod replay;
mod root_devices;
mod schemas;
mod sizing;
mod suites;
mod volumes;
mod watch;
mod web;
mod what_if;
