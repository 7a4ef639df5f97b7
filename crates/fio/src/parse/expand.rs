//! Expansion of environment variables and of keywords for machine properties.

use super::Surroundings;
use crate::number::{self, Base, NumberScale};
use crate::options::ValueForm;

/// Expands `${NAME}` without recursion; also returns the names without a value.
pub(super) fn variables(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> (String, Vec<String>) {
    let (mut expanded, mut missing) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        expanded.push_str(before);
        match variable(name) {
            Some(value) => expanded.push_str(&value),
            None => missing.push(name.to_owned()),
        }
        rest = after;
    }
    expanded.push_str(rest);
    (expanded, missing)
}

/// Expands `$pagesize`, `$mb_memory` and `$ncpus`. In numeric options the surrounding expression is evaluated:
/// `$ncpus*2`.
pub(super) fn keywords(text: &str, around: &Surroundings<'_>, form: ValueForm) -> String {
    let facts =
        [("$pagesize", around.page_bytes), ("$mb_memory", around.memory_mib), ("$ncpus", u64::from(around.processors))];
    let mut expanded = text.to_owned();
    for (word, value) in facts {
        expanded = expanded.replace(word, &value.to_string());
    }
    let is_number =
        matches!(form, ValueForm::Integer(..) | ValueForm::Integers(..) | ValueForm::Extent | ValueForm::Sizes);
    if !is_number || expanded == text || !expanded.contains(['+', '-', '*', '/', '%', '^']) {
        return expanded;
    }
    match number::integer(&format!("({expanded})"), NumberScale::Counts(Base::Binary)) {
        Ok(value) => value.to_string(),
        Err(_) => expanded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_expanded() {
        let lookup = |name: &str| (name == "DEV").then(|| "/dev/${x}".to_owned());
        let check = |text: &str, expected: &str, missing: &[&str]| {
            let found = variables(text, &lookup);
            assert_eq!((found.0.as_str(), found.1.len()), (expected, missing.len()), "{text}");
            assert!(found.1.iter().zip(missing).all(|(a, b)| a == b), "{text}");
        };
        check("a${DEV}b", "a/dev/${x}b", &[]);
        check("${A}/${B}", "/", &["A", "B"]);
        check("${DEV", "${DEV", &[]);
        check("$DEV", "$DEV", &[]);
        check("${}", "", &[""]);
    }

    #[test]
    fn keywords_are_expanded_and_evaluated() {
        let around = Surroundings {
            read: &|_| Err(String::new()),
            variable: &|_| None,
            page_bytes: 4_096,
            memory_mib: 1_000,
            processors: 2,
            processors_present: 2,
        };
        let check = |text, form, expected: &str| assert_eq!(keywords(text, &around, form), expected);
        check("$ncpus", ValueForm::Integer(0, 9), "2");
        check("$pagesize*$ncpus", ValueForm::Integers(0, 9), "8192");
        check("8*$mb_memory", ValueForm::Extent, "8000");
        check("$mb_memory*", ValueForm::Extent, "1000*");
        check("2*2", ValueForm::Extent, "2*2");
        check("/tmp/$ncpus-$x", ValueForm::Text, "/tmp/2-$x");
    }
}
