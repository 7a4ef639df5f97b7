//! A request between its acceptance and its reply, and a volume between its first and its last one.

use plimsoll_model::ChainSpec;
use plimsoll_units::{Instant, Span};

use super::{Bound, Export, Limits, NotTaken, Serving};
use crate::faults::{Fate, Injector};
use crate::fidelity::Fidelity;
use crate::request::{Class, Command, Errno, Request, Ticket};
use crate::store::VolumeId;
use crate::totals::Totals;

/// A request that has no reply yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) export: Export,
    pub(super) ticket: Ticket,
    pub(super) class: Class,
    pub(super) payload: u64,
    pub(super) fate: Fate,
    pub(super) bound_by: Bound,
    /// When it may leave, in model time, once that has come.
    pub(super) due: Option<Instant>,
    /// How the real work ended, once it did.
    pub(super) outcome: Option<Result<(), Errno>>,
    /// A part of a request, moved without the model.
    pub(super) is_transfer: bool,
}

impl Flight {
    pub(super) const fn new(export: Export, ticket: Ticket, request: &Request, fate: Fate) -> Self {
        let (class, payload) = (request.class(), request.payload());
        let bound_by = Bound::Fault;
        Self { export, ticket, class, payload, fate, bound_by, due: None, outcome: None, is_transfer: false }
    }

    /// Leaves as soon as its real work has ended.
    pub(super) const fn transfer(now: Instant, export: Export, ticket: Ticket, part: &Request) -> Self {
        Self { due: Some(now), is_transfer: true, ..Self::new(export, ticket, part, Fate::NONE) }
    }

    /// The real work ended; true when the request is ready.
    pub(super) const fn finish(&mut self, outcome: Result<(), Errno>) -> bool {
        self.outcome = Some(outcome);
        self.due.is_some()
    }

    /// The moment came at which it may leave; true when the request is ready.
    pub(super) const fn pass(&mut self, at: Instant) -> bool {
        self.due = Some(at);
        self.outcome.is_some()
    }
}

/// A volume that is served.
#[derive(Clone, Debug)]
pub(super) struct Served {
    pub(super) volume: VolumeId,
    /// Its present model.
    pub(super) model: ChainSpec,
    pub(super) limits: Limits,
    pub(super) is_open: bool,
    pub(super) in_flight: u32,
    /// Parts of requests that are being moved.
    pub(super) transfers: u32,
    /// Bytes of payloads in flight.
    pub(super) bytes: u64,
    /// What an answer takes to its client, and a request from there, in model time.
    pub(super) path: Span,
    pub(super) fidelity: Fidelity,
    pub(super) totals: Totals,
    pub(super) injector: Option<Injector>,
}

impl Served {
    pub(super) fn new(now: Instant, serving: &Serving) -> Self {
        let Serving { volume, ref model, limits, .. } = *serving;
        Self {
            volume,
            model: model.clone(),
            limits,
            is_open: true,
            in_flight: 0,
            transfers: 0,
            bytes: 0,
            path: Span::ZERO,
            fidelity: Fidelity::new(now),
            totals: Totals::default(),
            injector: None,
        }
    }

    /// No request of it is under way.
    pub(super) const fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.transfers == 0
    }

    /// The first request of a volume at rest is always taken, however long.
    pub(super) const fn has_room(&self, payload: u64) -> bool {
        self.in_flight == 0
            || (self.in_flight < self.limits.requests && self.bytes.saturating_add(payload) <= self.limits.bytes)
    }

    /// Whether a request may be taken in, whatever the store says.
    pub(super) fn admit(&self, request: &Request) -> Result<(), NotTaken> {
        let failed = |errno| Err(NotTaken::Failed(errno));
        let is_flush = request.command == Command::Flush;
        let block = u64::from(self.limits.block);
        let is_aligned = request.offset.is_multiple_of(block) && request.length.is_multiple_of(block);
        if !self.is_open {
            failed(Errno::Shutdown)
        } else if (!is_flush && !is_aligned) || request.payload() > self.limits.payload.into() {
            failed(Errno::Inval)
        } else if self.has_room(request.payload()) {
            Ok(())
        } else {
            Err(NotTaken::Full)
        }
    }
}
