//! Changes that a command made, without other results.

use plimsoll_language::{label, say};

use crate::page::{Block, Column, Page, PageSection, Table, TableLayout};

/// A change with the name of its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletedChange {
    /// The path of a run with its new label.
    RunLabelled(String),
    RunDeleted(String),
    VolumeDetached(String),
    VolumeDeleted(String),
    GroupDeleted(String),
    InstanceDeleted(String),
    /// The fingerprint of a key.
    KeyDeleted(String),
}

impl CompletedChange {
    /// Kind of the object, change and name.
    pub(crate) fn parts(&self) -> [&str; 3] {
        match self {
            Self::RunLabelled(path) => ["run", "labelled", path],
            Self::RunDeleted(name) => ["run", "deleted", name],
            Self::VolumeDetached(name) => ["volume", "detached", name],
            Self::VolumeDeleted(name) => ["volume", "deleted", name],
            Self::GroupDeleted(name) => ["group", "deleted", name],
            Self::InstanceDeleted(name) => ["instance", "deleted", name],
            Self::KeyDeleted(fingerprint) => ["key", "deleted", fingerprint],
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::RunLabelled(path) => say!("Kept as {path}"),
            Self::RunDeleted(name) => say!("Removed {name}"),
            Self::VolumeDetached(name) => say!("{name} is detached"),
            Self::VolumeDeleted(name) => say!("volume {name} deleted"),
            Self::GroupDeleted(name) => say!("group {name} is ended"),
            Self::InstanceDeleted(name) => say!("instance {name} deleted"),
            Self::KeyDeleted(fingerprint) => say!("{fingerprint} is removed"),
        }
    }
}

/// Changes, a line each.
pub fn changes(changes: &[CompletedChange]) -> Page {
    let table = Table::rows(label!("Completed changes"), changes)
        .column(Column::text(label!("completed change"), 0), |change| change.describe())
        .table();
    let data = changes.iter().map(|change| change.parts().map(str::to_owned).to_vec());
    let blocks = vec![
        Block::Table(Table { layout: TableLayout::Lines, ..table }),
        Table::data(&["object", "change", "name"], data),
    ];
    Page {
        title: label!("Completed changes").to_owned(),
        sections: vec![PageSection::bare("", blocks)],
        ..Page::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextStyle, page_csv, page_text};

    #[test]
    fn changes_are_lines_of_text_and_rows_of_csv() {
        let page = changes(&[CompletedChange::VolumeDeleted("a".into()), CompletedChange::KeyDeleted("12:34".into())]);
        assert_eq!(page_text(&page, &TextStyle::default()), "volume a deleted\n12:34 is removed\n");
        assert_eq!(page_csv(&page), "object,change,name\r\nvolume,deleted,a\r\nkey,deleted,12:34\r\n");
    }
}
