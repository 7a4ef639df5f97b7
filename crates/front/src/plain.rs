//! Exports that answer as soon as they can, or a fixed time after that: one data file each, no model and no map.
//!
//! It is what a server's own floor is measured with, and the smallest service there is.

use std::collections::VecDeque;

use plimsoll_units::{Instant, Span};
use plimsoll_volume::{
    Bound, Command, Errno, Export, Extent, FileId, Io, Job, JobId, NotTaken, Place, Reply, Request, Space, Then, Ticket,
};

use crate::service::Service;
use crate::slots::Slots;

/// Requests that are taken in at most.
const REQUESTS_MAX: usize = 4096;

/// Exports on data files of the same numbers.
#[derive(Debug)]
pub struct Plain {
    sizes: Vec<u64>,
    under_way: Slots<Work>,
    /// How much later each answer leaves than it could.
    wait: Span,
    /// Answers in the order of their moments.
    ready: VecDeque<Reply>,
}

#[derive(Clone, Copy, Debug)]
struct Work {
    ticket: Ticket,
    /// The file that has to be durable before the answer.
    sync: Option<FileId>,
}

impl Plain {
    /// Export 0 has the first of these sizes, and so on.
    pub fn new(sizes: impl Into<Vec<u64>>) -> Self {
        Self::after(Span::ZERO, sizes)
    }

    /// The same, but each answer leaves `wait` later than it could.
    pub fn after(wait: Span, sizes: impl Into<Vec<u64>>) -> Self {
        Self { sizes: sizes.into(), under_way: Slots::new(), wait, ready: VecDeque::new() }
    }

    fn answer(&mut self, now: Instant, ticket: Ticket, outcome: Result<(), Errno>) {
        let bound_by = Bound::Fault;
        let due = now + self.wait;
        self.ready.push_back(Reply { ticket, outcome, due, lateness: Span::ZERO, bound_by, then: Then::Send });
    }
}

impl Service for Plain {
    fn size(&self, export: Export) -> u64 {
        self.sizes.get(export.0 as usize).copied().unwrap_or(0)
    }

    #[inline]
    fn takes(&self, _: Export, _: u64) -> bool {
        self.under_way.len() < REQUESTS_MAX
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
        let file = FileId(export.0);
        let place = Place { file, at: request.offset };
        let length = request.length as u32;
        let io = match request.command {
            Command::Read => Io::Read { ticket, into: 0, place, length },
            Command::Write => Io::Write { ticket, from: 0, place, length },
            Command::Flush => Io::Sync { file },
            Command::Trim | Command::WriteZeroes { space: Space::Free } => Io::Punch { place, length: request.length },
            Command::WriteZeroes { space: Space::Keep } => Io::Zero { place, length: request.length },
            Command::Cache => {
                self.answer(now, ticket, Ok(()));
                return Ok(());
            }
        };
        let changes = !matches!(request.command, Command::Read | Command::Flush);
        let work = Work { ticket, sync: (request.fua && changes).then_some(file) };
        jobs.push(Job { id: JobId(self.under_way.insert(work)), io });
        Ok(())
    }

    #[inline]
    fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        let Some(work) = self.under_way.remove(job.0) else { return };
        if let (Ok(()), Some(file)) = (outcome, work.sync) {
            let again = Work { sync: None, ..work };
            jobs.push(Job { id: JobId(self.under_way.insert(again)), io: Io::Sync { file } });
        } else {
            self.answer(now, work.ticket, outcome);
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Instant> {
        self.ready.front().map(|reply| reply.due)
    }

    #[inline]
    fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>) {
        while self.ready.front().is_some_and(|reply| reply.due <= now) {
            replies.extend(self.ready.pop_front().map(|reply| Reply { lateness: now.since(reply.due), ..reply }));
        }
    }

    fn extents(&self, _: Export, _: u64, length: u64, _: usize) -> Vec<Extent> {
        vec![Extent { length, allocated: true }]
    }
}
