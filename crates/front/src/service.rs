//! What a server serves: the calls of [`Volumes`], and of whatever else answers requests for blocks.

use plimsoll_units::Instant;
use plimsoll_volume::{
    Backing, Edited, Errno, Export, Extent, FileId, Job, JobId, Lead, NotTaken, Reply, Request, Ticket, Volumes,
};

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

    /// Takes a request in without its payload: the model says when it is answered, and [`Service::transfer`] moves the
    /// parts of its payload, those of a write before this call, those of a read after the reply. Exactly one reply follows.
    fn accept_timing(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), NotTaken>;

    /// Does the real work of a part of a request, without the model; exactly one reply follows when it is done.
    fn transfer(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        part: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken>;

    /// A job is finished.
    fn worked(&mut self, now: Instant, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>);

    /// When [`Service::drain`] has something to do next.
    fn wake_at(&self) -> Option<Instant>;

    /// Appends the replies that may leave.
    fn drain(&mut self, now: Instant, replies: &mut Vec<Reply>);

    /// What answers of an export need from their moment to its clients: a service with models hands them out so much
    /// earlier.
    fn set_lead(&mut self, _: Export, _: Lead) {}

    /// Where there is space: at least one extent, none of them empty.
    fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent>;

    /// The data file that an export is, byte for byte; `None` when a map lies between.
    fn whole_file(&self, export: Export) -> Option<FileId>;

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

    fn accept_timing(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), NotTaken> {
        self.accept_timing(now, export, ticket, request)
    }

    fn transfer(
        &mut self,
        now: Instant,
        export: Export,
        ticket: Ticket,
        part: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), NotTaken> {
        self.transfer(now, export, ticket, part, jobs)
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

    fn set_lead(&mut self, export: Export, lead: Lead) {
        self.set_lead(export, lead);
    }

    fn extents(&self, export: Export, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        self.extents(export, offset, length, limit)
    }

    fn whole_file(&self, export: Export) -> Option<FileId> {
        self.whole_file(export)
    }

    fn reads_what_has_space(&self) -> bool {
        self.reads_what_has_space()
    }

    fn edited(&mut self) -> Vec<Edited> {
        self.edited()
    }
}
