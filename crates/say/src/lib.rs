//! Texts in the language of the reader: `say!` formats, `label!` is a `&'static str`.
//!
//! Both look their English text up in `crates/language/ja.po` at compile time, and expand to a match on
//! `plimsoll_language::Language::current()`. A text without a translation is English in both languages. The translations
//! are a part of this crate, so that a change of them compiles the users of the macros again.

mod po;
mod template;

use std::sync::LazyLock;

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::LitStr;

use po::Translations;

static JAPANESE: LazyLock<Result<Translations, String>> =
    LazyLock::new(|| Translations::parse(include_str!("../../language/ja.po")));

/// A `String` with the syntax of `format!`, in the language of the reader.
///
/// A translation has the placeholders of the English template. Several placeholders without a name are numbered in the
/// translation, as their order differs.
#[proc_macro]
pub fn say(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input.into(), &quote!(::std::format!))
}

/// A `&'static str` in the language of the reader.
#[proc_macro]
pub fn label(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input.into(), &quote!(::plimsoll_language::literal))
}

/// A call with the text, in both languages if there is a translation.
fn expand(input: TokenStream, call: &TokenStream) -> proc_macro::TokenStream {
    let mut arguments = input.into_iter();
    let first = arguments.next();
    let span = first.as_ref().map_or_else(Span::call_site, TokenTree::span);
    let expanded = expand_text(first, call, &arguments.collect());
    expanded.unwrap_or_else(|message| quote_spanned!(span => ::std::compile_error!(#message))).into()
}

fn expand_text(first: Option<TokenTree>, call: &TokenStream, rest: &TokenStream) -> Result<TokenStream, String> {
    let english: Option<LitStr> = first.and_then(|token| syn::parse2(token.into()).ok());
    let english = english.ok_or("expected a string literal, the English text")?;
    let text = english.value();
    let translations = JAPANESE.as_ref().map_err(|error| format!("ja.po: {error}"))?;
    let Some(translation) = translations.find(&text) else { return Ok(quote!(#call(#english #rest))) };
    template::check(&text, translation)?;
    let mut japanese = Literal::string(translation);
    // Names in braces are those of the caller.
    japanese.set_span(english.span());
    Ok(quote_spanned! { Span::mixed_site() =>
        match ::plimsoll_language::Language::current() {
            ::plimsoll_language::Language::English => #call(#english #rest),
            ::plimsoll_language::Language::Japanese => #call(#japanese #rest),
        }
    })
}
