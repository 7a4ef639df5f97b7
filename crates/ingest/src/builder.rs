//! How a reading comes together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::evidence::Evidence;
use crate::figure::{Class, Figure, Measure, Origin, Scope, Statistic, Window};
use crate::kind::Kind;
use crate::reading::{CacheAdvice, Caution, Database, DatabaseTime, Fate, HostTime, Part, Reading, Wait};
use crate::refusal::Refusal;
use crate::snapshot::{self, Snapshot};

/// Collects what one input says. Scopes, windows and texts that come again are kept once.
#[derive(Debug)]
pub struct Builder {
    reading: Reading,
    scopes: BTreeMap<Scope, u32>,
    texts: BTreeSet<Arc<str>>,
    /// The first refusal of the builder's own, kept because a format need not look after every figure.
    refusal: Option<Refusal>,
}

impl Builder {
    /// The most figures that are kept of one input, at 64 bytes each.
    pub const MOST_FIGURES: usize = 8 << 20;
    /// The most sections that are listed of one input.
    pub const MOST_PARTS: usize = 10_000;
    /// The most cautions that are kept of one input: a file that is wrong in every line says so this often.
    pub const MOST_CAUTIONS: usize = 100;

    pub(crate) fn new(name: &str, kind: Kind) -> Self {
        let reading = Reading {
            name: name.to_owned(),
            kind,
            version: None,
            scopes: Vec::new(),
            windows: Vec::new(),
            figures: Vec::new(),
            evidence: Vec::new(),
            snapshots: Vec::new(),
            times: Vec::new(),
            hosts: Vec::new(),
            waits: Vec::new(),
            databases: Vec::new(),
            advice: Vec::new(),
            parts: Vec::new(),
            cautions: Vec::new(),
        };
        Self { reading, scopes: BTreeMap::new(), texts: BTreeSet::new(), refusal: None }
    }

    /// The version of the program that wrote the input.
    pub fn version(&mut self, version: &str) {
        self.reading.version = Some(version.to_owned());
    }

    /// The number of a scope; the same one for equal scopes.
    pub fn scope(&mut self, scope: Scope) -> u32 {
        let scopes = &mut self.reading.scopes;
        *self.scopes.entry(scope).or_insert_with_key(|scope| {
            scopes.push(scope.clone());
            scopes.len() as u32 - 1
        })
    }

    /// The number of a window; equal to the last one, that one's. Do not keep it beyond the next window.
    pub fn window(&mut self, window: Window) -> u32 {
        let windows = &mut self.reading.windows;
        if windows.last() != Some(&window) {
            windows.push(window);
        }
        windows.len() as u32 - 1
    }

    /// A text for origins, kept once.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&text));
        text
    }

    /// A place in a table or section.
    pub fn origin(&mut self, line: u64, table: &str, field: &str) -> Origin {
        let table = if table.is_empty() { None } else { Some(self.text(table)) };
        Origin { line, table, field: self.text(field) }
    }

    /// A figure. One that no storage can have (negative, not a number, endless) becomes a caution.
    pub fn figure(&mut self, figure: Figure) {
        if !(figure.value.is_finite() && figure.value >= 0.0) {
            let text = format!("{} is no figure of storage: left out", figure.value);
            return self.caution(Some(figure.origin), text);
        }
        if self.reading.figures.len() >= Self::MOST_FIGURES {
            self.refusal.get_or_insert(Refusal::TooMany { limit: Self::MOST_FIGURES });
            return;
        }
        self.reading.figures.push(figure);
    }

    /// A mean, which is what nearly all figures are.
    pub fn mean(&mut self, (scope, window): (u32, u32), class: Class, measure: Measure, value: f64, origin: Origin) {
        self.figure(Figure { scope, window, class, measure, statistic: Statistic::Mean, value, origin });
    }

    /// What a benchmark got of its storage.
    pub fn evidence(&mut self, evidence: Evidence) {
        if self.reading.evidence.len() >= Self::MOST_FIGURES {
            self.refusal.get_or_insert(Refusal::TooMany { limit: Self::MOST_FIGURES });
            return;
        }
        self.reading.evidence.push(evidence);
    }

    /// Counters at a moment. With an earlier snapshot of the same scope they become figures of the window between the
    /// two; the first and the last are kept for [`crate::join`].
    pub fn snapshot(&mut self, taken: Snapshot) {
        let mut same = self.reading.snapshots.iter_mut().filter(|kept| kept.scope == taken.scope);
        let before = match (same.next(), same.next()) {
            (None, _) => None,
            (Some(first), None) => Some(first.clone()),
            // The first and the last are kept: both may have neighbours in other inputs.
            (Some(_), Some(last)) => Some(std::mem::replace(last, taken.clone())),
        };
        let stays = self.reading.snapshots.iter().filter(|kept| kept.scope == taken.scope).count() < 2;
        if let Some(before) = before {
            snapshot::between(&before, &taken, self);
        }
        if stays {
            self.reading.snapshots.push(taken);
        }
    }

    /// How a database spent its time.
    pub fn time(&mut self, time: DatabaseTime) {
        self.reading.times.push(time);
    }

    /// How a host spent the time of its processors.
    pub fn host(&mut self, host: HostTime) {
        self.reading.hosts.push(host);
    }

    /// What sessions waited for.
    pub fn wait(&mut self, wait: Wait) {
        self.reading.waits.push(wait);
    }

    /// What a database and its host have.
    pub fn database(&mut self, database: Database) {
        self.reading.databases.push(database);
    }

    /// What another cache size would give.
    pub fn advice(&mut self, advice: CacheAdvice) {
        self.reading.advice.push(advice);
    }

    /// What became of a section. Called once for each; of those beyond [`Builder::MOST_PARTS`] only
    /// the first broken one is kept.
    pub fn part(&mut self, name: impl Into<String>, fate: Fate) {
        let part = Part { name: name.into(), fate };
        let parts = &mut self.reading.parts;
        if parts.len() < Self::MOST_PARTS {
            parts.push(part);
        } else if let Some(last) =
            parts.last_mut().filter(|last| part.fate == Fate::Broken && last.fate != Fate::Broken)
        {
            *last = part;
        }
    }

    /// A doubt, in one sentence, with what to do about it.
    pub fn caution(&mut self, origin: Option<Origin>, text: impl Into<String>) {
        match self.reading.cautions.len() {
            n if n + 1 < Self::MOST_CAUTIONS => self.reading.cautions.push(Caution { origin, text: text.into() }),
            n if n + 1 == Self::MOST_CAUTIONS => {
                let text = "more of the kind: only the first are listed".to_owned();
                self.reading.cautions.push(Caution { origin, text });
            }
            _ => {}
        }
    }

    /// How many figures there are so far.
    pub fn count(&self) -> usize {
        self.reading.figures.len()
    }

    /// Goes on with a reading that was finished.
    pub(crate) fn resume(reading: Reading) -> Self {
        let scopes = reading.scopes.iter().cloned().zip(0..).collect();
        Self { reading, scopes, texts: BTreeSet::new(), refusal: None }
    }

    /// The reading, whatever is wrong with it.
    pub(crate) fn into_reading(self) -> Reading {
        self.reading
    }

    /// What the builder itself found wrong.
    pub(crate) fn check(&mut self) -> Result<(), Refusal> {
        self.refusal.take().map_or(Ok(()), Err)
    }

    pub(crate) fn finish(mut self) -> Result<Reading, Refusal> {
        self.check()?;
        Ok(self.reading)
    }
}
