//! The statistics against storage whose truth is known: queues that are simulated or solved exactly.

mod compare;
mod interval;
mod load_line;
mod steady;
mod sweep;
mod toy;
