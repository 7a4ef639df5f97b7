//! Rejection of invalid certificates and data, without a connection.

use std::path::Path;

use super::*;

fn check(text: &str, files: &[(&str, &str)]) {
    let directory = std::env::temp_dir().join(format!("plimsoll-tls-{}-{}", std::process::id(), files.len()));
    std::fs::create_dir_all(&directory).unwrap();
    for (name, content) in files {
        std::fs::write(directory.join(name), content).unwrap();
    }
    let server = Identity::read(&directory, Peers::Verified).unwrap_err().to_string();
    let client = Trust::read(Some(&directory), ServerNames::Matching).unwrap_err().to_string();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(format!("{server}\n{client}").contains(text), "{server}\n{client}");
}

#[test]
fn bad_files_are_named() {
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    check("server-cert.pem: No such file", &[]);
    check("ca-cert.pem: no certificate in PEM form in it", &[("ca-cert.pem", "hello")]);
    check("server-key.pem: No such file", &[("ca-cert.pem", pem), ("server-cert.pem", pem)]);
    let no_key = [("ca-cert.pem", pem), ("server-cert.pem", pem), ("server-key.pem", pem)];
    check("server-key.pem: no private key in PEM form", &no_key);
}

#[test]
fn missing_authority_is_reported_with_a_remedy() {
    let error = Trust::read(None, ServerNames::Matching).unwrap_err().to_string();
    assert!(error.contains("tls-certificates=DIRECTORY"), "{error}");
    assert!(Trust::read(None, ServerNames::Anyone).is_ok());
    assert!(Trust::read(Some(Path::new("/nonexistent")), ServerNames::Any).is_err());
}

#[test]
fn non_tls_data_is_an_error() {
    let trust = Trust::read(None, ServerNames::Anyone).unwrap();
    let mut channel = Channel::client(&trust, "localhost").unwrap();
    channel.room()[..5].copy_from_slice(b"HTTP/");
    channel.received(5);
    assert_eq!(channel.open(&mut [0; 16]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    assert!(Channel::client(&trust, "not a name").is_err());
}
