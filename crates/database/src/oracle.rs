//! Oracle Database, by Oracle's own driver for Rust, which needs no client of Oracle's on this machine.
//!
//! It is built in only with the feature `oracle`: the driver is a beta, and brings a TLS of its own, in C. **It was compiled,
//! and the parts that need no server were tested; it was not run against a server, for there was none.** Those parts are
//! addresses, the splitting of scripts, placeholders, what errors and waits mean; they are tested without the feature too.
//!
//! Oracle has no `BEGIN`: a transaction begins by itself, so a session here commits after each statement that may have
//! changed something, unless it was told to begin.

#[cfg(any(test, feature = "oracle"))]
mod codes;
#[cfg(feature = "oracle")]
mod database;
#[cfg(feature = "oracle")]
mod observer;
#[cfg(any(test, feature = "oracle"))]
mod place;
#[cfg(feature = "oracle")]
mod session;
#[cfg(any(test, feature = "oracle"))]
mod statements;
#[cfg(any(test, feature = "oracle"))]
mod waits;

use crate::address::Address;
use crate::failure::Failure;
use crate::target::Database;

/// Connects to the service at an address.
#[cfg(feature = "oracle")]
pub(crate) fn connect(address: &Address) -> Result<Box<dyn Database>, Failure> {
    Ok(Box::new(database::Oracle::connect(address)?))
}

/// Says how to build a program that could connect.
#[cfg(not(feature = "oracle"))]
pub(crate) fn connect(address: &Address) -> Result<Box<dyn Database>, Failure> {
    let advice =
        "this plimsoll was built without its Oracle driver: build with `cargo build --release --features oracle`";
    Err(Failure::new(crate::Kind::Unsupported, format!("{address}: {advice}")))
}
