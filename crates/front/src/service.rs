//! What a server serves: the calls of [`Volumes`], and of whatever else answers requests for blocks.

use plimsoll_units::Instant;
use plimsoll_volume::{Backing, Edited, Errno, Export, Extent, Job, JobId, NotTaken, Reply, Request, Ticket, Volumes};

/// What answers requests. Each call means what the method of [`Volumes`] of the same name means.
pub trait Service {
    /// Bytes of the export.
    fn size(&self, export: Export) -> u64;

    /// Whether a request with so many bytes of payload would be taken now.
    fn takes(&self, export: Export, payload: u64) -> bool;

    /// Takes a request in; exactly one reply follows.
    fn accept(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken>;

    /// A job is finished.
    fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>);

    /// When [`Service::drain`] has something to do next.
    fn wake_at(&self) -> Option<Instant>;

    /// Appends the replies that may leave.
    fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>);

    /// Where there is space: at least one extent, none of them empty.
    fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent>;

    /// Whether reads are only of places that have their space: others cost memory when they are shown instead of read.
    fn reads_what_has_space(&self) -> bool {
        false
    }

    /// Edits that have ended since the last call.
    fn edited(&mut self) -> Vec<Edited> {
        Vec::new()
    }
}

impl<B: Backing> Service for Volumes<B> {
    fn size(&self, export: Export) -> u64 {
        self.size(export)
    }

    #[inline]
    fn takes(&self, export: Export, payload: u64) -> bool {
        self.takes(export, payload)
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
        self.accept(now, export, ticket, request, jobs)
    }

    #[inline]
    fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        self.worked(now, job, outcome, jobs);
    }

    #[inline]
    fn wake_at(&self) -> Option<Instant> {
        self.wake_at()
    }

    #[inline]
    fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>) {
        self.drain(now, replies);
    }

    fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        self.extents(export, offset, length, limit)
    }

    fn reads_what_has_space(&self) -> bool {
        self.reads_what_has_space()
    }

    fn edited(&mut self) -> Vec<Edited> {
        self.edited()
    }
}
