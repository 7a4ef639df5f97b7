//! Names of volumes and groups.

use plimsoll_catalogue::{nearest, one_of};
use plimsoll_language::{label, say};

use crate::refusal::{Refusal, RefusalKind};

/// Maximum length in bytes.
const NAME_BYTES: usize = 64;

/// Checks that a name is valid in NBD URIs and paths without escapes.
pub(crate) fn check(name: &str) -> Result<(), Refusal> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    if begins && name.len() <= NAME_BYTES && name.bytes().all(letter) {
        return Ok(());
    }
    let displayed: String = name.chars().take(NAME_BYTES).flat_map(char::escape_debug).collect();
    Err(Refusal::new(
        RefusalKind::Bad,
        say!(
            "\"{displayed}\" is not a valid name: write 1 to {NAME_BYTES} letters, digits, -, _ and ., a letter or digit first"
        ),
    ))
}

/// Refusal for an unknown name; `what` is the kind of object, `existing` are the existing names.
pub(crate) fn unknown<'n>(what: &str, name: &str, existing: impl IntoIterator<Item = &'n str>) -> Refusal {
    let existing: Vec<&str> = existing.into_iter().collect();
    let near = nearest(name, existing.iter().copied());
    let displayed: String = name.chars().take(NAME_BYTES).flat_map(char::escape_debug).collect();
    let is_group = what == "group";
    let what = if is_group { label!("group") } else { label!("volume") };
    let advice = match (near.is_empty(), existing.is_empty()) {
        (false, _) => say!("did you mean {}?", one_of(&near)),
        (true, false) => {
            say!("plimsoll volume {}list shows those that there are", if is_group { "group " } else { "" })
        }
        (true, true) => say!("there is no {what} yet"),
    };
    Refusal::new(RefusalKind::NotFound, say!("there is no {what} \"{displayed}\": {advice}"))
}
