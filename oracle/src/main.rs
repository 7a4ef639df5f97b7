//! The program `plimsoll` with a driver for Oracle Database.
//!
//! The driver is Oracle's for Rust, which needs no Oracle client on this machine. It is a beta, and includes a TLS
//! library in C: therefore a package of its own. Not run against a server: see the README.
//!
//! Oracle has no `BEGIN`: transactions begin implicitly. A session here commits after each statement that may have
//! changed data, unless `begin` was called.

mod codes;
mod database;
mod observer;
mod place;
mod session;
mod statements;
mod waits;

use std::process::ExitCode;

fn main() -> ExitCode {
    plimsoll_database::register_oracle(database::connect);
    plimsoll::main()
}
