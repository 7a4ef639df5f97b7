//! What would be if: other levels, more memory, growth, hot and cold parts apart. Each is worked out by the same sizing
//! that made the present choice.
//!
//! Knows no form of report, no product and no layout.

mod parts;

pub use parts::{keep_parts, parts};
