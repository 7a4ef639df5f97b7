//! Tags: texts that a control plane keeps with a volume. They are part of its metadata, so they become durable in the
//! same commit as the volume, and end with it.

use std::collections::BTreeMap;

use plimsoll_language::say;

use crate::api;
use crate::refusal::Refusal;

/// Texts by key.
pub type Tags = BTreeMap<String, String>;

/// Properties that a control plane gives to a new volume; durable in the commit of its creation.
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// Texts of the control plane.
    pub tags: Tags,
    /// Automatic level changes.
    pub autotune: Option<api::Autotune>,
}

/// Maximum length of all tags of a volume in bytes; metadata have at most 64 KiB.
const TAGS_BYTES: usize = 32 << 10;

/// Refuses tags that are too long.
pub(crate) fn check_tags(tags: &Tags) -> Result<(), Refusal> {
    let length: usize = tags.iter().map(|(key, value)| key.len() + value.len()).sum();
    if length <= TAGS_BYTES {
        return Ok(());
    }
    Err(Refusal::bad(say!("the tags have {length} bytes: a volume takes {TAGS_BYTES}")))
}
