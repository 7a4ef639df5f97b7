//! Texts of `say!`, `label!`, `static_text!` and `say_errors` against their Japanese in `ja.po` of their crate, and texts of the products'
//! files against `catalogue/ja.po`, names of formats against `names/ja.po` of `ingest`: no entry without a use, and the number of texts without a translation may only shrink. With `UPDATE_GENERATED=1`, the catalogues get entries for new
//! texts, with the translation of another crate if there is one, and lose those without a use.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;

use super::complaint::{Complaint, assert_found, assert_none};
use super::source::{Source, ends_item, is_test, sources};
use super::tree;

#[path = "../../../say/src/po.rs"]
mod po;

use po::Translations;

/// The number of texts without a translation.
const UNTRANSLATED: &str = "crates/plimsoll/tests/tidy/untranslated.txt";
/// Entry of PO that describes the file.
const HEAD: &str = "msgid \"\"\nmsgstr \"\"\n\"Language: ja\\n\"\n\"MIME-Version: 1.0\\n\"\n\
                    \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Content-Transfer-Encoding: 8bit\\n\"\n";

/// Translations of the texts of products and requirements.
const CATALOGUE: &str = "catalogue/ja.po";
/// Keys of these texts in the files, besides the kinds of products and names of stages.
const CATALOGUE_KEYS: [&str; 15] = [
    "about",
    "assumptions",
    "doubts",
    "leaves",
    "loads",
    "message",
    "mode",
    "note",
    "notes",
    "per",
    "provides",
    "scope",
    "status",
    "text",
    "why",
];
/// Tables of these files whose names are texts.
const NAMED_TABLES: [&str; 2] = ["limit", "part"];
/// Keys of texts outside of tables.
const PRODUCT_KEYS: [&str; 2] = ["kind", "title"];

/// Translations of the names of formats and of their parts.
const FORMATS: &str = "crates/ingest/names/ja.po";

/// Texts of a crate with the path of their first use, in the order of use.
type Texts<'a> = Vec<(String, &'a str)>;

/// Texts by the path of their catalogue.
fn collect_texts(sources: &[Source]) -> BTreeMap<String, Texts<'_>> {
    let mut texts: BTreeMap<String, Texts> = BTreeMap::new();
    let mut files: Vec<&Source> = sources.iter().filter(|source| source.text.contains("plimsoll_language")).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut found = BTreeSet::new();
    for source in files {
        let Some((folder, _)) = source.path.split_once("/src/") else { continue };
        let mut own = Vec::new();
        collect(source.text.parse().expect("the source was parsed before"), &mut own);
        let own = own.into_iter().filter(|text| found.insert((folder, text.clone())));
        texts.entry(format!("{folder}/ja.po")).or_default().extend(own.map(|text| (text, &*source.path)));
    }
    texts.retain(|_, texts| !texts.is_empty());
    texts
}

/// Texts of the files of products, requirements and articles.
fn collect_catalogue_texts() -> Texts<'static> {
    let mut texts = Vec::new();
    let mut found = BTreeSet::new();
    let folders = ["articles/", "catalogue/", "requirements/"];
    let is_listed = |path: &&String| folders.iter().any(|folder| path.starts_with(folder));
    for path in tree::files_ending(".toml").chain(tree::files_ending(".shared")).filter(is_listed) {
        let mut own = Vec::new();
        let text = tree::read_text(path).unwrap_or_default();
        let table: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        collect_values(&toml::Value::Table(table), "", "", &mut own);
        texts.extend(
            own.into_iter().filter(|text| !text.is_empty() && found.insert(text.clone())).map(|text| (text, &**path)),
        );
    }
    texts
}

/// Texts in the value of a key of a table.
fn collect_values(value: &toml::Value, table: &str, key: &str, texts: &mut Vec<String>) {
    match value {
        toml::Value::Table(entries) => {
            entries.iter().for_each(|(name, value)| collect_values(value, key, name, texts));
        }
        toml::Value::Array(values) => values.iter().for_each(|value| collect_values(value, table, key, texts)),
        toml::Value::String(text)
            if CATALOGUE_KEYS.contains(&key)
                || (key == "name" && NAMED_TABLES.contains(&table))
                || (PRODUCT_KEYS.contains(&key) && table.is_empty()) =>
        {
            texts.push(text.clone());
        }
        // Names of stages, in quotation marks.
        toml::Value::String(text) if key == "stages" => {
            texts.extend(text.split('"').skip(1).step_by(2).map(String::from));
        }
        _ => {}
    }
}

/// Names of formats, of their parts, and of results of benchmarks.
fn collect_names(sources: &[Source]) -> Texts<'_> {
    let mut texts = Vec::new();
    let mut found = BTreeSet::new();
    let mut files: Vec<&Source> =
        sources.iter().filter(|source| source.path.starts_with("crates/ingest/src/")).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for source in files {
        let mut own = Vec::new();
        collect_names_of(source.text.parse().expect("the source was parsed before"), &mut own);
        texts.extend(
            own.into_iter()
                .filter(|text| !text.is_empty() && found.insert(text.clone()))
                .map(|text| (text, &*source.path)),
        );
    }
    texts
}

fn collect_names_of(tokens: TokenStream, names: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let literal = |token: &TokenTree| Some(syn::parse2::<LitStr>(token.clone().into()).ok()?.value());
    let mut index = 0;
    while index < tokens.len() {
        match &tokens[index..] {
            [TokenTree::Punct(mark), TokenTree::Group(attribute), rest @ ..]
                if mark.as_char() == '#' && is_test(attribute) =>
            {
                index += 2 + rest.iter().position(ends_item).map_or(rest.len(), |end| end + 1);
                continue;
            }
            // Fields and variables: `missing: "a name"`, `name: "a name"`, `missing = "a name"`.
            [TokenTree::Ident(name), TokenTree::Punct(mark), token @ TokenTree::Literal(_), ..]
                if (name == "missing" || name == "name") && matches!(mark.as_char(), ':' | '=') =>
            {
                names.extend(literal(token));
            }
            [TokenTree::Ident(name), ..] if name == "NAME" || name == "DIRECTIONS" => {
                names.extend(tokens[index..].iter().take_while(|token| !ends_item(token)).flat_map(list_literals));
            }
            [TokenTree::Ident(name), TokenTree::Group(arguments), ..] => {
                let literals: Vec<String> =
                    arguments.stream().into_iter().filter_map(|token| literal(&token)).collect();
                let is_form = index > 2 && matches!(&tokens[index - 3], TokenTree::Ident(of) if of == "Form");
                let own = match literals.as_slice() {
                    [id, form, ..] if is_form && !id.contains(' ') => vec![form.clone()],
                    [_, form] if name == "kind" => vec![form.clone()],
                    [.., last] if name == "or_near" => vec![last.clone()],
                    all if name == "lacking" => all.to_vec(),
                    _ if name == "missing" => list_literals(&TokenTree::Group(arguments.clone())),
                    _ => Vec::new(),
                };
                names.extend(own);
                collect_names_of(arguments.stream(), names);
                index += 1;
            }
            // `rows::<Dialect>("an-id", "a name")`.
            [TokenTree::Punct(mark), TokenTree::Group(arguments), ..]
                if mark.as_char() == '>' && tokens[index.saturating_sub(12)..index].iter().any(is_rows) =>
            {
                let literals = list_literals(&TokenTree::Group(arguments.clone()));
                if let [_, name] = literals.as_slice() {
                    names.push(name.clone());
                }
                collect_names_of(arguments.stream(), names);
                index += 1;
            }
            [TokenTree::Group(group), ..] => collect_names_of(group.stream(), names),
            _ => {}
        }
        index += 1;
    }
}

fn is_rows(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(name) if name == "rows")
}

/// The string literals of a token.
fn list_literals(token: &TokenTree) -> Vec<String> {
    match token {
        TokenTree::Group(group) => group.stream().into_iter().flat_map(|token| list_literals(&token)).collect(),
        token => syn::parse2::<LitStr>(token.clone().into()).map(|text| text.value()).into_iter().collect(),
    }
}

fn collect(tokens: TokenStream, texts: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        if is_text(&tokens[..index]) {
            let first = group.stream().into_iter().next();
            let text = first.and_then(|text| syn::parse2::<LitStr>(text.into()).ok());
            texts.extend(text.map(|text| text.value()));
        }
        collect(group.stream(), texts);
    }
}

/// True if arguments that follow these tokens begin with a text: those of `say!`, `label!` and `static_text!`, and of `#[error]`.
fn is_text(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(name), TokenTree::Punct(mark)] => {
            mark.as_char() == '!' && ["say", "label", "static_text"].iter().any(|own| name == own)
        }
        [TokenTree::Ident(name)] => name == "error",
        _ => false,
    }
}

/// A catalogue with an entry for each text.
fn write_catalogue<'a>(texts: &[(String, &str)], find: impl Fn(&str) -> &'a str) -> String {
    let entry =
        |(text, path): &(String, &str)| format!("\n#: {path}\nmsgid {}\nmsgstr {}\n", quote(text), quote(find(text)));
    std::iter::once(HEAD.to_owned()).chain(texts.iter().map(entry)).collect()
}

fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

fn check(
    texts: &BTreeMap<String, Texts>,
    catalogues: &BTreeMap<String, Translations>,
    allowed: usize,
) -> Vec<Complaint> {
    let uses = |place: &str| texts.get(place).into_iter().flatten().map(|(text, _)| text.as_str());
    let list_unused = |(place, translations): (&String, &Translations)| {
        let of_sources: BTreeSet<&str> = uses(place).collect();
        let complain = |text: &String| Complaint {
            place: place.clone(),
            found: format!("{text:?} has no use"),
            allowed: "texts of say!, label!, static_text! and say_errors".to_owned(),
            remedy: "run the test with UPDATE_GENERATED=1".to_owned(),
        };
        translations.0.keys().filter(|text| !of_sources.contains(text.as_str())).map(complain).collect::<Vec<_>>()
    };
    let is_missing = |place: &str, text: &str| catalogues.get(place).and_then(|found| found.find(text)).is_none();
    let missing: Vec<&str> =
        texts.keys().flat_map(|place| uses(place).filter(|text| is_missing(place, text))).collect();
    let changed = (missing.len() != allowed).then(|| Complaint {
        place: UNTRANSLATED.to_owned(),
        found: format!("{} texts without a translation, such as {:?}", missing.len(), missing.first()),
        allowed: allowed.to_string(),
        remedy: if missing.len() > allowed {
            "translate new texts in ja.po of their crate; UPDATE_GENERATED=1 adds their entries".to_owned()
        } else {
            format!("write {}", missing.len())
        },
    });
    catalogues.iter().flat_map(list_unused).chain(changed).collect()
}

/// The present catalogues by path.
fn read_catalogues(texts: &BTreeMap<String, Texts>) -> BTreeMap<String, Translations> {
    let read = |path: String| {
        let text = tree::read_text(&path)?;
        let translations = Translations::parse(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        Some((path, translations))
    };
    let paths: BTreeSet<String> = tree::files_ending("/ja.po").cloned().chain(texts.keys().cloned()).collect();
    paths.into_iter().filter_map(read).collect()
}

/// Writes a catalogue for each crate with texts, and removes those of other crates.
fn update_catalogues(texts: &BTreeMap<String, Texts>) {
    let catalogues = read_catalogues(texts);
    let mut shared = Translations::default();
    for (text, translation) in catalogues.values().flat_map(|translations| &translations.0) {
        if !translation.is_empty() {
            shared.0.insert(text.clone(), translation.clone());
        }
    }
    for place in catalogues.keys().filter(|place| !texts.contains_key(*place)) {
        std::fs::remove_file(tree::root().join(place)).expect("the tree is writable");
    }
    for (place, texts) in texts {
        let own = catalogues.get(place);
        let find = |text: &str| own.and_then(|own| own.find(text)).or_else(|| shared.find(text)).unwrap_or_default();
        std::fs::write(tree::root().join(place), write_catalogue(texts, find)).expect("the tree is writable");
    }
}

#[test]
fn texts_have_translations() {
    let mut texts = collect_texts(sources());
    texts.insert(CATALOGUE.to_owned(), collect_catalogue_texts());
    texts.insert(FORMATS.to_owned(), collect_names(sources()));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        update_catalogues(&texts);
    }
    let allowed = tree::read_text(UNTRANSLATED).and_then(|text| text.trim().parse().ok()).unwrap_or_default();
    assert_none(&check(&texts, &read_catalogues(&texts), allowed));
}

#[test]
fn planted_names_are_found() {
    let text = "pub const A: Form = Form::lines(\"a-b\", \"a report\", |head| head.or_near(1, head.has(\"x y\"), \"line of a\"));\n\
                const B: Form = rows::<a::B>(\"trace-b\", \"b trace\");\nconst NAME: &str = \"c\";\n\
                const D: Family = Family { kind: kind(\"d\", \"d table\"), words: &[\"e\"], missing: \"row of d\" };\n\
                fn f() { Doubt::lacking(\"a row\", \"its time\"); InputFault::missing(\"disks\", &[\"a command\"]); g(\"no name\"); }\n\
                #[cfg(test)]\nmod tests { const NAME: &str = \"of a test\"; }\n";
    let sources = [Source::parse("crates/ingest/src/x.rs", text.to_owned())];
    let names: Vec<String> = collect_names(&sources).into_iter().map(|(name, _)| name).collect();
    let expected =
        ["a report", "line of a", "b trace", "c", "d table", "row of d", "a row", "its time", "disks", "a command"];
    assert_eq!(names, expected);
}

#[test]
fn planted_texts_are_found() {
    let text = "use plimsoll_language::say;\nfn f() {\n    html! { p { (say!(\"a \\\"{}\\\"\\n\", label!(\"b\"))) (label!(\"b\")) } }\n    format!(\"c\");\n}\n";
    let error = "#[plimsoll_language::say_errors]\nenum E { #[error(\"c {0}\")] #[doc = \"d\"] A(u32), #[error(transparent)] B(X) }";
    let sources = [("a", text), ("b", error)]
        .map(|(name, text)| Source::parse(&format!("crates/{name}/src/x.rs"), text.to_owned()));
    let texts = collect_texts(&sources);
    let (path, place) = ("crates/a/src/x.rs", "crates/a/ja.po");
    assert_eq!(texts[place], [("a \"{}\"\n".to_owned(), path), ("b".to_owned(), path)]);
    assert_eq!(texts["crates/b/ja.po"], [("c {0}".to_owned(), "crates/b/src/x.rs")]);
    let parse = |text: &str| Translations::parse(text).expect("it is PO");
    let old = BTreeMap::from([(place.to_owned(), parse("msgid \"b\"\nmsgstr \"び\"\n\nmsgid \"d\"\nmsgstr \"で\"\n"))]);
    assert_found(&check(&texts, &old, 2), &[&format!("{place}: \"d\" has no use")]);
    assert_found(&check(&texts, &old, 0), &[&format!("{place}: \"d\""), &format!("{UNTRANSLATED}: 2 texts")]);
    let written = write_catalogue(&texts[place], |text| old[place].find(text).unwrap_or_default());
    assert!(written.ends_with(&format!("\n#: {path}\nmsgid \"b\"\nmsgstr \"び\"\n")), "{written}");
    assert_found(&check(&texts, &BTreeMap::from([(place.to_owned(), parse(&written))]), 2), &[]);
}
