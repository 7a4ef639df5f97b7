//! The operations of a trace, in the order of time, for replay: of any dialect, compressed or not, read as needed. An
//! operation that cannot be replayed is refused with its place.

use std::collections::VecDeque;
use std::io::{self, Read};

use plimsoll_record::{Action, Asked};
use plimsoll_units::Span;

use super::dialect::{Counts, Dialect, Mark, Order, Said, Sink, Volume, Volumes};
use crate::form::{FORMS, Form, Head, Kind, Reader, Resemblance, Takes};
use crate::unpack::{Decoder, Ending, Gunzip};

/// One operation of a trace, with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation, and its time after the first.
    pub asked: Asked,
    /// Which volume: numbers from 0, in the order in which the trace names them.
    pub volume: u32,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TraceFault {
    /// The line, from 1; none where there are no lines, or no place.
    pub line: Option<u64>,
    /// The fault, and the remedy.
    pub what: String,
}

/// Reads a trace of any dialect. After a fault there is nothing more.
pub struct Requests<R> {
    source: Source<R>,
    kind: Kind,
    dialect: Box<dyn Dialect>,
    queue: Queue,
    ended: bool,
}

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// Operations that are held back, so that those that were recorded a little late find their place.
const HELD: usize = 4096;

impl<R: Read> Requests<R> {
    /// Recognises a trace by its first bytes.
    ///
    /// # Errors
    /// It is no known trace, or has too little to be replayed.
    pub fn new(source: R) -> Result<Self, TraceFault> {
        let mut source = Source::new(source);
        let mut head = Vec::new();
        while head.len() < Form::HEAD && source.more(&mut head)? {}
        let raw = &head[..head.len().min(Form::HEAD)];
        let text = Head::decoded(raw);
        let begin = Head::new(raw, &text);
        let known = FORMS.iter().filter_map(|form| {
            let Reader::Trace(takes, open) = form.reader else { return None };
            match (form.resembles)(&begin) {
                Resemblance::Is { marks } => Some((marks, form.kind, takes, open)),
                _ => None,
            }
        });
        // The first among those with the most marks.
        let best = known.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let Some((_, kind, takes, open)) = best else {
            return Err(TraceFault {
                line: None,
                what: "it is no trace of a dialect that is known: plimsoll.trace/1, blktrace, blkparse, fio's I/O log, MSR, \
                       SYSTOR '17, SPC, Alibaba, Tencent, FIU, CloudPhysics, DiskSim or SSDsim"
                    .to_owned(),
            });
        };
        source.takes = takes;
        let mut requests = Self { source, kind, dialect: open(), queue: Queue::default(), ended: false };
        let about = requests.dialect.about();
        (requests.queue.order, requests.queue.counts) = (about.order, about.counts);
        requests.feed(&head);
        Ok(requests)
    }

    /// Its recognised form.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Operations that the recorder could not keep, as far as the trace was read.
    pub fn dropped(&self) -> u64 {
        self.dialect.about().dropped
    }

    /// Guesses and gaps, as far as the trace was read: a sentence each.
    pub fn doubts(&self) -> Vec<String> {
        self.dialect.about().doubts
    }

    /// The name of a volume.
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

    /// Reads on until an operation may be handed out, or there is no more.
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

impl<R: Read> Iterator for Requests<R> {
    type Item = Result<Request, TraceFault>;

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

/// Operations on their way, in the order of time.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<(u64, Request)>,
    first_ns: Option<u64>,
    last_ns: u64,
    fault: Option<TraceFault>,
    volumes: Volumes,
    order: Order,
    counts: Counts,
}

impl Queue {
    fn pop(&mut self) -> Option<Request> {
        let (at_ns, mut request) = self.waiting.pop_front()?;
        self.last_ns = at_ns;
        request.asked.at = Span::from_nanos(at_ns - *self.first_ns.get_or_insert(at_ns));
        Some(request)
    }

    fn stop(&mut self, number: u64, what: String) {
        let line = (self.counts == Counts::Lines).then_some(number);
        let what = if line.is_some() { what } else { format!("record {number}: {what}") };
        self.fault.get_or_insert(TraceFault { line, what });
    }

    /// The operation; or the reason why there is none.
    fn wanted(said: &Said) -> Result<(u64, Request), String> {
        let (Some(at_ns), Some(action), Some(length)) = (said.at_ns, said.action, said.length) else {
            return Err(
                "the trace does not say when what was asked, or whether it was read or written, so it cannot be \
                        replayed: plimsoll demand tells its working set"
                    .to_owned(),
            );
        };
        if action != Action::Trim && length > u64::from(u32::MAX) {
            return Err(format!("a length of {length} is more than one operation moves: at most 4294967295"));
        }
        if said.place.checked_add(length).is_none() {
            return Err("the operation reaches beyond the last byte that can be addressed".to_owned());
        }
        let asked = Asked { at: Span::ZERO, action, offset: said.place, length };
        Ok((at_ns, Request { asked, volume: said.volume }))
    }
}

impl Sink for Queue {
    fn volume(&mut self, name: &[u8]) -> Volume {
        self.volumes.number(name)
    }

    fn asked(&mut self, said: &Said) -> Mark {
        let (at_ns, request) = match Self::wanted(said) {
            Ok(wanted) if self.fault.is_none() => wanted,
            Ok(_) => return Mark::default(),
            Err(what) => {
                self.stop(said.number, what);
                return Mark::default();
            }
        };
        if self.first_ns.is_some() && at_ns < self.last_ns {
            let (before, order) = (self.last_ns, self.order);
            let cure = if order == Order::Strict { "sort the lines by time" } else { "sort the records by time" };
            self.stop(said.number, format!("time goes back, from {before} ns to {at_ns} ns: {cure}"));
            return Mark::default();
        }
        // Nearly always the end.
        let later = self.waiting.iter().rev().take_while(|(other, _)| *other > at_ns).count();
        self.waiting.insert(self.waiting.len() - later, (at_ns, request));
        Mark::default()
    }

    fn answered(&mut self, _: Mark, _: u64) {}

    fn broken(&mut self, number: u64, what: &str) {
        self.stop(number, what.to_owned());
    }
}

/// Bytes of a trace, unpacked.
struct Source<R> {
    bytes: R,
    gunzip: Gunzip,
    decoder: Decoder,
    takes: Takes,
    piece: Vec<u8>,
    over: bool,
}

impl<R: Read> Source<R> {
    fn new(bytes: R) -> Self {
        let (gunzip, decoder) = (Gunzip::default(), Decoder::default());
        Self { bytes, gunzip, decoder, takes: Takes::Bytes, piece: vec![0; PIECE], over: false }
    }

    /// Appends the next ones. False at the end.
    fn more(&mut self, out: &mut Vec<u8>) -> Result<bool, TraceFault> {
        let fault = |what: String| TraceFault { line: None, what };
        let before = out.len();
        while !self.over && out.len() == before {
            let read = match self.bytes.read(&mut self.piece) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(fault(format!("reading on failed: {error}"))),
            };
            if read == 0 {
                self.over = true;
                if self.gunzip.end(out) == Ending::Cut {
                    return Err(fault("the compressed file ends early or is damaged: copy it again".to_owned()));
                }
            } else {
                let pushed = self.gunzip.push(&self.piece[..read], out);
                pushed.map_err(|refusal| fault(refusal.to_string()))?;
            }
        }
        Ok(out.len() > before)
    }
}
