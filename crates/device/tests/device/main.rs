//! Tests of real storage, as one program.

mod contents;
mod engines;
mod files;
mod root_devices;
mod subject;
mod subject_signatures;
