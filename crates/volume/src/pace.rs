//! Timing of volumes: the model of each volume, followed by the shared model of its group. All times are model time.
//!
//! The models of a group are advanced in order of time across volumes, so that the times of `drain` do not affect
//! answers, as with a single model.

use plimsoll_model::{Chain, ChainSpec, Change, ChangeError, Model, ModelAnswer};
use plimsoll_units::{Instant, Op, Slot, Span};

use crate::totals::{Bound, Label};

#[derive(Clone, Debug)]
pub(crate) struct Pace {
    volumes: Vec<VolumePace>,
    groups: Vec<ModelGroup>,
    /// Entries of requests in flight, by slot.
    entries: Vec<PacedRequest>,
    answers: Vec<ModelAnswer>,
    passed: Vec<Passed>,
}

#[derive(Clone, Debug)]
struct VolumePace {
    present: ModelLine,
    /// Previous models with requests in flight, oldest first.
    earlier: Vec<ModelLine>,
    group: Option<usize>,
    /// How much earlier than due known answers leave. Zero in a group, whose model must see all requests in order of
    /// time.
    lead: Span,
}

#[derive(Clone, Debug)]
struct ModelLine {
    chain: Chain,
    labels: Vec<Label>,
    under_way: u32,
}

/// Volumes with a shared model.
#[derive(Clone, Debug)]
struct ModelGroup {
    chain: Chain,
    members: Vec<usize>,
    is_open: bool,
}

#[derive(Clone, Copy, Debug)]
struct PacedRequest {
    op: Op,
    submitted: Instant,
    /// Answer of the volume's own model: the binding stage, and the time.
    own: (Bound, Span),
    entered: Instant,
}

/// An answer after all models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) slot: Slot,
    pub(crate) at: Instant,
    pub(crate) bound_by: Bound,
}

impl ModelLine {
    fn new(model: &ChainSpec, seed: u64, labels: Vec<Label>) -> Self {
        Self { chain: Chain::new(model, seed), labels, under_way: 0 }
    }

    #[inline]
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op, path: Option<u8>) {
        self.under_way += 1;
        self.chain.submit_on(now, slot, op, path);
    }

    /// Appends answers; `answers` is empty before and after.
    #[inline]
    fn drain(&mut self, now: Instant, lead: Span, answers: &mut Vec<ModelAnswer>, passed: &mut Vec<Passed>) {
        self.chain.drain_ahead(now, lead, answers);
        self.under_way -= answers.len() as u32;
        passed.extend(answers.drain(..).map(|ModelAnswer { slot, at, bound_by }| {
            let bound_by = Bound::Volume(self.labels[usize::from(bound_by.0)]);
            Passed { slot, at, bound_by }
        }));
    }
}

impl VolumePace {
    fn wake_at(&self) -> Option<Instant> {
        let earlier = self.earlier.iter().filter_map(|line| line.chain.wake_ahead(self.lead));
        earlier.chain(self.present.chain.wake_ahead(self.lead)).min()
    }

    #[inline]
    fn drain(&mut self, now: Instant, answers: &mut Vec<ModelAnswer>, passed: &mut Vec<Passed>) {
        if self.earlier.is_empty() {
            self.present.drain(now, self.lead, answers, passed);
        } else {
            self.drain_all(now, answers, passed);
        }
    }

    /// Drains all models in order of time.
    #[cold]
    fn drain_all(&mut self, now: Instant, answers: &mut Vec<ModelAnswer>, passed: &mut Vec<Passed>) {
        let begin = passed.len();
        for line in self.earlier.iter_mut().chain([&mut self.present]) {
            line.drain(now, self.lead, answers, passed);
        }
        passed[begin..].sort_by_key(|passed| passed.at);
        self.earlier.retain(|line| line.under_way > 0);
    }
}

impl Pace {
    pub(crate) const fn new() -> Self {
        Self { volumes: Vec::new(), groups: Vec::new(), entries: Vec::new(), answers: Vec::new(), passed: Vec::new() }
    }

    pub(crate) fn add_group(&mut self, shared: &ChainSpec, seed: u64) -> usize {
        let new = ModelGroup { chain: Chain::new(shared, seed), members: Vec::new(), is_open: true };
        if let Some(unused) = self.groups.iter().position(|group| !group.is_open) {
            self.groups[unused] = new;
            return unused;
        }
        self.groups.push(new);
        self.groups.len() - 1
    }

    /// Removes a group without members; false if it has some.
    pub(crate) fn remove_group(&mut self, group: usize) -> bool {
        let Some(group) = self.groups.get_mut(group) else { return true };
        group.is_open = !group.members.is_empty();
        !group.is_open
    }

    pub(crate) fn has_group(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(|group| group.is_open)
    }

    /// Sets the models of a volume, which is new or without requests in flight.
    pub(crate) fn set_volume(
        &mut self,
        volume: usize,
        model: &ChainSpec,
        seed: u64,
        labels: Vec<Label>,
        group: Option<usize>,
    ) {
        let new =
            VolumePace { present: ModelLine::new(model, seed, labels), earlier: Vec::new(), group, lead: Span::ZERO };
        // Entries of volumes without a model keep the numbering.
        self.volumes.resize(self.volumes.len().max(volume + 1), VolumePace { group: None, ..new.clone() });
        self.volumes[volume] = new;
        self.leave_group(volume);
        if let Some(group) = group {
            self.groups[group].members.push(volume);
        }
    }

    /// Sets how much earlier than due known answers of a volume leave.
    pub(crate) fn set_lead(&mut self, volume: usize, lead: Span) {
        let volume = &mut self.volumes[volume];
        volume.lead = if volume.group.is_none() { lead } else { Span::ZERO };
    }

    /// How much earlier than due known answers of a volume leave.
    pub(crate) fn lead(&self, volume: usize) -> Span {
        self.volumes[volume].lead
    }

    /// Removes a volume, which must have no requests in flight, from its group.
    pub(crate) fn leave_group(&mut self, volume: usize) {
        for group in &mut self.groups {
            group.members.retain(|member| *member != volume);
        }
    }

    /// Changes rates of the current model.
    pub(crate) fn change_rates(&mut self, now: Instant, volume: usize, changes: &[Change], labels: Vec<Label>) {
        self.settle(now, volume);
        let present = &mut self.volumes[volume].present;
        for change in changes {
            present.chain.change(now, change).expect("the changes derive from this model");
        }
        present.labels = labels;
    }

    /// Replaces the model for later requests; requests in flight keep their model.
    pub(crate) fn change_model(
        &mut self,
        now: Instant,
        volume: usize,
        model: &ChainSpec,
        seed: u64,
        labels: Vec<Label>,
    ) {
        self.settle(now, volume);
        let volume = &mut self.volumes[volume];
        let before = std::mem::replace(&mut volume.present, ModelLine::new(model, seed, labels));
        if before.under_way > 0 {
            volume.earlier.push(before);
        }
    }

    /// Advances the group of a volume to `now`, so that its model sees all requests in order of time.
    #[inline]
    fn settle(&mut self, now: Instant, volume: usize) {
        if let Some(group) = self.volumes[volume].group {
            self.advance(group, now);
        }
    }

    /// Passes a request to the model of its volume, on a path if the client has several.
    #[inline]
    pub(crate) fn submit(&mut self, now: Instant, volume: usize, slot: Slot, op: &Op, path: Option<u8>) {
        self.settle(now, volume);
        let entry = PacedRequest { op: *op, submitted: now, own: (Bound::Fault, Span::ZERO), entered: now };
        if slot.index() >= self.entries.len() {
            self.entries.resize(slot.index() + 1, entry);
        }
        self.entries[slot.index()] = entry;
        self.volumes[volume].present.submit(now, slot, op, path);
    }

    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let volumes = self.volumes.iter().filter_map(VolumePace::wake_at);
        let groups = self.groups.iter().filter_map(|group| group.chain.wake_at());
        volumes.chain(groups).min()
    }

    /// Appends all answers up to `now`, and those due within the lead of their volume.
    pub(crate) fn drain(&mut self, now: Instant, passed: &mut Vec<Passed>) {
        for group in 0..self.groups.len() {
            self.advance(group, now);
            let mut answers = std::mem::take(&mut self.answers);
            self.groups[group].chain.drain(now, &mut answers);
            passed.extend(answers.drain(..).map(|answer| self.passed_group(&answer)));
            self.answers = answers;
        }
        for volume in self.volumes.iter_mut().filter(|volume| volume.group.is_none()) {
            volume.drain(now, &mut self.answers, passed);
        }
    }

    fn passed_group(&self, answer: &ModelAnswer) -> Passed {
        let entry = &self.entries[answer.slot.index()];
        let (bound, own) = entry.own;
        let shared = answer.at.since(entry.entered);
        let bound_by = if shared > own { Bound::Group(answer.bound_by) } else { bound };
        Passed { slot: answer.slot, at: answer.at, bound_by }
    }

    /// Passes the answers of a group's volumes up to `now` to the group's model, at their times.
    fn advance(&mut self, group: usize, now: Instant) {
        let ModelGroup { chain, members, .. } = &mut self.groups[group];
        loop {
            let wakes = members.iter().filter_map(|volume| self.volumes[*volume].wake_at());
            let Some(at) = wakes.min().filter(|at| *at <= now) else { return };
            for volume in members.iter() {
                self.volumes[*volume].drain(at, &mut self.answers, &mut self.passed);
            }
            for Passed { slot, at, bound_by } in self.passed.drain(..) {
                let entry = &mut self.entries[slot.index()];
                entry.own = (bound_by, at.since(entry.submitted));
                entry.entered = at;
                chain.submit(at, slot, &entry.op);
            }
        }
    }

    pub(crate) fn change_group(&mut self, now: Instant, group: usize, change: &Change) -> Result<(), ChangeError> {
        self.advance(group, now);
        self.groups[group].chain.change(now, change)
    }

    pub(crate) fn submitted(&self, slot: Slot) -> Instant {
        self.entries[slot.index()].submitted
    }
}

#[cfg(test)]
mod tests;
