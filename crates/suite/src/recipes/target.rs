//! Requirements that recipes have of their targets.

use plimsoll_units::Bytes;

use crate::ground::Facts;

/// A target does not meet the requirements of a recipe.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub(super) enum TargetError {
    #[error("{0}: it would be written to: name it with --destroy too, if its data may be lost")]
    ReadOnly(String),
    #[error("{name}: {needed} are needed, {available} are available: give a smaller --size")]
    Space { name: String, needed: Bytes, available: Bytes },
    #[error("{0}: this is not a database")]
    NoDatabase(String),
    #[error("direct I/O needs multiples of {grid} bytes here, not {block}: give larger blocks")]
    Grid { block: u64, grid: u64 },
}

/// Checks that a target is writable and has `needed` bytes.
pub(super) fn check_writable(facts: &Facts, needed: Bytes) -> Result<(), TargetError> {
    if facts.read_only { Err(TargetError::ReadOnly(facts.subject.name.clone())) } else { check_space(facts, needed) }
}

/// Checks that a target has `needed` bytes.
pub(super) fn check_space(facts: &Facts, needed: Bytes) -> Result<(), TargetError> {
    let (name, available) = (&facts.subject.name, facts.space);
    if needed <= available { Ok(()) } else { Err(TargetError::Space { name: name.clone(), needed, available }) }
}

/// Checks that a block can be accessed with direct I/O.
pub(super) fn check_grid(grid: u64, block: u64) -> Result<(), TargetError> {
    if block.is_multiple_of(grid.max(1)) { Ok(()) } else { Err(TargetError::Grid { block, grid }) }
}
