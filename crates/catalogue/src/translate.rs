//! Texts of products and requirements in the language of the reader.

/// English texts of the built-in files, in order, with their Japanese.
static JAPANESE: &[(&str, &str)] = plimsoll_language::translations!("catalogue/ja.po");

/// A text of a product or requirement, such as the name of a limit, in the language of the reader; English if it has no
/// translation. Results keep the English text, and those that print them translate it.
pub fn translate(text: &str) -> &str {
    plimsoll_language::translate(JAPANESE, text)
}
