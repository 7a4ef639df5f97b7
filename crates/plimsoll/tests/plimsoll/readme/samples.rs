//! Sample outputs in documents are those of the program, and the picture of a terminal is drawn from one.
//!
//! `UPDATE_GENERATED=1` writes them. In a sample, `...` stands for omitted lines.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::split_words;
use crate::folder::Folder;
use crate::forms::as_measured;

/// Beginnings of the commands whose output depends on their arguments only.
const DETERMINISTIC: [&str; 7] = [
    "check etcd aws/",
    "diagnose samples/",
    "match --iops",
    "quote aws/",
    "simulate oci:",
    "size samples/",
    "suite crystaldiskmark azure/",
];
/// Commands with an age of documents in their output.
const DATED: [&str; 4] = ["match", "quote", "simulate", "size"];
const PICTURE: &str = "plimsoll simulate oci:256GB@50vpu";
/// Letters that identify the first line of a part of a sample.
const KEY: usize = 4;

/// The files that the commands name, and a last run.
fn prepare() -> Folder {
    let folder = Folder::new("samples").env("PLIMSOLL_DETAILS", "0").env("COLUMNS", "80");
    folder.make("samples");
    folder.write("samples/awr.html", include_bytes!("../../../../../samples/awr.html"));
    folder.text(&["simulate", "bank(16, 90us, lognormal 0.3)", "--quick", "--json", "last.json"]);
    folder.make("runs");
    folder.write("runs/20991231000000-disk.json", as_measured(&folder.read("last.json")));
    folder
}

/// Lines of the output of a command in a language; empty if it depends on the host.
fn run_sample(folder: &Folder, command: &str, language: &str) -> Vec<String> {
    let arguments = command.strip_prefix("plimsoll ").unwrap_or_default();
    if !DETERMINISTIC.iter().any(|begin| arguments.starts_with(begin)) {
        return Vec::new();
    }
    let mut arguments = split_words(arguments);
    if DATED.contains(&arguments[0].as_str()) {
        arguments.extend(["--as-of", "2026-11-21"].map(str::to_owned));
    }
    let arguments: Vec<&str> = ["--lang", language].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    folder.text(&arguments).lines().map(str::to_owned).collect()
}

/// The lines of an output that correspond to those of a sample: each part between `...` is found by its first line, and
/// has as many lines. Fails for a part that is not in the output.
fn abridge(sample: &[String], output: &[String]) -> Result<Vec<String>, String> {
    let key = |line: &str| line.chars().take(KEY).collect::<String>();
    let (mut lines, mut at) = (Vec::new(), 0);
    for (index, part) in sample.split(|line| line == "...").enumerate() {
        if index > 0 {
            lines.push("...".to_owned());
        }
        let Some(first) = part.first() else { continue };
        let begin = if index == 0 { Some(0) } else { output[at..].iter().position(|line| key(line) == key(first)) };
        let begin = at + begin.ok_or_else(|| format!("no line begins like {first:?}: edit the sample"))?;
        at = (begin + part.len()).min(output.len());
        lines.extend_from_slice(&output[begin..at]);
    }
    let is_complete = sample.last().is_none_or(|line| line != "...");
    if is_complete && at < output.len() {
        Err("the sample ends before the output: add ...".to_owned())
    } else {
        Ok(lines)
    }
}

/// The document with each sample as `printed` has it for its command and lines.
fn refresh(document: &str, printed: &mut dyn FnMut(&str, &[String]) -> Vec<String>) -> String {
    let (mut text, mut lines) = (String::new(), document.lines());
    while let Some(line) = lines.next() {
        writeln!(text, "{line}").unwrap();
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let sample: Vec<String> =
            lines.by_ref().take_while(|line| !line.starts_with("```")).map(str::to_owned).collect();
        for line in printed(command.split("  #").next().unwrap_or_default().trim_end(), &sample) {
            writeln!(text, "{line}").unwrap();
        }
        text.push_str("```\n");
    }
    text
}

#[track_caller]
fn check(file: &str, expected: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&path, expected).expect("the file can be written");
    }
    let stored = fs::read_to_string(&path).expect("the file can be read");
    let differing = stored.lines().zip(expected.lines()).find(|(stored, expected)| stored != expected);
    assert!(
        stored == expected,
        "{file} is stale, {differing:?}: run UPDATE_GENERATED=1 cargo test -p plimsoll --test plimsoll samples"
    );
}

#[test]
fn samples_in_documents_equal_the_output() {
    let folder = prepare();
    let mut compared = 0;
    let files = [("README.md", "en"), ("README.ja.md", "ja"), ("docs/tour.md", "en"), ("docs/requirements.md", "en")];
    for (file, language) in files {
        let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap();
        let expected = refresh(&document, &mut |command, sample| {
            let output = run_sample(&folder, command, language);
            if output.is_empty() {
                return sample.to_vec();
            }
            compared += 1;
            abridge(sample, &output).unwrap_or_else(|error| panic!("{file}: {command}: {error}"))
        });
        check(file, &expected);
    }
    assert_eq!(compared, 7, "commands with a deterministic output");
}

#[test]
fn picture_of_a_terminal_equals_the_output() {
    check("docs/images/terminal.svg", &draw(PICTURE, &run_sample(&prepare(), PICTURE, "en")));
}

/// Lines of a terminal of 80 columns, with its colours.
fn draw(command: &str, output: &[String]) -> String {
    const COLUMN: f64 = 8.4;
    let height = 52 + 19 * output.len() + 33;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"t\" width=\"708\" height=\"{height}\" \
         viewBox=\"0 0 708 {height}\">\n<title id=\"t\">{command} on a terminal of 80 columns</title>\n<style>text {{ \
         font: 14px ui-monospace, \"SF Mono\", Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #d7dce1; \
         white-space: pre; }} .prompt {{ fill: #84c5f4; }} .strong {{ fill: #ffffff; font-weight: 700; }} .quiet {{ \
         fill: #9ba6b1; }} .caution {{ fill: #edb95a; }} .plot {{ fill: #84c5f4; }}</style>\n<rect width=\"708\" \
         height=\"{height}\" rx=\"10\" fill=\"#14181d\"/>\n<circle cx=\"22\" cy=\"20\" r=\"6\" fill=\"#59626c\"/><circle \
         cx=\"42\" cy=\"20\" r=\"6\" fill=\"#59626c\"/><circle cx=\"62\" cy=\"20\" r=\"6\" fill=\"#59626c\"/>\n"
    );
    let prompt = format!("$ {command}");
    let plot: Vec<usize> = (0..output.len()).filter(|&row| output[row].contains(['│', '┤', '└'])).collect();
    let (first, last) = (plot[0], plot[plot.len() - 1]);
    for (row, line) in std::iter::once(&prompt).chain(output).enumerate() {
        let text = line.trim();
        // The row above the plot has the label of the load line, the one below it the numbers of its axis.
        let class = match row.checked_sub(1) {
            None => "class=\"prompt\" ",
            Some(0) => "class=\"strong\" ",
            Some(row) if (first - 1..=last).contains(&row) => "class=\"plot\" ",
            Some(row) if row > last + 1 => "class=\"quiet\" ",
            Some(_) if text.starts_with("caution") => "class=\"caution\" ",
            Some(_) => "",
        };
        let left = 18.0 + COLUMN * (line.chars().count() - line.trim_start().chars().count()) as f64;
        let (y, width) = (52 + 19 * row, COLUMN * text.chars().count() as f64);
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#x27;");
        if !text.is_empty() {
            writeln!(
                svg,
                "<text {class}x=\"{left:.1}\" y=\"{y}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
                 xml:space=\"preserve\">{escaped}</text>"
            )
            .unwrap();
        }
    }
    svg + "</svg>\n"
}
