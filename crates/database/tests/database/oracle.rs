//! Tests of Oracle that need no server.
#![allow(clippy::unwrap_used)] // a test's failure is a panic

use plimsoll_database::{DatabaseAddress, FailureKind, connect};

fn refused(url: &str) -> plimsoll_database::Failure {
    let address: DatabaseAddress = url.parse().unwrap();
    connect(&address).err().unwrap()
}

#[cfg(not(feature = "oracle"))]
#[test]
fn missing_driver_is_explained() {
    let failure = refused("oracle://me:secret@db.example/orcl");
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert!(failure.message.contains("--features oracle") && !failure.message.contains("secret"), "{failure}");
}

#[cfg(feature = "oracle")]
#[test]
fn silent_or_foreign_server_is_unreachable() {
    use std::io::Write as _;

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("oracle://me:secret@127.0.0.1:{port}/orcl");
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let failure = refused(&url);
    other.join().unwrap();
    // The listener is closed with its thread.
    for failure in [failure, refused(&url)] {
        assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
        assert!(!failure.message.contains("secret") && !failure.message.contains('\n'), "{failure}");
    }
    assert_eq!(refused("oracle://nobody").kind, FailureKind::Unreachable);
}
