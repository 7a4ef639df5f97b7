//! The state that the connections of a server's targets share: their settings, sessions, reservations and unit attentions.

use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;

use plimsoll_volume::Export;

use super::chap::Chap;
use super::reservation::Reservations;
use super::sense::Sense;
use crate::offer::Offer;
use crate::sockets::ListenAddress;
use crate::unit::{Admission, Controller, InquiryNames, Paths};

/// Unit attentions that one session remembers at most.
const ATTENTIONS_MAX: usize = 16;

/// The settings of all targets of a server.
#[derive(Clone, Debug)]
pub struct TargetSettings {
    /// The name of the target of an export without a name; the others append `:` and the name of their export.
    pub name: String,
    /// Addresses for discovery, as `HOST:PORT`; the address of the connection itself if there are none.
    pub portals: Vec<String>,
    /// The authentication of initiators; `None` if all are admitted.
    pub chap: Option<Chap>,
    /// Data other than immediate data wait for a permission, whatever the initiator prefers.
    pub initial_r2t: bool,
    /// Commands of one session in flight, at least 1.
    pub queue_depth: u32,
    /// The names in INQUIRY data.
    pub names: InquiryNames,
}

impl TargetSettings {
    /// The addresses that discovery returns: those of the user, or those of the listening portals. A portal of all addresses has
    /// none: the target returns the address of the connection.
    pub fn advertised(listening: &[String], advertise: &[ListenAddress]) -> Vec<String> {
        if !advertise.is_empty() {
            return advertise.iter().filter_map(ListenAddress::host_and_port).collect();
        }
        let is_specific = |address: &&String| !address.starts_with("0.0.0.0:") && !address.starts_with("[::]:");
        listening.iter().filter(is_specific).cloned().collect()
    }
}

impl Default for TargetSettings {
    fn default() -> Self {
        Self {
            name: "iqn.2026-01.local.plimsoll".into(),
            portals: Vec::new(),
            chap: None,
            initial_r2t: false,
            queue_depth: 128,
            names: InquiryNames::default(),
        }
    }
}

impl TargetSettings {
    pub(super) fn target_name(&self, Offer { name, unit, .. }: &Offer) -> String {
        match unit {
            Some(unit) => unit.target.clone(),
            None if name.is_empty() => self.name.clone(),
            None => format!("{}:{}", self.name, name.to_ascii_lowercase()),
        }
    }
}

/// A portal: its place among those of the server, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Portal(u16);

impl Portal {
    pub(super) const fn at(place: u16) -> Self {
        Self(place)
    }

    /// The path through this portal, in models with several.
    pub(super) const fn path(self) -> u8 {
        self.0 as u8
    }

    /// The relative identifier of the target port.
    pub(super) const fn number(self) -> u16 {
        self.0 + 1
    }

    /// The group of the port, which is also the tag of its portal group.
    pub(super) const fn group(self, paths: Paths) -> u16 {
        match paths {
            Paths::Equal => 1,
            Paths::TwoControllers => self.0 % 2 + 1,
        }
    }
}

impl Controller {
    pub(super) const fn group(self) -> u16 {
        match self {
            Self::A => 1,
            Self::B => 2,
        }
    }
}

/// The targets of a server, as seen through one of its portals: a handle on their common state.
#[derive(Clone, Debug)]
pub struct Targets {
    state: Rc<RefCell<TargetState>>,
    pub(super) portal: Portal,
}

#[derive(Debug)]
pub(super) struct TargetState {
    pub settings: TargetSettings,
    units: BTreeMap<u32, UnitState>,
    sessions: BTreeMap<SessionId, SessionState>,
    next: u64,
}

/// The state of a logical unit beyond its sessions.
#[derive(Debug, Default)]
pub(super) struct UnitState {
    pub reservations: Reservations,
    /// The controller whose paths are optimized.
    pub owner: Controller,
}

/// Identifies a session of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId(pub u64);

/// A session, as other sessions see it.
#[derive(Debug)]
pub(super) struct SessionState {
    export: Export,
    /// Name of the initiator and its ISID.
    port: String,
    /// Portal group of the target.
    group: u16,
    attentions: Vec<Sense>,
    /// Raised by each reset or abort of all its tasks.
    pub epoch: u64,
    /// Another login has replaced it.
    pub ended: bool,
}

impl Targets {
    /// Targets without sessions.
    pub fn new(settings: TargetSettings) -> Self {
        let (units, sessions) = (BTreeMap::new(), BTreeMap::new());
        let state = Rc::new(RefCell::new(TargetState { settings, units, sessions, next: 1 }));
        Self { state, portal: Portal::default() }
    }

    /// The same targets through the portal at this place, from 0. The place determines the controller of the path.
    #[must_use]
    pub fn at_portal(&self, place: u16) -> Self {
        Self { state: Rc::clone(&self.state), portal: Portal::at(place) }
    }

    pub(super) fn state(&self) -> RefMut<'_, TargetState> {
        self.state.borrow_mut()
    }

    /// Forgets the state of a unit that is no longer offered: another one may get its number.
    pub(crate) fn forget(&self, export: Export) {
        self.state().units.remove(&export.0);
    }

    /// Makes a controller the owner of a unit. Its initiators get a unit attention.
    pub(crate) fn set_owner(&self, export: Export, owner: Controller) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.unit(export).owner, owner);
        if before != owner {
            for session in state.sessions.values_mut().filter(|session| session.export == export) {
                session.attend(Sense::ACCESS_STATE_CHANGED);
            }
        }
    }
}

/// Whether the target of an offer admits initiators.
pub(super) fn is_open(offer: &Offer) -> bool {
    offer.unit.as_ref().is_none_or(|unit| unit.admission != Admission::Closed)
}

impl TargetState {
    /// The offer of a target that admits initiators.
    pub(super) fn target<'a>(&self, offers: &'a [Offer], name: &str) -> Option<&'a Offer> {
        offers.iter().find(|offer| is_open(offer) && self.settings.target_name(offer) == name)
    }

    /// The authentication that a login to an offer needs.
    pub(super) fn chap(&self, offer: &Offer) -> Option<Chap> {
        match offer.unit.as_ref().map(|unit| &unit.admission) {
            Some(Admission::Secret(initiator)) => Some(Chap { initiator: initiator.clone(), target: None }),
            _ => self.settings.chap.clone(),
        }
    }

    /// Begins a session with a portal group, which ends an earlier one of the same initiator port with that group
    /// (RFC 7143, 6.3.5).
    pub(super) fn begin(&mut self, export: Export, port: &str, group: u16) -> SessionId {
        let same =
            |session: &&mut SessionState| session.export == export && session.port == port && session.group == group;
        for session in self.sessions.values_mut().filter(same) {
            session.ended = true;
        }
        let id = SessionId(self.next);
        self.next += 1;
        let (attentions, port) = (vec![Sense::POWER_ON], port.to_owned());
        self.sessions.insert(id, SessionState { export, port, group, attentions, epoch: 0, ended: false });
        self.units.entry(export.0).or_default();
        id
    }

    /// Ends a session. A reservation by RESERVE(6) ends with it.
    pub(super) fn end(&mut self, id: SessionId) {
        let Some(session) = self.sessions.remove(&id) else { return };
        let replaced = self.sessions.values().any(|other| other.export == session.export && other.port == session.port);
        if let Some(unit) = self.units.get_mut(&session.export.0).filter(|_| !replaced) {
            unit.reservations.release(Some(&session.port));
        }
    }

    /// The handle by which the next session is identified, which is not zero.
    pub(super) fn next_handle(&self) -> u16 {
        (self.next as u16).max(1)
    }

    /// Ends all sessions of an export.
    pub(super) fn end_all(&mut self, export: Export) {
        for session in self.sessions.values_mut().filter(|session| session.export == export) {
            session.ended = true;
        }
    }

    pub(super) fn session(&mut self, id: SessionId) -> Option<&mut SessionState> {
        self.sessions.get_mut(&id)
    }

    pub(super) fn unit(&mut self, export: Export) -> &mut UnitState {
        self.units.entry(export.0).or_default()
    }

    /// Raises a unit attention for the sessions of a port.
    pub(super) fn notify(&mut self, export: Export, port: &str, sense: Sense) {
        for session in self.sessions.values_mut().filter(|session| session.export == export && session.port == port) {
            session.attend(sense);
        }
    }

    /// Aborts the tasks of other sessions of a unit: of one port, or of all. They get a unit attention.
    pub(super) fn abort(&mut self, export: Export, by: SessionId, port: Option<&str>, sense: Sense) {
        let sessions = self.sessions.iter_mut().filter(|(id, session)| {
            **id != by && session.export == export && port.is_none_or(|port| session.port == port)
        });
        for (_, session) in sessions {
            session.epoch += 1;
            session.attend(sense);
        }
    }
}

impl SessionState {
    /// Queues a unit attention once.
    pub(super) fn attend(&mut self, sense: Sense) {
        if !self.attentions.contains(&sense) && self.attentions.len() < ATTENTIONS_MAX {
            self.attentions.push(sense);
        }
    }

    /// The next unit attention, which is reported once.
    pub(super) fn take_attention(&mut self) -> Option<Sense> {
        (!self.attentions.is_empty()).then(|| self.attentions.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_of_the_same_port_replaces_a_session() {
        let targets = Targets::new(TargetSettings::default());
        let mut state = targets.state();
        let [first, other] = ["a", "b"].map(|port| state.begin(Export(0), port, 1));
        let second = state.begin(Export(0), "a", 1);
        let ended = [first, other, second].map(|id| state.session(id).unwrap().ended);
        assert_eq!(ended, [true, false, false]);
        let beyond = state.begin(Export(0), "a", 2);
        assert!([second, beyond].iter().all(|id| !state.session(*id).unwrap().ended), "another portal group");
        state.end(beyond);
        state.unit(Export(0)).reservations.reserve("a").unwrap();
        state.end(first);
        assert!(state.unit(Export(0)).reservations.reserved.is_some(), "the second session holds it");
        state.end(second);
        assert!(state.unit(Export(0)).reservations.reserved.is_none());
    }

    #[test]
    fn unit_attentions_are_reported_once() {
        let targets = Targets::new(TargetSettings::default());
        let mut state = targets.state();
        let [a, b] = ["a", "b"].map(|port| state.begin(Export(0), port, 1));
        state.abort(Export(0), a, None, Sense::RESET);
        state.notify(Export(0), "b", Sense::RESET);
        let session = state.session(b).unwrap();
        let taken: Vec<_> = std::iter::from_fn(|| session.take_attention()).collect();
        assert_eq!((taken, session.epoch), (vec![Sense::POWER_ON, Sense::RESET], 1));
        assert_eq!(state.session(a).unwrap().epoch, 0);
    }

    #[test]
    fn names_of_targets_contain_the_export() {
        let settings = TargetSettings { name: "iqn.2026-01.local:a".into(), ..TargetSettings::default() };
        let name = |export: &str| settings.target_name(&Offer::new(Export(0), export, 512));
        assert_eq!([name(""), name("DB")], ["iqn.2026-01.local:a", "iqn.2026-01.local:a:db"]);
    }

    #[test]
    fn change_of_the_owner_is_reported_to_all_sessions() {
        let targets = Targets::new(TargetSettings::default());
        let [a, b] = ["a", "b"].map(|port| targets.state().begin(Export(0), port, 1));
        let other = targets.state().begin(Export(1), "a", 1);
        for owner in [Controller::B, Controller::B] {
            targets.set_owner(Export(0), owner);
        }
        let mut state = targets.state();
        let mut attentions = |id| std::iter::from_fn(|| state.session(id)?.take_attention()).skip(1).count();
        assert_eq!([a, b, other].map(&mut attentions), [1, 1, 0]);
        drop(state);
        targets.forget(Export(0));
        assert_eq!(targets.state().unit(Export(0)).owner, Controller::A);
    }
}
