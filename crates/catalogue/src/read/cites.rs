//! Sources: every figure has one, by itself or by the file's default.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::section::{Section, SpannedText, read_section};
use crate::cite::{Cite, Status};
use crate::complaint::Complaints;
use crate::nearest;

/// Documents of a file, and the default source.
pub(crate) struct Cites {
    documents: BTreeMap<String, Document>,
    default: Given,
    /// Sources in use, for sharing.
    shared: RefCell<Vec<(Key, Arc<Cite>)>>,
}

/// Document, date, status, note.
type Key = (String, String, Status, String);

struct Document {
    title: String,
    url: String,
}

#[derive(Default)]
struct Given {
    source: Option<String>,
    date: Option<String>,
    status: Option<Status>,
}

/// True for the keys of a source.
pub(crate) fn is_key(key: &str) -> bool {
    matches!(key, "source" | "date" | "status" | "note")
}

impl Cites {
    pub(crate) fn read(head: &Section, to: &mut Complaints) -> Self {
        let mut documents = BTreeMap::new();
        if let Some(sources) = head.section("sources", "[sources]", to) {
            for (key, value) in sources.entries() {
                let Some(entry) = read_section(value, "[sources.NAME]") else {
                    to.at(key.at, format!("sources.{} is no table", key.text), "[sources.NAME] with a title");
                    continue;
                };
                let title = entry.required("title", to).map_or("", |title| title.text).to_owned();
                let url = entry.words("url", to).to_owned();
                entry.words("date", to);
                entry.words("note", to);
                entry.finish(to);
                documents.insert(key.text.to_owned(), Document { title, url });
            }
        }
        let mut cites = Self { documents, default: Given::default(), shared: RefCell::default() };
        if let Some(default) = head.section("default", "[default]", to) {
            cites.default = cites.given(&default, to);
            default.finish(to);
        }
        cites
    }

    /// Source of an entry, with missing keys from the file's default.
    pub(crate) fn cite(&self, entry: &Section, to: &mut Complaints) -> Arc<Cite> {
        let own = self.given(entry, to);
        let mut missing = Vec::new();
        let mut text = |own: Option<String>, default: &Option<String>, key: &'static str| {
            own.or_else(|| default.clone()).unwrap_or_else(|| {
                missing.push(key);
                String::new()
            })
        };
        let source = text(own.source, &self.default.source, "source");
        let date = text(own.date, &self.default.date, "date");
        let status = own.status.or(self.default.status).unwrap_or_else(|| {
            missing.push("status");
            Status::Unverified
        });
        if !missing.is_empty() {
            let allowed = format!("{} there or in [default]", missing.join(", "));
            to.at(entry.at, format!("{} does not say its {}", entry.name, missing.join(", ")), allowed);
        }
        let key = (source, date, status, entry.words("note", to).to_owned());
        self.share(key)
    }

    fn share(&self, key: Key) -> Arc<Cite> {
        let mut cache = self.shared.borrow_mut();
        if let Some((_, cite)) = cache.iter().find(|(other, _)| *other == key) {
            return Arc::clone(cite);
        }
        let document = self.documents.get(&key.0);
        let (title, url) = document.map_or_else(Default::default, |d| (d.title.clone(), d.url.clone()));
        let cite = Arc::new(Cite { title, url, date: key.1.clone(), status: key.2, note: key.3.clone() });
        cache.push((key, Arc::clone(&cite)));
        cite
    }

    fn given(&self, entry: &Section, to: &mut Complaints) -> Given {
        let source = entry.text("source", to);
        if let Some(source) = source {
            self.check_source(source, to);
        }
        let status = entry.text("status", to).and_then(|text| parse_status(text, to));
        let date = entry.text("date", to).map(|date| date.text.to_owned());
        Given { source: source.map(|source| source.text.to_owned()), date, status }
    }

    fn check_source(&self, source: SpannedText, to: &mut Complaints) {
        if self.documents.contains_key(source.text) {
            return;
        }
        let names = || self.documents.keys().map(String::as_str);
        let near = nearest::suggestion(source.text, names());
        let allowed = format!("a key of [sources]: {}", names().collect::<Vec<_>>().join(", "));
        to.at(source.at, format!("source {:?} is not defined{near}", source.text), allowed);
    }
}

fn parse_status(text: SpannedText, to: &mut Complaints) -> Option<Status> {
    let found = Status::ALL.into_iter().find(|status| status.name() == text.text);
    if found.is_none() {
        let names = Status::ALL.map(Status::name);
        let near = nearest::suggestion(text.text, names);
        to.at(text.at, format!("status is {:?}{near}", text.text), nearest::one_of(&names));
    }
    found
}
