//! The login phase (RFC 7143, 6 and 11.12): authentication, negotiation, and the choice of a target.

use plimsoll_volume::Export;

use super::chap::{Challenge, Chap, ENTROPY_BYTES, hexadecimal};
use super::target::{Portal, TargetState};
use super::text::{KeyAnswer, Parameters, SEGMENT_MAX, binary, number, put, split_pairs};
use super::wire::{Numbering, SegmentHeader, Sender, flag, request, response};
use crate::codec::Exports;
use crate::unit::Paths;

/// Messages of one login at most.
const MESSAGES_MAX: u32 = 64;

/// Bytes of the text of one exchange at most.
const TEXT_MAX: usize = 64 << 10;

/// Bytes of the name of an initiator at most (RFC 7143, 4.2.7.1).
const NAME_MAX: usize = 223;

const SECURITY: u8 = 0;
const OPERATIONAL: u8 = 1;
const FULL_FEATURE: u8 = 3;

/// The kind of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Discovery,
    Normal(Export),
}

#[derive(Debug)]
pub(super) struct Login {
    challenge: Challenge,
    messages: u32,
    /// Text of messages that go on.
    text: Vec<u8>,
    stage: u8,
    proof: Proof,
    initiator: String,
    isid: [u8; 6],
    purpose: Option<Purpose>,
    /// The authentication that the session needs.
    chap: Option<Chap>,
    portal: Portal,
    /// Commands of the session in flight, if the target limits them itself.
    queue_depth: Option<u32>,
    /// The target has declared its own parameters.
    declared: bool,
    pub parameters: Parameters,
}

/// The progress of the authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Missing,
    /// CHAP was chosen.
    Chosen,
    Challenged,
    Given,
}

/// The continuation after a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoginStep {
    More,
    /// The login was refused with this status, which the response states.
    Refused(LoginRefusal),
    /// The session begins: its purpose, and the name of the initiator port.
    Begin(Purpose, String),
}

/// Status class and detail of a refused login.
pub(super) type LoginRefusal = u16;

mod refusal {
    pub const INITIATOR: u16 = 0x0200;
    pub const AUTHENTICATION: u16 = 0x0201;
    pub const NO_TARGET: u16 = 0x0203;
    pub const VERSION: u16 = 0x0205;
    pub const MISSING: u16 = 0x0207;
    pub const NO_SESSION_TYPE: u16 = 0x0209;
    pub const NO_SESSION: u16 = 0x020a;
    pub const INVALID: u16 = 0x020b;
}

/// The meaning of a status.
pub(super) const fn describe(status: LoginRefusal) -> &'static str {
    match status {
        refusal::AUTHENTICATION => "authentication failed: compare names and secrets of CHAP",
        refusal::NO_TARGET => "there is no target of that name",
        refusal::VERSION => "the version of the protocol is not supported",
        refusal::MISSING => "a name is missing",
        refusal::NO_SESSION_TYPE => "the type of session is not supported",
        refusal::NO_SESSION => "a session has only one connection",
        _ => "the initiator violated the protocol",
    }
}

impl Login {
    /// Name of the initiator, if it has been sent.
    pub(super) fn initiator(&self) -> &str {
        &self.initiator
    }

    pub(super) fn new(portal: Portal, entropy: [u8; ENTROPY_BYTES]) -> Self {
        Self {
            portal,
            queue_depth: None,
            challenge: Challenge::new(entropy),
            messages: 0,
            text: Vec::new(),
            stage: SECURITY,
            proof: Proof::Missing,
            initiator: String::new(),
            isid: [0; 6],
            purpose: None,
            chap: None,
            declared: false,
            parameters: Parameters::default(),
        }
    }

    /// A whole message of the initiator.
    pub(super) fn feed(
        &mut self,
        header: &SegmentHeader,
        data: &[u8],
        state: &TargetState,
        exports: &Exports<'_>,
        sender: &mut Sender,
        out: &mut Vec<u8>,
    ) -> LoginStep {
        if self.messages == 0 {
            sender.exp_cmd_sn = header.u32(24);
            self.isid = header.bytes(8);
            self.stage = header.flags() >> 2 & 3;
        }
        self.messages += 1;
        let mut reply = Vec::new();
        let outcome = self.exchange(header, data, state, exports, &mut reply);
        // Before the first response, whose window the initiator may use.
        sender.window = self.queue_depth.unwrap_or(sender.window);
        let refused = outcome.err().unwrap_or(0);
        let advances = outcome == Ok(true);
        let next = header.flags() & 3;
        let transit = if advances { flag::FINAL | next } else { 0 };
        let ends = advances && next == FULL_FEATURE;
        let current = if refused == 0 { header.flags() & 0x0c } else { 0 };
        let tsih = if ends { state.next_handle() } else { header.u16(14) };
        let response = SegmentHeader::new(response::LOGIN, transit | current)
            .set(8, self.isid)
            .set(14, u16::to_be_bytes(tsih))
            .with_tag(header.tag())
            .set(36, refused.to_be_bytes());
        let reply = if refused == 0 { &reply[..] } else { &[] };
        sender.send(out, response, Numbering::Status, reply);
        if refused != 0 {
            return LoginStep::Refused(refused);
        }
        if advances {
            self.stage = next;
        }
        match self.purpose {
            Some(purpose) if ends => LoginStep::Begin(purpose, self.port()),
            _ => LoginStep::More,
        }
    }

    /// Whether the next stage begins, or the reason of the refusal.
    fn exchange(
        &mut self,
        header: &SegmentHeader,
        data: &[u8],
        state: &TargetState,
        exports: &Exports<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<bool, LoginRefusal> {
        self.check(header)?;
        if self.text.len() + data.len() > TEXT_MAX {
            return Err(refusal::INITIATOR);
        }
        self.text.extend_from_slice(data);
        if header.has(flag::CONTINUE) {
            return Ok(false);
        }
        let text = std::mem::take(&mut self.text);
        let pairs = split_pairs(&text).ok_or(refusal::INITIATOR)?;
        if self.purpose.is_none() {
            self.introduce(&pairs, state, exports, reply)?;
        }
        if self.stage == SECURITY {
            self.authenticate(&pairs, reply)?;
        } else {
            self.negotiate(&pairs, state.settings.initial_r2t, reply);
        }
        let open = self.chap.is_none() || self.proof == Proof::Given;
        let (transits, next) = (header.has(flag::FINAL), header.flags() & 3);
        if transits && !open && (self.stage == OPERATIONAL || (next == FULL_FEATURE && self.proof == Proof::Missing)) {
            return Err(refusal::AUTHENTICATION);
        }
        Ok(transits && open)
    }

    /// Checks the header against the state of the login.
    fn check(&self, header: &SegmentHeader) -> Result<(), LoginRefusal> {
        let (stage, next) = (header.flags() >> 2 & 3, header.flags() & 3);
        let forward = matches!((stage, next), (SECURITY, OPERATIONAL | FULL_FEATURE) | (OPERATIONAL, FULL_FEATURE));
        let both = header.has(flag::FINAL) && header.has(flag::CONTINUE);
        // Bytes 2 and 3 are the highest and the lowest version of the initiator.
        if header.0[3] > 0 {
            Err(refusal::VERSION)
        } else if header.opcode() != request::LOGIN || self.messages > MESSAGES_MAX || both {
            Err(refusal::INVALID)
        } else if header.u16(14) != 0 {
            // No session can get a further connection.
            Err(refusal::NO_SESSION)
        } else if stage != self.stage || stage > OPERATIONAL || (header.has(flag::FINAL) && !forward) {
            Err(refusal::INITIATOR)
        } else {
            Ok(())
        }
    }

    /// The first message names initiator and target.
    fn introduce(
        &mut self,
        pairs: &[(&str, &str)],
        state: &TargetState,
        exports: &Exports<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<(), LoginRefusal> {
        let value = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let initiator = value("InitiatorName").filter(|name| !name.is_empty()).ok_or(refusal::MISSING)?;
        if initiator.len() > NAME_MAX {
            return Err(refusal::INITIATOR);
        }
        initiator.clone_into(&mut self.initiator);
        self.purpose = Some(match value("SessionType").unwrap_or("Normal") {
            "Discovery" => {
                self.chap.clone_from(&state.settings.chap);
                Purpose::Discovery
            }
            "Normal" => {
                let name = value("TargetName").ok_or(refusal::MISSING)?;
                let offer = state.target(exports.offers, &name.to_ascii_lowercase()).ok_or(refusal::NO_TARGET)?;
                let unit = offer.unit.as_ref();
                let paths = unit.map_or(Paths::Equal, |unit| unit.paths);
                self.queue_depth = unit.and_then(|unit| unit.queue_depth).map(|depth| depth.max(1));
                self.chap = state.chap(offer);
                put(reply, "TargetPortalGroupTag", self.portal.group(paths));
                Purpose::Normal(offer.export)
            }
            _ => return Err(refusal::NO_SESSION_TYPE),
        });
        Ok(())
    }

    /// The security stage.
    fn authenticate(&mut self, pairs: &[(&str, &str)], reply: &mut Vec<u8>) -> Result<(), LoginRefusal> {
        let value = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let offers =
            |list: Option<&str>, method: &str| list.is_some_and(|list| list.split(',').any(|one| one == method));
        for (key, _) in pairs {
            let is_defined = matches!(
                *key,
                "InitiatorName"
                    | "InitiatorAlias"
                    | "TargetName"
                    | "SessionType"
                    | "AuthMethod"
                    | "CHAP_A"
                    | "CHAP_N"
                    | "CHAP_R"
                    | "CHAP_I"
                    | "CHAP_C"
            );
            if !is_defined {
                put(reply, key, "NotUnderstood");
            }
        }
        let Some(chap) = self.chap.clone() else {
            match value("AuthMethod") {
                Some(list) if offers(Some(list), "None") => put(reply, "AuthMethod", "None"),
                Some(_) => return Err(refusal::AUTHENTICATION),
                None => {}
            }
            return Ok(());
        };
        match self.proof {
            Proof::Missing if offers(value("AuthMethod"), "CHAP") => {
                put(reply, "AuthMethod", "CHAP");
                self.proof = Proof::Chosen;
                Ok(())
            }
            Proof::Missing if value("AuthMethod").is_none() => Ok(()),
            // Algorithm 5 is MD5.
            Proof::Chosen if offers(value("CHAP_A"), "5") => {
                let (identifier, challenge) = self.challenge.display();
                put(reply, "CHAP_A", 5);
                put(reply, "CHAP_I", identifier);
                put(reply, "CHAP_C", challenge);
                self.proof = Proof::Challenged;
                Ok(())
            }
            Proof::Challenged => self.prove(&chap, value, reply),
            Proof::Given if pairs.is_empty() => Ok(()),
            _ => Err(refusal::AUTHENTICATION),
        }
    }

    /// The response of the initiator, and its own challenge where it has one.
    fn prove<'a>(
        &mut self,
        chap: &Chap,
        value: impl Fn(&str) -> Option<&'a str>,
        reply: &mut Vec<u8>,
    ) -> Result<(), LoginRefusal> {
        let (name, response) = (value("CHAP_N"), value("CHAP_R").and_then(binary));
        let (Some(name), Some(response)) = (name, response) else { return Err(refusal::AUTHENTICATION) };
        if !self.challenge.is_met(&chap.initiator, name, &response) {
            return Err(refusal::AUTHENTICATION);
        }
        if let (Some(identifier), Some(challenge)) = (value("CHAP_I"), value("CHAP_C")) {
            let own = chap.target.as_ref().ok_or(refusal::AUTHENTICATION)?;
            let answer = number(identifier)
                .zip(binary(challenge))
                .and_then(|(identifier, challenge)| self.challenge.answer(own, identifier, &challenge));
            put(reply, "CHAP_N", &own.name);
            put(reply, "CHAP_R", answer.ok_or(refusal::AUTHENTICATION)?);
        }
        self.proof = Proof::Given;
        Ok(())
    }

    /// The operational stage.
    fn negotiate(&mut self, pairs: &[(&str, &str)], initial_r2t: bool, reply: &mut Vec<u8>) {
        for (key, value) in pairs {
            if matches!(*key, "InitiatorName" | "InitiatorAlias" | "TargetName" | "SessionType") {
                continue;
            }
            if let KeyAnswer::Value(answer) = self.parameters.negotiate(key, value, initial_r2t) {
                put(reply, key, answer);
            }
        }
        if !self.declared {
            put(reply, "MaxRecvDataSegmentLength", SEGMENT_MAX);
            self.declared = true;
        }
    }

    /// The initiator port: its name and session identifier.
    fn port(&self) -> String {
        format!("{},i,{}", self.initiator, hexadecimal(&self.isid))
    }
}
