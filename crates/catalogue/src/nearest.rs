//! Suggestions for unknown names.

use plimsoll_language::{label, say};
use strsim::levenshtein;

/// Up to three of `names` similar to `name`, nearest first: other sizes of the same family, then names by edit distance.
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let lower_name = name.to_lowercase();
    let max = (lower_name.chars().count() / 3).max(2);
    let family = split_family(&lower_name);
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|existing| {
            let lower = existing.to_lowercase();
            let part = lower.rsplit('/').next().unwrap_or(&lower);
            let other_size = family
                .as_ref()
                .and_then(|family| steps_between(family, part).or_else(|| steps_between(family, &lower)));
            if let Some(steps) = other_size {
                return Some((steps, existing));
            }
            let contained = lower_name.len() >= 3 && lower.contains(&lower_name);
            let away =
                levenshtein(&lower_name, &lower).min(levenshtein(&lower_name, part) + usize::from(part != lower));
            (contained || away <= max).then_some((FARTHEST_SIZE + if contained { away.min(2) } else { away }, existing))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    // A name that lacks only its provider is certain.
    let is_same = |existing: &str| existing.to_lowercase().rsplit_once('/').is_some_and(|(_, part)| part == lower_name);
    if near.iter().any(|(_, existing)| is_same(existing)) {
        near.retain(|(_, existing)| is_same(existing));
    }
    near.into_iter().take(3).map(|(_, existing)| existing.to_owned()).collect()
}

/// Names of other families rank behind all sizes.
const FARTHEST_SIZE: usize = 10_000;

/// The family of a name and its size: `n2-standard-` and `4`, `standard_d` .. `s_v5` and `4`. The size is the last number
/// that is not a version.
fn split_family(name: &str) -> Option<(String, f64)> {
    let mut numbers: Vec<(usize, usize)> = Vec::new();
    for (index, _) in name.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match numbers.last_mut() {
            Some((_, end)) if *end == index => *end += 1,
            _ => numbers.push((index, index + 1)),
        }
    }
    let (start, end) = numbers.into_iter().rev().find(|(start, _)| !name[..*start].ends_with("_v"))?;
    let size = name[start..end].parse().ok().filter(|size| *size > 0.0)?;
    Some((format!("{}#{}", &name[..start], &name[end..]), size))
}

/// Hundredths of doublings between a size and a name of the same family.
fn steps_between((wanted_family, wanted_size): &(String, f64), name: &str) -> Option<usize> {
    let (family, size) = split_family(name)?;
    let steps = (size / wanted_size).log2().abs() * 100.0;
    (family == *wanted_family).then_some((steps.round() as usize).min(FARTHEST_SIZE - 1))
}

/// `; did you mean A, B or C?`, or empty.
pub(crate) fn suggestion<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let near = nearest(name, names);
    if near.is_empty() { String::new() } else { say!("; did you mean {}?", one_of(&near)) }
}

/// `A, B or C`.
pub fn one_of<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => label!("none").to_owned(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            say!("{} or {}", first.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered() {
        let names = ["aws/gp2", "aws/gp3", "oci/block", "azure/premium-ssd"];
        assert_eq!(nearest("gp4", names), ["aws/gp3", "aws/gp2"]);
        assert_eq!(nearest("azure/premum-ssd", names), ["azure/premium-ssd"]);
        assert_eq!(nearest("premium", names), ["azure/premium-ssd"]);
        assert_eq!(nearest("floppy", names), Vec::<String>::new());
        assert_eq!(nearest("GP3", names), ["aws/gp3"]);
        assert_eq!(suggestion("gp4", names), "; did you mean aws/gp3 or aws/gp2?");
        let machines = [
            "gcp/n2-standard-64",
            "gcp/n2-standard-8",
            "gcp/n2-highmem-4",
            "azure/Standard_D8s_v5",
            "azure/Standard_D4s_v4",
        ];
        assert_eq!(nearest("gcp/n2-standard-4", machines)[..2], ["gcp/n2-standard-8", "gcp/n2-standard-64"]);
        assert_eq!(nearest("azure/Standard_D6s_v5", machines)[0], "azure/Standard_D8s_v5");
    }
}
