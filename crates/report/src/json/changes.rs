//! Changes that a command made.

use super::each;
use crate::pages::CompletedChange;

view! {
    /// Changes that a command made, in their order.
    struct Changes from changes: &[CompletedChange] {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.changes/1"))]
        format: &'static str = "plimsoll.changes/1",
        /// The changes.
        changes: Vec<ChangeResult> = each(changes),
    }

    /// A change.
    struct ChangeResult from change: &CompletedChange {
        /// Kind of the object.
        #[schemars(extend("enum" = ["run", "volume", "group", "instance", "key"]))]
        object: String = change.parts()[0].to_owned(),
        /// The change.
        #[schemars(extend("enum" = ["labelled", "deleted", "detached"]))]
        change: String = change.parts()[1].to_owned(),
        /// Name of the object: the path of a run with a label, the fingerprint of a key.
        name: String = change.parts()[2].to_owned(),
    }
}
