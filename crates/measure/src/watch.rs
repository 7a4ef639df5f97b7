//! Loads for a watch: from the counters of a running source, and from the history on disk.

mod feed;
mod log;

pub use feed::{FeedError, LoadFeed, PageReader};
pub use log::{SampleLog, SampleLogError};
