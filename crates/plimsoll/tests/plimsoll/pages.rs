//! Output in the documents equals that of the program: the example of `docs/catalogue.md` by path and from a directory,
//! and the figures that docs/tour.md takes from `docs/articles.md`.

use crate::folder::{Folder, words};

const TOUR: &str = include_str!("../../../../docs/tour.md");
const CATALOGUE: &str = include_str!("../../../../docs/catalogue.md");
const ARTICLES: &str = include_str!("../../../../docs/articles.md");

/// Output of the command with the example of the page, with runs of spaces joined.
#[track_caller]
fn prints(arguments: &[&str], details: &str) -> String {
    let folder = Folder::new("pages").env("PLIMSOLL_DETAILS", details);
    let (_, rest) = CATALOGUE.split_once("```toml\n").expect("the page has an example");
    let (example, _) = rest.split_once("```").expect("the example ends");
    folder.make("own");
    for path in ["san.toml", "own/san.toml"] {
        folder.write(path, example);
    }
    words(&folder.text(arguments))
}

/// Output in a document for a command, in pieces between `...`.
#[track_caller]
fn display(page: &str, command: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("$ {command}\n")).unwrap_or_else(|| panic!("no {command:?} on the page"));
    let (output, _) = rest.split_once("```").expect("the output ends");
    output.split("\n...\n").map(words).collect()
}

#[track_caller]
fn check(page: &str, command: &str, details: &str) {
    let arguments: Vec<&str> = command.split(' ').skip(1).chain(["--as-of", "2026-11-21"]).collect();
    let printed = prints(&arguments, details);
    for piece in display(page, command) {
        assert!(printed.contains(&piece), "{command} prints {printed}, and not {piece}");
    }
}

#[test]
fn quote_of_a_product_of_ones_own_equals_its_page() {
    check(CATALOGUE, "plimsoll quote ./san.toml:4TiB,class=gold", "1");
}

#[test]
fn a_product_of_ones_own_is_found_by_path_and_in_a_folder() {
    assert_eq!(prints(&["catalogue", "check", "san.toml"], "1"), "san.toml: valid");
    assert!(prints(&["quote", "san:4TiB", "--products", "own"], "1").contains("House SAN"));
    assert!(
        prints(&["simulate", "./san.toml:4TiB", "--depth", "1", "--duration", "1s"], "1").contains("house/san:4TiB")
    );
}

#[test]
fn figures_of_the_articles_are_those_of_their_page() {
    let rows: Vec<&str> = TOUR.lines().filter(|line| line.matches('|').count() == 9).collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows.iter().all(|row| ARTICLES.contains(&format!("\n{row}\n"))), "{rows:?}");
}
