//! Checks that apply to every page.

use std::collections::BTreeSet;

use super::markup::check;

fn values<'a>(markup: &'a str, before: &str) -> Vec<&'a str> {
    markup.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// The main part of the page.
fn content(page: &str) -> &str {
    let from = page.find("<main>").expect("a page has a main part");
    &page[from..page.find("<script>").expect("a page has a script")]
}

/// Panics if a page is not well formed and self-contained, with named parts and scoped headers.
pub fn check_page(name: &str, page: &str) {
    check(page);
    let ids = values(page, " id=\"");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{name}: ids are unique");
    for named in values(page, "aria-labelledby=\"").iter().flat_map(|ids| ids.split(' ')) {
        assert!(ids.contains(&named), "{name}: {named} is not on the page");
    }
    for place in values(page, "href=\"#") {
        assert!(ids.contains(&place), "{name}: #{place} leads nowhere");
    }
    let page = &page.replace("href=\"#", "");
    for outside in ["src=", "href=", "url(", "@import", "fetch("] {
        assert!(!page.contains(outside), "{name}: {outside}");
    }
    let displayed = content(page);
    assert_eq!(displayed.matches("<figure>").count(), displayed.matches("<figcaption>Source: ").count(), "{name}");
    assert_eq!(
        displayed.matches("<th ").count(),
        displayed.matches(" scope=\"").count(),
        "{name}: headers have a scope"
    );
    for nonsense in ["NaN", "inf ", "\u{1b}"] {
        assert!(!displayed.contains(nonsense), "{name}: {nonsense:?}");
    }
}
