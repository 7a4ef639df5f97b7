//! Assumptions about data that the inputs lack, and bounds that the request does not give.

use plimsoll_ingest::Class;
use plimsoll_units::{Bytes, Span};

use super::objective::ClassObjective;

#[derive(Clone, Debug, PartialEq)]
pub enum Assumption {
    /// It determines the load, and not a part of it.
    Load(LoadAssumption),
    /// The operations of this class are not counted: blocks of 8 KiB where its bytes are known, none elsewhere.
    UncountedOperations(Class),
    /// The input counts no writes but those of the log.
    LogWritesOnly,
    /// The input does not count the class of an objective.
    UncountedObjective {
        objective: ClassObjective,
        class: Class,
        /// The class on which it is evaluated instead; `None` if it is not evaluated.
        evaluated_on: Option<Class>,
    },
    /// Response times of the class are too short for storage.
    AnsweredByCache {
        class: Class,
        /// Mean response time today in these windows.
        mean: Span,
        /// Windows with such response times, and all windows that have some.
        windows: [usize; 2],
        /// They determine the load.
        is_decisive: bool,
    },
    /// An objective that the request does not give.
    DefaultObjective {
        class: Class,
        objective: ClassObjective,
        /// Mean response time today; `None` if the input has none.
        today: Option<Span>,
    },
    /// Processors of a host that may be cores without hyper-threading.
    PossibleCores(f64),
    /// The capacity is the size of the database that its report states.
    StoredBytes(Bytes),
    /// The capacity is that of the persistent volume claim, by its metrics.
    ClaimCapacity(Bytes),
}

/// Assumptions about the windows of an input, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadAssumption {
    /// Reads and writes are counted together, and split in proportion to their bytes.
    SplitByBytes,
    /// Reads and writes are not separated: 70 % are assumed to be reads.
    ReadShare,
    /// Some operations have no size: 8 KiB are assumed, 128 KiB for scans and sorts, 4 KiB for the log.
    Sizes,
    /// The same of less than 1 % of the operations.
    FewSizes,
}
