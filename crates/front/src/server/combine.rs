//! Requests that combine bytes of the client with those of a volume: compare, compare and write, disjunction, repetition.
//!
//! The model sees one request. After its answer the range is read, combined and written.

use plimsoll_volume::{Command, Errno, Export, NotAccepted, Request};

use super::Server;
use super::connection::{Current, Lifecycle};
use super::flight::{ClientExport, ConnectedClient, ServedPart};
use super::input::InputStep;
use super::parts::PART_BYTES;
use crate::codec::{Combination, Operation, ReplyBody, SessionServices, Tag};
use crate::pool::Buffer;

#[derive(Debug)]
pub(super) struct Combining {
    pub tag: Tag,
    combination: Combination,
    request: Request,
    /// The bytes of the client.
    bytes: Vec<u8>,
    step: CombineStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CombineStep {
    Timing,
    Read,
    /// From this byte of the range on.
    Write(u64),
    Flush,
}

/// A range that only one request may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lock {
    export: Export,
    offset: u64,
    length: u64,
}

impl Combination {
    /// No other request may change the range meanwhile.
    const fn is_exclusive(self) -> bool {
        matches!(self, Self::CompareAndWrite | Self::Or)
    }

    /// Combines the bytes of the client with those of the range, into the latter. Returns the position of the first
    /// difference of compared bytes.
    fn apply(self, bytes: &[u8], range: &mut [u8]) -> Option<u32> {
        match self {
            Self::Compare => difference(bytes.iter(), range),
            Self::CompareRepeated => difference(bytes.iter().cycle(), range),
            Self::CompareAndWrite => {
                let (expected, new) = bytes.split_at(range.len().min(bytes.len()));
                let differs = difference(expected.iter(), range);
                if differs.is_none() {
                    range.copy_from_slice(&new[..range.len()]);
                }
                differs
            }
            Self::Or => {
                range.iter_mut().zip(bytes).for_each(|(byte, other)| *byte |= other);
                None
            }
            Self::Repeat => {
                range.iter_mut().zip(bytes.iter().cycle()).for_each(|(byte, other)| *byte = *other);
                None
            }
        }
    }

    const fn writes(self) -> bool {
        matches!(self, Self::CompareAndWrite | Self::Or | Self::Repeat)
    }
}

fn difference<'a>(expected: impl Iterator<Item = &'a u8>, found: &[u8]) -> Option<u32> {
    found.iter().zip(expected).position(|(found, expected)| found != expected).map(|at| at as u32)
}

impl Server {
    /// Whether another request has locked a range that this one changes.
    #[inline]
    pub(super) fn is_locked(&self, export: Export, operation: Result<Operation, Errno>) -> bool {
        if self.locks.is_empty() {
            return false;
        }
        let Ok(Operation::Io(request) | Operation::Stored(request) | Operation::Combine { request, .. }) = operation
        else {
            return false;
        };
        let ends_before = |offset: u64, length: u64, start: u64| offset.saturating_add(length) <= start;
        let overlaps = |lock: &Lock| {
            !ends_before(lock.offset, lock.length, request.offset)
                && !ends_before(request.offset, request.length, lock.offset)
        };
        request.command != Command::Read && self.locks.iter().any(|lock| lock.export == export && overlaps(lock))
    }

    /// Whether requests in flight may change a range.
    fn is_changing(&self, session: ClientExport, request: &Request) -> bool {
        let end = request.offset + request.length;
        self.flights.iter().any(|flight| {
            flight.row == session.row
                && match flight.command {
                    Command::Write => {
                        flight.tag.offset < end && request.offset < flight.tag.offset + u64::from(flight.length)
                    }
                    Command::Trim | Command::WriteZeroes { .. } => true,
                    Command::Read | Command::Flush | Command::Cache => false,
                }
        })
    }

    pub(super) fn begin_combination(&mut self, number: u32, session: ClientExport, current: Current) -> InputStep {
        let Ok(Operation::Combine { combination, request }) = current.incoming.operation else {
            return InputStep::Continue;
        };
        let tag = current.incoming.tag;
        let has_to_wait = combination.is_exclusive() && self.is_changing(session, &request);
        let begun = if has_to_wait {
            Err(NotAccepted::Full)
        } else {
            let handed =
                self.hand_over(session, (ConnectedClient::Connection(number), tag, ServedPart::Timing), &request, None);
            handed.map_err(|refused| refused.1)
        };
        let Some(connection) = self.connections.get_mut(number) else { return InputStep::End(Lifecycle::Broken) };
        match begun {
            Ok(()) => {
                let services = connection.codec.services_mut();
                let bytes = services.map(|services| services.parameters(&tag)).unwrap_or_default();
                connection.in_flight += 1;
                connection.combining.push(Combining { tag, combination, request, bytes, step: CombineStep::Timing });
                if combination.is_exclusive() {
                    let (offset, length) = (request.offset, request.length);
                    self.locks.push(Lock { export: session.export, offset, length });
                }
                InputStep::Continue
            }
            Err(NotAccepted::Full) => {
                connection.current = Some(current);
                InputStep::Blocked
            }
            Err(NotAccepted::Failed(errno)) => {
                connection.reply(&tag, &ReplyBody::Failed(errno), None);
                self.touch(number);
                InputStep::Continue
            }
        }
    }

    /// The model has answered, or a step has ended: goes on with the next step.
    pub(super) fn continue_combination(
        &mut self,
        number: u32,
        mut combining: Combining,
        buffer: Option<Buffer>,
        outcome: Result<(), Errno>,
    ) {
        let mut buffer = buffer;
        let next = outcome.map(|()| combining.advance(buffer.as_mut()));
        let is_broken = self.connections.get(number).is_none_or(|connection| connection.lifecycle == Lifecycle::Broken);
        let body = match next {
            Ok(Ok(request)) if !is_broken => {
                self.step_combination(number, combining, request, buffer);
                return;
            }
            Ok(Ok(_)) => ReplyBody::Failed(Errno::Io),
            Ok(Err(body)) => body,
            Err(errno) => ReplyBody::Failed(errno),
        };
        self.end_combination(number, &combining, buffer, Some(&body));
    }

    fn step_combination(&mut self, number: u32, combining: Combining, request: Request, buffer: Option<Buffer>) {
        let tag = combining.tag;
        let (bytes, combination) = (request.length as u32, combining.combination);
        let moves = matches!(request.command, Command::Read | Command::Write);
        let Some(connection) = self.connections.get_mut(number) else { return };
        let Some(session) = connection.session else { return };
        let mut unused = None;
        let buffer = match buffer {
            retained @ Some(_) if moves => retained,
            None if moves => {
                let mut lent = self.pool.lend_anyway(bytes);
                connection.buffered_bytes += lent.size();
                if combination == Combination::Repeat {
                    combination.apply(&combining.bytes, &mut lent.bytes()[..bytes as usize]);
                }
                Some(lent)
            }
            other => {
                unused = other;
                None
            }
        };
        if let Some(unused) = unused {
            connection.buffered_bytes -= unused.size();
            self.pool.give_back(unused);
        }
        connection.combining.push(combining);
        self.transfer(number, session, tag, &request, buffer);
    }

    /// Ends a combination, with a reply if the client awaits it.
    pub(super) fn end_combination(
        &mut self,
        number: u32,
        combining: &Combining,
        buffer: Option<Buffer>,
        body: Option<&ReplyBody<'_>>,
    ) {
        let Request { command, offset, length, .. } = combining.request;
        let Some(connection) = self.connections.get_mut(number) else { return };
        if let Some(session) = connection.session {
            let own = Lock { export: session.export, offset, length };
            if let Some(at) = self.locks.iter().position(|lock| combining.combination.is_exclusive() && *lock == own) {
                self.locks.swap_remove(at);
            }
            if command == Command::Read {
                self.counts.ended(session.row, command, length as u32, Ok(()));
            }
        }
        if let Some(body) = body.filter(|_| connection.lifecycle != Lifecycle::Broken)
            && connection.awaits(&combining.tag, &mut self.out)
        {
            connection.reply(&combining.tag, body, None);
        }
        if let Some(buffer) = buffer {
            connection.buffered_bytes -= buffer.size();
            self.pool.give_back(buffer);
        }
        self.freed = true;
        self.touch(number);
    }
}

impl Combining {
    /// The next request, or the reply.
    fn advance(&mut self, buffer: Option<&mut Buffer>) -> Result<Request, ReplyBody<'static>> {
        let Request { offset, length, fua, .. } = self.request;
        let part = |command, offset, length| Request { command, offset, length, fua: false };
        let written = match self.step {
            CombineStep::Timing if self.combination == Combination::Repeat => 0,
            CombineStep::Timing => {
                self.step = CombineStep::Read;
                return Ok(part(Command::Read, offset, length));
            }
            CombineStep::Read => {
                let range = buffer.map_or(&mut [][..], |buffer| &mut buffer.bytes()[..length as usize]);
                match self.combination.apply(&self.bytes, range) {
                    Some(at) => return Err(ReplyBody::Mismatch(at)),
                    None if !self.combination.writes() => return Err(ReplyBody::Done),
                    None => {}
                }
                self.step = CombineStep::Write(length);
                return Ok(part(Command::Write, offset, length));
            }
            CombineStep::Write(written) => written,
            CombineStep::Flush => return Err(ReplyBody::Done),
        };
        if written < length {
            let count = (length - written).min(PART_BYTES.into());
            self.step = CombineStep::Write(written + count);
            return Ok(part(Command::Write, offset + written, count));
        }
        if fua {
            self.step = CombineStep::Flush;
            return Ok(part(Command::Flush, 0, 0));
        }
        Err(ReplyBody::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(combination: Combination, bytes: &[u8], expected: (&[u8], Option<u32>)) {
        let mut range = [1, 2, 3, 4];
        let differs = combination.apply(bytes, &mut range);
        assert_eq!((&range[..], differs), expected, "{combination:?}");
    }

    #[test]
    fn combinations_compare_and_merge_bytes() {
        let same = &[1, 2, 3, 4][..];
        check(Combination::Compare, same, (same, None));
        check(Combination::Compare, &[1, 2, 9, 9], (same, Some(2)));
        check(Combination::CompareRepeated, &[1], (same, Some(1)));
        check(Combination::CompareAndWrite, &[1, 2, 3, 4, 5, 6, 7, 8], (&[5, 6, 7, 8], None));
        check(Combination::CompareAndWrite, &[1, 2, 3, 9, 5, 6, 7, 8], (same, Some(3)));
        check(Combination::Or, &[8, 8, 0, 0], (&[9, 10, 3, 4], None));
        check(Combination::Repeat, &[7, 8], (&[7, 8, 7, 8], None));
    }

    #[test]
    fn durable_repetition_is_written_in_parts_and_flushed() {
        let tag = Tag { id: 0, offset: 0, division: crate::codec::Division::Undivided, holes: false, limit: u32::MAX };
        let length = u64::from(PART_BYTES) + 512;
        let request = Request { command: Command::Write, offset: 4096, length, fua: true };
        let combination = Combination::Repeat;
        let mut combining = Combining { tag, combination, request, bytes: vec![1], step: CombineStep::Timing };
        let steps: Vec<_> = std::iter::from_fn(|| combining.advance(None).ok()).collect();
        let places: Vec<_> = steps.iter().map(|step| (step.command, step.offset, step.length)).collect();
        let second = 4096 + u64::from(PART_BYTES);
        let expected =
            [(Command::Write, 4096, PART_BYTES.into()), (Command::Write, second, 512), (Command::Flush, 0, 0)];
        assert_eq!(places, expected);
    }
}
