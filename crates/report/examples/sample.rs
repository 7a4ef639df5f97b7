//! Writes pages, pictures, tables and texts of synthetic curves into a directory, for visual inspection.
// A program around the pure crate: the files are its own.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

#[path = "../tests/report/support/mod.rs"]
mod support;

use std::path::PathBuf;

use plimsoll_record::{Curve, SuiteRun};
use plimsoll_report::{Charset, Color, Page, TextStyle, page_csv, page_html, page_markdown, page_text, pages, svg};

fn main() {
    let out = PathBuf::from(std::env::args().nth(1).expect("give a directory"));
    let write = |name: &str, content: &str| std::fs::write(out.join(name), content).unwrap();
    let every_form = |name: &str, page: &Page| {
        write(&format!("{name}.html"), &page_html(page));
        write(&format!("{name}.md"), &page_markdown(page));
        write(&format!("{name}.csv"), &page_csv(page));
        for width in [80, 100, 200] {
            let style = TextStyle { width, ..TextStyle::default() };
            write(&format!("{name}-{width}.txt"), &page_text(page, &style));
        }
    };
    let json = |name: &str, bytes: Vec<u8>| std::fs::write(out.join(format!("{name}.json")), bytes).unwrap();
    let curves = |name: &str, curves: &[&Curve]| every_form(name, &support::page(curves));
    let suites = |name: &str, suites: &[SuiteRun]| every_form(&format!("suite-{name}"), &pages::suites(suites));
    let (one, other) = (support::build_curve(), support::curve_of(&support::CLOUD));
    curves("report", &[&one]);
    curves("compare", &[&one, &other]);
    write("curve.svg", &svg(&[&one]));
    write("compare.svg", &svg(&[&one, &other]));
    for (name, curve) in support::odd() {
        let name = format!("odd-{}", name.replace(' ', "-"));
        curves(&name, &[&curve]);
        json(&name, curve.to_json());
    }
    for (name, run) in support::crowd::odd() {
        let name = name.replace(' ', "-");
        suites(&name, std::slice::from_ref(&run));
        json(&format!("suite-{name}"), run.to_json());
    }
    suites("beside", &support::crowd::several());
    suites("beside-tests", &support::crowd::tested());
    println!("{}", page_text(&support::page(&[&one]), &TextStyle { color: Color::Ansi, ..TextStyle::default() }));
    let ascii = TextStyle { width: 120, unicode: Charset::Ascii, ..TextStyle::default() };
    println!("{}", page_text(&support::page(&[&other]), &ascii));
}
