//! The web console: its access rules over HTTP, and its pages in Chromium.
#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stderr, reason = "a test that is skipped gives the reason")]

mod axe;
mod browser;
mod choose;
mod console;
mod measure;
mod postgres;
mod refusals;
mod tls;
mod volumes;
