//! Writes a page, a picture, a table and a text of made-up curves into a directory: for looking at them.
// A program around the pure crate: the files are its own.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;

use plimsoll_report::{Charset, Color, TextStyle, csv, html, suite, suite_csv, suites_html, svg, text};

fn main() {
    let out = PathBuf::from(std::env::args().nth(1).expect("give a directory"));
    let write = |name: &str, content: &str| std::fs::write(out.join(name), content).unwrap();
    let (one, other) = (support::curve(), support::curve_of(&support::CLOUD));
    write("report.html", &html(&[&one]));
    write("compare.html", &html(&[&one, &other]));
    write("curve.svg", &svg(&[&one]));
    write("compare.svg", &svg(&[&one, &other]));
    write("curve.csv", &csv(&one));
    for (name, curve) in support::odd() {
        write(&format!("odd-{}.html", name.replace(' ', "-")), &html(&[&curve]));
    }
    let page = |name: &str, suites: &[_]| write(&format!("suite-{name}.html"), &suites_html(suites));
    for (name, run) in support::crowd::odd() {
        page(&name.replace(' ', "-"), std::slice::from_ref(&run));
        write(&format!("suite-{}.csv", name.replace(' ', "-")), &suite_csv(&run));
        let style = TextStyle { width: 100, ..TextStyle::default() };
        write(&format!("suite-{}.txt", name.replace(' ', "-")), &suite(&run, &style));
    }
    page("beside", &support::crowd::several());
    page("beside-tests", &support::crowd::tested());
    println!("{}", text(&one, &TextStyle { color: Color::Ansi, width: 80, unicode: Charset::Unicode }));
    println!("{}", text(&other, &TextStyle { color: Color::Plain, width: 120, unicode: Charset::Ascii }));
}
