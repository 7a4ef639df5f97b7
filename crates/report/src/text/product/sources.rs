//! The documents behind a page, numbered in the order in which they are named.

use std::sync::Arc;

use plimsoll_catalogue::{Cite, Status};

use crate::text::TextStyle;
use crate::text::paint::{Line, Tone, wrap};
use crate::words::{clean, offer as words};

/// Documents that were named so far.
#[derive(Debug, Default)]
pub(super) struct Sources {
    documents: Vec<Arc<Cite>>,
    statuses: Vec<Status>,
}

impl Sources {
    /// `[2, 2025-09, verified]`: which document, when the figure held, how sure it is.
    pub fn mark(&mut self, cite: &Arc<Cite>) -> String {
        let same = |known: &Arc<Cite>| known.title == cite.title && known.url == cite.url;
        let place = self.documents.iter().position(same).unwrap_or_else(|| {
            self.documents.push(Arc::clone(cite));
            self.documents.len() - 1
        });
        self.statuses.push(cite.status);
        format!("[{}, {}, {}]", place + 1, cite.date, cite.status.name())
    }

    /// The list of documents, and what the statuses mean.
    pub fn lines(self, style: &TextStyle) -> Vec<Line> {
        if self.documents.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![Line::of("Sources", Tone::Strong)];
        for (index, cite) in self.documents.iter().enumerate() {
            let url = if cite.url.is_empty() { String::new() } else { format!(" {}", cite.url) };
            let text = wrap(&clean(&format!("{}{url}", cite.title)), style.width - 6);
            let mark = format!("[{}]", index + 1);
            lines.extend(
                text.into_iter().enumerate().map(|(row, line)| {
                    Line::plain(format!("  {:<4}{line}", if row == 0 { mark.as_str() } else { "" }))
                }),
            );
        }
        let meanings = wrap(&format!("figures {}", words::provenance(self.statuses)), style.width);
        lines.extend(meanings.into_iter().map(|line| Line::of(line, Tone::Quiet)));
        lines
    }
}
