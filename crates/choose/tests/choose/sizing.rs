//! Sizing from windows to the design point, and from the design point to configurations.
#![allow(clippy::unwrap_used)]

mod conditions;
mod long;
mod platform;
mod search;
mod support;
mod tiers;
mod what_if;
mod windows;
