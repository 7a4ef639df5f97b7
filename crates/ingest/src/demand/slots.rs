//! Windows of several readings on one line of time.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::figure::Window;
use crate::reading::Reading;

/// A window of the demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// When it began, by the clocks of the inputs; none where none of them says.
    pub begin: Option<DateTime>,
    /// How long it was.
    pub length: Span,
}

/// Figures with the slot that each is in.
pub(super) struct Placed {
    pub(super) slots: Vec<Slot>,
    pub(super) figures: Vec<(usize, (usize, usize))>,
    /// Where each window went; those that were left out went nowhere.
    pub(super) slot_of: BTreeMap<Key, usize>,
}

/// A window of one reading: numbers of the reading and of the window.
pub(super) type Key = (usize, u32);

/// Puts figures into slots: windows of different instances that begin together are one.
pub(super) fn place(readings: &[&Reading], figures: &[(usize, usize)], doubts: &mut Vec<String>) -> Placed {
    clocks(readings, figures, doubts);
    let owners = owners(readings, figures);
    let mut keys: Vec<Key> = owners.keys().copied().collect();
    let window = |key: &Key| -> Window { readings[key.0].windows[key.1 as usize] };
    keys.sort_by_key(|key| (window(key).begin, *key));
    let mut slots: Vec<(Slot, BTreeSet<&str>)> = Vec::new();
    let mut slot_of: BTreeMap<Key, usize> = BTreeMap::new();
    let mut last_of: BTreeMap<&str, Slot> = BTreeMap::new();
    for key in keys {
        let Window { begin, length } = window(&key);
        let slot = Slot { begin, length };
        let who = &owners[&key];
        // The same report twice, or two that overlap: once is enough.
        let before = who.iter().filter_map(|name| last_of.get(name)).max_by_key(|slot| slot.begin);
        if let Some(before) = before.filter(|before| overlaps(before, &slot)) {
            let whole = if *before == slot { "is given twice" } else { "overlaps another window" };
            doubts.push(format!("{}: its window {whole}: left out", readings[key.0].name));
            continue;
        }
        // A report about the whole cluster has its instances in it.
        let joined = slots.iter_mut().enumerate().rev().take(8).find(|(_, (other, _))| together(other, &slot));
        if let Some((index, (_, names))) = joined {
            if names.contains("") || who.contains("") {
                doubts.push(format!(
                    "{}: another report has the whole database at that time: left out",
                    readings[key.0].name
                ));
                continue;
            }
            names.extend(who.iter());
            slot_of.insert(key, index);
        } else {
            slots.push((slot, who.clone()));
            slot_of.insert(key, slots.len() - 1);
        }
        for name in who {
            last_of.insert(name, slot);
        }
    }
    let placed = figures.iter().filter_map(|at| {
        let key = (at.0, readings[at.0].figures[at.1].window);
        Some((*slot_of.get(&key)?, *at))
    });
    let figures = placed.collect();
    Placed { figures, slots: slots.into_iter().map(|(slot, _)| slot).collect(), slot_of }
}

/// The instances that each window has figures of.
fn owners<'a>(readings: &[&'a Reading], figures: &[(usize, usize)]) -> BTreeMap<Key, BTreeSet<&'a str>> {
    let mut owners: BTreeMap<Key, BTreeSet<&str>> = BTreeMap::new();
    for at in figures {
        let figure = &readings[at.0].figures[at.1];
        let scope = &readings[at.0].scopes[figure.scope as usize];
        owners.entry((at.0, figure.window)).or_default().insert(scope.instance.as_str());
    }
    owners
}

fn seconds_between(earlier: DateTime, later: DateTime) -> f64 {
    later.duration_since(earlier).as_secs_f64()
}

/// True for windows of one instance that share more than their edge.
fn overlaps(before: &Slot, slot: &Slot) -> bool {
    match (before.begin, slot.begin) {
        (Some(earlier), Some(later)) => {
            let shared = before.length.as_secs_f64() - seconds_between(earlier, later);
            shared > 0.1 * before.length.as_secs_f64().min(slot.length.as_secs_f64())
        }
        _ => false,
    }
}

/// True for windows that are one but for the seconds that snapshots are apart.
fn together(a: &Slot, b: &Slot) -> bool {
    let (Some(begin), Some(other)) = (a.begin, b.begin) else { return false };
    let length = a.length.as_secs_f64().max(b.length.as_secs_f64());
    let near = |seconds: f64| seconds.abs() <= 0.1 * length;
    near(seconds_between(begin, other)) && near(a.length.as_secs_f64() - b.length.as_secs_f64())
}

/// Says it when a reading's own windows go back in time.
fn clocks(readings: &[&Reading], figures: &[(usize, usize)], doubts: &mut Vec<String>) {
    let used: BTreeSet<usize> = figures.iter().map(|at| at.0).collect();
    for reading in used.iter().map(|number| readings[*number]) {
        let begins: Vec<DateTime> = reading.windows.iter().filter_map(|window| window.begin).collect();
        let back = begins.iter().zip(begins.iter().skip(1)).find(|(before, after)| after < before);
        if let Some((before, after)) = back {
            doubts.push(format!("{}: its clock goes back, from {before} to {after}: check the times", reading.name));
        }
    }
}
