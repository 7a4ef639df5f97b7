//! Loads for a watch: from the counters of a running source, and from the history on disk.

mod feed;
mod log;
mod target;

pub use feed::{FeedError, LoadFeed, PageReader, sample_all};
pub use log::{SampleLog, SampleLogError};
pub use target::name_target;
