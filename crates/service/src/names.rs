//! Names of volumes and groups.

use plimsoll_catalogue::{nearest, one_of};
use plimsoll_language::{label, say};

use crate::refusal::{Refusal, RefusalKind};

/// Maximum length in bytes.
const NAME_BYTES: usize = 64;

/// Checks that a name is valid in NBD URIs and paths without escapes.
pub(crate) fn check(name: &str) -> Result<(), Refusal> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_first_valid = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    if is_first_valid && name.len() <= NAME_BYTES && name.bytes().all(is_valid) {
        return Ok(());
    }
    let escaped: String = name.chars().take(NAME_BYTES).flat_map(char::escape_debug).collect();
    Err(Refusal::new(
        RefusalKind::Bad,
        say!(
            "\"{escaped}\" is not a valid name: write 1 to {NAME_BYTES} letters, digits, -, _ and ., a letter or digit first"
        ),
    ))
}

/// Refusal for an unknown name; `names` are those of the objects of this kind.
pub(crate) fn unknown<'n>(kind: &str, name: &str, names: impl IntoIterator<Item = &'n str>) -> Refusal {
    let names: Vec<&str> = names.into_iter().collect();
    let near = nearest(name, names.iter().copied());
    let escaped: String = name.chars().take(NAME_BYTES).flat_map(char::escape_debug).collect();
    let is_group = kind == "group";
    let kind = if is_group { label!("group") } else { label!("volume") };
    let advice = match (near.is_empty(), names.is_empty()) {
        (false, _) => say!("did you mean {}?", one_of(&near)),
        (true, false) => {
            say!("plimsoll volume {}list shows those that there are", if is_group { "group " } else { "" })
        }
        (true, true) => say!("there is no {kind} yet"),
    };
    Refusal::new(RefusalKind::NotFound, say!("there is no {kind} \"{escaped}\": {advice}"))
}
