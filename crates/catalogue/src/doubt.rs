//! Doubts about offers as sentences, and their translation from the English of stored runs.

use plimsoll_language::{Language, label, say};

use crate::cite::Status;
use crate::translate::translate;

/// A doubt about an offer in the language of the reader. Runs have its English text, with the name of a limit or a status.
pub fn translate_doubt(text: &str) -> String {
    let find_status = |doubt: &str| {
        let is_same = |status: &Status| Language::English.scope(|| status.doubt()) == Some(doubt);
        Status::ALL.into_iter().find(is_same)?.doubt()
    };
    let latency = || Some(doubt_latency(find_status(find_value(text, doubt_latency)?)?));
    let limit = || {
        let (name, doubt) = text.strip_prefix('"')?.split_once("\" ")?;
        Some(say!("\"{}\" {}", translate(name), find_status(doubt)?))
    };
    let left_out = || Some(doubt_left_out(find_value(text, doubt_left_out)?));
    let page_cache = || (text == Language::English.scope(doubt_page_cache)).then(|| doubt_page_cache().to_owned());
    let composed = latency().or_else(limit).or_else(left_out).or_else(page_cache);
    composed.unwrap_or_else(|| translate(text).to_owned())
}

/// The value with which a sentence has this English text.
fn find_value(text: &str, sentence: fn(&str) -> String) -> Option<&str> {
    let frame = Language::English.scope(|| sentence("\0"));
    let (head, tail) = frame.split_once('\0')?;
    text.strip_prefix(head)?.strip_suffix(tail)
}

/// The doubt about response times with the caveat of a status.
pub(crate) fn doubt_latency(doubt: &str) -> String {
    say!("its latency {doubt}")
}

/// The doubt that a model leaves a limit out.
pub(crate) fn doubt_left_out(limit: &str) -> String {
    say!("the model leaves out \"{}\", which holds for one order of addresses only", translate(limit))
}

/// The doubt about a page cache in front of a volume.
pub(crate) fn doubt_page_cache() -> &'static str {
    label!(
        "the page cache is taken to hold unwritten pages up to its whole size; Linux holds writers back earlier \
         (vm.dirty_ratio)"
    )
}
