//! When volumes answer: the model of each, and behind it the model that its group shares. In model time throughout.
//!
//! The models of a group are advanced in order of time, whatever volume an answer comes from: so when the group is drained
//! changes no answer, as with a single model.

use plimsoll_model::{Answer, Chain, ChainSpec, Change, Model, Refused, Stage};
use plimsoll_units::{Instant, Kind, Op, Slot, Span};

use crate::volumes::Bound;

#[derive(Clone, Debug)]
pub(crate) struct Pace {
    paths: Vec<Path>,
    groups: Vec<Group>,
    /// What is under way, by slot.
    entries: Vec<Entry>,
    answers: Vec<Answer>,
}

/// The way of one volume's requests.
#[derive(Clone, Debug)]
struct Path {
    chain: Chain,
    group: Option<usize>,
}

/// What several volumes share.
#[derive(Clone, Debug)]
struct Group {
    chain: Chain,
    members: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Op,
    submitted: Instant,
    /// What the volume's own model said: what held it longest, and how long it took in all.
    own: (Stage, Span),
    entered: Instant,
}

/// The models are through with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) slot: Slot,
    pub(crate) at: Instant,
    pub(crate) bound_by: Bound,
}

impl Pace {
    pub(crate) const fn new() -> Self {
        Self { paths: Vec::new(), groups: Vec::new(), entries: Vec::new(), answers: Vec::new() }
    }

    pub(crate) fn add_group(&mut self, shared: &ChainSpec, seed: u64) -> usize {
        self.groups.push(Group { chain: Chain::new(shared, seed), members: Vec::new() });
        self.groups.len() - 1
    }

    pub(crate) const fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Makes the way of volume number `path`: a new one, or in place of one on which nothing is under way.
    pub(crate) fn set_path(&mut self, path: usize, model: &ChainSpec, seed: u64, group: Option<usize>) {
        let new = Path { chain: Chain::new(model, seed), group };
        match self.paths.get_mut(path) {
            Some(old) => *old = new,
            None => self.paths.push(new),
        }
        for group in &mut self.groups {
            group.members.retain(|member| *member != path);
        }
        if let Some(group) = group {
            self.groups[group].members.push(path);
        }
    }

    #[inline]
    pub(crate) fn submit(&mut self, now: Instant, path: usize, slot: Slot, op: &Op) {
        if let Some(group) = self.paths[path].group {
            // What happened until now is settled first, so that the group meets it in the order of time.
            self.advance(group, now);
        }
        let entry = Entry { op: *op, submitted: now, own: (Stage(0), Span::ZERO), entered: now };
        if slot.index() >= self.entries.len() {
            self.entries.resize(slot.index() + 1, entry);
        }
        self.entries[slot.index()] = entry;
        self.paths[path].chain.submit(now, slot, op);
    }

    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let paths = self.paths.iter().filter_map(|path| path.chain.wake_at());
        let groups = self.groups.iter().filter_map(|group| group.chain.wake_at());
        paths.chain(groups).min()
    }

    /// Appends all that passed up to `now`.
    pub(crate) fn drain(&mut self, now: Instant, passed: &mut Vec<Passed>) {
        for group in 0..self.groups.len() {
            self.advance(group, now);
            let mut answers = std::mem::take(&mut self.answers);
            self.groups[group].chain.drain(now, &mut answers);
            passed.extend(answers.drain(..).map(|answer| self.passed_group(&answer)));
            self.answers = answers;
        }
        for path in self.paths.iter_mut().filter(|path| path.group.is_none()) {
            path.chain.drain(now, &mut self.answers);
            passed.extend(self.answers.drain(..).map(|answer| Passed {
                slot: answer.slot,
                at: answer.at,
                bound_by: Bound::Volume(answer.bound_by),
            }));
        }
    }

    fn passed_group(&self, answer: &Answer) -> Passed {
        let entry = &self.entries[answer.slot.index()];
        let (stage, own) = entry.own;
        let shared = answer.at.since(entry.entered);
        let bound_by = if shared > own { Bound::Group(answer.bound_by) } else { Bound::Volume(stage) };
        Passed { slot: answer.slot, at: answer.at, bound_by }
    }

    /// Hands what the volumes of a group answered up to `now` to the group's model, at the moments of the answers.
    fn advance(&mut self, group: usize, now: Instant) {
        let Group { chain, members } = &mut self.groups[group];
        loop {
            let wakes = members.iter().filter_map(|path| self.paths[*path].chain.wake_at());
            let Some(at) = wakes.min().filter(|at| *at <= now) else { return };
            for path in members.iter() {
                self.paths[*path].chain.drain(at, &mut self.answers);
            }
            for answer in self.answers.drain(..) {
                let entry = &mut self.entries[answer.slot.index()];
                entry.own = (answer.bound_by, answer.at.since(entry.submitted));
                entry.entered = answer.at;
                chain.submit(answer.at, answer.slot, &entry.op);
            }
        }
    }

    pub(crate) fn change(&mut self, now: Instant, path: usize, change: &Change) -> Result<(), Refused> {
        if let Some(group) = self.paths[path].group {
            self.advance(group, now);
        }
        self.paths[path].chain.change(now, change)
    }

    pub(crate) fn change_group(&mut self, now: Instant, group: usize, change: &Change) -> Result<(), Refused> {
        self.advance(group, now);
        self.groups[group].chain.change(now, change)
    }

    pub(crate) fn kind(&self, slot: Slot) -> Kind {
        self.entries[slot.index()].op.kind
    }

    pub(crate) fn submitted(&self, slot: Slot) -> Instant {
        self.entries[slot.index()].submitted
    }
}

#[cfg(test)]
mod tests;
