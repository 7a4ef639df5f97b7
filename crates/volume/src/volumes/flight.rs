//! A request between acceptance and reply, and the state of a served volume.

use plimsoll_model::ChainSpec;
use plimsoll_units::{Instant, Span};

use super::{Bound, Export, Limits, NotAccepted, Serving};
use crate::faults::{Fate, Injector};
use crate::fidelity::Fidelity;
use crate::record::VolumeId;
use crate::request::{Class, Command, Errno, Request, Ticket};
use crate::totals::{Label, Totals};

/// Maximum number of requests in flight of an export without a model.
const PLAIN_REQUESTS_MAX: u32 = 4_096;

/// A request without a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) export: Export,
    pub(super) ticket: Ticket,
    pub(super) class: Class,
    pub(super) payload: u64,
    pub(super) fate: Fate,
    pub(super) bound_by: Bound,
    /// Due time in model time, if known.
    pub(super) due: Option<Instant>,
    /// Outcome of the real work, if ended.
    pub(super) outcome: Option<Result<(), Errno>>,
    /// Delay after the real work, without a model; `None` with a model.
    pub(super) delay: Option<Span>,
    /// A part of a request, excluded from totals.
    pub(super) is_transfer: bool,
}

impl Flight {
    pub(super) const fn new(
        export: Export,
        ticket: Ticket,
        request: &Request,
        fate: Fate,
        delay: Option<Span>,
    ) -> Self {
        let (class, payload) = (request.class(), request.payload());
        // A model overwrites this with its binding stage.
        let bound_by = Bound::Volume(Label(0));
        Self { export, ticket, class, payload, fate, bound_by, due: None, outcome: None, delay, is_transfer: false }
    }

    /// A part of a request, whose reply leaves when its real work ends.
    pub(super) const fn transfer(export: Export, ticket: Ticket, part: &Request) -> Self {
        Self { is_transfer: true, ..Self::new(export, ticket, part, Fate::NONE, Some(Span::ZERO)) }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Timing {
    Model(ChainSpec),
    /// A fixed delay after the real work.
    Delay(Span),
}

impl Timing {
    pub(super) const fn delay(&self) -> Option<Span> {
        match *self {
            Self::Model(_) => None,
            Self::Delay(delay) => Some(delay),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct ServedVolume {
    pub(super) volume: VolumeId,
    pub(super) timing: Timing,
    pub(super) limits: Limits,
    pub(super) is_open: bool,
    pub(super) in_flight: u32,
    /// Parts of requests in flight.
    pub(super) transfers: u32,
    /// Payload bytes in flight.
    pub(super) bytes: u64,
    /// Latency of the path to the client including its next request, in model time.
    pub(super) path: Span,
    pub(super) fidelity: Fidelity,
    pub(super) totals: Totals,
    pub(super) injector: Option<Injector>,
}

impl ServedVolume {
    pub(super) fn new(now: Instant, serving: &Serving) -> Self {
        Self::with(now, serving.volume, Timing::Model(serving.model.clone()), serving.limits)
    }

    /// A volume without a model.
    pub(super) fn plain(volume: VolumeId, delay: Span) -> Self {
        let limits = Limits { requests: PLAIN_REQUESTS_MAX, bytes: u64::MAX, payload: u32::MAX, block: 1 };
        let mut served = Self::with(Instant::ZERO, volume, Timing::Delay(delay), limits);
        // Label of its requests.
        served.totals.labels(&["delay".to_owned()]);
        served
    }

    fn with(now: Instant, volume: VolumeId, timing: Timing, limits: Limits) -> Self {
        Self {
            volume,
            timing,
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

    /// True without requests or parts in flight.
    pub(super) const fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.transfers == 0
    }

    /// True if a request is within the limits. The first request of an idle volume is always accepted.
    pub(super) const fn has_room(&self, payload: u64) -> bool {
        self.in_flight == 0
            || (self.in_flight < self.limits.requests && self.bytes.saturating_add(payload) <= self.limits.bytes)
    }

    /// Checks a request against the limits, before the store does.
    pub(super) fn admit(&self, request: &Request) -> Result<(), NotAccepted> {
        let failed = |errno| Err(NotAccepted::Failed(errno));
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
            Err(NotAccepted::Full)
        }
    }
}
