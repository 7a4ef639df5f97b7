//! Catalogue of translations in the PO format of GNU gettext: `msgid` is the English text, `msgstr` the translation.
//!
//! The subset that translators' tools need: comments, texts over several lines, the escapes `\n`, `\t`, `\"` and `\\`.
//! Plural forms, contexts and the flag `fuzzy` are refused.

use std::collections::BTreeMap;

/// Translations by English text; empty if there is none.
#[derive(Debug, Default)]
pub struct Translations(pub BTreeMap<String, String>);

/// The text that a line continues.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    Id,
    Translation,
}

impl Translations {
    /// Reads a catalogue. The first entry, whose `msgid` is empty, describes the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut entries = BTreeMap::new();
        for entry in text.split("\n\n").filter(|entry| !entry.trim().is_empty()) {
            let (id, translation) = parse_entry(entry)?;
            if entries.insert(id.clone(), translation).is_some() {
                return Err(format!("two entries of {id:?}"));
            }
        }
        entries.remove("");
        Ok(Self(entries))
    }

    /// The translation of a text; `None` if there is none.
    pub fn find(&self, text: &str) -> Option<&str> {
        self.0.get(text).map(String::as_str).filter(|translation| !translation.is_empty())
    }
}

fn parse_entry(entry: &str) -> Result<(String, String), String> {
    let mut texts: [Option<String>; 2] = [None, None];
    let mut field = None;
    for line in entry.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix('#') {
            if comment.starts_with(',') && comment.contains("fuzzy") {
                return Err(format!("check the translation, and remove the flag: {line:?}"));
            }
            continue;
        }
        let (keyword, quoted) = line.split_once('"').ok_or_else(|| format!("no text in {line:?}"))?;
        field = match keyword.trim_end() {
            "msgid" => Some(Field::Id),
            "msgstr" => Some(Field::Translation),
            "" => field,
            _ => return Err(format!("unknown keyword in {line:?}")),
        };
        let field = field.ok_or_else(|| format!("text without msgid: {line:?}"))?;
        let text = &mut texts[field as usize];
        if text.is_some() != keyword.is_empty() {
            return Err(format!("msgid and msgstr occur once for each entry: {line:?}"));
        }
        let quoted = quoted.strip_suffix('"').ok_or_else(|| format!("no closing quotation mark: {line:?}"))?;
        text.get_or_insert_default().push_str(&unescape(quoted).ok_or_else(|| format!("unknown escape: {line:?}"))?);
    }
    match texts {
        [Some(id), Some(translation)] => Ok((id, translation)),
        _ => Err(format!("an entry needs msgid and msgstr: {entry:?}")),
    }
}

fn unescape(quoted: &str) -> Option<String> {
    let mut text = String::with_capacity(quoted.len());
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                escaped @ ('"' | '\\') => escaped,
                _ => return None,
            },
            '"' => return None,
            other => other,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read() {
        let text = "msgid \"\"\nmsgstr \"Language: ja\\n\"\n\n#: report/src/x.rs\nmsgid \"a \\\"b\\\"\\n\"\nmsgstr \"\"\n\"あ\"\n\"い\\n\"\n\n\
                    msgid \"c\"\nmsgstr \"\"\n";
        let translations = Translations::parse(text).expect("it is PO");
        assert_eq!(translations.find("a \"b\"\n"), Some("あい\n"));
        for text in ["c", "d", ""] {
            assert_eq!(translations.find(text), None, "{text}");
        }
    }

    #[test]
    fn invalid_entries_are_refused() {
        for (text, reason) in [
            ("msgid \"a\"\nmsgstr \"\"\n\nmsgid \"a\"\nmsgstr \"\"", "two entries"),
            ("msgid \"a\"", "needs msgid and msgstr"),
            ("msgid \"a\"\nmsgid \"b\"\nmsgstr \"\"", "occur once"),
            ("msgctxt \"a\"\nmsgid \"a\"\nmsgstr \"\"", "unknown keyword"),
            ("\"a\"\nmsgid \"a\"\nmsgstr \"\"", "without msgid"),
            ("msgid \"a\nmsgstr \"\"", "closing"),
            ("msgid \"\\q\"\nmsgstr \"\"", "escape"),
            ("msgid a\nmsgstr \"\"", "no text"),
            ("#, fuzzy\nmsgid \"a\"\nmsgstr \"b\"", "remove the flag"),
        ] {
            let error = Translations::parse(text).expect_err("it is refused");
            assert!(error.contains(reason), "{error}");
        }
    }
}
