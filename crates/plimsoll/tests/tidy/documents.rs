//! Documents: valid links, and a change log with the current version.

use std::path::Path;

use super::complaint::{Complaint, assert_found, assert_none};
use super::tree;

type Link<'a> = (usize, &'a str);

fn check(
    path: &str,
    text: &str,
    read: &dyn Fn(&str) -> Option<String>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<Complaint> {
    let directory = Path::new(path).parent().unwrap_or(Path::new(""));
    let broken = |&(_, link): &Link| {
        let (file, heading) = link.split_once('#').unwrap_or((link, ""));
        let target =
            if file.is_empty() { path.to_owned() } else { directory.join(file).to_string_lossy().into_owned() };
        let is_document = Path::new(&target).extension().is_some_and(|extension| extension == "md");
        let has_heading = || heading.is_empty() || read(&target).is_some_and(|text| slugs(&text).any(|s| s == heading));
        !exists(&target) || (is_document && !has_heading())
    };
    let complaint = |(line, link): Link| Complaint {
        place: format!("{path}:{line}"),
        found: format!("a link to {link}, which does not exist"),
        allowed: "links to files and headings of this project, from the document's own directory".to_owned(),
        remedy: "correct the link, or write what it leads to".to_owned(),
    };
    relative_links(text).into_iter().filter(broken).map(complaint).collect()
}

/// Lines outside fenced blocks, with code spans blanked, numbered from 1.
fn prose(text: &str) -> Vec<(usize, &str, Vec<&str>)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((index + 1, line, line.split('`').step_by(2).collect()));
        }
    }
    lines
}

/// Targets of `[text](target)`, `[name]: target`, `src="target"` and `href="target"` that are not addresses.
fn relative_links(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (number, line, pieces) in prose(text) {
        for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            // A link's text may contain a code span, so its target can begin any piece; code contains no targets.
            let targets = pieces.iter().flat_map(|piece| piece.split(open).skip(1));
            links.extend(targets.filter_map(|rest| Some((number, rest.split(close).next()?))));
        }
        if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
            links.push((number, target));
        }
    }
    let is_relative = |link: &str| !link.contains("://") && !link.starts_with("mailto:") && !link.starts_with("data:");
    let bare = links.into_iter().map(|(line, link)| (line, link.split_whitespace().next().unwrap_or("")));
    bare.filter(|(_, link)| !link.is_empty() && is_relative(link)).collect()
}

/// Anchors of a document's headings on a hosting page.
fn slugs(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).into_iter().filter(|(_, line, _)| line.starts_with('#'));
    headings.map(|(_, line, _)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let characters = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        characters.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn links_lead_somewhere() {
    let texts = tree::files_ending(".md").filter_map(|path| Some((path, tree::read_text(path)?)));
    let exists = |path: &str| tree::root().join(path).exists();
    assert_none(&texts.flat_map(|(path, text)| check(path, &text, &tree::read_text, &exists)).collect::<Vec<_>>());
}

#[test]
fn summary_of_the_book_has_each_document() {
    const SUMMARY: &str = "docs/SUMMARY.md";
    let summary = tree::read_text(SUMMARY).unwrap_or_default();
    let links = relative_links(&summary);
    let documents = tree::files_ending(".md").filter(|path| Path::new(path).parent() == Some(Path::new("docs")));
    let missing = documents.filter(|path| *path != SUMMARY).filter_map(|path| {
        let name = path.strip_prefix("docs/")?;
        let complaint = Complaint {
            place: SUMMARY.to_owned(),
            found: format!("no link to {name}"),
            allowed: "a book with all documents of docs/".to_owned(),
            remedy: "add the document to a part of the summary".to_owned(),
        };
        (!links.iter().any(|(_, link)| *link == name)).then_some(complaint)
    });
    assert_none(&missing.collect::<Vec<_>>());
}

#[test]
fn the_change_log_knows_the_version() {
    let log = tree::read_text("CHANGELOG.md").unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let has_heading = slugs(&log).any(|slug| slug.contains("unreleased") || slug.contains(&version.replace('.', "")));
    let complaint = Complaint {
        place: "CHANGELOG.md".to_owned(),
        found: format!("no heading with Unreleased or {version}"),
        allowed: "a heading for the present version, or Unreleased".to_owned(),
        remedy: "say there what changed for the user".to_owned(),
    };
    assert_none(if has_heading { &[] } else { std::slice::from_ref(&complaint) });
}

#[test]
fn planted_links_are_found() {
    let document = "# One `two` three: four\n\
         [a](b.md) [c](#one-two-three-four) [d](b.md#there) [`e`](b.md)\n\
         [w](https://x.y/z) `[code](nowhere)` ![p](gone.svg \"title\")\n\
         ```\n[fenced](nowhere)\n```\n\
         [f](b.md#not-there) [g](#neither) <img src=\"gone.png\">\n\
         [h]: gone.md\n";
    let read = |path: &str| match path {
        "d/a.md" => Some(document.to_owned()),
        _ => Some("## There\n".to_owned()),
    };
    let exists = |path: &str| matches!(path, "d/a.md" | "d/b.md");
    let expected = [
        "d/a.md:3: a link to gone.svg,",
        "d/a.md:7: a link to b.md#not-there,",
        "d/a.md:7: a link to #neither,",
        "d/a.md:7: a link to gone.png,",
        "d/a.md:8: a link to gone.md,",
    ];
    assert_found(&check("d/a.md", document, &read, &exists), &expected);
}
