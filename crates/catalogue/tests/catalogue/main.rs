//! Tests of the catalogue, as one program.

mod built_in;
mod facts;
mod files;
mod managed;
mod offers;
mod page;
mod price_lists;
mod requirements;
mod steps;
