//! Tests of the loop and the simulator, as one program.

mod measured_loop;
mod page_cache;
mod replay;
