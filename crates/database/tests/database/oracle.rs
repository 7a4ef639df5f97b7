//! Tests of Oracle without its driver.
#![allow(clippy::unwrap_used)] // a test's failure is a panic

use plimsoll_database::{DatabaseAddress, FailureKind, connect};

#[test]
fn missing_driver_is_explained() {
    let address: DatabaseAddress = "oracle://me:secret@db.example/orcl".parse().unwrap();
    let failure = connect(&address).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert!(failure.message.contains("oracle/Cargo.toml") && !failure.message.contains("secret"), "{failure}");
}
