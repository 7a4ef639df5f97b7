//! Output formats, compared with fio's output of the same figures, and read back by parsers.
#![cfg(test)]

#[path = "print/beside_fio.rs"]
mod beside_fio;
#[path = "print/figures.rs"]
mod figures;
#[path = "print/laws.rs"]
mod laws;
#[path = "print/read_back.rs"]
mod read_back;
#[path = "print/readers.rs"]
mod readers;
#[path = "print/samples.rs"]
mod samples;
