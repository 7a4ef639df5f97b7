//! Persistent reservations of a logical unit (SPC-4, 5.13), and the older reservation of RESERVE(6).
//!
//! Registrations belong to initiator ports and survive their sessions. They end with the process: APTPL is not offered.

use super::identity::scsi_name;
use super::sense::Sense;
use super::target::Portal;

/// Registrations at most.
const REGISTRATIONS_MAX: usize = 256;

/// The kind of access that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// None, and no reservation restricts the command.
    Always,
    /// None, so that only RESERVE(6) restricts the command.
    Nothing,
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReservationType(u8);

impl ReservationType {
    /// `None` for reserved numbers.
    pub(super) const fn new(number: u8) -> Option<Self> {
        if matches!(number, 1 | 3 | 5..=8) { Some(Self(number)) } else { None }
    }

    pub(super) const fn number(self) -> u8 {
        self.0
    }

    /// Others may read.
    const fn is_write_exclusive(self) -> bool {
        matches!(self.0, 1 | 5 | 7)
    }

    /// Every registered port may read and write.
    const fn is_for_registrants(self) -> bool {
        self.0 >= 5
    }

    /// Every registered port holds it.
    const fn is_held_by_all(self) -> bool {
        self.0 >= 7
    }
}

/// A registered initiator port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registration {
    pub port: String,
    pub key: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    pub port: String,
    pub kind: ReservationType,
}

/// The reservations of a logical unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    pub generation: u32,
    pub registrations: Vec<Registration>,
    pub reservation: Option<Reservation>,
    /// The port that used RESERVE(6).
    pub reserved: Option<String>,
}

/// A change by PERSISTENT RESERVE OUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReservationChange {
    pub action: u8,
    pub scope_type: u8,
    pub key: u64,
    pub new_key: u64,
}

/// The actions of PERSISTENT RESERVE OUT.
pub(super) mod action {
    pub const REGISTER: u8 = 0;
    pub const RESERVE: u8 = 1;
    pub const RELEASE: u8 = 2;
    pub const CLEAR: u8 = 3;
    pub const PREEMPT: u8 = 4;
    pub const PREEMPT_AND_ABORT: u8 = 5;
    pub const REGISTER_AND_IGNORE: u8 = 6;
}

/// A refused change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotReserved {
    Conflict,
    Invalid(Sense),
}

/// A unit attention for another port.
pub(super) type Notice = (String, Sense);

impl Reservations {
    /// Whether a port has the access that a command needs.
    pub(super) fn allow(&self, port: &str, needs: Needs) -> bool {
        if self.reserved.as_ref().is_some_and(|holder| holder != port) {
            return needs == Needs::Always;
        }
        let Some(Reservation { kind, .. }) = &self.reservation else { return true };
        match needs {
            Needs::Always | Needs::Nothing => true,
            _ if self.is_held_by(port) || (kind.is_for_registrants() && self.key(port).is_some()) => true,
            Needs::Read => kind.is_write_exclusive(),
            Needs::Write => false,
        }
    }

    pub(super) fn key(&self, port: &str) -> Option<u64> {
        self.registrations.iter().find(|registered| registered.port == port).map(|registered| registered.key)
    }

    pub(super) fn is_held_by(&self, port: &str) -> bool {
        self.reservation.as_ref().is_some_and(|reservation| {
            if reservation.kind.is_held_by_all() { self.key(port).is_some() } else { reservation.port == port }
        })
    }

    /// The key that READ RESERVATION returns: zero where all registered ports hold it.
    pub(super) fn held_key(&self) -> u64 {
        let holder = self.reservation.as_ref().filter(|reservation| !reservation.kind.is_held_by_all());
        holder.and_then(|reservation| self.key(&reservation.port)).unwrap_or(0)
    }

    /// A registration in READ FULL STATUS: key, reservation, and the name of the port.
    pub(super) fn full_status(&self, row: &Registration) -> Vec<u8> {
        let name = scsi_name(&row.port);
        let reservation = self.reservation.as_ref().filter(|_| self.is_held_by(&row.port));
        let mut bytes = vec![0; 28];
        bytes[..8].copy_from_slice(&row.key.to_be_bytes());
        if let Some(reservation) = reservation {
            (bytes[12], bytes[13]) = (1, reservation.kind.number());
        }
        bytes[18..20].copy_from_slice(&Portal::default().number().to_be_bytes());
        // The transport identifier of iSCSI with a port name.
        bytes[24..28].copy_from_slice(&[0x45, 0, 0, name.len() as u8]);
        let identifier = name.len() as u32 + 4;
        bytes[20..24].copy_from_slice(&identifier.to_be_bytes());
        bytes.extend(name);
        bytes
    }

    /// RESERVE(6). Ports with registrations do not mix with it.
    pub(super) fn reserve(&mut self, port: &str) -> Result<(), NotReserved> {
        let taken = self.reserved.as_ref().is_some_and(|holder| holder != port);
        if taken || !self.registrations.is_empty() {
            return Err(NotReserved::Conflict);
        }
        self.reserved = Some(port.to_owned());
        Ok(())
    }

    /// RELEASE(6), the end of a session, or a reset.
    pub(super) fn release(&mut self, port: Option<&str>) {
        self.reserved.take_if(|holder| port.is_none_or(|port| holder == port));
    }

    /// PERSISTENT RESERVE OUT. Returns unit attentions for other ports; preempted ports are among them.
    pub(super) fn change(&mut self, port: &str, change: ReservationChange) -> Result<Vec<Notice>, NotReserved> {
        if self.reserved.is_some() {
            return Err(NotReserved::Conflict);
        }
        let registered = self.key(port);
        let registers = matches!(change.action, action::REGISTER | action::REGISTER_AND_IGNORE);
        if !registers && registered != Some(change.key) {
            return Err(NotReserved::Conflict);
        }
        match change.action {
            action::REGISTER if registered.unwrap_or(0) != change.key => Err(NotReserved::Conflict),
            action::REGISTER | action::REGISTER_AND_IGNORE => self.register(port, change.new_key),
            action::RESERVE => self.hold(port, change.scope_type).map(|()| Vec::new()),
            action::RELEASE => self.give_up(port, change.scope_type),
            action::CLEAR => Ok(self.clear(port)),
            action::PREEMPT | action::PREEMPT_AND_ABORT => self.preempt(port, change),
            _ => Err(NotReserved::Invalid(Sense::INVALID_FIELD)),
        }
    }

    fn register(&mut self, port: &str, key: u64) -> Result<Vec<Notice>, NotReserved> {
        let is_full = self.registrations.len() >= REGISTRATIONS_MAX;
        let existing = self.registrations.iter_mut().find(|registered| registered.port == port);
        let mut notices = Vec::new();
        match existing {
            Some(registered) if key > 0 => registered.key = key,
            Some(_) => {
                let reservation = self.is_held_by(port);
                self.registrations.retain(|registered| registered.port != port);
                notices = self.unregistered(reservation);
            }
            None if key == 0 => return Ok(notices),
            None if is_full => {
                return Err(NotReserved::Invalid(Sense::NO_REGISTRATION_RESOURCES));
            }
            None => self.registrations.push(Registration { port: port.to_owned(), key }),
        }
        self.generation = self.generation.wrapping_add(1);
        Ok(notices)
    }

    /// A holder is no longer registered: its reservation ends, unless others hold it too.
    fn unregistered(&mut self, reservation: bool) -> Vec<Notice> {
        let ends = reservation
            && self
                .reservation
                .as_ref()
                .is_some_and(|reservation| !reservation.kind.is_held_by_all() || self.registrations.is_empty());
        if !ends {
            return Vec::new();
        }
        let ended = self.reservation.take();
        let tells = ended.is_some_and(|reservation| reservation.kind.is_for_registrants());
        if tells { self.notices("", Sense::RESERVATIONS_RELEASED) } else { Vec::new() }
    }

    /// The same unit attention for all registered ports but one.
    fn notices(&self, except: &str, sense: Sense) -> Vec<Notice> {
        let others = self.registrations.iter().filter(|registered| registered.port != except);
        others.map(|registered| (registered.port.clone(), sense)).collect()
    }

    fn hold(&mut self, port: &str, scope_type: u8) -> Result<(), NotReserved> {
        let kind = parse_type(scope_type)?;
        match &self.reservation {
            Some(reservation) if !self.is_held_by(port) || reservation.kind != kind => Err(NotReserved::Conflict),
            Some(_) => Ok(()),
            None => {
                self.reservation = Some(Reservation { port: port.to_owned(), kind });
                Ok(())
            }
        }
    }

    fn give_up(&mut self, port: &str, scope_type: u8) -> Result<Vec<Notice>, NotReserved> {
        let kind = parse_type(scope_type)?;
        if !self.is_held_by(port) {
            return Ok(Vec::new());
        }
        if self.reservation.as_ref().is_some_and(|reservation| reservation.kind != kind) {
            return Err(NotReserved::Invalid(Sense::INVALID_RELEASE));
        }
        self.reservation = None;
        let tells = kind.is_for_registrants();
        Ok(if tells { self.notices(port, Sense::RESERVATIONS_RELEASED) } else { Vec::new() })
    }

    fn clear(&mut self, port: &str) -> Vec<Notice> {
        let notices = self.notices(port, Sense::RESERVATIONS_PREEMPTED);
        self.registrations.clear();
        self.reservation = None;
        self.generation = self.generation.wrapping_add(1);
        notices
    }

    fn preempt(&mut self, port: &str, change: ReservationChange) -> Result<Vec<Notice>, NotReserved> {
        let kind = parse_type(change.scope_type)?;
        let by_all = self.reservation.as_ref().is_some_and(|reservation| reservation.kind.is_held_by_all());
        let takes = match &self.reservation {
            Some(_) if by_all => change.new_key == 0,
            Some(reservation) => self.key(&reservation.port) == Some(change.new_key),
            None => false,
        };
        if change.new_key == 0 && !by_all {
            return Err(NotReserved::Invalid(Sense::INVALID_PARAMETER));
        }
        let everybody = by_all && change.new_key == 0;
        let hit = |registered: &Registration| everybody || registered.key == change.new_key;
        if !everybody && !self.registrations.iter().any(hit) {
            return Err(NotReserved::Conflict);
        }
        // Removing other registrations leaves the port's own in place where it takes over the reservation.
        let stays = |registered: &Registration| !hit(registered) || (takes && registered.port == port);
        let gone: Vec<Notice> = self
            .registrations
            .iter()
            .filter(|registered| !stays(registered))
            .filter(|registered| registered.port != port)
            .map(|registered| (registered.port.clone(), Sense::REGISTRATIONS_PREEMPTED))
            .collect();
        self.registrations.retain(stays);
        if takes {
            self.reservation = Some(Reservation { port: port.to_owned(), kind });
        } else if by_all && self.registrations.is_empty() {
            self.reservation = None;
        }
        self.generation = self.generation.wrapping_add(1);
        Ok(gone)
    }
}

/// Scope and type: the scope is that of the logical unit.
fn parse_type(scope_type: u8) -> Result<ReservationType, NotReserved> {
    let kind = ReservationType::new(scope_type & 0x0f).filter(|_| scope_type >> 4 == 0);
    kind.ok_or(NotReserved::Invalid(Sense::INVALID_FIELD))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "a";
    const B: &str = "b";

    fn out(action: u8, kind: u8, key: u64, new_key: u64) -> ReservationChange {
        ReservationChange { action, scope_type: kind, key, new_key }
    }

    /// A with key 1 and B with key 2 are registered, and A reserves.
    fn reserved(kind: u8) -> Reservations {
        let mut unit = Reservations::default();
        unit.change(A, out(action::REGISTER, 0, 0, 1)).unwrap();
        unit.change(B, out(action::REGISTER, 0, 0, 2)).unwrap();
        unit.change(A, out(action::RESERVE, kind, 1, 0)).unwrap();
        unit
    }

    /// Whether the holder, a registered port and another port may read and write.
    fn check(kind: u8, expected: [(bool, bool); 3]) {
        let unit = reserved(kind);
        for (port, expected) in [A, B, "c"].into_iter().zip(expected) {
            let found = (unit.allow(port, Needs::Read), unit.allow(port, Needs::Write));
            assert_eq!(found, expected, "type {kind}, port {port}");
            assert!(unit.allow(port, Needs::Nothing));
        }
    }

    #[test]
    fn each_type_restricts_other_ports() {
        let (all, read, none) = ((true, true), (true, false), (false, false));
        check(1, [all, read, read]);
        check(3, [all, none, none]);
        check(5, [all, all, read]);
        check(6, [all, all, none]);
        check(7, [all, all, read]);
        check(8, [all, all, none]);
    }

    #[test]
    fn release_notifies_registrants_of_shared_types() {
        for (kind, count) in [(1, 0), (3, 0), (5, 1), (6, 1), (7, 1), (8, 1)] {
            let mut unit = reserved(kind);
            let wrong = if kind == 1 { 3 } else { 1 };
            assert_eq!(
                unit.change(A, out(action::RELEASE, wrong, 1, 0)),
                Err(NotReserved::Invalid(Sense::INVALID_RELEASE))
            );
            assert_eq!(unit.change(A, out(action::RELEASE, kind, 1, 0)).unwrap().len(), count, "type {kind}");
            assert_eq!(unit.reservation, None);
        }
    }

    #[test]
    fn unregistering_the_holder_ends_the_reservation() {
        for (kind, ends) in [(1, true), (5, true), (7, false)] {
            let mut unit = reserved(kind);
            unit.change(A, out(action::REGISTER, 0, 1, 0)).unwrap();
            assert_eq!(unit.reservation.is_none(), ends, "type {kind}");
        }
    }

    #[test]
    fn preempting_takes_the_reservation_and_removes_registrations() {
        let mut unit = reserved(1);
        assert_eq!(unit.change(B, out(action::PREEMPT, 3, 2, 9)), Err(NotReserved::Conflict), "an unknown key");
        let notices = unit.change(B, out(action::PREEMPT, 3, 2, 1)).unwrap();
        assert_eq!(notices, [(A.to_owned(), Sense::REGISTRATIONS_PREEMPTED)]);
        assert_eq!((unit.held_key(), unit.key(A)), (2, None));
        assert!(unit.is_held_by(B) && !unit.allow(A, Needs::Read));
        let mut shared = reserved(8);
        assert_eq!(shared.change(B, out(action::PREEMPT, 1, 2, 0)).unwrap().len(), 1);
        assert!(shared.is_held_by(B) && shared.registrations.len() == 1);
    }

    #[test]
    fn wrong_keys_are_conflicts() {
        let mut unit = reserved(1);
        for action in [action::REGISTER, action::RESERVE, action::RELEASE, action::CLEAR, action::PREEMPT] {
            assert_eq!(unit.change(B, out(action, 1, 7, 1)), Err(NotReserved::Conflict), "action {action}");
        }
        assert_eq!(unit.change("c", out(action::RESERVE, 1, 0, 0)), Err(NotReserved::Conflict));
        assert_eq!(unit.change(B, out(action::RESERVE, 1, 2, 0)), Err(NotReserved::Conflict), "A holds it");
        assert_eq!(unit.change(A, out(action::RESERVE, 3, 1, 0)), Err(NotReserved::Conflict), "of another type");
        assert_eq!(unit.change(A, out(action::RESERVE, 2, 1, 0)), Err(NotReserved::Invalid(Sense::INVALID_FIELD)));
        assert_eq!(unit.reserve("c"), Err(NotReserved::Conflict));
    }

    #[test]
    fn older_reservation_excludes_other_ports() {
        let mut unit = Reservations::default();
        assert_eq!((unit.reserve(A), unit.reserve(A), unit.reserve(B)), (Ok(()), Ok(()), Err(NotReserved::Conflict)));
        assert!(unit.allow(A, Needs::Write) && !unit.allow(B, Needs::Nothing) && unit.allow(B, Needs::Always));
        unit.release(Some(B));
        assert!(!unit.allow(B, Needs::Read));
        unit.release(None);
        assert!(unit.allow(B, Needs::Write));
    }

    #[test]
    fn registrations_are_limited() {
        let mut unit = Reservations::default();
        for port in 0..REGISTRATIONS_MAX {
            unit.change(&port.to_string(), out(action::REGISTER, 0, 0, 1)).unwrap();
        }
        let refused = unit.change(A, out(action::REGISTER_AND_IGNORE, 0, 5, 1));
        assert_eq!(refused, Err(NotReserved::Invalid(Sense::NO_REGISTRATION_RESOURCES)));
    }
}
