//! Checks that markup is well formed: balanced tags, quoted attributes, escaped text.

const VOID: [&str; 4] = ["meta", "br", "link", "wbr"];
/// Their content is not markup.
const RAW: [&str; 2] = ["style", "script"];

/// Panics if the markup is not well formed. Returns the names of all elements in order.
pub fn check(markup: &str) -> Vec<String> {
    let mut rest = markup.strip_prefix("<!DOCTYPE html>").unwrap_or(markup);
    let (mut open, mut observed): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        text(&rest[..at]);
        let end = end_of_tag(&rest[at..]);
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closes an element that is not open");
            continue;
        }
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(!name.is_empty(), "a bare < before {tag:.40}");
        attributes(&tag[name.len()..]);
        observed.push(name.clone());
        if RAW.contains(&name.as_str()) {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("raw content ends") + close.len()..];
        } else if !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    text(rest);
    assert!(open.is_empty(), "left open: {open:?}");
    observed
}

fn end_of_tag(tag: &str) -> usize {
    let mut quoted = false;
    for (index, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return index,
            _ => {}
        }
    }
    panic!("a tag without an end: {tag:.60}");
}

fn attributes(mut rest: &str) {
    let mut names = Vec::new();
    while let Some((name, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"').expect("a quoted value ends");
        let name = name.trim();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-:".contains(c)), "attribute {name:?}");
        assert!(!names.contains(&name), "{name} twice");
        names.push(name);
        assert!(!value.contains('<'), "unescaped in {name}: {value}");
        text(value);
        rest = after;
    }
    assert!(rest.trim().is_empty(), "not an attribute: {rest}");
}

/// Checks that every `&` begins an XML entity, and that there are no control characters.
fn text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let existing = ["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|entity| text[at..].starts_with(entity));
        assert!(existing, "a bare & in {:.40}", &text[at..]);
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "a control character in {text:.60}");
}
