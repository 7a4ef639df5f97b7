//! Suggestions for misspelt names by edit distance, case-insensitive.

/// The nearest of `names` to `word` with at most a third of its letters different.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    if letters > 64 {
        return None;
    }
    let ranked = names.map(|name| (distance(&word, name), name)).min_by_key(|(distance, _)| *distance);
    ranked.filter(|(distance, _)| *distance <= (letters / 3).max(1)).map(|(_, name)| name)
}

/// Number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut cost = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
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
