//! Tests of choices, diagnosis and sizing, as one program.

mod agreement;
mod choices;
mod diagnosis;
mod explain;
mod hours;
mod sizing;
