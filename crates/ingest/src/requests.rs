//! The operations of a trace in order of time, for replay: of any dialect, compressed or not, read incrementally. An
//! operation that cannot be replayed is an error with its place.

use std::collections::VecDeque;
use std::io::{self, Read};

use plimsoll_record::{Action, TraceEntry};
use plimsoll_units::Span;

use crate::dialect::{Dialect, Mark, NumberUnit, RecordOrder, Sink, TraceRecord, TraceVolume, Volumes};
use crate::form::{Form, FormatReader, Head, Takes};
use crate::forms::FORMS;
use crate::ingest::recognised;
use crate::reading::{Doubt, FormatName};
use crate::refusal::InputFault;
use crate::unpack::{Decoder, Ending, Gunzip};

/// An operation of a trace, with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// The operation, with its time since the first.
    pub requested: TraceEntry,
    /// The volume: numbered from 0, in order of first appearance.
    pub volume: u32,
}

/// The reason why a trace cannot be replayed.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct TraceFault {
    /// The line, from 1; none without lines or place.
    pub line: Option<u64>,
    pub fault: Box<InputFault>,
}

impl From<InputFault> for TraceFault {
    fn from(fault: InputFault) -> Self {
        Self { line: None, fault: Box::new(fault) }
    }
}

/// Reads a trace of any dialect. Ends after a fault.
pub struct Requests {
    source: TraceBytes,
    kind: FormatName,
    dialect: Box<dyn Dialect>,
    queue: Queue,
    ended: bool,
}

/// Bytes per read.
const PIECE: usize = 64 << 10;
/// Number of operations held back to sort slightly late records.
const HELD: usize = 4096;

impl Requests {
    /// Recognises a trace from its first bytes.
    ///
    /// # Errors
    /// The trace is of an unknown format, or lacks data for replay.
    pub fn new(source: impl Read + 'static) -> Result<Self, TraceFault> {
        Self::recognise(TraceBytes::new(Box::new(source)))
    }

    fn recognise(mut source: TraceBytes) -> Result<Self, TraceFault> {
        let mut head = Vec::new();
        while head.len() < Form::HEAD && source.more(&mut head)? {}
        let raw = &head[..head.len().min(Form::HEAD)];
        let text = Head::decoded(raw);
        let begin = Head::new(raw, &text);
        let traces = FORMS.iter().filter(|form| matches!(form.reader, FormatReader::Trace(..)));
        let Ok(&Form { kind, reader: FormatReader::Trace(takes, open), .. }) = recognised(traces, &begin) else {
            return Err(InputFault::UnknownTrace.into());
        };
        source.takes = takes;
        let mut requests = Self { source, kind, dialect: open(), queue: Queue::default(), ended: false };
        let about = requests.dialect.about();
        (requests.queue.order, requests.queue.counts) = (about.order, about.counts);
        requests.feed(&head);
        Ok(requests)
    }

    /// The recognised format.
    pub const fn kind(&self) -> FormatName {
        self.kind
    }

    /// Operations dropped by the recorder, in the trace so far.
    pub fn dropped(&self) -> u64 {
        self.dialect.about().dropped
    }

    /// Assumptions and gaps in the trace so far.
    pub fn doubts(&self) -> Vec<Doubt> {
        self.dialect.about().doubts
    }

    pub fn volume(&self, volume: u32) -> String {
        self.queue.volumes.name(volume)
    }

    fn feed(&mut self, bytes: &[u8]) {
        let mut text = Vec::new();
        let bytes = if self.source.takes == Takes::Text {
            self.source.decoder.push(bytes, &mut text);
            &text
        } else {
            bytes
        };
        self.dialect.feed(bytes, &mut self.queue);
    }

    /// Reads until an operation may be returned, or the trace ends.
    fn fill(&mut self) -> Result<(), TraceFault> {
        let mut piece = Vec::new();
        while !self.ended && self.queue.fault.is_none() && self.queue.waiting.len() <= HELD {
            piece.clear();
            if self.source.more(&mut piece)? {
                self.feed(&piece);
            } else {
                self.ended = true;
                let mut text = Vec::new();
                if self.source.takes == Takes::Text {
                    self.source.decoder.end(&mut text);
                }
                self.dialect.feed(&text, &mut self.queue);
                self.dialect.end(&mut self.queue);
            }
        }
        Ok(())
    }
}

impl Iterator for Requests {
    type Item = Result<TraceRequest, TraceFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(fault) = self.fill() {
            self.queue.waiting.clear();
            self.ended = true;
            return Some(Err(fault));
        }
        let next = self.queue.pop();
        next.map(Ok).or_else(|| {
            self.ended = true;
            self.queue.fault.take().map(Err)
        })
    }
}

/// Pending operations in order of time.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<(u64, TraceRequest)>,
    first_ns: Option<u64>,
    last_ns: u64,
    fault: Option<TraceFault>,
    volumes: Volumes,
    order: RecordOrder,
    counts: NumberUnit,
}

impl Queue {
    fn pop(&mut self) -> Option<TraceRequest> {
        let (at_ns, mut request) = self.waiting.pop_front()?;
        self.last_ns = at_ns;
        request.requested.at = Span::from_nanos(at_ns - *self.first_ns.get_or_insert(at_ns));
        Some(request)
    }

    fn stop(&mut self, number: u64, fault: InputFault) {
        let fault = Box::new(fault);
        self.fault.get_or_insert_with(|| match self.counts {
            NumberUnit::Lines => TraceFault { line: Some(number), fault },
            NumberUnit::Records => InputFault::InRecord { number, fault }.into(),
        });
    }

    /// The operation, or the reason why it cannot be replayed.
    fn request(record: &TraceRecord) -> Result<(u64, TraceRequest), InputFault> {
        let (Some(at_ns), Some(action), Some(length)) = (record.at_ns, record.action, record.length) else {
            return Err(InputFault::NotReplayable);
        };
        if action != Action::Trim && length > u64::from(u32::MAX) {
            return Err(InputFault::LongOperation { length });
        }
        if record.place.checked_add(length).is_none() {
            return Err(InputFault::BeyondAddressSpace);
        }
        let requested = TraceEntry { at: Span::ZERO, action, offset: record.place, length };
        Ok((at_ns, TraceRequest { requested, volume: record.volume }))
    }
}

impl Sink for Queue {
    fn volume(&mut self, name: &[u8]) -> TraceVolume {
        self.volumes.number(name)
    }

    fn operation(&mut self, record: &TraceRecord) -> Mark {
        let (at_ns, request) = match Self::request(record) {
            Ok(required) if self.fault.is_none() => required,
            Ok(_) => return Mark::default(),
            Err(fault) => {
                self.stop(record.number, fault);
                return Mark::default();
            }
        };
        if self.first_ns.is_some() && at_ns < self.last_ns {
            let items = if self.order == RecordOrder::Strict { "lines" } else { "records" };
            self.stop(record.number, InputFault::Unordered { before_ns: self.last_ns, at_ns, items });
            return Mark::default();
        }
        // Nearly always at the end.
        let later = self.waiting.iter().rev().take_while(|(other, _)| *other > at_ns).count();
        self.waiting.insert(self.waiting.len() - later, (at_ns, request));
        Mark::default()
    }

    fn broken(&mut self, number: u64, doubt: &Doubt) {
        self.stop(number, doubt.clone().into());
    }

    /// The operations before it can be replayed.
    fn cut(&mut self, _: u64, _: &Doubt) {}
}

/// Decompressed bytes of a trace.
struct TraceBytes {
    bytes: Box<dyn Read>,
    gunzip: Gunzip,
    decoder: Decoder,
    takes: Takes,
    piece: Vec<u8>,
    over: bool,
}

impl TraceBytes {
    fn new(bytes: Box<dyn Read>) -> Self {
        let (gunzip, decoder) = (Gunzip::default(), Decoder::default());
        Self { bytes, gunzip, decoder, takes: Takes::Bytes, piece: vec![0; PIECE], over: false }
    }

    /// Appends further bytes. False at the end.
    fn more(&mut self, out: &mut Vec<u8>) -> Result<bool, TraceFault> {
        let before = out.len();
        while !self.over && out.len() == before {
            let read = match self.bytes.read(&mut self.piece) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(InputFault::Unreadable { error: error.to_string() }.into()),
            };
            if read == 0 {
                self.over = true;
                if self.gunzip.end(out) == Ending::Cut {
                    return Err(InputFault::from(Doubt::CompressedFileDamaged).into());
                }
            } else {
                let pushed = self.gunzip.push(&self.piece[..read], out);
                pushed.map_err(|refusal| InputFault::from(Box::new(refusal)))?;
            }
        }
        Ok(out.len() > before)
    }
}
