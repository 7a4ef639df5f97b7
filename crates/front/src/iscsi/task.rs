//! Commands, and the data that belong to them: immediate, unsolicited, and solicited by R2T (RFC 7143, 4.2.5.3).

use std::collections::VecDeque;

use plimsoll_volume::{Errno, Request};

use super::IscsiCodec;
use super::cdb::{CdbPlan, Gathered, PARAMETERS_MAX, same_zeroes, sense_data};
use super::identity::{self, SAME_MAX};
use super::opcodes::{self, OpcodeLookup, op};
use super::reservation::{Needs, NotReserved, ReservationChange, action};
use super::sense::{Sense, status};
use super::target::SessionState;
use super::unneeded::Unneeded;
use super::wire::{NO_TAG, Numbering, SegmentHeader, flag, padding_bytes, response};
use crate::codec::{Combination, Decoded, Division, Exports, Incoming, Message, Operation, Tag};

/// Commands outside of the window in progress at most.
const IMMEDIATE_MAX: usize = 8;

/// Bytes that all gathering commands of a session hold at most.
const GATHERING_MAX: usize = 4 * PARAMETERS_MAX as usize;

/// Bytes of the parameters of PERSISTENT RESERVE OUT.
const RESERVE_BYTES: usize = 24;

#[derive(Clone, Copy, Debug)]
pub(super) struct TaskCommand {
    /// The initiator's tag.
    pub tag: u32,
    /// Bytes that the initiator expects to move.
    pub expected: u32,
    /// Bytes that the command moves.
    pub length: u32,
    pub writes: bool,
    /// It takes a place in the window.
    pub numbered: bool,
}

impl TaskCommand {
    /// The residual flag and count after `moved` bytes.
    pub(super) const fn residual(&self, moved: u32) -> (u8, u32) {
        match (self.expected, moved) {
            (expected, moved) if moved > expected => (flag::OVERFLOW, moved - expected),
            (expected, moved) if moved < expected => (flag::UNDERFLOW, expected - moved),
            _ => (0, 0),
        }
    }
}

/// A command in progress.
#[derive(Debug)]
pub(super) struct Task {
    pub command: TaskCommand,
    /// The initiator no longer awaits it.
    pub aborted: bool,
    pub failed: Option<Errno>,
    pub state: TaskState,
}

/// The progress of a command.
#[derive(Debug)]
pub(super) enum TaskState {
    /// The server executes it. It asks for at most so many bytes about the status of blocks.
    Served { allocated: u32 },
    /// Data of the initiator are missing.
    Receiving(Box<Transfer>),
    /// Its data are here, and the server fetches them.
    Gathered(Vec<u8>),
    /// It consists of several requests.
    Several(VecDeque<Request>),
}

impl TaskState {
    pub(super) const fn allocated(&self) -> u32 {
        match self {
            Self::Served { allocated } => *allocated,
            _ => 0,
        }
    }
}

/// Data on their way from the initiator.
#[derive(Debug)]
pub(super) struct Transfer {
    sink: Sink,
    /// Bytes that are needed, and that have come.
    required: u32,
    received: u32,
    /// End of the data that the initiator may send now.
    burst_end: u32,
    /// They were requested by R2T.
    solicited: bool,
    /// The initiator has ended its sequence.
    ended: bool,
    data_sn: u32,
    r2t_sn: u32,
}

/// The destination of data.
#[derive(Debug)]
enum Sink {
    Volume(Request),
    Codec { bytes: Vec<u8>, then: Gathered },
}

/// A data segment that the codec keeps.
#[derive(Debug)]
pub(super) struct Segment {
    task: u32,
    /// Bytes that are missing, and that are not needed behind them.
    left: usize,
    unneeded: usize,
    /// Start of the segment in the bytes of its task.
    start: usize,
    trailer: usize,
}

impl Task {
    /// Takes the data that were gathered.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        match &mut self.state {
            TaskState::Gathered(bytes) => std::mem::take(bytes),
            _ => Vec::new(),
        }
    }

    fn gathering(&self) -> usize {
        match &self.state {
            TaskState::Receiving(transfer) if matches!(transfer.sink, Sink::Codec { .. }) => transfer.required as usize,
            _ => 0,
        }
    }
}

/// The reason why a command is not executed.
enum NotPlanned {
    Sense(Sense),
    Status(u8),
}

impl From<Sense> for NotPlanned {
    fn from(sense: Sense) -> Self {
        Self::Sense(sense)
    }
}

impl From<NotReserved> for NotPlanned {
    fn from(reason: NotReserved) -> Self {
        match reason {
            NotReserved::Conflict => Self::Status(status::RESERVATION_CONFLICT),
            NotReserved::Invalid(sense) => Self::Sense(sense),
        }
    }
}

/// The place of a message in the sequence of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Next,
    /// Outside of the window: ignored (RFC 7143, 4.2.2.1).
    Outside,
    /// Behind a gap, which cannot be filled on the only connection.
    Gap,
}

impl IscsiCodec {
    /// Takes the number of a message with one.
    pub(super) fn take_number(&mut self, header: &SegmentHeader) -> Place {
        if header.is_immediate() {
            return Place::Next;
        }
        let ahead = header.u32(24).wrapping_sub(self.sender.exp_cmd_sn);
        if ahead >= self.sender.window {
            return Place::Outside;
        }
        if ahead > 0 {
            return Place::Gap;
        }
        self.sender.exp_cmd_sn = self.sender.exp_cmd_sn.wrapping_add(1);
        self.sender.window -= 1;
        Place::Next
    }

    /// Returns a place of the window.
    pub(super) fn return_number(&mut self, header: &SegmentHeader) {
        if !header.is_immediate() {
            self.sender.window += 1;
        }
    }

    /// A SCSI command, whose data segment follows.
    pub(super) fn command(&mut self, header: &SegmentHeader, exports: &Exports<'_>, out: &mut Vec<u8>) -> Message {
        let segment = header.data_bytes();
        match self.take_number(header) {
            Place::Next => {}
            Place::Outside => {
                self.pass_by(segment);
                return Message::Handled;
            }
            Place::Gap => return Message::Invalid,
        }
        let (writes, reads) = (header.has(flag::WRITE), header.has(flag::READ));
        let expected = if writes || reads { header.u32(20) } else { 0 };
        let command = TaskCommand { tag: header.tag(), expected, length: 0, writes, numbered: !header.is_immediate() };
        let (length, sink) = match self.plan(header, exports) {
            Ok(CdbPlan::Write(request)) => (request.length as u32, Sink::Volume(request)),
            Ok(CdbPlan::Gather { bytes, then }) => (bytes, Sink::Codec { bytes: Vec::new(), then }),
            Ok(plan) => {
                self.pass_by(segment);
                return self.execute(command, plan, out);
            }
            Err(reason) => {
                self.pass_by(segment);
                return self.refuse(command, &reason, out);
            }
        };
        let command = TaskCommand { length, ..command };
        match self.begin_transfer(header, command, sink) {
            Ok(task) => self.accept_segment(task, segment, out),
            Err(reason) => {
                self.pass_by(segment);
                self.refuse(command, &reason, out)
            }
        }
    }

    /// Ends a command that is not in the table of tasks.
    fn refuse(&mut self, command: TaskCommand, reason: &NotPlanned, out: &mut Vec<u8>) -> Message {
        self.sender.window += u32::from(command.numbered);
        match *reason {
            NotPlanned::Sense(sense) => self.fail(command, sense, None, out),
            NotPlanned::Status(status) => self.respond(command, (status, &[]), 0, out),
        }
        Message::Handled
    }

    /// The consequence of a command: checks the unit, its attentions and reservations.
    fn plan(&mut self, header: &SegmentHeader, exports: &Exports<'_>) -> Result<CdbPlan, NotPlanned> {
        let cdb: [u8; 16] = header.bytes(32);
        let is_full = self.tasks.len() >= self.queue_depth as usize + IMMEDIATE_MAX;
        let super::SessionPhase::FullFeature(session) = &mut self.phase else { return Err(Sense::NO_UNIT.into()) };
        if is_full {
            return Err(NotPlanned::Status(status::TASK_SET_FULL));
        }
        let mut state = self.targets.state();
        if session.unit.size != exports.size {
            session.unit.size = exports.size;
            if let Some(own) = state.session(session.id) {
                own.attend(Sense::CAPACITY_CHANGED);
            }
        }
        let is_unit = header.bytes::<8>(8) == [0; 8] || header.bytes::<8>(8) == [0x40, 0, 0, 0, 0, 0, 0, 0];
        if !is_unit {
            return absent_unit(&session.unit, &cdb).map_err(NotPlanned::from);
        }
        let passes = matches!(cdb[0], op::INQUIRY | op::REPORT_LUNS | op::REQUEST_SENSE);
        if !passes && let Some(attention) = state.session(session.id).and_then(SessionState::take_attention) {
            return Err(attention.into());
        }
        let paths = session.unit.identity.paths;
        let entry = match opcodes::find(cdb[0], cdb[1] & 0x1f, paths) {
            OpcodeLookup::Entry(entry) => entry,
            OpcodeLookup::OtherActions => return Err(Sense::INVALID_FIELD.into()),
            OpcodeLookup::Nothing => return Err(Sense::INVALID_COMMAND.into()),
        };
        // NACA, which is not supported.
        if cdb[entry.usage.bytes().len() - 1] & 4 != 0 {
            return Err(Sense::INVALID_FIELD.into());
        }
        let reservations = &mut state.unit(session.export).reservations;
        if entry.needs != Needs::Always && !reservations.allow(&session.port, entry.needs) {
            return Err(NotPlanned::Status(status::RESERVATION_CONFLICT));
        }
        Ok(session.unit.plan(&cdb)?)
    }

    /// Executes a command that needs no data of the initiator.
    fn execute(&mut self, command: TaskCommand, plan: CdbPlan, out: &mut Vec<u8>) -> Message {
        let done = match plan {
            CdbPlan::Return { data, allocated } => Ok(truncated(data, allocated)),
            CdbPlan::Done => Ok(Vec::new()),
            CdbPlan::Reserve => self.reserve(),
            CdbPlan::Release => {
                self.release();
                Ok(Vec::new())
            }
            CdbPlan::Sense { allocated } => Ok(truncated(sense_data(self.attention()).to_vec(), allocated)),
            CdbPlan::ReserveIn { action, allocated } => Ok(truncated(self.reserve_in(action), allocated)),
            CdbPlan::PortGroups { extended, allocated } => Ok(truncated(self.port_groups(extended), allocated)),
            CdbPlan::Read(request) => return self.read(command, request, out),
            CdbPlan::Internal(request) => return self.serve(command, Operation::Io(request), 0),
            CdbPlan::Extents { offset, length, allocated } => {
                return self.serve(command, Operation::Extents { offset, length, one: false }, allocated);
            }
            CdbPlan::Write(_) | CdbPlan::Gather { .. } => Err(NotPlanned::Sense(Sense::INVALID_COMMAND)),
        };
        match done {
            Ok(data) => {
                self.sender.window += u32::from(command.numbered);
                self.give(command, &data, out);
                Message::Handled
            }
            Err(reason) => self.refuse(command, &reason, out),
        }
    }

    /// Hands a command without payload to the server.
    fn serve(&mut self, command: TaskCommand, operation: Operation, allocated: u32) -> Message {
        let task = self.insert(command, TaskState::Served { allocated });
        Message::Request(self.incoming(task, operation))
    }

    fn read(&mut self, command: TaskCommand, request: Request, out: &mut Vec<u8>) -> Message {
        let command = TaskCommand { length: request.length as u32, ..command };
        let block = self.block();
        let sent = command.expected.min(command.length);
        if sent == 0 {
            self.sender.window += u32::from(command.numbered);
            self.good(command, out);
            return Message::Handled;
        }
        let task = self.insert(command, TaskState::Served { allocated: 0 });
        let length = u64::from(sent.next_multiple_of(block));
        let mut incoming = self.incoming(task, Operation::Io(Request { length, ..request }));
        incoming.tag.limit = sent;
        Message::Request(incoming)
    }

    fn block(&self) -> u32 {
        self.session().map_or(512, |session| session.unit.block)
    }

    fn insert(&mut self, command: TaskCommand, state: TaskState) -> u32 {
        self.tasks.insert(Task { command, aborted: false, failed: None, state })
    }

    /// A request without payload on behalf of a task.
    fn incoming(&self, task: u32, operation: Operation) -> Incoming {
        let offset = match operation {
            Operation::Io(request) | Operation::Stored(request) | Operation::Combine { request, .. } => request.offset,
            Operation::Extents { offset, .. } | Operation::Seek { offset, .. } => offset,
            Operation::Disconnect => 0,
        };
        let division = Division::Pieces(self.parameters.piece(self.block()));
        let tag = Tag { id: task.into(), offset, division, holes: false, limit: u32::MAX };
        Incoming { tag, operation: Ok(operation), payload: 0, trailer: 0 }
    }

    /// Removes a task that has ended.
    pub(super) fn finish(&mut self, number: u32) -> Option<Task> {
        let task = self.tasks.remove(number)?;
        self.sender.window += u32::from(task.command.numbered);
        self.gathering -= task.gathering();
        Some(task)
    }

    /// Begins a command with data of the initiator. Its own segment comes first.
    fn begin_transfer(&mut self, header: &SegmentHeader, command: TaskCommand, sink: Sink) -> Result<u32, NotPlanned> {
        let segment = header.data_bytes();
        let expected = if command.writes { command.expected } else { 0 };
        let required = command.length.min(expected);
        let unsolicited = self.parameters.first_burst.min(expected);
        if segment > expected || segment > self.parameters.immediate_max() {
            return Err(Sense::UNEXPECTED_DATA.into());
        }
        match &sink {
            // A part of a block cannot be written.
            Sink::Volume(_) if !required.is_multiple_of(self.block()) => return Err(Sense::INVALID_UNIT.into()),
            // Fewer or more bytes than the command needs are an error of the initiator.
            Sink::Codec { then: Gathered::Same { .. } | Gathered::Combine { .. }, .. }
                if expected != command.length =>
            {
                return Err(Sense::INVALID_FIELD.into());
            }
            Sink::Codec { .. } if command.length > PARAMETERS_MAX => return Err(Sense::PARAMETER_LENGTH.into()),
            Sink::Codec { .. } if self.gathering + required as usize > GATHERING_MAX => {
                return Err(NotPlanned::Status(status::TASK_SET_FULL));
            }
            Sink::Codec { .. } => self.gathering += required as usize,
            Sink::Volume(_) => {}
        }
        // Without permission for unsolicited data, the sequence has ended with the command.
        let ended = header.has(flag::FINAL) || self.parameters.initial_r2t;
        let burst_end = unsolicited.max(segment);
        let (received, data_sn, r2t_sn) = (0, 0, 0);
        let transfer = Transfer { sink, required, received, burst_end, solicited: false, ended, data_sn, r2t_sn };
        Ok(self.insert(command, TaskState::Receiving(Box::new(transfer))))
    }

    pub(super) fn data_out(&mut self, header: &SegmentHeader, out: &mut Vec<u8>) -> Message {
        let (segment, tag, transfer_tag) = (header.data_bytes(), header.tag(), header.u32(20));
        let number = match transfer_tag {
            NO_TAG => self.tasks.numbers().into_iter().find(|number| self.receives(*number, tag)),
            number => Some(number).filter(|number| self.receives(*number, tag)),
        };
        let transfer = number.and_then(|number| self.transfer(number).map(|transfer| (number, transfer)));
        let Some((number, transfer)) = transfer else {
            // Data of a command that has failed or was aborted.
            self.pass_by(segment);
            return Message::Handled;
        };
        let in_order = header.u32(36) == transfer.data_sn && header.u32(40) == transfer.received;
        let permitted = transfer.solicited == (transfer_tag != NO_TAG)
            && !transfer.ended
            && transfer.received + segment <= transfer.burst_end;
        transfer.data_sn += 1;
        transfer.ended = header.has(flag::FINAL);
        if !in_order || !permitted {
            return self.break_off(
                number,
                if in_order { Sense::UNEXPECTED_DATA } else { Sense::DATA_PHASE },
                segment,
                out,
            );
        }
        self.accept_segment(number, segment, out)
    }

    fn receives(&self, number: u32, tag: u32) -> bool {
        let task = self.tasks.get(number).filter(|task| task.command.tag == tag);
        task.is_some_and(|task| matches!(task.state, TaskState::Receiving(_)))
    }

    fn transfer(&mut self, number: u32) -> Option<&mut Transfer> {
        match &mut self.tasks.get_mut(number)?.state {
            TaskState::Receiving(transfer) => Some(transfer),
            _ => None,
        }
    }

    /// Ends a command whose data are not in order, without its present segment.
    fn break_off(&mut self, number: u32, sense: Sense, segment: u32, out: &mut Vec<u8>) -> Message {
        self.pass_by(segment);
        if let Some(task) = self.finish(number) {
            self.fail(task.command, sense, None, out);
        }
        Message::Handled
    }

    /// Ignores a data segment but for its digest.
    fn pass_by(&mut self, segment: u32) {
        let sum = self.sender.data_digest.start().filter(|_| segment > 0);
        self.unneeded = Unneeded::new(self.segment_bytes(segment), sum);
    }

    /// Takes a data segment of a task: the server receives it, or the codec keeps it.
    fn accept_segment(&mut self, number: u32, segment: u32, out: &mut Vec<u8>) -> Message {
        let (block, segment_bytes) = (self.block(), self.segment_bytes(segment));
        let Some(transfer) = self.transfer(number) else { return Message::Invalid };
        let useful = segment.min(transfer.required - transfer.received);
        if useful == 0 {
            self.pass_by(segment);
            return self.proceed(number, out);
        }
        let start = transfer.received;
        // Behind data that are not needed, the digest ends those.
        let (trailer, unneeded) = if useful == segment {
            (segment_bytes - segment as usize, 0)
        } else {
            (0, segment_bytes - useful as usize)
        };
        match &mut transfer.sink {
            Sink::Codec { bytes, .. } => {
                let start = bytes.len();
                self.segment = Some(Segment { task: number, left: useful as usize, unneeded, start, trailer });
                Message::Handled
            }
            Sink::Volume(_) if !useful.is_multiple_of(block) => self.break_off(number, Sense::DATA_PHASE, segment, out),
            Sink::Volume(request) => {
                let request = *request;
                transfer.received += useful;
                let is_whole = start == 0 && useful == transfer.required && unneeded == 0;
                let part = Request { offset: request.offset + u64::from(start), length: useful.into(), ..request };
                let sum = self.sender.data_digest.start().filter(|_| unneeded > 0);
                self.unneeded = Unneeded::new(unneeded, sum);
                // With the first byte behind it, the payload is added to the sum.
                let trailer = if sum.is_some() { 1 } else { trailer as u8 };
                let mut incoming = self.incoming(number, Operation::Io(part));
                (incoming.payload, incoming.trailer) = (useful, trailer);
                if is_whole {
                    self.set_served(number);
                    return Message::Request(incoming);
                }
                incoming.operation = Ok(Operation::Io(Request { fua: false, ..part }));
                self.resume = Some(number);
                Message::Part(incoming)
            }
        }
    }

    fn set_served(&mut self, number: u32) {
        if let Some(task) = self.tasks.get_mut(number) {
            task.state = TaskState::Served { allocated: 0 };
        }
    }

    /// Keeps bytes of a data segment.
    pub(super) fn keep(&mut self, input: &[u8], out: &mut Vec<u8>) -> Decoded {
        let Some(Segment { task, left, unneeded, start, trailer }) = self.segment.take() else {
            return Decoded { used: 0, message: Message::Handled };
        };
        let digest = self.sender.data_digest;
        let taken = left.min(input.len());
        let Some(transfer) = self.transfer(task) else {
            // It was aborted.
            self.unneeded = Unneeded::new(left + unneeded + trailer, None);
            return Decoded { used: 0, message: Message::Handled };
        };
        let Sink::Codec { bytes, .. } = &mut transfer.sink else {
            return Decoded { used: 0, message: Message::Invalid };
        };
        bytes.extend_from_slice(&input[..taken]);
        let left = left - taken;
        let Some(behind) = input[taken..].get(..trailer).filter(|_| left == 0) else {
            self.segment = Some(Segment { task, left, unneeded, start, trailer });
            let message = if taken > 0 { Message::Handled } else { Message::Incomplete };
            return Decoded { used: taken, message };
        };
        let data = &bytes[start..];
        let (padding, sum) = behind.split_at(padding_bytes(data.len() as u32).min(trailer));
        if trailer > 0 && !digest.matches(data, padding, sum) {
            return Decoded { used: taken + trailer, message: Message::Invalid };
        }
        transfer.received += data.len() as u32;
        if unneeded > 0 {
            let sum = digest.start().map(|sum| crc32c::crc32c_append(sum, data));
            self.unneeded = Unneeded::new(unneeded, sum);
            self.resume = Some(task);
            return Decoded { used: taken + trailer, message: Message::Handled };
        }
        Decoded { used: taken + trailer, message: self.proceed(task, out) }
    }

    /// Continues a task: with its next request, a permission to send more data, or its end.
    pub(super) fn proceed(&mut self, number: u32, out: &mut Vec<u8>) -> Message {
        let burst = self.parameters.burst;
        let burst = if burst >= self.block() { burst - burst % self.block() } else { burst };
        let Some(task) = self.tasks.get_mut(number) else { return Message::Handled };
        if task.aborted {
            self.finish(number);
            self.release_waiting(out);
            return Message::Handled;
        }
        match &mut task.state {
            TaskState::Receiving(transfer) if transfer.received == transfer.required => self.complete(number, out),
            TaskState::Receiving(transfer) if transfer.ended => {
                if transfer.solicited && transfer.received < transfer.burst_end {
                    return self.break_off(number, Sense::DATA_PHASE, 0, out);
                }
                let length = burst.min(transfer.required - transfer.received);
                let header = SegmentHeader::new(response::R2T, flag::FINAL)
                    .with_tag(task.command.tag)
                    .with_u32(20, number)
                    .with_u32(36, transfer.r2t_sn)
                    .with_u32(40, transfer.received)
                    .with_u32(44, length);
                transfer.burst_end = transfer.received + length;
                (transfer.solicited, transfer.ended, transfer.data_sn) = (true, false, 0);
                transfer.r2t_sn += 1;
                self.sender.send(out, header, Numbering::Peek, &[]);
                Message::Handled
            }
            TaskState::Several(requests) => {
                let Some(request) = requests.pop_front() else { return Message::Handled };
                let is_last = requests.is_empty();
                let failed = task.failed;
                let mut incoming = self.incoming(number, Operation::Io(request));
                if is_last {
                    self.set_served(number);
                    incoming.operation = failed.map_or(incoming.operation, Err);
                    return Message::Request(incoming);
                }
                self.resume = Some(number);
                Message::Part(incoming)
            }
            _ => Message::Handled,
        }
    }

    /// All data of a task are here.
    fn complete(&mut self, number: u32, out: &mut Vec<u8>) -> Message {
        let Some(task) = self.tasks.get_mut(number) else { return Message::Handled };
        self.gathering -= task.gathering();
        let (command, failed) = (task.command, task.failed);
        let state = std::mem::replace(&mut task.state, TaskState::Served { allocated: 0 });
        let TaskState::Receiving(transfer) = state else { return Message::Handled };
        match transfer.sink {
            Sink::Volume(request) => {
                let length = u64::from(transfer.required);
                if length == 0 {
                    self.finish(number);
                    self.good(command, out);
                    return Message::Handled;
                }
                let mut incoming = self.incoming(number, Operation::Stored(Request { length, ..request }));
                incoming.operation = failed.map_or(incoming.operation, Err);
                Message::Request(incoming)
            }
            Sink::Codec { bytes, then } => self.use_gathered(number, bytes, then, out),
        }
    }

    /// Executes a command whose parameters are complete.
    fn use_gathered(&mut self, number: u32, bytes: Vec<u8>, then: Gathered, out: &mut Vec<u8>) -> Message {
        let outcome = match then {
            Gathered::Unmap => match self.session().map(|session| session.unit.ranges(&bytes)) {
                Some(Ok(ranges)) if !ranges.is_empty() => {
                    self.set_state(number, TaskState::Several(ranges.into()));
                    return self.proceed(number, out);
                }
                Some(Err(sense)) => Err(NotPlanned::Sense(sense)),
                _ => Ok(()),
            },
            Gathered::Same { request, unmap, any_pattern } => {
                if any_pattern || bytes.iter().all(|byte| *byte == 0) {
                    let request = same_zeroes(request, unmap);
                    return Message::Request(self.incoming(number, Operation::Io(request)));
                }
                if request.length <= SAME_MAX {
                    return self.combine(number, bytes, Combination::Repeat, request);
                }
                Err(NotPlanned::Sense(Sense::INVALID_FIELD))
            }
            Gathered::Combine { request, .. } if request.length == 0 => Ok(()),
            Gathered::Combine { combination, request } => return self.combine(number, bytes, combination, request),
            Gathered::ReserveOut { action, scope_type } => self.reserve_out(action, scope_type, &bytes),
        };
        let Some(task) = self.finish(number) else { return Message::Handled };
        match outcome {
            Ok(()) => self.good(task.command, out),
            Err(NotPlanned::Sense(sense)) => self.fail(task.command, sense, None, out),
            Err(NotPlanned::Status(status)) => self.respond(task.command, (status, &[]), 0, out),
        }
        Message::Handled
    }

    fn combine(&mut self, number: u32, bytes: Vec<u8>, combination: Combination, request: Request) -> Message {
        self.set_state(number, TaskState::Gathered(bytes));
        Message::Request(self.incoming(number, Operation::Combine { combination, request }))
    }

    fn set_state(&mut self, number: u32, state: TaskState) {
        if let Some(task) = self.tasks.get_mut(number) {
            task.state = state;
        }
    }

    fn attention(&self) -> Option<Sense> {
        let id = self.session()?.id;
        self.targets.state().session(id)?.take_attention()
    }

    fn reserve(&self) -> Result<Vec<u8>, NotPlanned> {
        let Some(session) = self.session() else { return Ok(Vec::new()) };
        self.targets.state().unit(session.export).reservations.reserve(&session.port)?;
        Ok(Vec::new())
    }

    fn release(&self) {
        if let Some(session) = self.session() {
            self.targets.state().unit(session.export).reservations.release(Some(&session.port));
        }
    }

    fn reserve_out(&self, action: u8, scope_type: u8, bytes: &[u8]) -> Result<(), NotPlanned> {
        let Some(session) = self.session() else { return Ok(()) };
        if bytes.len() != RESERVE_BYTES {
            return Err(Sense::PARAMETER_LENGTH.into());
        }
        // SPEC_I_PT, ALL_TG_PT and APTPL are not supported.
        if bytes[20] & 0x0d != 0 {
            return Err(Sense::INVALID_PARAMETER.into());
        }
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let change = ReservationChange { action, scope_type, key: number(0), new_key: number(8) };
        let mut state = self.targets.state();
        let notices = state.unit(session.export).reservations.change(&session.port, change)?;
        for (port, sense) in notices {
            if action == action::PREEMPT_AND_ABORT {
                state.abort(session.export, session.id, Some(&port), sense);
            } else {
                state.notify(session.export, &port, sense);
            }
        }
        Ok(())
    }

    /// REPORT TARGET PORT GROUPS: the ports and the state of both controllers.
    fn port_groups(&self, extended: bool) -> Vec<u8> {
        let Some(session) = self.session() else { return Vec::new() };
        let mut state = self.targets.state();
        let owner = state.unit(session.export).owner;
        let ports = state.settings.portals.len().max(1) as u16;
        identity::port_groups(session.unit.identity.paths, owner, ports, extended)
    }

    fn reserve_in(&self, action: u8) -> Vec<u8> {
        let Some(session) = self.session() else { return Vec::new() };
        let mut state = self.targets.state();
        let reservations = &state.unit(session.export).reservations;
        let head = |rows: Vec<u8>| {
            let head = [reservations.generation, rows.len() as u32].map(u32::to_be_bytes);
            [head.as_flattened(), &rows[..]].concat()
        };
        match action {
            0 => head(reservations.registrations.iter().flat_map(|row| row.key.to_be_bytes()).collect()),
            1 => head(reservations.reservation.as_ref().map_or_else(Vec::new, |reservation| {
                [&reservations.held_key().to_be_bytes()[..], &[0; 5], &[reservation.kind.number()], &[0; 2]].concat()
            })),
            // All types, and which commands they allow; no persistence through power loss.
            2 => vec![0, 8, 0, 0x80, 0xea, 0x01, 0, 0],
            _ => head(reservations.registrations.iter().flat_map(|row| reservations.full_status(row)).collect()),
        }
    }
}

fn truncated(mut data: Vec<u8>, allocated: u32) -> Vec<u8> {
    data.truncate(allocated as usize);
    data
}

/// A unit that does not exist: commands of discovery work.
fn absent_unit(unit: &super::Unit, cdb: &[u8; 16]) -> Result<CdbPlan, Sense> {
    let plan = match cdb[0] {
        op::INQUIRY | op::REPORT_LUNS => unit.plan(cdb)?,
        op::REQUEST_SENSE => {
            let data = Sense::NO_UNIT.bytes(None).to_vec();
            return Ok(CdbPlan::Return { data, allocated: cdb[4].into() });
        }
        _ => return Err(Sense::NO_UNIT),
    };
    match plan {
        CdbPlan::Return { mut data, allocated } if cdb[0] == op::INQUIRY => {
            // No device, and none can be.
            data[0] = 0x7f;
            Ok(CdbPlan::Return { data, allocated })
        }
        plan => Ok(plan),
    }
}
