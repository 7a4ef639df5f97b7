//! Tests of database sessions and servers, as one program.

mod mysql;
mod oracle;
mod postgres;
mod sqlite;
