//! Texts of `say!` and `label!` against their Japanese in `crates/language/ja.po`: no entry without a use, and the number of
//! texts without a translation may only shrink. With `UPDATE_GENERATED=1`, the catalogue gets entries for new texts and loses
//! those without a use.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, sources};
use super::tree;

#[path = "../../../say/src/po.rs"]
mod po;

use po::Translations;

/// The catalogue.
const JAPANESE: &str = "crates/language/ja.po";
/// The number of texts without a translation.
const UNTRANSLATED: &str = "crates/plimsoll/tests/tidy/untranslated.txt";
/// Entry of PO that describes the file.
const HEAD: &str = "msgid \"\"\nmsgstr \"\"\n\"Language: ja\\n\"\n\"MIME-Version: 1.0\\n\"\n\
                    \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Content-Transfer-Encoding: 8bit\\n\"\n";

/// Texts with the path of their first use, in the order of use.
fn collect_texts(sources: &[Source]) -> Vec<(String, &str)> {
    let mut texts: Vec<(String, &str)> = Vec::new();
    let mut files: Vec<&Source> = sources.iter().filter(|source| source.path.contains("/src/")).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut found = BTreeSet::new();
    for source in files.into_iter().filter(|source| source.text.contains("plimsoll_language")) {
        let mut own = Vec::new();
        collect(source.text.parse().expect("the source was parsed before"), &mut own);
        texts.extend(own.into_iter().filter(|text| found.insert(text.clone())).map(|text| (text, &*source.path)));
    }
    texts
}

fn collect(tokens: TokenStream, texts: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        if let Some([TokenTree::Ident(name), TokenTree::Punct(mark)]) =
            index.checked_sub(2).map(|at| &tokens[at..index])
            && mark.as_char() == '!'
            && (name == "say" || name == "label")
        {
            let first = group.stream().into_iter().next();
            let text = first.and_then(|text| syn::parse2::<LitStr>(text.into()).ok());
            texts.extend(text.map(|text| text.value()));
        }
        collect(group.stream(), texts);
    }
}

/// The catalogue with an entry for each text.
fn write_catalogue(texts: &[(String, &str)], translations: &Translations) -> String {
    let entry = |(text, path): &(String, &str)| {
        let translation = translations.find(text).unwrap_or_default();
        format!("\n#: {path}\nmsgid {}\nmsgstr {}\n", quote(text), quote(translation))
    };
    std::iter::once(HEAD.to_owned()).chain(texts.iter().map(entry)).collect()
}

fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

fn check(texts: &[(String, &str)], translations: &Translations, allowed: usize) -> Vec<Complaint> {
    let uses: BTreeMap<&str, &str> = texts.iter().map(|(text, path)| (text.as_str(), *path)).collect();
    let unused = translations.0.keys().filter(|text| !uses.contains_key(text.as_str())).map(|text| Complaint {
        place: JAPANESE.to_owned(),
        found: format!("{text:?} has no use"),
        allowed: "texts of say! and label!".to_owned(),
        remedy: "run the test with UPDATE_GENERATED=1".to_owned(),
    });
    let missing: Vec<&str> = uses.keys().copied().filter(|text| translations.find(text).is_none()).collect();
    let changed = (missing.len() != allowed).then(|| Complaint {
        place: UNTRANSLATED.to_owned(),
        found: format!("{} texts without a translation, such as {:?}", missing.len(), missing.first()),
        allowed: allowed.to_string(),
        remedy: if missing.len() > allowed {
            format!("translate new texts in {JAPANESE}; UPDATE_GENERATED=1 adds their entries")
        } else {
            format!("write {}", missing.len())
        },
    });
    unused.chain(changed).collect()
}

#[test]
fn texts_have_translations() {
    let texts = collect_texts(sources());
    let read =
        || Translations::parse(&tree::text(JAPANESE).unwrap_or_default()).unwrap_or_else(|error| panic!("{error}"));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(tree::root().join(JAPANESE), write_catalogue(&texts, &read())).expect("the tree is writable");
    }
    let allowed = tree::text(UNTRANSLATED).and_then(|text| text.trim().parse().ok()).unwrap_or_default();
    assert_none(&check(&texts, &read(), allowed));
}

#[test]
fn planted_texts_are_found() {
    let text = "use plimsoll_language::say;\nfn f() {\n    html! { p { (say!(\"a \\\"{}\\\"\\n\", label!(\"b\"))) (label!(\"b\")) } }\n    format!(\"c\");\n}\n";
    let sources = [Source::parse("crates/a/src/x.rs", text.to_owned())];
    let texts = collect_texts(&sources);
    let path = "crates/a/src/x.rs";
    assert_eq!(texts, [("a \"{}\"\n".to_owned(), path), ("b".to_owned(), path)]);
    let old = Translations::parse("msgid \"b\"\nmsgstr \"び\"\n\nmsgid \"d\"\nmsgstr \"で\"\n").expect("it is PO");
    assert_found(&check(&texts, &old, 1), &[&format!("{JAPANESE}: \"d\" has no use")]);
    assert_found(&check(&texts, &old, 0), &[&format!("{JAPANESE}: \"d\""), &format!("{UNTRANSLATED}: 1 texts")]);
    let written = write_catalogue(&texts, &old);
    assert!(written.ends_with(&format!("\n#: {path}\nmsgid \"b\"\nmsgstr \"び\"\n")), "{written}");
    assert_found(&check(&texts, &Translations::parse(&written).expect("it is PO"), 1), &[]);
}
