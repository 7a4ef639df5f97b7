//! Tests of the statistics with queues that are simulated or solved exactly.

mod compare;
mod estimate;
mod fit;
mod interval;
mod lines;
mod load_line;
mod measured;
mod queue;
mod steady;
mod sweep;
mod toy;
mod tune;
