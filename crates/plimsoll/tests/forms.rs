//! Every command with a page, in each of its forms: text, JSON, HTML, Markdown and CSV.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");

/// A folder with a run that counts as measured.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("forms-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("runs")).expect("the folder can be made");
        let folder = Self(path);
        let simulate = ["simulate", "bank(16, 90us, lognormal 0.3)", "--quick", "--reads", "100", "--json", "run.json"];
        assert!(folder.run(&simulate).status.success());
        let text = fs::read_to_string(folder.0.join("run.json")).expect("it was written");
        let start = text.find("\"source\":{").expect("a run has a source");
        let end = start + text[start..].find('}').expect("an object ends");
        let source = "\"source\":{\"kind\":\"measured\",\"engine\":\"io_uring\"";
        let measured = format!("{}{source}{}", &text[..start], &text[end..]);
        for name in ["run.json", "runs/20260101000000-disk.json"] {
            fs::write(folder.0.join(name), &measured).expect("a file can be made");
        }
        folder
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(arguments)
            .current_dir(&self.0)
            .env("PLIMSOLL_RUNS", self.0.join("runs"))
            .env("XDG_CONFIG_HOME", self.0.join("config"))
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "80")
            .output()
            .expect("the command starts")
    }

    #[track_caller]
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it is UTF-8")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Every form of a command: `said` is in all of them, `format` is that of JSON.
#[track_caller]
fn check(folder: &Folder, command: &[&str], said: &str, format: &str) {
    let form = |flag: &'static str| {
        let arguments: Vec<&str> = command.iter().copied().chain([flag, "-"]).collect();
        folder.prints(&arguments)
    };
    let text = folder.prints(command);
    assert!(text.contains(said) && !text.contains('\u{1b}'), "{said} in {text}");
    let json: serde_json::Value = serde_json::from_str(&form("--json")).expect("it is JSON");
    assert_eq!(json["format"], format);
    let html = form("--html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains(said), "{command:?}: {said} in the page");
    let markdown = form("--markdown");
    assert!(markdown.starts_with("# ") && markdown.contains(said), "{said} in {markdown}");
    let csv = form("--csv");
    assert!(csv.ends_with("\r\n") && csv.contains(said), "{said} in {csv}");
}

#[test]
fn commands_about_products_have_every_form() {
    let folder = Folder::new("products");
    let two = ["quote", "aws/gp3:500GiB,iops=12000", "azure/premium-ssd:P30"];
    check(&folder, &two[..2], "aws/gp3:500GiB,iops=12000", "plimsoll.quote/1");
    check(&folder, &two, "azure/premium-ssd:1024GiB,P30", "plimsoll.quote/1");
    check(&folder, &["catalogue"], "aws/gp3", "plimsoll.catalogue/1");
    check(&folder, &["catalogue", "show", "aws/gp3"], "throughput as provisioned", "plimsoll.product/1");
}

#[test]
fn commands_about_runs_have_every_form() {
    let folder = Folder::new("runs");
    check(&folder, &["match", "run.json"], "aws/gp3", "plimsoll.match/1");
    check(&folder, &["explain", "run.json", "--as", "aws/gp3:100GiB"], "depth 1", "plimsoll.explanation/1");
    check(&folder, &["fit", "run.json"], "dies", "plimsoll.fit/1");
    check(&folder, &["compare", "run.json", "run.json"], "no real change", "plimsoll.comparison/1");
    check(&folder, &["runs"], "20260101000000-disk", "plimsoll.runs/1");
}

#[test]
fn commands_about_reports_have_every_form() {
    let folder = Folder::new("reports");
    check(&folder, &["demand", SAMPLES], "random reads", "plimsoll.demand/1");
    let report = format!("{SAMPLES}/awr.html");
    check(&folder, &["diagnose", &report], "random reads", "plimsoll.diagnosis/1");
    check(&folder, &["size", &report, "--capacity", "500GiB", "--may-be-slower"], "oci", "plimsoll.sizing/1");
}

#[test]
fn forms_are_files_beside_the_text() {
    let folder = Folder::new("files");
    let quote = ["quote", "oci:100GB@10vpu", "--html", "q.html", "--markdown", "q.md", "--csv", "q.csv"];
    assert!(folder.prints(&quote).contains("carries"));
    for name in ["q.html", "q.md", "q.csv"] {
        assert!(fs::metadata(folder.0.join(name)).is_ok_and(|file| file.len() > 0), "{name}");
    }
    let silent = folder.prints(&["quote", "oci:100GB@10vpu", "--json", "q.json"]);
    assert!(silent.is_empty(), "JSON replaces the text: {silent}");
    let refused = folder.run(&["quote", "oci:100GB@10vpu", "--html", "nowhere/q.html"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn text_of_80_columns_has_no_longer_line_and_no_cut_table() {
    let folder = Folder::new("columns");
    let report = format!("{SAMPLES}/awr.html");
    let commands: [&[&str]; 7] = [
        &["quote", "aws/gp3:500GiB,iops=12000", "azure/premium-ssd:P30"],
        &["catalogue"],
        &["catalogue", "show", "aws/gp3"],
        &["match", "run.json"],
        &["demand", SAMPLES],
        &["diagnose", SAMPLES],
        &["size", &report, "--capacity", "500GiB"],
    ];
    for command in commands {
        let text = folder.prints(command);
        for line in text.lines().filter(|line| !line.contains("plimsoll ") && !line.contains("https://")) {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
            assert!(!line.ends_with('…'), "{command:?} is cut: {line}");
        }
    }
}
