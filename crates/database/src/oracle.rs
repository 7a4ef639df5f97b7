//! Oracle Database, through Oracle's Rust driver, which needs no Oracle client on this machine.
//!
//! Requires the feature `oracle`: the driver is a beta, and includes a TLS library in C. **Compiled, and tested where
//! no server is needed (addresses, splitting of scripts, placeholders, errors, waits; also without the feature), but
//! not run against a server: none was available.**
//!
//! Oracle has no `BEGIN`: transactions begin implicitly. A session here commits after each statement that may have
//! changed data, unless `begin` was called.

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

use crate::address::DatabaseAddress;
use crate::failure::Failure;
use crate::target::Database;

/// Connects to the service at an address.
#[cfg(feature = "oracle")]
pub(crate) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    Ok(Box::new(database::Oracle::connect(address)?))
}

/// Refuses, with instructions to build with the driver.
#[cfg(not(feature = "oracle"))]
pub(crate) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    let advice =
        "this plimsoll was built without its Oracle driver: build with `cargo build --release --features oracle`";
    Err(Failure::new(crate::FailureKind::Unsupported, format!("{address}: {advice}")))
}
