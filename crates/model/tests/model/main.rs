//! Tests of models, as one program.

mod analytic;
mod laws;
mod page;
mod stages;
