//! iSCSI from the server's side (RFC 7143, error recovery level 0, one connection in a session), as a pure codec.
//!
//! Login and commands come in as bytes; requests to the volume go out. The target of an export has one logical unit,
//! whose commands follow SPC-4 and SBC-3. Data of reads and writes pass by the codec; it holds only parameters, and the
//! data of commands that compare or combine them.

mod cdb;
mod chap;
mod control;
mod identity;
mod login;
mod opcodes;
mod reservation;
mod sense;
mod target;
mod task;
mod text;
mod unneeded;
mod wire;

use plimsoll_volume::{Errno, Export};

pub use self::chap::{Chap, ENTROPY_BYTES};
pub use self::target::{TargetSettings, Targets};
pub use crate::unit::{Admission, Controller, Credentials, InquiryNames, Paths, UnitIdentity};

use self::cdb::block_status;
use self::identity::Unit;
use self::login::{Login, LoginStep, Purpose};
use self::sense::{Sense, status};
use self::target::SessionId;
use self::task::{Segment, Task, TaskCommand, TaskState};
use self::text::{Parameters, SEGMENT_MAX};
use self::unneeded::Unneeded;
use self::wire::{Digest, HEADER_BYTES, Numbering, SegmentHeader, Sender, flag, padding_bytes, request, response};
use crate::codec::{Codec, Decoded, Division, Exports, Message, ReadPart, ReplyBody, SessionServices, Tag};
use crate::slots::Slots;

/// Bytes of data of messages other than commands and Data-Out at most.
const MESSAGE_MAX: u32 = 64 << 10;

/// Ticks without a message from the initiator before it is probed, and before its connection ends.
const SILENT_TICKS: u32 = 15;
const DEAD_TICKS: u32 = 30;

/// The codec of one connection.
#[derive(Debug)]
pub struct IscsiCodec {
    targets: Targets,
    /// The address that the client connected to.
    local: String,
    phase: SessionPhase,
    sender: Sender,
    parameters: Parameters,
    tasks: Slots<Task>,
    /// Commands in progress at most; the window is smaller by those in progress.
    queue_depth: u32,
    /// The rest of the present data segment, which is not needed.
    unneeded: Unneeded,
    /// The present data segment, if the codec keeps it.
    segment: Option<Segment>,
    /// The task that goes on without further input.
    resume: Option<u32>,
    /// Bytes that gathering commands may hold.
    gathering: usize,
    /// The rest of a long text response.
    text: Vec<u8>,
    /// Responses to task management that wait for aborted tasks.
    waiting: Vec<SegmentHeader>,
    /// Ticks since the last message.
    silent: u32,
    /// The reason for the refusal of a login.
    refusal: Option<String>,
}

#[derive(Debug)]
enum SessionPhase {
    Login(Box<Login>),
    Discovery,
    FullFeature(Box<UnitSession>),
}

#[derive(Debug)]
struct UnitSession {
    id: SessionId,
    export: Export,
    port: String,
    unit: Unit,
    epoch: u64,
}

/// A message without its data segment.
struct Message48 {
    header: SegmentHeader,
    /// Bytes of all header segments and their digest.
    head: usize,
}

impl IscsiCodec {
    /// For a client that connected to the address `local`. `entropy` is random, and not used for another client.
    pub fn new(targets: &Targets, local: String, entropy: [u8; ENTROPY_BYTES]) -> Self {
        let queue_depth = targets.state().settings.queue_depth.max(1);
        Self {
            targets: targets.clone(),
            local,
            phase: SessionPhase::Login(Box::new(Login::new(targets.portal, entropy))),
            sender: Sender { stat_sn: 1, window: queue_depth, ..Sender::default() },
            parameters: Parameters::default(),
            tasks: Slots::new(),
            queue_depth,
            unneeded: Unneeded::default(),
            segment: None,
            resume: None,
            gathering: 0,
            text: Vec::new(),
            waiting: Vec::new(),
            silent: 0,
            refusal: None,
        }
    }

    fn session(&self) -> Option<&UnitSession> {
        match &self.phase {
            SessionPhase::FullFeature(session) => Some(session),
            SessionPhase::Login(_) | SessionPhase::Discovery => None,
        }
    }

    /// The header at the beginning of `input`; `None` if it is incomplete.
    fn header(&self, input: &[u8]) -> Result<Option<Message48>, Message> {
        let Some(bytes) = input.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let header = SegmentHeader(*bytes);
        let segments = HEADER_BYTES + header.additional();
        let head = segments + self.sender.header_digest.size();
        let Some(head_bytes) = input.get(..head) else { return Ok(None) };
        let is_intact = self.sender.header_digest.matches(&head_bytes[..segments], &[], &head_bytes[segments..]);
        // Without the header the next message cannot be found.
        if is_intact { Ok(Some(Message48 { header, head })) } else { Err(Message::Invalid) }
    }

    /// Bytes of a data segment with padding and digest.
    fn segment_bytes(&self, data: u32) -> usize {
        if data == 0 { 0 } else { data as usize + padding_bytes(data) + self.parameters.data_digest.size() }
    }

    /// The data segment of a message that is needed as a whole; `None` if it is incomplete.
    fn data<'a>(&self, message: &Message48, input: &'a [u8]) -> Result<Option<&'a [u8]>, Message> {
        let data = message.header.data_bytes();
        if data > MESSAGE_MAX {
            return Err(Message::Invalid);
        }
        let Some(segment) = input.get(message.head..message.head + self.segment_bytes(data)) else { return Ok(None) };
        let (data, trailer) = segment.split_at(data as usize);
        let (padding, digest) = trailer.split_at(trailer.len() - self.sender.data_digest.size().min(trailer.len()));
        let is_intact = data.is_empty() || self.sender.data_digest.matches(data, padding, digest);
        if is_intact { Ok(Some(data)) } else { Err(Message::Invalid) }
    }

    /// The next message, from its header on.
    fn message(&mut self, input: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Result<Decoded, Message> {
        let incomplete = Decoded { used: 0, message: Message::Incomplete };
        let Some(message) = self.header(input)? else { return Ok(incomplete) };
        let (header, head) = (&message.header, message.head);
        if let (Some(_), request::COMMAND | request::DATA_OUT) = (self.session(), header.opcode()) {
            if header.data_bytes() > SEGMENT_MAX {
                return Err(Message::Invalid);
            }
            self.observe_aborts(out);
            let message = match header.opcode() {
                request::COMMAND => self.command(header, exports, out),
                _ => self.data_out(header, out),
            };
            return Ok(Decoded { used: head, message });
        }
        let Some(data) = self.data(&message, input)? else { return Ok(incomplete) };
        let used = head + self.segment_bytes(data.len() as u32);
        let message = match &mut self.phase {
            SessionPhase::Login(_) => self.log_in(header, data, exports, out),
            SessionPhase::Discovery | SessionPhase::FullFeature(_) => self.control(header, data, exports, out),
        };
        Ok(Decoded { used, message })
    }

    fn log_in(&mut self, header: &SegmentHeader, data: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Message {
        let SessionPhase::Login(login) = &mut self.phase else { return Message::Invalid };
        if header.opcode() != request::LOGIN {
            return Message::Invalid;
        }
        let mut state = self.targets.state();
        let (purpose, port) = match login.feed(header, data, &state, exports, &mut self.sender, out) {
            LoginStep::More => return Message::Handled,
            LoginStep::Refused(status) => {
                let (reason, initiator) = (login::describe(status), login.initiator());
                self.refusal = Some(format!("login of {initiator:?}: {reason} (status {status:#06x})"));
                return Message::End;
            }
            LoginStep::Begin(purpose, port) => (purpose, port),
        };
        self.parameters = login.parameters;
        self.parameters.first_burst = self.parameters.first_burst.min(self.parameters.burst);
        self.sender.header_digest = self.parameters.header_digest;
        self.sender.data_digest = self.parameters.data_digest;
        let offer = |export| exports.offers.iter().find(|offer| offer.export == export);
        let (phase, message) = match purpose {
            Purpose::Discovery => (SessionPhase::Discovery, Message::Handled),
            Purpose::Normal(export) => {
                let Some(offer) = offer(export) else { return Message::Invalid };
                let unit = Unit::new(offer, &state.settings, self.targets.portal);
                let id = state.begin(export, &port, self.targets.portal.group(unit.identity.paths));
                self.queue_depth = self.sender.window;
                (
                    SessionPhase::FullFeature(Box::new(UnitSession { id, export, port, unit, epoch: 0 })),
                    Message::Opened(export),
                )
            }
        };
        drop(state);
        self.phase = phase;
        message
    }

    /// The status of a command that has ended after `moved` bytes.
    fn respond(&mut self, command: TaskCommand, (status, sense): (u8, &[u8]), moved: u32, out: &mut Vec<u8>) {
        let (residual, count) = command.residual(moved);
        let header = SegmentHeader::new(response::COMMAND, flag::FINAL | residual)
            .set(3, [status])
            .with_tag(command.tag)
            .with_u32(44, count);
        let length = (sense.len() as u16).to_be_bytes();
        let data = if sense.is_empty() { Vec::new() } else { [&length[..], sense].concat() };
        self.sender.send(out, header, Numbering::Status, &data);
    }

    fn good(&mut self, command: TaskCommand, out: &mut Vec<u8>) {
        self.respond(command, (status::GOOD, &[]), command.length, out);
    }

    /// Ends a command with a failure. Nothing counts as moved, unless the initiator expected to move too little.
    fn fail(&mut self, command: TaskCommand, sense: Sense, information: Option<u32>, out: &mut Vec<u8>) {
        let moved = if command.length > command.expected { command.length } else { 0 };
        self.respond(command, (status::CHECK_CONDITION, &sense.bytes(information)), moved, out);
    }

    /// Ends a command with data of the codec's own.
    fn give(&mut self, command: TaskCommand, data: &[u8], out: &mut Vec<u8>) {
        let command = TaskCommand { length: data.len() as u32, ..command };
        let sent = &data[..data.len().min(command.expected as usize)];
        if sent.is_empty() {
            return self.good(command, out);
        }
        let piece = self.parameters.piece(4);
        let mut given = 0;
        for bytes in sent.chunks(piece as usize) {
            let (offset, length) = (given as u64, bytes.len() as u32);
            given += bytes.len();
            self.data_in(command, ReadPart { offset, length, rest: (sent.len() - given) as u32 }, piece, out);
            out.extend_from_slice(bytes);
            self.sender.trailer(out, bytes);
        }
    }

    /// The header of a Data-In. The last one contains the status.
    fn data_in(&mut self, command: TaskCommand, part: ReadPart, piece: u32, out: &mut Vec<u8>) {
        let number = (part.offset / u64::from(piece.max(1))) as u32;
        let in_burst = (self.parameters.burst / piece.max(1)).max(1);
        let ends_burst = part.rest == 0 || (number + 1).is_multiple_of(in_burst);
        let mut header = SegmentHeader::new(response::DATA_IN, if ends_burst { flag::FINAL } else { 0 })
            .with_tag(command.tag)
            .with_u32(20, wire::NO_TAG)
            .with_u32(36, number)
            .with_u32(40, part.offset as u32);
        let mut numbering = Numbering::Absent;
        if part.rest == 0 {
            let (residual, count) = command.residual(command.length);
            header.0[1] |= flag::STATUS | residual;
            header = header.with_u32(44, count);
            numbering = Numbering::Status;
        }
        self.sender.head(out, header, numbering, part.length);
    }

    /// Refuses a message.
    fn reject(&mut self, refused: &SegmentHeader, reason: u8, out: &mut Vec<u8>) -> Message {
        let header = SegmentHeader::new(response::REJECT, flag::FINAL).set(2, [reason]).with_tag(wire::NO_TAG);
        self.sender.send(out, header, Numbering::Status, &refused.0);
        Message::Handled
    }
}

impl Codec for IscsiCodec {
    fn take_refusal(&mut self) -> Option<String> {
        self.refusal.take()
    }

    fn feed(&mut self, input: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Decoded {
        // The digest of a segment covers bytes that are not needed, too: the task goes on behind them.
        if let Some(task) = self.resume.take_if(|_| self.unneeded.is_empty()) {
            return Decoded { used: 0, message: self.proceed(task, out) };
        }
        if input.is_empty() {
            return Decoded { used: 0, message: Message::Incomplete };
        }
        self.silent = 0;
        if !self.unneeded.is_empty() {
            return self.unneeded.pass(input);
        }
        if self.segment.is_some() {
            return self.keep(input, out);
        }
        self.message(input, exports, out).unwrap_or_else(|message| Decoded { used: input.len(), message })
    }

    fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, out: &mut Vec<u8>) {
        let number = tag.id as u32;
        let Some(Task { command, state, .. }) = self.tasks.get(number) else { return };
        let (command, allocated) = (*command, state.allocated());
        let is_last = !matches!(body, ReplyBody::DataPart(part) if part.rest > 0);
        if is_last {
            self.finish(number);
        }
        match (*body, tag.division) {
            (ReplyBody::DataPart(part), Division::Pieces(piece)) => {
                let part = ReadPart { offset: part.offset - tag.offset, ..part };
                self.data_in(command, part, piece, out);
            }
            (ReplyBody::Extents(extents), _) => {
                let block = self.session().map_or(512, |session| u64::from(session.unit.block));
                let blocks = extents.iter().map(|extent| (extent.length.div_ceil(block), extent.allocated));
                let data = block_status(tag.offset / block, blocks, allocated);
                self.give(command, &data[..data.len().min(allocated as usize)], out);
            }
            (ReplyBody::Mismatch(at), _) => self.fail(command, Sense::MISCOMPARE, Some(at), out),
            (ReplyBody::Failed(errno), _) => self.fail(command, Sense::of(errno, command.writes), None, out),
            _ => self.good(command, out),
        }
    }

    fn header_bytes(&self) -> Option<usize> {
        self.session().map(|_| HEADER_BYTES + self.sender.header_digest.size())
    }
}

impl SessionServices for IscsiCodec {
    fn verify(&mut self, payload: &[u8], trailer: &[u8]) -> bool {
        if !self.unneeded.is_empty() {
            self.unneeded.begin_with(payload, trailer);
            return true;
        }
        let (padding, digest) = trailer.split_at(padding_bytes(payload.len() as u32).min(trailer.len()));
        self.sender.data_digest.matches(payload, padding, digest)
    }

    fn part_done(&mut self, tag: &Tag, outcome: Result<(), Errno>) {
        if let (Err(errno), Some(task)) = (outcome, self.tasks.get_mut(tag.id as u32)) {
            task.failed = Some(errno);
        }
    }

    fn parameters(&mut self, tag: &Tag) -> Vec<u8> {
        self.tasks.get_mut(tag.id as u32).map(Task::take_bytes).unwrap_or_default()
    }

    fn awaits(&mut self, tag: &Tag, out: &mut Vec<u8>) -> bool {
        self.observe_aborts(out);
        let aborted = self.tasks.get(tag.id as u32).is_none_or(|task| task.aborted);
        if aborted {
            self.finish(tag.id as u32);
            self.release_waiting(out);
        }
        !aborted
    }

    fn trailer(&self, payload: &[u8], out: &mut Vec<u8>) {
        self.sender.trailer(out, payload);
    }

    fn has_digests(&self) -> bool {
        self.sender.data_digest == Digest::Crc32c
    }

    fn awaits_data(&self) -> bool {
        self.tasks.iter().any(|task| matches!(task.state, TaskState::Receiving(_)))
    }

    fn is_replaced(&self) -> bool {
        let id = self.session().map(|session| session.id);
        id.is_some_and(|id| self.targets.state().session(id).is_none_or(|session| session.ended))
    }

    fn path(&self) -> u8 {
        self.targets.portal.path()
    }

    fn tick(&mut self, out: &mut Vec<u8>) -> Message {
        if self.is_replaced() {
            return Message::Invalid;
        }
        if self.session().is_none() {
            return Message::Handled;
        }
        self.silent += 1;
        if self.silent == SILENT_TICKS {
            self.probe(out);
        }
        if self.silent >= DEAD_TICKS { Message::Invalid } else { Message::Handled }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.announce_end(out);
    }
}

impl Drop for IscsiCodec {
    fn drop(&mut self) {
        if let SessionPhase::FullFeature(session) = &self.phase {
            self.targets.state().end(session.id);
        }
    }
}
