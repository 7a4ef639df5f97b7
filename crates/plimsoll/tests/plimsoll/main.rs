//! Commands on files and models: no server, device or other program.

mod diagnose;
mod diagram;
mod forms;
mod offers;
mod pages;
mod schemas;
mod sizing;
mod what_if;
