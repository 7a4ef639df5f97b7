//! English texts that a reader of Japanese meets: string literals with two neighbouring words in small letters, outside of
//! `say!`, `label!`, `static_text!` and `say_errors`. Programs read some of them, such as answers of emulated control planes
//! and outputs in the layout of other benchmarks. The numbers may only shrink.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};

use super::complaint::{Complaint, assert_found, assert_none, check_counts};
use super::source::{Source, ends_item, is_test, sources};
use super::tree;

/// The present state: `crate texts` per line.
const ENGLISH: &str = "crates/plimsoll/tests/tidy/english.txt";
/// Macros with translations, and those whose texts are for developers and logs.
const OTHER_MACROS: [&str; 15] = [
    "say",
    "label",
    "static_text",
    "panic",
    "unreachable",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
];
/// Crates for development, and the binary's flag table, which has translations of its own.
const EXEMPT: [&str; 3] = ["crates/testkit/", "crates/say/", "crates/plimsoll/src/args"];
/// Crates whose literals are names in the formats that they read, except for those that they format.
const READERS: [&str; 2] = ["ingest", "fio"];
/// Macros that format.
const FORMATS: [&str; 4] = ["format", "write", "writeln", "bail"];
/// First words of SQL statements.
const SQL_VERBS: [&str; 9] = ["CALL", "CREATE", "DELETE", "DROP", "INSERT", "SELECT", "SET", "UPDATE", "WITH"];

/// The literals that count in a stream of tokens.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    All,
    Formatted,
}

fn find(tokens: TokenStream, scope: Scope, found: &mut Vec<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut index = 0;
    while index < tokens.len() {
        match &tokens[index..] {
            [TokenTree::Punct(mark), TokenTree::Group(attribute), rest @ ..] if mark.as_char() == '#' => {
                let item = rest.iter().position(ends_item).map_or(rest.len(), |end| end + 1);
                index += if is_test(attribute) { 2 + item } else { 2 };
                continue;
            }
            [TokenTree::Punct(mark), TokenTree::Punct(_), TokenTree::Group(_), ..] if mark.as_char() == '#' => {
                index += 2;
            }
            [TokenTree::Ident(name), TokenTree::Group(_), ..] if name == "expect" => index += 1,
            [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(group), ..] if mark.as_char() == '!' => {
                index += 2;
                let name = name.to_string();
                if !OTHER_MACROS.contains(&&*name) {
                    find(group.stream(), if FORMATS.contains(&&*name) { Scope::All } else { scope }, found);
                }
            }
            [TokenTree::Group(group), ..] => find(group.stream(), scope, found),
            // Patterns of a match.
            [TokenTree::Literal(_), TokenTree::Punct(mark), ..] if matches!(mark.as_char(), '=' | '|') => {}
            [TokenTree::Literal(literal), ..] if scope == Scope::All && is_english(&literal.to_string()) => {
                found.push(literal.span().start().line);
            }
            _ => {}
        }
        index += 1;
    }
}

/// True for a string with two neighbouring words in small letters that is no SQL.
fn is_english(literal: &str) -> bool {
    let text = literal.trim_start_matches(['b', 'r', '#', '"', '(', ' ']);
    let is_word = |word: &str| {
        let word = word.trim_end_matches(['"', '#', ',', ':', ';', '.', ')']);
        word.len() > 1 && word.chars().all(|letter| letter.is_ascii_lowercase())
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_sql = words.first().is_some_and(|first| SQL_VERBS.contains(first));
    literal.contains('"') && !is_sql && words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
}

fn check(sources: &[Source], listed: &str) -> Vec<Complaint> {
    let is_read = |source: &&Source| {
        let path = &source.path;
        !path.ends_with("/tests.rs") && !path.contains("/tests/") && EXEMPT.iter().all(|own| !path.starts_with(own))
    };
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(is_read) {
        let name = source.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        let Some((name, _)) = name else { continue };
        let mut lines = Vec::new();
        let scope = if READERS.contains(&name) { Scope::Formatted } else { Scope::All };
        find(source.text.parse().expect("the source was parsed before"), scope, &mut lines);
        texts.entry(name).or_default().extend(lines.iter().map(|line| format!("{}:{line}", source.path)));
    }
    check_counts(ENGLISH, listed, texts, "English texts", "write new ones with say!, label! or static_text!")
}

#[test]
fn english_texts_get_no_more() {
    assert_none(&check(sources(), &tree::read_text(ENGLISH).unwrap_or_default()));
}

#[test]
fn planted_english_is_found() {
    let complaints = |path: &str, text: &str, listed: &str| check(&[Source::parse(path, text.to_owned())], listed);
    let text = "//! Two words of documentation do not count.\n#[error(\"nor do those of attributes\")]\n\
                fn f() {\n    say!(\"a translated text\");\n    format!(\"{} is an English text\", label!(\"no text\"));\n    \
                x.expect(\"it is an assertion\");\n    sql(\"SELECT two, of from t\");\n    match y { \"a pattern of words\" => 1, _ => 0 }\n    g(\"log file sync\", \"Name of\");\n}\n\
                #[cfg(test)]\nmod tests {\n    const A: &str = \"text of a test\";\n}\n";
    let found = |name: &str, number: usize| {
        format!("{ENGLISH}: crate {name} has {number} English texts: crates/{name}/src/x.rs:5")
    };
    assert_found(&complaints("crates/suite/src/x.rs", text, ""), &[&found("suite", 2)]);
    assert_found(&complaints("crates/ingest/src/x.rs", text, ""), &[&found("ingest", 1)]);
    assert_found(&complaints("crates/suite/src/x.rs", text, "suite 2"), &[]);
    assert_found(&complaints("crates/suite/src/x.rs", text, "suite 3"), &[&found("suite", 2)]);
    assert_found(&complaints("crates/suite/src/x/tests.rs", text, ""), &[]);
    assert_found(&complaints("crates/testkit/src/x.rs", text, ""), &[]);
}
