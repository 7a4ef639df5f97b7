//! Sizing as it is used: windows become a design point, and the design point becomes configurations.
#![allow(clippy::unwrap_used)]

mod platform;
mod search;
mod support;
mod tiers;
mod what_if;
mod windows;
