//! Suggestions for unknown names.

/// Up to three of `names` similar to `name`, nearest first.
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let most = (wanted.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|known| {
            let lower = known.to_lowercase();
            let part = lower.rsplit('/').next().unwrap_or(&lower);
            let contained = wanted.len() >= 3 && lower.contains(&wanted);
            let away = distance(&wanted, &lower).min(distance(&wanted, part) + usize::from(part != lower));
            (contained || away <= most).then_some((if contained { away.min(2) } else { away }, known))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
}

/// `; did you mean A, B or C?`, or empty.
pub(crate) fn suggestion<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let near = nearest(name, names);
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", one_of(&near)) }
}

/// `A, B or C`.
pub fn one_of<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "none".to_owned(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            format!("{} or {}", first.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "), last.as_ref())
        }
    }
}

/// Edit distance (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered() {
        let names = ["aws/gp2", "aws/gp3", "oci/block", "azure/premium-ssd"];
        assert_eq!(nearest("gp4", names), ["aws/gp2", "aws/gp3"]);
        assert_eq!(nearest("azure/premum-ssd", names), ["azure/premium-ssd"]);
        assert_eq!(nearest("premium", names), ["azure/premium-ssd"]);
        assert_eq!(nearest("floppy", names), Vec::<String>::new());
        assert_eq!(suggestion("gp4", names), "; did you mean aws/gp2 or aws/gp3?");
        assert_eq!((distance("kitten", "sitting"), distance("", "abc"), distance("a", "")), (3, 3, 1));
    }
}
