//! Connection to Oracle Database through a driver that the program registers.
//!
//! The driver is the package in `oracle/`, outside of the workspace: a beta, with a TLS library in C and many packages.

use std::sync::OnceLock;

use plimsoll_language::label;

use crate::address::DatabaseAddress;
use crate::failure::{Failure, FailureKind};
use crate::target::Database;

/// Connects to the service at an address.
pub type OracleDriver = fn(&DatabaseAddress) -> Result<Box<dyn Database>, Failure>;

static DRIVER: OnceLock<OracleDriver> = OnceLock::new();

/// Sets the driver of `oracle://` addresses for this process. Later calls have no effect.
pub fn register_oracle(driver: OracleDriver) {
    DRIVER.get_or_init(|| driver);
}

/// Connects through the registered driver, or refuses with instructions to build with it.
pub(crate) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    let Some(driver) = DRIVER.get() else {
        let advice = label!(
            "this plimsoll was built without its Oracle driver: build with `cargo build --release \
                      --manifest-path oracle/Cargo.toml`"
        );
        return Err(Failure::new(FailureKind::Unsupported, format!("{address}: {advice}")));
    };
    driver(address)
}
