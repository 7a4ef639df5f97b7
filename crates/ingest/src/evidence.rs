//! What a benchmark got of its storage: evidence of what storage gives, not demand for it.

use crate::figure::Origin;

/// One result: what a load got. What the input does not say is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// On what: a number of [`crate::Reading::scopes`].
    pub scope: u32,
    /// The test as its program calls it.
    pub test: String,
    /// What was asked.
    pub setting: Setting,
    /// Operations a second.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bytes_s: Option<f64>,
    /// Transactions a second, of benchmarks that ask a database. They say nothing of storage without its own figures.
    pub transactions_s: Option<f64>,
    /// Mean latency in seconds; of transactions, where these are counted.
    pub mean_s: Option<f64>,
    /// Latencies in seconds by quantile, 0 to 1, ascending.
    pub quantiles: Vec<(f64, f64)>,
    /// Seconds that it lasted.
    pub lasted_s: Option<f64>,
    /// Of one of many moments of a test: seconds from the test's beginning to that of the moment. None for a whole test.
    pub at_s: Option<f64>,
    /// Where it was read.
    pub origin: Origin,
}

impl Evidence {
    /// A result of which nothing but its test is known yet.
    pub fn new(scope: u32, test: impl Into<String>, origin: Origin) -> Self {
        Self {
            scope,
            test: test.into(),
            setting: Setting::default(),
            iops: None,
            bytes_s: None,
            transactions_s: None,
            mean_s: None,
            quantiles: Vec::new(),
            lasted_s: None,
            at_s: None,
            origin,
        }
    }
}

/// What a benchmark asked of its storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Share of reads, 0 to 1.
    pub reads: Option<f64>,
    /// True for one address after the other, false for random ones.
    pub sequential: Option<bool>,
    /// Bytes of an operation.
    pub block_bytes: Option<f64>,
    /// Operations in flight, of all threads together.
    pub depth: Option<f64>,
    /// Threads, processes or sessions.
    pub threads: Option<f64>,
}
