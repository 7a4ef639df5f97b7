//! Output formats, compared with fio's output of the same figures, and read back by parsers.

mod beside_fio;
mod figures;
mod laws;
mod read_back;
mod readers;
mod samples;
