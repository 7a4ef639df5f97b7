//! `plimsoll check`: verdicts and exit codes on models, and files in a directory.

use crate::folder::{Folder, stderr, stdout};

/// A requirement whose job has too few operations for a verdict.
const OWN: &str = "title = 'Mine'\nabout = 'quick reads'\nassumptions = ['five reads are enough to end soon']\n\
    jobs = '''\n[few]\nrw=read\nbs=4k\nsize=20k\n'''\n[default]\nsource = 'own'\ndate = '2026'\nstatus = 'own'\n\
    [[condition]]\nfigure = 'read p99'\nat_most = '1h'\n[sources.own]\ntitle = 'our runbook'\n";

/// The output of a check that ends with this exit code.
#[track_caller]
fn check(folder: &Folder, arguments: &[&str], code: i32) -> String {
    let output = folder.run(&[&["check"], arguments].concat());
    assert_eq!(output.status.code(), Some(code), "{} {}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn exit_code_follows_the_verdict() {
    let folder = Folder::new("check-codes");
    let met = check(&folder, &["etcd", "station(1, 2ms)"], 0);
    assert!(met.contains("etcd's requirement is met: 99 % of flushes within 2"), "{met}");
    assert!(met.contains("at most 10 ms required - simulated"), "{met}");
    let failed = check(&folder, &["etcd", "station(1, 20ms)"], 1);
    assert!(failed.contains("etcd's requirement is not met: 99 % of flushes within 20"), "{failed}");
    let product = check(&folder, &["vault-large", "aws/gp3:50GiB"], 1);
    assert!(product.contains("Large HashiCorp Vault's requirement is not met: 3,000 IOPS"), "{product}");
}

#[test]
fn few_operations_decide_nothing_and_files_are_removed() {
    let folder = Folder::new("check-own");
    folder.write("own.toml", OWN);
    folder.make("data");
    let text = check(&folder, &["own.toml", "data", "--details"], 3);
    assert!(text.contains("Mine's requirement is undecided: only 0 reads beyond p99"), "{text}");
    assert!(text.contains("five reads are enough to end soon"), "{text}");
    assert_eq!(folder.names("data"), Vec::<String>::new());
}

#[test]
fn requirements_are_listed_and_printed() {
    let folder = Folder::new("check-list");
    let list = check(&folder, &[], 0);
    assert!(list.lines().any(|line| line.starts_with("cockroachdb-4vcpu")), "{list}");
    let text = check(&folder, &["etcd"], 0);
    folder.write("copy.toml", &text);
    check(&folder, &["copy.toml", "station(1, 2ms)"], 0);
    folder.refuses_usage(&["check", "etdc", "."], "did you mean etcd?");
    folder.refuses_usage(&["check", "missing/own.toml", "."], "missing/own.toml");
    folder.refuses_usage(&["check", "etcd", "copy.toml"], "not a directory");
    folder.refuses_usage(&["check", "etcd", "--json"], "name a PATH, too");
}
