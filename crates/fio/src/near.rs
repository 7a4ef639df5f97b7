//! Suggestions for misspelt names by edit distance, case-insensitive.

use strsim::osa_distance;

/// The nearest of `names` to `word` with at most a third of its letters different.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    if letters > 64 {
        return None;
    }
    let ranked = names.map(|name| (osa_distance(&word, name), name)).min_by_key(|(distance, _)| *distance);
    ranked.filter(|(distance, _)| *distance <= (letters / 3).max(1)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_found() {
        let names = ["iodepth", "direct", "bs", "size", "offset"];
        let check = |word, expected| assert_eq!(nearest(word, names.into_iter()), expected, "{word}");
        check("iodepht", Some("iodepth"));
        check("dirct", Some("direct"));
        check("siz", Some("size"));
        check("b", Some("bs"));
        check("BS", Some("bs"));
        check("graphtype", None);
        check("", None);
        check(&"x".repeat(100), None);
    }
}
