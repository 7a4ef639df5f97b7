//! Facts of a Rust file: functions and their lengths, defined names, declared modules.
//!
//! Parsed by `syn`, without macro expansion.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Expr, Field, Ident, ImplItemFn, Item, ItemFn, ItemImpl, ItemMod, Lit, Local, Meta, PatIdent, Signature,
    TraitItemFn, Type, Variant,
};

use super::tree;

/// Facts of a file.
#[derive(Debug, Default)]
pub struct Source {
    /// Path from the workspace root.
    pub path: String,
    pub text: String,
    /// Functions with a body, including nested functions.
    pub functions: Vec<Function>,
    /// Names chosen in the file, without those of foreign traits.
    pub definitions: Vec<Definition>,
    /// Modules in separate files.
    pub modules: Vec<Module>,
    /// Rust files named by macros such as `include!`.
    pub included: Vec<String>,
    /// Lines with the keyword `unsafe`.
    pub unsafe_lines: Vec<usize>,
    /// First names of paths that begin with `crate`, without those of modules of tests.
    pub crate_modules: BTreeSet<String>,
    /// Names and lines of `let` bindings that shadow a free function of the file's own module.
    pub shadows: Vec<(String, usize)>,
}

#[derive(Debug)]
pub struct Function {
    /// `name`, or `Type::name` in an `impl` or a trait.
    pub name: String,
    /// Line of the keyword `fn`.
    pub line: usize,
    /// Lines from there to the closing brace.
    pub lines: usize,
}

/// A chosen name.
#[derive(Debug)]
pub struct Definition {
    pub name: String,
    pub function: bool,
    pub line: usize,
}

/// `mod name;`
#[derive(Debug)]
pub struct Module {
    /// Enclosing inline modules, outermost first.
    pub within: Vec<String>,
    pub name: String,
    /// The `path` attribute.
    pub path: Option<String>,
}

/// All Rust files of the project.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let read = |path: &String| Source::parse(path, tree::read_text(path).unwrap_or_default());
        tree::files_ending(".rs").map(read).collect()
    })
}

impl Source {
    /// Parses a file.
    ///
    /// # Panics
    /// The file is not Rust.
    pub fn parse(path: &str, text: String) -> Self {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: not Rust: {error}"));
        let mut unsafe_lines = Vec::new();
        find_unsafe(tokens.clone(), &mut unsafe_lines);
        let mut crate_modules = BTreeSet::new();
        find_crate_modules(tokens.clone(), &mut crate_modules);
        let file: syn::File = syn::parse2(tokens)
            .unwrap_or_else(|error| panic!("{path}:{}: not Rust: {error}", error.span().start().line));
        let free =
            file.items.iter().filter_map(|item| if let Item::Fn(item) = item { Some(&item.sig.ident) } else { None });
        let mut reader = Reader { free: free.map(Ident::to_string).collect(), ..Reader::default() };
        reader.visit_file(&file);
        Self { path: path.to_owned(), text, unsafe_lines, crate_modules, ..reader.source }
    }
}

/// Also searches macros, and ignores comments and strings.
fn find_unsafe(tokens: TokenStream, lines: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => find_unsafe(group.stream(), lines),
            TokenTree::Ident(ident) if ident == "unsafe" => lines.push(ident.span().start().line),
            _ => {}
        }
    }
}

/// Also searches macros.
fn find_crate_modules(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut index = 0;
    while index < tokens.len() {
        match &tokens[index..] {
            [TokenTree::Punct(_), TokenTree::Group(attribute), rest @ ..] if is_test(attribute) => {
                index += 2 + rest.iter().position(ends_item).map_or(rest.len(), |end| end + 1);
                continue;
            }
            [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Punct(_), next, ..] if word == "crate" => {
                match next {
                    TokenTree::Ident(name) => drop(names.insert(name.to_string())),
                    TokenTree::Group(group) => names.extend(first_names(group)),
                    _ => {}
                }
            }
            [TokenTree::Group(group), ..] => find_crate_modules(group.stream(), names),
            _ => {}
        }
        index += 1;
    }
}

/// True for `[cfg(test)]`.
pub fn is_test(attribute: &Group) -> bool {
    attribute.delimiter() == Delimiter::Bracket && attribute.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// True for the last token of an item.
pub fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    }
}

/// The first names of the paths in the braces of a `use`.
fn first_names(group: &Group) -> Vec<String> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let firsts = tokens.split(is_comma).filter_map(|path| path.first());
    firsts.filter_map(|first| if let TokenTree::Ident(name) = first { Some(name.to_string()) } else { None }).collect()
}

#[derive(Default)]
struct Reader {
    source: Source,
    /// The type or trait of the current body.
    owner: Option<String>,
    /// True in an implementation of a trait, whose names are fixed.
    prescribed: bool,
    within: Vec<String>,
    /// Free functions of the file's own module.
    free: BTreeSet<String>,
    /// True in the pattern of a `let`.
    in_let: bool,
}

impl Reader {
    fn defined(&mut self, ident: &Ident, function: bool) {
        let line = ident.span().start().line;
        self.source.definitions.push(Definition { name: ident.to_string(), function, line });
    }

    fn function(&mut self, signature: &Signature, last_line: usize) {
        let line = signature.fn_token.span.start().line;
        let name = match &self.owner {
            Some(owner) => format!("{owner}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        self.source.functions.push(Function { name, line, lines: last_line - line + 1 });
    }

    /// Runs `read` with another owner, then restores the present one.
    fn owned_by(&mut self, owner: Option<String>, prescribed: bool, read: impl FnOnce(&mut Self)) {
        let before = (std::mem::replace(&mut self.owner, owner), std::mem::replace(&mut self.prescribed, prescribed));
        read(self);
        (self.owner, self.prescribed) = before;
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Struct(item) => self.defined(&item.ident, false),
            Item::Enum(item) => self.defined(&item.ident, false),
            Item::Union(item) => self.defined(&item.ident, false),
            Item::Trait(item) => {
                self.defined(&item.ident, false);
                let owner = Some(item.ident.to_string());
                return self.owned_by(owner, false, |reader| visit::visit_item_trait(reader, item));
            }
            Item::Type(item) => self.defined(&item.ident, false),
            Item::Const(item) => self.defined(&item.ident, false),
            Item::Static(item) => self.defined(&item.ident, false),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.defined(&item.sig.ident, true);
        self.owned_by(None, false, |reader| {
            reader.function(&item.sig, item.block.brace_token.span.close().end().line);
            visit::visit_item_fn(reader, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let owner = match &*item.self_ty {
            Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        let prescribed = item.trait_.is_some();
        self.owned_by(owner, prescribed, |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !self.prescribed {
            self.defined(&item.sig.ident, true);
        }
        self.function(&item.sig, item.block.brace_token.span.close().end().line);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.defined(&item.sig.ident, true);
        if let Some(body) = &item.default {
            self.function(&item.sig, body.brace_token.span.close().end().line);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.defined(&item.ident, false);
        if item.content.is_none() {
            let path = item.attrs.iter().find_map(|attribute| named_path(&attribute.meta));
            let (within, name) = (self.within.clone(), item.ident.to_string());
            self.source.modules.push(Module { within, name, path });
        }
        self.within.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.within.pop();
    }

    fn visit_field(&mut self, field: &'ast Field) {
        field.ident.iter().for_each(|ident| self.defined(ident, false));
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.defined(&variant.ident, false);
        visit::visit_variant(self, variant);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.defined(&pattern.ident, false);
        let name = pattern.ident.to_string();
        if self.in_let && self.within.is_empty() && self.free.contains(&name) {
            self.source.shadows.push((name, pattern.ident.span().start().line));
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        self.in_let = true;
        self.visit_pat(&local.pat);
        self.in_let = false;
        if let Some(init) = &local.init {
            self.visit_local_init(init);
        }
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        if let Ok(literal) = invocation.parse_body::<syn::LitStr>() {
            let path = literal.value();
            if path.to_ascii_lowercase().ends_with(".rs") {
                self.source.included.push(path);
            }
        }
    }
}

/// The value of `#[path = "..."]`.
fn named_path(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else { return None };
    match &pair.value {
        Expr::Lit(value) if pair.path.is_ident("path") => match &value.lit {
            Lit::Str(path) => Some(path.value()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Source {
        Source::parse("x.rs", text.to_owned())
    }

    #[test]
    fn braces_in_text_and_comments_do_not_count() {
        let source =
            read("fn a() {\n let _ = \"}\"; // }\n let _ = '}';\n let _: &'static str = r#\"}\"#; /* } */\n}\n");
        let [only] = &source.functions[..] else { panic!("{:?}", source.functions) };
        assert_eq!((only.name.as_str(), only.line, only.lines), ("a", 1, 5));
    }

    #[test]
    fn functions_are_named_after_their_owner() {
        let source = read(
            "struct S;\nimpl S {\n fn a(&self) {}\n}\nimpl Clone for S {\n fn clone(&self) -> S { fn inner() {} S }\n}\n\
             trait T {\n fn b();\n fn c() {}\n}\nmod m {\n fn d() {}\n}\n",
        );
        let names: Vec<&str> = source.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["S::a", "S::clone", "inner", "T::c", "d"]);
        assert!(source.definitions.iter().all(|definition| definition.name != "clone"));
        assert!(source.definitions.iter().any(|definition| definition.name == "b" && definition.function));
    }

    #[test]
    fn attributes_and_documentation_are_no_part_of_the_length() {
        let source = read("/// Says\n/// much.\n#[inline]\npub fn a() {}\n");
        assert_eq!((source.functions[0].line, source.functions[0].lines), (4, 1));
    }

    #[test]
    fn unsafe_is_found_in_macros_and_not_in_text() {
        let source = read("// unsafe\nconst A: &str = \"unsafe\";\nmacro_rules! m {\n () => { unsafe {} };\n}\n");
        assert_eq!(source.unsafe_lines, [4]);
    }

    #[test]
    fn modules_and_inclusions_are_found() {
        let source = read("mod a { mod b; }\n#[path = \"q.rs\"]\nmod c;\nmod d {}\ninclude!(\"e.rs\");\n");
        let found: Vec<String> =
            source.modules.iter().map(|m| format!("{:?} {} {:?}", m.within, m.name, m.path)).collect();
        assert_eq!(found, ["[\"a\"] b None", "[] c Some(\"q.rs\")"]);
        assert_eq!(source.included, ["e.rs"]);
    }
}
