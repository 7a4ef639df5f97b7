//! Exports that answer as soon as they can, or a fixed time after that: one data file each, no model and no map.
//!
//! It is what a server's own floor is measured with, and the smallest service there is.

use std::collections::VecDeque;

use plimsoll_units::{Instant, Span};
use plimsoll_volume::{
    Access, Backing, Bound, Ended, Errno, Export, Extent, FileId, Flat, Job, JobId, NotTaken, Reply, Request, Then,
    Ticket, VolumeId,
};

use crate::service::Service;

/// Requests that are taken in at most.
const REQUESTS_MAX: usize = 4096;

/// Marks the tags of parts, whose replies are not held back.
const PART: u32 = 1 << 31;

/// Exports on data files of the same numbers.
#[derive(Debug)]
pub struct Plain {
    flat: Flat,
    /// How much later each answer leaves than it could.
    wait: Span,
    /// Answers in the order of their moments.
    ready: VecDeque<Reply>,
    /// Answers of parts, which leave at once.
    parts: Vec<Reply>,
}

impl Plain {
    /// Export 0 has the first of these sizes, and so on.
    pub fn new(sizes: impl Into<Vec<u64>>) -> Self {
        Self::after(Span::ZERO, sizes)
    }

    /// The same, but each answer leaves `wait` later than it could.
    pub fn after(wait: Span, sizes: impl Into<Vec<u64>>) -> Self {
        let sizes: Vec<u64> = sizes.into();
        // What is read-only is so for the front's clients: the offer says it.
        let flat = Flat::new(sizes.into_iter().map(|size| (size, Access::ReadWrite)));
        Self { flat, wait, ready: VecDeque::new(), parts: Vec::new() }
    }

    #[inline]
    fn answer(&mut self, now: Instant) {
        let Self { flat, wait, ready, parts } = self;
        for ended in flat.ended() {
            // There are no edits here.
            let Ended::Request(tag, outcome) = ended else { continue };
            if tag & PART == 0 {
                ready.push_back(reply(tag, outcome, now + *wait));
            } else {
                parts.push(reply(tag & !PART, outcome, now));
            }
        }
    }
}

fn reply(tag: u32, outcome: Result<(), Errno>, due: Instant) -> Reply {
    let ticket = Ticket(tag.into());
    Reply { ticket, outcome, due, lateness: Span::ZERO, bound_by: Bound::Fault, then: Then::Send }
}

impl Service for Plain {
    fn size(&self, export: Export) -> u64 {
        self.flat.about(VolumeId(export.0)).map_or(0, |about| about.size)
    }

    #[inline]
    fn takes(&self, _: Export, _: u64) -> bool {
        self.flat.in_flight() < REQUESTS_MAX
    }

    #[inline]
    fn accept(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken> {
        // The server's tickets are small numbers.
        let taken = self.flat.accept(ticket.0 as u32, ticket, VolumeId(export.0), request, jobs);
        self.answer(now);
        taken.map_err(NotTaken::Failed)
    }

    fn accept_timing(&mut self, now: Instant, _: Export, ticket: Ticket, _: &Request) -> Result<(), NotTaken> {
        self.ready.push_back(reply(ticket.0 as u32, Ok(()), now + self.wait));
        Ok(())
    }

    fn transfer(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        part: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken> {
        let taken = self.flat.accept(ticket.0 as u32 | PART, ticket, VolumeId(export.0), part, jobs);
        self.answer(now);
        taken.map_err(NotTaken::Failed)
    }

    #[inline]
    fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        self.flat.worked(job, outcome, jobs);
        self.answer(now);
    }

    #[inline]
    fn wake_at(&self) -> Option<Instant> {
        self.parts.first().or(self.ready.front()).map(|reply| reply.due)
    }

    #[inline]
    fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>) {
        replies.append(&mut self.parts);
        while self.ready.front().is_some_and(|reply| reply.due <= now) {
            replies.extend(self.ready.pop_front().map(|reply| Reply { lateness: now.since(reply.due), ..reply }));
        }
    }

    fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        self.flat.extents(VolumeId(export.0), offset, length, limit)
    }

    fn whole_file(&self, export: Export) -> Option<FileId> {
        self.flat.whole_file(VolumeId(export.0))
    }
}
