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

/// Between Japanese text and a value: a space if the value is in Latin letters or digits, as `plimsoll_language` decides.
const VALUE_EDGE: char = '\u{fdd0}';
/// Between two values: a space, except between Japanese letters.
const VALUE_GAP: char = '\u{fdd1}';

/// A Japanese template with marks instead of the spaces around its placeholders, whose values have either script.
pub fn mark_edges(template: &str) -> String {
    let mut marked = String::with_capacity(template.len());
    let pieces = split_placeholders(template);
    for (index, piece) in pieces.iter().enumerate() {
        let (follows, precedes) = (index > 0, index + 1 < pieces.len());
        match *piece {
            Piece::Placeholder(text) => marked.push_str(text),
            Piece::Text(" ") if follows && precedes => marked.push(VALUE_GAP),
            Piece::Text(text) => {
                let rest = text.strip_prefix(' ').unwrap_or(text);
                let begins = follows && rest.starts_with(|letter| is_japanese(letter) || letter == '。');
                let text = if begins { rest } else { text };
                let rest = text.strip_suffix(' ').unwrap_or(text);
                let ends = precedes && rest.ends_with(is_japanese);
                let text = if ends { rest } else { text };
                marked.extend(begins.then_some(VALUE_EDGE));
                marked.push_str(text);
                marked.extend(ends.then_some(VALUE_EDGE));
            }
        }
    }
    marked
}

#[derive(Clone, Copy)]
enum Piece<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

/// The texts and placeholders of a valid template in their order. Two braces are text.
fn split_placeholders(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while let Some(found) = template[at..].find(['{', '}']).map(|found| at + found) {
        if template[found + 1..].starts_with(&template[found..=found]) {
            at = found + 2;
            continue;
        }
        let end = template[found..].find('}').map_or(template.len(), |end| found + end + 1);
        pieces.extend((found > begin).then(|| Piece::Text(&template[begin..found])));
        pieces.push(Piece::Placeholder(&template[found..end]));
        (begin, at) = (end, end);
    }
    pieces.extend((begin < template.len()).then(|| Piece::Text(&template[begin..])));
    pieces
}

/// True for kana and kanji.
const fn is_japanese(letter: char) -> bool {
    matches!(letter, '々' | 'ぁ'..='ゟ' | 'ァ'..='ヺ' | 'ー' | '㐀'..='鿿')
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
    fn edges_of_values_are_marked() {
        for (template, marked) in [
            ("{} で {x}", "{}|で|{x}"),
            ("{0}の平均: {1}。", "{0}|の平均: {1}|。"),
            ("約{n}件、{0} {1}", "約|{n}|件、{0}^{1}"),
            ("  {n} IOPS {{{x}}}", "  {n} IOPS {{{x}}}"),
            ("{n:<9}  件", "{n:<9}  件"),
        ] {
            let expected = marked.replace('|', &VALUE_EDGE.to_string()).replace('^', &VALUE_GAP.to_string());
            assert_eq!(mark_edges(template), expected, "{template}");
        }
    }

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
