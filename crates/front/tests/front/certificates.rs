//! Certificates for these tests, created with openssl: two independent authorities, each with a server and a client
//! certificate.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The directories of both authorities; `None` where openssl is not installed.
pub fn certificates() -> Option<(&'static Path, &'static Path)> {
    static MADE: OnceLock<Option<(PathBuf, PathBuf)>> = OnceLock::new();
    let created = MADE.get_or_init(|| Some((authority("ours")?, authority("theirs")?)));
    if created.is_none() {
        eprintln!("skipped: openssl is not installed (Debian: apt-get install openssl)");
    }
    created.as_ref().map(|(ours, theirs)| (ours.as_path(), theirs.as_path()))
}

/// Created once for all runs and renamed into place.
fn authority(name: &str) -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("authority-{name}"));
    if place.exists() {
        return Some(place);
    }
    let directory = place.with_extension(std::process::id().to_string());
    std::fs::create_dir_all(&directory).unwrap();
    // Excludes extensions from the machine's configuration.
    std::fs::write(directory.join("config"), "[req]\ndistinguished_name = name\n[name]\n").unwrap();
    let names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
    certificate(&directory, "ca", name, "basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign")?;
    certificate(&directory, "server", "localhost", names, "extendedKeyUsage=serverAuth")?;
    certificate(&directory, "client", "a client", "subjectAltName=DNS:client", "extendedKeyUsage=clientAuth")?;
    if std::fs::rename(&directory, &place).is_err() {
        // A concurrent run was faster.
        std::fs::remove_dir_all(&directory).unwrap();
    }
    Some(place)
}

fn certificate(directory: &Path, file: &str, subject: &str, what: &str, purpose: &str) -> Option<()> {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(directory).args([
        "req",
        "-config",
        "config",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ]);
    openssl.args(["-nodes", "-days", "3650", "-subj", &format!("/CN={subject}"), "-addext", what, "-addext", purpose]);
    openssl.args(["-keyout", &format!("{file}-key.pem"), "-out", &format!("{file}-cert.pem")]);
    if file != "ca" {
        openssl.args(["-CA", "ca-cert.pem", "-CAkey", "ca-key.pem"]);
    }
    let created = openssl.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    assert!(created.success(), "openssl cannot make {file}-cert.pem");
    Some(())
}
