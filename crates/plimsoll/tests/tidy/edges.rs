//! Edges between crates: the table in ARCHITECTURE.md against the manifests.

use super::complaint::{Complaint, assert_found, assert_none};
use super::table::{self, Row};
use super::workspace::{self, Dependency, Package};

/// Runtimes that belong to crates marked `async` only.
const RUNTIMES: [&str; 6] = ["tokio", "async-std", "smol", "monoio", "glommio", "futures"];

fn check(rows: &[Row], packages: &[Package]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in packages {
        let Some(index) = rows.iter().position(|row| row.name == package.name) else {
            complaints.push(unlisted(package));
            continue;
        };
        for dependency in &package.dependencies {
            complaints.extend(forbidden(package, dependency, &rows[index], &rows[..index]));
        }
    }
    for row in rows {
        let exists = packages.iter().any(|package| package.name == row.name);
        if exists == row.later {
            complaints.push(misdated(row, exists));
        }
    }
    complaints
}

fn forbidden(package: &Package, dependency: &Dependency, row: &Row, below: &[Row]) -> Option<Complaint> {
    let Dependency { name, inside, dev } = dependency;
    let (allowed, remedy) = if !inside {
        if *dev || row.with_async || !RUNTIMES.contains(&name.as_str()) {
            return None;
        }
        ("async runtimes in crates marked `async`".to_owned(), "wait in a thread or a ring instead".to_owned())
    } else if *dev {
        if below.iter().any(|other| other.name == *name) {
            return None;
        }
        let names: Vec<&str> = below.iter().map(|other| other.name.as_str()).collect();
        (
            format!("for tests, any crate that stands above it in {}: {}", row.place(), names.join(", ")),
            "move the test up to the crate that knows both".to_owned(),
        )
    } else {
        if row.uses.contains(name) {
            return None;
        }
        (
            format!("{} <- {} ({})", row.name, row.uses.join(" "), row.place()),
            "remove the dependency; if the edge is right, argue for it in the commit that adds it to the table"
                .to_owned(),
        )
    };
    Some(Complaint { place: package.place_of(dependency), found: format!("{} uses {name}", row.name), allowed, remedy })
}

fn unlisted(package: &Package) -> Complaint {
    Complaint {
        place: package.manifest(),
        found: format!("crate {} is not in the table of crates", package.name),
        allowed: format!("crates that have a line in {}", table::DOCUMENT),
        remedy: format!("add its line there: {} <- what it may use | zone | what it is", package.name),
    }
}

fn misdated(row: &Row, exists: bool) -> Complaint {
    let (found, remedy) = if exists {
        ("is marked `later`, and exists", "remove the mark")
    } else {
        ("does not exist", "mark the line `later`, or remove it")
    };
    Complaint {
        place: row.place(),
        found: format!("crate {} {found}", row.name),
        allowed: "`later` on the crates that do not exist yet, and only on them".to_owned(),
        remedy: remedy.to_owned(),
    }
}

#[test]
fn every_edge_is_in_the_table() {
    assert_none(&check(&table::read_rows(), workspace::list_packages()));
}

#[test]
fn planted_edges_are_found() {
    let (rows, complaints) = table::parse(
        "```crates\n\
         a <- nothing | pure | base\n\
         b <- a | pure | middle\n\
         c <- a | shell | top\n\
         d <- a | shell, later | planned\n\
         e <- a | shell | gone\n\
         ```",
    );
    assert_none(&complaints);
    let dependency = |name: &str, inside, dev| Dependency { name: name.to_owned(), inside, dev };
    let package = |name: &str, dependencies| Package {
        name: name.to_owned(),
        directory: name.to_owned(),
        dependencies,
        ..Package::default()
    };
    let packages = [
        package("a", vec![dependency("b", true, true)]),
        package("b", vec![dependency("a", true, false), dependency("serde", false, false)]),
        package(
            "c",
            vec![dependency("b", true, false), dependency("b", true, true), dependency("tokio", false, false)],
        ),
        package("d", vec![]),
        package("f", vec![]),
    ];
    let expected = [
        "a/Cargo.toml: a uses b",
        "c/Cargo.toml: c uses b",
        "c/Cargo.toml: c uses tokio",
        "f/Cargo.toml: crate f is not in the table",
        "ARCHITECTURE.md:5: crate d is marked `later`, and exists",
        "ARCHITECTURE.md:6: crate e does not exist",
    ];
    assert_found(&check(&rows, &packages), &expected);
}
