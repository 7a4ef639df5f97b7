//! Messages of `thiserror`: the literals of its attributes become calls of `say!`.

use proc_macro2::{Delimiter, Group, Literal, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::LitStr;

use crate::template;

/// An item whose messages are texts in the language of the reader.
pub fn translate(item: TokenStream) -> TokenStream {
    let mut is_attribute = false;
    let translate_token = |token: TokenTree| {
        let follows_hash = is_attribute;
        is_attribute = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
        let TokenTree::Group(group) = token else { return token };
        let inner = if follows_hash { translate_attribute(group.stream()) } else { translate(group.stream()) };
        let mut translated = Group::new(group.delimiter(), inner);
        translated.set_span(group.span());
        translated.into()
    };
    item.into_iter().map(translate_token).collect()
}

/// `error("…", arguments)` with a call of `say!`; other attributes as they are.
fn translate_attribute(attribute: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
    let [TokenTree::Ident(name), TokenTree::Group(arguments)] = &*tokens else { return attribute };
    if name != "error" || arguments.delimiter() != Delimiter::Parenthesis {
        return attribute;
    }
    let mut rest = arguments.stream().into_iter();
    let Some(text) = rest.next().and_then(|token| syn::parse2::<LitStr>(token.into()).ok()) else { return attribute };
    let rest: TokenStream = rest.collect();
    let fields = if rest.is_empty() { list_fields(&text) } else { TokenStream::new() };
    quote!(#name("{}", ::plimsoll_language::say!(#text #rest #fields)))
}

/// The fields of a tuple that a message names by number, as arguments of `thiserror`: `, .0, .1`.
fn list_fields(text: &LitStr) -> TokenStream {
    let list_field = |number| {
        let mut literal = Literal::usize_unsuffixed(number);
        literal.set_span(text.span());
        [Punct::new(',', Spacing::Alone).into(), Punct::new('.', Spacing::Alone).into(), TokenTree::from(literal)]
    };
    (0..template::count_numbered(&text.value())).flat_map(list_field).collect()
}
