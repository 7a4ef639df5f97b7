//! The web console: its access rules over HTTP, and its pages in Chromium.

mod axe;
mod browser;
mod choose;
mod console;
mod measure;
mod postgres;
mod refusals;
mod tls;
mod volumes;
