//! Zones of crates: the table in ARCHITECTURE.md against attributes, clippy settings and tokens.

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};
use super::table::{self, Row, Zone};
use super::tree;

/// Required clippy settings of pure crates.
const FORBIDDEN_IN_PURE: [&str; 16] = [
    "std::env::args",
    "std::env::current_dir",
    "std::env::var",
    "std::fs::File",
    "std::fs::OpenOptions",
    "std::fs::read",
    "std::fs::write",
    "std::io::stdin",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::process::Command",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Settings shared by all crates. Clippy reads only the nearest file, so each crate repeats them.
const SHARED_SETTINGS: &str = "clippy.toml";

fn without_std(row: &Row, root_module: &str) -> Option<Complaint> {
    let attribute = root_module.lines().any(|line| line.trim() == "#![no_std]");
    (row.zone == Zone::NoStd && !attribute).then(|| Complaint {
        place: format!("crates/{}/src/lib.rs", row.name),
        found: "no line #![no_std]".to_owned(),
        allowed: format!("{} is in the zone no_std ({})", row.name, row.place()),
        remedy: "write #![no_std] below the file's documentation".to_owned(),
    })
}

fn settings(row: &Row, own: Option<&str>, shared: &str) -> Vec<Complaint> {
    if row.zone != Zone::Pure {
        return Vec::new();
    }
    let complaint = |found: String, remedy: &str| Complaint {
        place: format!("crates/{}/clippy.toml", row.name),
        found,
        allowed: format!("{} is pure ({}): no clock, thread, file, network or environment", row.name, row.place()),
        remedy: remedy.to_owned(),
    };
    let Some(own) = own else {
        return vec![complaint("no such file".to_owned(), "copy crates/record/clippy.toml")];
    };
    let not_forbidden = FORBIDDEN_IN_PURE.iter().filter(|path| !own.contains(&format!("path = \"{path}\"")));
    let not_shared = shared.lines().filter(|line| !line.trim().is_empty() && !own.lines().any(|own| own == *line));
    not_forbidden
        .map(|path| complaint(format!("does not forbid {path}"), "forbid it, as crates/record/clippy.toml does"))
        .chain(not_shared.map(|line| {
            complaint(format!("lacks the shared setting {line:?}"), "copy the line from clippy.toml at the top")
        }))
        .collect()
}

fn unsafe_code(rows: &[Row], source: &Source) -> Vec<Complaint> {
    let owner = source.path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    if rows.iter().any(|row| row.with_unsafe && Some(row.name.as_str()) == owner) {
        return Vec::new();
    }
    let complaint = |line: &usize| Complaint {
        place: format!("{}:{line}", source.path),
        found: "unsafe".to_owned(),
        allowed: format!("in crates that {} marks `unsafe`", table::DOCUMENT),
        remedy: "use a safe interface (rustix), or move the code to crates/device with a SAFETY comment".to_owned(),
    };
    source.unsafe_lines.iter().map(complaint).collect()
}

#[test]
fn no_crate_leaves_its_zone() {
    let rows = table::read_rows();
    let shared = tree::read_text(SHARED_SETTINGS).unwrap_or_default();
    let mut complaints = Vec::new();
    for row in rows.iter().filter(|row| !row.later) {
        let read = |file: &str| tree::read_text(&format!("crates/{}/{file}", row.name));
        complaints.extend(without_std(row, &read("src/lib.rs").unwrap_or_default()));
        complaints.extend(settings(row, read("clippy.toml").as_deref(), &shared));
    }
    assert_none(&complaints);
}

#[test]
fn unsafe_code_is_where_it_may_be() {
    let rows = table::read_rows();
    assert_none(&sources().iter().flat_map(|source| unsafe_code(&rows, source)).collect::<Vec<_>>());
}

#[test]
fn planted_escapes_are_found() {
    let (rows, complaints) = table::parse(
        "```crates\na <- nothing | no_std | base\nb <- a | pure | middle\nc <- a | shell, unsafe | top\n```",
    );
    assert_none(&complaints);
    assert_found(without_std(&rows[0], "//! a\n// #![no_std]\n").as_slice(), &["crates/a/src/lib.rs: no line"]);
    assert_found(without_std(&rows[0], "//! a\n#![no_std]\n").as_slice(), &[]);
    assert_found(&settings(&rows[1], None, ""), &["crates/b/clippy.toml: no such file"]);
    let all = FORBIDDEN_IN_PURE.map(|path| format!("path = \"{path}\"")).join("\n");
    let max = all.replace("std::thread::sleep", "std::thread::park");
    let expected =
        ["crates/b/clippy.toml: does not forbid std::thread::sleep", "crates/b/clippy.toml: lacks the shared"];
    assert_found(&settings(&rows[1], Some(&max), "allow-unwrap-in-tests = true\n"), &expected);
    let source = |path: &str| Source::parse(path, "fn f() {\n    unsafe {}\n}\n".to_owned());
    assert_found(&unsafe_code(&rows, &source("crates/b/src/x.rs")), &["crates/b/src/x.rs:2: unsafe"]);
    assert_found(&unsafe_code(&rows, &source("crates/c/src/x.rs")), &[]);
}
