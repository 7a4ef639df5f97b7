//! The page of each result: the only place that decides its content, order and wording. Knows no output form.

mod catalogue;
mod comparison;
mod curves;
mod demand;
mod diagnosis;
mod explanation;
mod fit;
mod matches;
mod quotes;
mod runs;
mod sizing;
mod suites;
mod what_if;

pub use catalogue::{product, products};
pub use comparison::comparison;
pub use curves::{Sheet, curves};
pub(crate) use demand::measure_name;
pub use demand::{Telling, demand};
use demand::{file_name, shown};
pub use diagnosis::diagnoses;
pub use explanation::explanation;
pub use fit::fit;
pub use matches::{Detail, matches, matches_short};
pub use quotes::quotes;
pub use runs::{KeptRun, runs};
pub use sizing::sizing;
pub use suites::suites;

use crate::page::Cell;
use crate::words::clean;

/// Name of a limit in a cell; a dash for no limit.
fn limit(name: Option<&str>) -> Cell {
    Cell::or_unknown(name, |name| Cell::text(clean(name)))
}
