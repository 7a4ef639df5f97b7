//! All forms of every command with a page: text, JSON, HTML, Markdown and CSV.

use std::fs;

use unicode_width::UnicodeWidthStr;

use crate::folder::Folder;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");

/// A suite in virtual time.
pub const SUITE: [&str; 9] = ["suite", "dd", "station(1, 1ms)", "--bs", "64KiB", "--count", "4", "--kinds", "direct"];

/// A directory with a run that counts as measured.
pub fn write_measured_run(name: &str) -> Folder {
    let folder = Folder::new(name).env("COLUMNS", "80");
    folder.text(&["simulate", "bank(16, 90us, lognormal 0.3)", "--quick", "--reads", "100", "--json", "run.json"]);
    let measured = as_measured(&folder.read("run.json"));
    folder.make("runs");
    for name in ["run.json", "runs/20260101000000-disk.json"] {
        folder.write(name, &measured);
    }
    folder
}

/// The JSON of a simulated run, with the source of a measured one.
pub fn as_measured(run: &str) -> String {
    let start = run.find("\"source\":{").expect("a run has a source");
    let end = start + run[start..].find('}').expect("an object ends");
    format!("{}\"source\":{{\"kind\":\"measured\",\"engine\":\"io_uring\"{}", &run[..start], &run[end..])
}

/// Checks every form of a command: all contain `reported`, and `format` is that of JSON.
#[track_caller]
fn check(folder: &Folder, command: &[&str], reported: &str, format: &str) {
    let form = |flag: &'static str| {
        let option = format!("{flag}=-");
        let arguments: Vec<&str> = command.iter().copied().chain([option.as_str()]).collect();
        folder.text(&arguments)
    };
    let text = folder.text(command);
    assert!(text.contains(reported) && !text.contains('\u{1b}'), "{reported} in {text}");
    let json: serde_json::Value = serde_json::from_str(&form("--json")).expect("it is JSON");
    assert_eq!(json["format"], format);
    let html = form("--html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains(reported), "{command:?}: {reported} in the page");
    let markdown = form("--markdown");
    assert!(markdown.starts_with("# ") && markdown.contains(reported), "{reported} in {markdown}");
    let csv = form("--csv");
    assert!(csv.ends_with("\r\n") && csv.contains(reported), "{reported} in {csv}");
}

#[test]
fn commands_about_products_have_every_form() {
    let folder = write_measured_run("products");
    let two = ["quote", "aws/gp3:500GiB,iops=12000", "azure/premium-ssd:P30"];
    check(&folder, &two[..2], "aws/gp3:500GiB,iops=12000", "plimsoll.quote/1");
    check(&folder, &two, "azure/premium-ssd:1024GiB,P30", "plimsoll.quote/1");
    check(&folder, &["catalogue"], "aws/gp3", "plimsoll.catalogue/1");
    check(&folder, &["prices"], "aws", "plimsoll.prices/1");
    check(&folder, &["check"], "etcd", "plimsoll.requirements/1");
    check(&folder, &["catalogue", "show", "aws/gp3"], "throughput as provisioned", "plimsoll.product/1");
    let gp3 = include_str!("../../../../catalogue/aws/gp3.toml");
    folder.write("own.toml", gp3);
    check(&folder, &["catalogue", "check", "own.toml"], "own.toml", "plimsoll.product-check/1");
    folder.write("bad.toml", gp3.replacen("kind = \"volume\"", "kind = \"vault\"", 1));
    let output = folder.run(&["catalogue", "check", "own.toml", "bad.toml", "--json", "-"]);
    assert_eq!(output.status.code(), Some(1), "a defect is a failure");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let valid: Vec<_> = json["files"].as_array().expect("files").iter().map(|file| &file["valid"]).collect();
    assert_eq!(valid, [true, false]);
    assert_eq!(json["files"][1]["defects"][0]["line"], 5);
}

#[test]
fn commands_about_runs_have_every_form() {
    let folder = write_measured_run("runs");
    check(&folder, &["match", "run.json"], "aws/gp3", "plimsoll.match/1");
    check(&folder, &["explain", "run.json", "--as", "aws/gp3:100GiB"], "depth 1", "plimsoll.explanation/1");
    let read = |command: &[&str]| -> serde_json::Value {
        serde_json::from_str(&folder.text(&[command, &["--json=-"]].concat())).expect("it is JSON")
    };
    let explained = read(&["explain", "run.json", "--as", "aws/gp3:100GiB"]);
    assert_eq!(explained["causes"][0]["kind"], "above-ceiling", "{explained}");
    assert!(explained["causes"][0]["measured_iops"].as_f64().expect("a figure") > 3_000.0, "{explained}");
    check(&folder, &["fit", "run.json"], "dies", "plimsoll.fit/2");
    let fitted = read(&["fit", "run.json"]);
    for reason in [&fitted["doubts"][0], &fitted["parameters"][0]["identified_by"]] {
        assert!(reason["kind"].is_string() && reason["text"].is_string(), "{fitted}");
    }
    check(&folder, &["compare", "run.json", "run.json"], "no real change", "plimsoll.comparison/2");
    check(&folder, &["runs"], "20260101000000-disk", "plimsoll.runs/1");
}

#[test]
fn commands_about_the_program_have_every_form() {
    let folder = write_measured_run("program");
    check(&folder, &["presets"], "redo", "plimsoll.presets/1");
    check(&folder, &["presets", "redo"], "block_size", "plimsoll.presets/1");
    let template = folder.text(&["presets", "redo"]);
    assert_eq!(template, include_str!("../../../measure/presets/redo.toml"), "it is a template");
    check(&folder, &["config"], "no configuration file", "plimsoll.config/1");
    folder.write("config.toml", "currency = \"JPY\"\n");
    let folder = folder.env("PLIMSOLL_CONFIG", "config.toml");
    check(&folder, &["config"], "JPY", "plimsoll.config/1");
    fs::rename(folder.join("config.toml"), folder.join("other.toml")).expect("the file is renamed");
    let missing = folder.run(&["presets"]);
    assert_eq!(missing.status.code(), Some(2), "a missing file is not ignored");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("PLIMSOLL_CONFIG names no file (config.toml)"));
    fs::rename(folder.join("other.toml"), folder.join("config.toml")).expect("the file is renamed");
    check(&folder, &["runs", "prune", "--keep", "9"], "", "plimsoll.changes/1");
}

#[test]
fn measurements_and_suites_have_every_form() {
    let folder = write_measured_run("measured");
    let line = |n: u32| format!("{},read,{},4096", n * 10_000_000, n * 4_096);
    let lines: Vec<String> = (0..200).map(line).collect();
    let replay = format!("#plimsoll.trace/1\ntime_ns,kind,offset,length\n{}\n", lines.join("\n"));
    folder.write("load.trace", replay);
    let forms = ["--html", "--markdown", "--csv"];
    let kinds: [(&[&str], &str); 5] = [
        (&["simulate", "link(1ms)", "--depth", "1,2", "--duration", "1s"], "link(1ms)"),
        (&["simulate", "link(1ms)", "link(2ms)", "--depth", "1", "--duration", "1s"], "link(2ms)"),
        (&["simulate", "link(1ms)", "link(2ms)", "--replay", "load.trace"], "link(2ms)"),
        (&["report", "run.json"], "p99"),
        (&SUITE, "station(1, 1ms)"),
    ];
    for (command, reported) in kinds {
        let text = folder.text(command);
        assert!(text.contains(reported), "{reported} in {text}");
        for form in forms {
            let written = folder.text(&[command, &[form, "-"]].concat());
            assert!(written.contains(reported), "{command:?} {form}: {reported} in {written}");
        }
    }
    let both = folder.run(&["report", "run.json", "run.json", "--json", "-"]);
    assert_eq!(both.status.code(), Some(2), "JSON takes one run");
}

#[test]
fn commands_about_reports_have_every_form() {
    let folder = write_measured_run("reports");
    check(&folder, &["demand", SAMPLES], "random reads", "plimsoll.demand/1");
    let report = format!("{SAMPLES}/awr.html");
    check(&folder, &["diagnose", &report], "random reads", "plimsoll.diagnosis/1");
    check(&folder, &["size", &report, "--capacity", "500GiB", "--may-be-slower"], "oci", "plimsoll.sizing/1");
}

#[test]
fn forms_are_written_in_addition_to_text() {
    let folder = write_measured_run("files");
    let quote = ["quote", "oci:100GB@10vpu", "--html", "q.html", "--markdown", "q.md", "--csv", "q.csv"];
    let output = folder.run(&quote);
    assert!(String::from_utf8_lossy(&output.stdout).contains("carries"));
    let stated = String::from_utf8_lossy(&output.stderr);
    for name in ["q.html", "q.md", "q.csv"] {
        assert!(!folder.bytes(name).is_empty(), "{name}");
        assert!(stated.contains(&format!("plimsoll: wrote {name}\n")), "{name}: {stated}");
    }
    let silent = folder.text(&["quote", "oci:100GB@10vpu", "--json", "q.json"]);
    assert!(silent.is_empty(), "JSON replaces the text: {silent}");
    let both = folder.run(&["quote", "oci:100GB@10vpu", "--json", "-", "--csv", "-"]);
    assert_eq!((both.status.code(), both.stdout.len()), (Some(2), 0));
    let refused = folder.run(&["quote", "oci:100GB@10vpu", "--html", "nowhere/q.html"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn text_of_80_columns_has_no_longer_line_and_no_cut_table() {
    let folder = write_measured_run("columns");
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
        let text = folder.text(command);
        for line in text.lines().filter(|line| !line.contains("plimsoll ") && !line.contains("https://")) {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
            assert!(!line.ends_with('…'), "{command:?} is cut: {line}");
        }
    }
}

/// The line with the path of a kept run, which is not wrapped.
fn is_run_path(line: &str) -> bool {
    line.starts_with("Kept as") || line.ends_with("として保存")
}

/// Checks that text is the first screen of a result: 24 lines of 80 columns, except those of commands, which are copied whole.
#[track_caller]
fn check_screen(command: &[&str], text: &str) {
    assert!(text.lines().count() <= 24, "{command:?}: {} lines:\n{text}", text.lines().count());
    for line in text.lines().filter(|line| !line.contains("plimsoll ") && !is_run_path(line)) {
        assert!(line.width() <= 80, "{command:?}: {line}");
    }
    let answer: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).flat_map(str::split_whitespace).collect();
    // With the origin, such as `- simulated`; on a busy host, an alert precedes the answer of a measurement.
    assert!(answer.len() <= 27 || command[0] == "measure", "{command:?}: {} words: {}", answer.len(), answer.join(" "));
    let is_caution = |line: &&str| ["caution ", "注意 "].iter().any(|word| line.starts_with(word));
    assert!(text.lines().filter(is_caution).count() <= 3, "{command:?}:\n{text}");
}

#[test]
fn every_first_screen_fits_in_both_languages() {
    let folder = write_measured_run("screens").env("PLIMSOLL_DETAILS", "false");
    let report = |name: &str| format!("{SAMPLES}/{name}");
    let (awr, iostat, statspack) = (report("awr.html"), report("iostat.txt"), report("statspack.txt"));
    folder.text(&["simulate", "aws/gp3:100GiB", "--quick", "--json", "gp3.json"]);
    let commands: [&[&str]; 20] = [
        &["measure", ".", "--size", "16MiB", "--quick"],
        &["report", "run.json"],
        &["report", "run.json", "gp3.json"],
        &["size", &awr, "--capacity", "500GiB"],
        &["size", &statspack, "--capacity", "2TiB", "--may-be-slower"],
        &["diagnose", &awr],
        &["diagnose", &iostat],
        &["demand", &awr],
        &["quote", "oci:500GB@20vpu", "aws/gp3:500GiB"],
        &["match", "run.json"],
        &["simulate", "oci:500GB@20vpu", "--quick"],
        &["simulate", "aws/gp3:100GiB", "--depth", "8", "--duration", "1s"],
        &SUITE,
        &["suite", "tiobench", "oci:50GB@20vpu"],
        &["compare", "run.json", "gp3.json"],
        &["explain", "run.json", "--as", "aws/gp3:100GiB"],
        &["fit", "run.json"],
        &["check", "etcd", "oci:50GB@20vpu"],
        &["history", "run.json", "gp3.json"],
        &["doctor", "."],
    ];
    for command in commands {
        for language in ["en", "ja"] {
            let output = folder.run(&[command, &["--lang", language]].concat());
            check_screen(command, &String::from_utf8_lossy(&output.stdout));
        }
    }
    check_screen(&["--help"], &folder.text(&["--help"]));
}
