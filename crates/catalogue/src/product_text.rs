//! Text of a product file, followed by the text that it shares with other files.

use std::borrow::Cow;

use toml::de::DeTable;

/// Key of a product file that names the shared file.
pub(crate) const SHARED: &str = "shared";

/// A product file, and the shared file of its folder that it names.
pub(crate) struct ProductText<'t> {
    /// Name of the product file.
    pub(crate) file: &'t str,
    /// Text of both files.
    pub(crate) text: Cow<'t, str>,
    /// The shared file could not be read.
    pub(crate) lacks_shared: bool,
    shared: Option<SharedPart>,
}

/// The part of a text that comes from the shared file.
struct SharedPart {
    file: String,
    /// Lines before it.
    lines_before: u32,
}

impl<'t> ProductText<'t> {
    /// Adds the shared file, if the text names one; `beside` reads a file of the same folder.
    pub(crate) fn read(file: &'t str, text: &'t str, beside: &dyn Fn(&str) -> Option<String>) -> Self {
        let may_name_shared = text.lines().any(|line| line.trim_start().starts_with(SHARED));
        let name = may_name_shared.then(|| shared_name(text)).flatten();
        let shared = name.as_deref().and_then(beside);
        let (Some(name), Some(shared)) = (&name, shared) else {
            return Self { file, text: Cow::Borrowed(text), lacks_shared: name.is_some(), shared: None };
        };
        let text = format!("{}\n{shared}", text.trim_end_matches('\n'));
        let lines_before = text[..text.len() - shared.len()].matches('\n').count() as u32;
        let folder = file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let shared = Some(SharedPart { file: format!("{folder}{name}"), lines_before });
        Self { file, text: Cow::Owned(text), lacks_shared: false, shared }
    }

    /// The file of a line of the text, and its number there; both counted from 1.
    pub(crate) fn locate(&self, line: u32) -> (&str, u32) {
        match &self.shared {
            Some(shared) if line > shared.lines_before => (&shared.file, line - shared.lines_before),
            _ => (self.file, line),
        }
    }
}

/// The name of the shared file.
fn shared_name(text: &str) -> Option<String> {
    let (document, _) = DeTable::parse_recoverable(text);
    Some(document.get_ref().get(SHARED)?.get_ref().as_str()?.to_owned())
}
