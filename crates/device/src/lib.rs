//! Real storage as a target, and what can be known of it and of the host.
//!
//! The shell of the engines: clocks, kernels, files and threads are here and nowhere above. Knows nothing about
//! sweeps, statistics or reports. Writes to nothing that it did not make, unless it was named for destruction.

mod buffers;
mod clock;
mod engine;
mod file;
mod null;
mod ring;
mod threads;
mod usage;

pub use clock::Clock;
pub use engine::{Engine, Shape};
pub use file::{Access, Caching, Opened, open, scratch, sync, truncate};
pub use null::Null;
pub use ring::Ring;
pub use threads::Threads;
pub use usage::{cpu_time, sharpen_timers};
