//! Placeholders of templates of `format!`.

use std::collections::BTreeSet;

/// Fails unless a translation has the placeholders of its template.
pub fn check(template: &str, translation: &str) -> Result<(), String> {
    let [(expected, _), (found, unnumbered)] = [collect_names(template)?, collect_names(translation)?];
    if expected != found {
        return Err(format!("ja.po: {translation:?} has the placeholders {found:?}, {template:?} has {expected:?}"));
    }
    if unnumbered > 1 {
        return Err(format!("ja.po: number the placeholders of {translation:?}: {{0}}, {{1}}"));
    }
    Ok(())
}

/// The number of arguments that a template names by number, as its highest number says; 0 of an invalid template.
pub fn count_numbered(template: &str) -> usize {
    let names = collect_names(template).map(|(names, _)| names).unwrap_or_default();
    names.iter().filter_map(|name| name.parse::<usize>().ok()).map(|number| number + 1).max().unwrap_or(0)
}

/// The arguments of a template, without their formats, and the number of those without a name.
fn collect_names(template: &str) -> Result<(BTreeSet<String>, usize), String> {
    let mut names = BTreeSet::new();
    let mut unnumbered = 0;
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            rest = after;
            continue;
        }
        let (inside, after) = after.split_once('}').ok_or_else(|| format!("unbalanced braces in {template:?}"))?;
        let name = inside.split(':').next().unwrap_or_default();
        if name.is_empty() {
            names.insert(unnumbered.to_string());
            unnumbered += 1;
        } else {
            names.insert(name.to_owned());
        }
        rest = after;
    }
    Ok((names, unnumbered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translation_needs_the_placeholders_of_its_template() {
        let is_refused = |template: &str, translation: &str| check(template, translation).is_err();
        for (template, translation) in [
            ("{} of {}", "{1}のうち{0}"),
            ("{x:.1} s", "{x} 秒"),
            ("{{}} {}", "{{}}{}"),
            ("at {}", "{}で"),
            ("at {}", "{0}で"),
        ] {
            assert_eq!(check(template, translation), Ok(()), "{template}");
        }
        for (template, translation) in
            [("{} of {}", "{}のうち{}"), ("{x} s", "{y} 秒"), ("{x} s", "秒"), ("s", "{x} 秒"), ("{} s", "{ 秒")]
        {
            assert!(is_refused(template, translation), "{template}");
        }
    }
}
