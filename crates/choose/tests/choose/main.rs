//! Tests of choices, diagnosis and sizing, as one program.

mod agreement;
mod choices;
mod closed;
mod diagnosis;
mod elapsed;
mod explain;
mod hours;
#[path = "../../../analyse/tests/analyse/measured.rs"]
mod measured;
mod real_reports;
mod sizing;
mod slow_waits;
mod typical;
mod watch;
