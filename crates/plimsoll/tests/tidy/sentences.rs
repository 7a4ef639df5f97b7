//! Sentences outside of the words of `report`: string literals of seven words and more in crates that return data, without
//! tests and attributes, thus without messages of `thiserror`, without assertions, which users do not read, and without
//! SQL. The numbers may only shrink.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};

use super::complaint::{Complaint, assert_found, assert_none, check_counts};
use super::source::{Source, ends_item, is_test, sources};
use super::tree;

/// The present state: `crate sentences` per line.
const SENTENCES: &str = "crates/plimsoll/tests/tidy/sentences.txt";
/// Crates whose results are data.
const CRATES: [&str; 5] = ["analyse", "choose", "ingest", "measure", "suite"];
/// Words of a sentence; shorter literals are names.
const MIN_WORDS: usize = 7;
/// First words of SQL statements.
const SQL_VERBS: [&str; 8] = ["CALL", "CREATE", "DELETE", "INSERT", "SELECT", "SET", "UPDATE", "WITH"];

fn find(tokens: TokenStream, found: &mut Vec<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut index = 0;
    while index < tokens.len() {
        match &tokens[index..] {
            [TokenTree::Punct(mark), TokenTree::Group(attribute), rest @ ..] if mark.as_char() == '#' => {
                index += 2;
                if is_test(attribute) {
                    index += rest.iter().position(ends_item).map_or(rest.len(), |end| end + 1);
                }
                continue;
            }
            [TokenTree::Punct(mark), TokenTree::Punct(_), TokenTree::Group(_), ..] if mark.as_char() == '#' => {
                index += 2;
            }
            [TokenTree::Ident(name), TokenTree::Group(_), ..] if name == "expect" => index += 1,
            [TokenTree::Group(group), ..] => find(group.stream(), found),
            [TokenTree::Literal(literal), ..] if is_sentence(&literal.to_string()) => {
                found.push(literal.span().start().line);
            }
            _ => {}
        }
        index += 1;
    }
}

fn is_sentence(literal: &str) -> bool {
    let mut words = literal.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).peekable();
    let is_sql = words.peek().is_some_and(|word| SQL_VERBS.contains(&word.trim_start_matches(['"', '('])));
    literal.contains('"') && !is_sql && words.count() >= MIN_WORDS
}

fn check(sources: &[Source], listed: &str) -> Vec<Complaint> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.path.ends_with("/tests.rs")) {
        let name = source.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        if let Some((name, _)) = name.filter(|(name, _)| CRATES.contains(name)) {
            let mut lines = Vec::new();
            find(source.text.parse().expect("the source was parsed before"), &mut lines);
            found.entry(name).or_default().extend(lines.iter().map(|line| format!("{}:{line}", source.path)));
        }
    }
    let remedy = "return data, and write the sentence in crates/report/src/words";
    check_counts(SENTENCES, listed, found, "sentences", remedy)
}

#[test]
fn sentences_get_no_more() {
    assert_none(&check(sources(), &tree::read_text(SENTENCES).unwrap_or_default()));
}

#[test]
fn planted_sentences_are_found() {
    let complaints = |path: &str, text: &str, listed: &str| check(&[Source::parse(path, text.to_owned())], listed);
    let text = "//! Seven words of documentation do not count.\n#[error(\"seven words of an error do not count\")]\n\
                fn f() {\n    format!(\"seven words of a result \\\n     are found\");\n    g(\"six words of a result are\");\n    \
                x.expect(\"seven words of an assertion do not count\");\n    \
                sql(\"SELECT seven, words, of, sql FROM t WHERE a\");\n}\n\
                #[cfg(test)]\nmod tests {\n    const A: &str = \"seven words of a test do not count\";\n}\n";
    let found = format!("{SENTENCES}: crate choose has 1 sentences");
    assert_found(&complaints("crates/choose/src/x.rs", text, ""), &[&found]);
    assert_found(&complaints("crates/choose/src/x.rs", text, "choose 1"), &[]);
    assert_found(&complaints("crates/choose/src/x.rs", text, "choose 2"), &[&found]);
    assert_found(&complaints("crates/report/src/x.rs", text, ""), &[]);
    assert_found(&complaints("crates/choose/src/x/tests.rs", text, ""), &[]);
}
