//! Messages beside commands: task management, texts, pings, logout, and announcements of the target.

use super::login::Purpose;
use super::sense::Sense;
use super::target::{Portal, is_open};
use super::task::{Place, TaskState};
use super::text::{put, split_pairs};
use super::wire::{NO_TAG, Numbering, SegmentHeader, flag, reject, request, response};
use super::{IscsiCodec, SessionPhase};
use crate::codec::{Exports, Message};
use crate::unit::Paths;

/// The transfer tag of pings and of texts that go on.
const TARGET_TAG: u32 = 1;

/// Bytes of a text response at most.
const TEXT_BYTES: usize = 8192;

/// Bytes of a list of targets at most.
const LIST_MAX: usize = 1 << 20;

/// Requests for task management that wait at most.
const WAITING_MAX: usize = 64;

/// The event of a target that ends all connections of a session.
const DROP_CONNECTIONS: u8 = 3;

/// Seconds before an initiator should log in again.
const TIME_TO_WAIT: u16 = 2;

mod function {
    pub const ABORT_TASK: u8 = 1;
    pub const ABORT_TASK_SET: u8 = 2;
    pub const CLEAR_TASK_SET: u8 = 4;
    pub const UNIT_RESET: u8 = 5;
    pub const WARM_RESET: u8 = 6;
    pub const COLD_RESET: u8 = 7;
    pub const REASSIGN: u8 = 8;
}

mod outcome {
    pub const DONE: u8 = 0;
    pub const NO_TASK: u8 = 1;
    pub const NO_UNIT: u8 = 2;
    pub const NO_REASSIGNMENT: u8 = 4;
    pub const NOT_SUPPORTED: u8 = 5;
}

impl IscsiCodec {
    /// A whole message that is no command.
    pub(super) fn control(
        &mut self,
        header: &SegmentHeader,
        data: &[u8],
        exports: &Exports<'_>,
        out: &mut Vec<u8>,
    ) -> Message {
        if header.opcode() == request::NOP_OUT && header.tag() == NO_TAG {
            // The answer to a ping.
            return Message::Handled;
        }
        let is_known = matches!(header.opcode(), request::NOP_OUT | request::TASK | request::TEXT | request::LOGOUT);
        if !is_known {
            let is_command = matches!(header.opcode(), request::COMMAND | request::DATA_OUT | request::LOGIN);
            return self.reject(header, if is_command { reject::PROTOCOL_ERROR } else { reject::NOT_SUPPORTED }, out);
        }
        match self.take_number(header) {
            Place::Next => self.return_number(header),
            Place::Outside => return Message::Handled,
            Place::Gap => return Message::Invalid,
        }
        match header.opcode() {
            request::NOP_OUT => {
                let max = self.parameters.segment as usize;
                let ping =
                    SegmentHeader::new(response::NOP_IN, flag::FINAL).with_tag(header.tag()).with_u32(20, NO_TAG);
                self.sender.send(out, ping, Numbering::Status, &data[..data.len().min(max)]);
                Message::Handled
            }
            request::TASK => self.manage(header, out),
            request::TEXT => self.answer_text(header, data, exports, out),
            _ => self.log_out(header, out),
        }
    }

    /// Probes a silent initiator.
    pub(super) fn probe(&mut self, out: &mut Vec<u8>) {
        let ping = SegmentHeader::new(response::NOP_IN, flag::FINAL).with_tag(NO_TAG).with_u32(20, TARGET_TAG);
        self.sender.send(out, ping, Numbering::Peek, &[]);
    }

    pub(super) fn announce_end(&mut self, out: &mut Vec<u8>) {
        if self.session().is_some() {
            let header = SegmentHeader::new(response::ASYNC, flag::FINAL)
                .with_tag(NO_TAG)
                .set(36, [DROP_CONNECTIONS, 0])
                .set(40, TIME_TO_WAIT.to_be_bytes());
            self.sender.send(out, header, Numbering::Status, &[]);
        }
    }

    fn log_out(&mut self, header: &SegmentHeader, out: &mut Vec<u8>) -> Message {
        // Recovery of a connection is not supported; closing the connection closes the session.
        let result = if header.flags() & 0x7f < 2 { 0 } else { 2 };
        let logout = SegmentHeader::new(response::LOGOUT, flag::FINAL)
            .set(2, [result])
            .with_tag(header.tag())
            .set(40, TIME_TO_WAIT.to_be_bytes());
        self.sender.send(out, logout, Numbering::Status, &[]);
        if result == 0 { Message::End } else { Message::Handled }
    }

    fn answer_text(
        &mut self,
        header: &SegmentHeader,
        data: &[u8],
        exports: &Exports<'_>,
        out: &mut Vec<u8>,
    ) -> Message {
        let goes_on = header.u32(20) != NO_TAG;
        if header.has(flag::CONTINUE) || (goes_on && self.text.is_empty()) {
            return self.reject(header, reject::PROTOCOL_ERROR, out);
        }
        if !goes_on {
            let Some(pairs) = split_pairs(data) else { return self.reject(header, reject::PROTOCOL_ERROR, out) };
            self.text = self.text_response(&pairs, exports);
        }
        let max = TEXT_BYTES.min(self.parameters.segment as usize).min(self.text.len());
        let rest = self.text.split_off(max);
        let now = std::mem::replace(&mut self.text, rest);
        let is_last = self.text.is_empty();
        let (flags, tag) = if is_last { (flag::FINAL, NO_TAG) } else { (flag::CONTINUE, TARGET_TAG) };
        let text = SegmentHeader::new(response::TEXT, flags).with_tag(header.tag()).with_u32(20, tag);
        self.sender.send(out, text, Numbering::Status, &now);
        Message::Handled
    }

    fn text_response(&self, pairs: &[(&str, &str)], exports: &Exports<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        for (key, value) in pairs {
            match *key {
                "SendTargets" => self.list(value, exports, &mut text),
                _ => put(&mut text, key, "NotUnderstood"),
            }
        }
        text
    }

    /// The targets that a discovery names: all, or that of the session.
    fn list(&self, selector: &str, exports: &Exports<'_>, text: &mut Vec<u8>) {
        let state = self.targets.state();
        let own = match &self.phase {
            SessionPhase::FullFeature(session) => Purpose::Normal(session.export),
            SessionPhase::Login(_) | SessionPhase::Discovery => Purpose::Discovery,
        };
        for offer in exports.offers.iter().filter(|offer| is_open(offer)) {
            let name = state.settings.target_name(offer);
            let is_wanted = match own {
                Purpose::Discovery => selector == "All" || selector == name,
                Purpose::Normal(export) => export == offer.export && (selector.is_empty() || selector == name),
            };
            if !is_wanted || text.len() > LIST_MAX {
                continue;
            }
            put(text, "TargetName", &name);
            let unit = offer.unit.as_ref();
            let paths = unit.map_or(Paths::Equal, |unit| unit.paths);
            let max = unit.and_then(|unit| unit.portals).unwrap_or(u16::MAX);
            let mut address = |at: &str, portal: Portal| {
                put(text, "TargetAddress", format!("{at},{}", portal.group(paths)));
            };
            if state.settings.portals.is_empty() {
                address(&self.local, self.targets.portal);
            }
            for (place, portal) in (0..max).zip(&state.settings.portals) {
                address(portal, Portal::at(place));
            }
        }
    }

    /// Task management (RFC 7143, 11.5).
    fn manage(&mut self, header: &SegmentHeader, out: &mut Vec<u8>) -> Message {
        let SessionPhase::FullFeature(session) = &self.phase else {
            return self.reject(header, reject::PROTOCOL_ERROR, out);
        };
        let (id, export) = (session.id, session.export);
        if self.waiting.len() >= WAITING_MAX {
            return Message::Invalid;
        }
        let function = header.flags() & 0x7f;
        let of_unit = function < function::WARM_RESET;
        let result = match function {
            _ if of_unit && header.bytes::<8>(8) != [0; 8] => outcome::NO_UNIT,
            function::ABORT_TASK => {
                let referenced = header.u32(20);
                if self.abort(|tag| tag == referenced) { outcome::DONE } else { outcome::NO_TASK }
            }
            function::ABORT_TASK_SET => {
                self.abort(|_| true);
                outcome::DONE
            }
            function::CLEAR_TASK_SET => {
                self.abort(|_| true);
                self.targets.state().abort(export, id, None, Sense::COMMANDS_CLEARED);
                outcome::DONE
            }
            function::UNIT_RESET | function::WARM_RESET | function::COLD_RESET => {
                self.abort(|_| true);
                let mut state = self.targets.state();
                state.abort(export, id, None, Sense::RESET);
                if let Some(own) = state.session(id) {
                    own.attend(Sense::RESET);
                }
                state.unit(export).reservations.release(None);
                if function == function::COLD_RESET {
                    state.end_all(export);
                }
                outcome::DONE
            }
            function::REASSIGN => outcome::NO_REASSIGNMENT,
            _ => outcome::NOT_SUPPORTED,
        };
        let response = SegmentHeader::new(response::TASK, flag::FINAL).set(2, [result]).with_tag(header.tag());
        self.waiting.push(response);
        self.release_waiting(out);
        Message::Handled
    }

    /// Aborts the tasks whose initiator's tag is selected; `true` if there were any.
    fn abort(&mut self, selects: impl Fn(u32) -> bool) -> bool {
        let mut found = false;
        for number in self.tasks.numbers() {
            let Some(task) = self.tasks.get_mut(number) else { continue };
            if task.aborted || !selects(task.command.tag) {
                continue;
            }
            found = true;
            task.aborted = true;
            if matches!(task.state, TaskState::Receiving(_)) && self.resume != Some(number) {
                self.finish(number);
            }
        }
        found
    }

    /// Another session has aborted the tasks of this one.
    pub(super) fn observe_aborts(&mut self, out: &mut Vec<u8>) {
        let SessionPhase::FullFeature(session) = &mut self.phase else { return };
        let epoch = self.targets.state().session(session.id).map_or(session.epoch, |own| own.epoch);
        if std::mem::replace(&mut session.epoch, epoch) != epoch {
            self.abort(|_| true);
            self.release_waiting(out);
        }
    }

    /// Sends responses to task management once the aborted tasks can change nothing more.
    pub(super) fn release_waiting(&mut self, out: &mut Vec<u8>) {
        if self.waiting.is_empty() || self.tasks.iter().any(|task| task.aborted) {
            return;
        }
        for header in std::mem::take(&mut self.waiting) {
            self.sender.send(out, header, Numbering::Status, &[]);
        }
    }
}
