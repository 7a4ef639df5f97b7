//! Texts in the language of the reader: `say!` formats, `label!` is a `&'static str`, `static_text!` is a constant, and
//! `say_errors` is for messages of `thiserror`.
//!
//! They look their English text up in `ja.po` beside the manifest of the crate that uses them, at compile time, and expand
//! to a match on `plimsoll_language::Language::current()`. A text without a translation is English in both languages. Each
//! crate has translations of its own, so that a change of them compiles this crate again and not those below it.
#![deny(missing_docs)]

mod messages;
mod po;
mod template;

use std::sync::{LazyLock, Mutex};

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::LitStr;

use po::Translations;

/// Translations of the crate that is compiled.
struct Catalogue {
    translations: Translations,
    /// The file, until the first text states that the crate depends on it.
    dependency: Mutex<Option<String>>,
}

static JAPANESE: LazyLock<Result<Catalogue, String>> = LazyLock::new(Catalogue::read);

impl Catalogue {
    #[expect(clippy::disallowed_methods, reason = "the compiler reads the files of the crate that it compiles")]
    fn read() -> Result<Self, String> {
        let path = find_path("ja.po")?;
        let exists = std::fs::exists(&path).map_err(|error| format!("{path}: {error}"))?;
        let found = if exists { read_translations(&path)? } else { Translations::default() };
        Ok(Self { translations: found, dependency: Mutex::new(exists.then_some(path)) })
    }

    /// An item that makes the crate depend on the file, for the first text only.
    fn depend(&self) -> Result<Option<TokenStream>, String> {
        let path = self.dependency.lock().map_err(|error| error.to_string())?.take();
        Ok(path.as_deref().map(depend_on))
    }
}

/// The path of a file from the manifest of the crate that is compiled.
#[expect(clippy::disallowed_methods, reason = "cargo tells the crate that it compiles by a variable")]
fn find_path(name: &str) -> Result<String, String> {
    let folder = std::env::var("CARGO_MANIFEST_DIR").map_err(|error| format!("CARGO_MANIFEST_DIR: {error}"))?;
    Ok(format!("{folder}/{name}"))
}

#[expect(clippy::disallowed_methods, reason = "the compiler reads the files of the crate that it compiles")]
fn read_translations(path: &str) -> Result<Translations, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Translations::parse(&text).map_err(|error| format!("{path}: {error}"))
}

/// An item that makes the crate depend on a file.
fn depend_on(path: &str) -> TokenStream {
    quote!(
        const _: &str = ::std::include_str!(#path);
    )
}

/// Translations of a file of gettext, relative to the manifest, as a `&'static [(&'static str, &'static str)]` in the
/// order of the English texts: for texts that are read from data.
#[proc_macro]
pub fn translations(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let list = |input: TokenStream| {
        let name: LitStr = syn::parse2(input).map_err(|error| error.to_string())?;
        let path = find_path(&name.value())?;
        let Translations(entries) = read_translations(&path)?;
        let pairs = entries.iter().filter(|(_, translation)| !translation.is_empty());
        let pairs = pairs.map(|(english, translation)| quote!((#english, #translation)));
        let dependency = depend_on(&path);
        Ok::<_, String>(quote!({ #dependency &[#(#pairs),*] }))
    };
    list(input.into()).unwrap_or_else(|message| quote!(::std::compile_error!(#message))).into()
}

/// A `String` with the syntax of `format!`, in the language of the reader.
///
/// A translation has the placeholders of the English template. Several placeholders without a name are numbered in the
/// translation, as their order differs. A space between a placeholder and Japanese text is there for values in Latin letters
/// and digits, and is left out before values in Japanese.
#[proc_macro]
pub fn say(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input.into(), &quote!(::std::format!), TemplateValues::Formatted)
}

/// A `&'static str` in the language of the reader.
#[proc_macro]
pub fn label(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input.into(), &quote!(::plimsoll_language::literal), TemplateValues::None)
}

/// A constant for tables: a `plimsoll_language::StaticText`, which is in the language of the reader when it is read.
#[proc_macro]
pub fn static_text(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let build = |input: TokenStream| {
        let english: LitStr = syn::parse2(input).map_err(|error| error.to_string())?;
        let text = english.value();
        let catalogue = JAPANESE.as_ref().map_err(Clone::clone)?;
        let translation = catalogue.translations.find(&text).unwrap_or(&text);
        let dependency = catalogue.depend()?;
        Ok::<_, String>(quote!({ #dependency ::plimsoll_language::StaticText::new(#english, #translation) }))
    };
    build(input.into()).unwrap_or_else(|message| quote!(::std::compile_error!(#message))).into()
}

/// Messages of `thiserror` in the language of the reader: `#[error("…")]` becomes `#[error("{}", say!("…"))]`.
///
/// It stands above `derive`. A field that is a path needs `.path.display()` as an argument, and a message with numbered
/// placeholders names all fields up to the last one.
#[proc_macro_attribute]
pub fn say_errors(_arguments: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    messages::translate(item.into()).into()
}

/// Whether a text has values.
#[derive(Clone, Copy, PartialEq)]
enum TemplateValues {
    None,
    Formatted,
}

/// A call with the text, in both languages if there is a translation.
fn expand(input: TokenStream, call: &TokenStream, values: TemplateValues) -> proc_macro::TokenStream {
    let mut arguments = input.into_iter();
    let first = arguments.next();
    let span = first.as_ref().map_or_else(Span::call_site, TokenTree::span);
    let expanded = expand_text(first, call, values, &arguments.collect());
    expanded.unwrap_or_else(|message| quote_spanned!(span => ::std::compile_error!(#message))).into()
}

fn expand_text(
    first: Option<TokenTree>,
    call: &TokenStream,
    values: TemplateValues,
    rest: &TokenStream,
) -> Result<TokenStream, String> {
    let english: Option<LitStr> = first.and_then(|token| syn::parse2(token.into()).ok());
    let english = english.ok_or("expected a string literal, the English text")?;
    let text = english.value();
    let catalogue = JAPANESE.as_ref().map_err(Clone::clone)?;
    let Some(translation) = catalogue.translations.find(&text) else { return Ok(quote!(#call(#english #rest))) };
    template::check(&text, translation)?;
    let marked =
        if values == TemplateValues::None { translation.to_owned() } else { template::mark_edges(translation) };
    let mut japanese = Literal::string(&marked);
    // Names in braces are those of the caller.
    japanese.set_span(english.span());
    let dependency = catalogue.depend()?;
    let mut translated = quote!(#call(#japanese #rest));
    if marked != translation {
        translated = quote!(::plimsoll_language::space_values(&#translated));
    }
    Ok(quote_spanned! { Span::mixed_site() => {
        #dependency
        match ::plimsoll_language::Language::current() {
            ::plimsoll_language::Language::English => #call(#english #rest),
            ::plimsoll_language::Language::Japanese => #translated,
        }
    }})
}
