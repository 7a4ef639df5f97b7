//! Every form that is known: one line each.

use crate::awr;
use crate::diskstats;
use crate::format::Form;

/// Every form that is known. Among those that look alike, the one with more marks is taken, then the first.
pub const FORMS: &[Form] = &[awr::HTML, awr::TEXT, awr::STATSPACK, diskstats::FORM];
